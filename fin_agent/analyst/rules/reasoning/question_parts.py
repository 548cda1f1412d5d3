"""A question in words as its parts, each with the kind of answer it wants; and what no filing answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from fin_agent.analyst.rules.reasoning.ranking_questions import ranked_in

_WORDS_BETWEEN = r"(?:[^\s?]+\s+){0,4}?"
_NEXT = re.compile(
    r"\?\s+(?=\S)|;\s+"
    r"|,?\s+(?:and|&|plus)\s+(?=(?:(?:for|in|at|over|to|by|of|from|since|until|on)\s+)?"
    r"(?:how|what|which|when|where|who|whom|why|do|does|did|is|are|was|were|has|have|can)\b)"
    r"|,\s+(?=(?:(?:for|in|at|over|by|to|from|on)\s+)?(?:how|what|when|where|who|why)\b)",
    re.I,
)
"""Where another part of the question begins."""
_ITEMS = re.compile(r"^(?P<head>[^:?]{4,110}?)(?:\s[-–—]\s|:\s)(?P<items>[^?]+?)\W*$")
_ITEM = re.compile(r",\s+(?:and\s+)?|\s+(?:and|&)\s+")
_LONGEST_ITEM = 5
_AND_THE = re.compile(r"\s+(?:and|&)\s+the\s+(?=[^,?]{3,60}$)", re.I)
_PREAMBLE = re.compile(
    r"^(?:as of|with respect to|with regard to|regarding|in|for|during|at|per|according to|from|based on|considering|on"
    r"|by|under|within|after|before)\b",
    re.I,
)
_RANKED = re.compile(r"\b(?:largest|biggest|greatest|highest|smallest|lowest|most|least)\b", re.I)
_HOW = re.compile(r"\bhow\s+(?:much|large|big|high)\b|\bamount\b", re.I)
_GAP = re.compile(r"(?:what(?:['’]s| is| was) )?(?:the )?(?:gap|difference|by how much|how much more)", re.I)
"""Told wherever two are set against each other."""
_LISTS = re.compile(r"^\W*(?:list|name|enumerate)\b", re.I)
_SUBJECT_FIRST = re.compile(
    r"^(?!\W*(?:who|what|which|how|when|where|why|list|name)\b)[^:?]{3,60}(?::|\s[-–—])\s+(?=\w)"
)
_COUNTED = re.compile(
    r"\bwho\s+(?:had|has|have|employs|employed)\s+(?:the\s+)?(?:more|fewer|most|fewest)\s+(\w+)"
    r"|\bhow\s+many\s+((?:(?!(?:were|was|is|are|did|do|does|had|has|have|of|in|at)\b)[\w'’-]+\s*){1,3})|\bnumber\s+of\s+((?:[\w'’-]+\s+){0,2}?[\w'’-]+)"
    r"|\b(\w+)[ -]count\b",
    re.I,
)
_FOREIGN = re.compile(r"[¿¡]|[^\W\d_a-zA-Z]")
_MOST_FOREIGN = 0.3
_FEWEST_FOREIGN = 2


class Wants(StrEnum):
    """What an answer has to hold; the value says it in a refusal."""

    CAUSE = "a sentence that gives the reason"
    VERDICT = "a sentence that settles it"
    FIRM = "the name of a firm"
    EXCHANGE = "a stock exchange"
    DURATION = "a length of time"
    PERCENT = "a percentage"
    SHARE = "an amount or a percentage"
    COUNT = "a number"
    NUMBER = "a figure"
    AMOUNT = "an amount"
    DATE = "a date"
    BUSINESS = "a sentence that says what the company is"
    OFFICERS = "a list of officers"
    LIST = "a list"
    PERSON = "a name"
    PLACE = "a place"
    DEFINITION = "a definition"
    SENTENCE = "a sentence"


FIGURES = frozenset({Wants.AMOUNT, Wants.NUMBER, Wants.SHARE, Wants.PERCENT, Wants.COUNT, Wants.DURATION})
"""What is a number."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a question asks."""

    text: str
    wants: Wants
    counted: str = ""
    """What is counted, where a number of things is wanted."""

    @property
    def unsaid(self) -> frozenset[str]:
        """Words that say what kind of answer is wanted, not what it is about."""
        return frozenset(_table()["unsaid"].get(self.wants.name.lower(), ()))


def parts_of(core: str, *, figure: bool = False, counted: str = "") -> tuple[Part, ...]:
    """The parts of a question, in order; `figure` where a number is known to be asked for, `counted` what it counts.

    >>> [(part.text, part.wants.name) for part in parts_of("When did the plant close, and how many people lost work?")]
    [('When did the plant close', 'DATE'), ('how many people lost work', 'COUNT')]
    >>> [part.text for part in parts_of("Russia exit - closing date, plants sold, net proceeds")]
    ['Russia exit closing date', 'plants sold', 'net proceeds']
    """
    core = core.strip(" ?.!")
    if counted:
        return (Part(core, Wants.COUNT, counted),)
    listed = _ITEMS.match(core)
    if listed and not _NEXT.search(core):
        items = [item for item in _ITEM.split(listed["items"]) if item.strip()]
        if len(items) > 1 and all(len(item.split()) <= _LONGEST_ITEM for item in items):
            first, *rest = items
            common = _wanted(listed["head"])
            head = _part(f"{listed['head']} {first}", wants=first, figure=figure)
            parts = (head, *(_part(item, figure=figure) for item in rest))
            return tuple(replace(each, wants=common) if each.wants is Wants.SENTENCE else each for each in parts)
    texts = [text.strip(" ,?.") for text in _NEXT.split(core)]
    texts = [piece for text in texts for piece in (_AND_THE.split(text) if _LISTS.match(text) else [text])]
    texts = [text for text in texts if re.search(r"\w\w", text) and not _GAP.fullmatch(text)]
    if len(texts) > 1 and _PREAMBLE.match(texts[0]) and _wanted(texts[0]) is Wants.SENTENCE:
        texts = [f"{texts[0]}, {texts[1]}", *texts[2:]]
    one = len(texts) == 1
    return tuple(_part(text, figure=figure and one) for text in texts) or (_part(core, figure=figure),)


