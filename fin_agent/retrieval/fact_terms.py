"""Addresses of figures as sets of words: row, headings, column, part, concept, and the text above the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from fin_agent.filings.facts.sentence_facts import PrintedAmount, amounts_listed, amounts_of, divided_counts
from fin_agent.lexicon.text_normalization import join_compounds, plain
from fin_agent.lexicon.words import any_of, finds, patterns, word_lists
from fin_agent.retrieval.search_terms import stem
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.runs import runs_of

_PATTERNS = patterns("address_patterns")

Words = frozenset[str]
_MAX_ADDRESSES = 100_000
_ADDRESSES: dict[int, tuple[Fact, Address]] = {}
"""Facts and addresses by the identity of the fact: comparing facts would cost more than making the address."""
_ARTICLES = frozenset(("a", "an", "the"))
_QUARTERS = ("first", "second", "third", "fourth")
Way = Literal["up", "down", ""]
_ITS_PARTS = re.compile(rf"[,(]\s*(?:{'|'.join(sorted(word_lists('fact_words')['of its parts']))})\b", re.I)
_MOVED = any_of(word_lists("answer_words")["up"] | word_lists("answer_words")["down"]).pattern
_SMALL = r"(?:(?:an?|by|of|about|approximately|over|nearly|almost|roughly|up|down|another|additional)\s+)*"
_ONLY_SMALL = re.compile(rf"\s*{_SMALL}", re.I)
_BEFORE = re.compile(rf"\b(?P<word>{_MOVED})\s+{_SMALL}$", re.I)
_BEHIND = re.compile(rf"^(?:\s+(?:year-over-year|net|overall|total))*[\s-]+(?P<word>{_MOVED})", re.I)


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
        said = INCLUDING if self.line & INCLUDING else NET_OF
        return self.borne - self.net_of if self.net_of and not asked & said else self.borne


def address_of(fact: Fact) -> Address:
    """Return the words around a fact, by their position; those of recent facts are kept."""
    kept = _ADDRESSES.get(id(fact))
    if kept is None or kept[0] is not fact:
        if len(_ADDRESSES) >= _MAX_ADDRESSES:
            _ADDRESSES.clear()
        kept = _ADDRESSES[id(fact)] = fact, _address_around(fact)
    return kept[1]


def _address_around(fact: Fact) -> Address:
    tag = fact.tag
    members = tuple(member for axis, member in tag.members if "ConsolidationItems" not in axis) if tag else ()
    if members and members[0].startswith("country:"):
        # A country's code; its row or column spells it.
        members = tuple(name for name in (fact.label, fact.column) if not words_of(name) <= OF_TIME)[:1]
    above = _told_above(fact.caption, fact.note)
    if fact.section and " and " in fact.caption:
        above -= _of_another_section(fact.caption, fact.section)
    column = fact.column_path or (fact.column,)
    label = without_reference(fact.label if fact.source != "text" else clause_figure(fact).said)
    year = fact.period.fiscal_year
    alias = _PATTERNS["alias"].search(label) if "(" in label and fact.source != "text" else None
    if alias is not None:
        label, above = alias["alias"], above | (words_of(label) - _BOUNDS)
    implied = _implied_words(fact, (label, *column), year)
    section = fact.section or titles_of(fact.caption)
    scope = fact.scope or (
        _part_of_count(fact.label, fact.amount) if fact.unit == "count" and fact.source == "text" else ""
    )
    found = _address(label, section, column, scope, _concept_of(fact, label), members, above, implied)
    if fact.source == "text" and (passing := _told_in_passing(label)):
        return found._replace(net_of=found.net_of | passing)
    return found


@lru_cache(maxsize=10_000)
def _told_in_passing(clause: str) -> Words:
    """Return the words that a clause has for its subject's parts alone: `our sales, which include fees, were $5`."""
    left = _PATTERNS["parts in passing"].sub(" ", clause) if "," in clause else clause
    return words_of(clause) - words_of(left) if left != clause else frozenset()


def _concept_of(fact: Fact, label: str) -> str:
    """Return the concept of a fact's tag; awards where their table ends are outstanding, whether or not it says so."""
    concept = fact.tag.concept if fact.tag else ""
    said = frozenset() if fact.period.months or fact.unit != "shares" else words_of(label) - years_of(fact.period)
    ends = f"{concept}Outstanding" if ":" in concept else "outstanding"
    return ends if said and said <= _OF_ENDS else concept


