"""Cards say what a passage is about; a summary says what a filing is."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from fin_agent.evidence.cards import Card, EvidenceType, cards_of, summary_of
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page, Statement
from fin_agent.vocabulary.place import Box


def fact(metric: str, y: float, year: int, quarter: int | None = None) -> Fact:
    return Fact(
        metric, Decimal(5), 1_000, "USD", FactPeriod(year, quarter, 3 if quarter else 12), 1, Box(300, y, 340, y + 8),
        metric=metric,
    )  # fmt: skip


FILING = Filing(
    "acme", "acme.pdf", "0" * 64,
    Identity("Acme Tools, Inc.", Form.TEN_Q, 2023, 2, date(2023, 6, 30), ticker="ACME", other_names=("Acme Works",)),
    pages=(Page(0, "Cover", title="FORM 10-Q"), Page(1, "Sales", "I.1", Statement.INCOME, "Statements of Operations")),
    passages=(
        Passage(1, 0, PassageKind.TEXT, "Notes   follow\nbelow."),
        Passage(1, 1, PassageKind.TABLE, "Revenue | 5", Box(0, 0, 500, 100)),
        Passage(1, 2, PassageKind.TABLE, "Goodwill | 5", Box(0, 100, 500, 200)),
    ),
    facts=(fact("revenue", 50, 2023, 2), fact("revenue", 50, 2022, 2), fact("goodwill", 150, 2022)),
)  # fmt: skip


def test_a_table_card_holds_the_facts_inside_its_box_and_no_others() -> None:
    _, first, second = cards_of(FILING)
    assert (first.metrics, first.periods) == (("revenue",), ("Q2 FY2023", "Q2 FY2022"))
    assert (second.metrics, second.periods) == (("goodwill",), ("FY2022",))
    assert first.evidence_type is EvidenceType.STATEMENT
    assert first.units == ("USD",)


def test_running_text_is_narrative_and_its_sketch_is_one_line() -> None:
    card = cards_of(FILING)[0]
    assert card.evidence_type is EvidenceType.NARRATIVE
    assert card.metrics == ()
    assert card.sketch == "Notes follow below."
    assert (card.item, card.statement, card.quarter) == ("I.1", Statement.INCOME, 2)


def test_a_card_survives_being_stored() -> None:
    for card in cards_of(FILING):
        assert Card.model_validate_json(card.model_dump_json(exclude_none=True)) == card


def test_a_summary_names_company_form_period_and_other_names() -> None:
    summary = summary_of(FILING)
    for part in ("Acme Tools, Inc. (ACME)", "10-Q", "Q2 fiscal 2023", "June 30, 2023", "Acme Works", "FORM 10-Q"):
        assert part in summary
