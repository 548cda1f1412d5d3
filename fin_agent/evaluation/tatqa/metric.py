"""TAT-QA's score of one answer: exact match and F1, with scales (Zhu et al. 2021, after DROP's).

Numbers are compared in base units: `1,452.4` in millions and `$1,452.4 million` are the same. The parts of an answer
are sorted and compared as one text, so that their order does not count. Whatever the published definition does
differently from what one might expect is kept, and said where it stands.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

NUMERIC_TYPES = frozenset({"arithmetic", "count"})
"""Answer types without partial credit."""


@dataclass(frozen=True, slots=True)
class Score:
    """0 or 1, and 0.0 to 1.0 in steps of 0.01."""

    exact: float
    f1: float


def score(
    gold: Sequence[str], gold_scale: str, answer_type: str, predicted: Sequence[str], predicted_scale: str
) -> Score:
    """The score of an answer's parts; nothing predicted, or no gold answer, scores nothing."""
    if not gold or not any(predicted):
        return Score(0.0, 0.0)
    truth = normalized(in_base_units(gold, gold_scale))
    readings = [in_base_units(predicted, predicted_scale)]
    if len(predicted) == 1 and not predicted_scale and "%" not in predicted[0]:
        # A fraction without a scale may stand for a percentage, so it is not rounded to two places first.
        amount = number(predicted[0])
        readings += [] if amount is None else [f"{amount:.4f}"]
    scores = [_compared(normalized(reading), truth) for reading in readings]
    best = max(scores, key=lambda each: (each.exact, each.f1))
    return Score(best.exact, best.exact) if answer_type in NUMERIC_TYPES else best


def in_base_units(parts: Sequence[str], scale: str) -> str:
    """The parts, sorted and joined: numbers times their scale with four places, other texts followed by the scale."""
    return " ".join(_in_base_units(part, scale) for part in sorted(parts))


def number(text: str) -> float | None:
    """The number that `text` is, in base units; None where it is none. Whole numbers are int: `134` is no `134.0`.

    A first word that is a number may be followed by nothing but a scale (`1.3 billion`). `%` divides by a hundred.
    Parentheses make a number negative only where no comma stands inside, and no currency sign.
    """
    words = _bare(text).split()
    try:
        first = float(words[0]) if words else float("nan")
    except ValueError:
        return None
    if first != first or (len(words) > 1 and _size(words[1]) == 1):
        return None
    found = _DIGITS.search(_bare(text, keep_spaces=False))
    if found is None:
        return None
    amount = float(found[0]) if "." in found[0] else int(found[0])
    scaled = _SCALED.search(text)
    sign = -1 if _IN_PARENTHESES.search(text.strip()) else 1
    return round(amount * (_size(scaled[0]) if scaled else 1) * sign * (0.01 if _IN_PERCENT.search(text) else 1), 4)


def normalized(text: str) -> str:
    """Lower case, without punctuation, articles and extra spaces; words that are numbers as their value."""
    words = (_ARTICLE.sub(" ", _normalized_word(word)).split() for word in text.lower().split(" "))
    return " ".join(part for parts in words for part in parts)


def _in_base_units(part: str, scale: str) -> str:
    amount = number(part)
    if amount is None:
        return f"{part} {scale}" if scale else part
    if "%" in part:
        return f"{amount:.4f}"
    return f"{round(amount, 2) * _size(scale):.4f}"


def _size(word: str) -> float:
    return next((size for name, size in _SIZES.items() if name in word.lower()), 1)


def _bare(text: str, *, keep_spaces: bool = True) -> str:
    bare = text.translate(_MARKS)
    return " ".join(bare.split()) if keep_spaces else bare


def _normalized_word(word: str) -> str:
    amount = number(word)
    return word.translate(_PUNCTUATION) if amount is None else str(amount)


def _compared(predicted: str, gold: str) -> Score:
    """Over the sets of words: F1 is the harmonic mean of the shares that are right and that are found."""
    said, true = set(predicted.split()), set(gold.split())
    shared = len(said & true)
    precision = shared / len(said) if said else 1.0
    recall = shared / len(true) if true else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Score(float(predicted == gold), round(f1, 2))


_SIZES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "percent": 0.01}
_MARKS = str.maketrans("", "", "'\"\\$€£¥%(),[]")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_DIGITS = re.compile(r"[+-]?\d+(?:\.\d+)?")
_SCALED = re.compile(r"[\d.]+\s?[a-zA-Z]+")
_IN_PARENTHESES = re.compile(r"\([\d.\s]+\)")
_IN_PERCENT = re.compile(r"[\d.\s]+%")
