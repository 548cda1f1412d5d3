"""Determine the Item of the form that each page belongs to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from operator import itemgetter

from fin_agent.lexicon.entry_loading import Entries, Item
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import ItemStart, PageContent
from fin_agent.vocabulary.runs import grouped

_PATTERNS = patterns("outline_patterns")


@dataclass(frozen=True, slots=True)
class ItemLine:
    """A line that looks like the heading of an Item."""

    number: str
    """As printed, in upper case: `1A`, `5.07`."""
    page: int
    offset: int
    part: int | None = None
    """1 to 4 where the line, or a part's heading above it on the page, names the part."""
    titles: tuple[str, ...] = ()
    """Ids of the lexicon's Items (`10-Q.II.1A`) whose title follows the number."""


def item_lines_on(text: str, page: int, form: Form) -> list[ItemLine]:
    """Return candidate headings on a page's text; none on a table of contents or an index of Items."""
    found = [line for line in _PATTERNS["item"].finditer(text) if _plausible(line, form)]
    if form is not Form.EIGHT_K and _is_contents(found):
        return []
    parts = [(part.start(), part.group(1)) for part in _PATTERNS["part"].finditer(text)]
    lines = []
    for line in found:
        above = [numeral for start, numeral in parts if start <= line.start()]
        named = line.group("part") or (above[-1] if above else None)
        part = _ROMAN[named.lower()] if named else None
        lines.append(ItemLine(_number(line), page, line.start(), part, _titles_after(text, line, form)))
    return lines


def titled_lines_on(text: str, page: int, form: Form, wanted: Collection[str]) -> Iterator[ItemLine]:
    """Yield titles of the `wanted` Items without a number, in the top lines of a page of prose or tables."""
    lines = text[:_TOP_CHARACTERS].split("\n", _TOP_LINES)[:_TOP_LINES]
    entries = (line for line in text.split("\n") if 12 < len(line) < 130 and line[-1:].isdigit())
    listed = sum("..." in line or _PATTERNS["short entry"].match(line) is not None for line in entries)
    if len(text) < _TOP_CHARACTERS or listed >= _CONTENTS_HEADINGS:
        return
    known = {
        title: name
        for name, titles in _titles(form).items()
        if name.rpartition(".")[2] in wanted and name not in _EVERYDAY and name.split(".")[1] != "II"
        for title in titles
    }
    offset = 0
    for line, after in pairwise([*lines, ""]):
        letters = _letters(line)
        if len(letters) >= _MIN_TITLE_LENGTH and line.strip()[0].isupper():
            name = known.get(letters) or known.get(letters + _letters(after))
            if name:
                yield ItemLine(name.rpartition(".")[2], page, offset, titles=(name,))
                return
        elif "1" in wanted and letters == _PART_ONE and text.count("\n") * _PROSE_LINE < len(text):
            yield ItemLine("1", page, offset, part=1)
            return
        offset += len(line) + 1


_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}
_CONTENTS_HEADINGS = 5
_CONTENTS_SPACING = 160
"""A page that lists at least this many Items, this many characters or less apart on average, is a table of contents
or a cross-reference index. Short Items that share a page have a few sentences each."""
_MIN_LISTED = 3
_AFTER_A_CITATION = ",()“”\"’'"
_LINE_OF_A_PARAGRAPH = 50
"""A line this long that ends within a sentence continues on the next, even if that begins with an Item's number."""
_LINES_OF_AN_ENTRY = 4
_TOP_LINES = 10
_TOP_CHARACTERS = 700
_MIN_TITLE_LENGTH = 11
_EVERYDAY = frozenset({"10-K.1"})
"""Items whose titles are everyday words; without a heading, the first Item begins with its part."""
_PART_ONE = "parti"
_PROSE_LINE = 40
"""Minimum average number of characters per line on a page of prose, as opposed to a table of contents."""


def _number(line: re.Match[str]) -> str:
    return line.group("number") + (line.group("letter") or "").upper()


def _plausible(line: re.Match[str], form: Form) -> bool:
    """Return whether the line is a heading: an 8-K's Items have two decimals, and citations of Items are excluded."""
    if ("." in line.group("number")) != (form is Form.EIGHT_K):
        return False
    rest = line.group("rest").strip()
    if rest and (rest[0] in _AFTER_A_CITATION or (rest[0].isalnum() and not rest[0].isupper())):
        return False
    above = line.string[max(0, line.start() - 300) : line.start()]
    before = above.rstrip().rpartition("\n")[2]
    if _PATTERNS["cites an item"].search(before):
        return False
    if len(before) < _LINE_OF_A_PARAGRAPH or not (before[-1].islower() or before[-1] == ","):
        return True
    # The line above ends in the middle of a sentence, but so does the last row of a table.
    set_apart = above[len(above.rstrip()) :].count("\n") > 1 or line.group().lstrip().startswith("ITEM")
    return set_apart and bool(_titles_after(line.string, line, form))


