"""Find numbers in text: numerals with their kind, and numbers spelled in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from fin_agent.filings.xbrl.tags import read_number_words
from fin_agent.lexicon.periods import parse_number
from fin_agent.lexicon.words import patterns

_PATTERNS = patterns("numeral_patterns")


class NumeralKind(StrEnum):
    """The function of a number in a text."""

    AMOUNT = "amount"
    PERCENT = "percent"
    YEAR = "year"
    """A calendar or fiscal year: `2019`, `FY2019`, `FY19`."""
    SPAN = "span"
    """A duration: the 3 of `3 year average`, the three of `three-year average`."""
    LABEL = "label"
    """Part of a name or date: `10-K`, `Q2`, `1st`, `737s`, the 26 of `May 26, 2023`."""


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number in a text."""

    printed: str
    value: Decimal
    """Signed, as printed: 2,018 for `$2,018mn`, 21.6 for `21.6%`, -5 for `(5)`."""
    kind: NumeralKind
    scale: int | None = None
    """1,000, 1,000,000, 1,000,000,000 or 1,000,000,000,000 if a scale word follows the number, else None."""
    currency: bool = False
    decimals: int = 0
    """Decimals up to the last nonzero one: 1 for `$4.60`, 0 for `$11588.00`."""

    @property
    def in_base_units(self) -> Decimal:
        """The value times its scale, in dollars rather than millions of dollars."""
        return self.value * (self.scale or 1)


def numerals_in(text: str) -> tuple[Numeral, ...]:
    """Return every number of a text, in reading order."""
    found = [(match.start("digits"), _numeral(text, match)) for match in _PATTERNS["numeral"].finditer(text)]
    for match in _PATTERNS["spelled span"].finditer(text):
        found.append((match.start(), Numeral(match[1], Decimal(parse_number(match[1])), NumeralKind.SPAN)))
    return tuple(numeral for _, numeral in sorted(found, key=lambda place: place[0]))


_SCALES = {
    "thousand": 10**3, "k": 10**3, "million": 10**6, "mn": 10**6, "mm": 10**6, "m": 10**6,
    "billion": 10**9, "bn": 10**9, "b": 10**9, "trillion": 10**12,
}  # fmt: skip


def _numeral(text: str, match: re.Match[str]) -> Numeral:
    digits = match["digits"]
    size = Decimal(digits.replace(",", ""))
    before = text[max(0, match.start("digits") - 16) : match.start("digits")]
    behind = text[match.end("digits") : match.end("digits") + 16]
    currency = match["currency"] is not None
    short = match["short"]
    # A single letter is a scale only with a currency sign: 3M is a company and 8k a form.
    unit = match["scale"] or (short if short and (currency or len(short) == 2) else "")
    scale = _SCALES[unit.lower()] if unit else None
    kind = _kind(size, digits, before, behind, plain=not (currency or match["percent"] or scale))
    if match["percent"]:
        kind = NumeralKind.PERCENT
    if kind is NumeralKind.YEAR and size < 100:
        size += 2000
    negative = kind in (NumeralKind.AMOUNT, NumeralKind.PERCENT, NumeralKind.SPAN) and _is_negative(text, match)
    return Numeral(
        printed=match.group().strip(),
        value=-size if negative else size,
        kind=kind,
        scale=scale,
        currency=currency,
        decimals=len(digits.partition(".")[2].rstrip("0")),
    )


def _kind(size: Decimal, digits: str, before: str, behind: str, *, plain: bool) -> NumeralKind:
    if _PATTERNS["fiscal before"].search(before) and len(digits) in (2, 4):
        return NumeralKind.YEAR
    if before[-1:].isalnum() or before[-1:] == "_":
        return NumeralKind.LABEL
    if _PATTERNS["span behind"].match(behind):
        return NumeralKind.SPAN
    if plain and _PATTERNS["name behind"].match(behind) and not _PATTERNS["unit behind"].match(behind):
        return NumeralKind.LABEL
    if plain and size <= 31 and (_PATTERNS["month before"].search(before) or _PATTERNS["month behind"].match(behind)):
        return NumeralKind.LABEL
    if plain and len(digits) == 4 and digits.isdigit() and 1900 <= size <= 2100:
        return NumeralKind.YEAR
    return NumeralKind.AMOUNT


def _is_negative(text: str, match: re.Match[str]) -> bool:
    in_brackets = match["open"] and (match["closed"] or match["closed_late"])
    if in_brackets or (match["inner_sign"] and match["currency"]):
        return True
    sign = "sign" if match["sign"] else "inner_sign"
    # `2017-2019` and `1%-2%` contain a dash, not a sign.
    return bool(match[sign]) and not re.match(r"[\w%)]", text[match.start(sign) - 1 : match.start(sign)])


SMALLEST_SPELLED = 11
"""Smaller numbers are ordinary words: `one of the largest`, `two reasons`."""


class SpelledNumber(NamedTuple):
    """A spelled number with its value."""

    words: str
    value: int


def spelled_numbers(text: str) -> Iterator[SpelledNumber]:
    """Yield spelled numbers of at least SMALLEST_SPELLED, in order, without scales after digits (`$5 million`).

    >>> [each.words for each in spelled_numbers("It has forty-two stores, one of them large, and $5 million.")]
    ['forty-two']
    >>> [each.value for each in spelled_numbers("Three hundred and five thousand shares")]
    [305000]
    """
    for found in _PATTERNS["run"].finditer(text):
        words = found[0].strip(" -,")
        while words.lower().endswith((" and", "-and")):
            words = words[:-4].rstrip()
        value = read_number_words(words)
        if value is not None and value >= SMALLEST_SPELLED:
            yield SpelledNumber(words, value)
