"""Identity fields from the `dei:` concepts of inline XBRL tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from fin_agent.filings.identity.cover import (
    FOCUS,
    FROM_FIGURES,
    TAG,
    normalize_form,
    plain_employer_id,
    plain_file_number,
    reading,
)
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.dates import printed_dates
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.fiscal_calendar import nominal_month
from fin_agent.vocabulary.identity import FieldSource

_PATTERNS = patterns("identity_patterns")


def dei_readings(tags: Sequence[Tag]) -> list[FieldSource]:
    """Return readings of the identity from tags.

    Of several registrants, it is the one without a member on the axis of legal entities, the parent; of several classes
    of securities, the first common stock.
    """
    stated = _parent([tag for tag in tags if tag.concept.startswith("dei:") and not tag.nil and tag.text.strip()])
    found: list[FieldSource] = []
    for tag in stated:
        concept = tag.concept.removeprefix("dei:")
        if concept not in _FIELDS:
            continue
        text, printed = " ".join(tag.text.split()), f"{tag.concept} {tag.text}"
        kind = FOCUS if concept in _FOCI else TAG
        field, read = _FIELDS[concept]
        value = read(text)
        if value is not None:
            found.append(reading(field, value, kind, printed, tag.page))
        if concept == "DocumentType" and re.search(r"/A\b", text):
            found.append(reading("amended", "true", kind, printed, tag.page))
    return [*found, *_common_stock_symbol(stated)]


def end_of_most_figures(tags: Sequence[Tag]) -> Iterator[FieldSource]:
    """Yield the period's end according to the figures: the day on which most of the company's tagged figures end."""
    ends = Counter(
        tag.end for tag in tags if tag.numeric and not tag.members and tag.end and 1990 < tag.end.year < 2100
    )
    best = min(ends, key=lambda end: (-ends[end], -end.toordinal()), default=None)
    if best is not None and ends[best] >= _MIN_FIGURES:
        yield reading("period_end", best, FROM_FIGURES, f"{ends[best]} tagged figures end on {best.isoformat()}")


_MIN_FIGURES = 20
_ENTITY_AXIS = "dei:LegalEntityAxis"


def _parent(tags: Sequence[Tag]) -> Sequence[Tag]:
    own = [tag for tag in tags if all(axis != _ENTITY_AXIS for axis, _ in tag.members)]
    if any(tag.concept == "dei:EntityRegistrantName" for tag in own) or len(own) == len(tags):
        return own
    # If every registrant is a member, the first one named is the parent.
    first = next((tag.members for tag in tags if tag.concept == "dei:EntityRegistrantName"), ())
    return [*own, *(tag for tag in tags if tag.members and set(first) <= set(tag.members))]


def _name(value: str) -> str | None:
    return re.sub(r"\s*[/\\][A-Za-z]{2,3}[/\\]?$", "", value).strip() or None


def _cik(value: str) -> str | None:
    return value.lstrip("0") if value.isdigit() and value.strip("0") and len(value) <= 10 else None


def _year(value: str) -> int | None:
    return int(value) if re.fullmatch(r"(?:19|20)\d\d", value) else None


def _day(value: str) -> date | None:
    return next((found.date for found in printed_dates(value)), None)


def _month(value: str) -> int | None:
    """Return the month of `--12-31`; `--02-03`, the end of a 52/53-week year, counts as January."""
    found = re.fullmatch(r"-{0,2}(\d\d)-(\d\d)", value)
    if found is None:
        return None
    try:
        return nominal_month(date(_LEAP_YEAR, int(found[1]), int(found[2])))[1]
    except ValueError:
        return None


def _flag(value: str) -> str | None:
    return value.lower() if value.lower() in ("true", "false") else None


_LEAP_YEAR = 2004
_QUARTERS = {"Q1": 1, "Q2": 2, "H1": 2, "M6": 2, "Q3": 3, "M9": 3, "Q4": 4}
_FIELDS: dict[str, tuple[str, Callable[[str], str | int | date | None]]] = {
    "EntityRegistrantName": ("company", _name),
    "DocumentType": ("form", normalize_form),
    "EntityCentralIndexKey": ("cik", _cik),
    "DocumentFiscalYearFocus": ("fiscal_year", _year),
    "DocumentFiscalPeriodFocus": ("quarter", lambda value: _QUARTERS.get(value.upper())),
    "DocumentPeriodEndDate": ("period_end", _day),
    "CurrentFiscalYearEndDate": ("fiscal_year_end_month", _month),
    "AmendmentFlag": ("amended", _flag),
    "EntityFileNumber": ("file_number", plain_file_number),
    "EntityTaxIdentificationNumber": ("employer_id", plain_employer_id),
}
_FOCI = frozenset(("DocumentFiscalYearFocus", "DocumentFiscalPeriodFocus", "AmendmentFlag"))


def _common_stock_symbol(tags: Sequence[Tag]) -> Iterator[FieldSource]:
    """Yield the symbol of the first class that is common stock; without such a title, the first symbol."""
    titles = {tag.context: tag.text for tag in tags if tag.concept == "dei:Security12bTitle"}
    symbols = [
        (tag, found.group().upper())
        for tag in tags
        if tag.concept == "dei:TradingSymbol" and not _PATTERNS["nothing"].fullmatch(tag.text)
        for found in [_SYMBOL.search(re.sub(r"^[^:]*:", "", tag.text))]
        if found is not None
    ]
    common = [one for one in symbols if _is_common(titles.get(one[0].context, ""))]
    for tag, symbol in (common or symbols)[:1]:
        title = titles.get(tag.context, "")
        yield reading("ticker", symbol.replace("/", "."), TAG, f"{tag.concept} {tag.text} {title}", tag.page)


_SYMBOL = re.compile(r"[A-Za-z]{1,6}(?:[./-][A-Za-z]{1,2})?(?![A-Za-z])")


def _is_common(title: str) -> bool:
    return _PATTERNS["common stock"].search(title) is not None and _PATTERNS["other securities"].search(title) is None
