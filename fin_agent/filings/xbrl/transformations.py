"""Parse printed values of inline XBRL by the transformation in their format: numbers, dates, texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import lru_cache

from lxml import etree

from fin_agent.vocabulary.dates import month_number


def local_name(element: etree._Element) -> str:
    """Return the name of an XBRL element in lower case without namespace or prefix; empty for any other element.

    An element's tag is `{http://www.xbrl.org/2013/inlineXBRL}nonFraction` in XHTML, and `ix:nonfraction` (with any
    prefix) if it was parsed as HTML; that of a comment is no text.
    """
    tag = element.tag
    return _local_name(tag) if isinstance(tag, str) else ""


@lru_cache(maxsize=4096)
def _local_name(tag: str) -> str:
    if tag.startswith("{"):
        namespace, _, name = tag.rpartition("}")
        return name.lower() if "xbrl.org/" in namespace else ""
    prefix, _, name = tag.lower().rpartition(":")
    return name if prefix else ""


def attribute(element: etree._Element, name: str) -> str | None:
    """Return the attribute `name` (`contextRef`), which is in lower case if the file was parsed as HTML."""
    found = element.get(name)
    return element.get(name.lower()) if found is None else found


def read_number_words(words: str) -> int | None:
    """Return the number that `words` spell, or None for other text. `no`, `none` and `nil` are zero."""
    tokens = [token for token in _BREAKS.split(words.strip().lower()) if token and token != "and"]
    if not tokens or len(tokens) > _MAX_WORDS:
        return None
    if len(tokens) == 1 and tokens[0] in _NOTHING:
        return 0
    total = group = 0
    for token in tokens:
        if token in _SMALL:
            group += _SMALL[token]
        elif token == "hundred":
            group = (group or 1) * 100
        elif token in _LARGE:
            total += (group or 1) * _LARGE[token]
            group = 0
        else:
            return None
    return total + group


_BREAKS = re.compile(r"[\s,‐‑‒–—-]+")
_MAX_WORDS = 40
_NOTHING = frozenset({"no", "none", "nil", "zero", "not"})
_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: number for number, word in enumerate([*_ONES, *_TEENS])}
_SMALL |= {word: 10 * tens for tens, word in enumerate(_TENS, start=2)}
_SMALL |= {"a": 1, "an": 1, "single": 1}
_LARGE = {word: 10 ** (3 * power) for power, word in enumerate(["thousand", "million", "billion", "trillion"], start=1)}


def read_date(printed: str, transformation: str) -> str | None:
    """Return a printed date in ISO form, its parts ordered as the transformation's name says; None if invalid.

    Names such as `datemonthnamedayyearen`, `datedaymonthen` and `datelongmonthyear` give the order. Month names are in
    English; a two-digit year belongs to this century.
    """
    order = _order(transformation)
    parts = _PART.findall(printed)
    if not order or len(parts) != len(order):
        return None
    known: dict[str, int] = {}
    try:
        for kind, part in zip(order, parts, strict=True):
            known[kind] = month_number(part) if kind == "month" and not part.isdecimal() else int(part)
        year, month, day = known.get("year"), known.get("month", 0), known.get("day")
        if year is not None and year < 100:
            year += 2000
        # A leap year replaces a missing year, so that 29 February is valid.
        date(2000 if year is None else year, month, 1 if day is None else day)
    except (ValueError, OverflowError):
        return None
    if year is None:
        return f"--{month:02d}-{day:02d}"
    return f"{year:04d}-{month:02d}" + ("" if day is None else f"-{day:02d}")


_UNTOLD = {
    **dict.fromkeys(("dateslashus", "datedotus", "datelongus", "dateshortus"), ("month", "day", "year")),
    **dict.fromkeys(("dateslasheu", "datedoteu", "datelongeu", "datelonguk", "dateshortuk"), ("day", "month", "year")),
}
"""Names of the first registry that do not give the order of their parts."""
_NAMED = re.compile(r"date(?:long|short|slash)?((?:day|monthname|monthroman|month|year)+)(?:en|us|uk)?", re.ASCII)
_KIND = re.compile(r"day|month(?=name|roman)?|year")
_PART = re.compile(r"\d+(?=(?:st|nd|rd|th)\b)|\d+|[^\W\d_]{3,}", re.I)


def _order(transformation: str) -> tuple[str, ...]:
    if transformation in _UNTOLD:
        return _UNTOLD[transformation]
    match = _NAMED.fullmatch(transformation)
    kinds = tuple(_KIND.findall(match[1])) if match else ()
    return kinds if len(set(kinds)) == len(kinds) and len(kinds) > 1 else ()


@lru_cache(maxsize=65_536)
def read_number(printed: str, transformation: str) -> Decimal | None:
    """Return the number that `printed` shows under a transformation (see `transformation_name`); None if it shows none.

    Without a known transformation, the plain form is tried: digits, commas between thousands, a point, a minus sign.
    Numbers of more than 60 digits are rejected.
    """
    if not printed or len(printed) > _MAX_LENGTH:
        return None
    return _READINGS.get(transformation, _plain)(printed)


def is_number_format(transformation: str) -> bool:
    """Return whether a transformation is a known one for numbers."""
    return transformation in _READINGS


_MAX_LENGTH = 400
_MAX_DIGITS = 60
_BETWEEN_DIGITS = r"\s'`´’′"
_DOT = re.compile(rf"[,{_BETWEEN_DIGITS}]+")
_COMMA = re.compile(rf"[.{_BETWEEN_DIGITS}]+")
_DIGITS = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.A)
_PLAIN = re.compile(r"\s*([-+−]?)\s*(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE]([-+]?\d{1,2}))?\s*", re.A)


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


def _words(printed: str) -> Decimal | None:
    number = read_number_words(printed)
    return _plain(printed) if number is None else Decimal(number)


def _of_digits(digits: str) -> Decimal | None:
    """Return the exact number; a Decimal made from text is not rounded."""
    return Decimal(digits) if len(digits) <= _MAX_DIGITS and _DIGITS.fullmatch(digits) else None


_READINGS: dict[str, Callable[[str], Decimal | None]] = {
    **dict.fromkeys(("numdotdecimal", "numdotdecimalapos", "numdotdecimalin", "numdotdecimalinapos"), _dot_decimal),
    **dict.fromkeys(("numcommadot", "numspacedot"), _dot_decimal),
    **dict.fromkeys(("numcommadecimal", "numcommadecimalapos"), _comma_decimal),
    **dict.fromkeys(("numdotcomma", "numspacecomma", "numcomma"), _comma_decimal),
    **dict.fromkeys(("zerodash", "numdash", "fixedzero"), lambda _: Decimal(0)),
    **dict.fromkeys(("nocontent", "fixedempty", "numinf", "numneginf", "numnan"), lambda _: None),
    "numwordsen": _words,
}


@lru_cache(maxsize=1024)
def transformation_name(printed_format: str) -> str:
    """Return `numdotdecimal` for both `ixt:num-dot-decimal` and `ixt2:numdotdecimal`; empty for no format."""
    return printed_format.rpartition(":")[2].strip().lower().replace("-", "")


def transform_text(printed: str, transformation: str) -> str | None:
    """Return the value of a text tag: dates in ISO form, `true` and `false`, names as printed; None if invalid.

    `transformation` has the form of `transformation_name`.
    """
    if transformation in _FIXED:
        return _FIXED[transformation]
    if _order(transformation):
        return read_date(printed, transformation)
    if transformation in _BALLOT_BOXES:
        checked = _BALLOTS.get(printed.strip())
        return None if checked is None else _BALLOT_BOXES[transformation][checked]
    return printed if transformation in _AS_PRINTED else None


_FIXED = {
    **dict.fromkeys(("fixedtrue", "booleantrue"), "true"),
    **dict.fromkeys(("fixedfalse", "booleanfalse"), "false"),
    **dict.fromkeys(("fixedempty", "nocontent"), ""),
    **dict.fromkeys(("fixedzero", "zerodash"), "0"),
}
_BALLOT_BOXES = {"boolballotbox": ("false", "true"), "yesnoballotbox": ("No", "Yes")}
# Older files use Wingdings and the letter x for boxes.
_BALLOTS = dict.fromkeys("☐□o¨", False) | dict.fromkeys("☑☒✓✔xXþý", True)
_AS_PRINTED = frozenset(
    {"countrynameen", "edgarprovcountryen", "stateprovnameen", "exchnameen", "entityfilercategoryen"}
    | {"durwordsen", "duryear", "durmonth", "durweek", "durday", "durhour"}
)
"""Formats of names and durations, which are clearer as printed than as a code (`five years`, `Delaware`)."""
