"""Readings become an Identity: of several values of a field the best supported is taken."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from fin_agent.filings.identity.company_names import same_company
from fin_agent.vocabulary.identity import FieldSource, Form, Identity

NAMES_SEPARATOR = "; "
"""Between the names in the value of `other_names`."""
_FIELDS = (
    "company", "form", "fiscal_year", "quarter", "period_end", "fiscal_year_end_month", "filed", "ticker", "cik",
    "file_number", "employer_id", "other_names", "amended",
)  # fmt: skip


def settle(readings: Iterable[FieldSource]) -> Identity:
    """The Identity that `readings` (surest kinds first) speak for, each field with its sources."""
    given = list(readings)
    ranked = {field: ranked_readings([one for one in given if one.field == field]) for field in _FIELDS}
    if all(one.value == "false" for one in ranked["amended"]):
        ranked["amended"] = []
    value = {field: found[0].value if found else "" for field, found in ranked.items()}
    return Identity(
        company=value["company"],
        form=Form(value["form"] or Form.OTHER),
        fiscal_year=_number(value["fiscal_year"]),
        quarter=_number(value["quarter"]),
        period_end=_day(value["period_end"]),
        fiscal_year_end_month=_number(value["fiscal_year_end_month"]),
        filed=_day(value["filed"]),
        ticker=value["ticker"] or None,
        cik=value["cik"] or None,
        file_number=value["file_number"] or None,
        employer_id=value["employer_id"] or None,
        other_names=tuple(value["other_names"].split(NAMES_SEPARATOR)) if value["other_names"] else (),
        amended=value["amended"] == "true",
        sources=tuple(one for field in _FIELDS for one in ranked[field]),
    )


def taken(readings: Iterable[FieldSource], field: str) -> str:
    """The value of `field` that `readings` speak for; empty where none names it."""
    found = ranked_readings([one for one in readings if one.field == field])
    return found[0].value if found else ""


def ranked_readings(readings: Sequence[FieldSource]) -> list[FieldSource]:
    """Readings of one field, those of the best supported value first, without repetitions.

    Each reading votes for its value with the logarithm of its odds, as independent witnesses do: one of 0.99 outweighs
    one of 0.97, two of 0.9 outweigh it together. Between equals the one given first is taken. Prints of a company's
    name that mean the same company get the spelling of the first of them.
    """
    alike: list[FieldSource] = []
    for one in readings:
        if one.field == "company":
            spelling = next((other.value for other in alike if same_company(other.value, one.value)), one.value)
            one = replace(one, value=spelling)
        if not any((other.value, other.origin) == (one.value, one.origin) for other in alike):
            alike.append(one)
    support: dict[str, float] = {}
    for one in alike:
        support[one.value] = support.get(one.value, 0.0) + math.log(one.confidence / (1 - one.confidence))
    best = max(support, key=lambda value: round(support[value], 6), default="")
    return [one for one in alike if one.value == best] + [one for one in alike if one.value != best]


def _number(value: str) -> int | None:
    return int(value) if value else None


def _day(value: str) -> date | None:
    return date.fromisoformat(value) if value else None
