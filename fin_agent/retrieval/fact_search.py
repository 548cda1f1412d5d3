"""Fact search: rank the figures of filings by the words of their addresses, for a phrase, a period and a part.

The address of a fact is everything printed around it: the row's label, the headings above, the column, the scope, and
the concept and members of its tag. The score counts differences in both directions: words of the phrase that no part of
the address matches, and words of the address that the phrase does not contain.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from fin_agent.index.protocol import FilingEntry, FilingIndex, PageKey, SourcedFact
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.text_normalization import MAX_LABEL_LENGTH, plain
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.retrieval.document_ranking import period_fit
from fin_agent.retrieval.fact_terms import (
    LIGHT,
    OF_ANY_CONCEPT,
    OF_PARTS,
    OF_TIME,
    OF_YEARS_TO_COME,
    Address,
    Words,
    address_of,
    clause_count,
    clause_subject,
    in_order,
    is_of_acquisition,
    is_supposed,
    stems,
    without_brackets,
    without_reference,
    words_of,
    years_of,
)
from fin_agent.retrieval.search_query import EVERYTHING, Scope
from fin_agent.retrieval.slot_matching import same_part
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.figure_agreement import are_same_magnitude, magnitudes_agree
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace

T = TypeVar("T")

_PATTERNS = patterns("address_patterns")
_MAX_KEPT = 128
"""Number of filing years whose facts are cached, some hundred facts each."""
_KEPT: WeakKeyDictionary[FilingIndex, tuple[tuple[FilingEntry, ...], dict[str, Any]]] = WeakKeyDictionary()
_PER, _COUNTED_IN = frozenset({"per"}), 1_000
_COUNTED, _OF_MONEY = stems("counted"), stems("of money")
_FILINGS_READ_WHOLE = 16
"""Number of filings up to which all facts of a year are read."""
_PAGES_LOOKED_AT = 150
_SURE = 0.85
_NEAR = 0.05
_LIKELY, _APART, _APART_BY_A_WORD = 0.6, 0.12, 0.15
"""Minimum score of a hit without rivals, and how far behind it hits with other values must be. The last value applies
to hits that lack a word of the phrase."""
_LABELS = 6
"""Number of a metric's labels that replace its name within a longer phrase."""
_IN_HEADINGS, _ELSEWHERE, _ABOVE = 0.92, 0.9, 0.7
"""Credit for a word of the phrase found outside label and concept; the last value is for a caption or a note's
title."""
_EXTRA_LINE, _EXTRA_HEADS, _EXTRA_COLUMN = 0.45, 0.06, 0.06
"""Penalty where no word of the line (of its headings, its column) is in the phrase."""
_TO_THE_LETTER = 0.13
"""Bonus where the line has the words of the phrase itself, not of a synonym."""
_OF_A_TAG = 0.04
"""Additional penalty where only the concept, not the label, is as short as the phrase."""
_MIN_WORDS, _MIN_MEMBERS = 2, 2
"""A phrase of a single word could belong to any longer line; two members of a sum may be chance."""
_OF_A_PART, _OF_MORE_PARTS, _OF_A_CHANGE, _OF_A_SPAN, _OF_ANOTHER_UNIT = 0.3, 0.2, 0.12, 0.15, 0.3
_OF_A_SCHEDULE = 0.35
_OF_THE_SAME_NAME = 0.04
"""Bonus where the part is printed as asked, not only with the same words among others."""
_OF_THE_OTHER_SIDE = 0.15
"""Penalty for a cost where the query asks for income, or for income where it asks for a cost."""
_OF_ANOTHER_METRIC = 0.03
"""Penalty for a figure that the lexicon knows by another metric than the one asked for."""
_OF_A_SUBJECT = 0.95
"""Credit for the subject of a clause that states its amount, beside the label of a row."""
_BEGINNING = 0.12
"""Bonus for a longer label that begins with the words asked for: `Service cost for benefits earned`."""
_UNSAID_PART = 0.12
"""Penalty where the part's words appear in the label or column, and nothing marks them as the name of a part."""
_CAPTION_END = 120
"""Characters at the end of a caption that say what its table is of."""
_ON_A_STATEMENT, _AT_HOME, _OF_EQUITY, _UNTIED, _OF_NO_PERIOD = 0.04, 0.03, -0.04, -0.02, -0.1
_TOTAL = words_of("total")
_SHORTEST_FORM, _LONGEST_NAME, _MOST_FORMS = 3, 60, 6
OF_ANY_FIGURE = stems("of any figure")
"""Words of a phrase that only say that a figure is meant; an address does not need to match them."""
_RATE, _CHANGE, OPENING = stems("rate"), stems("change"), stems("opening")
_OF_SHARES, _OF_OTHER_SHARES = stems("of shares"), stems("of other shares")
_OF_COUNTS = stems("of counts")
_PER_SHARE, _PRICE = frozenset(("per", "share")), words_of("price")
NARROWING = words_of("current noncurrent")
_OF_ADDING, _OF_COMPANIES = stems("of adding"), stems("of companies")
_EXCLUDING, _OF_COSTS = "excluding ", "expense"
_NOUNS_OF_BALANCES, _OF_A_FIGURE = stems("of balances"), stems("of a figure")
_OF_BALANCES = words_of("balance beginning opening start end ending close closing period fiscal year")


@dataclass(frozen=True, slots=True)
class FactQuery:
    """A figure to search for."""

    phrase: str
    """Words of a printed line, such as `long-lived assets` or `content obligations`. Empty where `metric` is enough."""
    fiscal_year: int | None = None
    """The fiscal year as the filer names it; None for any."""
    quarter: int | None = None
    months: int | None = None
    """0 for a balance; 3, 6, 9 or 12 for a span; None where quarter or year determine it."""
    part: str | None = None
    """A segment, product, region or customer; None for the whole company."""
    metric: str | None = None
    """The metric of the lexicon that the phrase names, if known."""


@dataclass(frozen=True, slots=True)
class FactHit:
    """A fact found, with how well it matches the query."""

    sourced: SourcedFact
    score: float
    """About 1 if the address matches every word of the phrase and the line has no others; lower for each difference."""
    missing: tuple[str, ...] = ()
    """Words of the phrase that no part of the address matches."""
    extra: tuple[str, ...] = ()
    """Words of the fact's line that the phrase does not contain."""

    @property
    def is_complete(self) -> bool:
        """Whether the address matches every word of the phrase."""
        return not self.missing