@lru_cache(maxsize=10_000)
def titles_of(caption: str) -> tuple[str, ...]:
    """Return what a caption says that its table states, if it does; it is the heading of rows that have no other.

    >>> titles_of("They vary. Total net additions to property are as follows (in millions):")
    ('net additions to property',)
    """
    found = _PATTERNS["as follows"].search(caption) if "as follows" in caption else None
    return (found["what"],) if found is not None else ()


@lru_cache(maxsize=10_000)
def _told_above(*texts: str) -> Words:
    """Return the words above a table, without those for what a title leaves out."""
    return words_of(" ".join(_PATTERNS["other than"].sub("", text) for text in texts)) - _BOUNDS


@lru_cache(maxsize=10_000)
def _of_another_section(caption: str, section: tuple[str, ...]) -> Words:
    """Return the words of a measure that a caption names beside that of a section: `revenue and gross profit`."""
    heads = words_of(" ".join(section))
    pairs = (tuple(map(words_of, found.group("one", "other"))) for found in _PATTERNS["two measures"].finditer(caption))
    apart = (of - own for one, other in pairs for own, of in ((one, other), (other, one)) if own and own <= heads)
    return frozenset().union(*apart) - heads - _SHARED


def _implied_words(fact: Fact, names: tuple[str, ...], year: int) -> Words:
    """Return words that a figure need not print: of its unit, of what falls due in later years, of stock prices.

    What `we employed 9,100 people` counts are employees.
    """
    implied = _PERCENT if fact.unit == "percent" else frozenset()
    if fact.source == "text" and fact.unit == "count":
        implied |= clause_count(fact.label, fact.amount)
    of_a_row = frozenset() if fact.source == "text" or fact.period.months else words_of(names[0])
    if of_a_row & _ENDS and of_a_row & OF_TIME:
        implied |= _REMAINING  # `Liability, end of the period`
    if _is_future_year(names[:1], year) or _is_future_year(names[1:], year):
        implied |= OF_YEARS_TO_COME
    if fact.unit == "USD" and fact.scale == 1 and any(name and words_of(name) <= _EXTREMES for name in names):
        implied |= _OF_STOCK_PRICES
    return implied


@lru_cache(maxsize=100_000)
def _is_future_year(names: tuple[str, ...], year: int) -> bool:
    """Return whether a row or column is for a later year than its figures', as years of maturity are."""
    plain_names = [name.strip().casefold() for name in names]
    years = filter(None, map(_PATTERNS["year"].fullmatch, plain_names))
    return "thereafter" in plain_names or any(int(one["year"]) > year > 0 for one in years)


def without_reference(label: str) -> str:
    """Return a label, or a phrase that is one, without references such as `(Note 10)`.

    >>> without_reference("Inventories (Notes 1 and 5)").strip()
    'Inventories'
    """
    return _PATTERNS["reference"].sub("", label) if "(" in label else label


def without_brackets(label: str) -> str:
    """Return a label without what stands in brackets."""
    return _PATTERNS["brackets"].sub(" ", label)


@lru_cache(maxsize=100_000)
def _address(
    label: str,
    section: tuple[str, ...],
    column: tuple[str, ...],
    scope: str | None,
    concept: str,
    members: tuple[str, ...],
    above: Words,
    implied: Words,
) -> Address:
    line, heads, head = words_of(label), words_of(" ".join(section)), words_of(" ".join(column)) - OF_TIME
    of_scope = words_of(scope or "")
    named = words_of(split_tag_name(_PATTERNS["net of words"].sub("", concept))) - OF_ANY_CONCEPT
    of_members = words_of(" ".join(map(split_tag_name, members))) - OF_ANY_CONCEPT
    borne = line | heads | head | of_scope | named | of_members | above | implied
    without = None if line.isdisjoint(_WITHOUT) else _PATTERNS["without"].search(label)
    left = words_of(label[: without.start()]) if without is not None and without.start() else line
    net_of = line - left - heads - head - named
    aside = line - words_of(without_brackets(label)) if "(" in label else frozenset()
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
    spelt = join_compounds(plain(text)).replace("united states", "us").replace("u.s", "us").replace("'s", "")
    spelt = _PATTERNS["abroad"].sub("nonus", spelt) if "us" in spelt else spelt
    spelt = _PATTERNS["pretax"].sub("pretax", spelt) if "before" in spelt else spelt
    same, binding = _same_words(), word_lists("fact_words")["binding"]
    return tuple(same.get(word) or stem(word) for word in _PATTERNS["word"].findall(spelt) if word not in binding)


