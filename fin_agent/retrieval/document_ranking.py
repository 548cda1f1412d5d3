"""The document stage: rank the filings that may answer a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from itertools import chain, islice, pairwise
from types import MappingProxyType

from fin_agent.index.protocol import FilingIndex
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS, FiscalPeriod, is_annual
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.retrieval.search_query import Query, RankedFiling, meanings
from fin_agent.retrieval.search_terms import page_counts, stem, stopwords
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.runs import grouped
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
# How far an annual report covers earlier years: figures of its statements, and words of its text.
_COLUMN_OF_YEARS_AGO = {0: 1.0, 1: 0.7, 2: 0.4}
_TEXT_OF_YEARS_AGO = {-1: 0.15, 0: 1.0, 1: 0.35, 2: 0.1}
_BY_ITS_END = 0.7
"""Factor for a year that is the one asked for only by the calendar year in which it ends."""
DAYS_NEAR = 7
"""Number of days within which a filing still matches a date asked for."""
_DEAREST = 5
"""Multiple of the allowed cost that is acceptable for a single term."""
_VERY_MANY = 50_000
"""Number of pages up to which the cost of a single word does not matter."""
_COMMON = 0.5
"""Share of pages from which SQLite's BM25 gives a word no weight."""
_PAGES_LOOKED_AT = 200
_EXPANSIONS = 0.4
"""Weight of expansions relative to the question's own terms."""


def rank_filings(
    query: Query, workspace: Workspace, *, within: Sequence[str] | None = None, limit: int = 5, others_too: bool = False
) -> list[RankedFiling]:
    """Return the best `limit` filings for `query`, best first, of those `within`.

    Where the question names several companies, the best filing of each comes before the second of any. Where the
    company is uncertain (a misspelt name), filings of other companies that fit by their words follow. Of several
    periods, the first five filings cover as many as possible. With `others_too`, filings of other companies fill the
    list up, with a score of 0.
    """
    if not query.companies:
        return _rank_for_any_company(query, workspace, within, limit)
    directory = workspace.directory
    allowed = None if within is None else frozenset(within)
    companies = (directory.by_key[key] for key in query.companies if key in directory.by_key)
    own = [doc_id for company in companies for doc_id in company.doc_ids if allowed is None or doc_id in allowed]
    ranked = _ranked(query, own, workspace, word_fits(query, workspace.index, own))
    in_turn = _round_robin(ranked, directory.owners) if len(query.companies) > 1 else ranked
    listed = _covering_first(query, in_turn, workspace, min(limit, _SEARCHED))[:limit]
    if set(query.unsure) & set(query.companies):
        listed = _append_others(listed, _rank_for_any_company(query, workspace, within, limit + len(listed)), limit)
    if others_too:
        known = {*own, *(filing.doc_id for filing in listed)}
        others = (doc_id for doc_id in directory.identities if doc_id not in known)
        unranked = (doc_id for doc_id in others if allowed is None or doc_id in allowed)
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
        dated = (doc_id for day in near for doc_id in directory.by_day.get(day, ()))
        allowed = [*dated, *islice(directory.identities, max(limit, _ALL_LOOKED_AT))]
    ranked = _ranked(asked, [*chain(*words.values()), *allowed], workspace, words)
    return _round_robin(ranked, directory.owners)[:limit]


def _ranked(
    query: Query, doc_ids: Iterable[str], workspace: Workspace, words: Mapping[str, Mapping[str, float]]
) -> list[RankedFiling]:
    """Rank filings by their identity and by `words`, the scores of `word_fits`."""
    metrics = workspace.lexicon.metrics
    identities = {doc_id: workspace.directory.identities[doc_id] for doc_id in doc_ids}
    latest = max((identity.period_end for identity in identities.values() if identity.period_end), default=None)
    weights = _WEIGHTS if query.companies else _WEIGHTS_OF_ALL
    ranked = []
    for doc_id, identity in identities.items():
        fits = [slot_fit(slot, identity, metrics) for slot in query.slots]
        if not fits and query.periods:
            fits = [period_fit(period, identity, by_end_too=not query.companies) for period in query.periods]
            fits.append(fits[-1])  # the latest period counts double
        recency = 0.0
        if not query.periods and not query.dates and latest is not None and identity.period_end is not None:
            recency = 1.0 / (1.0 + (latest - identity.period_end).days / _DAYS_A_YEAR)
        features = {
            "period": sum(fits) / len(fits) if fits else 0.0,
            "date": date_fit(query.dates, identity),
            "form": 1.0 if form_fits(query.forms, identity) else 0.0,
            **{name: scores.get(doc_id, 0.0) for name, scores in words.items()},
            "recency": recency,
        }
        score = sum(weights[name] * value for name, value in features.items())
        told = tuple((name, round(value, 4)) for name, value in features.items())
        ranked.append(RankedFiling(doc_id, score, told))
    return sorted(ranked, key=lambda filing: -round(filing.score, 9))


