"""The list of what is indexed, and lists of settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from rich import box
from rich.table import Table
from rich.text import Text

from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.counted import counted
from fin_agent.presentation.plain import one_line
from fin_agent.vocabulary.identity import Form, Identity


def filings_view(records: Sequence[FilingRecord]) -> Table:
    """A line per filing."""
    table = listing()
    whole = max((len(record.doc_id) for record in records if len(record.doc_id) <= _WIDEST_NAME), default=0)
    table.add_column("Filing", min_width=whole, max_width=_WIDEST_NAME, overflow="fold")
    table.add_column("Company")
    table.add_column("Form", no_wrap=True)
    table.add_column("Period", no_wrap=True)
    table.add_column("Pages", justify="right", no_wrap=True)
    for record in records:
        identity = record.identity
        form = f"{identity.form.value}/A" if identity.amended else identity.form.value
        table.add_row(
            one_line(record.doc_id), cut(identity.company), form, period_of(identity), f"{record.page_count:,}"
        )
    companies = len({record.identity.company for record in records})
    pages = sum(record.page_count for record in records)
    table.caption = f"{counted(len(records), 'filing')} of {counted(companies, 'company')}, {counted(pages, 'page')}"
    return table


_WIDEST_NAME = 48
"""Letters of a filing's name on one line: a longer one would leave no room for what the filing is."""


def in_reading_order(records: Iterable[FilingRecord]) -> list[FilingRecord]:
    """By company, then time, form and doc_id."""
    return sorted(
        records,
        key=lambda record: (
            record.identity.company.casefold(),
            record.identity.period_end or date.min,
            record.identity.form.value,
            record.doc_id,
        ),
    )


def period_of(identity: Identity) -> str:
    """`FY2023`, `Q2 FY2023`; the day for a report of an event, and where no fiscal year is known."""
    if identity.fiscal_year is None or identity.form is Form.EIGHT_K:
        return identity.period_end.isoformat() if identity.period_end else "unknown"
    return f"Q{identity.quarter} FY{identity.fiscal_year}" if identity.quarter else f"FY{identity.fiscal_year}"


def settings_view(lines: Sequence[tuple[str, str]]) -> Table:
    """Names on the left, what they are on the right."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, said in lines:
        table.add_row(Text(name), Text(one_line(said), style="" if name else "dim"))
    return table


def listing() -> Table:
    """An empty table in the look that all listings share."""
    return in_our_look(Table())


def in_our_look(table: Table) -> Table:
    """`table` with a line under its head and nothing else drawn: narrow enough for 100 columns."""
    table.box = box.SIMPLE_HEAD
    table.show_edge = table.pad_edge = False
    table.collapse_padding = True
    table.header_style = table.title_style = "bold"
    table.title_justify = table.caption_justify = "left"
    table.caption_style = "dim"
    return table


def cut(text: str) -> Text:
    """One line that gives way first where a table is too wide."""
    return Text(one_line(text), no_wrap=True, overflow="ellipsis")
