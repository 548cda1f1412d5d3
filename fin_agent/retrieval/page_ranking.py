"""The page stage: rank the pages of the filings found."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from fin_agent.index.protocol import FilingIndex, PageKey, SourcedFact, StoredPage, StoredPassage
from fin_agent.lexicon.slots import Slot
from fin_agent.lexicon.words import load_yaml
from fin_agent.retrieval.page_features import Candidate, QueryTerms, candidates_of
from fin_agent.retrieval.search_query import Query, RankedFiling, RankedPage, RankedPassage
from fin_agent.retrieval.search_terms import overlap, stems_of, weights_of
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.page import printed_number
from fin_agent.workspace import Workspace

PageWeights = Mapping[str, float]
"""Weights by feature name: all of `MEANINGS`, none negative."""


def packaged_weights() -> PageWeights:
    """Return the weights of this package."""
    weights: PageWeights = load_yaml("page_weights", __package__)
    return weights


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
    that it names. `only` limits the pages; `likeness` has the cosine of each page where vectors are used.
    """
    candidates = candidates_of(query, filings, workspace, only=only, likeness=likeness)
    ranked = greedy_select(candidates, packaged_weights(), limit)
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
        values = (*candidates[chosen].features.items(), ("slots", gains[chosen]))
        explained = tuple((name, round(weights[name] * value, 4)) for name, value in values)
        taken[chosen] = RankedPage(candidates[chosen].key, scores[chosen], explained)
        for slot, worth in candidates[chosen].slots.items():
            best_held[slot] = max(worth, best_held.get(slot, 0.0))
        holding = [index for index in holding if index != chosen]
    return list(taken.values())


def slot_gain(slots: Mapping[Slot, float], best_held: Mapping[Slot, float]) -> float:
    """Return the gain of a page or card: 0 if it adds no figure, approaching 1 with many; a single figure adds most."""
    added = sum(max(0.0, worth - best_held.get(slot, 0.0)) for slot, worth in slots.items())
    return added / (1.0 + added)


_FIRST, _MIN_ENTRIES, _SOUGHT = 5, 5, 0.6
"""Top pages looked at, those that are read; fewest entries; least share of an entry's words that are search terms."""
_PAGE = re.compile(r"(?:\s|[\s.·…_|]{2,})([1-9]\d{0,2})\s*$", re.MULTILINE)


def follow_contents(
    query: Query, ranked: Sequence[RankedPage], index: FilingIndex, only: Collection[PageKey] | None = None
) -> list[RankedPage]:
    """Return the pages with the one that a table of contents names right after it, if it is among `only`."""
    found = list(ranked)
    stored = {page.key: page for page in index.pages([page.key for page in ranked[:_FIRST]])}
    for contents in ranked[:_FIRST]:
        named = _named_page(query, stored[contents.key], index)
        keys = [page.key for page in found]
        after = keys.index(contents.key) + 1
        if named is None or named in keys[:after] or (only is not None and named not in only):
            continue
        followed = RankedPage(named, contents.score, (("named by contents", round(contents.score, 4)),))
        found = [*found[:after], followed, *(page for page in found[after:] if page.key != named)]
    return found[: len(ranked)]


