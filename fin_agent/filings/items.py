"""Which Item of its form each page belongs to."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from fin_agent.filings.filing import Form, PageContent

_HEADING = re.compile(r"^[ \t]*item[\s ]*(\d{1,2}(?:\.\d\d)?)[\s ]*([abc])?\b[ \t]*[.:—–-]*(.*)$", re.I | re.M)
_PART_TWO = re.compile(r"^[ \t]*part[\s ]+ii\b", re.I | re.M)
_CONTENTS_HEADINGS = 5
"""A page that lists at least this many Items in a row is a table of contents or a cross-reference index."""


COVER = "cover"
"""Pages before the first Item: the cover and the table of contents."""
_SCHEDULES = ("14", "15", "16")


def items_of(
    pages: Sequence[PageContent], form: Form, statements: Collection[int] = ()
) -> list[str | None]:
    """The Item each page belongs to (`1A`, `7`, `5.07`; `cover` before the first), or None for other documents.

    A page on which several Items begin belongs to the one with the most text on it. Items of Part II of a 10-Q are
    written `II-1`, since Part I numbers its own from 1. Where the primary statements (pages `statements`) stand behind
    the exhibits' Item, as filings with F-pages have them, they and the notes after them belong to Item 8.
    """
    if form not in (Form.TEN_K, Form.TEN_Q, Form.EIGHT_K, Form.ANNUAL_REPORT):
        return [None] * len(pages)
    belongs: list[str | None] = []
    current: str | None = COVER
    part_two = False
    for page in pages:
        headings = [found for found in _HEADING.finditer(page.text) if _plausible(found, form)]
        if len({found.group(1) for found in headings}) >= _CONTENTS_HEADINGS and form is not Form.EIGHT_K:
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


def _plausible(found: re.Match[str], form: Form) -> bool:
    """Whether the line is a heading: an 8-K's Items have two decimals, a sentence that cites an Item is none."""
    if ("." in found.group(1)) != (form is Form.EIGHT_K):
        return False
    rest = found.group(3).strip()
    return not rest or rest[0].isupper() or not rest[0].isalnum()
