"""Convert the figures of tables to facts: metric, unit, scale, period, scope and position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from fin_agent.filings.facts.row_periods import (
    DatedRow,
    balance_period,
    carries_balance,
    covers_later_years,
    dated_rows,
    equity_facts,
    facts_of_dated_rows,
    facts_of_rows_in_time,
    is_component,
    later_years_name,
    part_of_company,
    period_under,
    roll_forward_period,
    roll_forward_rows,
    row_time,
    with_balances,
)
from fin_agent.filings.facts.statement_roles import assign_roles, with_unlabelled_gross_profit
from fin_agent.filings.facts.units_and_scales import (
    facts_in_labels,
    is_measure,
    scale_of_cell,
    unit_of_cell,
    units_of_columns,
    usual_units,
)
from fin_agent.filings.outline.statements import statement_titled
from fin_agent.filings.tables.cells import scale_of
from fin_agent.filings.tables.column_periods import FiscalCalendar, is_change, time_words
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Row, Table

_PATTERNS = patterns("figure_patterns")

UnitOf = Callable[[str], str]
"""Returns the unit of a metric by its id."""

_Span = tuple[int, int | None, int]
"""Fiscal year, quarter, months."""

_PER_SHARE = {"diluted": "diluted_eps", "basic": "basic_eps"}
_SHARES = {"diluted": "weighted_average_shares_diluted", "basic": "weighted_average_shares_basic"}
_NET_INCOMES = ("net_income", "income_from_continuing_operations", "net_income_attributable_to_parent")


def reconcile_tables(tables: Sequence[Sequence[Fact]], unit_of: UnitOf) -> list[Fact]:
    """Return the facts of all tables, in order, reconciled with each other.

    - A figure whose unit differs from its metric's gets the metric that its unit and heading name, or none.
    - `tied` is removed from figures outside the primary statements whose table repeats none of their figures, or has
      several amounts for one metric and period: such a table may be about a part, an effect, or another basis.
    - `inverted` is set on taxes that the income statement shows as a deduction.
    """
    named = [[_in_statement_unit(fact, unit_of) for fact in table] for table in tables]
    stated = _statement_values(fact for table in named for fact in table)
    inverted = _inverted_taxes([fact for table in named for fact in table])
    found: list[Fact] = []
    for table in named:
        loose = set() if not stated else _unanchored(table, stated)
        for position, fact in enumerate(table):
            if position in loose:
                fact = replace(fact, tied=False)
            if fact.metric == "income_tax_expense" and (fact.page, _span(fact)) in inverted:
                fact = replace(fact, inverted=True)
            found.append(fact)
    return found


def _in_statement_unit(fact: Fact, unit_of: UnitOf) -> Fact:
    if fact.metric is None or unit_of(fact.metric) == fact.unit:
        return fact
    names = _PER_SHARE if fact.unit == "USD per share" else _SHARES if fact.unit == "shares" else {}
    heading = " ".join(fact.section).lower()
    return replace(fact, metric=next((name for word, name in names.items() if word in heading), None))


def _statement_values(facts: Iterator[Fact]) -> dict[tuple[str, _Span], set[Decimal]]:
    """Return the values in the primary statements, by metric and period, in base units."""
    stated: dict[tuple[str, _Span], set[Decimal]] = {}
    for fact in facts:
        if fact.statement is not None and fact.metric is not None and fact.scope is None:
            stated.setdefault((fact.metric, _span(fact)), set()).add(fact.value)
    return stated


def _unanchored(table: Sequence[Fact], stated: Mapping[tuple[str, _Span], set[Decimal]]) -> set[int]:
    """Return positions of facts without a link to the statements."""
    outside = [
        (position, fact)
        for position, fact in enumerate(table)
        if fact.statement is None and fact.metric is not None and fact.scope is None
    ]
    values: dict[tuple[str, _Span], set[Decimal]] = {}
    for _, fact in outside:
        values.setdefault((fact.metric or "", _span(fact)), set()).add(fact.value)
    repeats = any(value and value in stated.get(key, ()) for key, held in values.items() for value in held)
    loose: set[int] = set()
    for position, fact in outside:
        key = (fact.metric or "", _span(fact))
        ambiguous = len(values[key]) > 1 and fact.value not in stated.get(key, ())
        if not repeats or ambiguous:
            loose.add(position)
    return loose


def _inverted_taxes(facts: Sequence[Fact]) -> set[tuple[int, _Span]]:
    """Return (page, period) of income statements where income before taxes *plus* the printed tax is net income."""
    by_place: dict[tuple[int, _Span], dict[str, Fact]] = {}
    rows: dict[tuple[int, _Span], list[Fact]] = {}
    for fact in facts:
        if fact.statement is Statement.INCOME and fact.scope is None:
            rows.setdefault((fact.page, _span(fact)), []).append(fact)
            if fact.metric is not None:
                by_place.setdefault((fact.page, _span(fact)), {}).setdefault(fact.metric, fact)
    inverted: set[tuple[int, _Span]] = set()
    negative: dict[int, list[bool]] = {}
    for place, held in by_place.items():
        tax, before = held.get("income_tax_expense"), held.get("income_before_taxes")
        if tax is None or before is None or not tax.amount:
            continue
        negative.setdefault(place[0], []).append(tax.amount < 0 < before.amount)
        results = [held[name] for name in _NET_INCOMES if name in held]
        added, deducted = ([_equal(before, tax, result, sign, rows[place]) for result in results] for sign in (1, -1))
        if any(added) and not any(deducted):
            inverted.add(place)
    for (page, span), held in by_place.items():
        # With other lines in between, the sums do not match, but a tax that is negative in every profitable year is a
        # deduction.
        if "income_tax_expense" in held and len(negative.get(page, ())) > 1 and all(negative[page]):
            inverted.add((page, span))
    return inverted


def _equal(before: Fact, tax: Fact, result: Fact, sign: int, rows: Sequence[Fact]) -> bool:
    """Return whether income before taxes and the tax add up to the result, alone or with the few rows in between."""
    taxed = before.value + sign * tax.value
    between = [fact.value for fact in rows if tax.line < fact.line < result.line and fact.unit == tax.unit]
    sums = [taxed, taxed + sum(between, Decimal(0))] if 0 < len(between) <= _MAX_BETWEEN else [taxed]
    return any(abs(each - result.value) <= 2 * before.scale for each in sums)


_MAX_BETWEEN = 2
"""Rows such as results of investees, net of tax; with more, sums could match by chance."""


def _span(fact: Fact) -> _Span:
    return fact.period.fiscal_year, fact.period.quarter, fact.period.months


MetricOf = Callable[[str, Statement | None, Sequence[str]], str | None]
"""Returns the metric of a printed row label: (label, statement, section path) -> metric id or None."""


def facts_of_tables(
    tables: Sequence[Table],
    statements: Mapping[int, Statement],
    metric_of: MetricOf,
    unit_of: UnitOf | None = None,
    filers: FiscalCalendar | None = None,
) -> list[Fact]:
    """Return the facts of `tables`, in order: rows top to bottom, columns left to right.

    The scale is that of the table's unit line or, without one, of the filing's primary statements. Per-share figures
    and percentages are not scaled; share counts follow the unit line. With `unit_of`, the facts are reconciled.
    `filers` is the filer's calendar, used where no column is dated.
    """
    usual = _usual_unit_line(tables, statements)
    latest = max(
        (when.fiscal_year for table in tables if table.page in statements for when in table.periods if when),
        default=9999,
    )
    by_table: list[list[Fact]] = []
    meant = [_statement_of(table, statements) for table in tables]
    calendar = FiscalCalendar.known_from(period for table in tables for period in table.periods) or filers
    known = sorted({when.end for table in tables for when in table.periods if when and when.end})
    balance_day = max(
        (
            when.end
            for table, statement in zip(tables, meant, strict=True)
            for when in table.periods
            if statement is not None and when and when.end and not when.months
        ),
        default=filers.year_end if filers is not None and not filers.quarter else None,
    )
    components = _component_rows(tables, meant, calendar, balance_day) if calendar else {}
    stated = _StatedValues(tables, meant)
    for position, table in enumerate(tables):
        unit_line = table.unit_line or _matching_scale(usual, table)
        if meant[position] is None and calendar is not None:
            table = _with_spans_to_come(table, calendar, _day_of(table, balance_day))
        if position in components:
            dated = components[position]
            if meant[position] is None:
                by_table.append(list(facts_of_dated_rows(table, dated, unit_line)))
            else:
                by_table.append(list(equity_facts(table, dated, unit_line, metric_of)))
        elif any(table.periods):
            if meant[position] is None:
                table = _with_maturity_columns(table, latest, calendar, _day_of(table, balance_day))
            spans = stated.spans_of_rows(table, unit_line) if meant[position] is None else {}
            facts = _facts_of(table, meant[position], unit_line, metric_of, calendar, known, spans)
            by_table.append(_without_outlook(list(facts), latest, calendar, _day_of(table, balance_day)))
        elif calendar is not None and meant[position] is None:
            day = _day_of(table, balance_day)
            by_table.append(list(facts_of_rows_in_time(table, unit_line, calendar, metric_of, day)))
        else:
            by_table.append([])
    by_table = assign_roles(by_table, tables, meant)
    if unit_of is not None:
        return reconcile_tables(by_table, unit_of)
    return [fact for facts in by_table for fact in facts]


def _without_outlook(facts: list[Fact], latest: int, calendar: FiscalCalendar | None, day: date | None) -> list[Fact]:
    """Return facts in which figures for years after the statements' own have no metric: plans, guidance or dues.

    Columns of such years divide the amount owed on the table's date: each year is a part, not a period.
    """
    if not any(fact.period.fiscal_year > latest and fact.statement is None for fact in facts):
        return facts
    if calendar is None or day is None:
        return [replace(fact, metric=None) if fact.period.fiscal_year > latest else fact for fact in facts]
    owed, last = calendar.instant(day), max(fact.period.fiscal_year for fact in facts)

    def due(fact: Fact) -> Fact:
        if fact.period.fiscal_year > latest:
            return replace(fact, scope=fact.column, part_kind="maturity year")
        later = covers_later_years("".join(fact.column_path[-1:]))
        return replace(fact, scope=later_years_name(last), part_kind="maturity year") if later else fact

    return [replace(due(fact), metric=None, period=owed) for fact in facts]


def _with_maturity_columns(table: Table, latest: int, calendar: FiscalCalendar | None, day: date | None) -> Table:
    """Return the table with `Thereafter` and the total next to future years dated on the day when all of it is owed."""
    to_come = [period is not None and period.fiscal_year > latest for period in table.periods]
    if calendar is None or day is None or sum(to_come) < _MIN_YEARS:
        return table
    last_levels = ["".join(table.column_path(index)[-1:]) for index in range(len(table.columns))]
    owed = [
        calendar.instant(day)
        if period is None and (covers_later_years(name) or part_of_company(name) is None)
        else period
        for name, period in zip(last_levels, table.periods, strict=True)
    ]
    return replace(table, periods=tuple(owed))


def _with_spans_to_come(table: Table, calendar: FiscalCalendar, day: date | None) -> Table:
    """The table as of the day on which all of it is owed, where its columns say when: `Less than 1 year`, `1-3 years`.

    Such a table may stand in an annual report without a date of its own.
    """
    spans = sum(
        _PATTERNS["span to come"].search("".join(table.column_path(index)[-1:])) is not None
        for index in range(len(table.columns))
    )
    if any(table.periods) or day is None or spans < _MIN_YEARS:
        return table
    return replace(table, periods=tuple(calendar.instant(day) for _ in table.columns))


_MIN_YEARS = 2
"""A single future year does not divide anything; it may be guidance."""


def _day_of(table: Table, balance_day: date | None) -> date | None:
    """Return the date in a table's caption, otherwise that of the balance sheet."""
    dates = time_words(table.caption[-_CAPTION_REACH:]).dates
    return dates[0] if len(dates) == 1 else balance_day


