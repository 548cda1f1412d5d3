"""The document stage: rank the filings that may answer a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from itertools import islice

from fin_agent.index.protocol import FilingIndex
from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.filing_fit import DAYS_NEAR, date_fit, form_fits, period_fit, slot_fit
from fin_agent.retrieval.filing_text_matching import NO_MATCH, WordFit, word_fits, word_fits_of_all
from fin_agent.retrieval.search_query import Query, RankedFiling
from fin_agent.vocabulary.identity import Identity

FILING_FEATURES = {
    "period": "fit of its fiscal periods (of its columns, where figures are asked for) to those asked about",
    "date": "1 for a date asked about, 0.5 within a week of it",
    "form": "1 for a form asked for (10-K, 8-K, ...)",
    "words": "match of its best page with the words of the question, relative to the best filing",
    "phrases": "the same for adjacent words of the question; only where no company is named",
    "summary": "match of its summary with the words; only where no company is named",
    "recency": "1 for the latest filing, 0.5 a year earlier; where the question names no period and no date",
    "other company": "1 for a filing of a company that the question may not mean, ranked after the others",
}
"""The features of a filing's score, by the names in `RankedFiling.features`."""

_WEIGHTS = {
    "period": 1.0, "date": 1.5, "form": 0.8, "words": 0.6, "phrases": 0.0, "summary": 0.0, "recency": 0.3,
}  # fmt: skip
_WEIGHTS_OF_ALL = {
    "period": 1.0, "date": 1.5, "form": 0.8, "words": 0.9, "phrases": 0.6, "summary": 0.3, "recency": 0.3,
}  # fmt: skip
"""Weights where no company is named: words are then the main evidence."""
_BEHIND = 0.5
"""Highest score of a filing of another company, relative to the last one of a company that may be meant."""
_DAYS_A_YEAR = 365.25
_SEARCHED = 5
"""Number of top filings that together should cover what is asked about: as many as are searched by default."""
_ALL_LOOKED_AT = 1_000
"""Up to this many filings of an index are ranked by period and form even if they contain none of the words."""
_OTHER = (("other company", 1.0),)
_HELD = 0.35
"""Share of the best fit that counts as covered: a column of two years ago is enough."""

_Wanted = Callable[[str], float]
"""How well the filing with this doc_id covers one item asked for, 0 to 1."""


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
    """Return the best `limit` filings for `query`, best first.

    Where the question names several companies, the best filing of each comes before the second of any. Where it names
    several periods, the first five filings cover as many of them as possible. Where the company is uncertain (a
    misspelt name), filings of other companies that fit by their words follow.

    Args:
        query: What is asked for.
        index: The index, for words.
        directory: The companies of the index.
        metrics: Metrics of the lexicon by id.
        within: Filings to choose from; all where None.
        limit: The most filings to return.
        others_too: Fill the list up with filings of other companies, with a score of 0.
    """
    if not query.companies:
        return _rank_for_any_company(query, index, directory, metrics, within, limit)
    allowed = None if within is None else frozenset(within)
    own = [
        doc_id
        for key in query.companies
        if (company := directory.by_key.get(key)) is not None
        for doc_id in company.doc_ids
        if allowed is None or doc_id in allowed
    ]
    words = word_fits(query, index, own)
    ranked = _ranked(query, own, directory, words, metrics)
    in_turn = _round_robin(ranked, directory.owners) if len(query.companies) > 1 else ranked
    listed = _select_covering(in_turn, _required_columns(query, directory, metrics), min(limit, _SEARCHED))[:limit]
    if set(query.unsure) & set(query.companies):
        listed = _append_others(
            listed, _rank_for_any_company(query, index, directory, metrics, within, limit + len(listed)), limit
        )
    if others_too and len(listed) < limit:
        known = {*own, *(filing.doc_id for filing in listed)}
        others = (doc_id for doc_id in directory.identities if doc_id not in known)
        if allowed is not None:
            others = (doc_id for doc_id in others if doc_id in allowed)
        listed += [RankedFiling(doc_id, 0.0, _OTHER) for doc_id in islice(others, limit - len(listed))]
    return listed


def _rank_for_any_company(
    query: Query,
    index: FilingIndex,
    directory: CompanyDirectory,
    metrics: Mapping[str, Metric],
    within: Sequence[str] | None,
    limit: int,
) -> list[RankedFiling]:
    """Rank mainly by words; the best filing of each company comes before the second of any."""
    asked = replace(query, companies=(), slots=())
    allowed = None if within is None else [doc_id for doc_id in within if doc_id in directory.identities]
    words = word_fits_of_all(asked, index, allowed)
    if allowed is None:
        near = (day + timedelta(days=apart) for day in query.dates for apart in range(-DAYS_NEAR, DAYS_NEAR + 1))
        dated = (doc_id for day in near for doc_id in directory.filings_dated(day))
        allowed = [*dated, *islice(directory.identities, max(limit, _ALL_LOOKED_AT))]
    ranked = _ranked(asked, list(dict.fromkeys([*words, *allowed])), directory, words, metrics)
    return _round_robin(ranked, directory.owners)[:limit]


def _ranked(
    query: Query,
    doc_ids: Sequence[str],
    directory: CompanyDirectory,
    words: Mapping[str, WordFit],
    metrics: Mapping[str, Metric],
) -> list[RankedFiling]:
    identities = [directory.identities[doc_id] for doc_id in doc_ids]
    latest = max((identity.period_end for identity in identities if identity.period_end), default=None)
    ranked = [
        _scored(query, doc_id, identity, words.get(doc_id, NO_MATCH), metrics, latest)
        for doc_id, identity in zip(doc_ids, identities, strict=True)
    ]
    order = {doc_id: position for position, doc_id in enumerate(doc_ids)}
    return sorted(ranked, key=lambda filing: (-round(filing.score, 9), order[filing.doc_id]))


