"""Find the figure that matches a question best, for questions in which no grammar rule finds a printed line.

Features that need no vocabulary compare each figure of the company and period with the words of the question: how many
words its address matches and where, which words of the address the question lacks, the period, the unit and the kind of
place. One logistic model ranks the figures; a second one estimates the probability that the best figure is the one
asked for. Both were fitted to questions written for randomly drawn figures (benchmarks/nearest_figure.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import load_yaml, word_lists
from fin_agent.retrieval.fact_search import Weigh, facts_of_year, labels_of, word_weights
from fin_agent.retrieval.fact_terms import (
    LIGHT,
    OF_ANY_CONCEPT,
    OF_PARTS,
    OF_TIME,
    Address,
    Words,
    address_of,
    clause_figure,
    is_supposed,
    stems,
    words_in_order,
    words_of,
    years_of,
)
from fin_agent.retrieval.sibling_cells import siblings_in
from fin_agent.vocabulary.fact import UNDATED, Fact
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace

Wanted = Literal["amount", "percent", "count", "any", "words"]
Moved = Literal["up", "down", "either"]
"""The kind of figure that a question asks for (`words` where nothing asks for a figure), and the direction of a
change."""
Features = Mapping[str, float]
"""Numbers by their name in `nearest_weights.yaml`: how a figure compares with a target, each 0 to 1, or with others."""
_ALIKE, _TENTHS, _SIXTHS = Decimal("0.001"), 10, 6
_COMPARED = {
    "said_more": "said",
    "said_above_more": "said_above",
    "period_more": "of_period",
    "row_more": "more_in_row",
    "part_more": "more_in_part",
    "sentence_more": "in_sentence",
}
_DAYS_NEAR = 10
LIKELY_ENOUGH = 0.7
"""Figures accepted at this probability or above are correct in seven of eight cases (docs/benchmarks.md)."""
ONLY_TOLD_ENOUGH = 0.25
"""The same for the only figure that sentences tell of a metric which no table of the period states."""
MAX_MARGIN = 2.0
CONSIDERED = 40
"""Number of top-ranked figures that the best one is compared with."""
_LIGHT, _NAMED, _OTHERWISE, _LABELS, _LONG = 0.25, 0.95, 0.85, 8, 30
_PERCENT = frozenset({"percent", "percentage points", "basis points"})
_COUNT = frozenset({"count", "shares", "ratio"})
_RATES = ("percent", "ratio")
_CHANGE, _RATE, _PER_SHARE = stems("change"), stems("rate"), frozenset({"per", "share"})
_HALF, _NINE_MONTHS = 6, 9
_BALANCE_IN_A_SPAN, _BALANCE_OR_ANOTHER_SPAN, _ANOTHER = 0.35, 0.4, 0.15
_LONGEST_PHRASE = 5


@dataclass(frozen=True, slots=True)
class FigureTarget:
    """What a question says about the single figure it asks for."""

    words: Words
    """Its content words in the form of `words_of`, without company and period. An address must match every one of
    them."""
    light: Words = frozenset()
    """Words that may describe how the figure is asked for rather than which figure it is."""
    metrics: tuple[tuple[Words, str], ...] = ()
    """Words that name a metric of the lexicon, with the metric's id."""
    phrases: tuple[tuple[Words, tuple[Words, ...]], ...] = ()
    """The words of a phrase, with the wordings that filings use for it; see `other_phrases`."""
    fiscal_year: int | None = None
    """None for the latest fiscal year filed."""
    quarter: int | None = None
    months: int | None = None
    """6 or 9 for a span of that many months, otherwise None."""
    wanted: Wanted = "any"
    at_a_date: bool = False
    """Whether the question asks for a level at a date rather than a flow over a period."""
    moved: Moved | None = None
    """The direction of the change asked about; None where the question does not ask about a change."""
    moving: Words = frozenset()
    """The subset of `words` that asks for the change. A sentence that states a change of its amount matches them."""
    told: frozenset[float] = frozenset()
    """Amounts that the question tells itself, in base units: of `its $8 billion facility` another one is asked for."""
    only_sentences: bool = False
    """Whether figures of tables are excluded, because the answer would have to be computed from them."""


