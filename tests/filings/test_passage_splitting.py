"""Pages cut into passages: nothing lost, nothing too long, tables as text of their own."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fin_agent.filings.passage_splitting import passages_of, split_text, table_text
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

BOX = Box(10, 20, 30, 40)


def row(label: str, *printed: str | None, section: tuple[str, ...] = ()) -> Row:
    cells = tuple(Cell(Decimal(1), text, False, False, BOX) if text else None for text in printed)
    return Row(label, section, cells, 0, BOX)


TABLE = Table(
    1, BOX, "CONSOLIDATED BALANCE SHEETS", "(in millions)", ("2023", "2022"), (None, None),
    (row("Cash", "$ 5", "(4)", section=("Assets", "Current")), row("Debt", None, "—"), row("Total", "1", "2")),
)  # fmt: skip


def page(number: int, text: str) -> PageContent:
    return PageContent(number, 612, 792, text, ())


def test_texts_then_tables_page_by_page() -> None:
    found = passages_of([page(0, "Cover"), page(1, "Balance"), page(2, "  \n \n")], [TABLE])
    assert [(p.page, p.ordinal, p.kind, p.box) for p in found] == [
        (0, 0, PassageKind.TEXT, None),
        (1, 1, PassageKind.TEXT, None),
        (1, 2, PassageKind.TABLE, BOX),
    ]


def test_table_says_caption_unit_header_sections_and_cells() -> None:
    assert table_text(TABLE).split("\n") == [
        "CONSOLIDATED BALANCE SHEETS",
        "(in millions)",
        " | 2023 | 2022",
        "Assets > Current > Cash | $ 5 | (4)",
        "Debt |  | —",
        "Total | 1 | 2",
    ]


def test_tables_of_a_row_or_two_stay_in_the_text() -> None:
    small = Table(0, BOX, "", "", ("2023",), (None,), (row("Cash", "5"), row("Debt", "6")))
    assert [p.kind for p in passages_of([page(0, "Cash 5")], [small])] == [PassageKind.TEXT]


def test_short_text_is_one_span() -> None:
    assert list(split_text("  one\ntwo \n")) == ["one\ntwo"]
    assert list(split_text(" \n\n ")) == []


def test_spans_overlap_by_whole_lines() -> None:
    lines = [f"line {number:03d} of the text" for number in range(40)]
    spans = list(split_text("\n".join(lines), tokens=50, overlap=12))
    assert len(spans) > 3
    for before, after in pairwise(spans):
        shared = before.split("\n")[-2:]
        assert after.split("\n")[:2] == shared


@given(
    st.lists(st.text(alphabet="abc 1", max_size=60), max_size=40).map("\n".join),
    st.integers(min_value=5, max_value=40),
)
def test_every_word_is_in_some_span_and_no_span_is_too_long(text: str, tokens: int) -> None:
    spans = list(split_text(text, tokens, overlap=2))
    assert all(len(span) <= tokens * 4 for span in spans)
    joined = "\n".join(spans)
    for line in text.split("\n"):
        if len(line) <= tokens * 4:
            assert line.strip() in joined
    assert all(span.strip() for span in spans)


def test_one_endless_line_is_cut() -> None:
    spans = list(split_text("x" * 10_000, tokens=100, overlap=10))
    assert sum(len(span.replace("\n", "")) for span in spans) >= 10_000
    assert max(map(len, spans)) <= 400


def test_a_sentence_that_a_cut_divides_is_whole_in_the_next_span() -> None:
    lines = [
        *(f"Paragraph {number} ends here." for number in range(20)),
        f"At year end, {'x' * 150}",
        "we employed 77.",
    ]
    first, second = split_text("\n".join(lines), tokens=160, overlap=2)
    assert "At year end" in first and "we employed" not in first
    assert second.startswith("At year end") and second.endswith("we employed 77.")
