"""What every maker of questions draws: companies, figures and measures of an index, and the words to ask with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random
from typing import Any, ClassVar, Generic, TypeVar

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
from fin_agent.lexicon.fiscal_periods import FiscalYears
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

    @cached_property
    def quarterly(self) -> tuple[Company, ...]:
        """Companies that may be asked about a quarter; none where no quarter is stated."""
        figures, measures = self.figures, self.measures
        stated = any(figures.quarters(each.key, measure.id) for each in self.companies for measure in measures)
        return self.companies if stated else ()

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

    def all_computed(self, measure: AskedMeasure, company: Company, years: Sequence[int]) -> tuple[Computed, ...]:
        """The measure of each of these years; empty where it lacks one."""
        found = [each for year in years if (each := self.computed(measure, company, year)) is not None]
        return tuple(found) if len(found) == len(years) else ()


MaterialT = TypeVar("MaterialT", bound=Material)
WordingT = TypeVar("WordingT", bound="Wording")


@dataclass(frozen=True, slots=True)
class Turn(Generic[MaterialT, WordingT]):
    """A try to make one question of a kind."""

    material: MaterialT
    draw: Random
    wording: WordingT
    number: int
    """How many of the kind there are already."""

    def company_and_measure(
        self, fits: Callable[[AskedMeasure], bool], companies: Sequence[Company] | None = None
    ) -> tuple[Company, AskedMeasure]:
        """A company, of `companies` where given, and a measure that fits."""
        company = self.draw.choice(self.material.companies if companies is None else companies)
        return company, self.draw.choice([measure for measure in self.material.measures if fits(measure)])

    def named(self, company: Company, measure: AskedMeasure, *, without: str = "") -> dict[str, str]:
        """The fields that name them; see `Wording.measure`."""
        (name,) = self.wording.names([company])
        words, was = self.wording.measure(measure, without=without)
        return {"company": name, "measure": words, "was": was}

    def text(self, kind: str, number: int | None = None, /, **fields: str) -> str:
        """The question: wordings of a kind take turns, so that all occur."""
        return self.wording.text(kind, self.number if number is None else number, **fields)


Maker = Callable[[Turn[Any, Any]], GeneratedQuestion | None]
"""Tries to make one question; None where the draw does not go together."""


def questions_of(
    material: Material, makers: Sequence[tuple[str, Maker, int]], count: int, seed: int
) -> Iterator[GeneratedQuestion]:
    """Up to `count` questions of different texts by makers with names and weights; fewer where there is no more."""
    for (name, maker, _), share in zip(makers, shares([weight for _, _, weight in makers], count), strict=True):
        draw = Random(f"{seed} {name}")
        wording, seen = material.wording(draw), set[str]()
        for number in range(share):
            for _ in range(material.attempts):
                question = maker(Turn(material, draw, wording, number))
                if question is not None and material.is_new(question, seen):
                    seen |= {question.text, question.id}
                    yield replace(question, id=f"{name} {number + 1}: {question.id}")
                    break


def shares(weights: Sequence[int], count: int) -> list[int]:
    """`count` divided by weight: whole numbers that add up to it; the rest goes to the largest fractions."""
    exact = [count * weight / sum(weights) for weight in weights]
    counts = [int(each) for each in exact]
    order = sorted(range(len(weights)), key=lambda place: (counts[place] - exact[place], place))
    for place in order[: count - sum(counts)]:
        counts[place] += 1
    return counts


def slots_of(computed: Iterable[Computed]) -> tuple[SlotKey, ...]:
    """The figures used, each once, sorted."""
    figures = (figure for each in computed for figure in each.figures)
    return tuple(sorted({SlotKey(*figure.slot) for figure in figures}, key=str))


class Wordings(BaseModel):
    """Sentences by kind, and words for numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    texts: dict[str, tuple[str, ...]]
    numbers: dict[int, str] = {}
    ordinals: dict[int, str] = {}


class Wording:
    """Draws wordings: the same draws give the same words."""

    def __init__(self, draw: Random) -> None:
        self._draw = draw
        self._words = _wordings()

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
        texts = self._words.texts
        style = self._draw.choice([*texts["year"], *(texts["calendar_year"] if _by_calendar(filed) else ())])
        return style.format(year=first), style.format(year=last)

    def quarter(self, year: int, quarter: int) -> str:
        """`Q2 FY2023`, `the second quarter of fiscal 2023`."""
        ordinal = self._words.ordinals[quarter]
        return self._draw.choice(self._words.texts["quarter"]).format(year=year, quarter=quarter, ordinal=ordinal)

    def span(self, first: int, last: int, *filed: FiscalYears) -> str:
        """Several years, to stand after `over`; `filed` are the years of the companies asked about."""
        count, of = last - first + 1, self._words.texts
        texts = [*of["spans"], *(of["two"] * 2 if count == 2 else ()), *(of["three"] * 2 if count == 3 else ())]
        if _by_calendar(filed):
            texts += of["calendar_spans"]
        years = self._words.numbers.get(count, str(count))
        return self._draw.choice(texts).format(first=first, middle=first + 1, last=last, years=years)

    def text(self, kind: str, number: int, /, **fields: str) -> str:
        """The question: wordings of a kind take turns."""
        wordings = self._words.texts[kind]
        return filled(wordings[number % len(wordings)], **fields)


def _by_calendar(filed: Sequence[FiscalYears]) -> bool:
    """Whether all of these filers name a fiscal year after the calendar year in which it ends."""
    return bool(filed) and all(years.ends and all(ended == named for ended, named in years.ends) for years in filed)


@lru_cache(maxsize=1)
def _wordings() -> Wordings:
    return read_yaml("wordings", Wordings)


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


_SHORT_WORD = 3


def _as_in_text(word: str) -> str:
    if _bare(word) in ("and", "of", "the") and word != "THE":
        return word.lower()
    if word.endswith("."):
        return word.capitalize()
    return word if len(word) <= _SHORT_WORD and word != "THE" else word.capitalize()


def _bare(word: str) -> str:
    return word.casefold().strip(".,").replace(".", "")
