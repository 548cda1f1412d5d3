"""Convert the figures of tables to facts: metric, unit, scale, period, scope and position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import takewhile

from fin_agent.filings.facts import row_periods, units_and_scales
from fin_agent.filings.facts.accounting_identities import Column, place_of, statement_columns
from fin_agent.filings.facts.row_periods import MetricOf
from fin_agent.filings.facts.units_and_scales import fact_of_cell
from fin_agent.filings.outline.statements import statement_titled
from fin_agent.filings.tables.cells import scale_of
from fin_agent.filings.tables.column_periods import CALENDAR_YEARS, FiscalCalendar, is_change, time_words
from fin_agent.filings.tables.sum_detection import row_sums
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.runs import grouped, runs_of
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
    every = [fact for table in named for fact in table]
    stated = _values_by_figure(fact for fact in every if fact.statement is not None)
    inverted = _inverted_taxes(every)
    found: list[Fact] = []
    for table in named:
        values = _values_by_figure(fact for fact in table if fact.statement is None)
        repeats = any(value and value in stated.get(key, ()) for key, held in values.items() for value in held)
        for fact in table:
            key = fact.metric, _span(fact)
            if stated and fact.statement is None and fact.scope is None and key in values:
                ambiguous = len(values[key]) > 1 and fact.value not in stated.get(key, ())
                fact = replace(fact, tied=False) if ambiguous or not repeats else fact
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


def _values_by_figure(facts: Iterable[Fact]) -> dict[tuple[str | None, _Span], set[Decimal]]:
    """Return the values of the company's figures, by metric and period, in base units."""
    own = (fact for fact in facts if fact.metric is not None and fact.scope is None)
    return {key: set(held) for key, held in grouped(((fact.metric, _span(fact)), fact.value) for fact in own).items()}


def _inverted_taxes(facts: Sequence[Fact]) -> set[tuple[int, _Span]]:
    """Return (page, period) of income statements where income before taxes *plus* the printed tax is net income."""
    own = (fact for fact in facts if fact.statement is Statement.INCOME and fact.scope is None)
    columns = grouped(((fact.page, _span(fact)), fact) for fact in own)
    inverted: set[tuple[int, _Span]] = set()
    negative: dict[int, list[bool]] = {}
    for place, rows in columns.items():
        held = {fact.metric: fact for fact in reversed(rows)}  # the first of each
        tax, before = held.get("income_tax_expense"), held.get("income_before_taxes")
        if tax is None or before is None or not tax.amount:
            continue
        negative.setdefault(place[0], []).append(tax.amount < 0 < before.amount)
        results = [held[name] for name in _NET_INCOMES if name in held]
        added, deducted = (any(_equal(before, tax, result, sign, rows) for result in results) for sign in (1, -1))
        if added and not deducted:
            inverted.add(place)
    # With other lines in between, the sums do not match, but a tax that is negative in every profitable year is a
    # deduction.
    always = {page for page, signs in negative.items() if len(signs) > 1 and all(signs)}
    return inverted | {place for place in columns if place[0] in always}


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
    meant = [_titled(table.caption) or statements[table.page] if table.page in statements else None for table in tables]
    in_statements = [table for table, statement in zip(tables, meant, strict=True) if statement is not None]
    shown = [when for table in in_statements for when in table.periods if when]
    latest = max((when.fiscal_year for when in shown), default=9999)
    last_day = filers.year_end if filers is not None and not filers.quarter else None
    balance_day = max((when.end for when in shown if when.end and not when.months), default=last_day)
    own = FiscalCalendar.known_from(period for table in tables for period in table.periods)
    calendar = own or filers or CALENDAR_YEARS
    known = sorted({when.end for table in tables for when in table.periods if when and when.end})
    components = _component_rows(tables, meant, calendar, balance_day)
    stated = _StatedValues(tables, meant)
    by_table: list[list[Fact]] = []
    for position, (table, statement) in enumerate(zip(tables, meant, strict=True)):
        unit_line = _unit_line_of(table, usual)
        day = _day_of(table.caption[-_CAPTION_REACH:]) or balance_day
        if statement is None:
            table = _with_days_to_come(table, latest, calendar, day)
        found: Iterable[Fact] = ()
        dated = components.get(position)
        if dated is not None and statement is not None:
            found = row_periods.equity_facts(table, dated, unit_line, metric_of)
        elif dated is not None:
            found = row_periods.facts_of_dated_rows(table, dated, unit_line)
        elif any(table.periods) and not (statement is None and row_periods.rows_are_months(table)):
            spans = stated.spans_of_rows(table, unit_line) if statement is None else {}
            facts = _facts_of(table, statement, unit_line, metric_of, calendar, known, spans)
            found = _without_outlook(list(facts), latest, calendar, day)
        elif statement is None:
            found = row_periods.facts_of_rows_in_time(table, unit_line, calendar, metric_of, day)
        by_table.append(list(found))
    by_table = assign_roles(by_table, tables, meant)
    return reconcile_tables(by_table, unit_of) if unit_of else [fact for facts in by_table for fact in facts]


