"""Split pages into passages: spans of running text, and tables with their caption, unit and header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from fin_agent.vocabulary.filing import Passage, PassageKind
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.runs import grouped
from fin_agent.vocabulary.table import Table

PASSAGE_TOKENS = 1024
OVERLAP_TOKENS = 30
_CHARACTERS_PER_TOKEN = 4
"""English prose and tables average about four characters per token; the estimate needs no vocabulary file."""
_MIN_TABLE_ROWS = 3


def passages_of(pages: Sequence[PageContent], tables: Sequence[Table]) -> list[Passage]:
    """Return the passages of all pages, page by page: text spans, then tables."""
    by_page = grouped((table.page, table) for table in tables)
    passages: list[Passage] = []
    for page in pages:
        for text in split_text(page.text):
            passages.append(Passage(page.number, len(passages), PassageKind.TEXT, text))
        for table in by_page.get(page.number, ()):
            if len(table.rows) >= _MIN_TABLE_ROWS:
                passages.append(Passage(page.number, len(passages), PassageKind.TABLE, table_text(table), table.box))
    return passages


def split_text(text: str, tokens: int = PASSAGE_TOKENS, overlap: int = OVERLAP_TOKENS) -> Iterator[str]:
    """Yield spans of at most `tokens` (estimated) tokens, cut at line ends.

    Each repeats `overlap` tokens of the one before, or all of a sentence that the cut divides, if it is not long.
    """
    limit, kept = tokens * _CHARACTERS_PER_TOKEN, overlap * _CHARACTERS_PER_TOKEN
    span: list[str] = []
    length = 0
    lines = text.strip().split("\n")
    for line in (whole[at : at + limit] for whole in lines for at in range(0, max(len(whole), 1), limit)):
        if span and length + len(line) > limit:
            if any(part.strip() for part in span):
                yield "\n".join(span)
            span = _tail(span, kept)
            length = sum(len(part) + 1 for part in span)
            if length + len(line) > limit:  # no room for the overlap
                span, length = [], 0
        span.append(line)
        length += len(line) + 1
    if any(line.strip() for line in span):
        yield "\n".join(span)


def table_text(table: Table) -> str:
    """Return a table as lines of text: caption, unit, header, then one line per row with its section path."""
    lines = [part for part in (table.caption, table.unit_line) if part]
    lines.append(" | ".join(("", *table.columns)))
    for row in table.rows:
        label = " > ".join((*row.section, row.label))
        lines.append(" | ".join((label, *(cell.printed if cell else "" for cell in row.cells))))
    return "\n".join(lines)


def _tail(lines: Sequence[str], characters: int) -> list[str]:
    """Return the last lines that a text of this length holds, or those since the last end of a sentence."""
    lengths = list(accumulate(len(line) for line in reversed(lines)))
    kept = sum(length <= characters for length in lengths)
    ends = (place for place, line in enumerate(reversed(lines)) if ". " in line or line.rstrip().endswith("."))
    begun = next(ends, 0)
    divided = begun + (not lines[-1 - begun].rstrip().endswith("."))
    if lengths[max(0, divided - 1)] > _LONGEST_SENTENCE:
        divided = 0
    return list(lines[len(lines) - max(kept, divided) :])


_LONGEST_SENTENCE = 600
"""Most characters that a span repeats to keep a sentence whole."""
