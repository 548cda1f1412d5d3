"""Parse printed values of inline XBRL by the transformation in their format: numbers, dates, texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from functools import lru_cache

from lxml import etree

from fin_agent.vocabulary.dates import MONTHS


def local_name(element: etree._Element) -> str:
    """Return the name of an XBRL element in lower case without namespace or prefix; empty for any other element.

    An element's tag is `{http://www.xbrl.org/2013/inlineXBRL}nonFraction` in XHTML, and `ix:nonfraction` (with any
    prefix) if it was parsed as HTML.
    """
    tag = element.tag
    return _local_name(tag) if isinstance(tag, str) else ""


def attribute(element: etree._Element, name: str) -> str | None:
    """Return the attribute `name` (`contextRef`), which is in lower case if the file was parsed as HTML."""
    found = element.get(name)
    return element.get(name.lower()) if found is None else found


def is_nil(element: etree._Element) -> bool:
    """Return whether `xsi:nil` marks the fact as having no value."""
    stated = element.get(_NIL)
    if stated is None:
        stated = element.get("xsi:nil")
    return stated is not None and stated.strip().lower() in ("true", "1")


def printed_name(element: etree._Element) -> str:
    """Return the element's name as written in the file, including its prefix: `us-gaap:Cash`."""
    name = str(element.tag).rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix else name


@lru_cache(maxsize=4096)
def _local_name(tag: str) -> str:
    if tag.startswith("{"):
        namespace, _, name = tag[1:].rpartition("}")
        return name.lower() if namespace.startswith(_NAMESPACES) else ""
    prefix, _, name = tag.lower().rpartition(":")
    return name if prefix or name in _UNPREFIXED else ""


_NAMESPACES = (
    "http://www.xbrl.org/2008/inlineXBRL",
    "http://www.xbrl.org/2010/inlineXBRL",
    "http://www.xbrl.org/2013/inlineXBRL",
    "http://www.xbrl.org/2003/instance",
    "http://xbrl.org/2005/xbrldi",
    "http://xbrl.org/2006/xbrldi",
)
_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"

_UNPREFIXED = (
    {"context", "entity", "identifier", "segment", "scenario", "period", "instant", "startdate", "enddate", "forever"}
    | {"explicitmember", "typedmember", "unit", "measure", "divide", "unitnumerator", "unitdenominator"}
    | {"nonfraction", "nonnumeric", "fraction", "numerator", "denominator", "continuation", "exclude"}
)
"""Names that are recognized without a prefix; none of them is an element of HTML."""


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
    parts = _PART.findall(printed.translate(_FULL_WIDTH))
    if not order or len(parts) != len(order):
        return None
    year = month = day = None
    for kind, part in zip(order, parts, strict=True):
        if kind == "month":
            month = _month(part)
            if month is None:
                return None
        elif not part.isdecimal():
            return None
        elif kind == "day":
            day = int(part)
        else:
            year = int(part) if len(part) == 4 else 2000 + int(part)
    return _iso_date(year, month, day)


def is_date_format(transformation: str) -> bool:
    """Return whether a transformation is a known one for dates."""
    return bool(_order(transformation))


