"""What is around every node of an exported graph: warnings of the index opened, and errors that reach who asked."""

from __future__ import annotations

from functools import wraps
from typing import TypeVar

from langgraph.runtime import Runtime

from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.graphs.answer.adapting import Step
from fin_agent.graphs.answer.state import AnswerState
from fin_agent.graphs.exported.controls import SearchControls
from fin_agent.graphs.exported.opening import opened

_NOTHING = {
    "question": ("there is no question", 'Give one: {"question": "..."}'),
    "messages": ("there is no message", 'Give one: {"messages": [{"role": "user", "content": "..."}]}'),
}

Given = TypeVar("Given", bound=SearchControls)
Result = TypeVar("Result")


class RunFailedError(FinAgentError, RuntimeError):
    """A run failed, with what happened and what to do. A server shows the message of a RuntimeError to who asked."""


def exported(
    step: Step[Given, Result], controls: type[Given], *, needs: str = "question", warned: str = "warnings"
) -> Step[Given, Result]:
    """The node, which also warns of the index that was opened. Without a context, nothing is set.

    `needs` is what a run is started with, `warned` the part of the state that holds warnings. Raises RunFailedError in
    place of any other error of ours.
    """

    @wraps(step)
    def run(state: AnswerState, runtime: Runtime[Given]) -> Result:
        runtime = runtime.override(context=runtime.context or controls())
        try:
            if needs not in state:
                raise QuestionError(_NOTHING[needs][0], remedy=_NOTHING[needs][1])
            update = step(state, runtime)
            warnings = [each for each in opened(runtime.context).warnings if each not in _warned(state, warned)]
        except FinAgentError as error:
            raise RunFailedError(error.what, subject=error.subject, remedy=error.remedy) from error
        if isinstance(update, dict) and warnings:
            update[warned] = [*warnings, *update.get(warned, [])]
        return update

    return run


def _warned(state: AnswerState, name: str) -> list[str]:
    told = state.get(name, [])
    return told if isinstance(told, list) else []
