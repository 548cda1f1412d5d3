"""The compiled graphs that langgraph.json names, with pauses, warnings about the index, and error messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.evidence.slot_ledger import Entry
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import Node, answer_builder
from fin_agent.graphs.answer.program_of_thought import with_program_review
from fin_agent.graphs.answer.search_nodes import with_search_words
from fin_agent.graphs.answer.state import EDITED, AnswerState, ShownOutput, typed_state, typed_value
from fin_agent.graphs.channels import StateError
from fin_agent.graphs.chat.graph import chat_builder
from fin_agent.graphs.exported.controls import (
    ChatControls,
    Controls,
    RerankControls,
    SearchControls,
    open_chat_context,
    open_context,
)
from fin_agent.graphs.search_and_rerank import RerankContext, rerank_builder, search_builder

EDITABLE = ("query", "evidence", "ledger")
_REMEDIES = {
    "question": 'Give one: {"question": "..."}',
    "message": 'Give one: {"messages": [{"role": "user", "content": "..."}]}',
}


class RunFailedError(FinAgentError, RuntimeError):
    """A run failed; the message has the reason and the remedy.

    Servers show the message of a RuntimeError to the user.
    """


def _with_index_warnings(
    node: Callable[[Any, Runtime[Any]], dict[str, Any]],
    controls: type[SearchControls],
    *,
    needs: str = "question",
    given: str = "question",
    warned: str = "warnings",
) -> Callable[[Any, Runtime[Any]], dict[str, Any]]:
    """Wrap a node so that it also warns about the index that was opened; without a context, the defaults apply.

    A run is started with `needs`, which is `given` in the state; its warnings are in `warned`.

    Raises:
        RunFailedError: In place of any other FinAgentError.
    """

    @wraps(node)
    def run(state: dict[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
        runtime = runtime.override(context=runtime.context or controls())
        try:
            if given not in state:
                raise QuestionError(f"there is no {needs}", remedy=_REMEDIES[needs])
            update = node(state, runtime)
            before = state.get(warned) or []
            warnings = [each for each in open_context(runtime.context).warnings if each not in before]
        except FinAgentError as error:
            raise RunFailedError(error.what, subject=error.subject, remedy=error.remedy) from error
        if warnings:
            update[warned] = [*warnings, *update.get(warned, [])]
        return update

    return run


def _with_round_interrupt(node: Node[Controls]) -> Node[Controls]:
    """Wrap the node that begins a round: it pauses if requested, shows the query, and applies edits."""

    @wraps(node)
    def stopping(state: AnswerState, runtime: Runtime[Controls]) -> dict[str, Any]:
        if "round" not in runtime.context.stop_before:
            return node(state, runtime)
        made, _ = typed_state(state)
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
    """Return the edits of a resumed run. Raises StateError for a key that cannot be edited."""
    edits: dict[str, Any] = {}
    for name, value in answer.items() if isinstance(answer, Mapping) else ():
        if name not in EDITABLE:
            raise StateError(
                "cannot be changed here", subject=f"`{name}`", remedy=f"Give one of: {', '.join(EDITABLE)}"
            )
        if name == "query" and isinstance(value, str):
            edits[name] = with_search_words(state["query"], value, open_context(controls).context.workspace)
        else:
            edits[name] = typed_value(name, value)
    return edits


def _answering(given: Controls | None) -> AnswerContext:
    controls = given or Controls()
    context = open_context(controls).context
    if "program" in controls.stop_before:
        return replace(context, analyst=with_program_review(context.analyst))
    return context


def _around_answer(node: Node[Controls]) -> Node[Controls]:
    return _with_index_warnings(_with_round_interrupt(node) if node.__name__ == "search_documents" else node, Controls)


def _ranking(controls: RerankControls) -> RerankContext:
    return RerankContext(
        open_context(controls).context,
        candidates=controls.candidates,
        kept=controls.kept,
        rounds=controls.tournament_rounds,
        seed=controls.seed,
    )


answer = answer_builder(Controls, _answering, _around_answer, ShownOutput).compile(name="answer")
search = search_builder(
    SearchControls, lambda given: open_context(given).context, lambda node: _with_index_warnings(node, SearchControls)
).compile(name="search")
rerank = rerank_builder(RerankControls, _ranking, lambda node: _with_index_warnings(node, RerankControls)).compile(
    name="rerank"
)
chat = chat_builder(
    ChatControls,
    lambda given: open_chat_context(given or ChatControls()),
    lambda node: _with_index_warnings(node, ChatControls, needs="message", given="messages", warned="notes"),
).compile(name="chat")
