"""What the tags of a document print: text with its continuations, without what is excluded or hidden."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable

from lxml import etree

from fin_agent.filings.xbrl.naming import attribute, local_name

MAX_TEXT = 20_000
"""Characters of text kept for one tag, the rest being replaced by an ellipsis: whole notes are tagged as one text, and
the pages hold them already."""


class PrintedText:
    """The text of the elements of one document; each part of the tree is walked once, however tags are nested.

    Words of neighbouring cells, paragraphs and lines are kept apart by spaces; runs of spaces become one.
    """

    def __init__(self, continuations: Iterable[etree._Element]) -> None:
        """`continuations` are the document's `ix:continuation` elements; of several with one id the first counts."""
        self.missing: dict[str, None] = {}
        """Ids of continuations that tags name and the document does not hold."""
        self.endless: dict[str, None] = {}
        """Ids at which a chain of continuations comes back to itself, or is longer than 1,000 parts."""
        self._continuations: dict[str, etree._Element] = {}
        for element in continuations:
            self._continuations.setdefault((element.get("id") or "").strip(), element)
        self._pieces: list[str] = []
        self._spans: dict[etree._Element, tuple[int, int]] = {}
        self._gaps: list[tuple[int, int]] = []

    def of(self, element: etree._Element) -> str:
        """Text of a tag and the continuations it leads to, at most `MAX_TEXT` characters."""
        if not len(element) and attribute(element, "continuedAt") is None:
            return _shortened(" ".join((element.text or "").split()))
        parts = [self._own(element)]
        length = len(parts[0])
        seen: set[str] = set()
        while (following := attribute(element, "continuedAt")) is not None and length <= MAX_TEXT:
            following = following.strip()
            if following in seen or len(seen) > _MOST_PARTS:
                self.endless.setdefault(following)
                break
            seen.add(following)
            if following not in self._continuations:
                self.missing.setdefault(following)
                break
            element = self._continuations[following]
            parts.append(self._own(element))
            length += len(parts[-1])
        return _shortened(" ".join(part for part in parts if part))

    def _own(self, element: etree._Element) -> str:
        if element not in self._spans:
            self._walk(element)
        first, last = self._spans[element]
        inside = self._gaps[bisect_right(self._gaps, (first, last)) : bisect_left(self._gaps, (last, last))]
        kept: list[str] = []
        length = 0
        for start, end in _between(first, last, inside):
            kept.append("".join(self._pieces[start:end]))
            length += len(kept[-1])
            if length > _ENOUGH:
                break
        return " ".join("".join(kept).split())

    def _walk(self, container: etree._Element) -> None:
        """Note the text of `container` and where in it each tag, exclusion and hidden element begins and ends."""
        pieces = self._pieces
        starts: dict[etree._Element, int] = {}
        for event, element in etree.iterwalk(container, events=("start", "end", "comment", "pi")):
            tag = element.tag
            name = local_name(element)
            apart = not name and isinstance(tag, str) and tag.rpartition("}")[2] not in _INLINE
            if event == "start":
                if name in _OF_INTEREST or element is container or _is_hidden(element.get("style")):
                    starts[element] = len(pieces)
                    pieces.append("")
                if apart:
                    pieces.append(" ")
                if element.text and tag not in _SILENT:
                    pieces.append(element.text)
                continue
            if element in starts:
                span = (starts[element], len(pieces))
                if name in _TEXTS or element is container:
                    self._spans[element] = span
                if name == "exclude" or (element is not container and _is_hidden(element.get("style"))):
                    insort(self._gaps, span)
            if element is container:
                break
            if apart:
                pieces.append(" ")
            if element.tail:
                pieces.append(element.tail)


_ENOUGH = 4 * MAX_TEXT
"""Pieces hold runs of spaces: beyond this much no more is needed."""
_AT_ONCE = 2_000
_MOST_PARTS = 1_000
_TEXTS = frozenset({"nonnumeric", "continuation", "nonfraction", "fraction"})
_OF_INTEREST = _TEXTS | {"exclude"}
_XHTML = "http://www.w3.org/1999/xhtml"
_INLINE = {
    "a",
    "abbr",
    "b",
    "big",
    "cite",
    "code",
    "em",
    "font",
    "i",
    "ins",
    "mark",
    "q",
    "s",
    "small",
    "span",
    "strong",
} | {"sub", "sup", "tt", "u"}
_SILENT = frozenset({"script", "style", f"{{{_XHTML}}}script", f"{{{_XHTML}}}style"})
_HIDDEN = re.compile(r"display\s*:\s*none", re.I)


def _is_hidden(style: str | None) -> bool:
    return style is not None and "none" in style and _HIDDEN.search(style) is not None


def _between(first: int, last: int, gaps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of `first` to `last` without `gaps`, which are sorted and may lie in each other; in short spans."""
    left: list[tuple[int, int]] = []
    for start, end in gaps:
        if start > first:
            left.append((first, start))
        first = max(first, end)
    left.append((first, last))
    return [(at, min(at + _AT_ONCE, end)) for start, end in left for at in range(start, end, _AT_ONCE)]


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1].rstrip() + "…"
