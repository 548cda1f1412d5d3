"""Verify numbers of an answer in words against its quotes, as printed and in size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise

from fin_agent.analyst.model.grounding import numbers_not_in
from fin_agent.answering.numerals import NumeralKind, numerals_in, spelled_numbers
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.words import finds, word_lists
from fin_agent.vocabulary.dates import printed_years
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Quote:
    """Words quoted from a passage."""

    text: str
    page: PageScale | None = None
    """The page of a filing; None for a computed result."""
    sentences: str = ""
    """The sentences of the passage that contain the words."""


def unsupported_numbers(
    words: str, quotes: Sequence[Quote], known: str, question: str, *, denied: bool = False
) -> tuple[str, ...]:
    """Return the numbers of `words` without support, or with support in another size: `3 billion` for `3 million`.

    Numbers of the question are no evidence, except its years, dates, names and bounds (`more than 57`).

    Args:
        words: The words to verify.
        quotes: Their quotes.
        known: The reporting companies and periods.
        question: The question.
        denied: Whether the words deny the question, so that all its numbers may be repeated.
    """
    own = question if denied else non_figure_numbers(question)
    texts = [*(quote.text for quote in quotes), known, own]
    text = _PLACES.sub(" ", " \n ".join(texts))
    said = _without_differences(_without_bounds(_PLACES.sub(" ", words), question), quotes)
    lacking = numbers_not_in(said, text)
    held = [(each, quote.page) for quote in quotes for each in scaled_numbers_in(quote.text)]
    held += [(each, None) for each in scaled_numbers_in(f"{known} \n {own}")]
    return tuple(dict.fromkeys((*lacking, *_differs_in_scale(said, held), *_unsupported_spelled_numbers(said, text))))


def non_figure_numbers(question: str) -> str:
    """Return the numbers of a question that are no figures: years, spans, dates, and those of names (`Item 5`, `Q2`).

    >>> non_figure_numbers("Did its 57 stores of FY23 sell more than 6% in Q2, by Note 9?").split()
    ['23', '2023', '2', '9']
    """
    named: list[str] = []
    for numeral in numerals_in(question):
        if numeral.kind in (NumeralKind.YEAR, NumeralKind.SPAN, NumeralKind.LABEL):
            named += [numeral.printed, *([f"{numeral.value}"] if f"{numeral.value}" != numeral.printed else [])]
    words = [word.strip('()?!,;:"') for word in question.split()]
    numbered = word_lists("answer_words")["numbered"]
    named += [word for before, word in pairwise(words) if before.lower() in numbered and word[:1].isdigit()]
    named += [word for word in words if len(_split_date(word)) == _PIECES and all(map(str.isdigit, _split_date(word)))]
    return " ".join(named)


_PIECES = 3


def _split_date(word: str) -> list[str]:
    return word.replace("-", "/").split("/")


_PLACES = re.compile(r"\b(?:10-?[KQ]s?|8-?Ks?|20-?Fs?|6-?Ks?|(?:page|passage)s? \d+)\b", re.I)
"""Numbers in these are locations, no figures."""


def _without_differences(words: str, quotes: Sequence[Quote]) -> str:
    """Return the words without points, or basis points, that are the rounded difference of quoted percentages."""
    sizes = (each for quote in quotes for each in scaled_numbers_in(quote.text))
    rates = {Decimal(each.number) for each in sizes if "%" in (each.size, each.joined_size)}
    gaps = [abs(one - other) for one, other in combinations(rates, 2)]
    kept, start = [], 0
    for each in scaled_numbers_in(words):
        unit = {"points": 1, "basis points": 100}.get(each.size)
        said = Decimal(each.number)
        if unit and any(round(unit * gap, -int(said.as_tuple().exponent)) == said for gap in gaps):
            kept.append(words[start : each.start])
            start = each.end
    return "".join([*kept, words[start:]])


def _without_bounds(words: str, question: str) -> str:
    """Return the words without numbers of the question that they compare with: `more than 57 laboratories`."""
    asked = list(scaled_numbers_in(question))
    kept, start = [], 0
    for each in scaled_numbers_in(words):
        like = [one for one in asked if one.number == each.number and each.size in (one.size, one.joined_size)]
        if like and _is_bound(words[: each.start]):
            kept.append(words[start : each.start])
            start = each.end
    spelled = {each.value for each in spelled_numbers(question)}
    left = "".join([*kept, words[start:]])
    for number in list(spelled_numbers(left)):
        place = left.find(number.words)
        if number.value in spelled and _is_bound(left[:place]):
            left = left[:place] + left[place + len(number.words) :]
    return left


def _is_bound(before: str) -> bool:
    *words, last = before.rstrip("($€£ ").lower().split() or [""]
    words = words if last in ("the", "a", "an", "its", "about", "approximately") else [*words, last]
    return any(words[-len(bound) :] == bound for bound in map(str.split, word_lists("answer_words")["bounds"]))


def _differs_in_scale(words: str, held: Sequence[tuple[ScaledNumber, PageScale | None]]) -> list[str]:
    wrong = []
    for each in scaled_numbers_in(words):
        like = [(one, page) for one, page in held if one.number == each.number]
        if each.size and like and not any(_has_scale(one, page, each.size) for one, page in like):
            wrong.append(f"{each.number} {each.size}")
    return wrong


def _has_scale(one: ScaledNumber, page: PageScale | None, size: str) -> bool:
    if one.size:
        return one.size == size
    return one.joined_size == size or (page is not None and page.states(one, size))


def _unsupported_spelled_numbers(words: str, text: str) -> list[str]:
    """Return the spelled numbers that the text neither spells nor prints."""
    held = {each.value for each in spelled_numbers(text)}
    return [
        each.words
        for each in spelled_numbers(words)
        if each.value not in held and numbers_not_in(f"{each.value}", text)
    ]


@dataclass(frozen=True, slots=True)
class ScaledNumber:
    """A number with its size."""

    number: str
    """Without commas."""
    size: str
    """`million`, `%`, `points`, `hundred thousand`; empty for a bare number."""
    joined_size: str
    """For a bare number, the size of the number joined to it: the `%` of the 3 in `3 to 5%`."""
    next_word: str
    """The word after a bare number if it is in lower case, since a capital begins the next row of a table.

    Empty for an amount of money, whose next word is not counted.
    """
    start: int
    end: int


def scaled_numbers_in(text: str) -> Iterator[ScaledNumber]:
    """Yield the numbers of a text in order.

    >>> [(each.number, each.size) for each in scaled_numbers_in("$3,533 bn, or 41k, up (6.0) %")]
    [('3533', 'billion'), ('41', 'thousand'), ('6.0', '%')]
    >>> [each.joined_size for each in scaled_numbers_in("between $3 and 5 million")]
    ['million', '']
    """
    found = list(_SIZED.finditer(text))
    shared = ""
    sizes: list[ScaledNumber] = []
    for place in range(len(found) - 1, -1, -1):
        match = found[place]
        end = match.end()
        size = _normalized_scale(match["sizes"] or "")
        next_size = sizes[-1].size or sizes[-1].joined_size if sizes else ""
        told_together = bool(sizes) and _TOGETHER.fullmatch(text[end : sizes[-1].start]) is not None
        shared = next_size if told_together and not size else ""
        behind = "" if match["currency"] else _word_behind(text[end : end + _MAX_WORD_LENGTH])
        number = match["number"].replace(",", "")
        sizes.append(ScaledNumber(number, size, shared, behind, match.start(), end))
    yield from reversed(sizes)


def _word_behind(text: str) -> str:
    """Return the word in lower case that a text begins with, behind white space; empty if there is none."""
    text = text.removeprefix(")")
    word = text.split()[0] if text[:1].isspace() and text.strip() else ""
    return word.rstrip(".,;:!?()") if word[:1].islower() else ""


_MAX_WORD_LENGTH = 60
_NUMBER = r"\d+(?:,\d+)*(?:\.\d+)?"
_LONG = r"hundreds?|thousands?|millions?|billions?|trillions?|dozens?|lakhs?|crores?|mln|mil|mn|mm|bn|bil|trn|tn"
_PERCENT = r"%|(?:per[ ]?cent|pct|percentage[ -]points?|p\.?p\.?|ppts?|basis[ ]points?|bps?|points?)(?!\w)"
_SIZED = re.compile(
    rf"(?P<currency>[$€£¥]\s?)?\(?(?<![\d.])(?P<number>{_NUMBER})"
    rf"(?P<sizes>(?:\s?\)?\s?\|?\s?%|\)?[\s-]{{0,2}}(?:{_PERCENT})|\)?[\s-]{{0,2}}(?:{_LONG})(?!\w)"
    r"|(?:(?(currency)\s?))\(?[kmb](?!\w)\)?)*)",
    re.I,
)
_TOGETHER = re.compile(
    r"\)?\s*(?:,|,?\s*(?:and|or|to|through|versus|vs\.?|from|compared\s+(?:to|with))|[-–—])\s*(?:and\s+)?[$€£(]*\s*",
    re.I,
)
_EACH = re.compile(rf"{_PERCENT}|{_LONG}|[kmb]", re.I)
_SAME = {
    **dict.fromkeys(("m", "mm", "mn", "mil", "mln"), "million"),
    **dict.fromkeys(("b", "bn", "bil"), "billion"),
    **dict.fromkeys(("tn", "trn"), "trillion"),
    "k": "thousand",
    **dict.fromkeys(("per cent", "percent", "pct"), "%"),
    **dict.fromkeys(("percentage point", "percentage-point", "pp", "ppt", "point"), "points"),
    **dict.fromkeys(("bp", "basis point"), "basis points"),
}


def _normalized_scale(sizes: str) -> str:
    words = (found[0].lower().replace(".", "") for found in _EACH.finditer(sizes))
    bare = (word if len(word) < 2 or not word.endswith("s") else word[:-1] for word in words)
    return " ".join(_SAME.get(word, word) for word in bare)


class PageScale:
    """A page with the scale of its bare numbers."""

    def __init__(self, workspace: Workspace, key: PageKey) -> None:
        facts = workspace.index.facts({key.doc_id}, pages=[key])
        self._text = "\n".join(stored.passage.text for stored in workspace.index.passages([key]))
        self._of_facts: dict[Decimal, set[str]] = {}
        for sourced in facts:
            fact = sourced.fact
            size = "%" if fact.unit == "percent" else _SCALES.get(fact.scale, "")
            self._of_facts.setdefault(abs(fact.amount), set()).add(size)

    def states(self, bare: ScaledNumber, size: str) -> bool:
        """Return whether a bare number quoted from this page has a size, by its fact or the words of the page."""
        if bare.next_word and bare.next_word not in _BETWEEN:
            return False  # `41 laboratories` are no `41 million`, whatever the scale of the table
        known = self._of_facts.get(Decimal(bare.number), set())
        if size in known:
            return True
        if size == "%":
            return self._is_percent(bare.number)
        return not known and any(found.lastgroup == size for found in _STATED.finditer(self._text))

    def _is_percent(self, number: str) -> bool:
        """Return whether a row with the number, or a heading line above it, is about percent."""
        headed = False
        for line in self._text.splitlines():
            numbers = list(scaled_numbers_in(line))
            if any(each.number == number and not each.size for each in numbers):
                if headed or _OF_PERCENT.search(line):
                    return Decimal(number) <= _HIGHEST
            elif finds(line, "percent signs", "row_words") and all(_is_of_date(each.number) for each in numbers):
                headed = True
        return False


_SCALES = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}
_STATED = re.compile(
    r"(?P<thousand>\bthousands\b|\b000['’]?s\b|[$(]\s?000\b)|(?P<million>\bmillions\b|[$(]\s?mm?\)|\$\s?mm\b)"
    r"|(?P<billion>\bbillions\b|\$\s?bn\b)",
    re.I,
)
_BETWEEN = frozenset(
    {"in", "for", "at", "as", "and", "or", "to", "from", "of", "vs", "versus", "compared", "during", "on"}
)
_HIGHEST = 1_000
"""A percentage above this is not accepted by a heading alone."""
_OF_PERCENT = re.compile(
    r"(?<![\d)\s])\s*%|^\s*%|\|\s*%|\b(?:per\s?cent(?:age)?s?|rates?|margins?|yields?|return on|share of)\b",
    re.I,
)


def _is_of_date(number: str) -> bool:
    return bool(printed_years(number)) or (number.isdecimal() and int(number) < _NO_DAY)


_NO_DAY = 40
