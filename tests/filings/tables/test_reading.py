from __future__ import annotations

from datetime import date
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from fin_agent.filings.tables.cells import lines_of
from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Word
from fin_agent.vocabulary.table import Table
from tests.filings.typeset import Page

ANNUAL = Identity("Example Corp.", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
TWO = [("2022", 420.0), ("2021", 520.0)]
EDGES = [440.0, 540.0]


def amounts(table: Table) -> list[list[Decimal | None]]:
    return [[cell.amount if cell else None for cell in row.cells] for row in table.rows]


def labels(table: Table) -> list[str]:
    return [row.label for row in table.rows]


def only(page: PageContent, identity: Identity = ANNUAL) -> Table:
    tables = read_tables([page], identity)
    assert len(tables) == 1
    return tables[0]


def test_signs_set_apart_are_joined_to_their_number() -> None:
    page = Page().header(TWO)
    page.row("Net sales", ["$ 1,234", "$ 1,100"], EDGES)
    page.row("Loss on sale", ["(22 )", "—"], EDGES)
    page.row("Growth", ["12.3 %", "(4.8 )%"], EDGES)
    page.row("Margin", ["45.1%", "44.0%"], EDGES)
    table = only(page.done())
    assert amounts(table) == [[1234, 1100], [-22, 0], [Decimal("12.3"), Decimal("-4.8")], [Decimal("45.1"), 44]]
    first = table.rows[0].cells[0]
    assert first is not None
    assert first.dollar
    assert first.printed == "$ 1,234"
    assert [cell.percent for cell in table.rows[2].cells if cell] == [True, True]
    assert labels(table) == ["Net sales", "Loss on sale", "Growth", "Margin"]


def test_a_sign_glued_to_the_cell_before_it_is_set_apart() -> None:
    page = Page().header([("2022", 320.0), ("%", 400.0), ("2021", 520.0)], stub="Years ended December 31,")
    edges = [340.0, 410.0, 540.0]
    page.row("Sales", ["$ 198", "4%$", "202"], edges).row("Costs", ["100", "2%", "150"], edges)
    table = only(page.row("Profit", ["98", "2%", "52"], edges).done())
    assert amounts(table)[0] == [198, 4, 202]


def test_numbers_inside_labels_are_not_cells() -> None:
    page = Page().header(TWO)
    page.row("Accounts receivable, net of allowances of $132 and $190", ["25,102", "23,493"], EDGES)
    page.row("Inventories", ["1,336", "1,034"], EDGES)
    page.row("Other assets (Note 16)", ["671", ""], EDGES)
    page.row("Total at December 31, 2022", ["27,109", "24,527"], EDGES)
    table = only(page.done())
    assert amounts(table) == [[25102, 23493], [1336, 1034], [671, None], [27109, 24527]]
    assert table.rows[0].label == "Accounts receivable, net of allowances of $132 and $190"


def test_a_blank_is_not_a_dash() -> None:
    page = Page().header(TWO)
    page.row("Impairment", ["—", "12"], EDGES).row("Gain on sale", ["", "77"], EDGES).row("Other", ["5", ""], EDGES)
    assert amounts(only(page.done())) == [[0, 12], [None, 77], [5, None]]


def test_wrapped_labels_are_joined() -> None:
    page = Page().header(TWO)
    page.row("Sales", ["100", "90"], EDGES)
    page.text("Income from continuing operations before income taxes and equity in", step=9.0)
    page.row("affiliated companies", ["30", "20"], EDGES)
    page.row("Tax expense", ["10", "8"], EDGES)
    page.text("Net earnings, including earnings attributable to noncontrolling", step=12.0)
    page.row("interests", ["20", "12"], EDGES, x=44.0)
    assert labels(only(page.done())) == [
        "Sales",
        "Income from continuing operations before income taxes and equity in affiliated companies",
        "Tax expense",
        "Net earnings, including earnings attributable to noncontrolling interests",
    ]


def test_a_label_may_stand_above_its_numbers() -> None:
    page = Page().header(TWO)
    page.row("Gross profit", ["100", "90"], EDGES, step=10.0)
    page.text("Gain associated with the transaction (b)", step=5.0)
    page.row("", ["3,321", "—"], EDGES, step=10.0)
    page.row("Operating profit", ["40", "30"], EDGES)
    assert labels(only(page.done()))[1] == "Gain associated with the transaction"


def test_headings_become_a_path() -> None:
    page = Page().header(TWO).text("Assets").text("Current assets:", x=46.0)
    page.row("Cash", ["10", "9"], EDGES, x=52.0).row("Inventories", ["5", "4"], EDGES, x=52.0)
    page.row("Total current assets", ["15", "13"], EDGES, x=52.0)
    page.row("Goodwill", ["7", "7"], EDGES, x=46.0)
    page.skip(12).text("Net income per share:")
    page.row("Basic", ["$ 1.94", "$ 1.80"], EDGES, x=46.0).row("Diluted", ["$ 1.92", "$ 1.78"], EDGES, x=46.0)
    table = only(page.done())
    assert [row.section for row in table.rows] == [
        ("Assets", "Current assets"),
        ("Assets", "Current assets"),
        ("Assets", "Current assets"),
        ("Assets",),
        ("Net income per share",),
        ("Net income per share",),
    ]


def test_a_flat_heading_ends_with_the_gap_after_its_rows() -> None:
    page = Page().header(TWO).row("Gross profit", ["50", "40"], EDGES).skip(12).text("Operating expenses:")
    page.row("Selling", ["(10)", "(9)"], EDGES).row("Research", ["(5)", "(4)"], EDGES)
    page.skip(14).row("Operating income", ["35", "27"], EDGES)
    assert [row.section for row in only(page.done()).rows] == [
        (),
        ("Operating expenses",),
        ("Operating expenses",),
        (),
    ]


def test_a_heading_goes_on_below_totals_that_add_nothing_up() -> None:
    page = Page().header(TWO).text("Connections, in thousands:")
    page.row("Total voice connections", ["11", "12"], EDGES).row("Total broadband connections", ["6", "7"], EDGES)
    page.row("Fiber subscribers", ["4", "3"], EDGES)
    assert {row.section for row in only(page.done()).rows} == {("Connections, in thousands",)}


def test_totals_without_a_name_are_named_only_where_they_add_up() -> None:
    page = Page().header(TWO).text("Current assets:")
    page.row("Cash", ["1,310", "1,209"], EDGES, x=46.0).row("Inventories", ["754", "640"], EDGES, x=46.0)
    page.row("", ["2,064", "1,849"], EDGES, x=46.0).row("Goodwill", ["713", "713"], EDGES)
    page.row("", ["9,999", "9,998"], EDGES)
    assert labels(only(page.done())) == ["Cash", "Inventories", "Total current assets", "Goodwill", ""]


def test_leader_dots_belong_to_no_label() -> None:
    page = Page().header(TWO)
    page.row("Goodwill . . . . . . . . . .", ["24,177", "289"], EDGES).row("Other . . . . .", ["83", "69"], EDGES)
    page.row("Total . . . . . . .", ["24,260", "358"], EDGES)
    assert labels(only(page.done())) == ["Goodwill", "Other", "Total"]


def test_years_at_the_left_are_labels() -> None:
    page = Page().header([("Amount", 420.0)], stub="Year ended December 31,")
    for year, amount in (("2023", "1,200"), ("2024", "900"), ("2025", "—")):
        page.row(year, [amount], EDGES[:1])
    page.row("Total", ["$ 2,100"], EDGES[:1])
    assert labels(only(page.done())) == ["2023", "2024", "2025", "Total"]


def test_prose_makes_no_table() -> None:
    page = Page()
    for _ in range(12):
        page.text("Revenue rose by 12 to 1,234 in 2022 from 1,100 in 2021, mainly because of volume of 45 and price")
    assert read_tables([page.done()], ANNUAL) == []


def test_prose_parts_two_tables() -> None:
    page = Page()
    for name in ("Alpha", "Beta"):
        page.text(f"The following table shows {name} for the years ended December 31, 2022 and 2021 (in thousands):")
        page.header(TWO).row(f"{name} sales", ["1,000", "900"], EDGES).row(f"{name} costs", ["700", "650"], EDGES)
        page.skip(12)
    tables = read_tables([page.done()], ANNUAL)
    assert [labels(table) for table in tables] == [["Alpha sales", "Alpha costs"], ["Beta sales", "Beta costs"]]
    assert [table.unit_line for table in tables] == ["(in thousands)", "(in thousands)"]


def test_a_header_repeated_lower_begins_a_new_table() -> None:
    page = Page().header(TWO).row("Sales", ["1,000", "900"], EDGES).row("Costs", ["700", "650"], EDGES)
    page.header([("2020", 420.0), ("2019", 520.0)])
    page.row("Sales", ["800", "750"], EDGES).row("Costs", ["600", "550"], EDGES)
    tables = read_tables([page.done()], ANNUAL)
    assert [[period.fiscal_year for period in table.periods if period] for table in tables] == [
        [2022, 2021],
        [2020, 2019],
    ]


def test_a_table_goes_on_over_the_page_without_its_header() -> None:
    first = Page(0).text("(in millions)").header(TWO)
    first.row("Sales", ["1,000", "900"], EDGES).row("Costs", ["700", "650"], EDGES)
    second = Page(1).row("Income tax", ["100", "90"], EDGES).row("Interest", ["(5)", "(4)"], EDGES)
    second.row("Net income", ["195", "156"], EDGES)
    tables = read_tables([first.done(), second.done()], ANNUAL)
    assert [period.fiscal_year for period in tables[1].periods if period] == [2022, 2021]
    assert tables[1].unit_line == "(in millions)"


def test_columns_of_percentages_marked_once_are_percentages() -> None:
    edges = [300.0, 360.0, 440.0, 500.0]
    page = Page().header([("2022", 320.0), ("2021", 460.0)])
    page.row("Sales", ["$ 1,642", "22 %", "$ 2,311", "26 %"], edges)
    page.row("Costs", ["5,886", "78", "6,492", "74"], edges)
    page.row("Total", ["7,528", "100", "8,803", "100"], edges)
    table = only(page.done())
    assert [[cell.percent for cell in row.cells if cell] for row in table.rows] == [[False, True, False, True]] * 3
    assert [period.fiscal_year for period in table.periods if period] == [2022, 2022, 2021, 2021]


def test_boxes_stand_where_the_number_is_printed() -> None:
    page = Page().header(TWO).row("Sales", ["1,000", "900"], EDGES).row("Costs", ["700", "650"], EDGES).done()
    cell = only(page).rows[0].cells[0]
    word = next(word for word in page.words if word.text == "1,000")
    assert cell is not None
    assert cell.box == (word.x0, word.y0, word.x1, word.y1)


def test_superscripts_do_not_merge_lines() -> None:
    words = [
        Word(40, 100, 80, 110, "Sales"),
        Word(81, 97, 84, 103, "(a)"),
        Word(40, 112, 80, 122, "Costs"),
    ]
    assert [line.text for line in lines_of(words)] == ["Sales (a)", "Costs"]


amount = st.one_of(
    st.none(),
    st.just(Decimal(0)),
    st.integers(min_value=-99_999_999, max_value=99_999_999).map(Decimal),
    st.decimals(min_value=-9999, max_value=9999, places=2, allow_nan=False),
)


def printed(value: Decimal | None, dollar: bool, spaced: bool) -> str:
    if value is None:
        return ""
    if value == 0:
        body = "—"
    else:
        body = f"{abs(value):,}"
        if value < 0:
            body = f"({body} )" if spaced else f"({body})"
    return f"$ {body}" if dollar else body


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[tuple[str, float, list[Decimal | None]]], PageContent, list[int]]:
    count = draw(st.integers(min_value=1, max_value=4))
    years = [2022 - index for index in range(count)]
    pitch = draw(st.sampled_from([70.0, 85.0]))
    edges = [310.0 + pitch * index for index in range(count)]
    hanging, spaced = draw(st.booleans()), draw(st.booleans())
    page = Page().header([(str(year), edge - 12) for year, edge in zip(years, edges, strict=True)])
    expected: list[tuple[str, float, list[Decimal | None]]] = []
    for index in range(draw(st.integers(min_value=5, max_value=14))):
        values = draw(st.lists(amount, min_size=count, max_size=count))
        if all(value is None or value == 0 for value in values):
            values[0] = Decimal(1_000 + index)
        indent = draw(st.sampled_from([40.0, 46.0, 52.0]))
        label = (
            f"{draw(st.sampled_from(['Sales', 'Cost of goods', 'Other income, net', 'Goodwill']))} {chr(65 + index)}"
        )
        dollar = draw(st.booleans())
        cells = [printed(value, dollar, spaced) for value in values]
        page.row(label, cells, edges, x=indent, hanging=hanging)
        expected.append((label, indent, values))
    return expected, page.done(), years


@given(layouts())
@settings(max_examples=150, deadline=None)
def test_any_layout_is_read_back_exactly(
    layout: tuple[list[tuple[str, float, list[Decimal | None]]], PageContent, list[int]],
) -> None:
    expected, page, years = layout
    table = only(page)
    kept = [index for index in range(len(years)) if any(values[index] is not None for _, _, values in expected)]
    assert labels(table) == [label for label, _, _ in expected]
    assert amounts(table) == [[values[index] for index in kept] for _, _, values in expected]
    assert [period.fiscal_year if period else None for period in table.periods] == [years[index] for index in kept]
