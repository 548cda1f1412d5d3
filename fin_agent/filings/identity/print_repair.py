"""Text as extraction leaves it, brought back to plain print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from fin_agent.vocabulary.page import PageContent


class PlainPage(NamedTuple):
    """A page's text in plain print, and its number (0-based)."""

    number: int
    text: str


def plain_pages(pages: Iterable[PageContent]) -> list[PlainPage]:
    """The pages' texts in plain print, in order."""
    return [plain_page(page) for page in pages]


def plain_page(page: PageContent) -> PlainPage:
    """The page's text in plain print."""
    return PlainPage(page.number, plain_print(page.text))


_CHARACTERS = (
    ("\u00a0", " "), ("\u2007", " "), ("\u2009", " "), ("\u202f", " "), ("\u200b", ""), ("\ufeff", ""), ("\u00ad", ""),
    ("\r", "\n"), ("\u2010", "-"), ("\u2011", "-"), ("\u2012", "-"), ("ﬁ", "fi"), ("ﬂ", "fl"),
)  # fmt: skip
_SPACED_WORD = re.compile(r"(?<!\S)(?:\S ){2,}\S(?!\S)")


def plain_print(text: str) -> str:
    """Ordinary spaces and hyphens, without zero-width marks; lines stay lines."""
    if not text.isascii():
        # A dozen `replace` are ten times faster than one `translate`.
        for printed, plain in _CHARACTERS:
            text = text.replace(printed, plain)
    return text


def despaced(text: str) -> str:
    """Joins words printed with spaces between their letters: `D e c e m b e r  3 1` -> `December 31`.

    Only lines that consist mostly of single characters are touched.
    """
    if not _SPACED_WORD.search(text):
        return text
    return "\n".join(_despaced_line(line) for line in text.split("\n"))


def _despaced_line(line: str) -> str:
    parts = line.split()
    if len(parts) < 4 or sum(len(part) == 1 for part in parts) < 0.7 * len(parts):
        return line
    words = re.split(r"\s{2,}", line.strip())
    return " ".join("".join(word.split()) for word in words)
