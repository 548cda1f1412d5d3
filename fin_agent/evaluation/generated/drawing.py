"""What every maker of questions draws from: companies, figures, measures and words, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from fin_agent.evaluation.generated.figures import StatedFigures
from fin_agent.evaluation.generated.measures import AskedMeasure, Computed, asked_measures, compute
from fin_agent.evaluation.generated.question import GeneratedQuestion, SlotKey
from fin_agent.evaluation.generated.wording import Wording
from fin_agent.lexicon.company_names import Company
from fin_agent.workspace import Workspace

_ATTEMPTS = 600
"""Draws for one question until the material is taken not to hold another of its kind."""


@dataclass(frozen=True)
class Material:
    """An index seen as material for questions."""

    workspace: Workspace

    @cached_property
    def figures(self) -> StatedFigures:
        """What the annual reports state."""
        return StatedFigures(self.workspace)

    @cached_property
    def measures(self) -> tuple[AskedMeasure, ...]:
        """What may be asked for."""
        return asked_measures(self.workspace.lexicon)

    @cached_property
    def companies(self) -> tuple[Company, ...]:
        """Companies with figures, by key."""
        directory = self.workspace.directory
        return tuple(company for company in directory.companies if self.years(company))

    def years(self, company: Company) -> range:
        """From the first to the last fiscal year that annual reports state total assets or net income for."""
        years = {year for name in ("net_income", "total_assets") for year in self.figures.years(company.key, name)}
        return range(min(years), max(years) + 1) if years else range(0)

    def computed(self, measure: AskedMeasure, company: Company, year: int) -> Computed | None:
        """The measure from figures stated; None where one is not."""
        return compute(measure, company.key, year, self.figures, self.workspace.lexicon)


Maker = Callable[["Material", Random, Wording, int], GeneratedQuestion | None]
"""Tries to make one question: (material, draws, words, turn); None where the draw does not go together."""


def made(material: Material, name: str, maker: Maker, count: int, seed: int) -> Iterator[GeneratedQuestion]:
    """Up to `count` questions of one kind with different texts; fewer where the material holds no more."""
    draw = Random(f"{seed} {name}")
    seen: set[str] = set()
    wording = Wording(draw)
    for turn in range(count):
        for _ in range(_ATTEMPTS):
            question = maker(material, draw, wording, turn)
            if question is not None and question.text not in seen:
                seen.add(question.text)
                yield replace(question, id=f"{name} {turn + 1}: {question.id}")
                break


def slots_of_computed(*computed: Computed) -> tuple[SlotKey, ...]:
    """The figures used, each once, sorted."""
    figures = (figure for each in computed for figure in each.figures)
    return tuple(sorted({SlotKey(figure.company, figure.metric, figure.fiscal_year) for figure in figures}))
