"""Page numbers as people read them, and what was odd about pages."""

from __future__ import annotations

from collections.abc import Iterable

from fin_agent.vocabulary.filing import ReadWarning


def told_warnings(warnings: Iterable[ReadWarning]) -> list[str]:
    """A line for each that says something else, behind the pages that it is said of.

    >>> told_warnings([ReadWarning("no text", page) for page in (0, 8, 9, 10)])
    ['pages 1, 9-11: no text']
    """
    pages: dict[str, list[int]] = {}
    for warning in warnings:
        pages.setdefault(warning.what, [])
        if warning.page is not None:
            pages[warning.what].append(warning.page)
    return [f"{_pages(numbers)}: {what}" if numbers else what for what, numbers in pages.items()]


def _pages(numbers: Iterable[int]) -> str:
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    said = ", ".join(f"{first + 1}" if first == last else f"{first + 1}-{last + 1}" for first, last in runs)
    return f"page{'s' * (len(runs) > 1 or runs[0][0] < runs[0][1])} {said}"
