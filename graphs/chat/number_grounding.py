"""Check that the numbers of a reply occur in tool results and messages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in, spelled_numbers
from fin_agent.answering.sentence_binding import unsupported_claims
from fin_agent.graphs.chat.state import is_correction
from fin_agent.lexicon.words import patterns
from fin_agent.prompts import find_instructions, remove_instructions
from fin_agent.retrieval.search_terms import stems_of
from fin_agent.tools.result_formatting import NO_SOURCE_FOR, NOT_ANSWERED, RESULT, SOURCES_FOR_ALL, UNCHECKED

NO_SOURCE = " [no source]"
_HUNDRED = Decimal(100)
_CLOSE = Decimal("0.05")
"""Tolerance of two-digit rounding: half of the second digit is at most 5% of the number."""
_EVERYDAY_SPAN = 12
"""Longest span that needs no source: `the last 5 years`, `12 months`."""
_PATTERNS = patterns("reply_patterns")
_LETTERS = {"m": "million", "b": "billion", "k": "thousand"}
_NAMES = frozenset({"3m", "6k", "8k", "10k", "11k", "20k", "401k"})
"""A company, forms, a plan."""
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 1_000_000_000_000}
_ANY_SCALE = (1, 1_000, 1_000_000, 1_000_000_000)
_CONSTANTS = frozenset(map(Decimal, (0, 1, 2, 3, 4, 10, 12, 52, 53, 100, 360, 365, 366, 1_000, 10_000)))
_POWERS = frozenset(Decimal(10) ** each for each in (6, 9, 12))


def unsourced_numbers(said: str, sources: Iterable[str | StatedNumber], marks: int = 12) -> tuple[str, ...]:
    """Return the figures, percentages, spans and years of a reply that no source states, without duplicates.

    A figure may be rounded to two digits or more and rescaled; a percentage may be a ratio in the source. Its sign may
    change only with a word for the direction.

    Args:
        said: The reply.
        sources: Texts, or numbers with their possible scales.
        marks: The highest citation number (`[1]`).

    >>> unsourced_numbers("It rose 15.4% to $0.54 billion in 2023.", ["544 USD millions in FY2023, ratio 0.15397"])
    ()
    >>> unsourced_numbers("It was $545 million.", ["544 USD millions"])
    ('$545 million',)
    """
    stated = [number for each in sources for number in (source_numbers(each) if isinstance(each, str) else (each,))]
    values = {abs(each.numeral.value) for each in stated}
    years = {each.numeral.value for each in stated}
    found: dict[str, None] = {}
    for sentence in _PATTERNS["sentence"].split(_readable(said, marks)):
        for numeral in _described_numbers(sentence):
            if numeral.kind is NumeralKind.YEAR:
                there = numeral.value in years
            elif numeral.kind is NumeralKind.SPAN:
                there = numeral.value <= _EVERYDAY_SPAN or any(_same(numeral, each, sentence) for each in stated)
            else:
                # A count may be any number of a source: `the 17 pages`, `the 10 of 10-K`.
                counted = numeral.scale is None and not numeral.currency and numeral.kind is NumeralKind.AMOUNT
                there = (counted and numeral.value >= 0 and numeral.value in values) or any(
                    _same(numeral, each, sentence) for each in stated
                )
            if not there:
                found[numeral.printed] = None
    return tuple(found)


def ungrounded_claims(said: str, texts: Sequence[str], also: str = "") -> dict[str, tuple[str, ...]]:
    """Return the sentences of a reply with claims that no text supports, with the claims (see `unsupported_claims`).

    Statements about the assistant or the user, and questions, make no claim about a filing. Names and amounts in `also`
    may be repeated.
    """
    found = {}
    for sentence in filter(None, map(str.strip, _PATTERNS["sentence"].split(said))):
        if _PATTERNS["of itself"].search(sentence) or sentence.endswith("?"):
            continue
        # A statement that something was not found needs no support.
        if lacking := unsupported_claims(sentence, texts, also, claims_nothing=True):
            found[sentence] = lacking
    return found


def tool_findings(messages: Sequence[BaseMessage], also: Iterable[str] = ()) -> list[str]:
    """Return the results of tools in a thread, followed by `also`; instructions in quoted text are removed."""

    def without_instructions(quotation: re.Match[str]) -> str:
        return str(quotation["mark"] + remove_instructions(quotation["text"].translate(_MARKS)))

    found = [message.text for message in messages if isinstance(message, ToolMessage) and message.status == "success"]
    told = (text for text in found if not text.startswith(NOT_ANSWERED))
    return [*(_PATTERNS["quoted"].sub(without_instructions, text) for text in told), *also]


def repeated_instructions(
    said: str, messages: Sequence[BaseMessage], grounds: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the sentences of a reply with words that filings use only in instructions to the model, with the words.

    Words in `grounds` are allowed.
    """
    results = [each.text for each in messages if isinstance(each, ToolMessage)]
    quoted = [found["text"] for result in results for found in _PATTERNS["quoted"].finditer(result)]
    ordered = set(stems_of(" ".join(find_instructions(text.translate(_MARKS)) for text in quoted)))
    if not ordered:
        return {}
    ordered -= set(stems_of(" ".join(grounds)))
    sentences = filter(None, map(str.strip, _PATTERNS["sentence"].split(said)))
    found = {sentence: sorted(ordered & set(stems_of(sentence))) for sentence in sentences}
    return {sentence: tuple(f"`{word}`" for word in words) for sentence, words in found.items() if words}