def _statement_of(table: Table, statements: Mapping[int, Statement]) -> Statement | None:
    statement = statements.get(table.page)
    return None if statement is None else _titled(table.caption) or statement


def _component_rows(
    tables: Sequence[Table],
    statements: Sequence[Statement | None],
    calendar: FiscalCalendar,
    balance_day: date | None,
) -> dict[int, Mapping[int, DatedRow]]:
    """Return rows with periods of each statement of equity whose columns have none, by position of the table."""
    found: dict[int, Mapping[int, DatedRow]] = {}
    parts: list[int] = []
    for position, (table, statement) in enumerate(zip(tables, statements, strict=True)):
        if len({period for period in table.periods if period}) > 1 or sum(map(_dated_balance, table.rows)) == 0:
            continue
        if statement is None:
            days = {said.dates[0] for row in table.rows if len((said := time_words(row.label)).dates) == 1}
            latest = max(calendar.year_end, balance_day or calendar.year_end)
            if len(days) > 1 and max(days) <= latest:  # later days are when debt falls due
                dated = dated_rows([table], calendar)[0]
                if dated:
                    found[position] = dated
            continue
        if statement is not Statement.EQUITY or len(table.columns) < _MIN_COMPONENTS:
            continue
        if parts and len(tables[parts[-1]].columns) != len(table.columns):
            found.update(zip(parts, dated_rows([tables[part] for part in parts], calendar), strict=True))
            parts = []
        parts.append(position)
    found.update(zip(parts, dated_rows([tables[part] for part in parts], calendar), strict=True))
    return found


