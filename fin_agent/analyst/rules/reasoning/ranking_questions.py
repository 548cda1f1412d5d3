"""Parse rankings: `the largest liability`, `which segment had the highest revenue`, `the top three expenses`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.search_terms import stems_of
from fin_agent.vocabulary.page import Statement

_HIGHEST = r"highest|largest|biggest|greatest|most|top"
_LOWEST = r"lowest|smallest|least|fewest"
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_COUNT = rf"(?:(?P<count>\d{{1,2}}|{'|'.join(_NUMBERS)})\s+)"
_SUPERLATIVE = re.compile(
    rf"\b(?<!at )(?:{_COUNT})?(?:(?P<highest>{_HIGHEST})|(?P<lowest>{_LOWEST}))\b"
    r"(?!\s+(?:recent|part|likely|directly|significant|important|line))"
    rf"(?:\s+(?P<after>\d{{1,2}}|{'|'.join(_NUMBERS)})\b)?",
    re.I,
)
_OF_WHICH = re.compile(r"\b(?:which|what)\s+(?:of\s+)?(?:(?:the|its|their|these|those)\s+)?(?P<noun>[^?]*?)$", re.I)
_AMONG = re.compile(
    r"\b(?:among|out of|of)\s+(?:all\s+)?(?:of\s+)?(?:(?:the|its|their)\s+)?(?P<noun>.+?)(?:\bthat\b|\bwhich\b|,)", re.I
)
_VERB = re.compile(
    r"\b(?:had|has|have|is|was|were|are|did|does|do|contribut\w*|generate[sd]?|report(?:ed|s)?|record(?:ed|s)?|account\w*\s+for"
    r"|brought\s+in|brings?\s+in|receive[sd]?|made|makes?|earn(?:ed|s)?|produce[sd]?|deliver(?:ed|s)?|represent\w*|carry|carries"
    r"|carried|show(?:ed|s)?|saw|got|gets?)\b",
    re.I,
)
_OF = re.compile(r"\b(?:of|in|for|at|among|within|from|by|that|which)\b|,", re.I)
_END = re.compile(
    r"\b(?:in|for|of|during|as|at|to|among|on|from|within|under|reported|recorded|did|does|do|that|over|and)\b|[,?;(]|['’]s\b",
    re.I,
)
_LEVEL = re.compile(r"^\W*(?:(?:the|total|overall)\s+)*(?:amounts?|numbers?|levels?|shares?|value)\s+of\s+", re.I)
_BY = re.compile(r"\b(?:by|in terms of|based on|measured by|with respect to)\s+(?P<measure>[^?,]+)", re.I)
_ONE = re.compile(r"^(?:one|ones|it|they)?\W*$", re.I)


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
    count: int = 1
    word: str = "largest"
    """The superlative in the question."""


def parse_ranking(core: str) -> RankingRequest | None:
    """Return the ranking that `core` requests; None if it requests none.

    >>> parse_ranking("Which of the swaps had the highest notional value in 2021?")
    RankingRequest(noun='swaps', measure='notional value', highest=True, count=1, word='highest')
    >>> parse_ranking("What were the top three operating expenses in 2021?").noun
    'operating expenses'
    """
    found = _SUPERLATIVE.search(core)
    if found is None:
        return None
    before, after = core[: found.start()], core[found.end() :]
    count = found["count"] or found["after"] or "1"
    number = _NUMBERS.get(count.lower()) or int(count)
    by = _BY.search(after)
    measure = _before_time_and_place(by["measure"]) if by else ""
    noun = ""
    which = _OF_WHICH.search(before)
    if which:
        verb = _VERB.search(which["noun"])
        noun = which["noun"][: verb.start()].strip() if verb else ""
        if verb and _ONE.match(noun) and noun:
            among = _AMONG.search(before)
            noun = among["noun"].strip() if among else ""
        if noun:
            noun, measure = _OF.split(noun, maxsplit=1)[0].strip(), measure or _before_time_and_place(after)
    if not noun:
        noun = _before_time_and_place(after[: by.start()] if by else after)
    word = (found["highest"] or found["lowest"]).lower()
    if not noun or not stems_of(noun):
        return None
    return RankingRequest(
        noun, measure, bool(found["highest"]), max(1, number), "largest" if word in ("top", "most") else word
    )


def ranked_statement(core: str) -> Statement | None:
    """Return the statement whose rows are ranked, the balance sheet for `the largest asset`; None for other tables."""
    ranked = parse_ranking(core)
    if ranked is None or ranked.measure:
        return None
    return next((STATEMENTS_OF[stem] for stem in stems_of(ranked.noun) if stem in STATEMENTS_OF), None)


def measure_stems(measure: str) -> list[str]:
    """Return the stems of a measure without generic words for figures: `notional` for `notional value`."""
    plain = word_lists("answer_words")["amounts"]
    words = [word for word in re.findall(r"[a-z][a-z-]*", measure.lower()) if word not in plain]
    return stems_of(" ".join(words))


def _before_time_and_place(text: str) -> str:
    """Return the words before the place and time."""
    text = _LEVEL.sub("", text)
    return _END.split(text, maxsplit=1)[0].strip()
