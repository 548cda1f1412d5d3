"""Follow tables of contents: the page that an entry names for what is sought comes right after it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from fin_agent.index.protocol import FilingIndex, PageKey, StoredPage
from fin_agent.retrieval.search_query import Query, RankedPage
from fin_agent.retrieval.search_terms import overlap, stems_of, weights_of
from fin_agent.vocabulary.page import printed_number

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
