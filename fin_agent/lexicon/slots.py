"""Slots: the individual figures that an answer needs."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.fiscal_periods import FiscalPeriod


class Slot(BaseModel, frozen=True):
    """One figure: company x measure x period (x part).

    The measure is a metric of the lexicon (`metric`), or a printed line that fact search finds (`phrase`). With both,
    fact search finds the metric by its labels and by these words.
    """

    company: str
    """Key of the company in the directory of the index."""
    company_name: str
    metric: str = ""
    """Id of a metric of the lexicon; empty where only `phrase` describes the measure."""
    label: str
    """The measure in words, after the part of the company: `revenue`, `Data Center revenue`."""
    fiscal_year: int
    """As the filer names it."""
    quarter: int | None = None
    part: str | None = None
    """The segment, product or region as filings print it; None for the whole company."""
    phrase: str = ""
    """The words of a printed line as in the question: `content obligations`, `long-lived assets`. The address of the
    fact that fills the slot must match every content word."""
    months: int | None = None
    """0 for a balance, otherwise the months of the span: 3, 6, 9 or 12; with 6 or 9, `quarter` is the last one of the
    span. None where the period determines it: the flow of a quarter or year, or the balance at its end."""

    table: str = ""
    """The place of its table (`Family.table`), where a family has determined that: `part` is then a row, column or
    heading of it, and None its total. It may also be the place of one figure. Empty where any table may state it."""

    @property
    def period(self) -> str:
        """The period as people write it: `FY2019`, `Q2 FY2023`, `six months to Q2 FY2023`."""
        months = self.months if self.months in (6, 9) else None
        return str(FiscalPeriod(fiscal_year=self.fiscal_year, quarter=self.quarter, months=months))

    def __str__(self) -> str:
        return f"{self.label} of {self.company_name} for {self.period}"

    @property
    def is_searched(self) -> bool:
        """Whether fact search finds its figure by words; otherwise the metric's id is enough."""
        return not self.metric or bool(self.phrase or self.table)

    @property
    def fact_name(self) -> str:
        """The metric name of facts that fill it: its metric's id or, for a searched slot, its own name."""
        if not self.is_searched:
            return self.metric
        span = "" if self.months is None else f" {self.months}M"
        place = f" @{self.table}" if self.table else ""
        return f"{self.measure} {self.part or ''} {self.period}{span}{place}"

    @property
    def measure(self) -> str:
        """The measure: the id of the metric, otherwise the printed line's phrase."""
        return self.metric or self.phrase


_PRINTED_LINE = Metric(id="printed-line")
_PRINTED_BALANCE = Metric(id="printed-line", period="instant")


def slot_metric(slot: Slot, metrics: Mapping[str, Metric]) -> Metric:
    """Return the metric of a slot; for a slot with a phrase only, a generic printed line."""
    if slot.metric:
        return metrics[slot.metric]
    return _PRINTED_BALANCE if slot.months == 0 else _PRINTED_LINE


def slot_names(slot: Slot, metrics: Mapping[str, Metric]) -> tuple[str, ...]:
    """Return the names of the slot's measure in filings, most common first: labels of its metric, or the phrase."""
    return metrics[slot.metric].labels if slot.metric else (slot.phrase,)
