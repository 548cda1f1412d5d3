"""Addresses of figures as sets of words: row, headings, column, part, concept, and the text above the table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from fin_agent.lexicon.text_normalization import join_compounds, plain
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.retrieval.clause_figures import clause_figure
from fin_agent.retrieval.search_terms import stem
from fin_agent.vocabulary.fact import Fact, FactPeriod

_PATTERNS = patterns("address_patterns")

Words = frozenset[str]


class Address(NamedTuple):
    """The words of a fact's address, by their position."""

    line: Words
    heads: Words
    column: Words
    scope: Words
    concept: Words
    members: Words
    borne: Words
    """All of them, with the words above the table."""
    net_of: Words = frozenset()
    """Words found only at the end of the label, where it names what the figure excludes: `tax assets, net of the
    allowance`."""
    aside: Words = frozenset()
    """Words of the label found only in brackets, where it explains: `Free cash flow (non-GAAP measure)`."""

    def matched_words(self, asked: Words) -> Words:
        """Return the address words that may match a question; `net_of` words only where the question asks for them."""
        return self.borne if asked & NET_OF else self.borne - self.net_of


def address_of(fact: Fact) -> Address:
    """Return the words around a fact, by their position."""
    tag = fact.tag
    members = tuple(member for axis, member in tag.members if "ConsolidationItems" not in axis) if tag else ()
    if members and members[0].startswith("country:"):
        # A country's code; its row or column spells it.
        members = tuple(name for name in (fact.label, fact.column) if not words_of(name) <= OF_TIME)[:1]
    above: tuple[str, ...] = (fact.caption, fact.note)
    column = fact.column_path or (fact.column,)
    label = without_reference(fact.label if fact.source != "text" else clause_figure(fact).said)
    year = fact.period.fiscal_year
    alias = _PATTERNS["alias"].search(label) if fact.source != "text" else None
    if alias is not None:
        label, above = alias["alias"], (*above, label)
    implied = _implied_words(fact, (label, *column), year)
    return _address(label, fact.section, column, fact.scope, tag.concept if tag else "", members, above, implied)


def _implied_words(fact: Fact, names: tuple[str, ...], year: int) -> Words:
    """Return words that a figure need not print: of its unit, of what falls due in later years, of stock prices."""
    implied = _PERCENT if fact.unit == "percent" else frozenset()
    if any(_is_future_year(name, year) for name in names):
        implied |= OF_YEARS_TO_COME
    if fact.unit == "USD" and fact.scale == 1 and any(name and words_of(name) <= _EXTREMES for name in names):
        implied |= _OF_STOCK_PRICES
    return implied


@lru_cache(maxsize=100_000)
def _is_future_year(name: str, year: int) -> bool:
    """Return whether a row or column is for a later year than its figures', as years of maturity are."""
    found = _PATTERNS["year"].fullmatch(name.strip())
    return name.strip().casefold() == "thereafter" or (found is not None and int(found["year"]) > year > 0)


def without_reference(label: str) -> str:
    """Return a label, or a phrase that is one, without references such as `(Note 10)`.

    >>> without_reference("Inventories (Notes 1 and 5)").strip()
    'Inventories'
    """
    return _PATTERNS["reference"].sub("", label) if "(" in label else label


@lru_cache(maxsize=100_000)
def _address(
    label: str,
    section: tuple[str, ...],
    column: tuple[str, ...],
    scope: str | None,
    concept: str,
    members: tuple[str, ...],
    above: tuple[str, ...],
    implied: Words,
) -> Address:
    line, heads, head = words_of(label), words_of(" ".join(section)), words_of(" ".join(column)) - OF_TIME
    of_scope, named = (
        words_of(scope or ""),
        words_of(split_tag_name(_PATTERNS["net of words"].sub("", concept))) - OF_ANY_CONCEPT,
    )
    of_members = words_of(" ".join(map(split_tag_name, members))) - OF_ANY_CONCEPT
    borne = line | heads | head | of_scope | named | of_members | (words_of(" ".join(above)) - _BOUNDS)
    borne |= implied
    without = _PATTERNS["without"].search(label)
    left = words_of(label[: without.start()]) if without is not None and without.start() else line
    net_of = line - left - heads - head - named
    aside = line - words_of(_PATTERNS["brackets"].sub(" ", label)) if "(" in label else frozenset()
    return Address(line, heads, head, of_scope, named, of_members, borne, net_of, aside)


