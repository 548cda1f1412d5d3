"""The notes to the financial statements: their titles, their pages, and the note of each page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from fin_agent.filings.outline.note_lines import NoteLine, Numbering, note_lines_on
from fin_agent.vocabulary.page import Note, PageContent


def notes_of(
    pages: Sequence[PageContent], statements: Collection[int], items: Sequence[str | None] = ()
) -> tuple[tuple[Note, ...], dict[int, str]]:
    """The notes in order, and page number -> number of the note with most text on that page.

    Notes are looked for from the first page of the primary `statements` on; without statements there are none. Their
    numbers run in sequence, which tells headings from footnotes, lists and sentences that cite a note. `items` is the
    Item of each page: the last note ends with the Item it stands in.
    """
    if not statements:
        return (), {}
    room = _room_for_notes(pages, statements, items)
    lines = [
        line
        for index, page in enumerate(room)
        if _MAY_HEAD.search(page.text) is not None
        for line in note_lines_on(page.text, index)
    ]
    chain = max((_sequence(lines, numbering) for numbering in Numbering), key=lambda found: found.weight)
    heads = list(chain.links())[::-1]
    if not heads or len({line.number for line in heads}) < _FEWEST[heads[0].numbering]:
        return (), {}
    last = heads[-1].page
    end = next((at for at in range(last + 1, len(room)) if _AFTER_NOTES.search(room[at].text[:_HEAD])), len(room))
    whole = {page.number: len(page.text) for page in pages}
    return _noted(heads, room, end), _note_of_pages(heads, room[: max(end, last + 1)], whole)


_FEWEST = {
    Numbering.WORD: 2,
    Numbering.WORD_LETTER: 3,
    Numbering.POINT: 3,
    Numbering.BRACKETS: 4,
    Numbering.LETTER: 4,
    Numbering.BARE: 5,
}
"""Fewest notes of a numbering; lists and footnotes are numbered too, but seldom as `Note 1`."""
_WORD_BONUS = 1.25
_REPEATED = 0.1
_LARGEST_GAP = 3
_GAP_COSTS = 1.5
_LEADING_GAP = 2
_MOST_NOTES = 50
_MAY_HEAD = re.compile(
    r"\bnotes?[\s\u00a0]*(?:\d|[A-Z]\b)|^[ \t\u00a0]*(?:\(?\d{1,2}[\s\u00a0.)]|[A-Z]\.)", re.I | re.M
)
_ITEM = re.compile(r"^[ \t\u00a0]*items?[\s\u00a0]*\d{1,2}[\s\u00a0]*[abc]?\b[ \u00a0]*[.:—–-]", re.I | re.M)
_EXHIBITS = re.compile(
    r"^\W*(?:exhibit[ \u00a0]+\d|exhibit index|index to exhibits|signatures?\s*$|consent of independent|"
    r"subsidiaries of|certifications?\s*$|schedule[ \u00a0]+[iv]+\b)",
    re.I | re.M,
)
_AFTER_NOTES = re.compile(
    r"^\W*(?:report of (?:independent|management)|management.s (?:report|responsibility)|selected quarterly|"
    r"supplementa(?:l|ry) (?:financial )?(?:data|information)\s*$)",
    re.I | re.M,
)
_HEAD = 250


def _room_for_notes(
    pages: Sequence[PageContent], statements: Collection[int], items: Sequence[str | None]
) -> list[PageContent]:
    """Pages from the first statement to the end of its Item, the last one up to the next Item's heading."""
    begin = next((index for index, page in enumerate(pages) if page.number == min(statements)), len(pages))
    for index in range(begin + 1, len(pages)):
        page = pages[index]
        if page.number > max(statements) and _EXHIBITS.search(page.text[:_HEAD]):
            return list(pages[begin:index])
        if items and items[index] != items[begin]:
            heading = _ITEM.search(page.text)
            cut = page.text[: heading.start()] if heading else ""
            return [*pages[begin:index], *([replace(page, text=cut)] if len(cut) > _HEAD else [])]
    return list(pages[begin:])


class _Chain:
    __slots__ = ("before", "line", "weight")

    def __init__(self, weight: float = 0.0, line: NoteLine | None = None, before: _Chain | None = None) -> None:
        self.weight, self.line, self.before = weight, line, before

    def links(self) -> Iterator[NoteLine]:
        """The headings, last first."""
        chain: _Chain | None = self
        while chain is not None and chain.line is not None:
            yield chain.line
            chain = chain.before


def _sequence(lines: Sequence[NoteLine], numbering: Numbering) -> _Chain:
    """The headings of one numbering, in order, that have most weight; a repeated heading adds little."""
    best: dict[int, _Chain] = {}
    bonus = _WORD_BONUS if numbering in (Numbering.WORD, Numbering.WORD_LETTER) else 1.0
    for line in lines:
        number = line.number
        if line.numbering is not numbering or number > _MOST_NOTES:
            continue
        options = []
        if number - 1 <= _LEADING_GAP:
            options.append(_Chain(line.weight * bonus - _GAP_COSTS * (number - 1), line))
        for missing in range(_LARGEST_GAP):
            before = best.get(number - 1 - missing)
            if before is not None:
                options.append(_Chain(before.weight + line.weight * bonus - _GAP_COSTS * missing, line, before))
        same = best.get(number)
        if same is not None:
            options.append(_Chain(same.weight + _REPEATED, line, same))
        if options:
            found = max(options, key=lambda chain: chain.weight)
            if same is None or found.weight > same.weight:
                best[number] = found
    return max(best.values(), key=lambda chain: chain.weight, default=_Chain())


def _noted(heads: Sequence[NoteLine], pages: Sequence[PageContent], end: int) -> tuple[Note, ...]:
    starts = [line for place, line in enumerate(heads) if place == 0 or heads[place - 1].number != line.number]
    notes = []
    for place, line in enumerate(starts):
        last = end - 1
        if place + 1 < len(starts):
            after = starts[place + 1]
            last = after.page if pages[after.page].text[: after.offset].strip() else after.page - 1
            last = after.page - 1 if _only_heads(pages[after.page].text[: after.offset]) else last
        titles = [other.title for other in heads if other.number == line.number]
        title = max(titles, key=titles.count) if line.title not in titles[1:] else line.title
        notes.append(Note(line.printed, title, pages[line.page].number, pages[max(line.page, last)].number))
    return tuple(notes)


def _only_heads(text: str) -> bool:
    """Whether a page's text before a heading is nothing but running headers."""
    return len(text.strip()) < _HEAD and text.count("\n") <= _HEADER_LINES


_HEADER_LINES = 8


def _note_of_pages(heads: Sequence[NoteLine], pages: Sequence[PageContent], whole: Mapping[int, int]) -> dict[int, str]:
    """Page number -> note; none where less than half of the page (`whole` characters) belongs to notes."""
    belongs: dict[int, str] = {}
    current, position = "", 0
    for index in range(heads[0].page, len(pages)):
        text = pages[index].text
        spans = [(0, current)]
        while position < len(heads) and heads[position].page == index:
            spans.append((heads[position].offset, heads[position].printed))
            position += 1
        ends = [start for start, _ in spans[1:]] + [len(text)]
        room: dict[str, int] = {}
        for (start, number), stop in zip(spans, ends, strict=True):
            room[number] = room.get(number, 0) + stop - start
        current = spans[-1][1]
        longest = max(room, key=lambda number: room[number])
        if longest and 2 * len(text) >= whole[pages[index].number]:
            belongs[pages[index].number] = longest
    return belongs