@dataclass(frozen=True, slots=True)
class FactSearchResult:
    """The hits of a fact search, best first."""

    hits: tuple[FactHit, ...]
    rivals: tuple[FactHit, ...] = ()
    """The best hit and hits of its filing with other values whose scores are too close to choose; empty where it is
    clear."""
    alone: bool = False
    """Whether no hit with another value scores close to the best one. The line of the best hit may then have more
    words."""

    @property
    def best(self) -> FactHit | None:
        """The best hit; None where nothing was found."""
        return self.hits[0] if self.hits else None

    @property
    def matches(self) -> tuple[FactHit, ...]:
        """The hits that match the query as far as words can tell: complete, and scored close to the best one."""
        best = self.best
        least = _LIKELY if self.alone else _SURE
        if best is None or not best.is_complete or best.score < least:
            return ()
        near, same = max(least, best.score - _NEAR), best.sourced.fact
        complete = (hit for hit in self.hits if hit.is_complete and not self._yields(hit, best))
        if self.alone:
            return tuple(one for one in complete if one.score >= least and are_same_magnitude(one.sourced.fact, same))
        return tuple(hit for hit in complete if hit.score >= near)

    def _yields(self, hit: FactHit, best: FactHit) -> bool:
        """Return whether a note of the best hit's filing prints another value where a row of a statement is clear."""
        fact, chosen = hit.sourced.fact, best.sourced.fact
        noted = chosen.statement is not None and fact.statement is None and hit.sourced.doc_id == best.sourced.doc_id
        return noted and not self.rivals and not magnitudes_agree(fact, chosen)

    @property
    def is_sure(self) -> bool:
        """Whether the best hit matches the query and no hit with another value rivals it."""
        return bool(self.matches) and not self.rivals


def find_facts(
    workspace: Workspace,
    query: FactQuery,
    *,
    company: str | None = None,
    scope: Scope = EVERYTHING,
    limit: int = 20,
) -> FactSearchResult:
    """Return the facts of an index that match `query` best, best first.

    Of hits with equal scores, those in the report for the period asked about come first. Where there are more filings
    than can be read at once, only pages that contain words of the phrase are read.

    Args:
        workspace: The index with its companies and lexicon.
        query: The figure to search for.
        company: Key of a company in the directory, or None for all companies.
        scope: The filings and pages that may be read.
        limit: The most hits to return.
    """
    directory, index = workspace.directory, workspace.index
    doc_ids = directory.by_key[company].doc_ids if company is not None else tuple(directory.identities)
    if scope.filings is not None:
        doc_ids = tuple(doc_id for doc_id in doc_ids if doc_id in scope.filings)
    years = None if query.fiscal_year is None else (query.fiscal_year,)
    pages: list[PageKey] | None = None
    if len(doc_ids) > _FILINGS_READ_WHOLE:
        words = sorted(_FactPhrase.of(query, workspace.lexicon).printed)
        within = None if company is None and scope.filings is None else doc_ids
        pages = [hit.key for hit in index.search_pages(words, doc_ids=within, limit=_PAGES_LOOKED_AT)]
        doc_ids = tuple({key.doc_id for key in pages})
    if pages is None and query.fiscal_year is not None:
        facts = facts_of_year(index, doc_ids, query.fiscal_year)
        if _asks_for_opening(query):
            facts = [*facts, *facts_of_year(index, doc_ids, query.fiscal_year - 1)]
    else:
        facts = [with_own_unit(each) for each in index.facts(doc_ids, pages=pages, years=years)] if doc_ids else []
    fits = {doc_id: period_fit_of(query, directory.identities[doc_id]) for doc_id in doc_ids}
    ordered = sorted((each for each in facts if scope.holds(each.key)), key=lambda each: -fits[each.doc_id])
    return search_facts(ordered, query, workspace.lexicon, limit)


def facts_of_year(index: FilingIndex, doc_ids: Sequence[str], year: int) -> list[SourcedFact]:
    """Return the facts of one fiscal year in these filings, in their own units, in the order of `doc_ids`.

    Recent reads are cached.
    """
    kept: dict[tuple[str, int], list[SourcedFact]] = kept_for(index).setdefault("years", {})
    lacking = [doc_id for doc_id in doc_ids if (doc_id, year) not in kept]
    stated = index.facts(lacking, years=[year]) if lacking else []
    read = grouped((sourced.doc_id, with_own_unit(sourced)) for sourced in stated)
    found = []
    for doc_id in doc_ids:
        facts = read.get(doc_id, []) if doc_id in lacking else kept.pop((doc_id, year))
        kept[doc_id, year] = facts
        found += facts
    while len(kept) > _MAX_KEPT:
        del kept[next(iter(kept))]
    return found


def kept_for(index: FilingIndex) -> dict[str, Any]:
    """Return what is kept of an index, by kind, until its list of filings changes."""
    kept, entries = _KEPT.get(index), index.entries()
    if kept is None or kept[0] is not entries:
        kept = _KEPT[index] = entries, {}
    return kept[1]


def kept_once(index: FilingIndex, kind: str, key: Hashable, make: Callable[[], T], *, most: int) -> T:
    """Return what `make` returns, kept for an index under `kind` and `key`; the `most` that were last used are kept."""
    kept = kept_for(index).setdefault(kind, {})
    found: T | None = kept.pop(key, None)
    kept[key] = known = make() if found is None else found
    while len(kept) > most:
        kept.pop(next(iter(kept)), None)
    return known


def period_fit_of(query: FactQuery, identity: Identity) -> float:
    """Return how well a filing fits the period of a query; the report for that period fits best."""
    if query.fiscal_year is None:
        return float(identity.fiscal_year or 0)
    return period_fit(FiscalPeriod(fiscal_year=query.fiscal_year, quarter=query.quarter), identity)