_MIN_COMPONENTS = 3


def _dated_balance(row: Row) -> bool:
    return len(time_words(row.label).dates) == 1


def _facts_of(
    table: Table,
    statement: Statement | None,
    unit_line: str,
    metric_of: MetricOf,
    calendar: FiscalCalendar | None,
    known: Sequence[date],
    spans: Mapping[int, bool],
) -> Iterator[Fact]:
    units = units_of_columns(table, unit_line)
    usual = usual_units(table, unit_line)
    # Columns of one period are parts of the whole in segment tables and statements of equity only.
    split = statement is None or statement is Statement.EQUITY
    parts = _parts(table) if split else [""] * len(table.columns)
    measured = [statement is None and is_measure(part) for part in parts]
    alike = _indistinguishable_columns(table) if statement is None else [False] * len(table.columns)
    columns = [metric_of(part, None, ()) if part else None for part in parts]
    alone = statement is None and not any(columns)
    divided = metric_split_by(table.caption[-_CAPTION_REACH:], metric_of) if alone else None
    rolled = roll_forward_rows(table) if statement is None and calendar is not None else {}
    assets_end = _last_asset(table) if statement is Statement.BALANCE_SHEET else -1
    named = _parts_under_headings(table, metric_of) if statement is None else frozenset()
    last = 0  # year to come in the rows above
    for position, row in enumerate(table.rows):
        section = ("Assets", *row.section) if position < assets_end and not _has_side(row) else row.section
        metric = metric_of(row.label, statement, section) if row.label else None
        scope: str | None = None
        if statement is None:
            metric, scope = _scoped(row, metric, divided, metric_of)
            scope = scope or (row.label if row.section and row.label in named else None)
            said = row_time(row.label)
            last = max([last, *(said.years if said else ())])
            scope = later_years_name(last) if last and covers_later_years(row.label) else scope
        elif statement is Statement.EQUITY:
            scope = next((heading for heading in (*row.section, row.label) if is_component(heading)), None)
            scope = None if row.label.lower().startswith("total") and scope and not is_component(row.label) else scope
        for index, (cell, period) in enumerate(zip(row.cells, table.periods, strict=True)):
            if cell is None or period is None:
                continue
            unit = unit_of_cell(cell, row, parts[index], usual[index])
            of_column = columns[index] if metric is None else None
            if statement is Statement.EQUITY:
                period = balance_period(row.label, period, table.periods, known)
            covered = period_under(row.label, period) if statement is None else period
            if covered is not None and calendar is not None:
                if position in spans and position not in rolled and covered.end is not None:
                    year = covered.months or 12
                    covered = calendar.duration(covered.end, year) if spans[position] else calendar.instant(covered.end)
                covered = roll_forward_period(rolled.get(position), covered, calendar, known)
            yield Fact(
                label=row.label,
                amount=cell.amount,
                scale=scale_of_cell(unit, cell, row, units[index]),
                unit=unit,
                period=covered or (calendar.instant(period.end) if calendar and period.end else period),
                page=table.page,
                box=cell.box,
                metric=(of_column or metric) if covered and not alike[index] else None,
                section=row.section,
                line=row.line,
                column=table.columns[index],
                column_path=table.column_path(index),
                statement=statement,
                scope=part_of_company(row.label)
                if of_column
                else _joined(None if measured[index] else _scope(row.label, parts[index]), scope),
            )


