"""A turn by the assistant: let it converse, hold its figures against what tools said, end the turn."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.errors import GraphBubbleUp

from fin_agent.analyst.events import Warned
from fin_agent.analyst.listening import told
from fin_agent.analyst.rules.follow_ups import MessageKind, Reading
from fin_agent.answering.answer import Answer, RoleUsage, Usage
from fin_agent.graphs.chat.assistant import Assistant
from fin_agent.graphs.chat.citing import citations_of
from fin_agent.graphs.chat.context import ChatContext
from fin_agent.graphs.chat.figure_sources import stated_in
from fin_agent.graphs.chat.figures_said import marked, without_source
from fin_agent.graphs.chat.history import CORRECTION, is_correction, sent_history
from fin_agent.graphs.chat.state import ChatState, Turn, kept
from fin_agent.models.costs import usage_of
from fin_agent.models.errors import ModelError
from fin_agent.models.metering import Meter, current_meter, metered

__all__ = ["check_figures", "converse", "is_correction"]

Update = dict[str, Any]
_LONGEST_ERROR = 300
_STOPPED = (
    "I stopped before I had an answer: the limit of {calls} model calls a message was reached. Ask for less at once."
)


def converse(state: ChatState, context: ChatContext, turns: Sequence[Turn], reading: Reading) -> Update:
    """The assistant's reply so far, as a draft; where its model fails, rules go on and a warning says so."""
    assistant = context.assistant
    assert assistant is not None, "only a context with an assistant leads here"
    started = time.perf_counter()
    history = sent_history(state["messages"], context.limits, assistant.counter, turns)
    opening = assistant.opening(history.left_out)
    meter = Meter(assistant.settings.budget, within=current_meter())
    try:
        with metered(meter):
            added = assistant.went_on([HumanMessage(opening.user), *history.messages])
    except ModelError as error:
        return _by_rules(state, reading, f"the chat model failed, and rules reply: {error}")
    except GraphBubbleUp:
        raise
    except Exception as error:  # an agent of LangChain with a model of anybody's: what they raise ends no conversation
        told_of = f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
        return _by_rules(state, reading, f"the assistant failed, and rules reply: {told_of}")
    draft = draft_of(state)
    said, warnings = _said(added, assistant)
    taken = draft.usage if draft is not None else Usage()
    found = (*(draft.answers if draft is not None else ()), *_answers(added))
    turn = Turn(
        asked=_asked(state),
        kind=_kind(reading, found),
        question=found[-1].question if found else "",
        said=said,
        answers=found,
        by_model=True,
        warnings=warnings,
        usage=_together(taken, usage_of(meter.records, meter.left_out)),
        seconds=round((draft.seconds if draft is not None else 0.0) + time.perf_counter() - started, 4),
    )
    return {"messages": [_light(message) for message in added], "draft": turn, "next": "check_figures"}


def check_figures(state: ChatState, context: ChatContext, turns: Sequence[Turn], reading: Reading) -> Update:
    """Every number of the reply has to stand in a tool result or a message of the thread, or in an answer of it."""
    draft = draft_of(state)
    assert draft is not None, "the assistant has left a draft"
    messages = state["messages"]
    # What is said in place of the model, where it was stopped, comes with a warning and holds nothing of filings.
    lacking = (
        ()
        if draft.warnings
        else without_source(
            draft.said,
            stated_in(messages, _also(context, turns)),
            marks=len(citations_of(*draft.answers)) + sum(isinstance(message, ToolMessage) for message in messages),
        )
    )
    if lacking and not state.get("corrected"):
        told(Warned(text=f"figures without a source were sent back: {', '.join(lacking)}"))
        asked = HumanMessage(_correction(lacking), additional_kwargs={CORRECTION: True})
        return {"messages": [asked], "corrected": True, "next": "converse"}
    said = marked(draft.said, lacking)
    warnings = draft.warnings
    if lacking:
        warnings = (*warnings, f"these numbers of the reply stand in no filing that was read: {', '.join(lacking)}")
    turn = draft.model_copy(
        update={
            "said": said,
            "warnings": warnings,
            "citations": citations_of(*draft.answers),
        }
    )
    return {
        "messages": [*_withdrawn(messages), *_ended(messages, turn)],
        "turns": [turn],
        "draft": None,
        "reading": None,
        "notes": [],
        "next": "__end__",
    }


def draft_of(state: ChatState) -> Turn | None:
    """The draft as our type."""
    draft = state.get("draft")
    return draft if draft is None or isinstance(draft, Turn) else Turn.model_validate(draft)


