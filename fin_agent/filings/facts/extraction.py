"""Numbers of tables as Facts: metric, unit, scale, period, scope and place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal

from fin_agent.filings.facts.reconciling import UnitOf, reconciled
from fin_agent.filings.filing import Cell, Fact, Identity, PageContent, Row, Statement, Table
from fin_agent.filings.outline.statements import statement_titled
from fin_agent.filings.tables.reading import read_tables
from fin_agent.filings.tables.units import scale_of, share_scale_of, unit_line_in

MetricOf = Callable[[str, Statement | None, Sequence[str]], str | None]
"""Canonical metric of a printed row label: (label, statement, section path) -> metric id or None."""


def extract_facts(
    pages: Sequence[PageContent],
    identity: Identity,
    statements: Mapping[int, Statement],
    metric_of: MetricOf,
    unit_of: UnitOf | None = None,
) -> list[Fact]:
    """Facts of every table with dated columns on `pages`; `statements` names the primary statements' pages."""
    return facts_of_tables(read_tables(pages, identity), statements, metric_of, unit_of)


def facts_of_tables(
    tables: Sequence[Table],
    statements: Mapping[int, Statement],
    metric_of: MetricOf,
    unit_of: UnitOf | None = None,
) -> list[Fact]:
    """Facts of `tables`, in their order: rows top to bottom, columns left to right.

    A figure's scale is that of its table's unit line; without one, that of the filing's primary statements. Per-share
    figures and percentages are never scaled; share counts are as the unit line says. With `unit_of`, the facts are then
    held against each other (`reconciling.reconciled`).
    """
    usual = _usual_unit_line(tables, statements)
    by_table: list[list[Fact]] = []
    for table in tables:
        if not any(table.periods):
            continue
        statement = statements.get(table.page)
        if statement is not None:
            statement = _titled(table.caption) or statement
        by_table.append(list(_facts_of(table, statement, table.unit_line or _fitting(usual, table), metric_of)))
    if unit_of is not None:
        return reconciled(by_table, unit_of)
    return [fact for facts in by_table for fact in facts]


def _facts_of(table: Table, statement: Statement | None, unit_line: str, metric_of: MetricOf) -> Iterator[Fact]:
    money = bool(unit_line) or any(cell and cell.dollar for row in table.rows for cell in row.cells)
    # Columns of one period are parts of the whole in segment tables and statements of equity only.
    split = statement is None or statement is Statement.EQUITY
    parts = _parts(table) if split else [""] * len(table.columns)
    columns = [metric_of(part, None, ()) if part else None for part in parts]
    for row in table.rows:
        metric = metric_of(row.label, statement, row.section) if row.label else None
        scope: str | None = None
        if statement is None and row.section:
            metric, scope = _scoped(row, metric, metric_of)
        for index, (cell, period) in enumerate(zip(row.cells, table.periods, strict=True)):
            if cell is None or period is None:
                continue
            unit = _unit(cell, row, parts[index], money)
            of_column = columns[index] if metric is None else None
            yield Fact(
                label=row.label,
                amount=cell.amount,
                scale=_scale(unit, cell, row, unit_line),
                unit=unit,
                period=period,
                page=table.page,
                box=cell.box,
                metric=of_column or metric,
                section=row.section,
                line=row.line,
                column=table.columns[index],
                statement=statement,
                scope=_part_of_company(row.label) if of_column else _scope(row.label, parts[index]) or scope,
            )


def _scope(label: str, part: str) -> str | None:
    """The part of the company that a column is of; one that repeats the row's own words is of none."""
    return None if part.lower() in label.lower() else _part_of_company(part)


_SHARES = re.compile(
    r"\b(?:weighted|average|number of|basic|diluted)\b[^.]*\bshares\b|^shares\b"
    r"|\bshares (?:outstanding|used|repurchased|issued)\b"
    r"|\bshares[^.]*\b(?:outstanding|used in)\b",
    re.I,
)
_PER_SHARE = re.compile(
    r"\bper\s+(?:[\w-]+\s+){0,3}?(?:share|unit|ads)\b|\beps\b|\b(?:earnings|income|loss|dividends?)\b[^,;]*\bper\s+(?:[\w-]+\s+)*share",
    re.I,
)
_PERCENT = re.compile(r"%|\bpercent(?:age)?s?\b|\b(?:effective|statutory) (?:income )?tax rate\b", re.I)
_RATIO = re.compile(r"\bratio\b|\bturnover\b", re.I)
_COUNT = re.compile(
    r"^(?:number of|total number of)\b"
    r"|\b(?:employees|headcount|subscribers|memberships|customers|stores|locations|members)\b",
    re.I,
)
_PRICED_SHARES = re.compile(
    r"\b(?:cost|value|repurchased? of|purchases? of|issuance of|capital|stock-based|amount)\b", re.I
)
_PRICED_COUNT = re.compile(
    r"\b(?:cost|expense|paid|benefit|compensation|payable|receivable|payments|fund|deposits|revenue|sales)", re.I
)
_GENERIC = re.compile(
    r"\b(?:assets?|liabilit|equity|activities|income|expenses?|costs?|revenues?|sales|cash|per share|shares|total|"
    r"adjust|earnings|profit|loss|tax|debt|reconcil|non-gaap|plan|balance|inventor|receivable|current|other|"
    r"as reported|year|quarter|months|weeks|margin|supplemental|december|june|september|march|net)",
    re.I,
)


