"""An answer as it comes in, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fin_agent.models.call import Finish
from fin_agent.models.keys import sent_keys, without_keys
from fin_agent.models.received import Received, cleaned, received, without_thoughts

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk


class Gathered:
    """What has come until now."""

    def __init__(self) -> None:
        self.said = ""
        """The text so far, without thoughts that stand before it, and without keys or the beginning of one."""
        self._keys = sent_keys()
        self._text = ""
        self._chunks: list[AIMessageChunk] = []
        self._whole: AIMessage | None = None

    def add(self, message: AIMessage) -> str:
        """What a piece adds to what is said. A model that does not stream gives one piece, which is no chunk."""
        from langchain_core.messages import AIMessageChunk

        if isinstance(message, AIMessageChunk):
            self._chunks.append(message)
        else:
            self._whole = message
        self._text += cleaned(str(message.text))
        text = without_keys(self._text)
        before, self.said = self.said, without_thoughts(text[: len(text) - self._begun(text)])
        return self.said[len(before) :]

    def rest(self) -> str:
        """What was held back at the end: it began like a key, and is none."""
        before, self.said = self.said, without_thoughts(without_keys(self._text))
        return self.said[len(before) :]

    def _begun(self, text: str) -> int:
        """Characters at the end of a text with which a key begins that may go on with the next piece."""
        most = max(map(len, self._keys), default=0)
        sizes = range(min(most, len(text)), 0, -1)
        return next((size for size in sizes if any(key.startswith(text[-size:]) for key in self._keys)), 0)

    def message(self) -> AIMessage:
        """All of it as one message."""
        from langchain_core.messages import AIMessage
        from langchain_core.messages.ai import add_ai_message_chunks

        if self._chunks:
            return add_ai_message_chunks(*self._chunks)
        return self._whole or AIMessage(content="")

    def answer(self) -> Received:
        """All of it, as an answer."""
        if not self._chunks and self._whole is None:
            return Received("", Finish.UNKNOWN, None)
        return received(self.message())