def _without_outlook(facts: list[Fact], latest: int, calendar: FiscalCalendar, day: date | None) -> list[Fact]:
    """Return facts in which figures for years after the statements' own have no metric: plans, guidance, dues."""
    if not any(fact.period.fiscal_year > latest and fact.statement is None for fact in facts):
        return facts
    if day is None:
        return [replace(fact, metric=None) if fact.period.fiscal_year > latest else fact for fact in facts]
    owed, last = calendar.instant(day), max(fact.period.fiscal_year for fact in facts)

    def due(fact: Fact) -> Fact:
        if fact.period.fiscal_year > latest:
            return replace(fact, scope=fact.column, part_kind="maturity year")
        later = row_periods.covers_later_years("".join(fact.column_path[-1:]))
        return replace(fact, scope=row_periods.later_years_name(last), part_kind="maturity year") if later else fact

    return [replace(due(fact), metric=None, period=owed) for fact in facts]


def _with_days_to_come(table: Table, latest: int, calendar: FiscalCalendar, day: date | None) -> Table:
    """Return a table whose columns say when what is owed on `day` falls due, with its columns dated on that day.

    All columns are if they are spans (`Less than 1 year`, `1-3 years`), and `Thereafter` and the total beside years.
    """
    names = units_and_scales.last_levels(table)
    spans = sum(_PATTERNS["span to come"].search(name) is not None for name in names)
    years = sum(period is not None and period.fiscal_year > latest for period in table.periods)
    if day is None or (years if any(table.periods) else spans) < _MIN_YEARS:
        return table
    owed = calendar.instant(day)
    if not any(table.periods):
        return replace(table, periods=tuple(owed for _ in names))
    total = [row_periods.covers_later_years(name) or row_periods.part_of_company(name) is None for name in names]
    periods = (owed if whole and when is None else when for whole, when in zip(total, table.periods, strict=True))
    return replace(table, periods=tuple(periods))


_MIN_YEARS = 2
"""A single future year does not divide anything; it may be guidance."""


def _component_rows(
    tables: Sequence[Table], statements: Sequence[Statement | None], calendar: FiscalCalendar, balance_day: date | None
) -> dict[int, Mapping[int, FactPeriod]]:
    """Return rows with periods of each statement of equity whose columns have none, by position of the table."""
    found: dict[int, Mapping[int, FactPeriod]] = {}
    equity: list[int] = []
    for position, (table, statement) in enumerate(zip(tables, statements, strict=True)):
        days = {day for row in table.rows if (day := _day_of(row.label))}
        if len({period for period in table.periods if period}) > 1 or not days:
            continue
        if statement is None and not row_periods.rows_are_months(table):
            latest = max(calendar.year_end, balance_day or calendar.year_end)
            # Later days are when debt falls due.
            if len(days) > 1 and max(days) <= latest and (dated := row_periods.dated_rows([table], calendar)[0]):
                found[position] = dated
        if statement is Statement.EQUITY and len(table.columns) >= _MIN_COMPONENTS:
            equity.append(position)
    for positions in runs_of(equity, lambda run, at: len(tables[run[-1]].columns) != len(tables[at].columns)):
        dated_parts = row_periods.dated_rows([tables[part] for part in positions], calendar)
        found.update(zip(positions, dated_parts, strict=True))
    return found


_MIN_COMPONENTS = 3


def _day_of(label: str) -> date | None:
    dates = time_words(label).dates
    return dates[0] if len(dates) == 1 else None


