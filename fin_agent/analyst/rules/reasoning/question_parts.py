"""Read a question in words: its parts with answer types, and what no filing answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial
from itertools import islice, takewhile

from fin_agent.lexicon.text_normalization import words_in
from fin_agent.lexicon.words import any_of, finds, load_yaml, patterns, word_lists
from fin_agent.query.question_splitting import asks_something, is_subordinate, split_requests

_MAX_FOREIGN = 0.3
_MIN_FOREIGN = 2


class AnswerType(StrEnum):
    """The content that an answer must have; the value names it in a refusal."""

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
    QUANTITY = "a quantity"
    DATE = "a date"
    BUSINESS = "a sentence that says what the company is"
    OFFICERS = "a list of officers"
    LIST = "a list"
    PERSON = "a name"
    BUYER = "the name of a buyer"
    PLACE = "a place"
    DEFINITION = "a definition"
    PRACTICE = "a sentence that says how it is done"
    ALLEGATION = "a sentence that says what is alleged"
    OUTCOME = "a sentence that says how it ended"
    STATUS = "a sentence that says where it stands"
    TERMS = "a sentence that says on what terms"
    CONDITION = "a sentence that says what comes first"
    DECISION = "a sentence that says what was decided"
    SENTENCE = "a sentence"


FIGURES = frozenset(
    {AnswerType.AMOUNT, AnswerType.NUMBER, AnswerType.SHARE, AnswerType.PERCENT, AnswerType.COUNT, AnswerType.DURATION}
) | {AnswerType.QUANTITY}
"""Answer types that are numbers."""


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One request of a question."""

    text: str
    answer_type: AnswerType
    counted: str = ""
    """The noun that is counted, if a number of things is requested."""


def parts_of(core: str, *, figure: bool = False, counted: str = "") -> tuple[QuestionPart, ...]:
    """Return the parts of a question, in order.

    With `figure`, a number is known to be requested; `counted` is what it counts.

    >>> question = "When did the plant close, and how many people lost work?"
    >>> [(part.text, part.answer_type.name) for part in parts_of(question)]
    [('When did the plant close', 'DATE'), ('how many people lost work', 'COUNT')]
    """
    if counted:
        return (QuestionPart(core.strip(" ?.!"), AnswerType.COUNT, counted),)
    if attributes := attributes_of(core):
        return attributes
    texts: list[str] = []
    lead = ""
    for text in (each.strip(" ,?.!") for each in split_requests(core)):
        asks = asks_something(text) or core[core.find(text) + len(text) :].lstrip(" ,").startswith(_JOINED)
        if texts and " " in text and is_subordinate(text):
            texts[-1] = f"{texts[-1]}, {text}"  # `... in 2022, when it reported 2021`
        elif asks:
            texts.append(f"{lead}{text}")
        lead = "" if asks else f"{lead}{text}, "  # `Of its swaps, which one ...`
    if lead or not texts:
        texts = [*texts[:-1], f"{texts[-1]}, {lead.strip(' ,')}" if texts else core.strip(" ?.!")]
    types = [_answer_type(text) for text in texts]
    if figure and types == [AnswerType.SENTENCE]:
        types = [AnswerType.NUMBER]
    counts = [_counted(text) if wanted is AnswerType.COUNT else "" for text, wanted in zip(texts, types, strict=True)]
    return tuple(map(QuestionPart, texts, types, counts))


def attributes_of(core: str) -> tuple[QuestionPart, ...]:
    """Return a part for each attribute that is listed behind its subject; none for any other question.

    >>> [(part.text, part.answer_type.name) for part in attributes_of("The revolver: size and maturity?")]
    [('The revolver size', 'AMOUNT'), ('The revolver maturity', 'DATE')]
    >>> [part.answer_type.name for part in attributes_of("The revolver: size, maturity, and who is the lender?")]
    ['AMOUNT', 'DATE', 'PERSON']
    """
    subject, _, listed = core.replace(" - ", ": ").replace("? ", ": ").partition(": ")
    items = [item.strip(" ?.") for item in listed.replace(" and ", ",").replace(" plus ", ",").split(",")]
    items = [item for item in items if item and not item.isdigit()]  # `as of Jan 31, 2025`
    kinds = _table()["attributes"].items()
    usual = "number" if finds(subject, "outlook", "row_words") else ""
    types = [next((kind for kind, words in kinds if _finds(words, item)), usual) for item in items]
    # `revolver: size, maturity, what did it replace`
    known = all(kind or asks_something(item) for item, kind in zip(items, types, strict=True))
    if len(items) < _MIN_ATTRIBUTES or not (known and types[0]):
        return ()
    wanted = [AnswerType[kind.upper()] if kind else _answer_type(item) for item, kind in zip(items, types, strict=True)]
    return tuple(QuestionPart(f"{subject} {item}", kind) for item, kind in zip(items, wanted, strict=True))