def _round_robin(ranked: Sequence[RankedFiling], owners: Mapping[str, str]) -> list[RankedFiling]:
    """Return the best filing of each company first, then the second of each, and so on."""
    by_owner = grouped((owners.get(filing.doc_id, filing.doc_id), filing) for filing in ranked)
    turn = {filing.doc_id: place for of_owner in by_owner.values() for place, filing in enumerate(of_owner)}
    return sorted(ranked, key=lambda filing: turn[filing.doc_id])


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
    behind = new[: limit - len(kept)]
    return kept + [RankedFiling(each.doc_id, most * each.score / top, (*each.features, *_OTHER)) for each in behind]


def slot_fit(slot: Slot, identity: Identity, metrics: Mapping[str, Metric]) -> float:
    """Return how likely the filing's columns contain the figure of a slot: 0 to 1, highest for the slot's own year."""
    reported = identity.reported_period
    if reported is None:
        return 0.0
    ago = reported.fiscal_year - slot.fiscal_year
    if slot.quarter is not None:
        if reported.quarter == slot.quarter:
            return {0: 1.0, 1: 0.6}.get(ago, 0.0)
        return 0.2 if is_annual(identity) and ago == 0 else 0.0
    if not is_annual(identity):
        return 0.1 if ago in (0, 1) else 0.0
    if slot_metric(slot, metrics).statement is Statement.BALANCE_SHEET and ago > 1:
        return 0.0
    fit = _COLUMN_OF_YEARS_AGO.get(ago, 0.0)
    return fit if identity.form in ANNUAL_FORMS else 0.8 * fit


def period_fit(period: FiscalPeriod, identity: Identity, *, by_end_too: bool = False) -> float:
    """Return how well the filing's own period fits the one asked about, 0 to 1.

    With `by_end_too`, a year also matches by the calendar year in which it ends, at a lower score: a question that does
    not name the company cannot know how the filer names its years.
    """
    if identity.fiscal_year is None:
        return 0.0
    fit = _fit_of_year(period, identity, 0)
    if by_end_too and identity.ending_year not in (None, identity.fiscal_year):
        assert identity.ending_year is not None
        fit = max(fit, _BY_ITS_END * _fit_of_year(period, identity, identity.ending_year - identity.fiscal_year))
    return fit


def date_fit(dates: Sequence[date], identity: Identity) -> float:
    """Return 1 if the filing is dated on a day asked about, 0.5 within a week of it, otherwise 0."""
    days = [day for day in (identity.period_end, identity.filed) if day is not None]
    gaps = [abs((day - asked).days) for day in days for asked in dates]
    if not gaps or min(gaps) > DAYS_NEAR:
        return 0.0
    return 1.0 if min(gaps) == 0 else 0.5


def form_fits(forms: Sequence[Form], identity: Identity) -> bool:
    """Return whether the filing has one of the forms asked for; an annual report counts as a 10-K."""
    return identity.form in forms or (Form.TEN_K in forms and identity.form is Form.ANNUAL_REPORT)


def _fit_of_year(period: FiscalPeriod, identity: Identity, later: int) -> float:
    """Return the fit of a period with the filing's years renamed to `later` years later."""
    assert identity.fiscal_year is not None
    reported = identity.reported_period
    if reported is None:
        ago = identity.fiscal_year + later - period.fiscal_year
        return 0.4 if ago == 0 else 0.1 if abs(ago) == 1 else 0.0
    ago = reported.fiscal_year + later - period.fiscal_year
    if period.quarter is not None:
        if reported.quarter == period.quarter:
            return {0: 1.0, 1: 0.4}.get(ago, 0.0)
        return 0.3 if ago == 0 else 0.0
    if is_annual(identity):
        return _TEXT_OF_YEARS_AGO.get(ago, 0.0) * (1.0 if identity.form in ANNUAL_FORMS else 0.9)
    return {0: 0.4, 1: 0.1}.get(ago, 0.0)


