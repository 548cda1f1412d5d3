"""The compiled graphs that langgraph.json names."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

from langgraph.runtime import Runtime

from fin_agent.errors import FinAgentError
from fin_agent.evidence.tournament.judge import TournamentSettings
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import Around, Node, answer_builder
from fin_agent.graphs.answer.program_of_thought import with_program_review
from fin_agent.graphs.answer.state import ShownOutput
from fin_agent.graphs.chat.graph import chat_builder
from fin_agent.graphs.exported.controls import (
    ChatControls,
    Controls,
    RerankControls,
    SearchControls,
    open_chat_context,
    open_context,
)
from fin_agent.graphs.search_and_rerank import RERANK, SEARCH, RerankContext, chain_builder


class RunFailedError(FinAgentError, RuntimeError):
    """A run failed; the message has the reason and the remedy.

    Servers show the message of a RuntimeError to the user.
    """


def _with_shown_errors(controls: type[SearchControls]) -> Around[Any]:
    """Return a wrapper of nodes that raises RunFailedError in place of any FinAgentError.

    Without a context, the defaults of `controls` apply.
    """

    def around(node: Node[Any]) -> Node[Any]:
        @wraps(node)
        def run(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
            try:
                return node(state, runtime.override(context=runtime.context or controls()))
            except FinAgentError as error:
                raise RunFailedError(error.what, subject=error.subject, remedy=error.remedy) from error

        return run

    return around


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


answer = answer_builder(Controls, _answering, _with_shown_errors(Controls), ShownOutput).compile(name="answer")
search = chain_builder(*SEARCH, SearchControls, open_context, _with_shown_errors(SearchControls)).compile(name="search")
rerank = chain_builder(*RERANK, RerankControls, _ranking, _with_shown_errors(RerankControls)).compile(name="rerank")
chat = chat_builder(ChatControls, open_chat_context, _with_shown_errors(ChatControls)).compile(name="chat")