class _StatedValues:
    """Figures of the balance sheet, and of statements of durations, by fiscal year.

    A table of a note that repeats them has the same dates or spans, whatever its header leaves open.
    """

    def __init__(self, tables: Sequence[Table], statements: Sequence[Statement | None]) -> None:
        self._balances: set[tuple[int, Decimal]] = set()
        self._spans: set[tuple[int, Decimal]] = set()
        self._income: set[tuple[int, Decimal]] = set()
        self._labels: set[tuple[str, Decimal]] = set()
        self._of_days: set[tuple[tuple[str, ...], str]] = set()
        for table, statement in zip(tables, statements, strict=True):
            if statement is None or statement is Statement.EQUITY:
                continue
            for row in table.rows:
                for value, period in _values(row, table, table.unit_line):
                    if period.months:
                        self._spans.add((period.fiscal_year, value))
                        if statement is not Statement.CASH_FLOW:  # which prints cash at days under its spans
                            self._income.add((period.fiscal_year, value))
                    elif statement is Statement.BALANCE_SHEET:
                        self._balances.add((period.fiscal_year, value))
                        self._labels.add((row.label.lower(), value))

    def spans_of_rows(self, table: Table, unit_line: str) -> dict[int, bool]:
        """Return rows, by position, that are known to cover spans (True) or dates (False)."""
        known: dict[int, bool] = {}
        of_block: dict[str, set[bool]] = {}
        for position, row in enumerate(table.rows):
            values = list(_values(row, table, unit_line))
            label = row.label.lower()
            if any((label, value) in self._labels for value, _ in values):
                self._of_days.add((row.section, label))
            if (row.section, label) in self._of_days:
                known[position] = False
            days = sum((period.fiscal_year, value) in self._balances - self._spans for value, period in values)
            spans = sum((period.fiscal_year, value) in self._income - self._balances for value, period in values)
            if max(days, spans) >= min(2, len(values)) > 0 and not (days and spans):
                of_block.setdefault("".join(row.section[:1]), set()).add(bool(spans))
        if any(time_words(" ".join(table.column_path(index))).months for index in range(len(table.columns))):
            return known
        if any(carries_balance(row.label) or _dated_balance(row) for row in table.rows):
            return known  # changes stand between balances
        for position, row in enumerate(table.rows):
            kinds = of_block.get("".join(row.section[:1]), set())
            if len(kinds) == 1:
                known.setdefault(position, *kinds)
        return known