def with_own_unit(sourced: SourcedFact) -> SourcedFact:
    """Return the figure as a count or an amount per unit where its words say so, without the scale of the table.

    Tables of aircraft or stores appear among tables in millions of dollars without a unit of their own, and `Revenue
    per hundredweight` appears among rows in millions. A table in thousands counts in thousands as well. A unit of the
    filer's own (`nflx:membership`) is a count.
    """
    fact = sourced.fact
    if ":" in fact.unit:
        return replace(sourced, fact=replace(fact, unit="count"))
    if fact.statement is Statement.CASH_FLOW and fact.unit == "shares" and fact.tag is None:
        return replace(sourced, fact=replace(fact, unit="USD"))  # `Common shares repurchased`
    if fact.tag is not None or fact.metric is not None or fact.statement is not None:
        return sourced
    bracket = _PATTERNS["unit of a column"].search(" ".join(fact.column_path))
    if bracket is not None and fact.source != "text":
        return replace(sourced, fact=replace(fact, unit="percent" if "%" in bracket[0] else "count", scale=1))
    if fact.unit != "USD":
        return sourced
    address = address_of(fact)
    last = fact.caption.rpartition(". ")[2]  # a paragraph above it is about other figures
    caption = _PATTERNS["scale alone"].sub("", last) if "(" in last else last
    around = address.line | address.heads | address.column | words_of(caption)
    rows = " ".join(fact.row_path)
    per_unit = bool((address.line | address.heads) & _PER) and fact.source != "text"
    if not per_unit and (not around & _COUNTED or around & _OF_MONEY):
        return sourced
    said = not per_unit and (fact.scale <= _COUNTED_IN or caption != last)
    scale = fact.scale if said or re.search(r"\b(?:thousand|million|billion)s?\b|000", rows, re.I) else 1
    return replace(sourced, fact=replace(fact, unit="USD" if per_unit else "count", scale=scale))


def search_facts(facts: Iterable[SourcedFact], query: FactQuery, lexicon: Lexicon, limit: int = 20) -> FactSearchResult:
    """Return `facts`, which are in their own units, ranked for `query`, best first; equal ones keep their order."""
    asked = _FactPhrase.of(query, lexicon)
    fitting = _in_tagged_scale([sourced for sourced in facts if matches_period(sourced.fact, query)])
    fitting = fitting if query.part else _without_subtotals(_without_sections_of_parts(fitting))
    fitting = [one for one in fitting if not is_supposed(one.fact, asked.printed)]
    fitting = [one for one in fitting if not is_of_acquisition(one.fact) or asked.printed & words_of(one.fact.caption)]
    weigh = word_weights(frozenset(each.fact.label for each in fitting if each.fact.source != "text"))
    hits = _statement_first(_ranked(fitting, asked, weigh))
    if hits and asked.metric is None and hits[0].extra:
        hits = _without_wider(hits)
    # Labels of the lexicon are other words for a metric, unless it is looked for by what the question calls it.
    own = asked.metric is None or bool(query.metric and query.phrase)
    if own and not any(hit.is_complete and hit.score >= _SURE for hit in hits[:1]):
        wider = asked.with_abbreviations_expanded(fitting)
        hits = hits if wider is None else _statement_first(_ranked(fitting, wider, weigh))
    bearing = [hit for hit in hits if asked.part <= _subject_of(hit.sourced.fact)]
    if asked.part and any(hit.is_complete and hit.score >= _LIKELY for hit in bearing):
        hits = bearing  # of the others, only the text above speaks of the part
    if not hits:
        return FactSearchResult(())
    said = asked.phrase | asked.part
    near = list(itertools.takewhile(lambda hit: hit.score > hits[0].score - _APART, hits))
    bare = own and address_of(hits[0].sourced.fact).line <= LIGHT  # a total of its whole table
    if not hits[0].is_complete:
        # Another print of the same figure may say what the best one lacks.
        hits = _moved_first(hits, (hit for hit in near if hit.is_complete and _have_same_figure(hit, near[0])))
    rated = [hit for hit in near if hit.is_complete and (bare or hit.score >= hits[0].score - _NEAR)]
    top = hits[0]
    hits = _moved_first(hits, (hit for hit in rated if _is_less_specific(top, hit, said)))
    best = hits[0]
    if best.is_complete:
        hits = [hit for hit in hits if hit.score < best.score - _NEAR or not _is_less_specific(hit, best, said)]
    hits = _literal_first(hits, query.phrase)
    if hits[0].sourced.fact.source == "text":  # a row that prints the same figure goes before an amount of a sentence
        rows = (hit for hit in hits if hit.sourced.fact.source != "text" and hit.is_complete and hit.score >= _LIKELY)
        hits = _moved_first(hits, (hit for hit in rows if _have_same_figure(hit, hits[0])))
    home = asked.metric.statement if asked.metric is not None else None
    at_home = home is not None and hits[0].sourced.fact.statement is home  # no note rivals the statement of the metric
    rivals = _rivals([hit for hit in hits if not at_home or hit.sourced.fact.statement is home], said)
    whole = _whole_among(hits, said) if rivals and not query.part else None
    if whole is not None:
        return FactSearchResult((replace(whole, score=max(whole.score, _SURE)),))
    spoken = _as_spoken(query.phrase)
    told, against = (tuple(_in_words(hit, spoken) for hit in some) for some in (hits[:limit], rivals))
    own = own or is_literal(hits[0], query.phrase)
    return FactSearchResult(told, against, own and _is_unrivalled(hits, said, query.phrase))


def _is_of_two(label: str, asked: Words) -> bool:
    """Return whether a row is of two of a kind, of which one is asked for: `common stock and preferred stock`."""
    found = _PATTERNS["two of a kind"].search(without_brackets(label)) if " and " in label else None
    return found is not None and sum(words_of(one) <= asked for one in found.group("one", "other")) == 1


def is_of_two_countries(fact: Fact, said: Words) -> bool:
    """Return whether all that names the United States names a country beside it that nobody said: `US and Canada`."""
    if not said >= _UNITED_STATES:
        return False
    naming = [each for each in (fact.label, fact.scope or "", *fact.section, *fact.column_path, fact.caption) if each]
    beside = [other for each in naming if (other := _joined_with_us(each)) is not None]
    return bool(beside) and all(other - said for other in beside)


_UNITED_STATES = words_of("United States")
_TITLES = re.compile(r"[.:;]\s+")


@lru_cache(maxsize=20_000)
def _joined_with_us(text: str) -> Words | None:
    """Return the words that a text joins to the United States; none where it stands alone, None if it is not named."""
    if not words_of(text) >= _UNITED_STATES:
        return None
    named = [each for each in _TITLES.split(without_brackets(text)) if words_of(each) >= _UNITED_STATES]
    sides = [[words_of(side) for side in each.split(" and ")] for each in named]
    joint = bool(sides) and all(len(each) == 2 and _UNITED_STATES in each for each in sides)
    return frozenset().union(*itertools.chain(*sides)) - _UNITED_STATES if joint else frozenset()


def _moved_first(hits: list[FactHit], chosen: Iterator[FactHit]) -> list[FactHit]:
    """Return the hits with the first of those chosen, if any, at the beginning."""
    first = next(chosen, None)
    return hits if first is None else [first, *(hit for hit in hits if hit is not first)]


