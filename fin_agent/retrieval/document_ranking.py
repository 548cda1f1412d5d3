"""The document stage: rank the filings that may answer a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from itertools import islice

from fin_agent.lexicon.entry_loading import Metric
from fin_agent.retrieval.filing_fit import DAYS_NEAR, date_fit, form_fits, period_fit, slot_fit
from fin_agent.retrieval.filing_text_matching import NO_MATCH, WordFit, word_fits
from fin_agent.retrieval.search_query import Query, RankedFiling, meanings
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace

FILING_FEATURES = meanings("filings")
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
_COVERS = 0.35
"""Share of the best fit that counts as covered: a column of two years ago is enough."""
_ALL_LOOKED_AT = 1_000
"""Up to this many filings of an index are ranked by period and form even if they contain none of the words."""
_OTHER = (("other company", 1.0),)


def rank_filings(
    query: Query, workspace: Workspace, *, within: Sequence[str] | None = None, limit: int = 5, others_too: bool = False
) -> list[RankedFiling]:
    """Return the best `limit` filings for `query`, best first.

    Where the question names several companies, the best filing of each comes before the second of any. Where the
    company is uncertain (a misspelt name), filings of other companies that fit by their words follow. Of several
    periods, the first five filings cover as many as possible.

    Args:
        query: What is asked for.
        workspace: The index with its companies.
        within: Filings to choose from; all where None.
        limit: The most filings to return.
        others_too: Fill the list up with filings of other companies, with a score of 0.
    """
    if not query.companies:
        return _rank_for_any_company(query, workspace, within, limit)
    directory = workspace.directory
    allowed = None if within is None else frozenset(within)
    own = [
        doc_id
        for key in query.companies
        if (company := directory.by_key.get(key)) is not None
        for doc_id in company.doc_ids
        if allowed is None or doc_id in allowed
    ]
    ranked = _ranked(query, own, workspace, word_fits(query, workspace.index, own))
    in_turn = _round_robin(ranked, directory.owners) if len(query.companies) > 1 else ranked
    listed = _covering_first(query, in_turn, workspace, min(limit, _SEARCHED))[:limit]
    if set(query.unsure) & set(query.companies):
        others = _rank_for_any_company(query, workspace, within, limit + len(listed))
        listed = _append_others(listed, others, limit)
    if others_too:
        known = {*own, *(filing.doc_id for filing in listed)}
        unranked = (doc_id for doc_id in directory.identities if doc_id not in known)
        if allowed is not None:
            unranked = (doc_id for doc_id in unranked if doc_id in allowed)
        listed += [RankedFiling(doc_id, 0.0, _OTHER) for doc_id in islice(unranked, limit - len(listed))]
    return listed


def _rank_for_any_company(
    query: Query, workspace: Workspace, within: Sequence[str] | None, limit: int
) -> list[RankedFiling]:
    """Rank mainly by words; the best filing of each company comes before the second of any."""
    directory = workspace.directory
    asked = replace(query, companies=(), slots=())
    allowed = None if within is None else [doc_id for doc_id in within if doc_id in directory.identities]
    words = word_fits(asked, workspace.index, allowed)
    if allowed is None:
        near = (day + timedelta(days=apart) for day in query.dates for apart in range(-DAYS_NEAR, DAYS_NEAR + 1))
        dated = (doc_id for day in near for doc_id in directory.filings_dated(day))
        allowed = [*dated, *islice(directory.identities, max(limit, _ALL_LOOKED_AT))]
    ranked = _ranked(asked, [*words, *allowed], workspace, words)
    return _round_robin(ranked, directory.owners)[:limit]


def _ranked(
    query: Query, doc_ids: Sequence[str], workspace: Workspace, words: Mapping[str, WordFit]
) -> list[RankedFiling]:
    metrics = workspace.lexicon.metrics
    identities = {doc_id: workspace.directory.identities[doc_id] for doc_id in doc_ids}
    latest = max((identity.period_end for identity in identities.values() if identity.period_end), default=None)
    ranked = [
        _scored(query, doc_id, identity, words.get(doc_id, NO_MATCH), metrics, latest)
        for doc_id, identity in identities.items()
    ]
    return sorted(ranked, key=lambda filing: -round(filing.score, 9))


def _scored(
    query: Query, doc_id: str, identity: Identity, words: WordFit, metrics: Mapping[str, Metric], latest: date | None
) -> RankedFiling:
    fits = [slot_fit(slot, identity, metrics) for slot in query.slots]
    recency = 0.0
    if not query.periods and not query.dates and latest is not None and identity.period_end is not None:
        recency = 1.0 / (1.0 + (latest - identity.period_end).days / _DAYS_A_YEAR)
    features = {
        "period": sum(fits) / len(fits) if fits else _periods_fit(query, identity),
        "date": date_fit(query.dates, identity),
        "form": 1.0 if form_fits(query.forms, identity) else 0.0,
        "words": words.pages,
        "phrases": words.phrases,
        "summary": words.summary,
        "recency": recency,
    }
    weights = _WEIGHTS if query.companies else _WEIGHTS_OF_ALL
    score = sum(weights[name] * value for name, value in features.items())
    return RankedFiling(doc_id, score, tuple((name, round(value, 4)) for name, value in features.items()))


def _periods_fit(query: Query, identity: Identity) -> float:
    """Return how well the filing's period fits those of the question; the latest one counts double."""
    if not query.periods:
        return 0.0
    fits = [period_fit(period, identity, by_end_too=not query.companies) for period in query.periods]
    return (sum(fits) + fits[-1]) / (len(fits) + 1)


