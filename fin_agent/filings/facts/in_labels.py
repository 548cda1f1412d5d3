"""Figures that stand inside the labels of a balance sheet: shares authorized and issued, par values, allowances."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from fin_agent.filings.tables.numbers import parse_number
from fin_agent.filings.tables.units import scale_of, share_scale_of
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Row, Table


def facts_in_labels(tables: Sequence[Table], statements: Mapping[int, Statement]) -> list[Fact]:
    """Facts that the row labels of balance sheets state, in their order.

    `Common stock, $0.01 par value; 100 shares authorized; 52 and 50 shares issued, respectively` states a par value and
    an authorization for every column, and the shares issued column by column. Share counts are in the units that the
    table's unit line gives for shares, unless they are printed in full; amounts of money in those of the table.
    """
    found: list[Fact] = []
    for table in tables:
        if statements.get(table.page) is not Statement.BALANCE_SHEET:
            continue
        dated = [(name, period) for name, period in zip(table.columns, table.periods, strict=True) if period]
        balances = [(name, period) for name, period in dated if period.months == 0]
        if balances:
            scale = _share_scale(table)
            for row in table.rows:
                found.extend(_facts_of(row, table, balances, scale))
    return found


@dataclass(frozen=True, slots=True)
class _Figure:
    """One number, or one for each column, and what it counts."""

    what: str
    printed: tuple[str, ...]
    unit: str


_NUMBER = r"\$?\s?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)|\bno(?:ne)?\b"
_PAIR = rf"(?:{_NUMBER})(?:\s*(?:,|and|;)\s*(?:and\s+)?(?:{_NUMBER})(?![\d,]*\s*(?:shares?\s+)?authori[sz]ed))?"
_STATE = r"(?:authori[sz]ed|issued|outstanding)"
_SHARE = r"(?:(?:common|ordinary|preferred|preference|treasury|class [a-z])\s+)?(?:shares?|stock)?"
_DATES = re.compile(
    r"\(?\b(?:as of|at|on)?\s*(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?\s+\d{1,2}"
    r"(?:,?\s*(?:19|20)\d\d)?|\b(?:in|at|and|for)\s+(?:19|20)\d\d\b",
    re.I,
)
_PAR = re.compile(
    r"(?P<a>\$\s?\d*\.?\d+)\s*(?:per share\s*)?(?:par|stated)\b"
    r"|\b(?:par|stated) value(?:\s*(?:of|,|:|-|–|—))?\s*(?P<b>\$?\s?\d*\.?\d+)",
    re.I,
)
_AFTER = re.compile(
    rf"(?P<numbers>{_PAIR})\s*(?:{_SHARE}\s*)?"
    rf"(?P<states>(?:(?:shares?\s+)?{_STATE})(?:\s*(?:,|and|;|/|or)\s*(?:shares?\s+)?{_STATE})*)",
    re.I,
)
_BEFORE = re.compile(
    rf"(?P<states>{_STATE}(?:\s*(?:,|and|/)\s*{_STATE})*)(?:\s+shares?)?"
    rf"\s*(?:[—–:-]|\bwere\b|\bare\b)\s*(?P<numbers>{_PAIR})(?:\s*shares?)?",
    re.I,
)
_LIST = re.compile(r"\d\s*(?:,|and)\s*$")
"""The end of a number that others follow: more than a column each."""
_TREASURY = re.compile(
    rf"\btreasury (?:stock|shares?)\b[^;(]*?[(,—–-]\s*(?:at cost\W+)?\(?(?P<numbers>{_PAIR})\s*shares?\b", re.I
)
_ALLOWANCE = re.compile(
    r"(?P<what>\b(?:allowances?|reserves?|accumulated (?:depreciation|amortization))\b[^$;()\d]{0,90}?)"
    r"(?P<numbers>\$\s?[\d,.]*\d(?:\s*(?:and|,|;)\s*(?:of\s+)?\$?\s?[\d,.]*\d)?)",
    re.I,
)


def _facts_of(row: Row, table: Table, balances: Sequence[tuple[str, FactPeriod]], share_scale: int) -> Iterator[Fact]:
    label = _DATES.sub(" ", row.label)
    if not any(mark.isdigit() for mark in label) and not re.search(r"\bno(?:ne)?\b", label, re.I):
        return
    for figure in _figures(label):
        amounts = [_amount(printed) for printed in figure.printed]
        if None in amounts or len(amounts) not in (1, len(balances)):
            continue
        for position, (column, period) in enumerate(balances):
            amount = amounts[position if len(amounts) > 1 else 0] or Decimal(0)
            yield Fact(
                label=figure.what,
                amount=amount,
                scale=_scale(figure, amount, table, share_scale),
                unit=figure.unit,
                period=period,
                page=table.page,
                box=_label_box(row),
                source="label",
                section=(*row.section, _name(row.label)),
                line=row.line,
                column=column,
                statement=Statement.BALANCE_SHEET,
            )


def _label_box(row: Row) -> Box:
    cells = [cell.box.x0 for cell in row.cells if cell]
    return Box(row.box.x0, row.box.y0, max(row.box.x0, min([*cells, row.box.x1])), row.box.y1)


def _figures(label: str) -> Iterator[_Figure]:
    for par in _PAR.finditer(label):
        yield _Figure("Par value per share", (par["a"] or par["b"],), "USD per share")
    counted = [*_AFTER.finditer(label), *_BEFORE.finditer(label)]
    taken: set[str] = set()
    for match in sorted(counted, key=lambda match: match.start()):
        if _LIST.search(label, 0, match.start("numbers")):
            continue
        for state in re.findall(_STATE, match["states"], re.I):
            name = f"Shares {state.lower().replace('authorised', 'authorized')}"
            if name not in taken:
                taken.add(name)
                yield _Figure(name, _printed(match["numbers"]), "shares")
    if not taken and (treasury := _TREASURY.search(label)):
        yield _Figure("Treasury shares", _printed(treasury["numbers"]), "shares")
    for match in _ALLOWANCE.finditer(label):
        yield _Figure(_name(match["what"]), _printed(match["numbers"]), "USD")


def _printed(numbers: str) -> tuple[str, ...]:
    return tuple(re.findall(_NUMBER, numbers, re.I))


def _amount(printed: str) -> Decimal | None:
    if printed.strip().lower() in ("no", "none"):
        return Decimal(0)
    number = parse_number(printed)
    return number.amount if number else None


def _name(text: str) -> str:
    """The label's first words, up to the figure."""
    return re.split(r"[,;(]|\s[—–-]\s|\s\$|\sof\s*$", text.strip(), maxsplit=1)[0].strip().capitalize()


def _share_scale(table: Table) -> int:
    return share_scale_of(table.unit_line) or 1


def _scale(figure: _Figure, amount: Decimal, table: Table, share_scale: int) -> int:
    if figure.unit == "USD per share":
        return 1
    if figure.unit == "USD":
        return scale_of(table.unit_line) or 1
    if share_scale == 1 and 0 < amount < _FEWEST_IN_FULL:
        return scale_of(table.unit_line) or 1
    return 1 if amount * share_scale > _MOST_SHARES else share_scale


_FEWEST_IN_FULL = 100_000
"""Fewer shares than this are not printed in full: `100 shares authorized` in a table in millions are 100 million."""
_MOST_SHARES = 10**12