_MARKS = {ord("‹"): "<", ord("⟦"): "["}
"""The original characters that `quoted_text` replaced."""


def mark_unverified(said: str, figures: Iterable[str], sentences: Iterable[str] = ()) -> str:
    """Return the reply with a mark after each of these figures and sentences."""
    for sentence in sentences:
        said = said.replace(sentence, f"{sentence}{NO_SOURCE}")
    for figure in sorted(figures, key=len, reverse=True):
        said = re.sub(
            rf"(?<![\d.,]){re.escape(figure)}(?![\d])(?!{re.escape(NO_SOURCE)})", f"{figure}{NO_SOURCE}", said
        )
        digits = re.search(r"\d[\d.,]*", figure)
        if digits and figure not in said:
            # The reply writes it differently: `545M`.
            written = rf"(?<![\d.,]){re.escape(digits[0])}(?!\d)[^\s.,;:)]*(?!{re.escape(NO_SOURCE)})"
            said = re.sub(written, lambda found: f"{found[0]}{NO_SOURCE}", said)
    return said


def _readable(said: str, marks: int) -> str:
    """Expand scales, separate joined words, and drop numbers of lists, citations and pages, which are no figures."""
    said = _PATTERNS["invisible"].sub("", unicodedata.normalize("NFKC", _PATTERNS["listed"].sub(" ", said)))
    said = _PATTERNS["mark"].sub(lambda found: " " if int(found[1]) <= marks else found[0], said)
    said = _PATTERNS["power"].sub(lambda found: f"{Decimal(found[0]):f}", said)
    for name, instead in {"pages": " ", "glued": " ", "point": ". ", "year letter": r"\1 "}.items():
        said = _PATTERNS[name].sub(instead, said)
    return _PATTERNS["letter"].sub(_expand_scales, said)


def _expand_scales(found: re.Match[str]) -> str:
    name = f"{found[1]}{found[2]}".lower()
    return found[0] if name in _NAMES else f"{found[1]} {_LETTERS[found[2].lower()]}"


def _described_numbers(sentence: str) -> Iterator[Numeral]:
    for numeral in numerals_in(sentence):
        digits = any(letter.isdigit() for letter in numeral.printed)
        if numeral.kind is not NumeralKind.LABEL and digits:
            yield numeral
    for spelled in spelled_numbers(sentence):
        if spelled.value > _EVERYDAY_SPAN:
            yield Numeral(spelled.words, Decimal(spelled.value), NumeralKind.AMOUNT)


def _same(said: Numeral, stated: StatedNumber, sentence: str) -> bool:
    other = stated.numeral
    if other.kind is NumeralKind.LABEL or (said.currency and other.kind is NumeralKind.YEAR):
        return False
    if not _signs_agree(said, stated, sentence):
        return False
    value, size = abs(said.value), abs(other.value)
    step = Decimal(1).scaleb(-said.decimals) / 2
    if said.kind is NumeralKind.PERCENT:
        return any(_is_near(value, each, step) for each in _percentages(other))
    if said.scale is None:
        # `544` may mean `544 million`: the unit is elsewhere in the sentence.
        loose = said.decimals or said.kind is NumeralKind.SPAN
        return _is_near(value, size, step if loose else Decimal(0)) or value in {size * each for each in stated.scales}
    return any(_is_near(value * said.scale, size * each, step * said.scale) for each in stated.scales)


def _percentages(stated: Numeral) -> tuple[Decimal, ...]:
    size = abs(stated.value)
    if stated.kind is NumeralKind.PERCENT:
        return (size,)
    if stated.scale is not None or stated.currency or stated.kind is not NumeralKind.AMOUNT:
        return ()
    return (size, size * _HUNDRED) if stated.decimals or size <= _HUNDRED else ()


def _is_near(value: Decimal, size: Decimal, step: Decimal) -> bool:
    apart = abs(value - size)
    return apart == 0 or (apart <= step and apart <= _CLOSE * size)


