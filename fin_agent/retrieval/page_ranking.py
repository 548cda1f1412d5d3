"""The page stage: which pages of those filings hold the answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.page_features import Candidate, candidates_of
from fin_agent.retrieval.page_weights import PageWeights, packaged_weights
from fin_agent.retrieval.search_query import Query, RankedFiling, RankedPage
from fin_agent.retrieval.tables_of_contents import add_listed_pages


def rank_pages(
    query: Query,
    filings: Sequence[RankedFiling],
    index: FilingIndex,
    metrics: Mapping[str, Metric],
    owners: Mapping[str, str],
    *,
    limit: int = 20,
    only: Collection[PageKey] | None = None,
    weights: PageWeights | None = None,
    likeness: Mapping[PageKey, float] | None = None,
) -> list[RankedPage]:
    """The best `limit` pages of `filings`, best first; `owners` gives the company key of each filing.

    Pages are taken one at a time: a figure that a page taken before already holds counts no more, so that the first few
    pages together hold as many of the figures looked for as they can. A list of contents among the first brings the
    page that it names. `only` leaves all other pages out; `weights` are those of the package where not given;
    `likeness` gives cosines of pages where vectors take part. The features of a page are what each adds to its score.
    """
    if not filings:
        return []
    candidates = candidates_of(query, filings, index, metrics, owners, only=only, likeness=likeness)
    usual = packaged_weights(with_vectors=likeness is not None)
    ranked = greedy_select(candidates, usual if weights is None else weights, limit)
    return add_listed_pages(query, ranked, index, only)


def greedy_select(candidates: Sequence[Candidate], weights: PageWeights, limit: int) -> list[RankedPage]:
    """The best `limit` pages, each the best beside those taken before it."""
    base = [sum(weights[name] * value for name, value in page.features.items()) for page in candidates]
    by_base = sorted(range(len(candidates)), key=lambda index: (-round(base[index], 9), index))
    holding = [index for index in by_base if candidates[index].slots]
    best_held: dict[Slot, float] = {}
    taken: dict[int, RankedPage] = {}

    while len(taken) < min(limit, len(candidates)):
        first_left = next(index for index in by_base if index not in taken)
        gains = {index: slot_gain(candidates[index], best_held) for index in (*holding, first_left)}
        scores = {index: base[index] + weights["slots"] * gains[index] for index in gains}
        chosen = min(scores, key=lambda index: (-round(scores[index], 9), index))
        taken[chosen] = _with_explanation(candidates[chosen], weights, gains[chosen], scores[chosen])
        for slot, worth in candidates[chosen].slots.items():
            best_held[slot] = max(worth, best_held.get(slot, 0.0))
        holding = [index for index in holding if index != chosen]
    return list(taken.values())


def slot_gain(page: Candidate, best_held: Mapping[Slot, float]) -> float:
    """0 for a page that adds no figure, near 1 for one that adds many: even one figure more is worth a page."""
    added = sum(max(0.0, worth - best_held.get(slot, 0.0)) for slot, worth in page.slots.items())
    return added / (1.0 + added)


def _with_explanation(page: Candidate, weights: PageWeights, gain: float, score: float) -> RankedPage:
    values = (*page.features.items(), ("slots", gain))
    return RankedPage(page.key, score, tuple((name, round(weights[name] * value, 4)) for name, value in values))
