"""Which way a metric moved in a period, by the figures of the index: so that reasons can be asked for in its words."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.workspace import Workspace

Direction = Literal["increase", "decrease", ""]


def direction_of(metric: str, company: str, period: FiscalPeriod, workspace: Workspace) -> Direction:
    """Against the period a year earlier, as one statement prints both; empty where none does, or nothing moved.

    `metric` is an id of the lexicon, `company` a key of the directory. The filing of the period itself goes first.
    """
    known = workspace.directory.by_key.get(company)
    if known is None or metric not in workspace.lexicon.metrics:
        return ""
    identities = workspace.directory.identities
    filings = sorted(known.doc_ids, key=lambda doc_id: (_distance(identities[doc_id].fiscal_year, period), doc_id))
    for doc_id in filings:
        now, before = _amounts(doc_id, metric, period, workspace)
        if now is not None and before is not None and now != before:
            return "increase" if now > before else "decrease"
    return ""


def _amounts(
    doc_id: str, metric: str, period: FiscalPeriod, workspace: Workspace
) -> tuple[Decimal | None, Decimal | None]:
    facts = [
        sourced.fact
        for sourced in workspace.index.facts([doc_id], metrics={metric})
        if sourced.fact.statement is not None and sourced.fact.scope is None
    ]
    lengths = (0, 3) if period.quarter else (0, 12)
    found: list[Decimal | None] = []
    for year in (period.fiscal_year, period.fiscal_year - 1):
        values: Sequence[Decimal] = [
            abs(fact.value) if fact.inverted else fact.value
            for fact in facts
            if fact.period.fiscal_year == year
            and fact.period.quarter == period.quarter
            and fact.period.months in lengths
        ]
        found.append(values[0] if values else None)
    return found[0], found[1]


def _distance(year: int | None, period: FiscalPeriod) -> int:
    return abs((year or 0) - period.fiscal_year)
