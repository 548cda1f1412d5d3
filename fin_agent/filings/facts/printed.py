"""All facts that a filing's print states: cells of tables, figures in labels, balances in statements of flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fin_agent.filings.facts.balances import with_balances
from fin_agent.filings.facts.extraction import MetricOf, facts_of_tables
from fin_agent.filings.facts.in_labels import facts_in_labels
from fin_agent.filings.facts.reconciling import UnitOf
from fin_agent.filings.facts.subtotals import with_unlabelled_gross_profit
from fin_agent.filings.tables.periods import FiscalCalendar
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Table


def facts_of_filing(
    tables: Sequence[Table],
    statements: Mapping[int, Statement],
    calendar: FiscalCalendar | None,
    metric_of: MetricOf,
    unit_of: UnitOf | None = None,
) -> list[Fact]:
    """Facts of `tables`, those of cells first, then those that stand inside labels."""
    cells = with_balances(facts_of_tables(tables, statements, metric_of, unit_of), calendar)
    cells = with_unlabelled_gross_profit(cells)
    return [*cells, *facts_in_labels(tables, statements)]