def _values(row: Row, table: Table, unit_line: str) -> Iterator[tuple[Decimal, FactPeriod]]:
    """Yield figures of a row that are unlikely to recur by chance, in base units, with their columns' periods."""
    scale = scale_of(unit_line) or 1
    for cell, period in zip(row.cells, table.periods, strict=True):
        if cell is not None and period is not None and abs(cell.amount) >= _TELLING and not cell.percent:
            yield abs(cell.amount) * scale, period


_TELLING = 1000


def _last_asset(table: Table) -> int:
    """Return the position of a balance sheet's `Total assets`; -1 where the table has no such row."""
    labels = [row.label.lower() for row in table.rows]
    return next((position for position, label in enumerate(labels) if _TOTAL_ASSETS.match(label)), -1)


def _has_side(row: Row) -> bool:
    """Return whether a heading says that the row is an asset or a liability; otherwise its position decides."""
    return any(_PATTERNS["side of the balance sheet"].search(heading) for heading in row.section)


_TOTAL_ASSETS = re.compile(r"total assets\W*$")


def _indistinguishable_columns(table: Table) -> list[bool]:
    """Return which columns share name and period with another, so that neither can be taken as the company's."""
    seen = Counter((name, period) for name, period in zip(table.columns, table.periods, strict=True))
    return [seen[name, period] > 1 for name, period in zip(table.columns, table.periods, strict=True)]


