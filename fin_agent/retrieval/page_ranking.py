"""The page stage: rank the pages of the filings found by their features, each 0 to 1, and passages of these pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from fin_agent.filings.outline.items import COVER
from fin_agent.index.protocol import FilingIndex, FilingRecord, PageKey, SourcedFact, StoredPage, StoredPassage
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.lexicon.words import load_yaml
from fin_agent.retrieval.search_query import Query, RankedFiling, RankedPage, RankedPassage, meanings
from fin_agent.retrieval.search_terms import overlap, stem_set, weights_of
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement, printed_number
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace

_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
_MAX_HEADING_LENGTH = 90
_MIN_HEADING_LENGTH = 4
_CAPITALS = 0.6
"""Minimum share of a heading's words that begin with a capital letter."""
_TWO_DIGITS = re.compile(r"\d\d")
_WORD = re.compile(r"[A-Za-z]{3}")
_EXPANSION = 0.3
"""Weight of an expansion or synonym relative to one of the question's own words."""
_EXHIBITS = "9.01"
_BODY = 0.6
"""Weight of an Item of an 8-K other than those that the query names; 1 where the query names none."""
MEANINGS = meanings("pages")
"""The meaning of each feature; `slots` is known only while pages are selected one after another."""
_ELSEWHERE = 0.35
"""Weight of a figure outside the primary statements."""
_HITS = 400
_READ = 50
"""Number of pages whose text is read: those ranked first by the inexpensive features."""
_ON_A_COVER = 0.3
_FIRST_PAGES = 10
_RISK_FACTORS = frozenset({"1A", "II-1A"})
_LETTERS = 4
"""Number of letters of a stem that a label must contain to be read: most rows are skipped, and endings do not
matter."""
_OTHER_PERIOD = 0.5
"""Factor for a row without a figure for a period asked about."""
_stems = lru_cache(maxsize=50_000)(stem_set)
PageWeights = Mapping[str, float]
"""Weights by feature name: all of `MEANINGS`, none negative."""
_FIRST, _MIN_ENTRIES, _SOUGHT = 5, 5, 0.6
"""Top pages looked at, those that are read; fewest entries; least share of an entry's words that are search terms."""
_PAGE = re.compile(r"(?:\s|[\s.·…_|]{2,})([1-9]\d{0,2})\s*$", re.MULTILINE)
_TABLE_OF_FIGURES = 1.5
"""Factor for the words of a table, relative to running text, where a figure is asked for."""
_SECOND_OF_A_PAGE = 0.5
"""Factor for a page's second passage: it repeats the page, but may contain another table."""


class TextMatch(NamedTuple):
    """Shares of a query's weight that a page's text contains, each 0 to 1; all 0 where it was not read."""

    synonyms: float = 0.0
    nearness: float = 0.0
    headings: float = 0.0
    expansion_headings: float = 0.0


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """Stems of a query with their inverse page frequencies: own words, expansions, synonyms, and all combined."""

    words: Mapping[str, float]
    expansions: Mapping[str, float]
    synonyms: Mapping[str, float]
    both: Mapping[str, float]

    @classmethod
    def of(cls, query: Query, index: FilingIndex) -> QueryTerms:
        """Return the stems of `query`, weighted by the pages of `index`."""
        own = stem_set(" ".join(query.terms))
        more = stem_set(" ".join(query.expansions)) - own
        everyday = stem_set(" ".join(query.synonyms)) - own
        frequencies, pages = index.document_frequencies(own | more | everyday), index.page_count()
        words, expansions, synonyms = (weights_of(stems, frequencies, pages) for stems in (own, more, everyday))
        lesser = {stem: _EXPANSION * weight for stem, weight in (expansions | synonyms).items()}
        return cls(words, expansions, synonyms, lesser | words)

    def title_coverage(self, title: str) -> float:
        """Return the share of a title's words that the query contains, 0 to 1; short titles count less."""
        stems = stem_set(title)
        return len(stems & self.both.keys()) / (len(stems) + 1) if stems else 0.0


def text_match(text: str, wanted: QueryTerms) -> TextMatch:
    """Return how well `text` matches."""
    relevant = wanted.both.keys()
    sentence_stems, headings = _stems_by_sentence(text)
    sentences = [relevant & stems for stems in sentence_stems]
    pairs = {frozenset(first | second) for first, second in zip(sentences, [*sentences[1:], set()], strict=True)}
    return TextMatch(
        synonyms=overlap(set().union(*sentences), wanted.synonyms),
        nearness=max(overlap(pair, wanted.both) for pair in pairs),
        headings=overlap(headings, wanted.words),
        expansion_headings=overlap(headings, wanted.expansions),
    )


@lru_cache(maxsize=512)
def _stems_by_sentence(text: str) -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
    """Return the stems of each sentence and of all headings. Cached, because a batch or chat meets the same pages."""
    headings = " ".join(line for line in text.split("\n") if _is_heading(line.strip()))
    return tuple(map(stem_set, _SENTENCE_END.split(text))), stem_set(headings)


