"""The kinds of rubbish that models say, each made of the answer that should have been given, or in its place."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import lru_cache
from importlib import resources

import yaml
from pydantic import JsonValue, TypeAdapter

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
    written = resources.files(__package__).joinpath("rubbish.yaml").read_text(encoding="utf-8")
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
