"""A conversation on a terminal: replies with numbered citations, their evidence, turns and threads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from fin_agent.analyst.rules.follow_ups import MessageKind
from fin_agent.answering.answer import Citation
from fin_agent.filings.passage_splitting import table_text
from fin_agent.graphs.chat.state import Turn
from fin_agent.graphs.chat.threads import ThreadSummary
from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.answers import usage_line
from fin_agent.presentation.pages import page_head, table_view
from fin_agent.presentation.terminal_text import fixed, listing, one_line, plain, right
from fin_agent.presentation.traces import warning_lines
from fin_agent.vocabulary.page import Page
from fin_agent.vocabulary.table import Table as FilingTable

_MAX_CITED = 10
_MAX_QUOTE_LENGTH = 300
_MAX_WARNINGS = 6
_ENDS_IN_A_FIGURE = re.compile(r": \D{0,3}[\d.,]+\D{0,2}$")


def turn_view(turn: Turn) -> RenderableType:
    """Return a turn: how a follow-up was read, the reply, its numbered citations, and notes and warnings."""
    return Group(*_parts(turn))


def _parts(turn: Turn) -> Iterator[RenderableType]:
    if turn.kind is MessageKind.FOLLOW_UP and turn.question:
        yield Text(f"→ {one_line(turn.question)}", style="cyan")
    refused = turn.answer is not None and turn.answer.refused and not turn.by_model
    yield Text(plain(turn.said), style="yellow" if refused else "bold" if turn.answers else "")
    if turn.answers:
        yield from _cited(turn.citations)
    for note in dict.fromkeys(note for answer in turn.answers for note in answer.assumptions):
        yield Text(f"Note: {one_line(note)}", style="yellow")
    yield from warning_lines(turn.warnings, most=_MAX_WARNINGS)
    if called := usage_line(turn.usage):
        yield Text(called, style="dim")


def _cited(citations: Sequence[Citation]) -> Iterator[RenderableType]:
    for number, citation in enumerate(citations[:_MAX_CITED], start=1):
        place = f"{one_line(citation.doc_id)} page {citation.page + 1}"
        line = Text.assemble(
            (f" [{number}] ", "bold"), (place, "cyan"), ("  ", ""), (one_line(citation.text, _MAX_QUOTE_LENGTH), "dim")
        )
        if not _ENDS_IN_A_FIGURE.search(citation.text):  # figures are never cut off; /evidence shows whole sentences
            line.no_wrap, line.overflow = True, "ellipsis"
        yield line
    if len(citations) > _MAX_CITED:
        yield Text(f" and {len(citations) - _MAX_CITED} more: /evidence N", style="dim")


def evidence_view(
    number: int, citation: Citation, record: FilingRecord, page: Page, tables: Sequence[FilingTable], passage: str
) -> RenderableType:
    """Return the passage of a citation: its table for a figure of a table, else its text with the quote highlighted."""
    head = Text.assemble((f"[{number}] ", "bold"), page_head(record, page))
    parts: list[RenderableType] = [head, Text(f"▸ {one_line(citation.text, _MAX_QUOTE_LENGTH)}", style="bold"), Text()]
    table = next((each for each in tables if _holds(each, citation)), None)
    if table is not None:
        return Group(*parts, *table_view(table))
    text = Text(plain(passage or page.text).strip())
    quote = plain(citation.text).strip()
    if quote:
        text.highlight_words([quote], style="bold reverse")
    return Group(*parts, text)


def _holds(table: FilingTable, citation: Citation) -> bool:
    if citation.box is None:
        return citation.text in table_text(table)
    across, middle = (citation.box[0] + citation.box[2]) / 2, (citation.box[1] + citation.box[3]) / 2
    box = table.box
    return table.page == citation.page and box.y0 - 1 <= middle <= box.y1 + 1 and box.x0 - 1 <= across <= box.x1 + 1


def history_view(turns: Sequence[Turn]) -> RenderableType:
    """Return every turn: the message, how it was read, and the beginning of the reply."""
    lines: list[RenderableType] = []
    for number, turn in enumerate(turns, start=1):
        lines.append(Text.assemble((f"{number:>3}  ", "dim"), (one_line(turn.asked, 200), "bold")))
        if turn.kind is MessageKind.FOLLOW_UP and turn.question:
            lines.append(Padding(Text(f"→ {one_line(turn.question, 200)}", style="cyan"), (0, 0, 0, 5)))
        lines.append(Padding(Text(one_line(turn.said, 200)), (0, 0, 0, 5)))
    return Group(*lines) if lines else Text("This thread has no messages yet.")


def threads_view(threads: Sequence[ThreadSummary], current: str) -> RenderableType:
    """Return the saved threads, with a mark on the current one."""
    if not threads:
        return Text("No thread is saved yet.")
    table = listing(fixed("Thread"), right("Turns"), fixed("Last used"), "Begins with")
    for thread in threads:
        mark = " ◂" if thread.name == current else ""
        when = thread.changed.astimezone().strftime("%Y-%m-%d %H:%M")
        table.add_row(Text(f"{one_line(thread.name)}{mark}"), str(thread.turns), when, Text(one_line(thread.title, 60)))
    return table