def _is_heading(line: str) -> bool:
    """Return whether a line reads like a heading: short, mostly capitalized, no figures, no punctuation at its end."""
    if not _MIN_HEADING_LENGTH <= len(line) <= _MAX_HEADING_LENGTH or line[-1] in ".,;":
        return False
    if _TWO_DIGITS.search(line) or not _WORD.search(line):
        return False
    words = line.split()
    return sum(word[0].isupper() for word in words) >= _CAPITALS * len(words)


def item_weights(query: Query, record: FilingRecord) -> Callable[[str | None], float]:
    """Return a function from Item to weight: 1 for the first Item the query names, less for those after it.

    An 8-K is short: every Item except its list of exhibits is relevant.
    """
    prefix = f"{record.identity.form.value}."
    named = [item.removeprefix(prefix) for item in query.items if item.startswith(prefix)]
    names = list(dict.fromkeys(name.replace("II.", "II-").removeprefix("I.") for name in named))
    worth = {name: 1.0 / (1 + rank) for rank, name in enumerate(names)}
    eight_k = record.identity.form is Form.EIGHT_K

    def of(item: str | None) -> float:
        if eight_k and item not in (None, _EXHIBITS, COVER):
            return max(_BODY, worth.get(item or "", 0.0)) if worth else 1.0
        return worth.get(item or "", 0.0)

    return of


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page with its features, and the slots whose figures it states, with their weight."""

    key: PageKey
    features: Mapping[str, float]
    slots: Mapping[Slot, float]


def candidates_of(
    query: Query,
    filings: Sequence[RankedFiling],
    workspace: Workspace,
    *,
    only: Collection[PageKey] | None = None,
    likeness: Mapping[PageKey, float] | None = None,
) -> list[Candidate]:
    """Return the candidates for all pages of `filings`, or those of `only`, in the order of the filings."""
    index = workspace.index
    doc_ids = [filing.doc_id for filing in filings]
    top_filing = max((filing.score for filing in filings), default=0.0) or 1.0
    filing_scores = {filing.doc_id: filing.score / top_filing for filing in filings}
    fits = {filing.doc_id: dict(filing.features) for filing in filings}  # of the document stage
    periods = {doc_id: 0.0 if "other company" in fit else fit.get("period", 0.0) for doc_id, fit in fits.items()}
    words, expansions, synonyms = (
        _shares({hit.key: hit.score for hit in index.search_pages(terms, doc_ids=doc_ids, limit=_HITS)})
        for terms in (query.terms, query.expansions, query.synonyms)
    )
    wanted_metrics = {*query.metrics, *(slot.metric for slot in query.slots if not slot.is_searched)}
    facts = index.facts(doc_ids, metrics=wanted_metrics) if wanted_metrics else []
    printed = (sourced for sourced in query.printed if sourced.doc_id in filing_scores)
    held = _slots_stated(query, [*facts, *printed], workspace)
    rows = row_matches(query, index, doc_ids) if query.slots or query.figures else {}
    years = {period.fiscal_year for period in query.periods}
    of_metrics = [each for each in facts if each.fact.metric in query.metrics]
    dated = [each for each in of_metrics if not years or each.fact.period.fiscal_year in years]
    stated = grouped((each.key, each.fact.metric) for each in dated if each.fact.scope is None)
    divided = [each for each in dated if each.fact.scope is not None and each.fact.statement is not Statement.EQUITY]
    parts = grouped((each.key, each.fact.scope) for each in divided if query.tables or query.figures)
    records = {doc_id: index.filing(doc_id) for doc_id in doc_ids}
    item_weight = {doc_id: item_weights(query, record) for doc_id, record in records.items()}
    notes = {(doc_id, note.number): note.title for doc_id, record in records.items() for note in record.notes}
    starts = grouped(
        (PageKey(doc_id, start.page), start.item) for doc_id, record in records.items() for start in record.items
    )
    rank = {doc_id: position for position, doc_id in enumerate(doc_ids)}
    outline = {stored.key: stored.page for stored in index.outline(doc_ids) if only is None or stored.key in only}
    pages = sorted(outline, key=lambda key: (rank[key.doc_id], key.page))
    quick = {
        key: filing_scores[key.doc_id] + sum(by.get(key, 0.0) for by in (words, expansions, synonyms)) for key in pages
    }
    like = _shares(likeness or {})
    wanted = QueryTerms.of(query, index)
    promising = sorted(pages, key=lambda key: -round(quick[key], 9))[:_READ]
    read = {stored.key: text_match(stored.page.text, wanted) for stored in index.pages(promising)}
    found: list[Candidate] = []
    for key in pages:
        page = outline[key]
        weight_of, starting = item_weight[key.doc_id], starts.get(key, ())
        divided_into = len(set(parts.get(key, ())))
        telling = _ON_A_COVER if page.item == COVER and not weight_of(COVER) else 1.0
        match = read.get(key, TextMatch())
        slots = held.get(key, {})
        of_statement, of_any_table = rows.get(key, (0.0, 0.0))
        asked_for = sum(worth == 1.0 for worth in slots.values()) / max(1, len(query.slots))
        features = {
            "filing": filing_scores[key.doc_id],
            "period": periods[key.doc_id],
            "words": words.get(key, 0.0) * telling,
            "expansions": expansions.get(key, 0.0) * telling,
            "synonyms": synonyms.get(key, 0.0) * telling,
            "synonym coverage": match.synonyms,
            "nearness": match.nearness * telling,
            "headings": match.headings * telling,
            "expansion headings": match.expansion_headings * telling,
            "note": wanted.title_coverage(notes.get((key.doc_id, page.note), "") if page.note else ""),
            "statement": float(page.statement in query.statements),
            "facts": len(set(stated.get(key, ()))) / max(1, len(query.metrics)),
            "parts": divided_into / (1 + divided_into),
            "statement row": max(of_statement, asked_for),
            "row": max(of_any_table, asked_for),
            "item": max(map(weight_of, (page.item, *starting))),
            "item start": max(map(weight_of, starting), default=0.0),
            "tables": float(page.kind is not None and page.kind in query.tables),
            "no risk factor": float(page.item not in _RISK_FACTORS or weight_of(page.item) > 0),
            "likeness": like.get(key, 0.0),
            "early": 1.0 / (1.0 + key.page / _FIRST_PAGES),
        }
        found.append(Candidate(key, features, slots))
    return found


def _shares(scores: Mapping[PageKey, float]) -> dict[PageKey, float]:
    """Return the scores scaled so that the greatest is 1, none below 0."""
    top = max(scores.values(), default=0.0)
    return {key: max(0.0, score) / top for key, score in scores.items()} if top > 0 else {}


def _slots_stated(query: Query, facts: Sequence[SourcedFact], workspace: Workspace) -> dict[PageKey, dict[Slot, float]]:
    """Return the slots whose figures each page states, with their weight: highest on the metric's own statement.

    Figures of a part of the company have no statement of their own; most of them are in notes.
    """
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    held: dict[PageKey, dict[Slot, float]] = {}
    for sourced in facts:
        for slot in query.slots:
            if fills_slot(sourced, slot, metrics, owners):
                home = slot_metric(slot, metrics).statement
                found = home is None or slot.is_searched  # by words, wherever it is printed
                at_home = found or slot.part is not None or sourced.fact.statement is home
                page = held.setdefault(sourced.key, {})
                page[slot] = max(1.0 if at_home else _ELSEWHERE, page.get(slot, 0.0))
    return held


def row_matches(query: Query, index: FilingIndex, doc_ids: Collection[str]) -> dict[PageKey, tuple[float, float]]:
    """Return (score of the best row of a statement, of any table) of each page, by Dice's coefficient (Dice 1945).

    It is 1 for a label with the question's words and no others.
    """
    asked = stem_set(" ".join(query.terms))
    if not asked:
        return {}
    periods = {(period.fiscal_year, period.quarter) for period in query.periods}
    best: dict[PageKey, tuple[float, float]] = {}
    for row in index.row_labels(doc_ids, holding={word[:_LETTERS] for word in asked}):
        words = _stems(row.label)
        if not asked & words:
            continue
        likeness = 2 * len(asked & words) / (len(asked) + len(words))
        if periods and (row.fiscal_year, row.quarter) not in periods:
            likeness *= _OTHER_PERIOD
        key = PageKey(row.doc_id, row.page)
        of_statement, of_any_table = best.get(key, (0.0, 0.0))
        of_statement = of_statement if row.statement is None else max(of_statement, likeness)
        best[key] = of_statement, max(of_any_table, likeness)
    return best


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
    sought = stem_set(" ".join((*query.terms, *query.synonyms, *query.expansions)))
    named: list[tuple[float, str, set[str]]] = []
    for words, number in listed_pages(contents.page.text):
        stems = {stem for stem in stem_set(words) if stem.isalpha()}
        weights = weights_of(stems, index.document_frequencies(stems), index.page_count())
        if overlap(sought, weights) >= _SOUGHT:
            named.append((sum(weights[stem] for stem in stems & sought), number, stems))
    _, wanted, stems = max(named, key=lambda entry: entry[0], default=(0.0, "", set[str]()))
    pages = [stored.page for stored in index.pages(index.filing(contents.doc_id).page_keys)] if wanted else []
    for page in pages:
        beside = pages[max(0, page.number - 1) : page.number + 2]
        if printed_number(page, beside) == wanted and stems <= stem_set(page.text):
            return PageKey(contents.doc_id, page.number)
    return None


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
    stored = grouped((passage.key, passage) for passage in index.passages([page.key for page in pages]))
    ranked: list[RankedPassage] = []
    for page in pages:
        scored = []
        for passage in stored.get(page.key, ()):
            stems = stem_set(passage.passage.text)
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
    keys = [page.key for page in pages]
    wanted = {slot.metric for slot in query.slots if not slot.is_searched}
    named = workspace.index.facts({key.doc_id for key in keys}, metrics=wanted, pages=keys) if wanted else []
    found = (*named, *(printed for printed in query.printed if printed.key in keys))
    filling = (fact for fact in found if any(fills_slot(fact, slot, metrics, owners) for slot in query.slots))
    return grouped((fact.key, fact) for fact in filling)