def _joined(column: str | None, row: str | None) -> str | None:
    """Return `Retail, Europe` where both the column and the row are parts."""
    return ", ".join(part for part in (column, row) if part) or None


def _scope(label: str, part: str) -> str | None:
    """Return the part of the company that a column names; None for one that repeats the row's own words."""
    return None if part.lower() in label.lower() else part_of_company(part)


_LARGEST = Decimal(5) * 10**12
"""No filer's figure is larger, in dollars; a unit line that implies one does not apply to its table."""


def _matching_scale(unit_line: str, table: Table) -> str:
    largest = max((abs(cell.amount) for row in table.rows for cell in row.cells if cell), default=Decimal(0))
    return unit_line if largest * (scale_of(unit_line) or 1) <= _LARGEST else ""


def _usual_unit_line(tables: Sequence[Table], statements: Mapping[int, Statement]) -> str:
    """Return the unit line of most tables of primary statements."""
    seen = Counter(table.unit_line for table in tables if table.page in statements and scale_of(table.unit_line))
    if not seen:
        return ""
    by_scale: Counter[int] = Counter()
    for line, count in seen.items():
        by_scale[scale_of(line) or 1] += count
    usual = max(by_scale, key=lambda scale: (by_scale[scale], -scale))
    return max((line for line in seen if scale_of(line) == usual), key=lambda line: (len(line), line))


def _titled(caption: str) -> Statement | None:
    """Return the statement named by a caption's last words."""
    words = _BRACKETS.sub(" ", caption).split()[-_TITLE_WORDS:]
    return next((found for start in range(len(words)) if (found := statement_titled(" ".join(words[start:])))), None)


_TITLE_WORDS = 16
_BRACKETS = re.compile(r"\([^()]*\)?")


def _scoped(row: Row, metric: str | None, divided: str | None, metric_of: MetricOf) -> tuple[str | None, str | None]:
    """Return (metric, scope) of a row outside primary statements, whose part is named in its label or heading.

    `divided` is the metric that the caption says the table divides.
    """
    heading = row.section[-1] if row.section else ""
    if metric is not None:
        return metric, heading if heading and not _PATTERNS["generic heading"].search(heading) and len(
            heading
        ) <= 60 else None
    named = metric_of(heading, None, row.section[:-1]) or metric_split_by(heading, metric_of) if heading else None
    over = named if heading else divided
    if over is None or not row.label or _PATTERNS["no part"].search(row.label):
        return None, None
    if row.label.lower().startswith("total") or part_of_company(row.label) is None:
        # Whatever its name, the sum of the parts belongs to the whole: `Consolidated`, `Total`.
        alone = _PATTERNS["consolidated"] if heading else _PATTERNS["bare total"]
        return (over if alone.match(row.label) and len(row.section) < 2 else None), None
    return over, row.label.rstrip(" :")


