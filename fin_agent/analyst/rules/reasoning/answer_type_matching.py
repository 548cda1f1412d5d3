"""Match texts with the answer type of a question: a reason, a name, a date, an amount."""

from __future__ import annotations

import re
from functools import lru_cache

from fin_agent.analyst.rules.reasoning.question_parts import AnswerType, QuestionPart
from fin_agent.analyst.rules.reasoning.term_coverage import stems_in, synonyms_of
from fin_agent.lexicon.words import any_of, finds, listed, patterns, word_lists

_WORDS_BEHIND = 6
_CAUSE_IS_FIRST = 12


def matches_type(text: str, part: QuestionPart) -> bool:
    """Return whether a text is of the answer type. Lists, verdicts and plain words have no mark of their own."""
    wants = part.answer_type
    if wants is AnswerType.CAUSE:
        return contains_listed_phrase("causes", text)
    known = patterns("answer_patterns")
    pattern = known.get(wants.name.lower())
    if pattern is None:
        return True
    if wants is AnswerType.BUSINESS:
        introduced = contains_listed_phrase("introductions", text)
        return introduced and not contains_listed_phrase("no introductions", text) and pattern.search(text) is not None
    if wants in (AnswerType.COUNT, AnswerType.NUMBER):
        text = known["no_figure"].sub("", text)
    if wants is AnswerType.COUNT:
        return any(_counts(found, part.counted) for found in pattern.finditer(text))
    return pattern.search(text) is not None


def _counts(number: re.Match[str], noun: str) -> bool:
    """Return whether a number counts `noun`, or what it stands for: `8,450 employees` are a headcount."""
    wanted = [frozenset(stems_in(noun)[-1:]), *synonyms_of(noun)]
    behind = number.string[number.end() :].split()[:_WORDS_BEHIND]
    if behind[:1] in (["million"], ["billion"]) and number.string[: number.start()].endswith(("$", "€", "£")):
        return False
    # `15 Employee Resource Groups` counts groups: a capital makes a word part of a name.
    said = stems_in(" ".join(word for word in behind if not word[:1].isupper()))
    return any(words.issubset(said) for words in wanted)


def contains_listed_phrase(kind: str, text: str) -> bool:
    """Return whether a text contains a phrase of a list in `answer_words.yaml`."""
    if kind == "causes":
        return _cause(text) is not None
    return finds(text, kind, "answer_words")


def before_the_cause(text: str) -> str:
    """Return the explained part of a sentence: its words before the reason, or all of it if the reason comes first.

    >>> before_the_cause("Margin rose, primarily due to lower freight.")
    'Margin rose, primarily '
    """
    found = _cause(text)
    return text[: found.start()] if found and found.start() > _CAUSE_IS_FIRST else text


def _cause(text: str) -> re.Match[str] | None:
    """Return the words that give a reason, also behind a movement: `recovered on new orders`."""
    causes, others = listed("answer_words", "causes"), listed("answer_words", "no causes")
    return next((found for found in causes.finditer(text) if not others.match(text, found.start())), None)


def movement_directions(text: str) -> tuple[bool, bool]:
    """Return (whether a text says that something rose, whether it says that something fell)."""
    return has_listed_prefix("up", text), has_listed_prefix("down", text)


def has_listed_prefix(kind: str, text: str) -> bool:
    """Return whether a word of the text begins like one of a list in `answer_words.yaml`."""
    return _prefix_pattern(kind).search(text) is not None


@lru_cache(maxsize=4)
def _prefix_pattern(kind: str) -> re.Pattern[str]:
    return any_of(word if len(word) <= _SHORT else f"{word}*" for word in word_lists("answer_words")[kind])


_SHORT = 3
"""Letters of a word that is no beginning of others."""
