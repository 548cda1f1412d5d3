"""The document stage: which filings can answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fin_agent.index.protocol import FilingIndex, FilingRecord
from fin_agent.lexicon.companies import CompanyDirectory
from fin_agent.lexicon.fiscal import ANNUAL_FORMS, FiscalPeriod, is_annual
from fin_agent.lexicon.metrics import Metric
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.query import Query, RankedFiling
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement

# What an annual report's columns hold of the years before its own: figures of the statements, words of the text.
_COLUMN_OF_YEARS_AGO = {0: 1.0, 1: 0.7, 2: 0.4}
_TEXT_OF_YEARS_AGO = {-1: 0.15, 0: 1.0, 1: 0.35, 2: 0.1}
_WEIGHTS = {"period": 1.0, "date": 1.5, "form": 0.8, "words": 0.6, "summary": 0.3, "recency": 0.05}
_NO_COMPANY_WORDS = 1.5
"""Where no company is named, the words are all there is to go by."""
_DAYS_NEAR = 7
_PAGES_LOOKED_AT = 200
_EXPANSIONS = 0.4
"""What terms that filings use for the same thing count beside the question's own."""


def rank_filings(
    query: Query,
    index: FilingIndex,
    directory: CompanyDirectory,
    metrics: Mapping[str, Metric],
    *,
    within: Sequence[str] | None = None,
    limit: int = 5,
    others_too: bool = False,
) -> list[RankedFiling]:
    """The best `limit` filings for `query`, best first; only of `within` where given.

    Where several companies are asked about, each one's best filing comes before any one's second. With `others_too`,
    filings of companies that are not asked about fill up the list, with a score of 0.
    """
    owners = directory.owners
    records = [record for record in index.filings() if within is None or record.doc_id in set(within)]
    others: list[FilingRecord] = []
    if query.companies:
        others = [record for record in records if owners.get(record.doc_id) not in query.companies]
        records = [record for record in records if owners.get(record.doc_id) in query.companies]
    everything = within is None and not query.companies
    words = _word_scores(query, index, [record.doc_id for record in records], all_of_them=everything)
    latest = max((str(record.identity.period_end or "") for record in records), default="")
    ranked = [_ranked(query, record, words, metrics, latest) for record in records]
    order = {record.doc_id: position for position, record in enumerate(records)}
    ranked.sort(key=lambda filing: (-round(filing.score, 9), order[filing.doc_id]))
    listed = _taking_turns(ranked, query, owners)[:limit]
    if others_too and len(listed) < limit:
        listed += [RankedFiling(record.doc_id, 0.0, (("other company", 1.0),)) for record in others][
            : limit - len(listed)
        ]
    return listed


def _ranked(
    query: Query,
    record: FilingRecord,
    words: Mapping[str, tuple[float, float]],
    metrics: Mapping[str, Metric],
    latest: str,
) -> RankedFiling:
    identity = record.identity
    in_pages, in_summary = words.get(record.doc_id, (0.0, 0.0))
    features = {
        "period": _slots_fit(query.slots, identity, metrics) if query.slots else _period_fit(query.periods, identity),
        "date": _date_fit(query, identity),
        "form": 1.0 if _form_fits(query.forms, identity) else 0.0,
        "words": in_pages * (1.0 if query.companies else _NO_COMPANY_WORDS),
        "summary": in_summary,
        "recency": 1.0 if not query.periods and not query.dates and str(identity.period_end or "") == latest else 0.0,
    }
    score = sum(_WEIGHTS[name] * value for name, value in features.items())
    return RankedFiling(record.doc_id, score, tuple((name, round(value, 4)) for name, value in features.items()))


def _slots_fit(slots: Sequence[Slot], identity: Identity, metrics: Mapping[str, Metric]) -> float:
    """How many of the figures looked for this filing's columns hold, and how close they are to its own year."""
    return sum(_slot_fit(slot, identity, metrics) for slot in slots) / len(slots)


