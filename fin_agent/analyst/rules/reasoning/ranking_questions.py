"""Parse rankings: `the largest liability`, `which segment had the highest revenue`, `the top three expenses`."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.lexicon.words import listed, patterns, word_lists
from fin_agent.retrieval.search_terms import stems_of
from fin_agent.vocabulary.page import Statement

_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
STATEMENTS_OF = {
    "asset": Statement.BALANCE_SHEET,
    "liabil": Statement.BALANCE_SHEET,
    "expens": Statement.INCOME,
    "cost": Statement.INCOME,
}
"""Nouns that are ranked within a statement if no measure is named."""


@dataclass(frozen=True, slots=True)
class RankingRequest:
    """A ranking over the rows of a table."""

    noun: str
    """What is ranked: `derivative instruments`."""
    measure: str
    """The criterion, `notional value`; empty if the rows themselves are ranked."""
    highest: bool
    count: int
    word: str
    """The superlative in the question."""


def parse_ranking(core: str) -> RankingRequest | None:
    """Return the ranking that `core` requests; None if it requests none.

    >>> parse_ranking("Which of the swaps had the highest notional value in 2021?")
    RankingRequest(noun='swaps', measure='notional value', highest=True, count=1, word='highest')
    >>> parse_ranking("What were the top three operating expenses in 2021?").noun
    'operating expenses'
    """
    found = patterns("asked_patterns")["superlative"].search(core)
    if found is None:
        return None
    before, after = core[: found.start()], core[found.end() :]
    count = (found["count"] or found["after"] or "1").lower()
    by = listed("asked_words", "measured by").search(after)
    measure = _before_time_and_place(after[by.end() :]) if by else ""
    noun = ""
    which = listed("asked_words", "which of").search(before)
    if which and "?" not in before[which.end() :]:
        noun = _before(before[which.end() :], "ranked verbs", needed=True)
        if noun.lower() in _PRONOUNS:
            among = listed("asked_words", "among").search(before)
            noun = _before(before[among.end() :], "relative", needed=True) if among else ""
        if noun:
            noun, measure = _before(noun, "noun ends"), measure or _before_time_and_place(after)
    if not noun:
        noun = _before_time_and_place(after[: by.start()] if by else after)
    word = (found["highest"] or found["lowest"]).lower()
    if not noun or not stems_of(noun):
        return None
    number = _NUMBERS.get(count) or int(count)
    word = "largest" if word in ("top", "most") else word
    return RankingRequest(noun, measure, bool(found["highest"]), max(1, number), word)


def ranked_statement(core: str) -> Statement | None:
    """Return the statement whose rows are ranked, the balance sheet for `the largest asset`; None for other tables."""
    ranked = parse_ranking(core)
    if ranked is None or ranked.measure:
        return None
    return next((STATEMENTS_OF[stem] for stem in stems_of(ranked.noun) if stem in STATEMENTS_OF), None)


def measure_stems(measure: str) -> list[str]:
    """Return the stems of a measure without generic words for figures: `notional` for `notional value`."""
    plain = word_lists("answer_words")["amounts"]
    words = [word for word in measure.lower().split() if word not in plain]
    return stems_of(" ".join(words))


def _before_time_and_place(text: str) -> str:
    """Return the words before the place and time."""
    text = listed("asked_words", "levels").sub("", text)
    for mark in _MARKS:
        text = text.partition(mark)[0]
    return _before(text, "measure ends")


def _before(text: str, kind: str, *, needed: bool = False) -> str:
    """Return the words before the first phrase of a list; without one all of them, or none if it is `needed`."""
    found = listed("asked_words", kind).search(text)
    return text[: found.start()].strip() if found else "" if needed else text.strip()


_PRONOUNS = ("one", "ones", "it", "they")
_MARKS = ",?;("
