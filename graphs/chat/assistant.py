"""The assistant: a LangChain agent with tools over filings, within limits; its figures are checked against sources."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    trim_messages,
)
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from fin_agent.analyst.events import Warned, emit
from fin_agent.analyst.model.model_client import callers_for_roles
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.follow_ups import MessageKind
from fin_agent.answering.answer import Answer
from fin_agent.answering.sentence_binding import contradictions, strip_markup, years_in
from fin_agent.errors import QuestionError, how_to_install
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import without_checkpoint_keys
from fin_agent.graphs.answer.question_scope import available_filings
from fin_agent.graphs.chat.number_grounding import (
    mark_unverified,
    repeated_instructions,
    stated_numbers,
    tool_findings,
    ungrounded_claims,
    unsourced_numbers,
)
from fin_agent.graphs.chat.state import (
    CORRECTION,
    ChatContext,
    ChatLimits,
    ChatState,
    Turn,
    citations_of,
    compact_answer,
    end_of_turn,
    is_correction,
    last_user_message,
    reading_of,
)
from fin_agent.models.call import Role
from fin_agent.models.caller import Callers
from fin_agent.models.errors import ModelError, ModelSetupError
from fin_agent.models.metering import Meter, current_meter, metered, usage_of
from fin_agent.models.settings import ModelSettings
from fin_agent.models.tokens import message_tokens
from fin_agent.prompts import load_prompt
from fin_agent.prompts.prompt import Prompt
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware

Update = dict[str, Any]
_STEPS_PER_CALL = 6
"""Steps of the agent's graph per call: the model, its middleware, the tools."""
_MAX_ERROR_LENGTH = 300


