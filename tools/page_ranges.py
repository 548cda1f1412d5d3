"""Pages as people write them, counted from 1: `12`, `3-5, 8`."""

from __future__ import annotations

import re

from fin_agent.tools.errors import ToolInputError

MOST_PAGES = 10_000
_PART = re.compile(r"(?:p{1,2}\.?|pages?)?\s*(\d{1,6})(?:\s*(?:-|–|—|to)\s*(\d{1,6}))?", re.I)


def pages_in(written: str, last: int | None = None) -> list[int]:
    """0-based pages, each once, in the order written; none beyond `last` (how many pages the filing has).

    Raises ToolInputError where it is no range of pages, or where a filing of `last` pages has none of them.

    >>> pages_in("9, 3-5")
    [8, 2, 3, 4]
    """
    pages: dict[int, None] = {}
    for part in filter(None, (each.strip() for each in re.split(r"[,;\s]*[,;\n][,;\s]*", written.strip()))):
        found = _PART.fullmatch(part)
        if found is None:
            raise ToolInputError(f"{part[:40]!r} is no page or range of pages", remedy=_REMEDY)
        first, end = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= end:
            raise ToolInputError(
                f"pages {part[:40]!r} cannot be: pages count from 1, the smaller first", remedy=_REMEDY
            )
        if end - first >= MOST_PAGES:
            raise ToolInputError(f"{part[:40]!r} is more pages than a filing has", remedy=_REMEDY)
        pages.update(dict.fromkeys(range(first - 1, end)))
    if not pages:
        raise ToolInputError("no page is named", remedy=_REMEDY)
    if last is None:
        return list(pages)
    there = [page for page in pages if page < last]
    if not there:
        raise ToolInputError(f"the filing has {last:,} pages, none of these", remedy=f"Name pages from 1 to {last}.")
    return there


def as_written(pages: list[int]) -> str:
    """0-based pages in ascending order as people write them.

    >>> as_written([2, 3, 4, 8])
    '3-5, 9'
    """
    runs: list[list[int]] = []
    for page in pages:
        if runs and runs[-1][-1] == page - 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    return ", ".join(f"{run[0] + 1}-{run[-1] + 1}" if len(run) > 1 else str(run[0] + 1) for run in runs)


_REMEDY = "Write pages as a viewer counts them, from 1: '12', '3-5' or '3-5, 8'."