def _facts_of(
    table: Table,
    statement: Statement | None,
    unit_line: str,
    metric_of: MetricOf,
    calendar: FiscalCalendar,
    known: Sequence[date],
    spans: Mapping[int, bool],
) -> Iterator[Fact]:
    outside, equity = statement is None, statement is Statement.EQUITY
    units, usual = units_and_scales.units_of_columns(table, unit_line), units_and_scales.usual_units(table, unit_line)
    # Columns of one period are parts of the whole in segment tables and statements of equity only.
    parts = _parts(table) if outside or equity else [""] * len(table.columns)
    columns = [metric_of(part, None, ()) if part else None for part in parts]
    # Columns that share name and period with another cannot be taken as the company's.
    seen = Counter(zip(table.columns, table.periods, strict=True)) if outside else Counter()
    divided = metric_split_by(table.caption[-_CAPTION_REACH:], metric_of) if outside and not any(columns) else None
    rolled = row_periods.roll_forward_rows(table) if outside else {}
    assets = (at for at, row in enumerate(table.rows) if _PATTERNS["total assets"].match(row.label))
    assets_end = next(assets, -1) if statement is Statement.BALANCE_SHEET else -1
    named = _parts_under_headings(table, metric_of) if outside else frozenset()
    names_side = _PATTERNS["side of the balance sheet"].search
    last = 0  # year to come in the rows above
    for position, row in enumerate(table.rows):
        of_assets = position < assets_end and not any(map(names_side, row.section))
        section = ("Assets", *row.section) if of_assets else row.section
        metric = metric_of(row.label, statement, section) if row.label else None
        scope: str | None = None
        if outside:
            metric, scope = _scoped(row, metric, divided, metric_of)
            scope = scope or (row.label if row.section and row.label in named else None)
            said = row_periods.row_time(row.label)
            last = max([last, *(said.years if said else ())])
            scope = row_periods.later_years_name(last) if last and row_periods.covers_later_years(row.label) else scope
        elif equity and not (row.label.lower().startswith("total") and not row_periods.is_component(row.label)):
            scope = next((heading for heading in (*row.section, row.label) if row_periods.is_component(heading)), None)
        for index, (cell, period) in enumerate(zip(row.cells, table.periods, strict=True)):
            if cell is None or period is None:
                continue
            part = parts[index]
            unit = units_and_scales.unit_of_cell(cell, row, part, usual[index])
            of_column = columns[index] if metric is None else None
            covered: FactPeriod | None = period
            if equity:
                covered = row_periods.balance_period(row.label, period, table.periods, known)
            elif outside and last > period.fiscal_year and _PATTERNS["total of a row"].match(row.label):
                covered = None  # the sum of what falls due in the years above
            elif outside and (covered := row_periods.period_under(row.label, period)):
                if position in spans and position not in rolled and (end := covered.end):
                    year = covered.months or 12
                    covered = calendar.duration(end, year) if spans[position] else calendar.instant(end)
                covered = row_periods.roll_forward_period(rolled.get(position), covered, calendar, known)
            alone = covered is not None and seen[table.columns[index], period] < 2
            # A column that repeats the row's own words is no part.
            repeats = part.lower() in row.label.lower() or (outside and units_and_scales.is_measure(part))
            scopes = (None if repeats else row_periods.part_of_company(part), scope)
            yield fact_of_cell(
                table,
                row,
                index,
                unit,
                units[index],
                covered or (calendar.instant(period.end) if period.end else period),
                metric=(of_column or metric) if alone else None,
                statement=statement,
                scope=row_periods.part_of_company(row.label) if of_column else ", ".join(filter(None, scopes)) or None,
            )


class _StatedValues:
    """Figures of the statements by fiscal year: a table of a note that repeats them has the same dates or spans."""

    def __init__(self, tables: Sequence[Table], statements: Sequence[Statement | None]) -> None:
        balances: set[tuple[int, Decimal]] = set()
        spans: set[tuple[int, Decimal]] = set()
        cash: set[tuple[int, Decimal]] = set()  # printed at days under the spans of the statement
        self._labels: set[tuple[str, Decimal]] = set()
        self._of_days: set[tuple[tuple[str, ...], str]] = set()
        for table, statement in zip(tables, statements, strict=True):
            if statement is None or statement is Statement.EQUITY:
                continue
            figures = ((row, *each) for row in table.rows for each in _values(row, table, table.unit_line))
            for row, value, period in figures:
                if period.months:
                    (cash if statement is Statement.CASH_FLOW else spans).add((period.fiscal_year, value))
                elif statement is Statement.BALANCE_SHEET:
                    balances.add((period.fiscal_year, value))
                    self._labels.add((row.label.lower(), value))
        self._days, self._spans = balances - spans - cash, spans - balances

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
            days = sum((period.fiscal_year, value) in self._days for value, period in values)
            spans = sum((period.fiscal_year, value) in self._spans for value, period in values)
            if max(days, spans) >= min(2, len(values)) > 0 and not (days and spans):
                of_block.setdefault("".join(row.section[:1]), set()).add(bool(spans))
        if any(time_words(" ".join(table.column_path(index))).months for index in range(len(table.columns))):
            return known
        balances = (_PATTERNS["opening row"].search, _PATTERNS["closing row"].search, _day_of)
        if any(is_balance(row.label) for row in table.rows for is_balance in balances):
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


