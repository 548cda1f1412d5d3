"""Lists that filings print: items under a sentence that announces them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fin_agent.analyst.rules.reasoning.sentences import Paragraph

_LONGEST_LIST = 900
_LONGEST_ITEM = 110
_MOST_ITEMS = 20
_ITEM_ENDS = re.compile(r"\s[—–]\s|:\s|;|,\s+(?:which|including|that|such|where|with|as)\b|\s\(|\.\s|\.$")
_ENUMERATION = re.compile(
    r"\((?:i|1|a)\).*\((?:ii|2|b)\)|^.{30,}:\s[^.:]{3,}(?:,|;|\band\b)|\s[–—-]\s[^.:]{3,},?\sand\s"
)
_SERIES = re.compile(r"(?:[^,;]+,){2,}[^,;]*\b(?:and|or)\b")


@dataclass(frozen=True, slots=True)
class PrintedList:
    """Items with what announces them."""

    lead: str
    items: tuple[str, ...]
    heading: str
    position: int
    """Of the lead among the passage's sentences."""
    last: int

    @property
    def text(self) -> str:
        """The whole list as one sentence; long items by what they begin with."""
        items = [_trimmed(item) for item in self.items]
        if sum(map(len, items)) > _LONGEST_LIST:
            items = [_opening(item) for item in self.items]
        return f"{self.lead} {'; '.join(items[:_MOST_ITEMS])}."


def printed_lists(paragraphs: Sequence[Paragraph]) -> Iterator[PrintedList]:
    """Items that follow a sentence which ends in a colon, or a heading."""
    position = 0
    lead: tuple[str, int] | None = None
    items: list[str] = []
    heading = ""
    for paragraph in [*paragraphs, Paragraph(("",))]:
        if paragraph.item:
            if not items:
                heading = paragraph.heading
            items.append(paragraph.sentences[0])
        else:
            if lead is not None and items and (len(items) == 1 or len(set(items)) > 1):
                yield PrintedList(lead[0], tuple(items), heading, lead[1], position - 1)
            items = []
            last = paragraph.sentences[-1]
            lead = (last, position + len(paragraph.sentences) - 1) if last.endswith(":") else None
        position += len(paragraph.sentences)


def is_enumeration(sentence: str) -> bool:
    """Whether a sentence announces several things and names them.

    >>> is_enumeration("There are two reportable segments: Consumer and Business."), is_enumeration("We have segments.")
    (True, False)
    """
    return _ENUMERATION.search(sentence) is not None


def is_series(sentence: str) -> bool:
    """Whether a sentence names several things in a row."""
    return _SERIES.search(sentence) is not None


def _trimmed(item: str) -> str:
    return re.sub(r"[;,.]?\s*(?:and|or)?$", "", item).strip()


def _opening(item: str) -> str:
    cut = _ITEM_ENDS.split(item, maxsplit=1)[0].strip()
    if len(cut) <= _LONGEST_ITEM:
        return _trimmed(cut)
    return _trimmed(cut[:_LONGEST_ITEM].rsplit(" ", 1)[0]) + " …"
