"""Find the notes to the financial statements: their titles, their pages, and the note of each page."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from fin_agent.filings.outline.items import stretches_of_pages
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.page import Note, PageContent
from fin_agent.vocabulary.runs import grouped

_PATTERNS = patterns("outline_patterns")

_FEWEST = {"word": 2, "wordletter": 3, "point": 3, "brackets": 4, "letter": 4, "bare": 5}
"""Styles of numbering (`Note 5`, `Note E`, `5.`, `(5)`, `E.`, `5`) with the fewest notes that show it.

One filing uses one style; lists and footnotes are numbered too, but rarely as `Note 1`."""


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line that looks like the heading of a note."""

    numbering: str
    """One of `_FEWEST`."""
    number: int
    """The number; letters count from A as 1."""
    printed: str
    title: str
    """Without "(continued)"; empty where no title follows."""
    page: int
    """Position among the pages given, from 0."""
    offset: int
    weight: float
    """How much it looks like a heading."""


def note_lines_on(text: str, page: int) -> list[NoteLine]:
    """Return candidate headings on a page's text."""
    found = [line for match in _PATTERNS["note"].finditer(text) if (line := _line(match, page)) is not None]
    for place, line in enumerate(found):
        after = [other.offset for other in found[place + 1 :] if other.number != line.number]
        if min(after, default=len(text) + _ROOM) - line.offset >= _ROOM:  # text follows
            found[place] = replace(line, weight=line.weight + 1.0)
    return found


_AFTER_A_CITATION = tuple(",(%/$’'&")
_SEPARATORS = " \t\u00a0.:;|–—-−‑)"
_MAX_TITLE_LENGTH = 140
_MIN_TITLE_LENGTH = 3
_ROOM = 350
_TITLE_CASE = 0.6


def _line(match: re.Match[str], page: int) -> NoteLine | None:
    numbering = next(style for style in _FEWEST if match.group(style) is not None)
    printed = match.group(numbering)
    if numbering in ("letter", "wordletter") and not printed.isupper():
        return None
    number = int(printed) if printed.isdigit() else ord(printed) - ord("A") + 1
    rest = match.group("rest")
    cited = rest[:1] in _AFTER_A_CITATION or (rest[:2] == " (" and numbering.startswith("word"))
    before = match.string[max(0, match.start() - 200) : match.start()].rstrip(" \t\u00a0")
    above = before.rstrip("\n").rpartition("\n")[2]
    in_a_sentence = before.endswith("\n") and above.strip() and _PATTERNS["cites a note"].search(above)
    if number == 0 or in_a_sentence or (cited and not _PATTERNS["continued"].match(rest)):
        return None
    title, weight = _title(rest, match, numbering)
    return NoteLine(numbering, number, printed, title, page, match.start(), weight) if title else None


def _title(rest: str, match: re.Match[str], numbering: str) -> tuple[str | None, float]:
    """Return the title after the number and its weight as a heading; None where the line is not a heading."""
    text = _cleaned(rest)
    after = [line.strip() for line in match.string[match.end() + 1 : match.end() + 400].split("\n")]
    below = [line for line in after if line.strip(_SEPARATORS)]
    weight = 1.0
    if not text:
        if numbering in ("bare", "letter") or not below:
            return None, 0.0
        text, below = _cleaned(below[0]), below[1:]
        weight = 0.3 if numbering == "brackets" else 0.8
    if len(text) < _MIN_TITLE_LENGTH or len(text) > _MAX_TITLE_LENGTH or _PATTERNS["no title"].match(text):
        return None, 0.0
    goes_on = bool(below) and below[0][0].isupper() and len(text) + len(below[0]) < _MAX_TITLE_LENGTH
    if goes_on and _PATTERNS["open end"].search(text):
        text = f"{text} {below[0]}"
    if text[-1] in ";:,":
        weight *= 0.3
    words = [word for word in text.replace("-", " ").split() if word[0].isalpha() and len(word) > 3]
    capitals = sum(word[0].isupper() for word in words)
    if text.isupper() or (words and capitals >= _TITLE_CASE * len(words)):
        weight += 1.0
    elif _PATTERNS["prose"].search(text):
        weight *= 0.1
    if _PATTERNS["prose"].search(text) and len(text) > _MAX_TITLE_LENGTH / 2:
        weight *= 0.2
    if numbering == "bare":
        weight *= 0.4
    return " ".join(text.split()), weight


def _cleaned(text: str) -> str:
    text = _PATTERNS["continued"].sub("", text.lstrip(_SEPARATORS)).rstrip(_SEPARATORS[:-1])
    return text[:-1].rstrip() if text.endswith(")") and "(" not in text else text