def _round_robin(ranked: Sequence[RankedFiling], owners: Mapping[str, str]) -> list[RankedFiling]:
    """Return the best filing of each company first, then the second of each, and so on."""
    turns: Counter[str] = Counter()
    order: list[tuple[int, RankedFiling]] = []
    for filing in ranked:
        owner = owners.get(filing.doc_id, filing.doc_id)
        turns[owner] += 1
        order.append((turns[owner], filing))
    return [filing for _, filing in sorted(order, key=lambda entry: entry[0])]


def _covering_first(
    query: Query, ranked: Sequence[RankedFiling], workspace: Workspace, size: int
) -> list[RankedFiling]:
    """Return all filings, first `size` that together cover the slots, else the periods, if the first ones do not."""
    directory, metrics = workspace.directory, workspace.lexicon.metrics
    wanted: list[tuple[str, Callable[[Identity], float]]]
    wanted = [(slot.company, partial(slot_fit, slot, metrics=metrics)) for slot in query.slots] or [
        (company, partial(period_fit, period)) for company in query.companies for period in query.periods
    ]
    missing: list[set[str]] = []
    for company, fit in wanted:
        own = (filing.doc_id for filing in ranked if directory.owners.get(filing.doc_id) == company)
        fits = {doc_id: fit(directory.identities[doc_id]) for doc_id in own}
        least = _COVERS * max(fits.values(), default=0.0)
        missing.append({doc_id for doc_id, value in fits.items() if value > 0 and value >= least})
    first = {filing.doc_id for filing in ranked[:size]}
    missing = [covering for covering in missing if covering]
    if all(covering & first for covering in missing):
        return list(ranked)
    chosen: list[str] = []
    while missing and len(chosen) < size:
        best = max(ranked, key=lambda filing: sum(filing.doc_id in covering for covering in missing))
        chosen.append(best.doc_id)
        missing = [covering for covering in missing if best.doc_id not in covering]
    others = (filing.doc_id for filing in ranked if filing.doc_id not in chosen)
    chosen += islice(others, size - len(chosen))
    return sorted(ranked, key=lambda filing: filing.doc_id not in chosen)


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