def _have_same_figure(one: FactHit, other: FactHit) -> bool:
    first, second = one.sourced.fact, other.sourced.fact
    of_one_sentence = first.source == second.source == "text" and first.label == second.label
    if of_one_sentence and first.amount != second.amount:
        return False  # `$13 million and $12 million, respectively`
    return are_same_magnitude(first, second)


def _without_sections_of_parts(facts: Sequence[SourcedFact]) -> list[SourcedFact]:
    """Return the facts without company-level figures that another table attributes to a part.

    A page about `North America` prints a row under the same name as the table of all regions does. The figure is
    dropped only where the whole company has a different figure for that row.
    """
    rows = [_row_of(each) for each in facts]
    values: dict[bool, dict[_Row, set[Decimal]]] = {True: defaultdict(set), False: defaultdict(set)}
    for row, each in zip(rows, facts, strict=True):
        values[each.fact.scope is None][row].add(each.fact.value)
    of_parts = values[False]
    apart = {row for row, own in values[True].items() if not own <= of_parts.get(row, own)}
    return [
        each
        for row, each in zip(rows, facts, strict=True)
        if (each.fact.scope, each.fact.statement) != (None, None)
        or row not in apart
        or each.fact.value not in of_parts[row]
    ]


def _in_tagged_scale(facts: Sequence[SourcedFact]) -> list[SourcedFact]:
    """Return the facts without prints of a tagged figure in another scale, as in a table whose unit was not read."""
    tagged = {_print_of(each): each.fact.scale for each in facts if each.fact.tag is not None and each.fact.metric}
    return [each for each in facts if each.fact.tag or tagged.get(_print_of(each), each.fact.scale) == each.fact.scale]


def _print_of(each: SourcedFact) -> tuple[object, ...]:
    return each.doc_id, each.fact.metric, each.fact.scope, each.fact.period, each.fact.unit, each.fact.amount


def _without_subtotals(facts: Sequence[SourcedFact]) -> list[SourcedFact]:
    """Return the facts without the smaller total columns of a row: `Total brand` next to `Total company`."""
    totals = grouped(
        ((*_row_of(each), each.fact.page, each.fact.line), each)
        for each in facts
        if each.fact.scope is None and each.fact.statement is None and _TOTAL & address_of(each.fact).column
    )
    most = {row: max(abs(each.fact.value) for each in held) for row, held in totals.items()}
    lesser = {id(each) for row, held in totals.items() for each in held if abs(each.fact.value) < most[row]}
    return [each for each in facts if id(each) not in lesser]


_Row = tuple[str, str, FactPeriod]


def _row_of(each: SourcedFact) -> _Row:
    return each.doc_id, each.fact.label.casefold(), each.fact.period


def _literal_first(hits: list[FactHit], phrase: str) -> list[FactHit]:
    """Return the hits; of the best hit's table, only rows with exactly the words of the phrase, where there are any.

    Such a row of another table comes first too if the best hit's row lacks some of the words, which only its caption
    has: `Average capital` below `Return on average capital`.
    """
    near = list(itertools.takewhile(lambda hit: hit.score >= hits[0].score - _NEAR, hits))
    literal = next((hit for hit in near if _of_one_table(hit, hits[0]) and is_literal(hit, phrase)), None)
    literal = literal or next((hit for hit in hits if hit.score >= _LIKELY and is_literal(hit, phrase)), None)
    if literal is None or not _is_beside(hits[0], literal):
        return hits
    named = [hit for hit in hits if hit.score > hits[0].score - _APART and _is_named_by_heading(hit, phrase)]
    if named and not literal.sourced.fact.statement:
        # `Revenues: Product support` of the statement, beside adjustments of `Product support revenues`
        return [*named, *(hit for hit in hits if hit not in named and not is_literal(hit, phrase))]
    beside = {hit.sourced.fact.label for hit in hits if not is_literal(hit, phrase) and _is_beside(hit, literal)}
    others = (hit for hit in hits if hit.sourced.fact.label not in beside)  # nor those of reports of other years
    ordered = [literal, *(hit for hit in others if hit is not literal)]
    least = literal.score - _NEAR
    return [
        replace(hit, score=max(hit.score, _SURE)) if hit.score >= least and is_literal(hit, phrase) else hit
        for hit in ordered
    ]


def _is_named_by_heading(hit: FactHit, phrase: str) -> bool:
    """Return whether a row of a statement has the words of a phrase together with its heading, and no others."""
    fact, words = hit.sourced.fact, words_of(phrase)
    line, heads = address_of(fact).line, address_of(fact).heads
    return fact.statement is not None and line < words <= line | heads and hit.is_complete and not hit.extra


def _is_beside(hit: FactHit, literal: FactHit) -> bool:
    """Return whether a row is on the page or statement of one that is called as asked, or says no more than it."""
    statement = literal.sourced.fact.statement
    of_statement = statement is not None and hit.sourced.fact.statement is statement  # of another year's report, too
    return hit.sourced.key == literal.sourced.key or of_statement or _row_says_no_more(hit, literal)


def _row_says_no_more(hit: FactHit, literal: FactHit) -> bool:
    """Return whether a row has no other words than one that is called exactly as asked."""
    one, other = (address_of(each.sourced.fact) for each in (hit, literal))
    return one.line <= other.line and hit.sourced.fact.source == literal.sourced.fact.source != "text"


def is_literal(hit: FactHit, phrase: str) -> bool:
    """Return whether a row is called exactly what is asked for; words that only bind, and brackets, may be left out."""
    label, asked = without_reference(hit.sourced.fact.label), in_order(phrase)
    binding = word_lists("fact_words")["binding"]
    forms = (label, without_brackets(label), expand_abbreviations(label)) if "(" in label else (label,)
    names = [in_order(form) for form in forms]
    return hit.is_complete and asked in (*names, tuple(word for word in names[0] if word not in binding))


def _of_one_table(hit: FactHit, other: FactHit) -> bool:
    if (hit.sourced.fact.source == "text") is not (other.sourced.fact.source == "text"):
        return False
    return _table_of(hit.sourced) == _table_of(other.sourced)


def _is_unrivalled(hits: Sequence[FactHit], asked: Words, phrase: str) -> bool:
    """Return whether one figure matches all words of the phrase, and no other value of its filing is close."""
    best = hits[0]
    if not best.is_complete or best.sourced.fact.source == "text":
        return False  # words of a clause are of more than its amount
    if len(asked - OF_ANY_FIGURE) < _MIN_WORDS and not is_literal(best, phrase):
        return False
    own = address_of(best.sourced.fact)
    near = itertools.takewhile(lambda hit: hit.score > best.score - _APART_BY_A_WORD, hits)
    return all(
        _have_same_figure(hit, best)
        or hit.sourced.doc_id != best.sourced.doc_id
        or (hit.is_complete and (hit.score <= best.score - _APART or _is_less_specific(hit, best, asked)))
        or (own.line | own.column | own.scope).intersection(hit.missing)  # they say what the other one lacks
        for hit in near
    )


