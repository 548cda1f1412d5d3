"""Slots: the single figures an answer needs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Slot(BaseModel):
    """One figure: entity x metric x period (x part)."""

    model_config = ConfigDict(frozen=True)

    company: str
    """Key of the company in the directory of the index."""
    company_name: str
    metric: str
    label: str
    """The metric in words, the part of the company before it: `revenue`, `Data Center revenue`."""
    fiscal_year: int
    """By the filer's own naming."""
    quarter: int | None = None
    part: str | None = None
    """The segment, product or region, as filings print it; None for the whole company."""

    @property
    def period(self) -> str:
        """As people write it: `FY2019`, `Q2 FY2023`."""
        return f"Q{self.quarter} FY{self.fiscal_year}" if self.quarter else f"FY{self.fiscal_year}"

    def __str__(self) -> str:
        return f"{self.label} of {self.company_name} for {self.period}"