def in_order(text: str) -> tuple[str, ...]:
    """Return the stems of a phrase or label in order, including short words: `to` and `by` distinguish labels."""
    return tuple(stem(word) for word in _PATTERNS["word"].findall(plain(text)) if word not in _ARTICLES)


@lru_cache(maxsize=1)
def _same_words() -> Mapping[str, str]:
    return {word: group for group, words in word_lists("word_forms").items() for word in words}


@lru_cache(maxsize=10_000)
def years_of(period: FactPeriod) -> Words:
    """Return the words in a row or a column's header that only state its period: its numbers, and which quarter."""
    days = (period.end.day, period.end.year) if period.end else ()
    quarter = (stem(_QUARTERS[period.quarter - 1]),) if period.quarter else ()
    return frozenset((*map(str, (period.fiscal_year, *days)), *quarter))


def is_of_acquisition(fact: Fact) -> bool:
    """Return whether a figure is of what was bought with a company, so that it is not the buyer's own."""
    return fact.statement is None and _tells_of_acquisition(fact.caption)


def is_supposed(fact: Fact, asked: Words) -> bool:
    """Return whether a figure is what would have been (`on a pro forma basis`), and nobody asks for that."""
    return _FORMA.isdisjoint(asked) and not _FORMA.isdisjoint(words_of(fact.caption))


@lru_cache(maxsize=10_000)
def _tells_of_acquisition(caption: str) -> bool:
    return _PATTERNS["acquired"].search(caption) is not None


def stems(kind: str) -> Words:
    """Return the words of a list of `fact_words.yaml`, in the form of `words_of`."""
    return words_of(" ".join(sorted(word_lists("fact_words")[kind])))


OF_ANY_CONCEPT = stems("of any concept")
"""Words that say only that something is a figure."""
OF_PARTS = stems("of parts")
"""Words for kinds of parts."""
NET_OF = stems("net of")
"""Words that ask for a figure without something."""
INCLUDING = stems("including")
_WITHOUT = NET_OF | INCLUDING
LIGHT = frozenset(("total", "net", "gross", "aggreg", "consolid"))
OF_TIME = stems("of time")
_FORMA = words_of("forma")
_SHARED = stems("shared")
_BOUNDS = stems("bounds")
"""Words that, in a caption, describe only the caption's own sentence: `payments after 2024` are in a row or column with
that name."""
_ENDS, _REMAINING = words_of("end ending"), words_of("remaining")
_OF_ENDS = words_of("balance balances unvested") | OF_TIME
OF_YEARS_TO_COME = stems("of years to come")
_PERCENT = words_of("percent percentage")
_EXTREMES, _OF_STOCK_PRICES = stems("extremes"), stems("of stock prices")
"""`High` and `Low` in single dollars are prices of the stock, whether or not the table says so."""
_OF_NO_RULE = stems("of no rule")
_IN_ALL, _FULL_AND_PART_TIME = stems("in all"), words_of("full-time part-time")


def is_label_of(fact: Fact, phrase: str) -> bool:
    """Return whether the label of a row says no more than a phrase, but for what stands in brackets or says how much.

    `Consolidated EBITDA` and `Free cash flow, non-GAAP measure` are labels of these two figures.
    """
    line = address_of(fact).line - address_of(fact).aside - _OF_NO_RULE
    return fact.source != "text" and line - LIGHT == words_of(phrase) - LIGHT


def clause_subject(fact: Fact) -> Words:
    """Return the words for what a clause states its amount of; none if it states none, or a movement.

    They are before the verb, or what the company has so much of: `we had lease obligations of $5 million`.
    """
    said, way = clause_figure(fact)
    has = _PATTERNS["has so much"].search(said) if not way else None
    found = _PATTERNS["states"].search(said) if not way and has is None else None
    subject = ", ".join(filter(None, has.groups())) if has is not None else said[: found.start()] if found else ""
    return frozenset(word for word in words_of(_PATTERNS["in passing"].sub(" ", subject)) if not word.isdigit())


