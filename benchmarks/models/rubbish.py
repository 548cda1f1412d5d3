"""A chat model that says rubbish now and then, in place of what another model says."""

from __future__ import annotations

import hashlib
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableBinding
from pydantic import Field, JsonValue, PrivateAttr, TypeAdapter

from fin_agent.testing.scripted_model import ROLE_OPTION, ModelCall, StandInChatModel, plain

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LONG = 30_000


class Rubbish(StrEnum):
    """What an answer is replaced by."""

    EMPTY = "empty"
    BLANK = "blank"
    PROSE = "prose"
    REFUSAL = "refusal"
    OTHER_LANGUAGE = "other-language"
    INJECTION = "injection"
    PROMPT_ECHO = "prompt-echo"
    TRUNCATED = "truncated"
    WRONG_TYPES = "wrong-types"
    WRONG_NAMES = "wrong-names"
    NULLS = "nulls"
    BARE_LIST = "bare-list"
    INVENTED_NUMBERS = "invented-numbers"
    SCALED_NUMBERS = "scaled-numbers"
    REPEATED = "repeated"
    ENDLESS = "endless"


_IN_PLACE = frozenset({
    Rubbish.EMPTY, Rubbish.BLANK, Rubbish.PROSE, Rubbish.REFUSAL, Rubbish.OTHER_LANGUAGE, Rubbish.INJECTION,
    Rubbish.PROMPT_ECHO,
})  # fmt: skip
"""Said instead of a call of a tool; the other kinds spoil the call's arguments."""


_TOLD = frozenset({
    "frequency_penalty", "logprobs", "max_completion_tokens", "max_tokens", "n", "parallel_tool_calls",
    "presence_penalty", "reasoning", "reasoning_effort", "response_format", "seed", "stop", "strict", "temperature",
    "tool_choice", "tools", "top_k", "top_logprobs", "top_p", "verbosity",
})  # fmt: skip
"""Options whose values make a request what it is."""


def digest_of(call: ModelCall) -> str:
    """A SHA-256, the same for the same call in any process."""
    options = {name: plain(value) for name, value in call.options.items() if name in _TOLD and value is not None}
    written = {"messages": [_written(message) for message in call.messages], "options": options}
    return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()


def _written(message: BaseMessage) -> Mapping[str, JsonValue]:
    """A message as LangChain writes it, without ids of a run and without what is empty."""
    written = message_to_dict(message.model_copy(update={"id": None}))
    return {**{name: plain(value) for name, value in written["data"].items() if value}, "type": written["type"]}


class Spoiled(NamedTuple):
    """An answer that was replaced."""

    kind: Rubbish
    call: ModelCall


class RubbishChatModel(StandInChatModel):
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
    _made: Counter[str] = PrivateAttr(default_factory=Counter)
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

    def _asked(self, call: ModelCall) -> ChatResult:
        """What the sound model answers. Not by `invoke`, whose callbacks would count each call and its tokens twice."""
        options: dict[str, Any] = dict(call.options)
        if call.role is not None and isinstance(self.sound, StandInChatModel):
            options[ROLE_OPTION] = call.role
        if "tools" in options:
            named: dict[str, Any] = {name: options.pop(name) for name in ("tool_choice", "strict") if name in options}
            bound = self.sound.bind_tools(cast(Sequence[dict[str, Any]], options.pop("tools")), **named)
            options |= bound.kwargs if isinstance(bound, RunnableBinding) else {}
        return self.sound._generate(list(call.messages), **options)

    def _answered(self, call: ModelCall) -> ChatResult:
        result, digest = self._asked(call), digest_of(call)
        with self._lock:
            repeat = self._made[digest]
            self._made[digest] += 1
        draw = random.Random(f"{self.seed} {repeat} {digest}")
        if draw.random() >= self.probability:
            return result
        kind = draw.choice(self.kinds)
        with self._lock:
            self._spoiled.append(Spoiled(kind, call))
        message = _spoiled_message(kind, cast(AIMessage, result.generations[0].message), call, draw)
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


def rubbish(kind: Rubbish, answer: str, prompt: str, draw: random.Random) -> str:
    """The rubbish of a kind. Never the answer itself: what a kind cannot change becomes prose."""
    texts = _texts()
    making: dict[Rubbish, Callable[[], str]] = {
        Rubbish.EMPTY: lambda: "",
        Rubbish.BLANK: lambda: " \n\t\n " * draw.randint(1, 9),
        Rubbish.PROSE: lambda: draw.choice(texts["prose"]),
        Rubbish.REFUSAL: lambda: draw.choice(texts["refusal"]),
        Rubbish.OTHER_LANGUAGE: lambda: draw.choice(texts["other_language"]),
        Rubbish.INJECTION: lambda: draw.choice(texts["injection"]),
        Rubbish.PROMPT_ECHO: lambda: prompt,
        Rubbish.TRUNCATED: lambda: answer[: draw.randint(1, max(1, len(answer) - 1))],
        Rubbish.WRONG_TYPES: lambda: _reshaped(answer, _other_type),
        Rubbish.WRONG_NAMES: lambda: _reshaped(answer, _other_names),
        Rubbish.NULLS: lambda: _reshaped(answer, _nulls),
        Rubbish.BARE_LIST: lambda: _reshaped(answer, lambda value: [value, value]),
        Rubbish.INVENTED_NUMBERS: lambda: _NUMBER.sub(lambda found: _invented(found[0], draw), answer),
        Rubbish.SCALED_NUMBERS: lambda: _NUMBER.sub(lambda found: _scaled(found[0]), answer),
        Rubbish.REPEATED: lambda: f"{answer}\n{answer}\n{answer[: len(answer) // 2]}",
        Rubbish.ENDLESS: lambda: (answer or "and so on ") * (_LONG // max(1, len(answer)) + 1),
    }
    made = making[kind]()
    return made if made != answer else draw.choice(texts["prose"])


@lru_cache(maxsize=1)
def _texts() -> dict[str, list[str]]:
    written = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, list[str]]).validate_python(yaml.safe_load(written))


def _reshaped(answer: str, change: Callable[[JsonValue], JsonValue]) -> str:
    """An answer in JSON with its value changed; one that is none is taken for a string."""
    try:
        value: JsonValue = json.loads(answer)
    except ValueError:
        value = answer
    return json.dumps(change(value), ensure_ascii=False)


def _other_type(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _other_type(each) for name, each in value.items()} or [0]
    if isinstance(value, list):
        return {str(place): _other_type(each) for place, each in enumerate(value)}
    return {"value": value} if isinstance(value, str) else f"about {value}"


def _other_names(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {f"{name}_final": _other_names(each) for name, each in value.items()} or {"final": None}
    return [_other_names(each) for each in value] if isinstance(value, list) else {"final": value}


def _nulls(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return dict.fromkeys(value)
    return [None for _ in value] if isinstance(value, list) else None


def _invented(number: str, draw: random.Random) -> str:
    """Another number of the same print: as many digits, the same commas and point."""
    first = str(draw.choice([digit for digit in range(1, 10) if str(digit) != number[0]]))
    return first + "".join(str(draw.randint(0, 9)) if sign.isdigit() else sign for sign in number[1:])


def _scaled(number: str) -> str:
    """A thousand times a number, as if its unit had been misread."""
    try:
        scaled = Decimal(number.replace(",", "")) * 1000
    except InvalidOperation:
        return f"{number}000"
    return f"{scaled:,f}" if "," in number else f"{scaled:f}"