class NearestFigure(NamedTuple):
    """The best figure and its probability."""

    sourced: SourcedFact
    chance: float
    """Probability that this is the figure asked for, 0 to 1."""
    is_only_told: bool = False
    """Whether a sentence tells it, and no other figure of the period matches all words."""


def find_nearest_figure(
    workspace: Workspace, sought: FigureTarget, *, company: str, of_totals: bool = False
) -> NearestFigure | None:
    """Return the figure of a company that matches `sought` best, with its probability; None where no figure matches.

    Args:
        workspace: The index with its companies.
        sought: What the question says about the figure.
        company: Key of the company in the directory.
        of_totals: Whether only parts of a metric's printed total may be returned.
    """
    candidates = [] if of_totals else ranked_candidates(workspace, sought, company=company)
    candidates = candidates or _parts_of_totals(workspace, sought, company)
    if not candidates:
        return None
    weights = load_yaml("nearest_weights", __package__)  # one model ranks figures, one tells if the best is meant
    scored = [(_weighted_sum(weights["ranks"], features), place) for place, (_, features) in enumerate(candidates)]
    first = sorted(scored, reverse=True)[:CONSIDERED]
    place, margin = ranking_margin([candidates[place] for _, place in first], [score for score, _ in first])
    best, features = candidates[first[place][1]]
    chance = 1 / (1 + math.exp(-_weighted_sum(weights["tells"], {**features, **margin})))
    told = best.fact.source == "text" and features["of_period"] == margin["alone"] == 1
    return NearestFigure(best, chance, told)


def _weighted_sum(weights: Mapping[str, float], features: Features) -> float:
    return math.fsum(weight * features[name] for name, weight in weights.items())


def ranking_margin(candidates: Sequence[tuple[SourcedFact, Features]], scores: Sequence[float]) -> tuple[int, Features]:
    """Return the position of the figure with the highest score, and how it compares with the others.

    Args:
        candidates: Figures with their features.
        scores: One score per candidate, in the same order.
    """
    place = max(range(len(scores)), key=scores.__getitem__)
    values = [abs(each.fact.value) for each, _ in candidates]
    alike = [abs(value - values[place]) <= _ALIKE * max(value, values[place]) for value in values]
    of_period = {value for value, (_, one) in zip(values, candidates, strict=True) if one["of_period"] == 1}
    margin = {
        "score": scores[place],
        "margin": MAX_MARGIN,
        "alone": float(len(of_period) <= 1),  # whether no other value of the period matches all words
        "others": min(len(of_period), _TENTHS) / _TENTHS,
        "prints": min(sum(alike), _SIXTHS) / _SIXTHS,  # places that print the same value
        "constant": 1.0,
    }
    others = (other for other, same in enumerate(alike) if not same)
    rival = max(others, key=scores.__getitem__, default=None)  # the best figure with another value
    if rival is not None:
        margin["margin"] = min(MAX_MARGIN, scores[place] - scores[rival])
    best, beside = candidates[place][1], {} if rival is None else candidates[rival][1]
    return place, margin | {name: best[of] - beside.get(of, 0.0) for name, of in _COMPARED.items()}