def listed_pages(text: str) -> list[tuple[str, str]]:
    """Return the entries of a table of contents with their page numbers, which ascend; empty for other text."""
    pieces = _PAGE.split(text)
    entries: list[tuple[str, str]] = []
    for words, number in zip(pieces[::2], pieces[1::2], strict=False):
        if not entries or int(number) >= int(entries[-1][1]):
            entries.append((" ".join(words.split()), number))
    return entries if len(entries) >= max(_MIN_ENTRIES, len(pieces) // 4) else []


def _named_page(query: Query, contents: StoredPage, index: FilingIndex) -> PageKey | None:
    """Return the page of the entry with most search terms by weight: it prints the number and has the entry's words."""
    sought = set(stems_of(" ".join((*query.terms, *query.synonyms, *query.expansions))))
    named: list[tuple[float, str, set[str]]] = []
    for words, number in listed_pages(contents.page.text):
        stems = {stem for stem in stems_of(words) if stem.isalpha()}
        weights = weights_of(stems, index.document_frequencies(stems), index.page_count())
        if overlap(sought, weights) >= _SOUGHT:
            named.append((sum(weights[stem] for stem in stems & sought), number, stems))
    _, wanted, stems = max(named, key=lambda entry: entry[0], default=(0.0, "", set[str]()))
    keys = [PageKey(contents.doc_id, number) for number in range(index.filing(contents.doc_id).page_count)]
    pages = [stored.page for stored in index.pages(keys)] if wanted else []
    for page in pages:
        beside = pages[max(0, page.number - 1) : page.number + 2]
        if printed_number(page, beside) == wanted and stems <= set(stems_of(page.text)):
            return PageKey(contents.doc_id, page.number)
    return None


_EXPANSION = 0.3
_TABLE_OF_FIGURES = 1.5
"""Factor for the words of a table, relative to running text, where a figure is asked for."""
_SECOND_OF_A_PAGE = 0.5
"""Factor for a page's second passage: it repeats the page, but may contain another table."""


def rank_passages(
    query: Query, pages: Sequence[RankedPage], workspace: Workspace, *, limit: int = 5
) -> list[RankedPassage]:
    """Return the best `limit` passages of `pages`, best first: by their page, then by their own words and figures.

    The best passage of every page comes before the second best of a page, unless its page scores less than half as
    much.
    """
    index = workspace.index
    wanted = QueryTerms.of(query, index)
    facts = _facts_by_page(query, pages, workspace)
    stored: dict[PageKey, list[StoredPassage]] = {}
    for passage in index.passages([page.key for page in pages]):
        stored.setdefault(passage.key, []).append(passage)
    ranked: list[RankedPassage] = []
    for page in pages:
        scored = []
        for passage in stored.get(page.key, ()):
            stems = set(stems_of(passage.passage.text))
            words = overlap(stems, wanted.words) + _EXPANSION * overlap(stems, wanted.expansions)
            if query.figures and passage.passage.kind is PassageKind.TABLE:
                words *= _TABLE_OF_FIGURES
            scored.append((words + _figures(passage, facts.get(page.key, ())), passage))
        scored.sort(key=lambda entry: (-round(entry[0], 9), entry[1].passage.ordinal))
        for rank, (score, passage) in enumerate(scored):
            ranked.append(RankedPassage(passage, page.score * _SECOND_OF_A_PAGE**rank + 0.001 * score))
    ranked.sort(key=lambda passage: -round(passage.score, 9))
    return ranked[:limit]


def _figures(passage: StoredPassage, facts: Sequence[SourcedFact]) -> float:
    """Return the share of the page's wanted figures in this passage; running text only quotes a table, so it gets 0."""
    if not facts or passage.passage.kind is not PassageKind.TABLE or passage.passage.box is None:
        return 0.0
    box = passage.passage.box
    boxes = [sourced.fact.box for sourced in facts]
    inside = [box.spans_height_of(one) and box.x0 - 1 <= one.x0 and one.x1 <= box.x1 + 1 for one in boxes]
    return sum(inside) / len(boxes)


def _facts_by_page(query: Query, pages: Sequence[RankedPage], workspace: Workspace) -> dict[PageKey, list[SourcedFact]]:
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    by_page: dict[PageKey, list[SourcedFact]] = {}
    doc_ids = {page.key.doc_id for page in pages}
    keys = [page.key for page in pages]
    metrics_wanted = {slot.metric for slot in query.slots if not slot.is_searched}
    named = workspace.index.facts(doc_ids, metrics=metrics_wanted, pages=keys) if metrics_wanted else []
    for fact in (*named, *(printed for printed in query.printed if printed.key in keys)):
        if any(fills_slot(fact, slot, metrics, owners) for slot in query.slots):
            by_page.setdefault(fact.key, []).append(fact)
    return by_page