@lru_cache(maxsize=10_000)
def split_tag_name(name: str) -> str:
    """Return the words of a tag name such as `us-gaap:LongLivedAssets`; other text is returned unchanged."""
    return " ".join(_PATTERNS["camel"].findall(name.rpartition(":")[2])) if ":" in name else name


@lru_cache(maxsize=100_000)
def words_of(text: str) -> Words:
    """Return the normalized words of a phrase or of a part of an address. Matching compares these."""
    return frozenset(words_in_order(text))


def words_in_order(text: str) -> tuple[str, ...]:
    """Return the same words in the order of the text."""
    spelt = join_compounds(plain(text)).replace("u.s", "us").replace("united states", "us").replace("'s", "")
    same = _same_words()
    return tuple(same.get(word) or stem(word) for word in _PATTERNS["word"].findall(spelt) if word not in _binding())


def in_order(text: str) -> tuple[str, ...]:
    """Return the stems of a phrase or label in order, including short words: `to` and `by` distinguish labels."""
    return tuple(stem(word) for word in _PATTERNS["word"].findall(plain(text)) if word not in _ARTICLES)


_ARTICLES = frozenset(("a", "an", "the"))


@lru_cache(maxsize=1)
def _same_words() -> Mapping[str, str]:
    return {word: group for group, words in word_lists("word_forms").items() for word in words}


@lru_cache(maxsize=1)
def _binding() -> Words:
    return word_lists("fact_words")["binding"]


@lru_cache(maxsize=10_000)
def years_of(period: FactPeriod) -> Words:
    """Return the words in a row or a column's header that only state its period: its numbers, and which quarter."""
    days = (period.end.day, period.end.year) if period.end else ()
    quarter = (stem(_QUARTERS[period.quarter - 1]),) if period.quarter else ()
    return frozenset((*map(str, (period.fiscal_year, *days)), *quarter))


_QUARTERS = ("first", "second", "third", "fourth")


def stems(kind: str) -> Words:
    """Return the words of a list of `fact_words.yaml`, in the form of `words_of`."""
    return words_of(" ".join(sorted(word_lists("fact_words")[kind])))


OF_ANY_CONCEPT = stems("of any concept")
"""Words that say only that something is a figure."""
OF_PARTS = stems("of parts")
"""Words for kinds of parts."""
NET_OF = stems("net of")
"""Words that ask for a figure without something."""
LIGHT = frozenset(("total", "net", "gross", "aggreg", "consolid"))
OF_TIME = stems("of time")
_BOUNDS = stems("bounds")
"""Words that, in a caption, describe only the caption's own sentence: `payments after 2024` are in a row or column with
that name."""
OF_YEARS_TO_COME = stems("of years to come")
_PERCENT = words_of("percent percentage")
_EXTREMES, _OF_STOCK_PRICES = stems("extremes"), stems("of stock prices")
"""`High` and `Low` in single dollars are prices of the stock, whether or not the table says so."""


def is_label_of(fact: Fact, phrase: str) -> bool:
    """Return whether the label of a row says no more than a phrase, but for what stands in brackets or says how much.

    `Consolidated EBITDA` and `Free cash flow, non-GAAP measure` are labels of these two figures.
    """
    line = address_of(fact).line - address_of(fact).aside - _OF_NO_RULE
    return fact.source != "text" and line - LIGHT == words_of(phrase) - LIGHT


_OF_NO_RULE = stems("of no rule")