def ranked_candidates(
    workspace: Workspace, sought: FigureTarget, *, company: str
) -> list[tuple[SourcedFact, Features]]:
    """Return the figures of the company's filings that match all words of `sought`, with their features, unordered."""
    directory, index = workspace.directory, workspace.index
    doc_ids = directory.by_key[company].doc_ids
    identities = {doc_id: directory.identities[doc_id] for doc_id in doc_ids}
    years = [one.fiscal_year for one in identities.values() if one.fiscal_year]
    year = sought.fiscal_year or max(years, default=0)
    own = [doc_id for doc_id, one in identities.items() if one.fiscal_year == year]
    ends = [one.period_end for one in identities.values() if (one.fiscal_year, one.quarter) == (year, sought.quarter)]
    metrics = [workspace.lexicon.metrics[name] for _, name in sought.metrics if name in workspace.lexicon.metrics]
    of_money = sought.wanted == "amount" or (sought.wanted == "words" and any(one.unit == "USD" for one in metrics))
    no_share = sought.wanted in ("amount", "count", "words") and not sought.moved
    no_share = no_share and (sought.words | sought.light).isdisjoint(_RATE)
    facts = [*facts_of_year(index, doc_ids, year), *facts_of_year(index, own, UNDATED.fiscal_year)]
    asked, asked_words = _TargetWords(sought, workspace.lexicon, facts), sought.words | sought.light
    found = [
        each
        for each in facts
        if (fact := each.fact).amount  # a dash is no answer to `how much`
        and not (sought.told and abs(float(fact.value)) in sought.told)
        and not is_supposed(fact, asked_words)
        and (fact.unit in _PERCENT or sought.wanted != "percent")  # a share is to be computed, or is printed
        and (fact.source == "text" or not sought.only_sentences)
        and not (sought.wanted == "count" and fact.source == "text" and fact.unit.startswith("USD"))
        and (fact.unit == "USD per share" or fact.source == "text" or not sought.words | sought.light >= _PER_SHARE)
        and not (of_money and fact.source == "text" and fact.unit == "shares")
        and not (no_share and fact.source == "text" and fact.unit in _PERCENT)
        and not (ends and sought.at_a_date and _is_of_another_day(fact, ends))
        and asked.covers_all(address_of(fact), fact)
    ]
    prints = Counter((abs(each.fact.value), each.doc_id) for each in (facts if found else ()))
    return [
        (each, asked.features(each, identities[each.doc_id], year, 1 / prints[abs(each.fact.value), each.doc_id]))
        for each in found
    ]


def _is_of_another_day(fact: Fact, ends: Sequence[date | None]) -> bool:
    """Return whether a sentence's figure is of a day at which no report ends: that of a plan announced before."""
    day = fact.period.end if fact.source == "text" and not fact.period.months else None
    return day is not None and all(end is not None and abs((end - day).days) > _DAYS_NEAR for end in ends)


def _parts_of_totals(workspace: Workspace, sought: FigureTarget, company: str) -> list[tuple[SourcedFact, Features]]:
    """Return figures of rows that match all words but those of a metric, and whose total is a figure of the metric.

    `Enterprise network` stands above `Total Optical Communications`, whose amount is a segment's net sales.
    """
    index = workspace.index
    for words, name in sought.metrics:
        rest = sought.words - words
        found = ranked_candidates(workspace, replace(sought, words=rest), company=company) if rest else []
        found = [pair for pair in found if pair[0].fact.metric is None and pair[0].fact.source != "text"]
        if not found:
            continue
        doc_ids = workspace.directory.by_key[company].doc_ids
        stated = {abs(each.fact.value) for each in index.facts(doc_ids, metrics=[name, f"segment_{name}"])}
        pages = {each.key for each, _ in found}
        members = {
            (each.key, each.fact.line, each.fact.box)
            for siblings in siblings_in(index.facts(sorted({key.doc_id for key in pages}), pages=sorted(pages)))
            for one in siblings.members
            for when, each in one.facts.items()
            if siblings.total is not None
            and when in siblings.total.facts
            and abs(siblings.total.facts[when].fact.value) in stated
        }
        kept = [pair for pair in found if (pair[0].key, pair[0].fact.line, pair[0].fact.box) in members]
        if kept:
            return kept
    return []