def _is_less_specific(hit: FactHit, best: FactHit, asked: Words) -> bool:
    """Return whether the best hit's row and column contain more of the words asked for than those of one in its table.

    The caption is not counted, because it applies to all figures of a table: operating and finance leases alike. A row
    that only its heading names, `Nonvested shares > Granted`, says less than one with that name.
    """
    if not _of_one_table(hit, best):  # an amount of a clause that says more than the row
        in_row = best.sourced.fact.source != "text" and address_of(best.sourced.fact).aside.issuperset(best.extra)
        more = len(hit.extra) > len(best.extra) or in_row
        more = more and hit.sourced.doc_id == best.sourced.doc_id
        return more and hit.sourced.fact.source == "text" != best.sourced.fact.source
    said, better = (_subject_of(each.sourced.fact) & asked for each in (hit, best))
    own, of_best = (address_of(each.sourced.fact).line & asked for each in (hit, best))
    return said < better or (said == better and own < of_best)


def _subject_of(fact: Fact) -> Words:
    address = address_of(fact)
    return address.line | address.heads | address.column | address.scope | address.members


def _ranked(facts: Sequence[SourcedFact], asked: _FactPhrase, weigh: Weigh) -> list[FactHit]:
    printed, metric = asked.printed, asked.metric.id if asked.metric is not None else ""
    near = (one for one in facts if one.fact.metric == metric or not printed.isdisjoint(address_of(one.fact).borne))
    hits = [hit for sourced in near if (hit := asked.hit(sourced, weigh)) is not None]
    bare = {_table_of(hit.sourced) for hit in hits if address_of(hit.sourced.fact).line <= LIGHT}
    if bare and printed.isdisjoint(OF_YEARS_TO_COME):
        # The bare total of a table with rows for years to come is what falls due, not what the balance sheet shows.
        due = Counter(_table_of(each) for each in facts if address_of(each.fact).borne >= OF_YEARS_TO_COME)
        for place, hit in enumerate(hits):
            if due[_table_of(hit.sourced)] > 1 and address_of(hit.sourced.fact).line <= LIGHT:
                hits[place] = replace(hit, score=hit.score - _OF_A_SCHEDULE)
    return sorted(hits, key=lambda hit: -round(hit.score, 6))


def _table_of(each: SourcedFact) -> tuple[PageKey, str]:
    return each.key, each.fact.caption


def _statement_first(hits: list[FactHit]) -> list[FactHit]:
    """Return the hits with a row of a statement first, where the best hit is in a note and matches no more words."""
    if not hits or hits[0].sourced.fact.statement is not None or not hits[0].is_complete:
        return hits
    if hits[0].sourced.fact.source == "text":  # a row that is called so goes before a clause
        rows = (hit for hit in hits if hit.score > hits[0].score - _APART and hit.sourced.fact.source != "text")
        told = _told_of(hits[0].sourced.fact)
        above = ((hit, told & words_of(hit.sourced.fact.caption)) for hit in rows if hit.is_complete and not hit.extra)
        hits = _moved_first(hits, (hit for hit, words in above if words <= _subject_of(hit.sourced.fact)))
    near = itertools.takewhile(lambda hit: hit.score >= hits[0].score - _NEAR, hits)
    stated = (hit for hit in near if hit.sourced.fact.statement not in (None, Statement.EQUITY))
    return _moved_first(hits, (hit for hit in stated if hit.is_complete and len(hit.extra) <= len(hits[0].extra)))


def _without_wider(hits: list[FactHit]) -> list[FactHit]:
    """Return the hits without rows that join the line asked for to another: `Cloud services and license support`.

    They stay where no row is called so alone.
    """
    near = itertools.takewhile(lambda hit: hit.score > hits[0].score - _APART, hits)
    rows = (hit for hit in near if hit.sourced.fact.source != "text")
    called = next((hit for hit in rows if hit.is_complete and not hit.extra), None)
    if called is None:
        return hits
    own = words_of(called.sourced.fact.label)
    first = (hit.sourced.fact.label.partition(" and ") for hit in hits)
    return [hit for hit, (one, joined, _) in zip(hits, first, strict=True) if not joined or words_of(one) != own]


def _in_words(hit: FactHit, spoken: Mapping[str, str]) -> FactHit:
    """Return the hit with words in place of stems."""
    printed = _as_spoken(hit.sourced.fact.label)
    missing = tuple(spoken.get(word, word) for word in hit.missing)
    return replace(hit, missing=missing, extra=tuple(printed.get(word, word) for word in hit.extra))


def _as_spoken(text: str) -> dict[str, str]:
    return {form: word for word in reversed(plain(text).split()) for form in words_of(word)}


def matches_period(fact: Fact, query: FactQuery) -> bool:
    """Return whether the fact covers the year or quarter, and the span or instant, that the query asks for."""
    period = fact.period
    if query.fiscal_year is None:
        return query.months is None or query.months == period.months
    opens = not period.months and _asks_for_opening(query) and bool(words_of(fact.label) & OPENING)
    if period.fiscal_year + opens != query.fiscal_year:  # the balance at the beginning of a year is of the day before
        return False
    if query.months in (6, 9):
        return period.months == query.months and period.quarter in (None, query.quarter)
    spans = (0, 3 if query.quarter else 12) if query.months is None else (query.months,)
    if query.months == 0 and fact.tag is None and fact.statement is None and not query.quarter:
        spans = (0, 12)  # balances in tables of years
    if period.quarter is None and query.quarter == 1:
        return period.months == 3 and 3 in spans
    return period.quarter == query.quarter and period.months in spans


def _asks_for_opening(query: FactQuery) -> bool:
    return bool(words_of(query.phrase) & OPENING)


Weigh = Callable[[str], float]


@lru_cache(maxsize=8)
def word_weights(labels: frozenset[str]) -> Weigh:
    """Return the function that weighs words: the fewer of these lines contain a word, the higher its weight."""
    counts = Counter(word for label in labels for word in words_of(label))
    return lru_cache(maxsize=None)(lambda word: math.log(2 + len(labels) / (1 + counts[word])))


