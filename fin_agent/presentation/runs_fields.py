"""Fields of a card that match a question, on one line."""

from __future__ import annotations

from collections.abc import Iterable

from fin_agent.presentation.plain import one_line


def fields_line(fields: Iterable[str]) -> str:
    """Each field once, with all that matches in it.

    >>> fields_line(["metrics: revenue", "time: FY2022", "time: FY2023"])
    'metrics: revenue · time: FY2022, FY2023'
    """
    matching: dict[str, list[str]] = {}
    for field in map(one_line, fields):
        name, mark, what = field.partition(": ")
        matching.setdefault(f"{name}{mark}", []).extend([what] if mark else [])
    return " · ".join(f"{name}{', '.join(what)}" for name, what in matching.items())
