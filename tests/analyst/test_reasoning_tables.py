"""Answers from tables: what is announced, what a cover lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

import pytest

from fin_agent.analyst.rules.reasoning.answer_selection import reason
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.index.protocol import PageKey, SourcedFact, StoredPage
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

BOX = Box(0, 0, 9, 9)
FY2023 = FactPeriod(2023, None, 12)


def row(label: str, *amounts: int | None, section: tuple[str, ...] = (), line: int = 0) -> Row:
    cells = tuple(
        None if amount is None else Cell(Decimal(amount), f"{amount:,}", False, False, Box(number, line, 9, 9))
        for number, amount in enumerate(amounts)
    )
    return Row(label, section, cells, line, BOX)


def table(
    *rows: Row, columns: Sequence[str], periods: Sequence[FactPeriod | None] | None = None, caption: str = ""
) -> Table:
    found = tuple(periods or [None] * len(columns))
    return Table(5, BOX, caption, "(dollars in millions)", tuple(columns), found, tuple(rows))


class Shelf:
    """As much of an index as is looked at: 1000 pages, every word on ten of them, and one page's tables."""

    def __init__(self, *tables: Table) -> None:
        self._tables = tables

    def document_frequencies(self, stems: Sequence[str]) -> Mapping[str, int]:
        return dict.fromkeys(stems, 10)

    def page_count(self) -> int:
        return 1000

    def pages(self, keys: Sequence[PageKey]) -> Sequence[StoredPage]:
        return []

    def outline(self, doc_ids: Collection[str]) -> Sequence[StoredPage]:
        return []

    def tables(self, keys: Sequence[PageKey]) -> Sequence[Table]:
        return self._tables

    def facts(self, doc_ids: Collection[str], *, pages: Collection[PageKey]) -> Sequence[SourcedFact]:
        return []


def told(core: str, keywords: str, text: str, *tables: Table, figure: bool = False) -> str:
    passage = RetrievedPassage(doc_id="acme23", page=5, ordinal=0, kind=PassageKind.TEXT, text=text, score=1, round=1)
    intent = Intent(
        question=core, core=core, keywords=tuple(keywords.split()), relation=Relation.EXPLANATION, asks_figure=figure,
        periods=(FiscalPeriod(fiscal_year=2023),),
    )  # fmt: skip
    return reason(intent, [Evidence(passage=passage, why="")], Shelf(*tables), load_lexicon()).text  # type: ignore[arg-type]


BENEFITS = table(
    row("2024", 1_648, 883, line=1), row("2025", 1_097, 862, line=2), row("2026 to 2030", 5_097, 4_139, line=3),
    columns=["Pension Benefits", "Health Care"],
    caption="Estimated Payments The benefit payments to retirees are expected to be paid as follows:",
)  # fmt: skip


def test_the_row_of_a_later_year_stands_under_its_announcement() -> None:
    question = "As of 2023, how much did Acme expect to pay its retirees in 2025?"
    assert told(question, "expect pay retirees", "Benefits.", BENEFITS, figure=True) == (
        "The benefit payments to retirees are expected to be paid as follows: 2025: Pension Benefits $1,097 million;"
        " Health Care $862 million."
    )


@pytest.mark.parametrize(
    ("question", "keywords"),
    [
        ("As of 2023, how much did Acme expect to pay its retirees in 2027?", "expect pay retirees"),
        ("As of 2023, how much did Acme expect to contribute to pensions in 2025?", "expect contribute pensions"),
    ],
)
def test_another_year_or_another_payment_is_not_told(question: str, keywords: str) -> None:
    assert told(question, keywords, "Benefits.", BENEFITS, figure=True) == ""


COVER = (
    "Securities registered pursuant to Section 12(b) of the Act:\nTitle of each class\nTrading Symbol(s)\n"
    "Name of each exchange on which\nregistered\nCommon Stock, $.10 par value\nACM\nNew York Stock Exchange\n{more}"
    "Securities registered pursuant to Section 12(g) of the Act: None\n"
)
NOTES = "2.1% Notes due 2027\nACM27\nNew York Stock Exchange\n"
LISTED = "Which debt securities of Acme are registered on a national exchange?"


def test_debt_on_a_cover_is_listed_or_said_to_be_none() -> None:
    keywords = "debt securities registered national exchange"
    assert told(LISTED, keywords, COVER.format(more=NOTES)) == "2.1% Notes due 2027 (ACM27), New York Stock Exchange."
    assert told(LISTED, keywords, COVER.format(more="")) == (
        "None: the cover page lists only Common Stock, $.10 par value (ACM), New York Stock Exchange."
    )


def test_a_list_that_goes_on_elsewhere_is_not_taken_for_the_whole() -> None:
    cut = COVER.format(more="").split("Securities registered pursuant to Section 12(g)")[0]
    assert told(LISTED, "debt securities registered national exchange", cut) == ""
