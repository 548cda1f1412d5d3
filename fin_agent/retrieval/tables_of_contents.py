"""Follow tables of contents: the page that an entry names for what is sought becomes a candidate."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.search_query import Query, RankedPage
from fin_agent.retrieval.search_terms import overlap, stems_of, weights_of
from fin_agent.vocabulary.page import printed_number

_FIRST = 5
"""Number of top pages among which a table of contents is followed: those that are read."""
_MIN_ENTRIES = 5
_OF_ITS_PAGE = 3
"""A table of contents takes at least a third of its page's characters; a table with a few small numbers does not."""
_SOUGHT = 0.6
"""Minimum share of an entry's words, by weight, that are search terms."""
_ENTRY = re.compile(r"(?P<words>.*?)[\s.·…_|]*(?<![\d.,$%/-])(?P<page>(?:[A-Z]{1,2}-)?[1-9]\d{0,2})")


def add_listed_pages(
    query: Query, ranked: Sequence[RankedPage], index: FilingIndex, only: Collection[PageKey] | None = None
) -> list[RankedPage]:
    """Return the pages, with the page that a table of contents names inserted after it.

    The page is identified by its printed number and must contain the words of the entry.

    Args:
        query: What is asked for.
        ranked: The ranked pages.
        index: The index with the pages.
        only: Pages that may be returned; all where None.
    """
    pages = {stored.key: stored.page for stored in index.pages([page.key for page in ranked[:_FIRST]])}
    found = list(ranked)
    for contents in ranked[:_FIRST]:
        entries = listed_pages(pages[contents.key].text) if contents.key in pages else []
        named = _best_entry(query, contents.key.doc_id, entries, index) if entries else None
        keys = [page.key for page in found]
        before = keys[: keys.index(contents.key) + 1]
        if named is None or named in before or (only is not None and named not in only):
            continue
        own = next((page for page in found if page.key == named), RankedPage(named, 0.0, ()))
        raised = ("named by contents", round(contents.score - own.score, 4))
        rest = [page for page in found[len(before) :] if page.key != named]
        followed = replace(own, score=contents.score, features=(*own.features, raised))
        found = [*found[: len(before)], followed, *rest]
    return found[: len(ranked)]


def listed_pages(text: str) -> list[tuple[str, str]]:
    r"""Return the entries of a table of contents with their printed page numbers; empty for other text.

    >>> lines = ["Item 1.", "Business", "2", "Risk Factors .... 3", "Properties 9", "Signatures", "9", "Index F-1"]
    >>> listed_pages("\n".join(lines))[1:3], listed_pages("Cash 12\nInventories 7\nDebt 31\nEquity 4\nLand 1")
    ([('Risk Factors', '3'), ('Properties', '9')], [])
    """
    numbered = word_lists("answer_words")["numbered"]
    runs: list[list[tuple[str, str]]] = [[]]
    words: list[str] = []
    last = ("", 0)
    for line in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        entry = _ENTRY.fullmatch(line)
        if entry is None or entry["words"].lower() in numbered:
            words.append(line)
            continue
        label = " ".join((*words, entry["words"])).strip()
        words = []
        prefix, _, number = entry["page"].rpartition("-")
        place = (prefix, int(number))
        if not any(map(str.isalpha, label)):
            continue
        if place < last:
            runs.append([])
        last = place
        runs[-1].append((label, entry["page"]))
    longest = max(runs, key=len)
    length = sum(len(label) for label, _ in longest if "$" not in label)
    return longest if len(longest) >= _MIN_ENTRIES and length * _OF_ITS_PAGE >= len(text) else []


def _best_entry(query: Query, doc_id: str, entries: Sequence[tuple[str, str]], index: FilingIndex) -> PageKey | None:
    """Return the page of the entry with most of the search terms; None where there is none, or no page confirms it."""
    sought = set(stems_of(" ".join((*query.terms, *query.synonyms, *query.expansions))))
    numbered = frozenset(stems_of(" ".join(word_lists("answer_words")["numbered"])))
    stems = [{stem for stem in stems_of(words) if stem.isalpha()} - numbered for words, _ in entries]
    every = {*sought, *(stem for each in stems for stem in each)}
    weights = weights_of(every, index.document_frequencies(every), index.page_count())
    fitting = [
        (sum(weights[stem] for stem in own & sought), place)
        for place, own in enumerate(stems)
        if own and overlap(sought, {stem: weights[stem] for stem in own}) >= _SOUGHT
    ]
    if not fitting:
        return None
    _, place = max(fitting, key=lambda one: (one[0], -one[1]))
    keys = [PageKey(doc_id, number) for number in range(index.filing(doc_id).page_count)]
    pages = [stored.page for stored in index.pages(keys)]
    for page in pages:
        beside = pages[max(0, page.number - 1) : page.number + 2]
        if printed_number(page, beside) == entries[place][1] and stems[place] <= set(stems_of(page.text)):
            return PageKey(doc_id, page.number)
    return None
