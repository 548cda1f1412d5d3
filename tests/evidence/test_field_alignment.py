"""Fields of a card against those a question asks for."""

from __future__ import annotations

from fin_agent.evidence.tournament.tournament import matched_fields, required_fields
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.search_query import Query
from fin_agent.vocabulary.page import Statement
from tests.evidence.tournament.entered import brief, card

OWNERS = {"acme23": "acme", "bell23": "bell"}


def test_required_fields_are_named_by_kind_in_one_order() -> None:
    query = brief(metrics=("revenue",), years=(2022, 2023), statements=(Statement.INCOME,)).query
    assert required_fields(query) == (
        "company: acme", "metrics: revenue", "time: FY2022", "time: FY2023", "statement: income",
    )  # fmt: skip


def test_the_slots_of_an_answer_go_before_the_metrics_spoken_of() -> None:
    slot = Slot(company="acme", company_name="Acme", metric="net_income", label="net income", fiscal_year=2023)
    assert required_fields(Query(text="", terms=(), slots=(slot, slot), metrics=("revenue",))) == (
        "metrics: net_income",
    )


def test_a_question_that_asks_for_nothing_requires_nothing() -> None:
    assert required_fields(Query(text="", terms=())) == ()


def test_a_card_of_another_filer_matches_all_but_the_company() -> None:
    asked = required_fields(brief(metrics=("revenue", "net_income"), years=(2023,)).query)
    fields = {"metrics": ("revenue",), "periods": ("FY2023", "FY2022")}
    assert matched_fields(card(1, **fields), asked, OWNERS) == ("company: acme", "metrics: revenue", "time: FY2023")
    assert matched_fields(card(1, doc_id="bell23", **fields), asked, OWNERS) == ("metrics: revenue", "time: FY2023")


def test_a_quarter_is_not_its_year() -> None:
    asked = required_fields(brief(years=(2023,)).query)
    assert "time: FY2023" not in matched_fields(card(1, periods=("Q2 FY2023",)), asked, OWNERS)


def test_a_part_asked_for_is_a_scope_to_cover() -> None:
    asked = required_fields(brief().query, ("Europe",))
    assert asked == ("company: acme", "scope: Europe")
    assert matched_fields(card(1, parts=("Asia", "Europe")), asked, OWNERS) == asked
    assert matched_fields(card(1, parts=("Asia",)), asked, OWNERS) == ("company: acme",)