_LARGEST = Decimal(5) * 10**12
"""No filer's figure is larger, in dollars; a unit line that implies one does not apply to its table."""


def _unit_line_of(table: Table, usual: str) -> str:
    """Return the table's unit line, otherwise the filing's `usual` one."""
    largest = max((abs(cell.amount) for row in table.rows for cell in row.cells if cell), default=Decimal(0))
    return table.unit_line or (usual if largest * (scale_of(usual) or 1) <= _LARGEST else "")


def _usual_unit_line(tables: Sequence[Table], statements: Mapping[int, Statement]) -> str:
    """Return the unit line of most tables of primary statements."""
    lines = [table.unit_line for table in tables if table.page in statements]
    by_scale = grouped((scale, line) for line in lines if (scale := scale_of(line)))
    _, usual = max(by_scale.items(), key=lambda held: (len(held[1]), -held[0]), default=(1, [""]))
    return max(usual, key=lambda line: (len(line), line))


def _titled(caption: str) -> Statement | None:
    """Return the statement named by a caption's last words."""
    words = _PATTERNS["brackets in a caption"].sub(" ", caption).split()[-_TITLE_WORDS:]
    return next((found for start in range(len(words)) if (found := statement_titled(" ".join(words[start:])))), None)


_TITLE_WORDS = 16


def _scoped(row: Row, metric: str | None, divided: str | None, metric_of: MetricOf) -> tuple[str | None, str | None]:
    """Return (metric, scope) of a row outside the statements, in a table whose caption divides the metric `divided`."""
    heading = row.section[-1] if row.section else ""
    if metric is not None:
        part = 0 < len(heading) <= 60 and not _PATTERNS["generic heading"].search(heading)
        return metric, heading if part else None
    named = metric_of(heading, None, row.section[:-1]) or metric_split_by(heading, metric_of) if heading else None
    over = named if heading else divided
    if over is None or not row.label or _PATTERNS["no part"].search(row.label):
        return None, None
    if row.label.lower().startswith("total") or row_periods.part_of_company(row.label) is None:
        # Whatever its name, the sum of the parts belongs to the whole: `Consolidated`, `Total`.
        alone = _PATTERNS["consolidated"] if heading else _PATTERNS["bare total"]
        return (over if alone.match(row.label) and len(row.section) < 2 else None), None
    return over, row.label.rstrip(" :")


def _parts_under_headings(table: Table, metric_of: MetricOf) -> frozenset[str]:
    """Return rows that are parts below one heading that is a metric (`Revenues`), and so below the others too."""
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
    """Return the metric, of several the last, that a text divides into parts (`Net sales by geographic area`)."""
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
    common = sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, zip(*names, strict=False)))
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
) -> list[Fact]:
    """Return the facts of `tables`: those of cells and of labels beside them first, then those inside other labels."""
    cells = row_periods.with_balances(facts_of_tables(tables, statements, metric_of, unit_of, calendar), calendar)
    cells = with_unlabelled_gross_profit(cells)
    per_share = units_and_scales.per_share_in_labels(cells)
    cells = sorted([*cells, *per_share], key=lambda fact: (fact.page, fact.line))
    return [
        *cells,
        *_undated_facts(tables, statements, calendar, cells),
        *units_and_scales.facts_in_labels(tables, statements),
    ]


