"""The compiled graphs that langgraph.json names, with pauses, a warning on the sample filings, and error messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from fin_agent.errors import FinAgentError
from fin_agent.evidence.tournament.tournament import TournamentSettings
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import Around, Node, answer_builder
from fin_agent.graphs.answer.program_of_thought import with_program_review
from fin_agent.graphs.answer.search_nodes import with_search_words
from fin_agent.graphs.answer.state import EDITED, AnswerState, ShownOutput, typed_state
from fin_agent.graphs.channels import StateError
from fin_agent.graphs.chat.graph import chat_builder
from fin_agent.graphs.exported.controls import (
    ON_SAMPLES,
    ChatControls,
    Controls,
    RerankControls,
    SearchControls,
    on_samples,
    open_chat_context,
    open_context,
)
from fin_agent.graphs.search_and_rerank import RERANK, SEARCH, RerankContext, chain_builder


class RunFailedError(FinAgentError, RuntimeError):
    """A run failed; the message has the reason and the remedy.

    Servers show the message of a RuntimeError to the user.
    """


def _for_studio(controls: type[SearchControls], warned: str = "warnings") -> Around[Any]:
    """Return a wrapper of nodes that warns, in `warned` of the state, where the sample filings are searched.

    It raises RunFailedError in place of any FinAgentError. Without a context, the defaults of `controls` apply.
    """

    def around(node: Node[Any]) -> Node[Any]:
        @wraps(node)
        def run(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
            given = runtime.context or controls()
            try:
                update = node(state, runtime.override(context=given))
            except FinAgentError as error:
                raise RunFailedError(error.what, subject=error.subject, remedy=error.remedy) from error
            if on_samples(given.index) and ON_SAMPLES not in (state.get(warned) or []):
                update[warned] = [ON_SAMPLES, *update.get(warned, [])]
            return update

        return run

    return around


def _around_answer(node: Node[Controls]) -> Node[Controls]:
    return _for_studio(Controls)(_with_round_interrupt(node) if node.__name__ == "search_documents" else node)


def _with_round_interrupt(node: Node[Controls]) -> Node[Controls]:
    """Wrap the node that begins a round: it pauses if requested, shows the query, and takes other words for it."""

    @wraps(node)
    def stopping(state: AnswerState, runtime: Runtime[Controls]) -> dict[str, Any]:
        if "round" not in runtime.context.stop_before:
            return node(state, runtime)
        made, _ = typed_state(state)
        given = interrupt(_about_to_search(made))
        if not isinstance(given, Mapping):
            return node(state, runtime)
        if not isinstance(words := given.get("query"), str):
            raise StateError("there are no words to search for", remedy='Go on with true, or {"query": "other words"}')
        query = with_search_words(made["query"], words, open_context(runtime.context).workspace)
        update = node({**state, "query": query}, runtime)
        return {**update, "query": query, "warnings": [*update.get("warnings", []), f"{EDITED}query"]}

    return stopping


def _about_to_search(state: AnswerState) -> dict[str, Any]:
    query, ledger = state["query"], []
    for entry in state["ledger"].entries if "ledger" in state else ():
        figure = entry.figure
        found = f"{figure.amount:,} ({figure.doc_id} page {figure.page + 1})" if figure else "empty"
        ledger.append(f"{entry.slot}: {found}")
    return {
        "about_to": f"search, round {state['round']}",
        "query": query.text,
        "terms": [*query.terms, *query.expansions],
        "ledger": ledger,
        "missing": state.get("missing", []),
        "resume_with": 'true to go on; {"query": "other words"} to search for these',
    }


def _answering(controls: Controls) -> AnswerContext:
    context = open_context(controls)
    if "program" in controls.stop_before:
        return replace(context, analyst=with_program_review(context.analyst))
    return context


def _ranking(controls: RerankControls) -> RerankContext:
    return RerankContext(
        **vars(open_context(controls)),
        candidates=controls.candidates,
        kept=controls.kept,
        tournament=TournamentSettings(rounds=controls.tournament_rounds, seed=controls.seed),
    )


answer = answer_builder(Controls, _answering, _around_answer, ShownOutput).compile(name="answer")
search = chain_builder(*SEARCH, SearchControls, open_context, _for_studio(SearchControls)).compile(name="search")
rerank = chain_builder(*RERANK, RerankControls, _ranking, _for_studio(RerankControls)).compile(name="rerank")
chat = chat_builder(ChatControls, open_chat_context, _for_studio(ChatControls, "notes")).compile(name="chat")
