"""Check the words of a model against the texts that it was shown: phrases, and numbers as printed and in size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise

from fin_agent.answering.numerals import NumeralKind, numerals_in, spelled_numbers
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.text_normalization import places_of
from fin_agent.lexicon.words import finds, patterns, word_lists
from fin_agent.vocabulary.amount_formatting import SCALE_WORDS
from fin_agent.workspace import Workspace

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


def _without_thousands_separators(number: str) -> str:
    return re.sub(r",(?=\d{3}(?!\d))", "", number)


_PATTERNS = patterns("size_patterns")


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

    Supported are those of the quotes and of the `known` companies and periods. Numbers of the question are no evidence,
    except its years, dates, names and bounds (`more than 57`), and all if the words deny it (`denied`).
    """
    own = question if denied else non_figure_numbers(question)
    text = _PATTERNS["place"].sub(" ", " \n ".join((*(quote.text for quote in quotes), known, own)))
    said = _PATTERNS["place"].sub(" ", words)
    for each in reversed(list(scaled_numbers_in(said))):
        if _is_bound(each, said[: each.start], question) or _is_difference(each, quotes):
            said = said[: each.start] + said[each.end :]
    held = [
        (each, quote.page) for quote in (*quotes, Quote(known), Quote(own)) for each in scaled_numbers_in(quote.text)
    ]
    spelled = {f"{each.value}" for each in spelled_numbers(text)}

    def differs_in_scale(each: ScaledNumber) -> bool:
        like = [(one, page) for one, page in held if one.number == each.number]
        fits = (one.size == each.size or (not one.size and page and page.states(one, each.size)) for one, page in like)
        return bool(each.size and like) and not any(fits)

    lacking = [
        *numbers_not_in(said, text),
        *(f"{each.number} {each.size}" for each in filter(differs_in_scale, scaled_numbers_in(said))),
        *(each.words for each in spelled_numbers(said) if {*numbers_not_in(f"{each.value}", text)} - spelled),
    ]
    return tuple(dict.fromkeys(lacking))


def non_figure_numbers(question: str) -> str:
    """Return the numbers of a question that are no figures: years, spans, dates, and those of names (`Item 5`, `Q2`).

    >>> non_figure_numbers("Did its 57 stores of FY23 sell more than 6% in Q2, by Note 9?").split()
    ['23', '2023', '2', '9']
    """
    named: list[str] = []
    for numeral in numerals_in(question):
        if numeral.kind in (NumeralKind.YEAR, NumeralKind.SPAN, NumeralKind.LABEL):
            named += dict.fromkeys((numeral.printed, f"{numeral.value}"))
    words = [word.strip('()?!,;:"') for word in question.split()]
    numbered = word_lists("answer_words")["numbered"]
    named += [word for before, word in pairwise(words) if before.lower() in numbered and word[:1].isdigit()]
    dates = ((word, word.replace("/", "-").split("-")) for word in words)
    return " ".join([*named, *(word for word, parts in dates if len(parts) == 3 and all(map(str.isdigit, parts)))])


def _is_bound(each: ScaledNumber, before: str, question: str) -> bool:
    """Return whether a number of the question is what something is compared with: `more than 57 laboratories`."""
    if (each.number, each.size) not in {(one.number, one.size) for one in scaled_numbers_in(question)}:
        return False
    *words, last = before.rstrip("($€£ ").lower().split() or [""]
    words = words if last in ("the", "a", "an", "its", "about", "approximately") else [*words, last]
    return any(words[-len(bound) :] == bound for bound in map(str.split, word_lists("answer_words")["bounds"]))


def _is_difference(each: ScaledNumber, quotes: Sequence[Quote]) -> bool:
    """Return whether a number is the rounded difference of quoted percentages, in points or basis points."""
    unit = {"points": 1, "basis points": 100}.get(each.size)
    rates = {Decimal(one.number) for quote in quotes for one in scaled_numbers_in(quote.text) if one.size == "%"}
    said = Decimal(each.number)
    gaps = (abs(one - other) for one, other in combinations(rates, 2))
    return unit is not None and any(round(unit * gap, -int(said.as_tuple().exponent)) == said for gap in gaps)


