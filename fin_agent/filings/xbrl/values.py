"""The value of a numeric tag: what it prints, with its format, scale and sign applied."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal

from lxml import etree

from fin_agent.filings.xbrl.naming import attribute, local_name
from fin_agent.filings.xbrl.number_formats import is_number_format, read_number
from fin_agent.filings.xbrl.transformations import transformation_name

MAX_SCALE = 30
"""Powers of ten by which a print may be scaled; a larger scale is a mistake of the filer."""

NOT_A_NUMBER = "not a number"
UNKNOWN_FORMAT = "unknown format"


@dataclass(frozen=True, slots=True)
class NumericValue:
    """What a numeric tag states."""

    amount: Decimal | None
    """Exact, in base units, signed; None where the print is no number."""
    decimals: int | None = None
    """Power of ten the amount is accurate to; None where exact or not said."""
    flag: str = ""
    """`not a number`, `unknown format` or nothing."""


def read_value(element: etree._Element, printed: str) -> NumericValue:
    """The value of an `ix:nonFraction` that prints `printed`; its attributes say how to read it.

    A format that is not known is flagged, and the print read as a plain number where it is one.
    """
    transformation = transformation_name(attribute(element, "format") or "")
    amount = _scaled(element, read_number(printed, transformation))
    unknown = UNKNOWN_FORMAT if transformation and not is_number_format(transformation) else ""
    if amount is None:
        return NumericValue(None, flag=unknown or NOT_A_NUMBER)
    return NumericValue(amount, _decimals(element, amount), unknown)


def read_fraction(prints: dict[str, tuple[etree._Element, str]]) -> NumericValue:
    """The value of an `ix:fraction` from its `numerator` and `denominator` and what they print.

    A fraction without an end is cut at 28 digits.
    """
    above, below = (read_value(*prints[part]).amount if part in prints else None for part in _PARTS)
    if above is None or not below:
        return NumericValue(None, flag=NOT_A_NUMBER)
    return NumericValue(_LONG_DIVISION.divide(above, below))


def parts_of_fraction(element: etree._Element) -> dict[str, etree._Element]:
    """The `numerator` and `denominator` of an `ix:fraction`, those of them that are there."""
    found: dict[str, etree._Element] = {}
    for part in element.iter():
        name = local_name(part)
        if name in _PARTS:
            found.setdefault(name, part)
    return found


_PARTS = ("numerator", "denominator")
_EXACT = Context(prec=400)
_LONG_DIVISION = Context(prec=28)
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
    """As stated, or as the older `precision` (significant digits) gives it."""
    stated = attribute(element, "decimals")
    if stated is None and (digits := _whole(attribute(element, "precision"), None)) and amount:
        stated = str(digits - amount.adjusted() - 1)
    decimals = _whole(stated, None)
    return decimals if decimals is not None and _LEAST_DECIMALS <= decimals <= _MOST_DECIMALS else None


def _whole(stated: str | None, absent: int | None) -> int | None:
    """The whole number that an attribute states; None for `INF` and anything else."""
    if stated is None:
        return absent
    try:
        return int(stated) if len(stated) < 10 else None
    except ValueError:
        return None
