"""Tables for tests, written down in a line a row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from rich.console import Console, RenderableType

from fin_agent.index.protocol import FilingRecord
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

NOWHERE = Box(0, 0, 0, 0)


def shown(view: RenderableType, width: int = 100) -> list[str]:
    """The lines that a console of `width` columns gets, without blanks at their ends."""
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(view)
    return [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]


def cell(printed: str) -> Cell | None:
    if not printed:
        return None
    digits = "".join(mark for mark in printed if mark.isdigit() or mark == ".") or "0"
    amount = Decimal(digits) * (-1 if "(" in printed else 1)
    return Cell(amount, printed, "%" in printed, "$" in printed, NOWHERE)


def row(label: str, *printed: str, under: Sequence[str] = (), line: int = 0) -> Row:
    return Row(label, tuple(under), tuple(map(cell, printed)), line, NOWHERE)


def table(
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    page: int = 0,
    caption: str = "",
    unit_line: str = "",
    periods: Sequence[FactPeriod | None] = (),
) -> Table:
    return Table(
        page, NOWHERE, caption, unit_line, tuple(columns), tuple(periods) or (None,) * len(columns), tuple(rows)
    )


def fact(label: str = "Net sales", value: str = "5", **fields: object) -> Fact:
    given: dict[str, object] = {
        "label": label,
        "amount": Decimal(value),
        "scale": 1_000_000,
        "unit": "USD",
        "period": FactPeriod(2023, None, 12, date(2023, 12, 31)),
        "page": 4,
        "box": NOWHERE,
        **fields,
    }
    return Fact(**given)  # type: ignore[arg-type]


def record(doc_id: str = "acme_2023_10k", pages: int = 9) -> FilingRecord:
    identity = Identity("Acme Corp.", Form.TEN_K, fiscal_year=2023)
    return FilingRecord(doc_id, "0" * 64, identity, pages, f"/filings/{doc_id}.pdf", "", 1, 1)