@dataclass(frozen=True)
class Assistant:
    """An agent that calls tools, with the accounting of its calls."""

    agent: CompiledStateGraph[Any, Any, Any, Any]
    prompt: Prompt
    workspace: Workspace
    settings: ModelSettings
    limits: ChatLimits
    doc_ids: tuple[str, ...] | None

    def opening(self) -> str:
        """Return the first message: the indexed filings."""
        return self.prompt.filled(filings=available_filings(self.workspace, self.doc_ids)).user

    def continue_conversation(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return the messages that the agent adds to the given ones. Raises ModelError if a model call fails."""
        given = [HumanMessage(self.opening()), *messages]
        # Sync: nodes run in threads. The result has `messages` in order, with the new ones at the end.
        config: RunnableConfig = {
            **without_checkpoint_keys(),
            "recursion_limit": _STEPS_PER_CALL * (self.limits.model_calls + 2),
        }
        result: dict[str, list[BaseMessage]] = self.agent.invoke({"messages": given}, config)
        return result["messages"][len(given) :]


def assistant_of(
    answering: AnswerContext, doc_ids: tuple[str, ...] | None, limits: ChatLimits, *, callers: Callers | None = None
) -> Assistant:
    """Build the assistant with the model of the role `assistant`. Raises ModelSetupError and PromptError."""
    try:
        from langchain.agents import create_agent
        from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
    except ImportError:
        raise ModelSetupError(
            "a chat by a model needs langchain, which is not installed",
            subject="chat",
            remedy=f"Install it: {how_to_install('chat')}; or chat by rules, without a model",
        ) from None
    from fin_agent.graphs.chat.call_accounting import CallAccountingMiddleware

    settings = answering.settings
    callers = callers or callers_for_roles(settings)
    caller = callers.of(Role.ASSISTANT)
    prompt = load_prompt("assistant", folder=settings.prompts)
    filled = prompt.filled(filings="")
    toolkit = FinAgentToolkit(workspace=answering.workspace, settings=settings, doc_ids=doc_ids, callers=callers)
    middleware: list[AgentMiddleware[Any, Any]] = [
        ModelCallLimitMiddleware(run_limit=limits.model_calls, exit_behavior="end"),
        ToolCallLimitMiddleware(run_limit=limits.tool_calls, exit_behavior="continue"),
        CallAccountingMiddleware(caller, filled.name, filled.version),
    ]
    agent = create_agent(
        caller.model.model,
        toolkit.get_tools(),
        system_prompt=filled.system,
        middleware=middleware,
        name="assistant",
        checkpointer=False,
    )
    return Assistant(agent, prompt, answering.workspace, callers.settings, limits, doc_ids)


def converse(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Let the chat model reply with the tools it needs; if it fails, rules reply."""
    context = runtime.context
    assistant = context.assistant
    assert assistant is not None, "only a context with an assistant leads here"
    started = time.perf_counter()
    history = sent_history(state["messages"], context.limits, state.get("turns", ()))
    meter = Meter(assistant.settings.budget, within=current_meter())
    try:
        with metered(meter):
            added = assistant.continue_conversation(history)
    except ModelError as error:
        return _by_rules(state, f"the chat model failed, and rules reply: {error}")
    except GraphBubbleUp:
        raise
    except Exception as error:  # agents and models may raise anything: a conversation must not end with it
        told_of = f"{type(error).__name__}: {error}"[:_MAX_ERROR_LENGTH]
        return _by_rules(state, f"the assistant failed, and rules reply: {told_of}")
    before = state.get("draft") or Turn(asked=last_user_message(state), kind=reading_of(state).kind, said="")
    artifacts = (message.artifact for message in added if isinstance(message, ToolMessage))
    answers = (*before.answers, *(compact_answer(each) for each in artifacts if isinstance(each, Answer)))
    kind = reading_of(state).kind
    if answers and kind is not MessageKind.QUESTION:
        kind = MessageKind.FOLLOW_UP
    calls = [*state.get("calls", ()), *meter.records]
    said, warnings = _last_reply(added, assistant)
    draft = Turn(
        asked=before.asked,
        kind=kind,
        question=answers[-1].question if answers else "",
        said=said,
        answers=answers,
        by_model=True,
        warnings=warnings,
        usage=usage_of(calls, (*before.usage.left_out, *meter.calls_not_made)),
        seconds=round(before.seconds + time.perf_counter() - started, 4),
    )
    # Without the artifacts: the turn stores those that are needed.
    messages = [each.model_copy(update={"artifact": None}) if isinstance(each, ToolMessage) else each for each in added]
    return {"messages": messages, "draft": draft, "calls": calls, "next": "check_figures"}


def check_figures(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Check every number of a reply against tool results; return it once for correction, then add a warning."""
    # Other claims (directions, events, amounts in words) must be supported by a tool result or an answer, too.
    context, draft = runtime.context, state.get("draft")
    assert draft is not None, "the assistant has left a draft"
    messages = state["messages"]
    citations = citations_of(*draft.answers)
    lacking: tuple[str, ...] = ()
    claims: dict[str, tuple[str, ...]] = {}
    if not draft.warnings:  # the reply for a stopped model has a warning and no figures
        marks = len(citations) + sum(isinstance(message, ToolMessage) for message in messages)
        # Replies by rules, and the description of the index that the assistant was given, are sources too.
        opening = [] if context.assistant is None else [context.assistant.opening()]
        said_before = [*(turn.said for turn in state.get("turns", ()) if not turn.by_model), *opening]
        lacking = unsourced_numbers(draft.said, stated_numbers(messages, said_before), marks=marks)
        grounds = tool_findings(messages, said_before)
        claims = ungrounded_claims(draft.said, grounds, draft.asked)
        claims = {**repeated_instructions(draft.said, messages, [*grounds, draft.asked]), **claims}
    claimed = tuple(dict.fromkeys(each for claim in claims.values() for each in claim))
    if (lacking or claimed) and not state.get("corrected"):
        emit(Warned(text=f"statements without a source were sent back: {', '.join((*lacking, *claimed))}"))
        asked = HumanMessage(_correction(lacking, claimed), additional_kwargs={CORRECTION: True})
        return {"messages": [asked], "corrected": True, "next": "converse"}
    warnings = draft.warnings
    if lacking:
        warnings = (*warnings, f"no filing that was read contains these numbers of the reply: {', '.join(lacking)}")
    if claimed:
        warnings = (*warnings, f"nothing that was read supports these statements of the reply: {', '.join(claimed)}")
    workspace = context.answering.workspace
    companies = workspace.directory.mentions(f"{draft.asked} {draft.said}")
    doc_ids = {doc_id for mention in companies for doc_id in mention.company.doc_ids}
    warnings = (*warnings, *contradictions(draft.said, doc_ids, workspace, years_in(draft.asked)))
    if reading_of(state).asks and not draft.warnings:
        this_turn = " ".join(message.text for message in segments_of(messages)[-1] if isinstance(message, ToolMessage))
        read = [doc_id for doc_id in sorted(doc_ids) if doc_id in this_turn]
        warnings = (*warnings, *_conflicting_answers(reading_of(state).question, draft.said, read, workspace))
    said = mark_unverified(draft.said, lacking, claims)
    turn = draft.model_copy(update={"said": said, "warnings": warnings, "citations": citations})
    last = messages[-1]
    shown = "".join((said, *(f"\n\nWarning: {warning}" for warning in warnings)))
    # Replaces the model's own message.
    shown_message = AIMessage(shown, id=last.id if isinstance(last, AIMessage) else None)
    return {"messages": [*_withdrawn_drafts(messages), shown_message], **end_of_turn(turn)}


def _conflicting_answers(question: str, said: str, read: Sequence[str], workspace: Workspace) -> list[str]:
    """Return what the filings read answer to a question in words, if the reply mentions none of it."""
    analyst = RulesAnalyst(workspace)
    try:
        return analyst.conflicting_reasons(analyst.intent(question), said, filings=read) if read else []
    except QuestionError:
        return []


def _by_rules(state: ChatState, warning: str) -> Update:
    emit(Warned(text=warning))
    return {
        "messages": list(_withdrawn_drafts(state["messages"])),
        "notes": [*state.get("notes", ()), warning],
        "draft": None,
        "next": "answer_question" if reading_of(state).asks else "reply",
    }


def _last_reply(added: Sequence[BaseMessage], assistant: Assistant) -> tuple[str, tuple[str, ...]]:
    """Return the text of the last message, and warnings about it."""
    last, most = added[-1] if added else None, assistant.limits.model_calls
    text = last.text.strip() if isinstance(last, AIMessage) else ""
    # The reply after the last allowed call is the middleware's, which says that it stops.
    if sum(isinstance(message, AIMessage) for message in added) > most:
        stopped = f"I stopped before I had an answer: the limit of {most} model calls a message was reached."
        return f"{stopped} Ask for less at once.", (f"the limit of {most} model calls was reached",)
    if not text:
        return "The model gave no reply.", ("the model's reply was empty",)
    return strip_markup(text) or "The model gave no reply.", ()


def _correction(lacking: Sequence[str], claimed: Sequence[str] = ()) -> str:
    wrong = []
    if lacking:
        wrong.append(
            "these numbers of it are in no tool result and in no message of the person: "
            f"{', '.join(lacking)}. Get them with a tool, compute them with python_execution, or reply without them."
        )
    if claimed:
        wrong.append(f"no tool result supports this: {', '.join(claimed)}. Say what the results say, or leave it out.")
    return f"Your reply was not shown: {' Also, '.join(wrong)} Write the whole reply again."


def _withdrawn_drafts(messages: Sequence[AnyMessage]) -> Iterator[RemoveMessage]:
    """Yield removals of this turn's withdrawn draft and its correction."""
    for before, message in pairwise(messages):
        if is_correction(message):
            yield from (RemoveMessage(id=each.id) for each in (before, message) if each.id)


def sent_history(
    messages: Sequence[AnyMessage], limits: ChatLimits, turns: Sequence[Turn] | None = None
) -> list[BaseMessage]:
    """Return the current turn, after the questions and replies of as many earlier turns as fit.

    Messages without reply were cancelled and are left out, as are drafts that no turn completed, since their figures
    were not checked. Tool results of earlier turns are left out too: the model can call the tools again. `turns` are
    the completed turns, if known.
    """
    segments = segments_of(messages)
    if not segments:
        return []
    *before, current = segments
    earlier = [each for segment in before if is_answered(segment, turns) for each in (segment[0], segment[-1])]
    room = max(0, limits.history_tokens - _tokens(current))
    return [*trim_messages(earlier, max_tokens=room, token_counter=_tokens, start_on="human"), *current]


def segments_of(messages: Sequence[AnyMessage]) -> list[list[BaseMessage]]:
    """Split messages into turns, each of which begins with a user's message."""
    segments: list[list[BaseMessage]] = []
    for message in messages:
        if isinstance(message, HumanMessage) and not is_correction(message):
            segments.append([])
        if segments:
            segments[-1].append(message)
    return segments


def is_answered(segment: Sequence[BaseMessage], turns: Sequence[Turn] | None) -> bool:
    """Return whether a turn ends with a reply: that of one of `turns`, if they are given."""
    last = segment[-1]
    if not isinstance(last, AIMessage) or last.tool_calls:
        return False
    return turns is None or any(turn.asked == segment[0].text and turn.said in last.text for turn in turns)


def _tokens(messages: Sequence[BaseMessage]) -> int:
    calls = [str(call["args"]) for each in messages if isinstance(each, AIMessage) for call in each.tool_calls]
    return message_tokens([*(each.text for each in messages), *calls])
