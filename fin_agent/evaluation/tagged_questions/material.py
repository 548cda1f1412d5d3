"""What makers of questions draw from where tags are the truth, and the words they use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from random import Random
from typing import ClassVar

from fin_agent.evaluation.generated.figures import AskedMeasure, asked_measures
from fin_agent.evaluation.generated.question import GeneratedQuestion
from fin_agent.evaluation.generated.sampling import Material, Turn, Wording
from fin_agent.evaluation.tagged_questions.figures import (
    PartFamily,
    PartFigure,
    TaggedFigures,
    families_of,
    further_measures,
    part_figures,
    tagged_wordings,
)
from fin_agent.evaluation.tagged_questions.filings import TaggedFiling
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.fiscal_periods import FiscalYears


class TaggedWording(Wording):
    """Draws wordings: beside those of generated questions, years named by two digits or by their last day."""

    def __init__(self, draw: Random, last_days: Mapping[FiscalYears, Mapping[int, date]]) -> None:
        super().__init__(draw)
        self._last_days = last_days
        self._of_parts = tagged_wordings()
        self._words = self._words.model_copy(update={"texts": self._words.texts | self._of_parts.texts})

    def year(self, year: int, *filed: FiscalYears) -> str:
        """`FY24`, `fiscal 2024`; of one filer also `the year ended September 28, 2024`."""
        day = self.last_day(year, filed[0]) if len(filed) == 1 else None
        if day is not None and self._draw.random() < _DATED:
            return self._draw.choice(self._words.texts["dated_years"]).format(day=day)
        return self.ends(year, year, *filed)[0]

    def ends(self, first: int, last: int, *filed: FiscalYears) -> tuple[str, str]:
        """The first and the last year, in one style."""
        if filed and self._draw.random() < _CALENDAR:
            return super().ends(first, last, *filed)
        style = self._draw.choice(self._words.texts["years"])
        one, other = (style.format(year=year, short=f"{year % 100:02}") for year in (first, last))
        return one, other

    def last_day(self, year: int, filed: FiscalYears) -> str | None:
        """`September 28, 2024`; None where no tag is of that year."""
        day = self._last_days.get(filed, {}).get(year)
        return f"{day:%B} {day.day}, {day.year}" if day else None

    def text(self, kind: str, number: int, /, **fields: str) -> str:
        """See Wording.text. {the_part} is {part}, with an article where it takes one."""
        part = fields.get("part", "")
        article = "the " if part.casefold().startswith(self._of_parts.with_the) else ""
        return super().text(kind, number, **fields, the_part=f"{article}{part}")


_DATED, _CALENDAR = 0.2, 0.4


@dataclass(frozen=True)
class TaggedMaterial(Material):
    """An index, and the tagged files of the filings in it."""

    filings: tuple[TaggedFiling, ...]
    attempts: ClassVar[int] = 400

    def wording(self, draw: Random) -> TaggedWording:
        """With the last days of years."""
        return TaggedWording(draw, self.last_days)

    def is_new(self, question: GeneratedQuestion, seen: set[str]) -> bool:
        """Whether neither its text nor what it is about was asked before."""
        return question.text not in seen and question.id not in seen

    @cached_property
    def figures(self) -> TaggedFigures:
        """What tags without members state."""
        owners, further = self.workspace.directory.owners, further_measures()
        return TaggedFigures(self.filings, owners, self.workspace.lexicon, further.stands_in, further.in_notes)

    @cached_property
    def measures(self) -> tuple[AskedMeasure, ...]:
        """The measures of generated questions, then those of measures.yaml."""
        lexicon = self.workspace.lexicon
        return (*asked_measures(lexicon), *asked_measures(lexicon, further_measures()))

    @cached_property
    def quarterly(self) -> tuple[Company, ...]:
        """Companies of whose quarters tags state something, by key."""
        owners, companies = self.workspace.directory.owners, self.workspace.directory.companies
        keys = {owners[filing.doc_id] for filing in self.filings if filing.quarter}
        return tuple(company for company in companies if company.key in keys)

    @cached_property
    def parts(self) -> tuple[PartFigure, ...]:
        """What tags with members state of segments, products and regions."""
        owners = self.workspace.directory.owners
        return part_figures(self.filings, owners, self.workspace.lexicon, further_measures().of_parts)

    @cached_property
    def families(self) -> list[PartFamily]:
        """Parts of a kind that are all of them."""
        return families_of(self.parts, self.figures)

    def tagged_years(self, company: Company) -> list[int]:
        """Years that the tags of the company's annual reports are of."""
        return sorted(self.last_days.get(self.workspace.years[company.key], {}))

    @cached_property
    def last_days(self) -> Mapping[FiscalYears, Mapping[int, date]]:
        """By the years of a company: the last day of each fiscal year that its tags are of."""
        days: dict[FiscalYears, dict[int, date]] = {}
        for filing in self.filings:
            if filing.quarter is None:
                known = days.setdefault(self.workspace.years[self.workspace.directory.owners[filing.doc_id]], {})
                ends = {tag.end for tag in filing.tags if tag.start and _A_YEAR[0] <= tag.end - tag.start <= _A_YEAR[1]}
                for end in sorted(ends):
                    known[filing.fiscal_year - round((filing.end - end).days / 365.25)] = end
        return days


_A_YEAR = timedelta(350), timedelta(380)

TaggedTurn = Turn[TaggedMaterial, TaggedWording]


def reads_well(text: str, year: str) -> bool:
    """Whether a year named by its last day stands where a sentence can have it: after `in`, `for`, a comma."""
    begins = year.split(" ", 1)[0]
    return begins != "the" or re.search(rf"(?:\b(?:in|for|of|In|For)|[,:]) {re.escape(year)}", text) is not None