@lru_cache(maxsize=50_000)
def clause_count(clause: str, amount: Decimal) -> Words:
    """Return the words for what a clause says that the company has so many of; none if it says nothing so.

    >>> sorted(clause_count("At year-end we employed approximately 9,100 people.", Decimal(9100)))
    ['employe']
    """
    found = amounts_of(clause)
    own = next((one for one in found if one.amount == amount and one.unit == "count"), None)
    own = next((group[0] for group in divided_counts(clause, found) if own in group), own)  # it names what all count
    whole = next((one for one, part in pairwise(found) if part is own and _has_part(clause[one.end : part.start])), own)
    holds = _PATTERNS["holds"].search(clause[: whole.start]) if whole is not None else None
    if own is None or holds is None:
        return frozenset()
    thing = "employees" if holds["employs"] else ""
    said = words_of(f"{thing} {clause[own.start : own.end]}")
    counted = frozenset(word for word in said if not word.isdigit()) - _IN_ALL
    return counted - _FULL_AND_PART_TIME if counted >= _FULL_AND_PART_TIME else counted


@lru_cache(maxsize=50_000)
def _part_of_count(clause: str, amount: Decimal) -> str:
    """Return what a count is of, as far as a clause includes it in another one: `9,100, including 40 in Ohio`."""
    for one, part in pairwise(amounts_of(clause)):
        if (part.amount, part.unit) == (amount, "count") and _has_part(clause[one.end : part.start]):
            return clause[part.end :].partition(",")[0]
    return ""


def _has_part(between: str) -> bool:
    """Return whether a text between two amounts says that the second is a part of the first: `9,100, including 40`."""
    cut = _ITS_PARTS.search(between)
    return cut is not None and _ONLY_SMALL.fullmatch(between, cut.end()) is not None


class ClauseFigure(NamedTuple):
    """One amount of a clause, with the words that describe it."""

    said: str
    """The clause without the words that describe other amounts of the same unit, or parts of the amount.

    In `87 percent in fixed-rate and 13 percent in floating-rate instruments`, `13 percent` does not describe fixed
    rates; in `$1.4 billion, including unbilled receivables`, `$1.4 billion` is not the amount of unbilled receivables.
    """
    way: Way
    """The direction of the change, if the amount is one; empty for a level."""


def clause_figure(fact: Fact) -> ClauseFigure:
    """Return the words that describe the amount of a fact of source `text`, and the direction of its change.

    >>> clause = "Net sales rose $40 million, or 12%, to $373 million."
    >>> known = (40, "USD"), (12, "percent"), (373, "USD")
    >>> [_clause_figure(clause, Decimal(amount), unit).way for amount, unit in known]
    ['up', 'up', '']
    """
    return _clause_figure(fact.label, fact.amount, fact.unit)


@lru_cache(maxsize=50_000)
def _clause_figure(clause: str, amount: Decimal, unit: str) -> ClauseFigure:
    found = amounts_of(clause)
    own = next((one for one in found if one.amount == amount and one.unit == unit), None)
    own = own or next((one for one in found if one.amount == amount), None)
    if own is None:
        return ClauseFigure(clause, "")
    groups = runs_of(found, lambda group, one: group[-1].unit != one.unit or not amounts_listed(clause, group[-1], one))
    ends = [_PATTERNS["up to a comma"].match(clause, group[-1].end).end() for group in groups]  # type: ignore[union-attr]
    begins = [groups[0][0].start]
    for place, (group, after) in enumerate(pairwise(groups)):
        cuts = [cut.start() for cut in _PATTERNS["cut"].finditer(clause, group[-1].end, after[0].start)]
        ends[place] = cuts[-1] if cuts else after[0].start
        begins.append(ends[place])
    mine = next(place for place, group in enumerate(groups) if own in group)
    parts = _ITS_PARTS.search(clause, groups[mine][-1].end)
    said = clause if parts is None else clause[: parts.start()]
    for place in reversed(range(len(groups))):
        if place != mine and groups[place][0].unit == own.unit:
            said = f"{said[: begins[place]]} {said[ends[place] :]}"
    before = clause[groups[mine - 1][-1].end : groups[mine][0].start] if mine else ""
    if (beside := _PATTERNS["set against"].search(before)) is not None:
        said = said[max(said.find(beside["what"]), 0) :]
    return ClauseFigure(said, _way(clause, groups, mine))


def _way(clause: str, groups: list[list[PrintedAmount]], place: int) -> Way:
    """Return the direction of the change that a list of amounts states, from the word right before or after it."""
    group = groups[place]
    begin = groups[place - 1][-1].end if place else 0
    before, behind = clause[begin : group[0].start], clause[group[-1].end :]
    if place and _PATTERNS["or else"].fullmatch(before):
        return _way(clause, groups, place - 1)  # `rose $40 million, or 12%`
    moved = _BEFORE.search(before) or _BEHIND.search(behind)
    return "" if moved is None else "up" if finds(moved["word"].lower(), "up", "answer_words") else "down"