def _part(text: str, *, figure: bool = False, wants: str = "") -> Part:
    asked = wants or _SUBJECT_FIRST.sub("", text)
    wanted = _wanted(asked)
    if wanted is Wants.AMOUNT and _RANKED.search(text) and not _HOW.search(text):
        wanted = Wants.SENTENCE
    if figure and wanted is Wants.SENTENCE:
        wanted = Wants.NUMBER
    counted = _COUNTED.search(text) if wanted is Wants.COUNT else None
    named = next(filter(None, counted.groups()), "") if counted else ""
    return Part(text, wanted, named)


def _wanted(text: str) -> Wants:
    for kind in _table()["kinds"]:
        wants = Wants[kind["wants"].upper()]
        if wants in (Wants.PLACE, Wants.PERSON) and _asks_all(text):
            return Wants.LIST
        if _pattern(tuple(kind["asked"])).search(text):
            if wants in (Wants.LIST, Wants.SENTENCE) and _asks_figure(text):
                return Wants.NUMBER
            return Wants.LIST if wants is Wants.OFFICERS and not _OFFICERS.search(text) else wants
    if _asks_all(text):
        return Wants.LIST
    sign = _BARE_SIGN.search(text)
    if sign:
        return Wants.PERCENT if "%" in sign[0] else Wants.AMOUNT
    return Wants.NUMBER if _asks_figure(text) else Wants.SENTENCE


_BARE_SIGN = re.compile(r"(?<![\d.\s])%|(?<!\d)\s%|[$€£](?!\s?\d)")
"""A sign without a figure asks for one: `total committed $`."""


def _asks_figure(text: str) -> bool:
    """Whether what is asked for is called by a word for figures: `what were the accruals`, not `what is its policy`."""
    asked = _WHAT.search(text)
    return asked is not None and _pattern(tuple(_table()["figures"])).search(asked["head"]) is not None


_WHAT = re.compile(
    r"\bwhat\s+(?:(?:is|was|were|are)\s+)?(?!(?:do|does|did|has|have|had)\b)"
    r"(?P<head>(?:(?!(?:of|on|for|in|at|to|under|from|did|does|do|is|was|were|are|has|had|have)\b)[\w’'&,.-]+\s*){1,6})",
    re.I,
)
"""What `what` goes with, up to a preposition or a verb."""


_OFFICERS = re.compile(r"\b(?:officers|executives|management|leadership)\b", re.I)


def _asks_all(text: str) -> bool:
    """Whether all of something are asked for: `which acquisitions did it make`."""
    nouns = "|".join(sorted(map(re.escape, _table()["listed"])))
    return re.search(rf"\b(?:what|which)\s+(?:[\w’'&,.-]+\s+){{0,4}}?(?:{nouns})\b", text, re.I) is not None


def asks_in_words(core: str) -> bool:
    """Whether its words say what kind of answer is wanted (`how much`, `when`, `list`), or it ranks rows."""
    return ranked_in(core) is not None or any(
        part.wants not in (Wants.NUMBER, Wants.SENTENCE) for part in parts_of(core)
    )


def never_answered(core: str) -> str:
    """What is said of a question that no filing answers; empty for any other.

    >>> never_answered("Where did the stock close in June?")
    'a market price, which is in no filing'
    """
    for refusal in _table()["refusals"]:
        if _pattern(tuple(refusal["asked"])).search(core) and not _pattern(tuple(refusal["unless"])).search(core):
            return str(refusal["says"])
    return "a question in English: other languages are not read" if _is_foreign(core) else ""


def _is_foreign(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.lower())
    known = sum(word in _table()["other languages"] for word in words)
    letters = len(_FOREIGN.findall(text))
    return (
        letters > _MOST_FOREIGN * len(text)
        or (known >= _FEWEST_FOREIGN + (letters == 0) and known >= _MOST_FOREIGN * len(words))
        or (letters > 0 and known >= 1 and "¿" in text)
    )


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    text = resources.files("fin_agent.lexicon.words").joinpath("answer_kinds.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return found


@lru_cache(maxsize=64)
def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Finds any of the phrases; nothing where there are none."""
    spelt = [
        (r"^\W*" if phrase.startswith("^") else r"\b")
        + re.sub(r"(?<=\w)\\\*", r"\\w*", re.escape(phrase.lstrip("^")).replace(r"\ \*\ ", rf"\s+{_WORDS_BETWEEN}"))
        + r"\b"
        for phrase in phrases
    ]
    return re.compile("|".join(spelt) or r"(?!)", re.I)
