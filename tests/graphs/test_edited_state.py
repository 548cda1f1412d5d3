"""State that comes back from a checkpoint or was edited as JSON is the nodes' own again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from fin_agent.evidence.expressions import (
    Function,
    Node,
    Operation,
    SlotReference,
    parse_formula,
)
from fin_agent.evidence.intent import RequestedCompany
from fin_agent.evidence.plan import Plan, Term
from fin_agent.graphs.answer import AnswerContext, build_graph
from fin_agent.graphs.answer.state import typed_state, typed_value
from fin_agent.graphs.channels import StateError
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.slots import Slot

QUESTIONS = (
    "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?",
    "What is Tellurond's free cash flow margin in FY2023?",
    "What risks does Harborlight name about its suppliers?",
    "What was the revenue of Apple in FY2022?",
)
SLOT = Slot(company="acme", company_name="Acme", metric="revenue", label="revenue", fiscal_year=2022)


@pytest.fixture(scope="module", params=QUESTIONS)
def state(request: pytest.FixtureRequest, context: AnswerContext) -> dict[str, Any]:
    """What a run leaves."""
    *_, last = build_graph().stream({"question": request.param}, context=context, stream_mode="values")
    return dict(last)


def as_shown_by_the_server(state: Mapping[str, object]) -> dict[str, Any]:
    """As JSON, in which the server writes a day as three numbers."""

    def shown(value: Any) -> Any:
        match value:
            case {**fields}:
                return {name: shown(each) for name, each in fields.items()}
            case [*each]:
                return [shown(one) for one in each]
            case str() if len(value) == 10 and value[4] == value[7] == "-" and value.replace("-", "").isdigit():
                day = date.fromisoformat(value)
                return [day.year, day.month, day.day]
        return value

    return dict(shown(json.loads(json.dumps(to_jsonable_python(state)))))


def test_json_is_read_as_what_it_was_made_from(state: dict[str, Any]) -> None:
    read, edited = typed_state(as_shown_by_the_server(state))
    assert read == state
    assert "question" not in edited
    assert set(edited) >= {"intent", "plan", "query", "answer"}


@pytest.mark.parametrize(
    "tree",
    [
        Function("optional", (SlotReference(SLOT),)),
        Function("abs", (SlotReference(SLOT),)),
        Function(
            "first",
            (
                SlotReference(SLOT),
                Operation("-", Function("optional", (SlotReference(SLOT),)), Function("abs", (SlotReference(SLOT),))),
            ),
        ),
        parse_formula("mean(revenue, revenue[2019]) * 100 / optional(abs(cost_of_revenue))"),
    ],
    ids=["if reported", "magnitude", "choice", "formula"],
)
def test_kinds_of_nodes_are_told_apart(tree: Node) -> None:
    plan = Plan((Term(RequestedCompany(key="acme", name="Acme"), FiscalPeriod(fiscal_year=2022), tree),), ("note",))
    assert typed_value("plan", json.loads(json.dumps(to_jsonable_python(plan)))) == plan


def test_state_of_a_run_that_was_not_touched_is_no_edit(state: dict[str, Any]) -> None:
    assert typed_state(state) == (state, ())


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(StateError, match=r"`query\.terms` of the state: cannot be used: .*tuple"):
        typed_value("query", {"text": "inventories", "terms": 5})
    with pytest.raises(StateError, match=r"`evidence\.0\.passage\.page`"):
        passage = {"doc_id": "x", "page": "first", "ordinal": 0, "kind": "text", "text": "", "score": 1, "round": 1}
        typed_value("evidence", [{"passage": passage, "why": ""}])


def test_state_holds_no_text_twice(state: dict[str, Any]) -> None:
    """Passages found are places; scores of pages are not taken apart; what was found at once is handed out."""
    assert all(len(place) == 3 for place in state["found_passages"])
    assert all(page.features == () for page in state.get("pages", ()))
    assert not state.get("found_at_once")
