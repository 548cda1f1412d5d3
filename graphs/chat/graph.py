"""The chat graph (a message is read, answered from filings or replied to, and checked), and threads that it runs in."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.typing import ContextT

from fin_agent.analyst.events import Answered, StepBegun, Warned, current_listener, emit, event_listener
from fin_agent.analyst.rules.follow_ups import MessageKind, PreviousTurn, last_full_question, parse_index_question
from fin_agent.analyst.rules.follow_ups import read_message as read_by_rules
from fin_agent.answering.answer import Answer, AnswerValue, Citation, refusal_text
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.graph import answer_question as ask_graph
from fin_agent.graphs.answer.graph import require_context, stream_listener
from fin_agent.graphs.answer.question_scope import available_companies, available_filings, companies_of
from fin_agent.graphs.answer.state import typed_value
from fin_agent.graphs.channels import tagged_json
from fin_agent.graphs.chat import assistant
from fin_agent.graphs.chat.assistant import is_answered, segments_of
from fin_agent.graphs.chat.state import (
    ChatContext,
    ChatInput,
    ChatOutput,
    ChatState,
    NextNode,
    Turn,
    citations_of,
    cited_lines,
    compact_answer,
    end_of_turn,
    last_user_message,
    reading_of,
)
from fin_agent.graphs.chat.threads import thread_turn_lock
from fin_agent.lexicon.words import load_yaml
from fin_agent.tools.result_formatting import counted
from fin_agent.workspace import Workspace

Update = dict[str, Any]
Node = Callable[[ChatState, Runtime[ChatContext]], Update]
ChatGraph = CompiledStateGraph[ChatState, ChatContext, ChatInput, ChatOutput]

_MAX_IDS = 20
STEPS_AT_MOST = 12
"""Most steps of a turn, without an assistant's tool calls, which have their own limit."""


def build_chat(checkpointer: BaseCheckpointSaver[Any] | None = None) -> ChatGraph:
    """Compile the chat graph. Run it with `context=ChatContext...`, a `thread_id`, and the new message as input.

    Args:
        checkpointer: Stores the conversations by thread; without one, every message is independent.

    Returns:
        The compiled graph.

    >>> from pathlib import Path
    >>> from langchain_core.messages import HumanMessage
    >>> from fin_agent import ChatContext, ThreadStore, Workspace, build_chat
    >>> context = ChatContext.by_rules(Workspace.open(Path("my-index")))
    >>> config = {"configurable": {"thread_id": "1"}}
    >>> with ThreadStore(Path("threads.sqlite")) as threads:
    ...     chat = build_chat(threads)
    ...     for message in ("What was Harborlight's revenue in FY2024?", "and the year before?"):
    ...         state = chat.invoke({"messages": [HumanMessage(message)]}, config, context=context)
    ...         print(state["turns"][-1].said)
    Revenue of Harborlight Instruments, Inc. for FY2024: $3,763 million.
    Revenue of Harborlight Instruments, Inc. for FY2023: $3,533 million.
    """
    return chat_builder(ChatContext, lambda context: context).compile(checkpointer=checkpointer, name="chat")


def chat_builder(
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], ChatContext],
    around: Callable[[Any], Any] = lambda node: node,
) -> StateGraph[ChatState, ContextT, ChatInput, ChatOutput]:
    """Return the graph, to be compiled; `context_of` makes the ChatContext of a run's, `around` wraps each node."""
    builder: StateGraph[ChatState, ContextT, ChatInput, ChatOutput] = StateGraph(
        ChatState, context_schema=context_schema, input_schema=ChatInput, output_schema=ChatOutput
    )
    for node in NODES:
        taking: Any = around(_in_chat_context(node, context_of))
        builder.add_node(node.__name__, taking, metadata={"description": inspect.cleandoc(node.__doc__ or "")})
    builder.add_edge(START, "read_message")
    builder.add_conditional_edges("read_message", _as_decided, ["answer_question", "reply", "converse"])
    builder.add_edge("answer_question", END)
    builder.add_edge("reply", END)
    builder.add_conditional_edges("converse", _as_decided, ["check_figures", "answer_question", "reply"])
    builder.add_conditional_edges("check_figures", _as_decided, ["converse", END])
    return builder