_UNTOLD = {
    "dateslashus": ("month", "day", "year"),
    "datedotus": ("month", "day", "year"),
    "datelongus": ("month", "day", "year"),
    "dateshortus": ("month", "day", "year"),
    "dateslasheu": ("day", "month", "year"),
    "datedoteu": ("day", "month", "year"),
    "datelonguk": ("day", "month", "year"),
    "dateshortuk": ("day", "month", "year"),
    "datelongeu": ("day", "month", "year"),
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


def _month(part: str) -> int | None:
    if part.isdecimal():
        return int(part)
    return next((number for number, name in enumerate(MONTHS, start=1) if name.startswith(part.lower())), None)


def _iso_date(year: int | None, month: int | None, day: int | None) -> str | None:
    # A leap year replaces a missing year, so that 29 February is valid.
    try:
        date(2000 if year is None else year, 1 if month is None else month, 1 if day is None else day)
    except (ValueError, OverflowError):
        return None
    if month is None:
        return None
    if year is None:
        return f"--{month:02d}-{day:02d}"
    return f"{year:04d}-{month:02d}" + ("" if day is None else f"-{day:02d}")


@lru_cache(maxsize=65_536)
def read_number(printed: str, transformation: str) -> Decimal | None:
    """Return the number that `printed` shows under a transformation (see `transformation_name`); None if it shows none.

    Without a known transformation, the plain form is tried: digits, commas between thousands, a point, a minus sign.
    Numbers of more than 60 digits are rejected.
    """
    if not printed or len(printed) > _MAX_LENGTH:
        return None
    return _READINGS.get(transformation, _plain)(printed.translate(_FULL_WIDTH))


def is_number_format(transformation: str) -> bool:
    """Return whether a transformation is a known one for numbers."""
    return transformation in _READINGS


_MAX_LENGTH = 400
_MAX_DIGITS = 60
_FULL_WIDTH = {0xFF10 + digit: ord("0") + digit for digit in range(10)} | {0xFF0C: ord(","), 0xFF0E: ord(".")}
_BETWEEN_DIGITS = r"\s'`´’′＇"
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


def _zero(_: str) -> Decimal | None:
    return Decimal(0)


def _none(_: str) -> Decimal | None:
    return None


def _of_digits(digits: str) -> Decimal | None:
    """Return the exact number; a Decimal made from text is not rounded."""
    return Decimal(digits) if len(digits) <= _MAX_DIGITS and _DIGITS.fullmatch(digits) else None


_READINGS: dict[str, Callable[[str], Decimal | None]] = {
    **dict.fromkeys(("numdotdecimal", "numdotdecimalapos", "numdotdecimalin", "numdotdecimalinapos"), _dot_decimal),
    **dict.fromkeys(("numcommadot", "numspacedot"), _dot_decimal),
    **dict.fromkeys(("numcommadecimal", "numcommadecimalapos"), _comma_decimal),
    **dict.fromkeys(("numdotcomma", "numspacecomma", "numcomma"), _comma_decimal),
    **dict.fromkeys(("zerodash", "numdash", "fixedzero"), _zero),
    **dict.fromkeys(("nocontent", "fixedempty", "numinf", "numneginf", "numnan"), _none),
    "numwordsen": _words,
}


MAX_SCALE = 30
"""Most powers of ten by which a figure may be scaled; a larger scale is a mistake of the filer."""

NOT_A_NUMBER = "not a number"
UNKNOWN_FORMAT = "unknown format"


@dataclass(frozen=True, slots=True)
class NumericValue:
    """The value of a numeric tag."""

    amount: Decimal | None
    """Exact, in base units, signed; None where the printed text is not a number."""
    decimals: int | None = None
    """Power of ten to which the amount is accurate; None where exact or not stated."""
    flag: str = ""
    """`not a number`, `unknown format` or empty."""


def read_value(element: etree._Element, printed: str) -> NumericValue:
    """Return the value of an `ix:nonFraction` that prints `printed`, using the element's attributes.

    An unknown format is flagged, and the text is parsed as a plain number if possible.
    """
    transformation = transformation_name(attribute(element, "format") or "")
    amount = _scaled(element, read_number(printed, transformation))
    unknown = UNKNOWN_FORMAT if transformation and not is_number_format(transformation) else ""
    if amount is None:
        return NumericValue(None, flag=unknown or NOT_A_NUMBER)
    return NumericValue(amount, _decimals(element, amount), unknown)


_EXACT = Context(prec=400)
_LEAST_DECIMALS, _MOST_DECIMALS = -60, 60


def _scaled(element: etree._Element, number: Decimal | None) -> Decimal | None:
    scale = _whole(attribute(element, "scale"), 0)
    if number is None or scale is None or abs(scale) > MAX_SCALE:
        return None
    if scale and number:
        number = number.scaleb(scale, _EXACT)
        if number == number.to_integral_value():
            number = number.quantize(Decimal(1), context=_EXACT)
    negative = (attribute(element, "sign") or "").strip() in ("-", "−")
    return -number if negative and number else number


def _decimals(element: etree._Element, amount: Decimal) -> int | None:
    """Return the decimals as stated, or derived from the older `precision` (significant digits)."""
    stated = attribute(element, "decimals")
    if stated is None and (digits := _whole(attribute(element, "precision"), None)) and amount:
        stated = str(digits - amount.adjusted() - 1)
    decimals = _whole(stated, None)
    return decimals if decimals is not None and _LEAST_DECIMALS <= decimals <= _MOST_DECIMALS else None


def _whole(stated: str | None, absent: int | None) -> int | None:
    """Return the whole number in an attribute; None for `INF` and other text."""
    if stated is None:
        return absent
    try:
        return int(stated) if len(stated) < 10 else None
    except ValueError:
        return None


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
    if is_date_format(transformation):
        return read_date(printed, transformation)
    if transformation in _BALLOT_BOXES:
        checked = _BALLOTS.get(printed.strip())
        return None if checked is None else _BALLOT_BOXES[transformation][checked]
    return printed if transformation in _AS_PRINTED else None


_FIXED = {
    "fixedtrue": "true",
    "booleantrue": "true",
    "fixedfalse": "false",
    "booleanfalse": "false",
    "fixedempty": "",
    "nocontent": "",
    "fixedzero": "0",
    "zerodash": "0",
}
_BALLOT_BOXES = {"boolballotbox": ("false", "true"), "yesnoballotbox": ("No", "Yes")}
# Older files use Wingdings and the letter x for boxes.
_BALLOTS = dict.fromkeys("☐□o¨", False) | dict.fromkeys("☑☒✓✔xXþý", True)
_AS_PRINTED = frozenset(
    {"countrynameen", "edgarprovcountryen", "stateprovnameen", "exchnameen", "entityfilercategoryen"}
    | {"durwordsen", "duryear", "durmonth", "durweek", "durday", "durhour"}
)
"""Formats of names and durations, which are clearer as printed than as a code (`five years`, `Delaware`)."""
