"""Tags and filings made for a test."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from fin_agent.evaluation.xbrl_truth import TaggedFiling, TrueTag

END = date(2024, 12, 31)
SEGMENT = "us-gaap:StatementBusinessSegmentsAxis"
PRODUCT = "srt:ProductOrServiceAxis"
REGION = "srt:StatementGeographicalAxis"


def tag(
    concept: str,
    value: int,
    *members: tuple[str, str],
    year: int = 2024,
    instant: bool = False,
    table: int | None = 0,
    row: str = "",
    row_number: int = 0,
    step: int = 1_000_000,
    unit: str = "USD",
) -> TrueTag:
    """A tag of the year, in millions."""
    return TrueTag(
        0,
        f"us-gaap:{concept}",
        Decimal(value) * 1_000_000,
        False,
        None if instant else date(year, 1, 1),
        date(year, 12, 31),
        tuple(sorted(members)),
        unit,
        Decimal(step),
        table,
        row,
        row_number,
    )


def filing(
    *tags: TrueTag, words: tuple[str, ...] = (), doc_id: str = "a24", quarter: int | None = None, end: date = END
) -> TaggedFiling:
    """A report on 2024 whose one table prints `words`."""
    return TaggedFiling(doc_id, "10-Q" if quarter else "10-K", 2024, quarter, end, tags, {0: words})