def _by_rules(state: ChatState, reading: Reading, warning: str) -> Update:
    told(Warned(text=warning))
    return {
        "messages": list(_withdrawn(state["messages"])),
        "notes": [*state.get("notes", ()), warning],
        "draft": None,
        "next": "answer_question" if reading.asks else "reply",
    }


def _said(added: Sequence[BaseMessage], assistant: Assistant) -> tuple[str, tuple[str, ...]]:
    """The text of the last message, and what to know of it."""
    last = added[-1] if added else None
    text = last.text.strip() if isinstance(last, AIMessage) else ""
    # The reply that comes after as many calls as may be made is none of the model's: the middleware says it stops.
    if sum(isinstance(message, AIMessage) for message in added) > assistant.limits.model_calls:
        stopped = _STOPPED.format(calls=assistant.limits.model_calls)
        return stopped, (f"the limit of {assistant.limits.model_calls} model calls was reached",)
    if not text:
        return "The model gave no reply.", ("the model's reply was empty",)
    return text, ()


def _answers(added: Sequence[BaseMessage]) -> Iterator[Answer]:
    for message in added:
        if isinstance(message, ToolMessage) and isinstance(message.artifact, Answer):
            yield kept(message.artifact)


def _light(message: BaseMessage) -> BaseMessage:
    """Without the artifact, which the turn keeps as far as it is needed."""
    return message.model_copy(update={"artifact": None}) if isinstance(message, ToolMessage) else message


def _kind(reading: Reading, answers: Sequence[Answer]) -> MessageKind:
    if not answers:
        return reading.kind
    return MessageKind.QUESTION if reading.kind is MessageKind.QUESTION else MessageKind.FOLLOW_UP


def _also(context: ChatContext, turns: Sequence[Turn]) -> Iterator[str]:
    """What rules have said in this thread, and what the assistant is told is indexed."""
    for turn in turns:
        if not turn.by_model:
            yield turn.said
    if context.assistant is not None:
        yield context.assistant.opening("").user


def _correction(lacking: Sequence[str]) -> str:
    return (
        "Your reply was not shown: these numbers of it stand in no tool result of this conversation and in no message "
        f"of the person: {', '.join(lacking)}. Get them with a tool, compute them with python_execution, or reply "
        "without them. Give the whole reply again."
    )


def _withdrawn(messages: Sequence[AnyMessage]) -> Iterator[RemoveMessage]:
    """Of this turn, a draft that was sent back, and what was said to it."""
    for before, message in pairwise(messages):
        if is_correction(message):
            yield from (RemoveMessage(id=each.id) for each in (before, message) if each.id)


def _ended(messages: Sequence[AnyMessage], turn: Turn) -> Iterator[AIMessage]:
    """The last message as it is shown, in the place of what the model wrote."""
    last = messages[-1]
    warned = "".join(f"\n\nWarning: {warning}" for warning in turn.warnings)
    yield AIMessage(f"{turn.said}{warned}", id=last.id if isinstance(last, AIMessage) else None)


def _asked(state: ChatState) -> str:
    return next(
        message.text
        for message in reversed(state["messages"])
        if isinstance(message, HumanMessage) and not is_correction(message)
    )


def _together(one: Usage, other: Usage) -> Usage:
    if not one.model_calls and not one.cached_calls:
        return other
    dollars = None if one.dollars is None or other.dollars is None else one.dollars + other.dollars
    return Usage(
        model_calls=one.model_calls + other.model_calls,
        cached_calls=one.cached_calls + other.cached_calls,
        input_tokens=one.input_tokens + other.input_tokens,
        cached_input_tokens=one.cached_input_tokens + other.cached_input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        dollars=dollars,
        approximate=one.approximate or other.approximate,
        roles=_roles_together((*one.roles, *other.roles)),
        left_out=(*one.left_out, *other.left_out),
    )


def _roles_together(roles: Sequence[RoleUsage]) -> tuple[RoleUsage, ...]:
    found: dict[tuple[str, str], RoleUsage] = {}
    for role in roles:
        held = found.get((role.role, role.model))
        if held is None:
            found[role.role, role.model] = role
            continue
        dollars = None if held.dollars is None or role.dollars is None else held.dollars + role.dollars
        found[role.role, role.model] = RoleUsage(
            role=role.role,
            model=role.model,
            calls=held.calls + role.calls,
            cached_calls=held.cached_calls + role.cached_calls,
            input_tokens=held.input_tokens + role.input_tokens,
            cached_input_tokens=held.cached_input_tokens + role.cached_input_tokens,
            output_tokens=held.output_tokens + role.output_tokens,
            dollars=dollars,
        )
    return tuple(found.values())
