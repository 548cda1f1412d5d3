"""Whether the numbers of a reply stand in what tools and people have said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import chain

from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in

_UNIT = re.compile(r"\s\((USD (?:thousand|million|billion)s?)\)")
NO_SOURCE = " [no source]"
_SCALES = tuple(Decimal(scale) for scale in (1, 1_000, 1_000_000, 1_000_000_000))
_HUNDRED = Decimal(100)
_MARKS = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+|\[\d{1,3}\]|\bpages?\s+\d[\d,\s–-]*", re.M | re.I)
"""Numbers of a list, of a citation, of a page: no figures."""


def without_source(said: str, sources: Iterable[str]) -> tuple[str, ...]:
    """The figures, percentages and years of a reply that none of `sources` states, as written, each once.

    A figure may be rounded, put into another scale or printed without its sign; a percentage may be a ratio there.

    >>> without_source("It rose 15.4% to $0.54 billion in 2023.", ["544 USD millions in FY2023, ratio 0.15397"])
    ()
    >>> without_source("It was $545 million.", ["544 USD millions"])
    ('$545 million',)
    """
    # `544.0 (USD millions)`: a tool puts the unit behind the figure.
    stated = list(chain.from_iterable(numerals_in(_UNIT.sub(r" \1", source)) for source in sources))
    years = {numeral.value for numeral in stated}
    exact = {abs(numeral.value) for numeral in stated}
    found: dict[str, None] = {}
    for numeral in _told(said):
        if numeral.kind is NumeralKind.YEAR:
            if numeral.value not in years:
                found[numeral.printed] = None
        elif (numeral.scale is not None or abs(numeral.value) not in exact) and not any(
            _same(numeral, other) for other in stated
        ):
            found[numeral.printed] = None
    return tuple(found)


def marked(said: str, figures: Iterable[str]) -> str:
    """The reply with a mark behind each of these figures."""
    for figure in sorted(figures, key=len, reverse=True):
        said = re.sub(
            rf"(?<![\d.,]){re.escape(figure)}(?![\d])(?!{re.escape(NO_SOURCE)})", f"{figure}{NO_SOURCE}", said
        )
    return said


def _told(said: str) -> Iterator[Numeral]:
    for numeral in numerals_in(_MARKS.sub(" ", said)):
        if numeral.kind in (NumeralKind.AMOUNT, NumeralKind.PERCENT, NumeralKind.YEAR):
            yield numeral


def _same(said: Numeral, stated: Numeral) -> bool:
    if stated.kind is NumeralKind.LABEL:
        return False
    step = Decimal(1).scaleb(-said.decimals) / 2
    value = abs(said.value)
    if said.kind is NumeralKind.PERCENT:
        sizes = (abs(stated.value), abs(stated.value) * _HUNDRED)
        return any(abs(value - size) <= step for size in sizes)
    scale = Decimal(said.scale or 1)
    scales = (Decimal(stated.scale),) if stated.scale else _SCALES
    if said.scale is None:
        # `544` may be said of `544 million`: the unit stands elsewhere in the sentence.
        return abs(value - abs(stated.value)) <= (step if said.decimals else Decimal(0)) or any(
            value == abs(stated.value) * each for each in scales
        )
    return any(abs(value * scale - abs(stated.value) * each) <= step * scale for each in scales)
