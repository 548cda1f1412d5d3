"""Numbers of an answer in words held against its quotes: as printed, and of the same size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.analyst.model.grounding import numbers_not_in
from fin_agent.analyst.model.page_sizes import PageSizes
from fin_agent.analyst.model.sizes import Sized, sizes_in
from fin_agent.answering.numerals import NumeralKind, numerals_in, spelled_numbers
from fin_agent.lexicon.words import word_lists


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that stand in a passage."""

    text: str
    page: PageSizes | None = None
    """Of a filing; None for a result of our own."""


def unsaid(words: str, quotes: Sequence[Quote], known: str, question: str, *, denied: bool = False) -> tuple[str, ...]:
    """Numbers of `words` that nothing bears out, or only in another size: `3 billion` for `3 million`, `3%` for `3`.

    `known` is who reports, and of when. A number of the question is no evidence of itself: its years, dates and names
    are taken from it, and a bound (`more than 57`); all of them where what it says is `denied`.
    """
    own = question if denied else names_of(question)
    texts = [*(quote.text for quote in quotes), known, own]
    text = _PLACES.sub(" ", " \n ".join(texts))
    said = _without_bounds(_PLACES.sub(" ", words), question)
    lacking = numbers_not_in(said, text)
    held = [(each, quote.page) for quote in quotes for each in sizes_in(quote.text)]
    held += [(each, None) for each in sizes_in(f"{known} \n {own}")]
    return tuple(dict.fromkeys((*lacking, *_of_another_size(said, held), *_spelled(said, text))))


def names_of(question: str) -> str:
    """Numbers of a question that are no figures: years, spans, dates, and those of names (`Item 5`, `Q2`).

    >>> names_of("Did its 57 stores of FY23 sell more than 6% in Q2, by Note 9?").split()
    ['23', '2023', '2', '9']
    """
    named: list[str] = []
    for numeral in numerals_in(question):
        if numeral.kind in (NumeralKind.YEAR, NumeralKind.SPAN, NumeralKind.LABEL):
            named += [numeral.printed, *([f"{numeral.value}"] if f"{numeral.value}" != numeral.printed else [])]
    behind = "|".join(sorted(map(re.escape, word_lists("answer_words")["numbered"]), key=len, reverse=True))
    for found in re.finditer(rf"\b(?:{behind})\s+(\d[\w.]*)|\b\d{{1,4}}[/-]\d{{1,2}}[/-]\d{{1,4}}\b", question, re.I):
        named.append(found[1] or found[0])
    return " ".join(named)


_PLACES = re.compile(r"\b(?:10-?[KQ]|8-?K|20-?F|6-?K|(?:page|passage)s? \d+)\b", re.I)
"""Numbers in these say where something stands: they are no figures, and account for none."""


def _without_bounds(words: str, question: str) -> str:
    """The words without the question's numbers that they set something against: `more than 57 laboratories`."""
    asked = list(sizes_in(question))
    kept, start = [], 0
    for each in sizes_in(words):
        like = [one for one in asked if one.number == each.number and each.size in (one.size, one.shared)]
        if like and _is_a_bound(words[: each.start]):
            kept.append(words[start : each.start])
            start = each.end
    spelled = {each.value for each in spelled_numbers(question)}
    left = "".join([*kept, words[start:]])
    for number in list(spelled_numbers(left)):
        place = left.find(number.words)
        if number.value in spelled and _is_a_bound(left[:place]):
            left = left[:place] + left[place + len(number.words) :]
    return left


def _is_a_bound(before: str) -> bool:
    bounds = "|".join(sorted(map(re.escape, word_lists("answer_words")["bounds"]), key=len, reverse=True))
    return (
        re.search(rf"\b(?:{bounds})\s+(?:(?:the|an?|its|about|approximately)\s+)?[($€£]*\s*\Z", before, re.I)
        is not None
    )


def _of_another_size(words: str, held: Sequence[tuple[Sized, PageSizes | None]]) -> list[str]:
    wrong = []
    for each in sizes_in(words):
        like = [(one, page) for one, page in held if one.number == each.number]
        if each.size and like and not any(_has_size(one, page, each.size) for one, page in like):
            wrong.append(f"{each.number} {each.size}")
    return wrong


def _has_size(one: Sized, page: PageSizes | None, size: str) -> bool:
    if one.size:
        return one.size == size
    return one.shared == size or (page is not None and page.states(one, size))


def _spelled(words: str, text: str) -> list[str]:
    """Numbers spelled in words that the text neither spells nor prints."""
    held = {each.value for each in spelled_numbers(text)}
    return [
        each.words
        for each in spelled_numbers(words)
        if each.value not in held and numbers_not_in(f"{each.value}", text)
    ]