def synonym_wordings(query: FactQuery, lexicon: Lexicon) -> tuple[tuple[Words, ...], Metric | None]:
    """Return the sets of words that a matching line may be printed with, and the metric that the query names.

    The words of the query itself come first.
    """
    asked = _FactPhrase.of(query, lexicon)
    return tuple(words for words in (asked.phrase, *asked.wordings) if words), asked.metric


@dataclass(frozen=True, slots=True)
class _FactPhrase:
    phrase: Words
    wordings: tuple[Words, ...]
    """Other wordings of the phrase: labels of the metrics that it names."""
    metric: Metric | None
    """The metric that the whole phrase names."""
    part: Words
    part_name: str | None
    is_balance: bool
    """Whether the query asks for an instant rather than a span."""
    opposites: frozenset[str]
    """Metrics of the same statement that are costs where the metric is income, or the other way round."""
    left_out: Words
    """Words that no address may have: `excluding interest: principal due 2024`."""

    @classmethod
    def of(cls, query: FactQuery, lexicon: Lexicon) -> _FactPhrase:
        of_part = words_of(query.part or "")
        part = of_part - OF_PARTS or of_part  # `the energy business`
        phrase = without_reference(query.phrase)
        left_out, _, rest = phrase.partition(": ")
        barred = words_of(left_out.removeprefix(_EXCLUDING)) if left_out.startswith(_EXCLUDING) else frozenset[str]()
        phrase = rest if barred else phrase
        metric = lexicon.metrics.get(query.metric or "_".join(phrase.lower().split()))
        texts = [phrase]
        for mention in lexicon.mentions(phrase) if len(phrase) <= MAX_LABEL_LENGTH else ():  # longer ones name no line
            if mention.kind != "metric":
                continue
            named = lexicon.metrics[mention.id]
            before, after = phrase[: mention.start], phrase[mention.end :]
            if not words_of(f"{before} {after}"):
                metric = metric or named
            texts += (f"{before} {label} {after}" for label in labels_of(named))
        if metric is not None and words_of(phrase) == words_of(metric.id.replace("_", " ")):
            texts += labels_of(metric)  # an input of a formula
        if metric is not None and not phrase:
            texts = list(labels_of(metric))
        own, *ways = map(words_of, texts if phrase else ("", *texts))
        # A name with words less says less: `operating lease liabilities` is no other name for the long-term ones.
        ways = [words for words in ways if not words <= own] + _synonym_words("".join(texts[:1]))
        # One word of a phrase alone names something else: `current` for `current portion`.
        others = tuple(dict.fromkeys(words for words in ways if words != own and (len(words) > 1 or words - own)))
        is_balance = (
            query.months == 0 or (metric is not None and metric.period == "instant") or _asks_for_opening(query)
        )
        opposites = frozenset(
            one.id
            for one in lexicon.metrics.values()
            if metric is not None and one.statement is metric.statement is Statement.INCOME
            if (one.sign == _OF_COSTS) is not (metric.sign == _OF_COSTS)
        )
        return cls(own, others, metric, part, query.part, is_balance, opposites, barred)

    @property
    def printed(self) -> Words:
        """All words that a matching line may contain."""
        return self.phrase.union(self.part, *self.wordings)

    def with_abbreviations_expanded(self, facts: Sequence[SourcedFact]) -> _FactPhrase | None:
        """Return the phrase with abbreviations expanded as the facts print them, without words that only mean `figure`.

        Return None where that changes nothing.
        """
        printed = frozenset[str]().union(*(address_of(sourced.fact).borne for sourced in facts))
        ways = [self.phrase, *self.wordings]
        light = OF_ANY_FIGURE - self.part
        # Words that only begin alike need another word beside them: `cap` alone is no `capacity`.
        begun = printed if len(self.phrase - light) > 1 else frozenset()
        forms = {word: expansions_of(word, begun, facts) for word in sorted(self.phrase - light - printed - self.part)}
        pairs = [pair for pair in itertools.permutations(sorted(forms), 2) if "".join(pair) in printed]
        written: list[Words] = []
        for way in ways:
            written += [(way - light - {*pair}) | {"".join(pair)} for pair in pairs if way >= {*pair}]
            these = [way - light]
            for word in sorted(way & forms.keys()):
                these = [(one - {word}) | form for one in these for form in forms[word]][:_MOST_FORMS]
            written += [one for one in these if one]
        wordings = tuple(dict.fromkeys((*self.wordings, *(one for one in written if one != self.phrase))))
        return replace(self, wordings=wordings) if len(wordings) > len(self.wordings) else None

    def hit(self, sourced: SourcedFact, weigh: Weigh) -> FactHit | None:
        """Return how well the fact matches; None where its address matches no wording or lacks the part."""
        fact = sourced.fact
        address = address_of(fact)
        if self.left_out and self.left_out & (address.line | address.heads | address.column):
            return None
        part = self.part
        if not part <= address.borne:
            part = _initials(self.part_name)
            if not part or not part <= address.borne:
                return None
        if is_of_two_countries(fact, self.phrase | part):
            return None
        named = self.metric is not None and fact.metric == self.metric.id
        fitting = [words for words in self.wordings if words <= address.borne]
        if not (named or fitting or fact.source == "text") and self.phrase.isdisjoint(address.borne):
            return None
        uncounted = self.metric is not None and self.metric.unit == "count" and fact.unit != "count"
        called_so = any(LIGHT < address.line | LIGHT <= words | LIGHT for words in self.wordings)
        if uncounted and not named and (fact.metric is not None or not called_so):
            return None  # `Employee benefits > Total` is no number of employees
        of_a_rate = self.metric is not None and self.metric.unit in ("percent", "ratio")
        if fact.unit == "USD" and (of_a_rate or not self.phrase.isdisjoint(_OF_COUNTS)):
            return None  # a `Gross margin` in dollars is no rate, and the sales of `Stores` are no count of stores
        if fact.source != "text" and _is_of_two(fact.label, self.phrase):
            return None
        if address.line <= LIGHT and words_of(fact.caption[-_CAPTION_END:]) & NARROWING - self.phrase - self.part:
            return None  # the total of a table of current debt is not that of all debt
        own, years = address, years_of(fact.period)
        if fact.source == "text":  # beside the question's own words, the figure itself says nothing of which one it is
            own = address._replace(line=address.line - words_of(str(fact.amount)) - _OF_A_FIGURE)
        of_another = not (named or fact.metric is None or self.metric is None)
        if of_another:  # only its own words, and not those above its table, can make it the figure of this metric
            borne = own.line.union(own.heads, own.column, own.scope, own.concept, own.members)
            own = own._replace(borne=own.borne & borne)
        accounts = [(self._account(self.phrase, own, weigh, years, part), self.phrase)]
        if fact.source == "text" and (subject := _told_of(fact) - years - OF_TIME):
            aside = frozenset(word for word in own.net_of - subject - OF_TIME if not word.isdigit())
            spoken = own._replace(line=subject, heads=own.heads | (own.line - subject), net_of=aside)
            for words in (self.phrase, *self.wordings):
                found, lacking, beside = self._account(words, spoken, weigh, years, part)
                accounts.append(((_OF_A_SUBJECT * found, lacking, beside), words))
        if not of_another:
            # The label that several metrics share says nothing of a fact that is known to be another's.
            accounts += [(self._account(words, address, weigh, years, part), words) for words in fitting]
        (score, missing, extra), wording = max(accounts, key=lambda pair: pair[0])
        if named and self.phrase & NARROWING <= address.borne:
            score, missing, extra = max(score, 0.97), (), ()
        if score <= 0:
            return None
        score -= _OF_ANOTHER_METRIC * of_another
        score += self._priors(fact, address, weigh, part, self.phrase | wording, named=named)
        return FactHit(sourced, score, missing, extra)

    def _account(
        self, wording: Words, address: Address, weigh: Weigh, years: Words, part: Words
    ) -> tuple[float, tuple[str, ...], tuple[str, ...]]:
        """Return (score, missing words of the phrase, additional words of the line) for one wording."""
        missing = wording - address.matched_words(self.phrase)
        whole = sum(map(weigh, wording))
        borne = sum(weigh(word) * _credit(word, address, part) for word in wording - missing)
        if not borne:
            return 0.0, (), ()
        line = address.line - part - LIGHT - _OF_COMPANIES
        if years & line:  # `Nonvested as of December 31, 2019` says when
            line -= (years | OF_TIME) - wording
        line = line - _OF_BALANCES or line if self.is_balance else line
        if not line and not wording <= LIGHT:
            above = (address.heads, address.column, address.concept)
            line = next((left for words in above if (left := words - part - LIGHT - OF_PARTS - years)), line)
        extra = line - wording - (OF_PARTS if part else frozenset())
        extra -= _OF_BALANCES if self.is_balance else frozenset()
        if all(word.isdigit() for word in line - OF_TIME):
            extra -= OF_TIME  # `Fiscal 2021`
        cost = sum(map(weigh, extra - address.aside)) / sum(map(weigh, line)) if line else 0.0
        if cost and address.concept:
            more = sum(map(weigh, address.concept - wording - part - OF_ANY_CONCEPT))
            cost = min(cost, _OF_A_TAG / _EXTRA_LINE + more / (sum(map(weigh, address.concept)) or 1.0))
        heads = address.heads - wording - part - address.line
        column = address.column - wording - part - LIGHT - years
        score = borne / whole - _EXTRA_LINE * cost
        score -= _EXTRA_HEADS * (len(heads) / len(address.heads) if heads else 0.0)
        score -= _EXTRA_COLUMN * (len(column) / len(address.column) if column else 0.0)
        if wording is self.phrase and wording - part <= (address.line - part or address.heads) and not extra:
            score += _TO_THE_LETTER
        changes = bool((address.heads | address.line | address.column) & _CHANGE - wording)
        return score - _OF_A_CHANGE * changes, tuple(sorted(missing)), tuple(sorted(extra))

    def _priors(self, fact: Fact, address: Address, weigh: Weigh, part: Words, wording: Words, *, named: bool) -> float:
        said = wording | part
        prior = _OF_NO_PERIOD if fact.source == "undated" else _UNTIED if not fact.tied else 0.0
        of_balances = self.is_balance or (fact.statement is not None and bool(self.phrase & _NOUNS_OF_BALANCES))
        of_flows = self.metric is not None and self.metric.period == "duration"
        if fact.period.months and of_balances and (self.metric is None or self.is_balance):
            prior -= _OF_A_SPAN
        elif of_flows and not fact.period.months:
            prior -= _OF_A_SPAN  # accumulated amortization is no amortization of the year
        if fact.statement is not None:
            prior += _OF_EQUITY if fact.statement is Statement.EQUITY else _ON_A_STATEMENT
        if self.metric is not None and fact.statement is self.metric.statement:
            prior += _AT_HOME
        if fact.metric in self.opposites:
            prior -= _OF_THE_OTHER_SIDE  # `Cost of sales > Services` for `services revenue`
        of_prices = said & _PRICE and fact.unit == "USD" and fact.scale == 1  # `High`, `Low` in a table of prices
        per_share = (said >= _PER_SHARE or said & _PRICE) and not of_prices
        unit = "percent" if said & _RATE and not of_prices else "USD per share" if per_share else ""
        if named:
            unit = self.metric.unit if self.metric else fact.unit
        if (unit and fact.unit != unit) or (not unit and fact.unit in ("percent", "ratio", "USD per share")):
            prior -= _OF_ANOTHER_UNIT
        elif not unit and fact.unit == "shares" and said.isdisjoint(_OF_SHARES):
            prior -= _OF_ANOTHER_UNIT / 2
        if self.metric is not None and self.metric.unit == "shares" and self.is_balance:
            around = address.line | address.heads | address.column | words_of(fact.caption)
            prior -= _OF_ANOTHER_UNIT * bool((around & _OF_OTHER_SHARES) - said)  # options outstanding are no shares
        names = (address.members or address.scope) - OF_ANY_CONCEPT - OF_TIME - _OF_ADDING - years_of(fact.period)
        if names or (fact.scope is not None and not address.scope <= _OF_ADDING):
            share = sum(map(weigh, names - said)) / (sum(map(weigh, names)) or 1.0)
            prior -= share * (_OF_MORE_PARTS if part else _OF_A_PART)
        lead = in_order(fact.label)[: len(address.line & wording)]
        longer = len(lead) > 1 and not address.line <= wording
        if longer and fact.source != "text" and words_of(" ".join(lead)) <= wording:
            prior += _BEGINNING
        if self.part_name is not None and same_part(fact.scope, self.part_name):
            prior += _OF_THE_SAME_NAME
        elif part and not part <= address.scope | address.members:
            # Its words may stand there for the measure: `Other receivables` in the row of all receivables and other.
            named = part == address.line  # `Germany` below `Net sales`
            beside = part <= address.line | address.column
            prior -= 0.0 if named else _UNSAID_PART if beside else 2 * _UNSAID_PART
        return prior