def _slot_fit(slot: Slot, identity: Identity, metrics: Mapping[str, Metric]) -> float:
    reported = identity.reported
    if reported is None:
        return 0.0
    ago = reported.fiscal_year - slot.fiscal_year
    if slot.quarter is not None:
        if reported.quarter == slot.quarter:
            return {0: 1.0, 1: 0.6}.get(ago, 0.0)
        return 0.2 if is_annual(identity) and ago == 0 else 0.0
    if not is_annual(identity):
        return 0.1 if ago in (0, 1) else 0.0
    if metrics[slot.metric].statement is Statement.BALANCE_SHEET and ago > 1:
        return 0.0
    fit = _COLUMN_OF_YEARS_AGO.get(ago, 0.0)
    return fit if identity.form in ANNUAL_FORMS else 0.8 * fit


def _period_fit(periods: Sequence[FiscalPeriod], identity: Identity) -> float:
    """How well the filing's period fits those the question names; the latest one counts double."""
    if not periods or identity.fiscal_year is None:
        return 0.0
    fits = [_one_period_fit(period, identity) for period in periods]
    return (sum(fits) + fits[-1]) / (len(fits) + 1)


def _one_period_fit(period: FiscalPeriod, identity: Identity) -> float:
    assert identity.fiscal_year is not None
    reported = identity.reported
    if reported is None:
        ago = identity.fiscal_year - period.fiscal_year
        return 0.4 if ago == 0 else 0.1 if abs(ago) == 1 else 0.0
    ago = reported.fiscal_year - period.fiscal_year
    if period.quarter is not None:
        if reported.quarter == period.quarter:
            return {0: 1.0, 1: 0.4}.get(ago, 0.0)
        return 0.3 if ago == 0 else 0.0
    if is_annual(identity):
        return _TEXT_OF_YEARS_AGO.get(ago, 0.0) * (1.0 if identity.form in ANNUAL_FORMS else 0.9)
    return {0: 0.4, 1: 0.1}.get(ago, 0.0)


def _date_fit(query: Query, identity: Identity) -> float:
    days = [day for day in (identity.period_end, identity.filed) if day is not None]
    gaps = [abs((day - asked).days) for day in days for asked in query.dates]
    if not gaps or min(gaps) > _DAYS_NEAR:
        return 0.0
    return 1.0 if min(gaps) == 0 else 0.5


def _form_fits(forms: Sequence[Form], identity: Identity) -> bool:
    return identity.form in forms or (Form.TEN_K in forms and identity.form is Form.ANNUAL_REPORT)


def _word_scores(
    query: Query, index: FilingIndex, doc_ids: Sequence[str], *, all_of_them: bool
) -> dict[str, tuple[float, float]]:
    """(best page's score, summary's score) of each filing, both from 0 to 1."""
    within = None if all_of_them else doc_ids
    best: dict[str, float] = {}
    for terms, weight in ((query.terms, 1.0), (query.expansions, _EXPANSIONS)):
        hits = index.search_pages(terms, doc_ids=within, limit=_PAGES_LOOKED_AT)
        found: dict[str, float] = {}
        for hit in hits:
            found.setdefault(hit.key.doc_id, weight * hit.score / hits[0].score)
        best = {doc_id: best.get(doc_id, 0.0) + found.get(doc_id, 0.0) for doc_id in {**best, **found}}
    top = max(best.values(), default=1.0) or 1.0
    summaries = dict(index.search_summaries(query.terms, limit=_PAGES_LOOKED_AT)) if all_of_them else {}
    top_summary = max(summaries.values(), default=1.0) or 1.0
    return {
        doc_id: (best.get(doc_id, 0.0) / top, summaries.get(doc_id, 0.0) / top_summary)
        for doc_id in {**best, **summaries}
    }


def _taking_turns(ranked: list[RankedFiling], query: Query, owners: Mapping[str, str]) -> list[RankedFiling]:
    if len(query.companies) < 2:
        return ranked
    turns: dict[str, int] = {}
    order: list[tuple[int, int, RankedFiling]] = []
    for position, filing in enumerate(ranked):
        turn = turns.get(owners[filing.doc_id], 0)
        turns[owners[filing.doc_id]] = turn + 1
        order.append((turn, position, filing))
    return [filing for _, _, filing in sorted(order, key=lambda entry: entry[:2])]