def notes_of(
    pages: Sequence[PageContent], statements: Collection[int], items: Sequence[str | None] = ()
) -> tuple[tuple[Note, ...], dict[int, str]]:
    """Return the notes in order, and for each page number the note with most text on that page.

    Notes are searched for from the first page of the primary `statements`; the last one ends with its Item. Their
    numbers are consecutive, which distinguishes headings from footnotes, lists and sentences that cite a note.
    """
    if not statements:
        return (), {}
    room = _room_for_notes(pages, statements, items)
    may_head = _PATTERNS["may head a note"].search
    lines = [line for at, page in enumerate(room) if may_head(page.text) for line in note_lines_on(page.text, at)]
    _, heads = max((_sequence(lines, style) for style in _FEWEST), key=itemgetter(0))
    if not heads or len({line.number for line in heads}) < _FEWEST[heads[0].numbering]:
        return (), {}
    last = heads[-1].page
    after = _PATTERNS["after the notes"].search
    end = next((at for at in range(last + 1, len(room)) if after(room[at].text[:_HEAD])), len(room))
    whole = {page.number: len(page.text) for page in pages}
    return _notes_from_headings(heads, room, end), _note_of_pages(heads, room[: max(end, last + 1)], whole)


_WORD_BONUS = 1.25
_REPEATED = 0.1
_LARGEST_GAP = 3
_GAP_COSTS = 1.5
_LEADING_GAP = 2
_MAX_NOTES = 50
_HEAD = 250


def _room_for_notes(
    pages: Sequence[PageContent], statements: Collection[int], items: Sequence[str | None]
) -> list[PageContent]:
    """Return pages from the first statement to the end of its Item, the last one cut before the next Item's heading."""
    begin = next((index for index, page in enumerate(pages) if page.number == min(statements)), len(pages))
    for index in range(begin + 1, len(pages)):
        page = pages[index]
        if page.number > max(statements) and _PATTERNS["exhibits"].search(page.text[:_HEAD]):
            return list(pages[begin:index])
        if items and items[index] != items[begin]:
            heading = _PATTERNS["next item"].search(page.text)
            cut = page.text[: heading.start()] if heading else ""
            return [*pages[begin:index], *([replace(page, text=cut)] if len(cut) > _HEAD else [])]
    return list(pages[begin:])


def _sequence(lines: Sequence[NoteLine], numbering: str) -> tuple[float, list[NoteLine]]:
    """Return the headings of one style, in order, with the highest weight; a repeated heading adds little."""
    best: dict[int, tuple[float, list[NoteLine]]] = {}
    bonus = _WORD_BONUS if numbering.startswith("word") else 1.0
    for line in lines:
        number = line.number
        if line.numbering != numbering or number > _MAX_NOTES:
            continue
        options: list[tuple[float, list[NoteLine]]] = []
        if number - 1 <= _LEADING_GAP:
            options.append((line.weight * bonus - _GAP_COSTS * (number - 1), []))
        for missing in range(_LARGEST_GAP):
            if before := best.get(number - 1 - missing):
                options.append((before[0] + line.weight * bonus - _GAP_COSTS * missing, before[1]))
        if same := best.get(number):
            options.append((same[0] + _REPEATED, same[1]))
        weight, chain = max(options, key=itemgetter(0), default=(0.0, []))
        if options and (same is None or weight > same[0]):
            best[number] = (weight, [*chain, line])
    return max(best.values(), key=itemgetter(0), default=(0.0, []))


def _notes_from_headings(heads: Sequence[NoteLine], pages: Sequence[PageContent], end: int) -> tuple[Note, ...]:
    starts = [line for place, line in enumerate(heads) if place == 0 or heads[place - 1].number != line.number]
    notes = []
    for place, line in enumerate(starts):
        last = end - 1
        if place + 1 < len(starts):
            after = starts[place + 1]
            above = pages[after.page].text[: after.offset]
            only_running_heads = len(above.strip()) < _HEAD and above.count("\n") <= _HEADER_LINES
            last = after.page - 1 if only_running_heads else after.page
        titles = [other.title for other in heads if other.number == line.number]
        title = max(titles, key=titles.count) if line.title not in titles[1:] else line.title
        notes.append(Note(line.printed, title, pages[line.page].number, pages[max(line.page, last)].number))
    return tuple(notes)


_HEADER_LINES = 8


def _note_of_pages(heads: Sequence[NoteLine], pages: Sequence[PageContent], whole: Mapping[int, int]) -> dict[int, str]:
    """Return the note of each page number, unless less than half of the page (`whole` characters) belongs to notes."""
    belongs: dict[int, str] = {}
    stretches = stretches_of_pages(pages, [(line.page, line.offset, line.printed) for line in heads], "")
    for page, of_page in zip(pages, stretches, strict=True):
        room = {number: sum(lengths) for number, lengths in grouped(of_page).items()}
        longest = max(room, key=room.__getitem__)
        if longest and 2 * len(page.text) >= whole[page.number]:
            belongs[page.number] = longest
    return belongs
