"""Slots: the single figures an answer needs."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from fin_agent.lexicon.entry_loading import Metric


class Slot(BaseModel):
    """One figure: entity x measure x period (x part).

    The measure is a metric of the lexicon (`metric`), or a line as filings print it (`phrase`), found by fact search;
    with both, a metric that fact search finds, by its labels and by these words.
    """

    model_config = ConfigDict(frozen=True)

    company: str
    """Key of the company in the directory of the index."""
    company_name: str
    metric: str = ""
    """Id of a metric of the lexicon; empty where `phrase` says what is looked for."""
    label: str
    """The measure in words, the part of the company before it: `revenue`, `Data Center revenue`."""
    fiscal_year: int
    """By the filer's own naming."""
    quarter: int | None = None
    part: str | None = None
    """The segment, product or region, as filings print it; None for the whole company."""
    phrase: str = ""
    """The words of a printed line, in the question's own wording: `content obligations`, `long-lived assets`. Every
    content word has to be borne out by the address of the fact that fills the slot."""
    basis: tuple[str, ...] = ()
    """Words that narrow which print is meant, beside the phrase or metric: `attributable to the parent`, `due within
    one year`, `adjusted`, `per share`. They have to be borne out as well, by any part of the address."""
    months: int | None = None
    """0 for a balance, else the months of the span: 3, 6, 9 or 12; with 6 or 9, `quarter` is the one that the span
    ends with. None where the period settles it: a quarter's or year's flow, or the balance at its end."""

    table: str = ""
    """Where its figure stands (`Family.table`), where a question to a family has settled that: `part` is then a row,
    column or heading of it, None its total; or the place of one figure. Empty: wherever the company's filings state
    the figure."""

    @property
    def period(self) -> str:
        """As people write it: `FY2019`, `Q2 FY2023`, `six months to Q2 FY2023`."""
        period = f"Q{self.quarter} FY{self.fiscal_year}" if self.quarter else f"FY{self.fiscal_year}"
        return f"{_SPANS[self.months]} to {period}" if self.months in _SPANS else period

    def __str__(self) -> str:
        return f"{self.label} of {self.company_name} for {self.period}"

    @property
    def is_searched(self) -> bool:
        """Whether fact search finds its figure, by the words of addresses; else its metric's id is enough."""
        return not self.metric or bool(self.phrase or self.basis or self.table)

    @property
    def fact_name(self) -> str:
        """What facts that fill it carry as their metric: its metric's id; of a slot that is searched, its own name."""
        if not self.is_searched:
            return self.metric
        basis, span = ", ".join(self.basis), "" if self.months is None else f" {self.months}M"
        place = f" @{self.table}" if self.table else ""
        return f"{self.measure} [{basis}] {self.part or ''} {self.period}{span}{place}"

    @property
    def measure(self) -> str:
        """What names the measure: the id of the metric, else the printed line's phrase."""
        return self.metric or self.phrase


_SPANS: dict[int | None, str] = {6: "six months", 9: "nine months"}
_PRINTED_LINE = Metric(id="printed-line")
_PRINTED_BALANCE = Metric(id="printed-line", period="instant")


def slot_metric(slot: Slot, metrics: Mapping[str, Metric]) -> Metric:
    """The metric that a slot asks for; a printed line without a home, printed as it is, for a slot of a phrase."""
    if slot.metric:
        return metrics[slot.metric]
    return _PRINTED_BALANCE if slot.months == 0 else _PRINTED_LINE


def slot_names(slot: Slot, metrics: Mapping[str, Metric]) -> tuple[str, ...]:
    """What filings call the slot's measure, the usual name first: labels of its metric, or the phrase itself."""
    return metrics[slot.metric].labels if slot.metric else (slot.phrase,)
