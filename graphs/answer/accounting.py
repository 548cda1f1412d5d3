"""Around every node: the calls it makes of chat models are counted, kept within the budget, and told in the trace."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import wraps
from typing import Any

from langgraph.runtime import Runtime

from fin_agent.analyst.events import (
    CallBegun,
    CallEnded,
    Listener,
    StepBegun,
    current_listener,
    journal,
    listening,
    told,
)
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.state import AnswerState
from fin_agent.models.call import Role
from fin_agent.models.metering import CallRecord, Meter, current_meter, metered

Update = dict[str, Any]
Node = Callable[[AnswerState, Runtime[AnswerContext]], Update]


def accounted(node: Node) -> Node:
    """The node with a meter that goes on from the steps before, and a journal of what was done in a model's place.

    What happens is told to whoever listens (`listening`), else to LangGraph's stream `custom`. What it adds to the
    state: `calls`, `warnings`, `left_out`; to its trace step: the calls, warnings and flags.
    """

    @wraps(node)
    def with_accounts(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
        settings = runtime.context.settings.models
        hearing = current_listener()
        tell: Listener = hearing.listener or written(runtime)
        meter = Meter(settings.budget, state.get("calls", ()), within=current_meter(), listener=_CallsTold(tell))
        with metered(meter), listening(tell, drafts=hearing.drafts), journal() as notes:
            told(StepBegun(node=node.__name__, round=state.get("round", 1)))
            update = node(state, runtime)
        if not (meter.records or meter.left_out or notes.warnings or notes.flags):
            return update
        calls = tuple(map(_line, meter.records))
        steps = [
            step.model_copy(update={"calls": calls, "warnings": notes.warnings, "flags": notes.flags})
            for step in update.get("trace", [])
        ]
        return {
            **update,
            "trace": steps,
            "calls": list(meter.records),
            "warnings": list(notes.warnings),
            "left_out": list(meter.left_out),
        }

    return with_accounts


def written(runtime: Runtime[Any]) -> Listener:
    """Writes to LangGraph's custom stream, which asks the context that it is written from: threads have none."""
    here = copy_context()
    return lambda event: here.copy().run(runtime.stream_writer, event)


class _CallsTold:
    """Tells of calls as events."""

    def __init__(self, tell: Listener) -> None:
        self._tell = tell

    def call_begun(self, role: Role, model: str) -> None:
        """See CallListener."""
        self._tell(CallBegun(role=role.value, model=model))

    def call_ended(self, record: CallRecord) -> None:
        """See CallListener."""
        self._tell(
            CallEnded(
                role=record.role.value,
                model=record.model,
                input_tokens=record.usage.input,
                output_tokens=record.usage.output,
                dollars=record.dollars,
                from_cache=record.from_cache,
                approximate=record.usage.approximate,
                note=record.note,
            )
        )


def _line(record: CallRecord) -> str:
    usage = record.usage
    cost = "from kept replies" if record.from_cache else _dollars(record.dollars)
    about = "about " if usage.approximate else ""
    told = f"{record.role.value} by {record.model}: {about}{usage.input:,} tokens in, {usage.output:,} out, {cost}"
    return f"{told} ({record.note})" if record.note else told


def _dollars(dollars: float | None) -> str:
    return "price not known" if dollars is None else f"${dollars:.5f}"
