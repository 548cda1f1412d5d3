"""What every maker of questions draws: companies, figures and measures of an index, and the words to ask with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from fin_agent.evaluation.generated.figures import (
    AskedMeasure,
    Computed,
    Figures,
    StatedFigures,
    asked_measures,
    compute,
    read_yaml,
)
from fin_agent.evaluation.generated.question import GeneratedQuestion, SlotKey
from fin_agent.lexicon.company_names import Company, company_words
from fin_agent.lexicon.fiscal import FiscalYears
from fin_agent.workspace import Workspace


@dataclass(frozen=True)
class Material:
    """An index seen as material for questions."""

    workspace: Workspace
    attempts: ClassVar[int] = 600
    """Draws for one question until the material is taken not to hold another of its kind."""

    def wording(self, draw: Random) -> Wording:
        """The words that questions are asked in."""
        return Wording(draw)

    def is_new(self, question: GeneratedQuestion, seen: set[str]) -> bool:
        """Whether nothing like it was asked before."""
        return question.text not in seen

    @property
    def quarterly(self) -> tuple[Company, ...]:
        """Companies that may be asked about a quarter."""
        return self.companies

    @cached_property
    def figures(self) -> Figures:
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


Maker = Callable[[Any, Random, Any, int], GeneratedQuestion | None]
"""Tries to make one question: (material, draws, words, turn); None where the draw does not go together."""


def made(material: Material, name: str, maker: Maker, count: int, seed: int) -> Iterator[GeneratedQuestion]:
    """Up to `count` questions of one kind with different texts; fewer where the material holds no more."""
    draw = Random(f"{seed} {name}")
    seen: set[str] = set()
    wording = material.wording(draw)
    for turn in range(count):
        for _ in range(material.attempts):
            question = maker(material, draw, wording, turn)
            if question is not None and material.is_new(question, seen):
                seen |= {question.text, question.id}
                yield replace(question, id=f"{name} {turn + 1}: {question.id}")
                break


def slots_of_computed(*computed: Computed) -> tuple[SlotKey, ...]:
    """The figures used, each once, sorted."""
    figures = (figure for each in computed for figure in each.figures)
    return tuple(sorted({SlotKey(figure.company, figure.metric, figure.fiscal_year) for figure in figures}))


_SHORT_WORD = 3


class _Wordings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    year: tuple[str, ...]
    calendar_year: tuple[str, ...]
    spans: tuple[str, ...]
    two: tuple[str, ...]
    three: tuple[str, ...]
    calendar_spans: tuple[str, ...]
    numbers: dict[int, str]
    total: tuple[str, ...]
    average: tuple[str, ...]
    change: tuple[str, ...]
    increase: tuple[str, ...]
    decrease: tuple[str, ...]
    growth: tuple[str, ...]
    percentage_change: tuple[str, ...]
    annual_growth: tuple[str, ...]
    difference: tuple[str, ...]
    ratio: tuple[str, ...]
    highest: tuple[str, ...]
    lowest: tuple[str, ...]
    of_highest: tuple[str, ...]
    faster: tuple[str, ...]
    combined: tuple[str, ...]
    highest_average: tuple[str, ...]
    highest_total: tuple[str, ...]
    lookup: tuple[str, ...]
    lookup_in_quarter: tuple[str, ...]
    quarter: tuple[str, ...]
    ordinals: dict[int, str]


class Wording:
    """Draws wordings: the same draws give the same words."""

    def __init__(self, draw: Random) -> None:
        self._draw = draw
        self._texts = _wordings()

    def names(self, companies: Sequence[Company]) -> list[str]:
        """One name each, of one style for all: short name, ticker where all have one, or full name."""
        styles = ["short", "short", "long", *(["ticker"] if all(company.tickers for company in companies) else [])]
        style = self._draw.choice(styles)
        if style == "ticker":
            return [company.tickers[0] for company in companies]
        return [short_name(company) if style == "short" else long_name(company) for company in companies]

    def measure(self, measure: AskedMeasure, *, without: str = "") -> tuple[str, str]:
        """A name of the measure, none that begins with `without` where there are others, and `was` or `were`."""
        names = [(name, "was") for name in measure.names.singular] + [(name, "were") for name in measure.names.plural]
        fitting = [each for each in names if not (without and each[0].startswith(without))]
        return self._draw.choice(fitting or names)

    def year(self, year: int, *filed: FiscalYears) -> str:
        """`FY2019`, `fiscal 2019`; `2019` too where the filers whose years are `filed` name them so."""
        return self.ends(year, year, *filed)[0]

    def ends(self, first: int, last: int, *filed: FiscalYears) -> tuple[str, str]:
        """The first and the last year, in one style."""
        style = self._draw.choice([*self._texts.year, *(self._texts.calendar_year if _by_calendar(filed) else ())])
        return style.format(year=first), style.format(year=last)

    def quarter(self, year: int, quarter: int) -> str:
        """`Q2 FY2023`, `the second quarter of fiscal 2023`."""
        ordinal = self._texts.ordinals[quarter]
        return self._draw.choice(self._texts.quarter).format(year=year, quarter=quarter, ordinal=ordinal)

    def span(self, first: int, last: int, *filed: FiscalYears) -> str:
        """Several years, to stand after `over`; `filed` are the years of the companies asked about."""
        count = last - first + 1
        texts = [
            *self._texts.spans,
            *(self._texts.two * 2 if count == 2 else ()),
            *(self._texts.three * 2 if count == 3 else ()),
        ]
        if _by_calendar(filed):
            texts += self._texts.calendar_spans
        fields = {
            "first": first,
            "middle": first + 1,
            "last": last,
            "years": self._texts.numbers.get(count, str(count)),
        }
        return self._draw.choice(texts).format(**fields)

    def text(self, kind: str, turn: int, **fields: str) -> str:
        """The question: wordings of a kind take turns, so that all occur."""
        wordings: tuple[str, ...] = getattr(self._texts, kind)
        return filled(wordings[turn % len(wordings)], **fields)


def _by_calendar(filed: Sequence[FiscalYears]) -> bool:
    """Whether all of these filers name a fiscal year after the calendar year in which it ends."""
    return bool(filed) and all(years.ends and all(ended == named for ended, named in years.ends) for years in filed)


@lru_cache(maxsize=1)
def _wordings() -> _Wordings:
    return read_yaml("wordings", _Wordings)


def filled(wording: str, **fields: str) -> str:
    """A wording with its fields; {whose}, {whose_a}, {whose_b} and {that} follow from the others."""
    owned = {_OWNER[name]: possessive(value) for name, value in fields.items() if name in _OWNER}
    that = "those" if fields.get("was") == "were" else "that"
    return wording.format(**fields, **owned, that=that).replace("..", ".")


_OWNER = {"company": "whose", "a": "whose_a", "b": "whose_b"}


def listed(names: Sequence[str], joint: str = "and") -> str:
    """`A, B and C`."""
    return f"{', '.join(names[:-1])} {joint} {names[-1]}"


def possessive(name: str) -> str:
    """`Nike's`, `General Mills'`; a name that ends so already (`Macy's`) stays."""
    if name.endswith("'s"):
        return name
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def long_name(company: Company) -> str:
    """The name as its latest cover prints it; capitals are set as a text would."""
    name = company.name
    if not name.isupper():
        return name
    return " ".join(_as_in_text(word) for word in name.split())


def short_name(company: Company) -> str:
    """The full name without its legal form: `Foot Locker`."""
    words = long_name(company).removeprefix("The ").split()
    legal = company_words().legal_forms
    while len(words) > 1 and _bare(words[-1]) in legal:
        words.pop()
    return " ".join(words).rstrip(",").removesuffix(".com").removesuffix(".COM")


def _as_in_text(word: str) -> str:
    if _bare(word) in ("and", "of", "the") and word != "THE":
        return word.lower()
    if word.endswith("."):
        return word.capitalize()
    return word if len(word) <= _SHORT_WORD and word != "THE" else word.capitalize()


def _bare(word: str) -> str:
    return word.casefold().strip(".,").replace(".", "")
