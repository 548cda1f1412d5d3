"""Which way a metric moved in a period, by the figures of the index: so that reasons can be asked for in its words."""

from __future__ import annotations

from fin_agent.query.tree import Period
from fin_agent.workspace import Workspace


def direction_of(metric: str, company: str, period: Period, workspace: Workspace) -> str:
    """`increase` or `decrease` from the year before, as one statement prints both; empty where none does.

    Args:
        metric: an id of the lexicon.
        company: a key of the directory.
        period: a year or a quarter; the filing of the period itself goes first.
        workspace: whose filings are read.
    """
    year, identities = period.fiscal_year or 0, workspace.directory.identities
    doc_ids = workspace.directory.by_key[company].doc_ids
    for doc_id in sorted(doc_ids, key=lambda one: (abs((identities[one].fiscal_year or 0) - year), one)):
        stated = {
            fact.period.fiscal_year: abs(fact.value) if fact.inverted else fact.value
            for fact in reversed([each.fact for each in workspace.index.facts([doc_id], metrics={metric})])
            if fact.statement is not None
            and fact.scope is None
            and fact.period.quarter == period.quarter
            and fact.period.months in (0, 3 if period.quarter else 12)
        }
        now, before = stated.get(year), stated.get(year - 1)
        if now is not None and before is not None and now != before:
            return "increase" if now > before else "decrease"
    return ""