_MIN_ATTRIBUTES = 2
_JOINED = ("and ", "& ", "plus ")


def _counted(text: str) -> str:
    """Return the noun that is counted: `stores` of `how many stores did it open` and of `store count`."""
    text = patterns("asked_patterns")["many of those"].sub("how many ", text)
    before, count, _ = text.replace("-", " ").partition(" count")
    named = _words_after("many of", text, 3) or _words_after("counted after", text, 3)
    words = [word.strip(",.;:") for word in named.split() or before.split() * bool(count)]
    if len(words) > 1 and words[-1].lower() in word_lists("question_words")["counted acts"]:
        words = words[:-1]  # `car deliveries` are cars
    return " ".join(words if named else words[-1:])


def _words_after(lead: str, text: str, most: int) -> str:
    """Return the words after a phrase of the list `lead`, up to a preposition or a verb."""
    found = _pattern(tuple(_table()[lead])).search(text)
    words = text[found.end() :].split() if found else ()
    ends = _table()["noun ends"]
    head = takewhile(lambda word: word.lstrip("(")[:1].isalnum() and word.lower().strip(",.") not in ends, words)
    return " ".join(islice(head, most))


def _answer_type(text: str) -> AnswerType:
    asks_all = _finds((f"what|which * {noun}" for noun in _table()["listed"]), text)
    asks_figure = _finds(_table()["figures"], _words_after("figure after", text, 6))
    for kind in _table()["kinds"]:
        wants = AnswerType[kind["wants"].upper()]
        if wants in (AnswerType.PLACE, AnswerType.PERSON) and asks_all:
            return AnswerType.LIST
        if _finds(kind["asked"], text):
            if wants in (AnswerType.LIST, AnswerType.SENTENCE) and asks_figure:
                return AnswerType.NUMBER
            no_officers = wants is AnswerType.OFFICERS and set(words_in(text.lower())).isdisjoint(_table()["officers"])
            return AnswerType.LIST if no_officers else wants
    if asks_all:
        return AnswerType.LIST
    sign = patterns("asked_patterns")["bare sign"].search(text)
    if sign:
        return AnswerType.PERCENT if "%" in sign[0] else AnswerType.AMOUNT
    return AnswerType.NUMBER if asks_figure else AnswerType.SENTENCE


def asks_in_words(core: str) -> bool:
    """Return whether the words state the answer type (`how much`, `when`, `list`)."""
    plain = (AnswerType.NUMBER, AnswerType.SENTENCE)
    return any(part.answer_type not in plain for part in parts_of(core))


def cover_attribute(text: str) -> str:
    """Return what a question asks for that the cover of a report states (words/cover_attributes.yaml); else nothing.

    >>> cover_attribute("When does Acme's fiscal year end?")
    'fiscal year end'
    """
    return next((kind for kind in patterns("cover_attributes") if finds(text, kind)), "")


def no_figure_answers(core: str) -> bool:
    """Return whether a question asks for a practice or a reason, which no figure answers, although it names a measure.

    >>> no_figure_answers("How does Acme value its inventories?"), no_figure_answers("How high are inventories?")
    (True, False)
    """
    return any(_finds(kind["asked"], core) for kind in _table()["kinds"] if kind.get("no figure"))


def unanswerable_reason(core: str, *, of_company: bool = False) -> str:
    """Return the message for a question that no filing answers; empty for any other.

    With `of_company`, the question names an indexed company, so that it is no small talk: `book a tax benefit`.

    >>> unanswerable_reason("Where did the stock close in June?")
    'a market price, which is in no filing'
    """
    for refusal in _table()["refusals"]:
        applies = not (of_company and refusal.get("of no company"))
        if applies and _finds(refusal["asked"], core) and not _finds(refusal["unless"], core):
            return str(refusal["says"])
    return "a question in English: other languages are not supported" if _is_foreign(core) else ""


def _is_foreign(text: str) -> bool:
    words = words_in(text.lower())
    known = sum(word in _table()["other languages"] for word in words)
    letters = sum(mark in "¿¡" or (mark.isalpha() and not mark.isascii()) for mark in text)
    return (
        letters > _MAX_FOREIGN * len(text)
        or (known >= _MIN_FOREIGN + (letters == 0) and known >= _MAX_FOREIGN * len(words))
        or (letters > 0 and known >= 1 and "¿" in text)
    )


_table = partial(load_yaml, "answer_kinds")
_pattern = lru_cache(maxsize=64)(any_of)


def _finds(phrases: Iterable[str], text: str) -> bool:
    return _pattern(tuple(phrases)).search(text) is not None
