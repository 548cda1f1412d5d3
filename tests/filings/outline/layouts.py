"""Pages as the two readers give them: PDF text has one cell to a line, HTML text one row."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Word

Row = str | tuple[str, ...]
"""A line of text, or a row's label and cells."""

PROSE = "We describe here at some length what the form asks for, and say how it touches our business and our people."


def html_page(number: int, rows: Sequence[Row]) -> PageContent:
    return _page(number, "\n".join(row if isinstance(row, str) else "  ".join(row) for row in rows))


def pdf_page(number: int, rows: Sequence[Row]) -> PageContent:
    return _page(number, "\n".join(row if isinstance(row, str) else " \n".join(row) for row in rows))


def prose(lines: int = 25) -> list[Row]:
    return [PROSE] * lines


def table(*labels: str, columns: int = 3) -> list[Row]:
    return [
        (label, *(f"{1000 + 37 * place + column:,}" for column in range(columns))) for place, label in enumerate(labels)
    ]


def _page(number: int, text: str) -> PageContent:
    words = tuple(Word(0.0, 0.0, 1.0, 1.0, word) for word in text.split())
    return PageContent(number, 612.0, 792.0, text, words)
