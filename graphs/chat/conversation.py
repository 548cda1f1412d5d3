"""A thread of the chat graph with its messages, one turn at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from fin_agent.analyst.events import Warned, emit
from fin_agent.graphs.chat.assistant import is_answered, segments_of
from fin_agent.graphs.chat.graph import STEPS_AT_MOST, build_chat
from fin_agent.graphs.chat.state import ChatContext, ChatInput, ChatState, Turn
from fin_agent.graphs.chat.threads import thread_turn_lock

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

    def send(
        self, message: str, on_step: Callable[[str], None] = lambda node: None, *, keep_unanswered: bool = True
    ) -> Turn:
        """Send a message and return its turn; if it fails, the earlier turns stay unchanged.

        A turn in progress elsewhere in the thread is waited for, with a warning event; the message goes on from it.

        Args:
            message: The message.
            on_step: Called with the name of each node as it ends.
            keep_unanswered: Whether a message that fails stays in the thread.

        Raises:
            FinAgentError: The answer graph fails, or the thread cannot be read or written.
        """
        turn: Turn | None = None
        asked = ChatInput(messages=[HumanMessage(message)])
        with thread_turn_lock(self._keeper, self.name, lambda: emit(Warned(text=_WAITING))):
            try:
                for update in self._graph.stream(asked, self._config, context=self._context, stream_mode="updates"):
                    for node, changes in update.items():
                        on_step(node)
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
