"""Text of filings and questions made safe to print, counts with nouns, and the common style of tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Column, Table
from rich.text import Text

from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.page import page_ranges
from fin_agent.vocabulary.runs import grouped

_KEPT = "\n\t"
_UNSAFE = ("Cc", "Cf", "Cs")
"""Controls, invisible formatting marks and lone surrogates: the text of a filing must not control the terminal."""
_SHAPING = "\u00ad\u200c\u200d"


def plain(text: str) -> str:
    r"""Return `text` without control characters.

    >>> plain("net sales\x1b[2J rose")
    'net sales[2J rose'
    """
    if text.isprintable():
        return text
    return "".join(
        mark for mark in text if mark in _KEPT or mark in _SHAPING or unicodedata.category(mark) not in _UNSAFE
    )


def one_line(text: str, longest: int = 0) -> str:
    """Return `text` on one line, cut with an ellipsis if it is longer than `longest` (0 for no limit)."""
    joined = " ".join(plain(text).split())
    return joined if not longest or len(joined) <= longest else f"{joined[: longest - 1].rstrip()}…"


def count_with_noun(number: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is 1.

    >>> count_with_noun(1, "filing"), count_with_noun(1200, "filing"), count_with_noun(2, "company")
    ('1 filing', '1,200 filings', '2 companies')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def first_items(names: Sequence[str], most: int = 5) -> str:
    """Return the first names of a list, with `...` if there are more."""
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "")


def warning_lines_by_page(warnings: Iterable[ReadWarning]) -> list[str]:
    """Return one line per different warning, preceded by its pages.

    >>> warning_lines_by_page([ReadWarning("no text", page) for page in (0, 8, 9, 10)])
    ['pages 1, 9-11: no text']
    """
    pages = grouped((warning.what, warning.page) for warning in warnings)
    known = {what: [page for page in of if page is not None] for what, of in pages.items()}
    return [f"{page_numbers(numbers)}: {what}" if numbers else what for what, numbers in known.items()]


def page_numbers(pages: Iterable[int]) -> str:
    """Return pages (0-based) as people count them, with runs joined.

    >>> page_numbers([8]), page_numbers([0, 8, 9, 10])
    ('page 9', 'pages 1, 9-11')
    """
    different = sorted(set(pages))
    return f"page{'s' if len(different) > 1 else ''} {page_ranges(different)}"


def settings_view(lines: Sequence[tuple[str, str]]) -> Table:
    """Return a table of names and values."""
    table = Table.grid(Column(style="bold", no_wrap=True), Column(overflow="fold"), padding=(0, 2))
    for name, said in lines:
        table.add_row(Text(name), Text(one_line(said), style="" if name else "dim"))
    return table


def advice_view(rows: Iterable[tuple[Text, str, str]]) -> Table:
    """Return a block for each (head, finding, remedy), with the remedy below."""
    table = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 0))
    for head, said, remedy in rows:
        table.add_row(head, Text(one_line(said)))
        if remedy:
            table.add_row("", Text(f"→ {one_line(remedy)}", style="cyan"))
    return table


def listing(*columns: Column | str) -> Table:
    """Return an empty table with these columns, in the common style."""
    return style_table(Table(*columns))


def fixed(header: str) -> Column:
    """Return a column that is never folded."""
    return Column(header, no_wrap=True)


def right(header: str) -> Column:
    """Return a right-aligned column for numbers."""
    return Column(header, justify="right", no_wrap=True)


def style_table(table: Table) -> Table:
    """Return `table` with a line under its header and no other lines, so that it fits 100 columns."""
    table.box = box.SIMPLE_HEAD
    table.show_edge = table.pad_edge = False
    table.collapse_padding = True
    table.header_style = table.title_style = "bold"
    table.title_justify = table.caption_justify = "left"
    table.caption_style = "dim"
    return table


def cut(text: str) -> Text:
    """Return text on one line that is shortened first if a table is too wide."""
    return Text(one_line(text), no_wrap=True, overflow="ellipsis")