def _told_of(fact: Fact) -> Words:
    """Return the words before the verb by which a clause states its amount, or for what it says the company has."""
    return clause_count(fact.label, fact.amount) if fact.unit == "count" else clause_subject(fact)


def _credit(word: str, address: Address, part: Words) -> float:
    if word in address.line or word in address.concept:
        return 1.0
    if word in address.heads:
        return _IN_HEADINGS
    bare = address.line <= LIGHT and not part
    if word in address.column | address.scope | address.members or (bare and not address.heads):
        return _ELSEWHERE  # a bare `Total` is of what its table is of, unless a heading says that
    return _ABOVE


def _rivals(hits: list[FactHit], asked: Words) -> tuple[FactHit, ...]:
    """Return the best hit and hits of its filing with other values that match as well; empty where there are none.

    A row of a statement, and a figure that several pages print, take precedence over one printed in a single note.
    """
    best = hits[0]
    near = [
        hit
        for hit in hits
        if hit.score >= best.score - _NEAR
        and hit.sourced.doc_id == best.sourced.doc_id
        and len(hit.missing) <= len(best.missing)
    ]
    others = [hit for hit in near if not (_have_same_figure(hit, best) or _is_less_specific(hit, best, asked))]
    total = address_of(best.sourced.fact).line - asked == _TOTAL and not best.sourced.fact.statement
    if total and best.is_complete:  # beside `Total backlog`, `Contractual backlog` is a part of it
        others = [hit for hit in others if not address_of(hit.sourced.fact).line - asked - _TOTAL]
    if others and best.is_complete:
        prints = [{each.sourced.fact.page for each in near if _have_same_figure(each, hit)} for hit in (best, *others)]
        on_statement = best.sourced.fact.statement not in (None, Statement.EQUITY)
        others = [
            hit
            for hit, pages in zip(others, prints[1:], strict=True)
            if not (on_statement and hit.sourced.fact.statement is None and len(hit.extra) >= len(best.extra))
            and not (len(prints[0]) > 1 and len(pages) == 1 and hit.score < best.score)
        ]
    return (best, *others) if others else ()


