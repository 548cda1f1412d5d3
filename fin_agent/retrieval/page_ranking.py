"""The page stage: rank the pages of the filings found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.slots import Slot
from fin_agent.lexicon.words import load_yaml
from fin_agent.retrieval.page_features import MEANINGS, Candidate, candidates_of
from fin_agent.retrieval.search_query import Query, RankedFiling, RankedPage
from fin_agent.retrieval.tables_of_contents import follow_contents
from fin_agent.workspace import Workspace

PageWeights = Mapping[str, float]
"""Weights by feature name: all of `MEANINGS`, none negative."""


def packaged_weights(*, with_vectors: bool = False) -> PageWeights:
    """Return the weights of this package, fitted without `likeness` or with it; features not named count nothing."""
    name = "page_weights_with_vectors" if with_vectors else "page_weights"
    return dict.fromkeys(MEANINGS, 0.0) | load_yaml(name, __package__)


def weights_text(weights: PageWeights) -> str:
    """Return `weights` as YAML, as in the packaged files, with the meaning of each feature as a comment."""
    return "".join(f"# {MEANINGS[name]}\n{name}: {weight:.2f}\n" for name, weight in weights.items())


def rank_pages(
    query: Query,
    filings: Sequence[RankedFiling],
    workspace: Workspace,
    *,
    limit: int = 20,
    only: Collection[PageKey] | None = None,
    likeness: Mapping[PageKey, float] | None = None,
) -> list[RankedPage]:
    """Return the best `limit` pages of `filings`, best first, with what each feature adds to the score.

    Pages are selected one at a time: a figure on a page selected earlier no longer counts, so that the first few pages
    together contain as many of the wanted figures as possible. A table of contents among the first pages adds the page
    that it names.

    Args:
        query: What is asked for.
        filings: Filings of the document stage with their scores.
        workspace: The index with the pages.
        limit: The most pages to return.
        only: Pages that may be returned; all where None.
        likeness: Cosine by page, where vectors are used.
    """
    if not filings:
        return []
    candidates = candidates_of(query, filings, workspace, only=only, likeness=likeness)
    ranked = greedy_select(candidates, packaged_weights(with_vectors=likeness is not None), limit)
    return follow_contents(query, ranked, workspace.index, only)


def greedy_select(candidates: Sequence[Candidate], weights: PageWeights, limit: int) -> list[RankedPage]:
    """Return the best `limit` pages, each the best addition to those selected before it."""
    base = [sum(weights[name] * value for name, value in page.features.items()) for page in candidates]
    by_base = sorted(range(len(candidates)), key=lambda index: (-round(base[index], 9), index))
    holding = [index for index in by_base if candidates[index].slots]
    best_held: dict[Slot, float] = {}
    taken: dict[int, RankedPage] = {}

    while len(taken) < min(limit, len(candidates)):
        first_left = next(index for index in by_base if index not in taken)
        gains = {index: slot_gain(candidates[index].slots, best_held) for index in (*holding, first_left)}
        scores = {index: base[index] + weights["slots"] * gains[index] for index in gains}
        chosen = min(scores, key=lambda index: (-round(scores[index], 9), index))
        taken[chosen] = _with_explanation(candidates[chosen], weights, gains[chosen], scores[chosen])
        for slot, worth in candidates[chosen].slots.items():
            best_held[slot] = max(worth, best_held.get(slot, 0.0))
        holding = [index for index in holding if index != chosen]
    return list(taken.values())


def slot_gain(slots: Mapping[Slot, float], best_held: Mapping[Slot, float]) -> float:
    """Return the gain of a page or card: 0 if it adds no figure, approaching 1 with many; a single figure adds most."""
    added = sum(max(0.0, worth - best_held.get(slot, 0.0)) for slot, worth in slots.items())
    return added / (1.0 + added)


def _with_explanation(page: Candidate, weights: PageWeights, gain: float, score: float) -> RankedPage:
    values = (*page.features.items(), ("slots", gain))
    return RankedPage(page.key, score, tuple((name, round(weights[name] * value, 4)) for name, value in values))
