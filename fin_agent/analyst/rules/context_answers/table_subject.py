"""What a table is about, as the text around it says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.context_answers.asked import Asked
from fin_agent.analyst.rules.context_answers.told_figures import Told


def about_table(asked: Asked, paragraphs: Sequence[str]) -> Told | None:
    """What the table shows: as the sentence that leads to it says, else the heading before it."""
    if not _OF_TABLE.search(asked.text):
        return None
    sentences = [" ".join(part.split()) for text in paragraphs for part in re.split(r"(?<=[.:])\s+", text)]
    for text in sentences:
        if match := _TABLE_SHOWS.search(text):
            return Told((_bare(_AS_FOLLOWS.sub("", text[match.end() :]).rstrip(".")),), 1.0)
    for text in sentences:
        if match := _AS_FOLLOWS.search(text):
            return Told((_bare(text[: match.start()]),), 1.0)
    headings = [text.strip() for text in paragraphs if len(text.split()) <= _HEADING_WORDS]
    return Told((headings[-1].rstrip(":."),), 1.0) if headings else None


def _bare(text: str) -> str:
    return text.strip().strip(",:;").strip()


_HEADING_WORDS = 12
_OF_TABLE = re.compile(
    r"\bwhat (?:does|do|is|are) the (?:following )?(?:table|tables|chart)\b.*\b(?:show"
    r"|represent|summari|present|depict|about|highlight|describe)",
    re.I,
)
_TABLE_SHOWS = re.compile(
    r"\btables?\b(?: (?:above|below|that follows))?,? (?:\w+ )?(?:shows?|presents?|sets? forth"
    r"|summari[sz]es?|represents?|provides?|details?|reflects?|discloses?|illustrates?"
    r"|reconciles?|lists?|includes?|contains?)\s+",
    re.I,
)
_AS_FOLLOWS = re.compile(
    r",?\s*(?:(?:is|are|was|were) )?(?:as follows|shown (?:below|in the following table)"
    r"|presented below)(?: below)?\s*:?\s*$",
    re.I,
)
