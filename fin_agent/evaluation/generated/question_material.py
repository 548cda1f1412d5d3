"""The figures of an index that questions are generated from, with its statements or its tags as the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import chain

from fin_agent.evaluation.generated.tagged_figures import PartFamily, families_of, figures_of_tags, part_figures
from fin_agent.evaluation.generated.truth import (
    Computed,
    Figures,
    MeasureToAsk,
    StatedFigure,
    compute,
    figures_of_statements,
    measures_to_ask,
    read_data,
)
from fin_agent.evaluation.xbrl_truth import TaggedFiling
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.fiscal_periods import FiscalYears
from fin_agent.workspace import Workspace

_A_YEAR = timedelta(350), timedelta(380)


@dataclass(frozen=True)
class QuestionMaterial:
    """The figures that questions are generated from."""

    workspace: Workspace
    filings: tuple[TaggedFiling, ...] | None = None
    """Filings of the index whose tags are the truth; None if its statements are."""

    @cached_property
    def figures(self) -> Figures:
        """The stated figures of whole companies."""
        if self.filings is None:
            return figures_of_statements(self.workspace)
        owners, also = self.workspace.directory.owners, read_data("measures_of_tags")
        return figures_of_tags(self.filings, owners, self.workspace.lexicon, also["stands_in"], also["in_notes"])

    @cached_property
    def parts(self) -> tuple[StatedFigure, ...]:
        """The tagged figures of segments, products and regions."""
        owners, lexicon = self.workspace.directory.owners, self.workspace.lexicon
        return part_figures(self.filings or (), owners, lexicon, read_data("measures_of_tags")["of_parts"])

    @cached_property
    def families(self) -> list[PartFamily]:
        """Complete sets of the parts of one kind."""
        return families_of(self.parts, self.figures)

    @cached_property
    def measures(self) -> tuple[MeasureToAsk, ...]:
        """The measures that can be asked for."""
        listed = ["measures", *([] if self.filings is None else ["measures_of_tags"])]
        return tuple(chain.from_iterable(measures_to_ask(self.workspace.lexicon, read_data(name)) for name in listed))

    @property
    def spans(self) -> tuple[int, ...]:
        """Numbers of years that questions cover; with tags, at most those that one report shows."""
        return (2, 3, 4, 5, 6) if self.filings is None else (2, 3, 3)

    @cached_property
    def companies(self) -> tuple[Company, ...]:
        """Companies with figures of a year, by key."""
        return tuple(company for company in self.workspace.directory.companies if self.years(company))

    @cached_property
    def quarterly(self) -> tuple[Company, ...]:
        """Companies with figures of a quarter, by key."""
        return tuple(
            company
            for company in self.workspace.directory.companies
            if any(self.figures.quarters(company.key, measure.id) for measure in self.measures)
        )

    def years(self, company: Company) -> range:
        """Return the range of fiscal years for which annual reports state total assets or net income."""
        years = {year for name in ("net_income", "total_assets") for year in self.figures.years(company.key, name)}
        return range(min(years), max(years) + 1) if years else range(0)

    def filed(self, company: str) -> FiscalYears:
        """Return the fiscal years of a company, by its key."""
        return self.workspace.years[company]

    @cached_property
    def last_days(self) -> Mapping[FiscalYears, Mapping[int, date]]:
        """Fiscal years of a company -> the last day of each year that its tags cover."""
        days: dict[FiscalYears, dict[int, date]] = {}
        for filing in self.filings or ():
            if filing.quarter is None:
                known = days.setdefault(self.filed(self.workspace.directory.owners[filing.doc_id]), {})
                ends = {tag.end for tag in filing.tags if tag.start and _A_YEAR[0] <= tag.end - tag.start <= _A_YEAR[1]}
                for end in sorted(ends):
                    known[filing.fiscal_year - round((filing.end - end).days / 365.25)] = end
        return days

    def computed(self, measure: MeasureToAsk, company: Company, years: Iterable[int]) -> tuple[Computed, ...]:
        """Compute the measure of each of these years from stated figures; empty if one is missing."""
        lexicon = self.workspace.lexicon
        found = [compute(measure, company.key, year, self.figures, lexicon) for year in years]
        return tuple(each for each in found if each is not None) if None not in found else ()
