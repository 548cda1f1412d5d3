"""Check a model's description of a passage against the passage's text, so that cards contain nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.text_normalization import places_of
from fin_agent.vocabulary.dates import printed_years
from fin_agent.vocabulary.page import Statement

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def numbers_not_in(words: str, text: str) -> tuple[str, ...]:
    """Return the numbers of `words` that `text` does not contain, in order.

    >>> numbers_not_in("Net sales of 3,533, up 6%", "Net sales were $3533 million, 16% more")
    ('6',)
    """
    held = {_without_thousands_separators(number) for number in _NUMBER.findall(text)}
    lacking = [number for number in _NUMBER.findall(words) if _without_thousands_separators(number) not in held]
    odd = [sign for sign in words if sign.isnumeric() and not sign.isdecimal() and sign not in text]
    return tuple(dict.fromkeys([*lacking, *odd]))


def printable_line(words: str) -> str:
    r"""Return words on one line, without characters unfit for a terminal or file.

    >>> printable_line("net\n sales\x1b[2J\ud800")
    'net sales[2J'
    """
    return "".join(filter(str.isprintable, " ".join(words.split())))


def contains_phrase(phrase: str, text: str) -> bool:
    """Return whether a text contains a phrase word by word, ignoring case and line breaks."""
    if not any(map(str.isalnum, phrase)):
        return False
    low = text.lower()
    found = places_of(" ".join(phrase.lower().split()), low)
    return any(not any(map(str.isalnum, low[max(0, start - 1) : start] + low[end : end + 1])) for start, end in found)


def parse_card_period(written: str, text: str, known: Iterable[str]) -> str | None:
    """Return a period in the form of cards, `Q2 FY2023`; None if it is none, or its year is unknown.

    Args:
        written: The period as written by a model.
        text: The passage, which may contain the year.
        known: Periods of the card.

    >>> parse_card_period("fiscal 2023", "In 2023 sales rose.", [])
    'FY2023'
    >>> parse_card_period("Q3 2021", "In 2023 sales rose.", []) is None
    True
    """
    plain = written.lower().replace("fiscal year", " ").replace("fiscal", " ").replace("fy", " ")
    match plain.split():
        case [year]:
            named = f"FY{year}"
        case [("q1" | "q2" | "q3" | "q4") as quarter, year]:
            named = f"{quarter.upper()} FY{year}"
        case [("6" | "9") as count, "months", year]:
            named = f"{count} months FY{year}"
        case _:
            return None
    if not (year.isdecimal() and printed_years(year)):
        return None
    return named if named in set(known) or year in _NUMBER.findall(text) else None


def latest_first(periods: Iterable[str]) -> tuple[str, ...]:
    """Return periods in the order of cards: later ends first, then longer spans."""
    return tuple(sorted(dict.fromkeys(periods), key=_period_end_and_length, reverse=True))


def metric_ids_in(words: str, lexicon: Lexicon, statement: Statement | None) -> Sequence[str]:
    """Return the ids of the metrics and formulas that a model's words name; empty if the lexicon knows none."""
    name = "_".join(words.lower().split())
    if name in lexicon.metrics or name in lexicon.formulas:
        return (name,)
    mentioned = [mention.id for mention in lexicon.mentions(words)]
    if mentioned:
        return list(dict.fromkeys(mentioned))
    labelled = lexicon.metric_of_label(words, statement)
    return () if labelled is None else (labelled,)


def _without_thousands_separators(number: str) -> str:
    return re.sub(r",(?=\d{3}(?!\d))", "", number)


def _period_end_and_length(period: str) -> tuple[int, int, int]:
    year = int(period[-4:])
    if period.startswith("Q"):
        return year, int(period[1]) * 3, 3
    months = int(period.split()[0]) if " months " in period else 12
    return year, months, months