def read_message(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Read the new message in its conversation: a question, a follow-up, or talk."""
    turns = conversation_questions(state.get("turns", []))
    reading = read_by_rules(last_user_message(state), turns, runtime.context.answering.workspace)
    by_rules = "answer_question" if reading.asks else "reply"
    return {
        "reading": reading,
        "next": by_rules if runtime.context.assistant is None else "converse",
        "draft": None,
        "calls": [],
        "corrected": False,
        "notes": [],
    }


def answer_question(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Answer the complete question from filings, with the answer graph."""
    started = time.perf_counter()
    reading, asked = reading_of(state), last_user_message(state)
    question = reading.question or asked
    try:
        answer = ask_graph(question, runtime.context.answering, doc_ids=runtime.context.doc_ids)
        emit(Answered(answer=answer))  # with the trace, which a conversation does not store
    except QuestionError as error:
        said, missing = refusal_text([str(error)]), (str(error),)
        answer = Answer(question=question, answer=AnswerValue(text=said), refused=True, missing=missing)
    turn = Turn(
        asked=asked,
        kind=reading.kind,
        question=question,
        said=answer.answer.text,
        answers=(compact_answer(answer),),
        citations=citations_of(answer),
        warnings=(*state.get("notes", ()), *answer.warnings),
        usage=answer.usage,
        seconds=round(time.perf_counter() - started, 4),
    )
    return {"messages": [AIMessage(turn.message)], **end_of_turn(turn)}


def reply(state: ChatState, runtime: Runtime[ChatContext]) -> Update:
    """Reply to a message that is no question about filings: greetings, thanks, an answer's sources, how it was made."""
    kind, context = reading_of(state).kind, runtime.context
    asked = last_user_message(state)
    said, citations = reply_to(asked, kind, state.get("turns", []), context.answering.workspace, context.doc_ids)
    notes = tuple(state.get("notes", ()))
    turn = Turn(asked=asked, kind=kind, said=said, citations=citations, warnings=notes)
    return {"messages": [AIMessage(turn.message)], **end_of_turn(turn)}


NODES: tuple[Node, ...] = (read_message, answer_question, reply, assistant.converse, assistant.check_figures)


def _in_chat_context(
    node: Node, context_of: Callable[[ContextT], ChatContext]
) -> Callable[[ChatState, Runtime[ContextT]], Update]:
    """Return the node with its context converted by `context_of`; its events are emitted."""

    @wraps(node)
    def with_context(state: ChatState, runtime: Runtime[ContextT]) -> Update:
        context = require_context(context_of, runtime.context, ChatContext)
        within: Runtime[Any] = runtime
        hearing = current_listener()
        with event_listener(hearing.listener or stream_listener(within), drafts=hearing.drafts):
            emit(StepBegun(node=node.__name__, round=1))
            made = {name: typed_value(name, value, ChatState) for name, value in state.items() if name in _TYPED}
            update = node(cast(ChatState, {**state, **made}), within.override(context=context))
        # Any checkpointer stores plain data, and LangChain's own messages.
        return {
            name: value if name == "messages" else tagged_json(value, node.__name__) for name, value in update.items()
        }

    return with_context


_TYPED = ("turns", "reading", "draft", "calls")
"""Parts of the state that are JSON again where they were edited."""


def _as_decided(state: ChatState) -> NextNode:
    return state["next"]


def reply_to(
    asked: str, kind: MessageKind, turns: Sequence[Turn], workspace: Workspace, doc_ids: Collection[str] | None = None
) -> tuple[str, tuple[Citation, ...]]:
    """Return the reply to a message of this kind and its citations. Only the filings `doc_ids` are mentioned."""
    answered = _referenced_turn(turns, workspace)
    if answered is not None and kind in (MessageKind.WHERE, MessageKind.HOW, MessageKind.DOUBT):
        said = _explain_answer(kind, answered)
        if answered is not [turn for turn in turns if turn.answers][-1] and not answered.answers[-1].refused:
            said = f"Of: {answered.question}\n{said}"  # another question was asked since
        return said, answered.citations
    words = load_yaml("replies", __package__)
    listed = _describe_index(asked, workspace, doc_ids) if kind is MessageKind.INDEX else ""
    there, example = available_companies(workspace, doc_ids).rstrip("."), _example(workspace, doc_ids)
    said = words["kinds"].get(kind.value, words["alone" if answered is None else "unclear"])
    return said.format(there=there, listed=listed, example=example), ()


def conversation_questions(turns: Sequence[Turn]) -> list[PreviousTurn]:
    """Return the questions of a conversation, as context for the next message."""
    return [
        PreviousTurn(turn.question, turn.answer, whole=turn.kind is MessageKind.QUESTION)
        for turn in turns
        if turn.question
    ]


def _referenced_turn(turns: Sequence[Turn], workspace: Workspace) -> Turn | None:
    """Return the turn that `that` refers to: of the question that is continued, else the last with an answer."""
    with_answers = [turn for turn in turns if turn.answers]
    standing = last_full_question(conversation_questions(with_answers), workspace)
    for turn in reversed(with_answers):
        if standing is not None and turn.question == standing.question and turn.answer == standing.answer:
            return turn
    return with_answers[-1] if with_answers else None


def _explain_answer(kind: MessageKind, turn: Turn) -> str:
    """Return an answer's sources, how it was made, or both for a user who doubts it."""
    answer = turn.answer
    assert answer is not None
    where, words = "\n".join(cited_lines(turn.citations)), load_yaml("replies", __package__)
    if kind is MessageKind.WHERE:
        return where or str(words["no source"].format(question=turn.question))
    if answer.refused:
        return str(words["not answered"].format(missing="; ".join(answer.missing)))
    if kind is MessageKind.DOUBT:
        made = "is computed from" if answer.program is not None else "is based on"
        return f"{words['doubt'].format(made=made)}\n{where}"
    if answer.program is None:
        return f"{words['quoted']}\n{where}"
    noted = "".join(f"\nNote: {assumption}" for assumption in answer.assumptions)
    return f"{words['computed']}\n\n{answer.program.strip()}{noted}"


def _describe_index(asked: str, workspace: Workspace, doc_ids: Collection[str] | None) -> str:
    """Describe the indexed filings among those asked about, one by one if they are few."""
    of = parse_index_question(asked, workspace)
    there = workspace.directory.identities if doc_ids is None else doc_ids
    left = [doc_id for doc_id in (there if of is None else of.doc_ids) if doc_id in there]
    lines = [f"Not indexed: {', '.join(of.unknown)}."] if of is not None and of.unknown else []
    if not left:
        held = f"Indexed here: {counted(len(there), 'filing')}, of {available_companies(workspace, doc_ids)}."
        return "\n".join(lines or ["None."]) + f" {held}"
    narrowed = of is not None and of.narrowed
    lines.append(f"Indexed {'of that' if narrowed else 'here'}: {counted(len(left), 'filing')}.")
    lines.append(available_filings(workspace, left))
    return "\n".join([*lines, ", ".join(left)] if narrowed and len(left) <= _MAX_IDS else lines)


def _example(workspace: Workspace, doc_ids: Collection[str] | None) -> str:
    """Return an example question about an indexed company and year."""
    latest = ((company, filed.latest()) for company, filed, _ in companies_of(workspace, doc_ids))
    company, year = next(((name.split(",")[0], each.fiscal_year) for name, each in latest if each), ("Acme", 2023))
    return str(load_yaml("replies", __package__)["example"].format(company=company, year=year))


_WAITING = "waiting for another message of this conversation to be answered"
_NUMBERED = re.compile(r"chat-(\d{1,6})")


class ChatThread:
    """A thread in use; several may be used alternately."""

    def __init__(self, context: ChatContext, keeper: BaseCheckpointSaver[str], name: str) -> None:
        self._context = context
        self._graph = build_chat(keeper)
        self._keeper = keeper
        self.name = name

    @property
    def turns(self) -> list[Turn]:
        """The turns so far."""
        return list(self._state.get("turns", ()))

    @property
    def unanswered(self) -> str:
        """The last message, if it has no reply because the chat ended or the question was cancelled."""
        dangling = self._incomplete_messages()
        return dangling[0].text if dangling else ""

    def send(self, message: str, *, keep_unanswered: bool = True) -> Turn:
        """Send a message and return its turn; if it fails, the earlier turns stay unchanged.

        A turn in progress elsewhere in the thread is waited for, with a warning event; the message goes on from it.
        Without `keep_unanswered`, a message that fails is removed. Raises FinAgentError where the answer graph fails,
        or the thread cannot be read or written.
        """
        turn: Turn | None = None
        asked = ChatInput(messages=[HumanMessage(message)])
        with thread_turn_lock(self._keeper, self.name, lambda: emit(Warned(text=_WAITING))):
            try:
                for update in self._graph.stream(asked, self._config, context=self._context, stream_mode="updates"):
                    for changes in update.values():
                        for each in (changes or {}).get("turns", ()):
                            turn = Turn.model_validate(each)
            except BaseException:
                if not keep_unanswered:
                    self.forget_unanswered()
                raise
        assert turn is not None, "the last node always ends the turn"
        return turn

    def forget_unanswered(self) -> None:
        """Remove a message without reply from the end of the thread, such as a cancelled one."""
        removed = [RemoveMessage(id=message.id) for message in self._incomplete_messages() if message.id]
        if removed:
            self._graph.update_state(self._config, {"messages": removed}, as_node="reply")

    def _incomplete_messages(self) -> list[BaseMessage]:
        """Return the last message and those after it, if no turn ended with a reply to it."""
        state = self._state
        segments = segments_of(state.get("messages", []))
        return segments[-1] if segments and not is_answered(segments[-1], state.get("turns", ())) else []

    @property
    def _state(self) -> ChatState:
        return cast(ChatState, self._graph.get_state(self._config).values)

    @property
    def _config(self) -> RunnableConfig:
        return {"configurable": {"thread_id": self.name}, "recursion_limit": STEPS_AT_MOST}


def next_name(names: list[str]) -> str:
    """Return a name for a new thread: `chat-1`, `chat-2` and so on."""
    taken = [int(found[1]) for name in names if (found := _NUMBERED.fullmatch(name))]
    return f"chat-{max(taken, default=0) + 1}"