_WHOLE = re.compile(r"\b(?:total|consolidated|company|amounts?|actual|(?:as )?reported|dollars?)\b", re.I)
_SHARES_COLUMN = re.compile(r"^(?:number of )?(?:\w+ )?(?:shares|units|options|awards|rsus)\b", re.I)
_PRICE_COLUMN = re.compile(r"\bper[\s-]+(?:\w+ )?share\b|\bprice\b|\bgrant[\s-]date fair value\b", re.I)
_TIME_WORDS = re.compile(
    r"\(?\b(?:un)?audited\b\)?|\b(?:(?:19|20)\d\d|fiscal|years?|ended|months|weeks|three|six|nine|twelve|for the"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?(?: \d{1,2},?)?|as of|at|quarter)\b",
    re.I,
)
_LARGEST = Decimal(5) * 10**12
"""No filer's figure is larger, in dollars: a unit line that would make one so is not meant for its table."""


def _fitting(unit_line: str, table: Table) -> str:
    largest = max((abs(cell.amount) for row in table.rows for cell in row.cells if cell), default=Decimal(0))
    return unit_line if largest * (scale_of(unit_line) or 1) <= _LARGEST else ""


def _usual_unit_line(tables: Sequence[Table], statements: Mapping[int, Statement]) -> str:
    """Unit line of most primary statement tables."""
    seen = Counter(table.unit_line for table in tables if table.page in statements and scale_of(table.unit_line))
    if not seen:
        return ""
    by_scale: Counter[int] = Counter()
    for line, count in seen.items():
        by_scale[scale_of(line) or 1] += count
    usual = max(by_scale, key=lambda scale: (by_scale[scale], -scale))
    return max((line for line in seen if scale_of(line) == usual), key=lambda line: (len(line), line))


def _titled(caption: str) -> Statement | None:
    """The statement that a caption's last words title, whatever stands before them."""
    words = _BRACKETS.sub(" ", caption).split()[-_TITLE_WORDS:]
    return next((found for start in range(len(words)) if (found := statement_titled(" ".join(words[start:])))), None)


_TITLE_WORDS = 16
_BRACKETS = re.compile(r"\([^()]*\)?")


def _scoped(row: Row, metric: str | None, metric_of: MetricOf) -> tuple[str | None, str | None]:
    """(metric, scope) of a row in a table that is no primary statement: a part named in its label or its heading."""
    heading = row.section[-1]
    if metric is None:
        over = metric_of(heading, None, row.section[:-1])
        if over is not None and row.label and not row.label.lower().startswith("total"):
            return over, row.label
        return None, None
    if not _GENERIC.search(heading) and len(heading) <= 60:
        return metric, heading
    return metric, None


def _parts(table: Table) -> list[str]:
    """What tells apart the columns that cover one period: segments, components, shares and amounts."""
    shared = Counter(period for period in table.periods if period is not None)
    names = [name.split() for name in table.columns]
    common = 0
    for words in zip(*names, strict=False):
        if len(set(words)) > 1:
            break
        common += 1
    return [
        _TIME_WORDS.sub(" ", " ".join(name[common:])).strip(" ,-*") if period is not None and shared[period] > 1 else ""
        for name, period in zip(names, table.periods, strict=True)
    ]


def _part_of_company(name: str) -> str | None:
    """`name` as a scope; None where it names the whole (`Total`, `Consolidated`) or nothing."""
    if not any(mark.isalpha() for mark in name) or _WHOLE.search(name):
        return None
    return " ".join(name.split())[:80]


def _unit(cell: Cell, row: Row, part: str, money: bool) -> str:
    if cell.percent:
        return "percent"
    if part and not cell.dollar and _SHARES_COLUMN.search(part) and not _PER_SHARE.search(part):
        return "shares"
    if part and _PRICE_COLUMN.search(part):
        return "USD per share"
    for text in (row.label, *reversed(row.section)):
        if _SHARES.search(text) and not cell.dollar and not _PRICED_SHARES.search(text) and not _leads_per_share(text):
            return "shares"
        if _PER_SHARE.search(text):
            return "USD per share" if not _plain_amount(cell) else "USD"
        if text and not cell.dollar and _PERCENT.search(text):
            return "percent" if abs(cell.amount) < 10_000 else "USD"
    if not cell.dollar and _RATIO.search(row.label):
        return "ratio"
    if not cell.dollar and _COUNT.search(row.label) and not _PRICED_COUNT.search(row.label):
        return "count"
    return "USD" if money else "count"


def _leads_per_share(text: str) -> bool:
    """`Net income per share, diluted (weighted-average shares)` is a per-share figure."""
    per, shares = _PER_SHARE.search(text), re.search(r"\bshares\b", text, re.I)
    counted = re.search("weighted|average|number of", text, re.I)
    return bool(per and shares and per.start() < shares.start() and not counted)


def _plain_amount(cell: Cell) -> bool:
    """`Dividends declared ($0.47 per share)` with (728): an amount of money, not one per share."""
    return "," in cell.printed or ("." not in cell.printed and abs(cell.amount) >= 100)


def _scale(unit: str, cell: Cell, row: Row, unit_line: str) -> int:
    if unit in ("percent", "USD per share", "ratio"):
        return 1
    own = next((found for text in (row.label, *reversed(row.section)) if (found := unit_line_in(text))), "")
    if own and scale_of(own):
        return scale_of(own) or 1
    if unit == "count":
        return 1
    if unit == "shares":
        return _share_scale(cell, unit_line)
    return scale_of(unit_line) or 1


def _share_scale(cell: Cell, unit_line: str) -> int:
    """What the unit line says of shares, unless the size of the figure shows that it cannot be meant."""
    said, amounts = share_scale_of(unit_line) or 1, scale_of(unit_line) or 1
    if said == 1 and 0 < abs(cell.amount) < 100_000:
        return amounts
    if abs(cell.amount) * said > 10**12:
        return 1
    return said