def _is_contents(found: Sequence[re.Match[str]]) -> bool:
    """Return whether Items are close together, or most are followed only by a page number."""
    different = len({_number(line) for line in found})
    if different < _MIN_LISTED:
        return False
    text = _PATTERNS["leaders"].sub(" ", found[0].string)
    if len(text) < len(found[0].string):
        found = list(_PATTERNS["item"].finditer(text)) or found
    room = found[-1].start() - found[0].start()
    if different >= _CONTENTS_HEADINGS and room <= _CONTENTS_SPACING * (len(found) - 1):
        return True
    ends = [line.start() for line in found[1:]] + [len(text)]
    listed = sum(_is_entry(text[line.start() : end]) for line, end in zip(found, ends, strict=True))
    return listed * 3 >= len(found) * 2


def _is_entry(entry: str) -> bool:
    """Return whether an Item's text is an entry of a list: its title and a page number, without further text."""
    lines = [line for line in entry.split("\n", 12)[:12] if line.strip()]
    for place, line in enumerate(lines[:_LINES_OF_AN_ENTRY]):
        listed = (place == 0 or len(line) < 130) and _PATTERNS["listed page"].search(line)
        if listed or (place and _PATTERNS["only a page"].match(line)):
            return all(len(after) < 130 for after in lines)
    return False


def _titles_after(text: str, line: re.Match[str], form: Form) -> tuple[str, ...]:
    """Return ids of Items whose title or alias begins the words after the number, on this line or the next."""
    own = _letters(line.group("rest"))
    after = _letters(text[line.start("rest") : line.end() + 200])
    number, long = _number(line), len(own) >= _MIN_TITLE_LENGTH
    return tuple(
        name
        for name, titles in _titles(form).items()
        if name.rpartition(".")[2] == number
        and (after.startswith(tuple(titles)) or (long and any(title.startswith(own) for title in titles)))
    )


@lru_cache(maxsize=8)
def _titles(form: Form) -> Mapping[str, frozenset[str]]:
    """Return the titles of the form's Items by id, as bare letters."""
    entries = Entries()
    entries.read_built_in("items")
    form = Form.TEN_K if form is Form.ANNUAL_REPORT else form
    items = [item for item in entries.checked("items", Item).values() if item.form == form]
    return {item.id: frozenset(filter(None, map(_letters, (item.title, *item.aliases)))) for item in items}


def _letters(text: str) -> str:
    return _PATTERNS["not letters"].sub("", text.lower())


def best_item_sequence(lines: Sequence[ItemLine], form: Form) -> list[tuple[str, ItemLine]]:
    """Return (Item, line) of the sequence of headings that never goes back and has the highest weight.

    Of equal sequences, the later headings are used, because lists of Items precede the Items themselves. A 10-Q numbers
    both parts from 1: each line may belong to either, which its title and its part's heading decide.
    """
    best: dict[_Rank, tuple[float, list[tuple[str, ItemLine]]]] = {}
    for line in lines:
        reached = {}
        for rank, item, weight in _options(line, form):
            before = ((held[0], at, held[1]) for at, held in best.items() if at <= rank)
            total, at, chain = max(before, key=itemgetter(0), default=(0.0, None, []))
            reached[rank] = (total + (_REPEATED if at == rank else weight), [*chain, (item, line)])
        for rank, held in reached.items():
            if rank not in best or held[0] >= best[rank][0]:
                best[rank] = held
    ranked = sorted(best.items(), key=lambda held: (held[1][0], -held[0][0], held[0]))
    return ranked[-1][1][1] if ranked else []


_Rank = tuple[int, int, str]
"""(part, number, letter)."""
_REPEATED = 0.5
_HEADED = 2.0
_TITLED = 2.0
_WRONG_PART = 1.5
_PART_ONE_OF_A_QUARTER = 4
_LAST_ITEM = 16
_SUFFIXED = {"1": "ABC", "4": "A", "7": "A", "9": "ABC"}
"""Items of an annual report followed by a lettered one; some filers list their officers in 4A."""


def _options(line: ItemLine, form: Form) -> Iterator[tuple[_Rank, str, float]]:
    """Yield (rank, Item, weight) of each Item that the line may announce."""
    matched = _PATTERNS["number of an item"].match(line.number)
    if matched is None:
        return
    number, letter = int(matched.group(1)), matched.group(2)
    if form is not Form.TEN_Q:
        if number <= _LAST_ITEM and (not letter or letter in _SUFFIXED.get(matched.group(1), "")):
            yield (0, number, letter), line.number, _HEADED + _TITLED * bool(line.titles)
        return
    for part, numeral in ((1, "I"), (2, "II")):
        if part == 1 and (number > _PART_ONE_OF_A_QUARTER or letter):
            continue
        weight = _HEADED + _TITLED * (f"10-Q.{numeral}.{line.number}" in line.titles)
        if line.part is not None and line.part != part:
            weight -= _WRONG_PART
        yield (part, number, letter), line.number if part == 1 else f"II-{line.number}", weight