def _signs_agree(said: Numeral, stated: StatedNumber, sentence: str) -> bool:
    # `a rise (15.4%)` has no negative number; nor has `net income - 544`.
    printed = said.printed
    minus = re.match(r"\(?[-−–](?=\S)|.{0,4}?[-−](?=\d)", printed) or (printed.startswith("(") and said.currency)
    negative = said.value < 0 and bool(minus)
    if negative and stated.numeral.value >= 0:
        return stated.down
    if not negative and stated.numeral.value < 0:
        return not _PATTERNS["rises"].search(sentence) or bool(_PATTERNS["falls"].search(sentence))
    return True


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number in a source."""

    numeral: Numeral
    scales: tuple[int, ...]
    """Possible scales: a single one if the source prints it after the number."""
    down: bool
    """Whether its line is about a loss, an outflow or a decrease."""


def stated_numbers(messages: Sequence[BaseMessage], also: Iterable[str] = ()) -> list[StatedNumber]:
    """Return the numbers that people wrote and tools returned in a thread, and those in `also`.

    Failed tool calls do not count, nor do programs with a number that no source states.
    """
    calls = {call["id"]: call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls}
    stated = [each for text in also for each in source_numbers(text)]
    programs: list[tuple[str, str]] = []
    for message in messages:
        if isinstance(message, HumanMessage) and not is_correction(message):
            stated += source_numbers(message.text)
        elif isinstance(message, ToolMessage) and message.status == "success":
            call = calls.get(message.tool_call_id)
            if message.text.startswith(RESULT):
                programs.append((message.text, str(call["args"].get("code", "")) if call else ""))
            elif message.text.startswith(NOT_ANSWERED):
                # The result repeats the question.
                stated += [each for each in source_numbers(message.text) if each.numeral.kind is NumeralKind.YEAR]
            else:
                stated += source_numbers(message.text)
    for told, code in programs:
        stated += _computed(told, code, stated)
    return stated


def source_numbers(text: str, scales: tuple[int, ...] | None = None) -> list[StatedNumber]:
    """Return the numbers of a source.

    `scales` are those of numbers without a printed one; None to take them from the text.
    """
    found: list[StatedNumber] = []
    # `544.0 (USD millions)`: a tool appends the unit to the figure. A page number is no figure.
    text = _PATTERNS["page"].sub("page", _PATTERNS["unit"].sub(r" \1", text))
    anywhere = scales or _scales_of(text) or _ANY_SCALE
    for quotation in _PATTERNS["quotation"].split(text):
        headers = list(_PATTERNS["header"].finditer(quotation))
        heading = (1, _SCALES[headers[0][1].lower()]) if headers else anywhere
        for line in quotation.splitlines():
            if header := _PATTERNS["header"].search(line):
                heading = (1, _SCALES[header[1].lower()])
            of_line = scales or _scales_of(line) or heading
            down = bool(_PATTERNS["falls"].search(line))
            for numeral in numerals_in(line):
                found.append(StatedNumber(numeral, (numeral.scale,) if numeral.scale else of_line, down))
            for spelled in spelled_numbers(line):
                numeral = Numeral(spelled.words, Decimal(spelled.value), NumeralKind.AMOUNT)
                found.append(StatedNumber(numeral, (1,), down))
    return found


def _scales_of(text: str) -> tuple[int, ...]:
    found = {_SCALES[word.lower()] for word in _PATTERNS["scale"].findall(text)}
    return (1, *sorted(found)) if found else ()


def _computed(told: str, code: str, stated: Sequence[StatedNumber]) -> Iterator[StatedNumber]:
    """Yield the numbers of a program's result; none if a number of the program is in no source."""
    if NO_SOURCE_FOR in told:
        return
    if UNCHECKED in told and not _all_stated(code, stated):
        return
    if UNCHECKED not in told and SOURCES_FOR_ALL not in told:
        return
    # Printed numbers may come from the program's own strings.
    result = told if not re.search(r"""["'][^"'\n]*\d""", code) else told.partition("\n")[0]
    yield from source_numbers(result, _scales_of(code) or None)


def _all_stated(code: str, stated: Sequence[StatedNumber]) -> bool:
    written = [
        abs(numeral.value)
        for numeral in numerals_in(re.sub(r"(?<=\d)_(?=\d)", "", code))
        if numeral.kind is not NumeralKind.LABEL
    ]
    values = {abs(each.numeral.value) * scale for each in stated for scale in (1, *each.scales)}
    figures = [value for value in written if value not in _CONSTANTS and value not in _POWERS]
    return bool(figures) and all(value in values for value in figures)