def _whole_among(hits: Sequence[FactHit], asked: Words) -> FactHit | None:
    """Return the hit that is the sum of all others of its label, such as that of the world beside those of regions.

    A question that names no part asks for it. None where two figures at most have the label of the best hit.
    """
    best = hits[0].sourced
    line = address_of(best.fact).line
    members: dict[Decimal, FactHit] = {}
    for hit in hits:
        fact = hit.sourced.fact
        like = hit.sourced.doc_id == best.doc_id and fact.period == best.fact.period and fact.source != "text"
        if like and hit.is_complete and address_of(fact).line == line and fact.amount > 0:
            members.setdefault(fact.amount, hit)
    most = max(members, default=Decimal(0))
    enough = hits[0].is_complete and hits[0].score >= _LIKELY and len(members) > _MIN_MEMBERS
    rows = {(hit.sourced.fact.page, hit.sourced.fact.line) for hit in members.values()}
    if enough and len(rows) == 1 and _TOTAL.isdisjoint(address_of(members[most].sourced.fact).column):
        return None  # `Cost` and `Unrealized gains` add up to `Fair value` in a row of its table
    return members[most] if enough and 2 * most == sum(members) and len(asked - OF_ANY_FIGURE) >= _MIN_WORDS else None


def expansions_of(word: str, printed: Words, facts: Iterable[SourcedFact]) -> list[Words]:
    """Return what an unmatched word may stand for: two printed words, one that begins with it, names with its initials.

    Examples: `walmart` for `Wal-Mart`, `seg` for `segment`, `apla` for `Asia Pacific & Latin America`.
    """
    if len(word) < _SHORTEST_FORM or not word.isalpha():
        return []
    cuts = range(_SHORTEST_FORM, len(word) - _SHORTEST_FORM + 1)
    pieces = [frozenset((word[:cut], word[cut:])) for cut in cuts if {word[:cut], word[cut:]} <= printed]
    begun = [frozenset((one,)) for one in sorted(printed) if one.startswith(word)]
    names = {
        name for sourced in facts for name in (sourced.fact.scope or "", sourced.fact.label, *sourced.fact.column_path)
    }
    # `cap` is no `Cash paid`: only a name in capitals is also abbreviated by more than its initials
    spelt = {
        words_of(name)
        for name in names
        if len(name) <= _LONGEST_NAME and is_acronym(word, name)
        if name.istitle() or word == "".join(one[0] for one in _words_of_name(name))
    }
    return [*pieces, *begun[:_MOST_FORMS], *sorted(spelt, key=sorted)[:_MOST_FORMS]]


def _words_of_name(name: str) -> list[str]:
    """Return the words of a name that its initials may stand for."""
    return [one for one in re.findall(r"[a-z]+", name.lower()) if one not in ("and", "of", "the")]


@lru_cache(maxsize=1024)
def _initials(part: str | None) -> Words:
    """Return the initials by which tables may name a part: `FLNA` for `Frito-Lay North America`; empty if too few."""
    words = _words_of_name(part or "")
    return frozenset(("".join(one[0] for one in words),)) if len(words) >= _SHORTEST_FORM else frozenset()


def is_acronym(word: str, name: str) -> bool:
    """Return whether an abbreviation is made of the beginnings of a name's words, in order; one word may be skipped."""
    words = _words_of_name(name)
    if not 2 <= len(words) <= len(word) + 1 or words[0][0] != word[0]:
        return False

    reached = {(0, 0)}  # how many letters are used, and how many words skipped
    for own in words:
        begun = [(size, own[:size]) for size in range(1, len(own) + 1)]
        taken = {(at + size, out) for at, out in reached for size, letters in begun if word.startswith(letters, at)}
        reached = taken | {(at, 1) for at, out in reached if not out}
    return any(at == len(word) and len(words) - out > 1 for at, out in reached)


def labels_of(metric: Metric, most: int = _LABELS) -> Iterator[str]:
    """Return the first labels of a metric, without the headings above them."""
    return (label.rpartition(">")[2].strip() for label in metric.labels[:most])


def _synonym_words(text: str) -> list[Words]:
    """Return the words of a text with each known phrase replaced by another phrase of its group."""
    words = words_of(text)
    return [
        (words - held) | other
        for group in _groups()
        for held in group
        if held <= words
        for other in group
        if other != held
    ]


@lru_cache(maxsize=1)
def _groups() -> tuple[tuple[Words, ...], ...]:
    lists = word_lists("fact_phrases")
    return tuple(tuple(sorted({words_of(phrase) for phrase in lists[name]}, key=sorted)) for name in sorted(lists))
