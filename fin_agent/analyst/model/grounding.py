"""Check a model's description of a passage against the passage's text, so that cards contain nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.vocabulary.page import Statement

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_QUARTER_YEAR = re.compile(r"q([1-4]) ?(?:fy|fiscal)? ?((?:19|20)\d\d)", re.ASCII)
_MONTHS_YEAR = re.compile(r"([69]) months (?:fy)? ?((?:19|20)\d\d)", re.ASCII)
_YEAR = re.compile(r"(?:fy|fiscal(?: year)?)? ?((?:19|20)\d\d)", re.ASCII)


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
    words = phrase.split()
    if not any(map(str.isalnum, phrase)):
        return False
    pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


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
    plain = " ".join(written.lower().split())
    if found := _QUARTER_YEAR.fullmatch(plain):
        named, year = f"Q{found[1]} FY{found[2]}", found[2]
    elif found := _MONTHS_YEAR.fullmatch(plain):
        named, year = f"{found[1]} months FY{found[2]}", found[2]
    elif found := _YEAR.fullmatch(plain):
        named, year = f"FY{found[1]}", found[1]
    else:
        return None
    if named in set(known) or re.search(rf"(?<!\d){year}(?!\d)", text):
        return named
    return None


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
