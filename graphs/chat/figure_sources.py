"""What the numbers of a reply may come from: what tools found and computed, and what people said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in, spelled_numbers
from fin_agent.graphs.chat.history import is_correction
from fin_agent.tools.wording import NO_SOURCE_FOR, NOT_ANSWERED, RESULT, SOURCES_FOR_ALL, UNCHECKED

_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 1_000_000_000_000}
_ANY_SCALE = (1, 1_000, 1_000_000, 1_000_000_000)
_UNIT = re.compile(r"\s\((USD (?:thousand|million|billion)s?)\)")
_SCALE_WORD = re.compile(r"\b(thousand|million|billion|trillion)s?\b", re.I)
_HEADER = re.compile(r"\bin (thousand|million|billion)s\b", re.I)
_QUOTATION = re.compile(r"^</?\w+-[0-9a-f]{16}\b.*$", re.M)
_PAGE = re.compile(r"\bpages? \d+\b")
_DOWN = re.compile(
    r"\b(?:loss|losses|outflow|decreas|declin|fell|fall|drop|down|expense|cost|paid|payment|charge|deficit|negative|used)",
    re.I,
)
_CONSTANTS = frozenset(map(Decimal, (0, 1, 2, 3, 4, 10, 12, 52, 53, 100, 360, 365, 366, 1_000, 10_000)))
_POWERS = frozenset(Decimal(10) ** each for each in (6, 9, 12))


@dataclass(frozen=True, slots=True)
class Stated:
    """A number that a source states."""

    numeral: Numeral
    scales: tuple[int, ...]
    """By which it may be meant: one where the source prints it behind the number."""
    down: bool
    """Whether its line speaks of a loss, an outflow or a decrease."""


def stated_in(messages: Sequence[BaseMessage], also: Iterable[str] = ()) -> list[Stated]:
    """The numbers that people said and tools found, of a thread; those of `also` beside them.

    What a tool could not do says nothing, nor does a program a number of which stands nowhere.
    """
    calls = {call["id"]: call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls}
    stated = [each for text in also for each in numbers_of(text)]
    programs: list[tuple[str, str]] = []
    for message in messages:
        if isinstance(message, HumanMessage) and not is_correction(message):
            stated += numbers_of(message.text)
        elif isinstance(message, ToolMessage) and message.status == "success":
            call = calls.get(message.tool_call_id)
            if message.text.startswith(RESULT):
                programs.append((message.text, str(call["args"].get("code", "")) if call else ""))
            elif message.text.startswith(NOT_ANSWERED):
                # It repeats what was asked.
                stated += [each for each in numbers_of(message.text) if each.numeral.kind is NumeralKind.YEAR]
            else:
                stated += numbers_of(message.text)
    for told, code in programs:
        stated += _computed(told, code, stated)
    return stated


def numbers_of(text: str, scales: tuple[int, ...] | None = None) -> list[Stated]:
    """The numbers of a source. `scales` are those of numbers whose own is not printed; else as the text says."""
    found: list[Stated] = []
    # `544.0 (USD millions)`: a tool puts the unit behind the figure. The number of a page is no figure.
    text = _PAGE.sub("page", _UNIT.sub(r" \1", text))
    anywhere = scales or _scales_of(text) or _ANY_SCALE
    for quotation in _QUOTATION.split(text):
        headers = list(_HEADER.finditer(quotation))
        heading = (1, _SCALES[headers[0][1].lower()]) if headers else anywhere
        for line in quotation.splitlines():
            if header := _HEADER.search(line):
                heading = (1, _SCALES[header[1].lower()])
            of_line = scales or _scales_of(line) or heading
            down = bool(_DOWN.search(line))
            for numeral in numerals_in(line):
                found.append(Stated(numeral, (numeral.scale,) if numeral.scale else of_line, down))
            for spelled in spelled_numbers(line):
                numeral = Numeral(spelled.words, Decimal(spelled.value), NumeralKind.AMOUNT)
                found.append(Stated(numeral, (1,), down))
    return found


def _scales_of(text: str) -> tuple[int, ...]:
    found = {_SCALES[word.lower()] for word in _SCALE_WORD.findall(text)}
    return (1, *sorted(found)) if found else ()


def _computed(told: str, code: str, stated: Sequence[Stated]) -> Iterator[Stated]:
    """Of a program's result; nothing where a number of the program stands in no source."""
    if NO_SOURCE_FOR in told:
        return
    if UNCHECKED in told and not _all_stated(code, stated):
        return
    if UNCHECKED not in told and SOURCES_FOR_ALL not in told:
        return
    # What it prints may come from words of its own.
    result = told if not re.search(r"""["'][^"'\n]*\d""", code) else told.partition("\n")[0]
    yield from numbers_of(result, _scales_of(code) or None)


def _all_stated(code: str, stated: Sequence[Stated]) -> bool:
    written = [
        abs(numeral.value)
        for numeral in numerals_in(re.sub(r"(?<=\d)_(?=\d)", "", code))
        if numeral.kind is not NumeralKind.LABEL
    ]
    values = {abs(each.numeral.value) * scale for each in stated for scale in (1, *each.scales)}
    figures = [value for value in written if value not in _CONSTANTS and value not in _POWERS]
    return bool(figures) and all(value in values for value in figures)
