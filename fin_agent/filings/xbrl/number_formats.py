"""Numbers as tagged filings print them, and what their format says of points and commas."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from fin_agent.filings.xbrl.number_words import read_number_words


@lru_cache(maxsize=65_536)
def read_number(printed: str, transformation: str) -> Decimal | None:
    """The number that `printed` shows under a transformation, named as by `transformation_name`; None if it shows none.

    Without a transformation, or with one that is not known, the plain reading is tried: digits, commas between
    thousands, a point, a minus sign. A number of more than 60 digits is none.
    """
    if not printed or len(printed) > _LONGEST:
        return None
    return _READINGS.get(transformation, _plain)(printed.translate(_FULL_WIDTH))


def is_number_format(transformation: str) -> bool:
    """Whether a transformation is one of those for numbers that are known here."""
    return transformation in _READINGS


_LONGEST = 400
_MOST_DIGITS = 60
_FULL_WIDTH = {0xFF10 + digit: ord("0") + digit for digit in range(10)} | {0xFF0C: ord(","), 0xFF0E: ord(".")}
_BETWEEN_DIGITS = r"\s'`´’′＇"
_DOT = re.compile(rf"[,{_BETWEEN_DIGITS}]+")
_COMMA = re.compile(rf"[.{_BETWEEN_DIGITS}]+")
_DIGITS = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.A)
_PLAIN = re.compile(r"\s*([-+−]?)\s*(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE]([-+]?\d{1,2}))?\s*", re.A)
_UNIT = re.compile(rf"\s*(\d[\d.,{_BETWEEN_DIGITS}]*)[^\d.,]+(\d{{1,2}})[^\d]*", re.A)


def _plain(printed: str) -> Decimal | None:
    if (match := _PLAIN.fullmatch(printed)) is None:
        return None
    number = _of_digits(match[2].replace(",", ""))
    if number is None:
        return None
    if match[3]:
        number = number.scaleb(int(match[3]))
    return -number if match[1] in ("-", "−") else number


def _dot_decimal(printed: str) -> Decimal | None:
    return _of_digits(_DOT.sub("", printed))


def _comma_decimal(printed: str) -> Decimal | None:
    return _of_digits(_COMMA.sub("", printed).replace(",", "."))


def _unit_decimal(printed: str) -> Decimal | None:
    """`1,234 dollars 5 cents`: the words between part whole units from hundredths."""
    if (match := _UNIT.fullmatch(printed)) is None:
        return None
    whole = re.sub(rf"[.,{_BETWEEN_DIGITS}]", "", match[1])
    return _of_digits(f"{whole}.{match[2]:0>2}")


def _words(printed: str) -> Decimal | None:
    number = read_number_words(printed)
    return _plain(printed) if number is None else Decimal(number)


def _zero(_: str) -> Decimal | None:
    return Decimal(0)


def _none(_: str) -> Decimal | None:
    return None


def _of_digits(digits: str) -> Decimal | None:
    """Exact: a Decimal made from text is not rounded."""
    return Decimal(digits) if len(digits) <= _MOST_DIGITS and _DIGITS.fullmatch(digits) else None


_READINGS: dict[str, Callable[[str], Decimal | None]] = {
    **dict.fromkeys(("numdotdecimal", "numdotdecimalapos", "numdotdecimalin", "numdotdecimalinapos"), _dot_decimal),
    **dict.fromkeys(("numcommadot", "numspacedot"), _dot_decimal),
    **dict.fromkeys(("numcommadecimal", "numcommadecimalapos"), _comma_decimal),
    **dict.fromkeys(("numdotcomma", "numspacecomma", "numcomma"), _comma_decimal),
    **dict.fromkeys(
        ("numunitdecimal", "numunitdecimalapos", "numunitdecimalin", "numunitdecimalinapos"), _unit_decimal
    ),
    **dict.fromkeys(("zerodash", "numdash", "fixedzero"), _zero),
    **dict.fromkeys(("nocontent", "fixedempty", "numinf", "numneginf", "numnan"), _none),
    "numwordsen": _words,
}
