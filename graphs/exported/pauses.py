"""Stops on the way: what is about to be done is shown, and may be changed before the run goes on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from fin_agent.evidence.ledger import Entry
from fin_agent.graphs.answer.adapting import Node
from fin_agent.graphs.answer.rewording import reworded
from fin_agent.graphs.answer.state import EDITED, AnswerState
from fin_agent.graphs.answer.typed import StateError, typed, typed_value
from fin_agent.graphs.exported.controls import Controls
from fin_agent.graphs.exported.opening import opened

EDITABLE = ("query", "evidence", "ledger")


def before_each_round(node: Node[Controls]) -> Node[Controls]:
    """The node that begins a round: where wanted it stops, shows the query, and takes what is put in its place."""

    @wraps(node)
    def stopping(state: AnswerState, runtime: Runtime[Controls]) -> dict[str, Any]:
        if "round" not in runtime.context.stop_before:
            return node(state, runtime)
        made, _ = typed(state)
        edits = _edits(interrupt(_about_to_search(made)), made, runtime.context)
        edited: Any = {**state, **edits}
        update = {**edits, **node(edited, runtime)}
        if edits:
            update["warnings"] = [*update.get("warnings", []), f"{EDITED}{', '.join(edits)}"]
        return update

    return stopping


def _about_to_search(state: AnswerState) -> dict[str, Any]:
    query = state["query"]
    return {
        "about_to": f"search, round {state['round']}",
        "query": query.text,
        "terms": [*query.terms, *query.expansions],
        "ledger": [_line(entry) for entry in state["ledger"].entries] if "ledger" in state else [],
        "missing": state.get("missing", []),
        "resume_with": 'true to go on; {"query": "other words"} to search for these; evidence and ledger likewise',
    }


def _line(entry: Entry) -> str:
    figure = entry.figure
    if figure is None:
        return f"{entry.slot}: empty"
    return f"{entry.slot}: {figure.amount:,} ({figure.doc_id} page {figure.page + 1})"


def _edits(answer: object, state: AnswerState, controls: Controls) -> dict[str, Any]:
    """What a resumed run is to go on with. Raises StateError for what cannot be put there."""
    if not isinstance(answer, Mapping):
        return {}
    edits: dict[str, Any] = {}
    for name, value in answer.items():
        if name not in EDITABLE:
            raise StateError(
                "cannot be changed here", subject=f"`{name}`", remedy=f"Give one of: {', '.join(EDITABLE)}"
            )
        if name == "query" and isinstance(value, str):
            edits[name] = reworded(state["query"], value, opened(controls).context.workspace)
        else:
            edits[name] = typed_value(name, value)
    return edits
