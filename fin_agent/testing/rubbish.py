"""A chat model that says rubbish now and then, in place of what another model says."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, PrivateAttr

from fin_agent.testing.base import WrappingChatModel, answering_message
from fin_agent.testing.call import ModelCall, plain
from fin_agent.testing.rubbish_kinds import Rubbish, rubbish

_IN_PLACE = frozenset({
    Rubbish.EMPTY, Rubbish.BLANK, Rubbish.PROSE, Rubbish.REFUSAL, Rubbish.OTHER_LANGUAGE, Rubbish.INJECTION,
    Rubbish.PROMPT_ECHO,
})  # fmt: skip
"""Said instead of a call of a tool; the other kinds spoil the call's arguments."""


class Spoiled(NamedTuple):
    """An answer that was replaced."""

    kind: Rubbish
    call: ModelCall


class RubbishChatModel(WrappingChatModel):
    """Replaces answers of the model it is made around, with a probability, by rubbish of the kinds given.

    What becomes of a call depends on the call, on how often it was made, and on the seed: not on the order or the
    threads in which calls are made. Tokens stay those of the answer that was replaced.

    >>> from fin_agent.testing import ScriptedChatModel
    >>> model = RubbishChatModel(ScriptedChatModel('{"revenue": 5.25}'), probability=1, kinds=[Rubbish.WRONG_NAMES])
    >>> model.invoke("What was revenue? Answer in JSON").content
    '{"revenue_final": {"final": 5.25}}'
    >>> [spoiled.kind for spoiled in model.spoiled]
    [<Rubbish.WRONG_NAMES: 'wrong-names'>]
    """

    sound: BaseChatModel
    """The model whose answers are replaced."""
    probability: float = Field(default=0.5, ge=0, le=1)
    seed: int = 0
    kinds: tuple[Rubbish, ...] = Field(default=tuple(Rubbish), min_length=1)

    _spoiled: list[Spoiled] = PrivateAttr(default_factory=list)
    _asked: Counter[str] = PrivateAttr(default_factory=Counter)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(
        self,
        sound: BaseChatModel,
        *,
        probability: float = 0.5,
        seed: int = 0,
        kinds: Sequence[Rubbish] = tuple(Rubbish),
        model_name: str = "rubbish",
    ) -> None:
        super().__init__(sound=sound, probability=probability, seed=seed, kinds=tuple(kinds), model_name=model_name)  # type: ignore[call-arg]

    @property
    def spoiled(self) -> list[Spoiled]:
        """Answers that were replaced so far, in the order in which they were given."""
        return list(self._spoiled)

    def _behind(self) -> BaseChatModel:
        return self.sound

    def _after(self, call: ModelCall, result: ChatResult) -> ChatResult:
        digest = call.digest()
        with self._lock:
            repeat = self._asked[digest]
            self._asked[digest] += 1
        draw = random.Random(f"{self.seed} {repeat} {digest}")
        if draw.random() >= self.probability:
            return result
        kind = draw.choice(self.kinds)
        with self._lock:
            self._spoiled.append(Spoiled(kind, call))
        message = _spoiled_message(kind, answering_message(result), call, draw)
        return ChatResult(generations=[ChatGeneration(message=message)], llm_output=result.llm_output)


def _spoiled_message(kind: Rubbish, sound: AIMessage, call: ModelCall, draw: random.Random) -> AIMessage:
    known = {"response_metadata": sound.response_metadata, "usage_metadata": sound.usage_metadata}
    if not sound.tool_calls or kind in _IN_PLACE:
        return AIMessage(content=rubbish(kind, str(sound.text), call.text, draw), **known)
    first, *others = sound.tool_calls
    written = rubbish(kind, json.dumps(plain(first["args"])), call.text, draw)
    try:
        args = json.loads(written)
    except ValueError:
        args = None
    if isinstance(args, dict):
        return AIMessage(content=sound.content, tool_calls=[{**first, "args": args}, *others], **known)
    broken = {"name": first["name"], "args": written, "id": first["id"], "error": None, "type": "invalid_tool_call"}
    return AIMessage(content=sound.content, tool_calls=others, invalid_tool_calls=[broken], **known)