def _scored(
    query: Query, doc_id: str, identity: Identity, words: WordFit, metrics: Mapping[str, Metric], latest: date | None
) -> RankedFiling:
    timeless = not query.periods and not query.dates
    features = {
        "period": _slots_fit(query, identity, metrics) if query.slots else _periods_fit(query, identity),
        "date": date_fit(query.dates, identity),
        "form": 1.0 if form_fits(query.forms, identity) else 0.0,
        "words": words.pages,
        "phrases": words.phrases,
        "summary": words.summary,
        "recency": _recency(identity, latest) if timeless else 0.0,
    }
    weights = _WEIGHTS if query.companies else _WEIGHTS_OF_ALL
    score = sum(weights[name] * value for name, value in features.items())
    return RankedFiling(doc_id, score, tuple((name, round(value, 4)) for name, value in features.items()))


def _recency(identity: Identity, latest: date | None) -> float:
    """Return 1 for the latest filing, 0.5 for one a year older, and so on."""
    if latest is None or identity.period_end is None:
        return 0.0
    return 1.0 / (1.0 + (latest - identity.period_end).days / _DAYS_A_YEAR)


def _slots_fit(query: Query, identity: Identity, metrics: Mapping[str, Metric]) -> float:
    """Return the average fit of the filing's columns over the slots."""
    return sum(slot_fit(slot, identity, metrics) for slot in query.slots) / len(query.slots)


def _periods_fit(query: Query, identity: Identity) -> float:
    """Return how well the filing's period fits those of the question; the latest one counts double."""
    if not query.periods:
        return 0.0
    fits = [period_fit(period, identity, by_end_too=not query.companies) for period in query.periods]
    return (sum(fits) + fits[-1]) / (len(fits) + 1)


def _round_robin(ranked: Sequence[RankedFiling], owners: Mapping[str, str]) -> list[RankedFiling]:
    """Return the best filing of each company first, then the second of each, and so on."""
    turns: dict[str, int] = {}
    order: list[tuple[int, int, RankedFiling]] = []
    for position, filing in enumerate(ranked):
        owner = owners.get(filing.doc_id, filing.doc_id)
        turns[owner] = turns.get(owner, -1) + 1
        order.append((turns[owner], position, filing))
    return [filing for _, _, filing in sorted(order, key=lambda entry: entry[:2])]


def _required_columns(query: Query, directory: CompanyDirectory, metrics: Mapping[str, Metric]) -> list[_Wanted]:
    """Return what the filings together should cover: each slot, otherwise each company's periods."""

    def of_slot(slot: Slot, doc_id: str) -> float:
        return slot_fit(slot, directory.identities[doc_id], metrics) if owners.get(doc_id) == slot.company else 0.0

    def of_period(company: str, period: FiscalPeriod, doc_id: str) -> float:
        return period_fit(period, directory.identities[doc_id]) if owners.get(doc_id) == company else 0.0

    owners = directory.owners
    if query.slots:
        return [partial(of_slot, slot) for slot in query.slots]
    return [partial(of_period, company, period) for company in query.companies for period in query.periods]


def _select_covering(ranked: Sequence[RankedFiling], wanted: Sequence[_Wanted], size: int) -> list[RankedFiling]:
    """Return all filings; if the first `size` miss something that others cover, a covering selection comes first."""
    first = {filing.doc_id for filing in ranked[:size]}
    if len(ranked) <= size or len(wanted) < 2:
        return list(ranked)
    missing = [held for fit in wanted if (held := _covering_filings(fit, ranked))]
    if all(held & first for held in missing):
        return list(ranked)
    chosen: set[str] = set()
    while missing and len(chosen) < size:
        best = max(ranked, key=lambda filing: sum(filing.doc_id in held for held in missing))
        chosen.add(best.doc_id)
        missing = [held for held in missing if best.doc_id not in held]
    fill = islice((filing.doc_id for filing in ranked if filing.doc_id not in chosen), size - len(chosen))
    chosen.update(list(fill))
    return sorted(ranked, key=lambda filing: filing.doc_id not in chosen)


def _covering_filings(fit: _Wanted, ranked: Sequence[RankedFiling]) -> set[str]:
    """Return the filings that cover an item, or nearly as well as the best one does."""
    fits = {filing.doc_id: fit(filing.doc_id) for filing in ranked}
    best = max(fits.values())
    return {doc_id for doc_id, value in fits.items() if value > 0 and value >= _HELD * best}


def _append_others(listed: Sequence[RankedFiling], others: Iterable[RankedFiling], limit: int) -> list[RankedFiling]:
    """Return `listed` followed by the best of `others`: at least one, where there is room for two."""
    known = {filing.doc_id for filing in listed}
    new = [filing for filing in others if filing.doc_id not in known]
    if not new or limit < 2:
        return list(listed[:limit])
    kept = list(listed[: limit - 1])
    most = _BEHIND * (kept[-1].score if kept else 1.0)
    top = max(filing.score for filing in new) or 1.0
    behind = [
        RankedFiling(filing.doc_id, most * filing.score / top, (*filing.features, *_OTHER))
        for filing in new[: limit - len(kept)]
    ]
    return [*kept, *behind]
