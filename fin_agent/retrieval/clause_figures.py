"""The words of a clause that describe one of its amounts, and whether that amount is a change."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from fin_agent.filings.facts.sentence_facts import PrintedAmount, amounts_listed, amounts_of
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.fact import Fact

_PATTERNS = patterns("address_patterns")

Way = Literal["up", "down", ""]


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
    groups: list[list[PrintedAmount]] = []
    for one in found:
        joined = groups and groups[-1][-1].unit == one.unit and amounts_listed(clause, groups[-1][-1], one)
        if joined:
            groups[-1].append(one)
        else:
            groups.append([one])
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
    return ClauseFigure(said, _way(clause, groups, mine))


_ITS_PARTS = re.compile(rf"[,(]\s*(?:{'|'.join(sorted(word_lists('fact_words')['of its parts']))})\b", re.I)


def _way(clause: str, groups: list[list[PrintedAmount]], place: int) -> Way:
    """Return the direction of the change that a list of amounts states, from the word right before or after it."""
    group = groups[place]
    begin = groups[place - 1][-1].end if place else 0
    before, behind = clause[begin : group[0].start], clause[group[-1].end :]
    if place and _PATTERNS["or else"].fullmatch(before):
        return _way(clause, groups, place - 1)  # `rose $40 million, or 12%`
    for pattern, text in ((_BEFORE, before), (_BEHIND, behind)):
        moved = pattern.search(text)
        if moved is not None:
            word = moved["word"].lower()
            return "up" if word.startswith(_beginnings("up")) else "down"
    return ""


_SHORT = 3


def _beginnings(kind: str) -> tuple[str, ...]:
    lists = word_lists("answer_words")
    return tuple(sorted(lists[kind] - lists["no movement"]))


_MOVED = "|".join(
    rf"{word}\b" if len(word) <= _SHORT else rf"{word}\w*" for kind in ("up", "down") for word in _beginnings(kind)
)
_SMALL = r"(?:(?:an?|by|of|about|approximately|over|nearly|almost|roughly|up|down|another|additional)\s+)*"
_BEFORE = re.compile(rf"\b(?P<word>{_MOVED})\s+{_SMALL}$", re.I)
_BEHIND = re.compile(rf"^(?:\s+(?:year-over-year|net|overall|total))*[\s-]+(?P<word>{_MOVED})", re.I)
