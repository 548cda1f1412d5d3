from __future__ import annotations

from lxml import etree

from fin_agent.filings.html.blocks import blocks_of
from fin_agent.filings.html.typesetting import PAGE_HEIGHT, TypesetDocument, typeset
from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.page import PageContent

ROW = "<tr><td>{label}</td><td></td><td>$</td><td style='text-align:right'>{number}</td><td>)</td></tr>"


def set_pages(body: str, tagged: str = "") -> TypesetDocument:
    root = etree.fromstring(f"<html><body>{body}</body></html>", etree.HTMLParser())
    return typeset(blocks_of(root, [element for element in root.iter() if tagged and tagged in str(element.tag)]))


def statement(rows: str) -> str:
    return (
        "<p>CONSOLIDATED BALANCE SHEETS</p><p>(in millions)</p>"
        "<table><tr><td></td><td></td><td colspan=3>December 31, 2024</td><td colspan=3>December 31, 2023</td></tr>"
        f"{rows}</table>"
    )


def pair(label: str, first: str, second: str, style: str = "") -> str:
    def cells(number: str) -> str:
        digits = number.strip("$()")
        sign = "$" if number.startswith("$") else ""
        opened = "(" if "(" in number else ""
        return f"<td>{sign}</td><td align=right>{opened}{digits}</td><td>{')' if opened else ''}</td>"

    return f"<tr><td style='{style}'>{label}</td><td></td>{cells(first)}{cells(second)}</tr>"


def test_every_word_stands_inside_its_page_and_apart_from_others() -> None:
    document = set_pages("<p>" + "words of a long paragraph " * 400 + "</p>" + statement(pair("Cash", "$1", "$22,222")))
    for page in document.pages:
        for word in page.words:
            assert 0 <= word.x0 < word.x1 <= page.width
            assert 0 <= word.y0 < word.y1 <= page.height
        for line in page.lines:
            assert all(a.x1 <= b.x0 + 0.01 for a, b in zip(line.words, line.words[1:], strict=False))


def test_pages_are_the_files_own() -> None:
    document = set_pages("<p>one</p><hr style='page-break-after:always'><p>two</p><hr style='page-break-after:always'>")
    assert [page.text.strip() for page in document.pages] == ["one", "two"]
    assert [page.number for page in document.pages] == [0, 1]


def test_without_page_ends_sheets_are_filled_and_tables_kept_whole() -> None:
    rows = "".join(pair(f"Line {number}", "1", "2") for number in range(20))
    document = set_pages("<p>" + "running text " * 150 + "</p>" + statement(rows) * 6)
    assert len(document.pages) > 2
    for page in document.pages:
        assert page.height == PAGE_HEIGHT
        assert page.text.count("BALANCE SHEETS") == page.text.count("Line 19")
        assert page.text.count("Line 0") == page.text.count("Line 19")


def test_a_page_of_the_file_that_goes_on_for_ever_is_cut() -> None:
    document = set_pages("<p>text</p>" * 5_000 + "<hr style='page-break-after:always'><p>end</p>")
    assert len(document.pages) > 20
    assert all(page.height <= 5 * PAGE_HEIGHT for page in document.pages)
    assert sum(page.text.count("text") for page in document.pages) == 5_000


def test_tables_are_read_from_their_cells() -> None:
    rows = "".join(
        (
            "<tr><td>Current assets:</td></tr>",
            pair("Cash, held at 3 banks in 2024", "$1,234", "$900", "padding-left: 12pt"),
            pair(
                "Overdraft that was agreed upon with the bank<br>for longer than a year",
                "(56)",
                "(7)",
                "padding-left:12pt",
            ),
            pair("Total current assets", "1,178", "893", "text-indent: 24pt"),
            pair("Total assets", "$1,178", "$893"),
        )
    )
    (table,) = read_tables(set_pages(statement(rows)).pages)
    assert table.caption.startswith("CONSOLIDATED BALANCE SHEETS")
    assert table.unit_line == "(in millions)"
    assert [(row.section, row.label) for row in table.rows] == [
        (("Current assets",), "Cash, held at 3 banks in 2024"),
        (("Current assets",), "Overdraft that was agreed upon with the bank for longer than a year"),
        (("Current assets",), "Total current assets"),
        ((), "Total assets"),
    ]
    assert [[int(cell.amount) for cell in row.cells if cell] for row in table.rows] == [
        [1234, 900], [-56, -7], [1178, 893], [1178, 893],
    ]  # fmt: skip
    assert [period and (period.months, str(period.end)) for period in table.periods] == [
        (0, "2024-12-31"),
        (0, "2023-12-31"),
    ]