@dataclass(frozen=True, slots=True)
class SearchCost:
    """Cost of a search per page that contains a phrase, where a page with a word costs 1, and the limit for all."""

    of_phrase: float
    most: float


_COST_OF_ALL = SearchCost(of_phrase=0.25, most=10_000)
"""Every page that contains a word is scored, at about three microseconds each."""
_COST_WITHIN = SearchCost(of_phrase=12.0, most=2_500_000)
"""Few pages are scored, but pages with a phrase are counted over the whole index, at a quarter of a microsecond per
word."""


def word_fits(query: Query, index: FilingIndex, doc_ids: Sequence[str] | None) -> dict[str, dict[str, float]]:
    """Return how well those of `doc_ids`, or all filings, fit by `words`, `phrases` and `summary`: 1 for the best.

    Words are those of a filing's best page, with less weight for expansions. Phrases (adjacent words) and summaries
    count for questions without a company only.
    """
    terms = _best_pages(index, query.terms, doc_ids)
    words = _scaled(terms)
    for doc_id, score in _scaled(_best_pages(index, query.expansions, doc_ids)).items():
        words[doc_id] = words.get(doc_id, 0.0) + _EXPANSIONS * score
    phrases, summaries = dict[str, float](), dict[str, float]()
    if not query.companies:
        # Two common words side by side are no better than one rare word.
        phrases = _scaled(_best_pages(index, phrases_of(query), doc_ids), beside=terms)
        summaries = dict(index.search_summaries(query.terms, doc_ids=doc_ids, limit=_PAGES_LOOKED_AT))
    return {"words": _scaled(words), "phrases": phrases, "summary": _scaled(summaries)}


def _scaled(scores: Mapping[str, float], beside: Mapping[str, float] = MappingProxyType({})) -> dict[str, float]:
    """Return the scores relative to the best of them or of those `beside`."""
    best = max((*scores.values(), *beside.values()), default=0.0) or 1.0
    return {doc_id: score / best for doc_id, score in scores.items()}


def phrases_of(query: Query) -> tuple[str, ...]:
    """Return pairs of search terms that are adjacent in the question."""
    wanted = {stem(word) for term in query.terms for word in re.findall(r"\w+", term.lower())}
    words = re.findall(r"[^\W_]+|[.,;:?!()]", query.text.lower())
    pairs = (
        f"{first} {second}"
        for first, second in pairwise(words)
        if first not in stopwords() and second not in stopwords() and {stem(first), stem(second)} <= wanted
    )
    return tuple(dict.fromkeys(pairs))


def _best_pages(index: FilingIndex, terms: Sequence[str], doc_ids: Sequence[str] | None) -> dict[str, float]:
    """Return BM25 of the best page of each filing, best first."""
    affordable = affordable_terms(terms, index, _COST_WITHIN if doc_ids is not None else _COST_OF_ALL)
    found: dict[str, float] = {}
    for hit in index.search_pages(affordable, doc_ids=doc_ids, limit=_PAGES_LOOKED_AT):
        found.setdefault(hit.key.doc_id, hit.score)
    return found


def affordable_terms(terms: Sequence[str], index: FilingIndex, cost: SearchCost) -> tuple[str, ...]:
    """Return the rarest of `terms`, in the order given, that a search can afford: in most indexes, all of them.

    The rarest may cost somewhat more than allowed. In an index with very many pages, words on most pages are left out
    if there are others, because BM25 gives them no weight.
    """
    pages, count = page_counts(terms, index), index.page_count()
    common = _COMMON * count if count > _VERY_MANY else count
    telling = {term: counts for term, counts in pages.items() if len(counts) != 1 or counts[0] <= common}
    costs: list[tuple[float, str]] = []
    for term, counts in (telling or pages).items():
        found_at = sum(counts) if all(counts) else 0  # a phrase with a word on no page is on none
        costs.append((found_at * (1.0 if len(counts) < 2 else cost.of_phrase), term))
    kept: set[str] = set()
    spent = 0.0
    for price, term in sorted(costs):
        if spent + price > (cost.most if spent else _DEAREST * cost.most):
            break
        spent += price
        kept.add(term)
    return tuple(term for term in terms if term in kept)