class _TargetWords:
    """The words of a target, weighted by their rarity among the lines of the candidates."""

    def __init__(self, sought: FigureTarget, lexicon: Lexicon, facts: Sequence[SourcedFact]) -> None:
        self.sought = sought
        self._facts = facts
        self._asked = sought.words | sought.light
        self._others = {word: synonyms_of().get(word, frozenset()) for word in self._asked}
        self._known = self._asked.union(*self._others.values())
        self._named = frozenset[str]().union(*(named[0] for named in (*sought.metrics, *sought.phrases)))
        self._metrics = [
            (words, metric, [*filter(None, map(words_of, labels_of(metric, _LABELS)))])
            for words, metric in ((words, lexicon.metrics.get(name)) for words, name in sought.metrics)
            if metric is not None
        ]

    @cached_property
    def _weight(self) -> Weigh:
        return word_weights(frozenset(each.fact.label for each in self._facts))

    @cached_property
    def _weights(self) -> dict[str, float]:
        weights = {word: self._weight(word) for word in self.sought.words}
        return weights | {word: _LIGHT * self._weight(word) for word in self.sought.light - self.sought.words}

    def _metric_words(self, fact: Fact, borne: Words) -> Words:
        """Return words that name a metric or phrase which the figure or its line stands for."""
        held = [words for words, others in self.sought.phrases if any(other <= borne for other in others)]
        for words, metric, labels in self._metrics:
            no_rate = metric.unit in _RATES and fact.unit == "USD"  # a `Gross margin` in dollars
            if fact.metric == metric.id or (not no_rate and any(label <= borne for label in labels)):
                held.append(words)
        return frozenset[str]().union(*held)

    def covers_all(self, address: Address, fact: Fact) -> bool:
        """Return whether the address matches every content word, directly or by a synonym."""
        sought = self.sought
        borne = address.matched_words(self._asked)
        hard = sought.words - sought.moving if fact.source == "text" else sought.words
        lacking = {word for word in hard - borne if self._others[word].isdisjoint(borne)}
        if lacking and not (lacking <= self._named and lacking <= self._metric_words(fact, borne)):
            return False
        way = clause_figure(fact).way if fact.source == "text" else sought.moved or ""
        return bool(way) if sought.moved == "either" else way == (sought.moved or "")

    def coverage(self, said: Words, fact: Fact, address: Address) -> float:
        """Return the share of the words, by weight, that `said` contains."""
        named = self._metric_words(fact, address.borne)

        def credit(word: str) -> float:
            otherwise = 0.0 if self._others[word].isdisjoint(said) else _OTHERWISE
            return 1.0 if word in said else _NAMED if word in named else otherwise

        covered = sum(weight * credit(word) for word, weight in self._weights.items())
        return covered / (sum(self._weights.values()) or 1.0)

    def _missing_share(self, words: Words, known: Words) -> float:
        """Return the share of `words`, by weight, that the question lacks."""
        words = words - LIGHT - OF_ANY_CONCEPT - OF_TIME
        whole = sum(map(self._weight, words))
        return sum(map(self._weight, words - known)) / whole if whole else 0.0

    def features(self, sourced: SourcedFact, identity: Identity, year: int, shared: float) -> Features:
        """Return the features that compare a figure with the target."""
        fact, sought, address = sourced.fact, self.sought, address_of(sourced.fact)
        row = address.line | address.concept
        around = row | address.heads | address.column | address.scope | address.members
        labels = (label for _, _, each in self._metrics for label in each if label <= address.borne)
        known = self._known.union(*labels)
        part = (address.scope | address.members) - OF_ANY_CONCEPT - OF_TIME - OF_PARTS
        percent, count = fact.unit in _PERCENT, fact.unit in _COUNT
        amount, balance = not percent and not count, not fact.period.months
        moves = (address.heads | address.line | address.column) & _CHANGE and not self._known & _CHANGE
        more_in_part = self._missing_share(part, known)
        metric = any(fact.metric == one.id for _, one, _ in self._metrics)
        wanted = sought.wanted
        return {
            # Shares of the content words, by weight, that each place matches.
            "said": self.coverage(around, fact, address),
            "said_in_row": self.coverage(row, fact, address),
            "said_in_caption": self.coverage(around | words_of(fact.caption), fact, address),
            "said_above": self.coverage(address.borne, fact, address),
            # Shares, by weight, of the words of each place that the question lacks.
            "more_in_row": self._missing_share(address.line, known),
            "more_in_headings": self._missing_share(address.heads - address.line, known),
            "more_in_column": self._missing_share(address.column - years_of(fact.period), known),
            "more_in_part": more_in_part,
            "of_a_part": float(bool(part)),
            "part_named": float(bool(part) and not more_in_part),
            "of_period": _matches_period(fact, sought, year),
            "undated": float(fact.period == UNDATED),
            "own_report": float(identity.fiscal_year == year and identity.quarter == sought.quarter),
            "later_report": float((identity.fiscal_year or 0) > year),
            "in_sentence": float(fact.source == "text"),
            "in_statement": float(fact.statement is not None),
            "tied": float(fact.tied),
            "proved": float(fact.proved),
            "doubtful": float(fact.doubtful),
            "same_metric": float(metric),
            "other_metric": float(bool(self._metrics) and fact.metric is not None and not metric),
            "percent_wanted": float(percent and wanted == "percent"),
            "percent_unwanted": float(percent and wanted != "percent"),
            "count_wanted": float(count and wanted == "count"),
            "count_unwanted": float(count and wanted in ("amount", "percent")),
            "amount_wanted": float(amount and wanted == "amount"),
            "amount_unwanted": float(amount and wanted in ("percent", "count")),
            "per_share_unwanted": float(fact.unit == "USD per share" and not self._known >= _PER_SHARE),
            "change_unwanted": float(bool(moves)),
            "long_row": min(len(address.line), _LONG) / _LONG,
            "balance": float(balance),
            "balance_wanted": float(balance and sought.at_a_date),
            "balance_unwanted": float(balance and not sought.at_a_date and fact.source != "text"),
            "words_wanted": float(wanted == "words"),
            "shared": shared,
        }