COVER = "cover"
"""Name of the pages before the first Item: the cover and the table of contents."""


def items_of(
    pages: Sequence[PageContent], form: Form, starts: Sequence[ItemStart], statements: Collection[int] = ()
) -> list[str | None]:
    """Return the Item of each page (`1A`, `7`, `5.07`; `cover` before the first), or None for other documents.

    A page on which several Items begin belongs to the one with the most text on it. "Items 1 and 2" are Item 1. Items
    of Part II of a 10-Q are written `II-1`, because Part I also starts at 1. Pages of primary `statements` and the
    notes after them belong to the Item that the form has for them, wherever they are. `starts` are from `item_starts`.
    """
    if form not in _FORMS:
        return [None] * len(pages)
    stretches = stretches_of_pages(pages, [(start.page, start.offset, start.item) for start in starts], COVER)
    belongs: list[str | None] = [max(reversed(of_page), key=itemgetter(1))[0] for of_page in stretches]
    first = min((page for page in statements if 0 <= page < len(belongs)), default=None)
    if first is not None and form in _FINANCIAL:  # the statements, and what follows them in the same Item
        follow = list(takewhile(lambda item: item == belongs[first], belongs[first:]))
        belongs[first : first + len(follow)] = [_FINANCIAL[form]] * len(follow)
    return belongs


def stretches_of_pages(
    pages: Sequence[PageContent], starts: Iterable[tuple[int, int, str]], before: str
) -> Iterator[list[tuple[str, int]]]:
    """Yield for each page what stands on it, in order, each with its number of characters.

    `starts` are (position of the page, offset, name) of what begins; `before` is the name of all before the first.
    """
    of_page = grouped((index, (offset, name)) for index, offset, name in starts)
    current = before
    for index, page in enumerate(pages):
        spans = [(0, current), *of_page.get(index, ())]
        yield [(name, end - start) for (start, name), (end, _) in pairwise([*spans, (len(page.text), "")])]
        current = spans[-1][1]


def item_starts(pages: Sequence[PageContent], form: Form) -> list[ItemStart]:
    """Return headings of Items in the form's order, without tables of contents, indexes and sentences that cite one.

    An Item whose heading only refers elsewhere, or which has none, begins where its title is at the top of a page.
    """
    if form not in _FORMS:
        return []
    lines = [line for index, page in enumerate(pages) for line in item_lines_on(page.text, index, form)]
    if form is Form.EIGHT_K:
        return [ItemStart(line.number, line.page, line.offset) for line in lines]
    starts = [ItemStart(item, line.page, line.offset) for item, line in best_item_sequence(lines, form)]
    lengths = _lengths(starts, pages)
    wanted = frozenset(item for item in _LONG[form] if lengths.get(item, 0) < _MIN_CHARACTERS)
    if wanted:
        titled = [line for index, page in enumerate(pages) for line in titled_lines_on(page.text, index, form, wanted)]
        known = starts[0].page if starts else len(pages)
        titled = [line for line in titled if line.part is None or line.page < known]
        starts += [ItemStart(line.number, line.page, line.offset) for line in titled]
        starts.sort(key=lambda start: (start.page, start.offset))
    return starts


_FORMS = (Form.TEN_K, Form.TEN_Q, Form.EIGHT_K, Form.ANNUAL_REPORT)
_LONG = {Form.TEN_K: ("1", "1A", "7", "7A"), Form.ANNUAL_REPORT: ("1", "1A", "7", "7A"), Form.TEN_Q: ("2",)}
"""Items too long for a few lines in any filing with figures, with titles that occur nowhere else."""
_MIN_CHARACTERS = 3000
_FINANCIAL = {Form.TEN_K: "8", Form.ANNUAL_REPORT: "8", Form.TEN_Q: "1"}


def _lengths(starts: Sequence[ItemStart], pages: Sequence[PageContent]) -> dict[str, int]:
    """Return the number of characters of each Item's text, from its headings to the next Item's."""
    lengths: dict[str, int] = {}
    for start, after in pairwise([*starts, ItemStart("", len(pages), 0)]):
        length = after.offset - start.offset + sum(len(page.text) for page in pages[start.page : after.page])
        lengths[start.item] = lengths.get(start.item, 0) + length
    return lengths
