"""What is put around the plain functions that nodes are: typed state, and the context that they run in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from langgraph.runtime import Runtime
from langgraph.typing import ContextT
from typing_extensions import TypeVar

from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.state import EDITED, AnswerState
from fin_agent.graphs.answer.typed import typed

Result = TypeVar("Result", default=Any)
Node = Callable[[AnswerState, Runtime[ContextT]], dict[str, Any]]
Step = Callable[[AnswerState, Runtime[ContextT]], Result]
"""A node, or what chooses the next one."""


def taking_edits(step: Step[ContextT, Result], schema: Any = AnswerState) -> Step[ContextT, Result]:
    """The node or branch, given typed state whatever was put there; of what was edited, who reads the answer is told.

    Raises StateError that names what cannot be read.
    """

    @wraps(step)
    def with_typed_state(state: AnswerState, runtime: Runtime[ContextT]) -> Result:
        made, edited = typed(state, schema)
        update = step(made, runtime)
        untold = [name for name in edited if name not in _told(made)]
        if untold and isinstance(update, dict):
            update["warnings"] = [*update.get("warnings", []), f"{EDITED}{', '.join(untold)}"]
        return update

    return with_typed_state


def _told(state: AnswerState) -> set[str]:
    """Whose edits were told of before: what was edited stays plain JSON until a node writes it anew."""
    told = [warning.removeprefix(EDITED) for warning in state.get("warnings", ()) if warning.startswith(EDITED)]
    return {name for names in told for name in names.split(", ")}


def in_context(
    step: Step[AnswerContext, Result], context_of: Callable[[ContextT], AnswerContext]
) -> Step[ContextT, Result]:
    """The node or branch in the context that `context_of` makes of the one given."""

    @wraps(step)
    def with_context(state: AnswerState, runtime: Runtime[ContextT]) -> Result:
        within: Runtime[Any] = runtime
        return step(state, within.override(context=context_of(runtime.context)))

    return with_context


def described(node: Callable[..., object]) -> str:
    """What a node does: its docstring, for the drawing and for Studio."""
    return inspect.cleandoc(node.__doc__ or "")
