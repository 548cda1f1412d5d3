"""Sampling of questions: draws of companies, figures and measures, and of the words to ask with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from fin_agent.evaluation import Family, QuestionKind
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.evaluation.generated.truth import (
    Computed,
    ExpectedAnswer,
    GeneratedQuestion,
    MeasureToAsk,
    fewest_filings,
    read_data,
)
from fin_agent.lexicon.company_names import Company, company_words
from fin_agent.lexicon.fiscal_periods import FiscalYears

OptionT = TypeVar("OptionT")


class UnsuitableDrawError(Exception):
    """The draws of a turn give no question."""


def require(suitable: object) -> None:
    """End a turn whose draws are not suitable. Raises UnsuitableDrawError."""
    if not suitable:
        raise UnsuitableDrawError


@dataclass(frozen=True, slots=True)
class Turn:
    """One attempt to generate a question of a kind. The same random draws give the same question and words."""

    material: QuestionMaterial
    draw: Random
    family: Family | QuestionKind
    name: str
    """Name of the generator, which is by default the kind of its questions."""
    number: int
    """Number of its questions so far: the wordings of a kind are used in turn."""

    def choice(self, options: Sequence[OptionT]) -> OptionT:
        """Draw one of the options. Raises UnsuitableDrawError if there is none."""
        require(options)
        return self.draw.choice(options)

    def company_and_measure(
        self, fits: Callable[[MeasureToAsk], bool], companies: Sequence[Company] | None = None
    ) -> tuple[Company, MeasureToAsk]:
        """Draw a company, from `companies` if given, and a measure that fits."""
        company = self.choice(self.material.companies if companies is None else companies)
        return company, self.choice([measure for measure in self.material.measures if fits(measure)])

    def names(self, companies: Sequence[Company]) -> list[str]:
        """Return one name per company, all in one style: short name, ticker if all have one, or full name."""
        styles = ["short", "short", "long", *(["ticker"] if all(company.tickers for company in companies) else [])]
        style = self.draw.choice(styles)
        if style == "ticker":
            return [company.tickers[0] for company in companies]
        return [short_name(company) if style == "short" else long_name(company) for company in companies]

    def measure(self, measure: MeasureToAsk, *, without: str = "") -> tuple[str, str]:
        """Return a name of the measure, preferably none that begins with `without`, and `was` or `were`."""
        names = [(name, "was") for name in measure.singular] + [(name, "were") for name in measure.plural]
        fitting = [each for each in names if not (without and each[0].startswith(without))]
        return self.draw.choice(fitting or names)

    def named(self, company: Company, measure: MeasureToAsk, *, without: str = "") -> dict[str, str]:
        """Return the fields that name company and measure."""
        (name,) = self.names([company])
        words, was = self.measure(measure, without=without)
        return {"company": name, "measure": words, "was": was}

    def year(self, year: int, *filed: FiscalYears) -> str:
        """Return a year: `FY2019`, `FY19`, or `2019` if the filers whose years are `filed` name it so.

        For one filer also `the year ended September 28, 2024`.
        """
        day = self.last_day(year, filed[0]) if len(filed) == 1 else None
        if day is not None and self.draw.random() < _DATED:
            return self.draw.choice(_texts()["dated_year"]).format(day=day)
        return self.ends(year, year, *filed)[0]

    def ends(self, first: int, last: int, *filed: FiscalYears) -> tuple[str, str]:
        """Return the first and the last year, in one style."""
        styles = [*_texts()["year"], *(_texts()["calendar_year"] if _by_calendar(filed) else ())]
        style = self.draw.choice(styles)
        one, other = (style.format(year=year, short=f"{year % 100:02}") for year in (first, last))
        return one, other

    def last_day(self, year: int, filed: FiscalYears) -> str | None:
        """Return the last day of a fiscal year, `September 28, 2024`; None if it is unknown."""
        day = self.material.last_days.get(filed, {}).get(year)
        return f"{day:%B} {day.day}, {day.year}" if day else None

    def quarter(self, year: int, quarter: int) -> str:
        """Return a quarter: `Q2 FY2023`, `the second quarter of fiscal 2023`."""
        ordinal = read_data("wordings")["ordinals"][quarter]
        return self.draw.choice(_texts()["quarter"]).format(year=year, quarter=quarter, ordinal=ordinal)

    def span(self, first: int, last: int, *filed: FiscalYears) -> str:
        """Return several years, worded to follow `over`; `filed` are the fiscal years of the companies."""
        count, of = last - first + 1, _texts()
        texts = of["spans"] + {2: of["two"] * 2, 3: of["three"] * 2}.get(count, [])
        if _by_calendar(filed):
            texts = texts + of["calendar_spans"]
        years: str = read_data("wordings")["numbers"].get(count, str(count))
        return self.draw.choice(texts).format(first=first, middle=first + 1, last=last, years=years)

    def text(self, kind: str, /, **fields: str) -> str:
        """Return the text of the question; {the_part} is {part}, with an article if it takes one."""
        texts, part = _texts()[kind], fields.get("part", "")
        article = "the " if part.casefold().startswith(tuple(read_data("wordings")["with_the"])) else ""
        return fill_wording(texts[self.number % len(texts)], **fields, the_part=f"{article}{part}")

    def make_question(
        self,
        about: str,
        text: str,
        found: Sequence[Computed] = (),
        expected: ExpectedAnswer | None = None,
        *,
        kind: str = "",
        exact: bool = False,
        missing_names: tuple[tuple[str, ...], ...] = (),
    ) -> GeneratedQuestion:
        """Return the question, whose answer needs the figures of `found`, or whose refusal has to name what is missing.

        `about` tells questions apart; other arguments are as in GeneratedQuestion.
        """
        figures = [figure for each in found for figure in each.figures]
        return GeneratedQuestion(
            id=about,
            family=self.family,
            kind=(kind or self.name).replace("_", " "),
            text=text,
            slots=tuple(sorted({figure.slot for figure in figures if not figure.slot.part}, key=str)),
            filings=fewest_filings(figures),
            expected=expected,
            missing_names=missing_names,
            exact=exact or self.family is QuestionKind.LOOKUP,
        )


Maker = Callable[[Turn], GeneratedQuestion]
"""Generates one question. Raises UnsuitableDrawError if the draws give none."""
_ATTEMPTS = 600
"""Draws per question after which the material is considered exhausted."""
_DATED = 0.2


def sample_questions(
    material: QuestionMaterial,
    family: Family | QuestionKind,
    makers: Sequence[tuple[str, Maker, int]],
    count: int,
    seed: int,
) -> Iterator[GeneratedQuestion]:
    """Yield up to `count` different questions by makers with names and weights; fewer if there are no more."""
    for (name, maker, _), share in zip(makers, shares([weight for _, _, weight in makers], count), strict=True):
        draw, seen = Random(f"{seed} {name}"), set[str]()
        for number in range(share):
            for _ in range(_ATTEMPTS):
                try:
                    question = maker(Turn(material, draw, family, name, number))
                except UnsuitableDrawError:
                    continue
                if seen.isdisjoint((question.text, question.id)):
                    seen |= {question.text, question.id}
                    yield replace(question, id=f"{name} {number + 1}: {question.id}")
                    break


def shares(weights: Sequence[int], count: int) -> list[int]:
    """Divide `count` by weight into integers that add up to it; the remainder goes to the largest fractions."""
    exact = [count * weight / sum(weights) for weight in weights]
    counts = [int(each) for each in exact]
    order = sorted(range(len(weights)), key=lambda place: (counts[place] - exact[place], place))
    for place in order[: count - sum(counts)]:
        counts[place] += 1
    return counts


def _texts() -> dict[str, list[str]]:
    return read_data("wordings")["texts"]  # type: ignore[no-any-return]


def _by_calendar(filed: Sequence[FiscalYears]) -> bool:
    """Return whether all of these filers name a fiscal year after the calendar year in which it ends."""
    return bool(filed) and all(years.ends and all(ended == named for ended, named in years.ends) for years in filed)


def fill_wording(wording: str, **fields: str) -> str:
    """Fill a wording; {whose}, {whose_a}, {whose_b} and {that} are derived from the other fields."""
    owned = {_OWNER[name]: possessive(value) for name, value in fields.items() if name in _OWNER}
    that = "those" if fields.get("was") == "were" else "that"
    return wording.format(**fields, **owned, that=that).replace("..", ".")


_OWNER = {"company": "whose", "a": "whose_a", "b": "whose_b"}


def join_names(names: Sequence[str], joint: str = "and") -> str:
    """Return names joined to `A, B and C`."""
    return f"{', '.join(names[:-1])} {joint} {names[-1]}"


def possessive(name: str) -> str:
    """Return the possessive, `Nike's`, `General Mills'`; a name in the possessive (`Macy's`) stays."""
    if name.endswith("'s"):
        return name
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def long_name(company: Company) -> str:
    """Return the name on the latest cover, with capitals as in running text."""
    name = company.name
    return " ".join(map(_as_in_text, name.split())) if name.isupper() else name


def short_name(company: Company) -> str:
    """Return the name without its legal form: `Foot Locker`."""
    words = long_name(company).removeprefix("The ").split()
    legal = company_words("legal_forms")
    while len(words) > 1 and _bare(words[-1]) in legal:
        words.pop()
    return " ".join(words).rstrip(",").removesuffix(".com").removesuffix(".COM")


def _as_in_text(word: str) -> str:
    if _bare(word) in ("and", "of", "the") and word != "THE":
        return word.lower()
    if word.endswith("."):
        return word.capitalize()
    return word if len(word) <= 3 and word != "THE" else word.capitalize()


def _bare(word: str) -> str:
    return word.casefold().strip(".,").replace(".", "")