def _undated_facts(
    tables: Sequence[Table], statements: Mapping[int, Statement], calendar: FiscalCalendar | None, dated: Sequence[Fact]
) -> Iterator[Fact]:
    """Yield the figures of tables that nothing dates, in the period of the filing, which is assumed.

    Beside one dated column it is that period; changes between periods and columns without a name have none.
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
        named = [any(map(str.isalpha, name)) and not is_change(name) for name in table.columns]
        assumed = [next(iter(periods), own) if one or len(named) == 1 else None for one in named]
        unit_line = _unit_line_of(table, usual)
        facts = _facts_of(replace(table, periods=tuple(assumed)), None, unit_line, lambda *_: None, calendar, (), {})
        for fact in facts:
            if (fact.page, fact.box) not in known and (fact.label or fact.column):
                yield replace(fact, source="undated", scope=None, tied=False)


_COSTS = frozenset(("cost_of_revenue", "cost_of_products", "cost_of_services"))
_TOTAL = "total_costs_and_expenses"


def with_unlabelled_gross_profit(facts: Sequence[Fact]) -> list[Fact]:
    """Return `facts` with a figure without a label as gross profit, where the statement's arithmetic confirms it.

    It must be revenue less the costs above it in every column, and operating income must follow.
    """
    found: dict[tuple[int, int], list[tuple[Fact, Fact | None] | None]] = {}
    for column in statement_columns(facts, Statement.INCOME):
        if not column.facts_of("gross_profit"):
            for fact in column.facts:
                if not fact.label and fact.unit == "USD":
                    found.setdefault(place_of(fact), []).append(_gross_profit(column, fact))
    named: dict[int, Fact] = {}
    for readings in found.values():
        for profit, total in () if None in readings else filter(None, readings):
            below = f" below {total.label}" if total is not None else ""
            named[id(profit)] = replace(profit, metric="gross_profit", label=f"(no label{below})")
            if total is not None:
                named[id(total)] = replace(total, metric="cost_of_revenue")
    return [named.get(id(fact), fact) for fact in facts]


def _gross_profit(column: Column, fact: Fact) -> tuple[Fact, Fact | None] | None:
    """Return a figure with the total right above it, if there is one, where it is gross profit."""
    above = [revenue for revenue in column.facts_of("revenue") if place_of(revenue) < place_of(fact)]
    below = [income for income in column.facts_of("operating_income") if place_of(income) > place_of(fact)]
    if not above or not below or below[0].value == fact.value:
        return None
    costs = column.between(above[-1], fact)
    if not any(cost.metric in _COSTS for cost in costs):
        return None
    left = above[-1].value - fact.value
    *parts, last = costs
    whole = last if last.metric == _TOTAL and parts else None
    deducted = abs(last.value) if whole is not None else abs(sum(cost.value for cost in costs))
    return (fact, whole) if deducted == abs(left) and left * above[-1].value > 0 else None


def assign_roles(
    by_table: Sequence[Sequence[Fact]], tables: Sequence[Table], statements: Sequence[Statement | None]
) -> list[list[Fact]]:
    """Return the facts of each table, with metrics for opening cash, net change and closing cash told by arithmetic."""
    roles: dict[tuple[int, int], str] = {}
    flows = [position for position, statement in enumerate(statements) if statement is Statement.CASH_FLOW]

    def apart(run: Sequence[int], position: int) -> bool:
        before, table = tables[run[-1]], tables[position]
        return len(before.columns) != len(table.columns) or table.page - before.page > _PAGES_APART

    for run in runs_of(flows, apart):
        known = {fact.metric for position in run for fact in by_table[position] if fact.scope is None}
        if not known.issuperset(_ROLES):
            places = [(tables[position].page, row.line) for position in run for row in tables[position].rows]
            found = _cash([row for position in run for row in tables[position].rows])
            roles |= {places[place]: metric for place, metric in found if metric not in known}

    def named(fact: Fact) -> Fact:
        unnamed = fact.metric is None and fact.scope is None and fact.unit == "USD"
        return replace(fact, metric=metric) if unnamed and (metric := roles.get(place_of(fact))) else fact

    return [list(map(named, facts)) for facts in by_table]


_ROLES = ("cash_at_beginning_of_period", "net_change_in_cash", "cash_at_end_of_period")


_PAGES_APART = 2
"""An empty page may be in between."""


def _cash(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Yield (position, metric) of opening cash, net change and closing cash, the first sum that the flows are in."""
    sums = row_sums([row.cells for row in rows])
    totals = {each.total for each in sums}
    # The net change is the sum of the three kinds of activities, which are sums themselves.
    of_flows = (each for each in sums if sum(position in totals for position, _ in each.parts) >= _MIN_FLOWS)
    change = next((each.total for each in of_flows), None)
    for found in sums:
        added = [position for position, sign in found.parts if sign > 0]
        if len(found.parts) == len(added) == 2 and change in added:
            for position in added:
                yield position, "net_change_in_cash" if position == change else "cash_at_beginning_of_period"
            yield found.total, "cash_at_end_of_period"
            return


_MIN_FLOWS = 3
