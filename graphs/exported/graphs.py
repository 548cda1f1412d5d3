"""The compiled graphs that langgraph.json names, which review programs, and warn about the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from langgraph.runtime import Runtime

from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.evidence.tournament.judge import TournamentSettings
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_builder
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
from fin_agent.graphs.search_and_rerank import RerankContext, rerank_builder, search_builder

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


def _answering(given: Controls | None) -> AnswerContext:
    controls = given or Controls()
    context = open_context(controls).context
    if "program" in controls.stop_before:
        return replace(context, analyst=with_program_review(context.analyst))
    return context


def _ranking(controls: RerankControls) -> RerankContext:
    return RerankContext(
        open_context(controls).context,
        candidates=controls.candidates,
        kept=controls.kept,
        tournament=TournamentSettings(rounds=controls.tournament_rounds, seed=controls.seed),
    )


answer = answer_builder(Controls, _answering, lambda node: _with_index_warnings(node, Controls), ShownOutput).compile(
    name="answer"
)
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