def _parts_under_headings(table: Table, metric_of: MetricOf) -> frozenset[str]:
    """Return rows that are parts below one heading that is a metric, and therefore below the other headings too.

    `Greater China` below `Revenues`, and again below `Additions to long-lived assets`.
    """
    over: dict[str, set[str]] = {}
    parts: set[str] = set()
    for row in table.rows:
        if row.section and row.label:
            over.setdefault(row.label, set()).add(row.section[-1])
            metric = metric_of(row.label, None, row.section)
            if metric is None and _scoped(row, None, None, metric_of)[1] == row.label:
                parts.add(row.label)
    return frozenset(label for label in parts if len(over[label]) > 1)


def metric_split_by(text: str, metric_of: MetricOf) -> str | None:
    """Return the metric that a caption or heading divides into parts (`Net sales by geographic area`), or None.

    Of several, it is the last one, which is next to the table.
    """
    low = text.lower()
    if not ("by" in low or "attribut" in low or "for " in low) or _PATTERNS["rolled forward"].search(text):
        return None
    for match in reversed(list(_PATTERNS["divided by"].finditer(text))):
        words = match["what"].split()[-_MAX_METRIC_WORDS:]
        for start in range(len(words)):
            if found := metric_of(" ".join(words[start:]), None, ()):
                return found
    return None


_MAX_METRIC_WORDS = 5
_CAPTION_REACH = 220


def _parts(table: Table) -> list[str]:
    """Return what distinguishes columns of one period: segments, components, shares and amounts."""
    shared = Counter(period for period in table.periods if period is not None)
    names = [_PATTERNS["time in a column"].sub(" ", name).split() for name in table.columns]
    common = 0
    for words in zip(*names, strict=False):
        if len(set(words)) > 1:
            break
        common += 1
    if not all(any(mark.isalpha() for mark in "".join(name[common:])) for name in names if name[common:]):
        common = 0  # `Level 1` and `Level 2` differ in a number that is meaningless alone
    return [
        " ".join(name[common:]).strip(" ,-*") if period is not None and shared[period] > 1 else ""
        for name, period in zip(names, table.periods, strict=True)
    ]


def facts_of_filing(
    tables: Sequence[Table],
    statements: Mapping[int, Statement],
    calendar: FiscalCalendar | None,
    metric_of: MetricOf,
    unit_of: UnitOf | None = None,
    filers: FiscalCalendar | None = None,
) -> list[Fact]:
    """Return the facts of `tables`: those of cells first, then those inside labels."""
    cells = with_balances(facts_of_tables(tables, statements, metric_of, unit_of, calendar), calendar)
    cells = with_unlabelled_gross_profit(cells)
    return [*cells, *_undated_facts(tables, statements, calendar, cells), *facts_in_labels(tables, statements)]


def _undated_facts(
    tables: Sequence[Table],
    statements: Mapping[int, Statement],
    calendar: FiscalCalendar | None,
    dated: Sequence[Fact],
) -> Iterator[Fact]:
    """Yield the figures of tables that nothing dates, in the period of the filing, which is assumed.

    In a table with one dated period it is that of the columns beside; changes between periods have none, and neither
    have columns without a name.
    """
    if calendar is None:
        return
    own = calendar.duration(calendar.period_end or calendar.year_end, 3 if calendar.quarter else 12)
    known = {(fact.page, fact.box) for fact in dated}
    usual = _usual_unit_line(tables, statements)
    for table in tables:
        periods = {period for period in table.periods if period is not None}
        if len(periods) > 1 or table.page in statements:
            continue
        named = [bool(name) and not is_change(name) for name in table.columns]
        assumed = [next(iter(periods), own) if one or len(named) == 1 else None for one in named]
        unit_line = table.unit_line or _matching_scale(usual, table)
        facts = _facts_of(replace(table, periods=tuple(assumed)), None, unit_line, _no_metric, calendar, (), {})
        for fact in facts:
            if (fact.page, fact.box) not in known and (fact.label or fact.column):
                yield replace(fact, source="undated", scope=None, tied=False)


def _no_metric(label: str, statement: Statement | None, section: Sequence[str]) -> str | None:
    return None