def test_percent_signs_in_wide_cells_of_their_own_close_their_numbers() -> None:
    rows = "".join(
        f"<tr><td>{name}</td><td>$</td><td align=right>{amount}</td><td align=right>{change}</td>"
        "<td align=right>%</td></tr>"
        for name, amount, change in (("Shoes", "1,234", "-12"), ("Hats", "900", "6"), ("Total", "2,134", "-5"))
    )
    head = "<tr><td></td><td colspan=2>2024</td><td colspan=2>% change without the effect of currencies(1)</td></tr>"
    (table,) = read_tables(set_pages(f"<table>{head}{rows}</table>").pages)
    assert [[cell and (int(cell.amount), cell.percent) for cell in row.cells] for row in table.rows] == [
        [(1234, False), (-12, True)],
        [(900, False), (6, True)],
        [(2134, False), (-5, True)],
    ]


def test_boxes_of_cells_frame_what_is_printed() -> None:
    page = set_pages(statement(pair("Cash " * 30, "$1,234", "$900") + pair("Total assets", "$1,234", "$900"))).pages[0]
    (table,) = read_tables([page])
    for row in table.rows:
        for cell in row.cells:
            assert cell is not None
            inside = [
                word.text
                for word in page.words
                if cell.box.x0 - 0.5 <= word.x0 and word.x1 <= cell.box.x1 + 0.5
                and cell.box.y0 - 0.5 <= word.y0 and word.y1 <= cell.box.y1 + 1.5
            ]  # fmt: skip
            assert "".join(inside) == cell.printed.replace(" ", "")


def test_numbers_of_running_text_make_no_table() -> None:
    body = "".join(f"<p>In {year} sales were $ {year},000 and {year}.5</p>" for year in range(2015, 2025))
    assert read_tables(set_pages(body).pages) == []


def test_tags_get_the_page_and_the_box_of_their_words() -> None:
    document = set_pages(
        "<p>none here</p><hr style='page-break-after:always'>"
        "<table><tr><td>Cash</td><td>$</td><td><ix:nonfraction>1,234</ix:nonfraction></td></tr></table>"
        "<p>and <ix:nonfraction>55</ix:nonfraction> more</p>",
        "nonfraction",
    )
    words = {word.text: word for word in document.pages[1].words}
    assert document.places == {0: (1, words["1,234"][:4]), 1: (1, words["55"][:4])}


def test_a_tag_in_a_paragraph_that_prints_nothing_gets_a_page_and_makes_no_line() -> None:
    document = set_pages("<p>before</p><p><ix:nonnumeric></ix:nonnumeric></p><p>behind</p>", "nonnumeric")
    assert [len(line.words) for line in document.pages[0].lines] == [1, 1]
    assert read_tables(document.pages) == []
    assert document.places[0][0] == 0


def test_a_table_of_thousands_of_cells_is_set() -> None:
    rows = "".join(
        "<tr>" + "".join(f"<td>{row * 20 + cell:,}</td>" for cell in range(20)) + "</tr>" for row in range(1_000)
    )
    document = set_pages(f"<table>{rows}</table>")
    assert sum(len(page.words) for page in document.pages) == 20_000


def test_nothing_printed_makes_no_page() -> None:
    pages: list[PageContent] = set_pages("<p> </p><table><tr><td></td></tr></table><hr>").pages
    assert pages == []


def test_a_header_in_a_table_of_its_own_dates_the_table_below() -> None:
    head = "<tr><td></td><td></td><td colspan=3>December 31, 2024</td><td colspan=3>December 31, 2023</td></tr>"
    rows = pair("Cash", "$1,234", "$900") + pair("Goodwill", "55", "66") + pair("Total assets", "$1,289", "$966")
    (table,) = read_tables(
        set_pages(f"<p>BALANCE SHEETS</p><p>(in millions)</p><table>{head}</table><table>{rows}</table>").pages
    )
    assert [period and str(period.end) for period in table.periods] == ["2024-12-31", "2023-12-31"]
    assert table.unit_line == "(in millions)"
    assert [row.label for row in table.rows] == ["Cash", "Goodwill", "Total assets"]


def test_rows_go_on_behind_the_end_of_a_page() -> None:
    head = "<tr><td></td><td></td><td colspan=3>December 31, 2024</td><td colspan=3>December 31, 2023</td></tr>"
    first = pair("Cash", "$1,234", "$900") + pair("Total assets", "$1,289", "$966")
    second = pair("Accounts payable", "$12,345,678", "$9") + pair("Total liabilities", "1,200", "900")
    body = f"<table>{head}{first}</table><hr style='page-break-after:always'><table>{second}</table>"
    above, below = read_tables(set_pages(body).pages)
    assert below.periods == above.periods
    assert below.columns == above.columns
    assert (above.page, below.page) == (0, 1)
