"""Which Item of its form each page belongs to."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from fin_agent.filings.filing import Form, PageContent

_HEADING = re.compile(
    r"^[ \t]*items?[\s ]*(\d{1,2}(?:\.\d\d)?)[\s ]*([abc])?\b"
    r"(?:[\s ]*(?:and|&)[\s ]*\d{1,2}[abc]?\b)?[ \t]*[.:—–-]*(.*)$",
    re.I | re.M,
)
_PART_TWO = re.compile(r"^[ \t]*part[\s ]+ii\b", re.I | re.M)
_CONTENTS_HEADINGS = 5
_CONTENTS_SPACING = 160
"""A page that lists at least this many Items, this many characters or less apart on average, is a table of contents
or a cross-reference index. Short Items that share a page have a few sentences each."""
COVER = "cover"
"""Pages before the first Item: the cover and the table of contents."""
_AFTER_A_CITATION = ',;()“"'
_LINE_OF_A_PARAGRAPH = 50
"""A line this long that ends within a sentence goes on in the next, even where that begins with an Item's number."""
_SCHEDULES = ("14", "15", "16")


def items_of(pages: Sequence[PageContent], form: Form, statements: Collection[int] = ()) -> list[str | None]:
    """The Item each page belongs to (`1A`, `7`, `5.07`; `cover` before the first), or None for other documents.

    A page on which several Items begin belongs to the one with the most text on it. "Items 1 and 2" are Item 1. Items
    of Part II of a 10-Q are written `II-1`, since Part I numbers its own from 1. Where the primary statements (pages
    `statements`) stand behind the exhibits' Item, as filings with F-pages have them, they and the notes after them
    belong to Item 8.
    """
    if form not in (Form.TEN_K, Form.TEN_Q, Form.EIGHT_K, Form.ANNUAL_REPORT):
        return [None] * len(pages)
    belongs: list[str | None] = []
    current: str | None = COVER
    part_two = False
    for page in pages:
        headings = [found for found in _HEADING.finditer(page.text) if _plausible(found, form)]
        if form is not Form.EIGHT_K and _is_contents(headings):
            belongs.append(current)
            continue
        spans: list[tuple[int, str | None]] = [(0, current)]
        part_at = _PART_TWO.search(page.text) if form is Form.TEN_Q else None
        for found in headings:
            part_two = part_two or (part_at is not None and part_at.start() <= found.start())
            name = found.group(1) + (found.group(2) or "").upper()
            spans.append((found.start(), f"II-{name}" if part_two else name))
        ends = [start for start, _ in spans[1:]] + [len(page.text)]
        longest = max(range(len(spans)), key=lambda index: (ends[index] - spans[index][0], index))
        belongs.append(spans[longest][1])
        current = spans[-1][1]
    first = min(statements, default=None)
    if form is Form.TEN_K and first is not None and belongs[first] in _SCHEDULES:
        belongs[first:] = ["8"] * (len(belongs) - first)
    return belongs


def _is_contents(headings: Sequence[re.Match[str]]) -> bool:
    if len({found.group(1) for found in headings}) < _CONTENTS_HEADINGS:
        return False
    return (headings[-1].start() - headings[0].start()) / (len(headings) - 1) <= _CONTENTS_SPACING


def _plausible(found: re.Match[str], form: Form) -> bool:
    """Whether the line is a heading: an 8-K's Items have two decimals, a sentence that cites an Item is none."""
    if ("." in found.group(1)) != (form is Form.EIGHT_K):
        return False
    rest = found.group(3).strip()
    if rest and (rest[0] in _AFTER_A_CITATION or (rest[0].isalnum() and not rest[0].isupper())):
        return False
    before = found.string[: found.start()].rstrip().rpartition("\n")[2]
    return len(before) < _LINE_OF_A_PARAGRAPH or not (before[-1].islower() or before[-1] == ",")