@dataclass(frozen=True, slots=True)
class ScaledNumber:
    """A number with its size."""

    number: str
    """Without commas."""
    size: str
    """`million`, `%`, `points`, `hundred thousand`, also if joined: the `%` of the 3 in `3 to 5%`; else empty."""
    next_word: str
    """The word after a bare number if it is in lower case, since a capital begins the next row of a table.

    Empty for an amount of money, whose next word is not counted.
    """
    start: int
    end: int


def scaled_numbers_in(text: str) -> Iterator[ScaledNumber]:
    """Yield the numbers of a text in order.

    >>> [(each.number, each.size) for each in scaled_numbers_in("$3,533 bn, or 41k, up (6.0) %, from 3 to 5 points")]
    [('3533', 'billion'), ('41', 'thousand'), ('6.0', '%'), ('3', 'points'), ('5', 'points')]
    """
    made: list[ScaledNumber] = []
    for match in reversed(list(_PATTERNS["sized"].finditer(text))):
        end = match.end()
        size = _normalized_size(match["sizes"] or "")
        joined = not size and bool(made) and _PATTERNS["together"].fullmatch(text[end : made[-1].start])
        if joined and not _PATTERNS["year"].fullmatch(match["number"]):  # `in FY2018, 10.8%`
            size = made[-1].size
        behind = text[end : end + _MAX_WORD_LENGTH].removeprefix(")").split()
        word = behind[0] if behind and behind[0][:1].islower() and not match["currency"] else ""
        number = match["number"].replace(",", "")
        made.append(ScaledNumber(number, size, word.rstrip(".,;:!?()"), match.start(), end))
    yield from reversed(made)


_MAX_WORD_LENGTH = 60
_SIZES = {word: size for size, words in word_lists("size_words").items() for word in words}


def _normalized_size(sizes: str) -> str:
    words = (found[0].lower().replace(".", "") for found in _PATTERNS["each"].finditer(sizes))
    bare = (word if len(word) < 2 or not word.endswith("s") else word[:-1] for word in words)
    return " ".join(_SIZES.get(word, word) for word in bare)


class PageScale:
    """A page with the scale of its bare numbers."""

    def __init__(self, workspace: Workspace, key: PageKey) -> None:
        self._text = "\n".join(stored.passage.text for stored in workspace.index.passages([key]))
        self._of_facts: dict[Decimal, set[str]] = {}
        for sourced in workspace.index.facts({key.doc_id}, pages=[key]):
            fact = sourced.fact
            size = "%" if fact.unit == "percent" else SCALE_WORDS.get(fact.scale, "")
            self._of_facts.setdefault(abs(fact.amount), set()).add(size)

    def states(self, bare: ScaledNumber, size: str) -> bool:
        """Return whether a bare number quoted from this page has a size, by its fact or the words of the page."""
        if bare.next_word and bare.next_word not in word_lists("answer_words")["behind numbers"]:
            return False  # `41 laboratories` are no `41 million`, whatever the scale of the table
        known = self._of_facts.get(Decimal(bare.number), set())
        if size in known:
            return True
        if size == "%":
            return self._is_percent(bare.number)
        return not known and any(found.lastgroup == size for found in _PATTERNS["stated"].finditer(self._text))

    def _is_percent(self, number: str) -> bool:
        """Return whether a row with the number, or a heading line above it, is about percent."""
        headed = False
        for line in self._text.splitlines():
            numbers = [each.number for each in scaled_numbers_in(line) if not each.size]
            headed = headed or (not numbers and finds(line, "percent signs", "row_words"))
            if number in numbers and (headed or _PATTERNS["of percent"].search(line)):
                return Decimal(number) <= _HIGHEST
        return False


_HIGHEST = 1_000
"""A percentage above this is not accepted by a heading alone."""