def _matches_period(fact: Fact, sought: FigureTarget, year: int) -> float:
    period = fact.period
    if period.fiscal_year != year:
        return 0.0
    if sought.months in (_HALF, _NINE_MONTHS):
        return 1.0 if period.months == sought.months else _ANOTHER if period.months else _BALANCE_IN_A_SPAN
    if sought.quarter is None:
        return 1.0 if period.quarter is None and period.months in (0, 12) else _ANOTHER
    if period.quarter == sought.quarter and period.months in (0, 3):
        return 1.0
    return _BALANCE_OR_ANOTHER_SPAN if not period.months or period.quarter == sought.quarter else _ANOTHER


@lru_cache(maxsize=1)
def synonyms_of() -> Mapping[str, Words]:
    """Return the other words of each word's groups in `same_words.yaml`; phrases of several words are left out."""
    found: dict[str, set[str]] = {}
    for phrases in word_lists("same_words").values():
        single = frozenset(word for words in map(words_of, phrases) if len(words) == 1 for word in words)
        for word in single:
            found.setdefault(word, set()).update(single - {word})
    return {word: frozenset(others) for word, others in found.items()}


def other_phrases(text: str) -> tuple[tuple[Words, tuple[Words, ...]], ...]:
    """Return the phrases of a text found in `same_words.yaml`, each with the other wordings of its groups.

    For a phrase of several words, wordings of one word are included. For a single word they are left out, because
    `synonyms_of` provides them.
    """
    words = words_in_order(text)
    known = _phrases()
    spans = {words[start : start + size] for size in range(1, _LONGEST_PHRASE + 1) for start in range(len(words))}
    return tuple((frozenset(span), known[span]) for span in sorted(spans) if span in known)


@lru_cache(maxsize=1)
def _phrases() -> Mapping[tuple[str, ...], tuple[Words, ...]]:
    found: dict[tuple[str, ...], dict[Words, None]] = {}
    for _, group in sorted(word_lists("same_words").items()):
        spelt = sorted({words for words in map(words_in_order, group) if words})
        for one in spelt:
            others = (frozenset(other) for other in spelt if other != one and max(len(one), len(other)) > 1)
            found.setdefault(one, {}).update(dict.fromkeys(others))
    return {one: tuple(others) for one, others in found.items() if others}
