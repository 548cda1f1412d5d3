"""The kind of answer that a question in words wants, and whether a text is of it."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from fin_agent.lexicon.words import word_lists


class Kind(StrEnum):
    """What an answer has to hold."""

    OPINION = "an opinion or a forecast of prices, which filings do not give"
    CAUSE = "a sentence that gives the reason"
    PERSON = "a name"
    PLACE = "a place"
    TIME = "a date"
    COUNT = "a number"
    LIST = "a list"
    BUSINESS = "a sentence that says what the company is"
    VERDICT = "a sentence that settles it"
    WORDS = "a sentence"


_CAUSE = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat\s+(?:\w+\s+){0,2}?(?:drove|caused|led\s+to|explain(?:s|ed)|contributed|prompted)\b"
    r"|\b(?:reason|explanation|cause|driver|factor)s?\s+(?:for|behind|why|of|in|contributing)\b|\bwhat\s+(?:was|were|is|are)\s+behind\b"
    r"|\b(?:driven|caused)\s+by\s+what\b|\bdue\s+to\s+what\b",
    re.I,
)
_PRICE = re.compile(
    r"^\W*(?:what(?:\s+is|\s+was|['’]s)\s+)?(?:the\s+)?(?:current\s+)?(?:[\w.&'’-]+\s+){1,5}(?:stock|share)\s+price"
    r"(?:\s+(?:today|now|currently|right now))?\W*$",
    re.I,
)
"""What a share costs now."""
_RISKS = re.compile(r"\brisk factors?\b", re.I)
_VERDICT = re.compile(
    r"^\W*(?:(?:as of|in|for|during)\b[^,]*,\s*)?"
    r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would)\b(?!\s+(?:you|we)\b)",
    re.I,
)
_BUSINESS = re.compile(
    r"\b(?:what|which)\s+(?:industr(?:y|ies)|sectors?|(?:line|kind|type)\s+of\s+(?:business|company))\b"
    r"|\bwhat\s+(?:does|do)\s+(?:[\w’'&.,-]+\s+){1,4}do\b",
    re.I,
)
_PERSON = re.compile(
    r"\bwho\b|\bwhom\b|\bwhich\s+(?:\w+\s+)?(?:person|firm|auditor|executive|director|bank|law firm)\b", re.I
)
_SEVERAL_PEOPLE = re.compile(r"\bwho\s+(?:are|were)\b", re.I)
_PLACE = re.compile(
    r"\bwhere\b|\b(?:which|what)\s+(?:us |u\.s\. )?(?:city|state|country|(?:stock )?exchange|jurisdiction|location)\b",
    re.I,
)
_TIME = re.compile(r"\bwhen\b|\b(?:what|which)\s+(?:date|day|year|month)\b|\bsince what\b", re.I)
_COUNT = re.compile(r"\bhow\s+(?:many|much|large|big|long|old)\b|\bwhat\s+(?:number|percent\w*|share|amount)\b", re.I)
_ALL_OF = re.compile(r"^\W*(?:(?:please\s+)?(?:list|name|enumerate)\b|(?:what|which|who)\s+(?:are|were)\b)", re.I)
_SOME_WORDS = r"(?:[\w’'&,.-]+\s+){0,5}?"

_A_NAME = re.compile(r"\b[A-Z][\w.&’'-]+(?:\s+(?:[A-Z&][\w.&’'-]*|of|and))*\s+[A-Z][\w.&’'-]+|\bLLP\b")
_IS_A = re.compile(
    r"^(?:[A-Z][\w.,&’'()“” -]{1,60}?\s+is|we are|the company is|.{0,40},\s+we are)\s+(?:an?|the|one of)\b", re.I
)
_A_PLACE = re.compile(
    r"\b(?:[Ii]n|[Aa]t|[Oo]n|of|under)\s+(?:the\s+)?(?:[Ss]tate of\s+)?[A-Z][a-zA-Z]+|[A-Z]\w+, [A-Z]\w+"
)
_NO_FIGURE = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}\b|\b(?:19|20)\d\d\b"
    r"|\b(?:No\.|Item|Note|Form|Exhibit|Section|Rule) ?\d[\w.()-]*"
)
"""Digits of dates and headings state no figure."""
_PAID_FOR = re.compile(r"\b(?:pay|pays|paid|spend|spent)\b[^?]*\bfor\b|\b(?:purchase|acquisition)\s+price\b", re.I)
_PAID = re.compile(
    r"\b(?:pa(?:y|id|ying)|payments?|price[sd]?|consideration|costs?|spent|spend\w*)\b|\bfor\s+(?:[\w-]+\s+){0,5}?\$",
    re.I,
)
_A_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_MARK = re.compile(r"\(\d{1,2}\)")


def kind_of(core: str, *, figure: bool = False) -> Kind:
    """The kind of answer that `core` wants; `figure` where a number is known to be asked for.

    >>> kind_of("Why did sales fall?").name, kind_of("Who are the rivals?").name, kind_of("Is it seasonal?").name
    ('CAUSE', 'LIST', 'VERDICT')
    """
    if phrase_in("opinions", core) or _PRICE.search(core):
        return Kind.OPINION
    if _CAUSE.search(core) and not _RISKS.search(core):
        return Kind.CAUSE
    if _VERDICT.search(core):
        return Kind.VERDICT
    if figure or _COUNT.search(core):
        return Kind.COUNT
    if _BUSINESS.search(core):
        return Kind.BUSINESS
    if _SEVERAL_PEOPLE.search(core) or asks_all(core):
        return Kind.LIST
    for pattern, kind in ((_PLACE, Kind.PLACE), (_PERSON, Kind.PERSON), (_TIME, Kind.TIME)):
        if pattern.search(core):
            return kind
    return Kind.WORDS


def asks_all(core: str, nouns: str = "listed") -> bool:
    """Whether a question asks for all of something: `what are the segments`, `which acquisitions`."""
    words = "|".join(sorted(map(re.escape, word_lists("answer_words")[nouns])))
    which = re.compile(rf"\b(?:what|which)\s+{_SOME_WORDS}(?:{words})\b", re.I)
    named = re.search(rf"\b(?:{words})\b", core, re.I) is not None
    return bool(which.search(core)) or (named and bool(_ALL_OF.search(core)))


def asks_price(core: str) -> bool:
    """Whether a question asks what was paid for something.

    >>> asks_price("How much did Acme pay for Fernhollow?"), asks_price("How much debt is due?")
    (True, False)
    """
    return _PAID_FOR.search(core) is not None


def states_price(text: str) -> bool:
    """Whether a text says that money was given for something, and not only what came of it.

    >>> states_price("We acquired it for $99 million."), states_price("It added $21 million.")
    (True, False)
    """
    return _PAID.search(text) is not None


def holds(kind: Kind, text: str) -> bool:
    """Whether a text is of a kind: a reason for why, a figure for how many, a name for who."""
    if kind is Kind.CAUSE:
        return phrase_in("causes", text)
    if kind is Kind.COUNT:
        return states_figure(text)
    if kind is Kind.BUSINESS:
        formal = phrase_in("no introductions", text)
        return not formal and _IS_A.search(text) is not None and phrase_in("introductions", text)
    if kind is Kind.PERSON:
        return _A_NAME.search(text) is not None
    if kind is Kind.PLACE:
        return _A_PLACE.search(text) is not None
    if kind is Kind.TIME:
        return _A_YEAR.search(text) is not None
    return True


def states_figure(text: str) -> bool:
    """Whether a text has a number that is no date, note or item."""
    return re.search(r"\d", _NO_FIGURE.sub("", _MARK.sub("", text))) is not None


def phrase_in(kind: str, text: str) -> bool:
    """Whether a text holds one of the phrases of `answer_words.yaml`."""
    return _any_of(kind).search(text.replace("’", "'")) is not None


def before_the_cause(text: str) -> str:
    """What a sentence explains: its words up to the reason. All of it where the reason comes first.

    >>> before_the_cause("Margin rose, primarily due to lower freight.")
    'Margin rose, primarily '
    """
    found = _any_of("causes").search(text)
    return text[: found.start()] if found and found.start() > _A_FEW_WORDS else text


_A_FEW_WORDS = 12


def begins_one(kind: str, text: str) -> bool:
    """Whether a word of the text begins as one of the list does."""
    return _beginnings(kind).search(text) is not None


@lru_cache(maxsize=16)
def _any_of(kind: str) -> re.Pattern[str]:
    phrases = sorted(word_lists("answer_words")[kind], key=lambda phrase: (-len(phrase), phrase))
    spelt = [*map(re.escape, phrases), *([_moved_on()] if kind == "causes" else [])]
    return re.compile(r"\b(?:" + "|".join(spelt) + r")\b", re.I)


_NO_REASON = r"(?:(?:an? (?:\w+ )?(?:percent|share|result|portion)|compared|of|reported|follows))"


def _moved_on() -> str:
    """A movement with its reason: `recovered on new orders`, `grew modestly as`; not `rose as a percentage of`."""
    moves = "|".join(sorted(word_lists("answer_words")["moved"]))
    return rf"(?:{moves})(?: \w+ly)? (?:on|as(?! {_NO_REASON}))"


@lru_cache(maxsize=4)
def _beginnings(kind: str) -> re.Pattern[str]:
    words = sorted(word_lists("answer_words")[kind], key=lambda word: (-len(word), word))
    return re.compile(r"\b(?:" + "|".join(f"{word}(?:\\b)" if len(word) < 4 else word for word in words) + ")", re.I)
