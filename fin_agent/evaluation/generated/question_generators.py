"""Questions about one company, between companies, about one part, between parts, and of what is absent.

A turn draws companies, figures and measures, and the words to ask with. A generator makes one question of its draws,
and raises UnsuitableDrawError if they give none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import TypeVar

from fin_agent.evaluation import Family, QuestionKind
from fin_agent.evaluation.generated.question_material import PartFamily, QuestionMaterial
from fin_agent.evaluation.generated.truth import (
    Computed,
    ExpectedAnswer,
    GeneratedQuestion,
    MeasureToAsk,
    PartKind,
    StatedFigure,
    fewest_filings,
    read_data,
)
from fin_agent.lexicon.company_names import Company, company_words
from fin_agent.lexicon.fiscal_periods import FiscalPeriod, FiscalYears
from fin_agent.vocabulary.identity import Form

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


# --- The measures and values that `kinds.yaml` names

Fits = Callable[[MeasureToAsk], bool]


def _is_stated(measure: MeasureToAsk) -> bool:
    return not measure.is_formula


_FITS: Mapping[str, Fits] = {
    "any": lambda measure: True,
    "formula": lambda measure: measure.is_formula,
    "flow": lambda measure: measure.unit == "USD" and not measure.is_balance,
    "dollars": lambda measure: measure.unit == "USD",
    "stated dollars": lambda measure: measure.unit == "USD" and not measure.is_formula,
}
"""The measures that a generator of `kinds.yaml` asks for."""
_VALUES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "figure": lambda values: values[0],
    "sum": sum,
    "mean": lambda values: sum(values) / len(values),
    "difference": lambda values: values[0] - values[1],
    "ratio": lambda values: values[0] / values[1],
}
"""What it asks of the figures of consecutive years, or of two companies, the higher first."""


# --- One company

_AS_OF_A_DAY = 0.5
_LEAST_MOVE = 0.02
"""Relative: what moved less has hardly changed."""
_MAX_TIMES = 20
_MIN_YEARS_OF_A_RATE = 2


def lookup(turn: Turn, *, own: bool) -> GeneratedQuestion:
    """Ask for a figure of an annual report: of its `own` fiscal year, or in an earlier year's column."""
    drawn = _drawn(turn, _is_stated, 1)
    require((drawn.last in drawn.filed.annual) is own)
    day = turn.last_day(drawn.last, drawn.filed)
    if drawn.measure.is_balance and day is not None and turn.draw.random() < _AS_OF_A_DAY:
        return drawn.of_one(drawn.values[0], shape="balance", day=day)
    return drawn.of_one(drawn.values[0], shape="lookup")


def quarterly_figure(turn: Turn) -> GeneratedQuestion:
    """Ask for a figure of a quarter, or of its end."""
    company, measure = turn.company_and_measure(_is_stated, turn.material.quarterly)
    figures = turn.material.figures
    year, quarter = turn.choice(figures.quarters(company.key, measure.id))
    figure = figures.figure(company.key, measure.id, year, quarter)
    whole = figures.figure(company.key, measure.whole, year, quarter)
    if figure is None or (whole is not None and whole.value != figure.value):
        raise UnsuitableDrawError
    text = turn.text("lookup_in_quarter", **turn.named(company, measure), year=turn.quarter(year, quarter))
    found = Computed(float(figure.value), (figure,))
    expected = ExpectedAnswer(found.value, measure.unit, _rounding(measure, [found]))
    return turn.make_question(f"{company.key} {measure.id} {year} Q{quarter}", text, [found], expected)


def over_years(turn: Turn, *, fits: str, value: str, years: int = 0) -> GeneratedQuestion:
    """Ask for a value of a measure in consecutive years: its sum, its mean; with `years=1` for a margin or ratio."""
    drawn = _drawn(turn, _FITS[fits], years)
    return drawn.of_one(_VALUES[value](drawn.values))


def change(turn: Turn) -> GeneratedQuestion:
    """Ask for the change of a figure between two years."""
    drawn = _drawn(turn, lambda measure: not measure.is_formula and measure.unit != "shares", ends_only=True)
    moved = drawn.move()
    shape = turn.draw.choice(("change", *("increase" if moved > 0 else "decrease",) * 2))
    return drawn.of_one(moved, shape=shape, signed=shape == "change")


def growth(turn: Turn) -> GeneratedQuestion:
    """Ask for relative growth between two years."""
    drawn, times = _growing(turn)
    rate = 100 * (times - 1)
    shapes = ["percentage_change", *(["growth"] * 2 if rate > 0 else [])]
    shapes += ["year_over_year"] if drawn.last - drawn.first == 1 else []
    return drawn.of_one(rate, shape=turn.draw.choice(shapes), unit="percent")


def annual_growth(turn: Turn) -> GeneratedQuestion:
    """Ask for compound annual growth between two years."""
    drawn, times = _growing(turn)
    require(drawn.last - drawn.first >= _MIN_YEARS_OF_A_RATE and times > 1)
    return drawn.of_one(100 * (times ** (1 / (drawn.last - drawn.first)) - 1), unit="percent")


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A measure of some companies in consecutive years, or in the first and the last of them."""

    turn: Turn
    measure: MeasureToAsk
    companies: Sequence[Company]
    first: int
    last: int
    found: Sequence[Computed]
    """In the order of companies; company after company if there are several years."""

    @property
    def filed(self) -> FiscalYears:
        return self.turn.material.filed(self.companies[0].key)

    @property
    def values(self) -> list[float]:
        return [each.value for each in self.found]

    def move(self) -> float:
        """Return the difference of two years. Raises UnsuitableDrawError if the measure has hardly changed."""
        before, after = self.values
        require(abs(after - before) > _LEAST_MOVE * abs(before))
        return after - before

    @property
    def _rounding_of_growth(self) -> float:
        """How far growth per year, in percent, can differ if a figure is also printed with fewer digits."""
        before, after = self.found[0], self.found[-1]
        share = sum(rounding_difference(each) / each.value for each in (before, after))
        return 100 * share / (1 - share) * after.value / before.value / (self.last - self.first)

    def named(self) -> dict[str, str]:
        """Return the fields that name the companies in random order, the measure and the year."""
        names = self.turn.names(self.turn.draw.sample(self.companies, len(self.companies)))
        words, was = self.turn.measure(self.measure)
        fields = {"companies": join_names(names), "either": join_names(names, "or"), "measure": words, "was": was}
        return {**fields, "year": self.turn.year(self.last)}

    def named_two(self) -> dict[str, str]:
        """Return the fields that name two companies and the measure."""
        a, b = self.turn.names(self.companies)
        words, was = self.turn.measure(self.measure)
        return {"a": a, "b": b, "measure": words, "was": was}

    def of_one(
        self, value: float, *, shape: str = "", unit: str = "", signed: bool = True, day: str = ""
    ) -> GeneratedQuestion:
        """Return the question about one company. Raises UnsuitableDrawError if a filing covers one meant for several.

        `shape` names its wordings, by default as its kind; `unit` is that of growth, by default the measure's.
        """
        turn, shape = self.turn, shape or self.turn.name.replace(" ", "_")
        figures = [figure for each in self.found for figure in each.figures]
        require(turn.family is not Family.MULTI_FILING or len(fewest_filings(figures)) > 1)
        first, last = turn.ends(self.first, self.last, self.filed)
        year = last if day else turn.year(self.last, self.filed)
        fields = turn.named(self.companies[0], self.measure, without=shape)
        span = turn.span(self.first, self.last, self.filed)
        text = turn.text(shape, **fields, first=first, last=last, year=year, span=span, day=day)
        require(year not in text or reads_well(text, year))
        rounding = self._rounding_of_growth if unit else _rounding(self.measure, self.found)
        return self.asked(text, ExpectedAnswer(value, unit or self.measure.unit, rounding, signed))

    def asked(
        self, text: str, expected: ExpectedAnswer, *also: Computed, kind: str = "", of: str = ""
    ) -> GeneratedQuestion:
        computed = ", computed" if self.measure.is_formula and not of and self.turn.name != "computed" else ""
        keys = " ".join(company.key for company in self.companies)
        about = f"{keys} {self.measure.id} {self.first}-{self.last} {of}".rstrip()
        kind = f"{kind or self.turn.name}{computed}"
        return self.turn.make_question(about, text, [*self.found, *also], expected, kind=kind)


def _drawn(turn: Turn, fits: Fits, years: int = 0, *, companies: int = 1, ends_only: bool = False) -> _Drawn:
    """Draw companies in random order, a measure, and so many years. Raises UnsuitableDrawError if a figure is missing.

    Without `years`, their number is drawn as well.
    """
    material, draw = turn.material, turn.draw
    require(len(material.companies) >= companies)
    several = companies > 1
    chosen = draw.sample(material.companies, companies) if several else [draw.choice(material.companies)]
    measure = turn.choice([measure for measure in material.measures if fits(measure)])
    known = material.years(chosen[0])
    last = draw.choice(known)
    first = last - (years or draw.choice((2, 3, 4) if several else material.spans)) + 1
    wanted = (first, last) if ends_only else range(first, last + 1)
    require(several or first in known)
    found = [each for company in chosen for each in material.computed(measure, company, wanted)]
    require(len(found) == companies * len(wanted))
    return _Drawn(turn, measure, chosen, first, last, found)


def _growing(turn: Turn) -> tuple[_Drawn, float]:
    """Draw a positive figure of two years, and return how many times the first the last is."""
    drawn = _drawn(turn, _is_stated, ends_only=True)
    before, after = drawn.values
    require(min(before, after) > 0 and after <= _MAX_TIMES * before and drawn.move())
    return drawn, after / before


def rounding_difference(found: Computed) -> float:
    """Return the difference of a stated figure from its coarsest print: 459.1 million shares are 459 million there."""
    return sum(float(abs(figure.value - round(figure.value / figure.step) * figure.step)) for figure in found.figures)


def _rounding(measure: MeasureToAsk, found: Sequence[Computed]) -> float:
    return sum(each.rounding for each in found) if measure.unit in ("USD", "shares") else 0.0


def reads_well(text: str, year: str) -> bool:
    """Return whether a year named by its last day is at a place that suits it: after `in`, `for`, a comma."""
    begins = year.split(" ", 1)[0]
    return begins != "the" or re.search(rf"(?:\b(?:in|for|of|In|For)|[,:]) {re.escape(year)}", text) is not None


# --- Between companies

_CLEAR_LEAD = 0.05
"""Relative: the first is asked for only where the second is as far behind."""
_MAX_TIMES_ANOTHER = 50


def two_companies(turn: Turn, *, fits: str, value: str) -> GeneratedQuestion:
    """Ask for the difference, the ratio or the sum of two companies' figures."""
    drawn = _ranked(turn, 2, _FITS[fits])
    (high, low), unit, rounding = drawn.values, drawn.measure.unit, _rounding(drawn.measure, drawn.found)
    if value == "ratio":
        require(low > 0 and high <= _MAX_TIMES_ANOTHER * low)
        unit, rounding = "ratio", 0.0
    if value == "difference" and unit == "percent":
        unit = "percentage points"
    expected = ExpectedAnswer(_VALUES[value](drawn.values), unit, rounding, signed=value != "difference")
    return drawn.asked(turn.text(turn.name, **drawn.named_two(), year=turn.year(drawn.last)), expected)


def highest(turn: Turn) -> GeneratedQuestion:
    """Ask which of several companies has the highest figure, or the lowest."""
    drawn = _ranked(turn, turn.draw.choice((3, 3, 4)), lambda measure: True)
    kind, place = turn.draw.choice((("highest", 0), ("highest", 0), ("lowest", -1)))
    best, company = drawn.found[place], drawn.companies[place].key
    expected = ExpectedAnswer(best.value, drawn.measure.unit, _rounding(drawn.measure, [best]), company=company)
    return drawn.asked(turn.text(kind, **drawn.named()), expected, kind=kind)


def figure_of_highest_company(turn: Turn) -> GeneratedQuestion:
    """Ask for a figure of the company with the highest other figure."""
    drawn = _ranked(turn, 3, lambda measure: True)
    material = turn.material
    other = turn.draw.choice([other for other in material.measures if other.id != drawn.measure.id])
    of_others = [each for company in drawn.companies for each in material.computed(other, company, [drawn.last])]
    require(len(of_others) == len(drawn.companies))
    found = of_others[0]
    of_both = [{figure.slot.metric for figure in each.figures} for each in (found, drawn.found[0])]
    require(of_both[0].isdisjoint(of_both[1]))
    words, was = turn.measure(other)
    text = turn.text("of_highest", **drawn.named(), other=words, other_was=was)
    expected = ExpectedAnswer(found.value, other.unit, _rounding(other, [found]))
    return drawn.asked(text, expected, found, of=other.id)


def faster(turn: Turn) -> GeneratedQuestion:
    """Ask which of two companies grew a figure faster."""
    drawn = _drawn(turn, _is_stated, companies=2, ends_only=True)
    before, after, other_before, other_after = (each.value for each in drawn.found)
    require(min(before, after, other_before, other_after) > 0)
    rates = [100 * (after / before - 1), 100 * (other_after / other_before - 1)]
    require(abs(rates[0] - rates[1]) >= 100 * _CLEAR_LEAD and max(rates) > 0)
    winner = drawn.companies[rates.index(max(rates))]
    fields = drawn.named_two()
    first, last = turn.ends(drawn.first, drawn.last)
    text = turn.text("faster", **fields, first=first, last=last)
    return drawn.asked(text, ExpectedAnswer(max(rates), "percent", company=winner.key))


def highest_over_years(turn: Turn) -> GeneratedQuestion:
    """Ask which of several companies has the highest average or total over consecutive years."""
    drawn = _drawn(turn, _FITS["flow"], companies=turn.draw.choice((2, 3)))
    years = drawn.last - drawn.first + 1
    of_each = [drawn.found[begin : begin + years] for begin in range(0, len(drawn.found), years)]
    sums = [sum(each.value for each in of_one) for of_one in of_each]
    best, second = sorted(range(len(sums)), key=lambda place: -sums[place])[:2]
    require(not _is_close(sums[best], sums[second]))
    kind, value = turn.draw.choice((("highest_total", sums[best]), ("highest_average", sums[best] / years)))
    filed = [turn.material.filed(company.key) for company in drawn.companies]
    text = turn.text(kind, **drawn.named(), span=turn.span(drawn.first, drawn.last, *filed))
    rounding = _rounding(drawn.measure, of_each[best])
    return drawn.asked(text, ExpectedAnswer(value, "USD", rounding, company=drawn.companies[best].key))


def _ranked(turn: Turn, count: int, fits: Fits) -> _Drawn:
    """Draw companies in falling order. Raises UnsuitableDrawError if a figure is missing or the ends are close."""
    drawn = _drawn(turn, fits, 1, companies=count)
    pairs = sorted(zip(drawn.companies, drawn.found, strict=True), key=lambda pair: (-pair[1].value, pair[0].key))
    values = [found.value for _, found in pairs]
    require(not _is_close(values[0], values[1]) and not _is_close(values[-2], values[-1]))
    companies, found = zip(*pairs, strict=True)
    return replace(drawn, companies=companies, found=found)


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= _CLEAR_LEAD * max(abs(one), abs(other))


# --- One segment, product or region


def figure_of_part(turn: Turn, *, quarterly: bool) -> GeneratedQuestion:
    """Ask for a part's figure of a quarter, or of a full year, the report's own or an earlier one."""
    figure = _part(turn, quarterly=quarterly)
    own = figure.slot.fiscal_year in turn.material.filed(figure.slot.company).annual
    when = "quarter" if quarterly else "own year" if own else "earlier column"
    return _of_part(turn, f"{figure.kind}, {when}", "", figure)


def growth_of_part(turn: Turn) -> GeneratedQuestion:
    """Ask for relative growth of a part's figure between two years."""
    after = _part(turn)
    ago = turn.draw.choice((1, 1, 2))
    wanted = after.slot._replace(fiscal_year=after.slot.fiscal_year - ago)
    before = next((figure for figure in turn.material.parts if figure.slot == wanted), None)
    if before is None or min(before.value, after.value) <= 0:
        raise UnsuitableDrawError
    rate = ExpectedAnswer(100 * (float(after.value / before.value) - 1), "percent")
    return _of_part(turn, f"growth of a part, {ago}", "growth_of_part", after, rate, first=wanted.fiscal_year)


def share_of_part(turn: Turn) -> GeneratedQuestion:
    """Ask for a part's share of the company's revenue, in percent."""
    figure = _part(turn)
    whole = turn.material.figures.figure(*figure.slot[:3])
    if whole is None or figure.slot.metric != "revenue" or not 0 < figure.value < whole.value:
        raise UnsuitableDrawError
    share = ExpectedAnswer(100 * float(figure.value / whole.value), "percent")
    return _of_part(turn, turn.name, "share_of_part", figure, share)


def _part(turn: Turn, *, quarterly: bool = False) -> StatedFigure:
    """Draw a company first, so that one with many parts is not asked about more often."""
    figures = [figure for figure in turn.material.parts if (figure.slot.quarter is not None) is quarterly]
    company = turn.choice(sorted({figure.slot.company for figure in figures}))
    of_company = [figure for figure in figures if figure.slot.company == company]
    chosen = turn.draw.choice(sorted({(figure.slot.part, figure.slot.metric) for figure in of_company}))
    return turn.draw.choice([figure for figure in of_company if (figure.slot.part, figure.slot.metric) == chosen])


def _of_part(
    turn: Turn,
    kind: str,
    shape: str,
    figure: StatedFigure,
    expected: ExpectedAnswer | None = None,
    first: int | None = None,
) -> GeneratedQuestion:
    """Return the question; by default the figure itself is expected."""
    slot, filed = figure.slot, turn.material.filed(figure.slot.company)
    if not shape:
        of_kind = f"revenue_of_{figure.kind}" if slot.metric == "revenue" else "of_part"
        shape = "of_segment" if figure.kind is PartKind.SEGMENT else of_kind
    begins, when = turn.ends(first or slot.fiscal_year, slot.fiscal_year, filed)
    if slot.quarter is not None:
        when = turn.quarter(slot.fiscal_year, slot.quarter)
    elif expected is None:
        when = turn.year(slot.fiscal_year, filed)
    measure, fields = _named(turn, slot.company, slot.metric)
    text = turn.text(shape, **fields, part=slot.part, year=when, first=begins, last=when)
    require(reads_well(text, when))
    found = Computed(float(figure.value), (figure,))
    answer = expected or ExpectedAnswer(found.value, measure.unit, found.rounding)
    about = " ".join(map(str, slot))
    return turn.make_question(about, text, [found], answer, kind=kind, exact=expected is None)


def _named(turn: Turn, company: str, metric: str) -> tuple[MeasureToAsk, dict[str, str]]:
    """Return the measure, and the fields that name company and measure."""
    measure = next(measure for measure in turn.material.measures if measure.id == metric)
    fields = turn.named(turn.material.workspace.directory.by_key[company], measure)
    return measure, {**fields, "measure": fields["measure"].removeprefix("total ")}


# --- All parts of one kind


def highest_part(turn: Turn) -> GeneratedQuestion:
    """Ask for the part with the largest figure of a year, or the smallest."""
    family = _family(turn)
    low = family.whole and turn.draw.random() < 1 / 3
    return _of_family(turn, "lowest_part" if low else "highest_part", family, family.values[-1 if low else 0])


def nth_part(turn: Turn) -> GeneratedQuestion:
    """Ask for the second or third largest part."""
    family = _family(turn)
    place, ordinal = turn.draw.choice(((1, "second"), (1, "second"), (2, "third")))
    return _of_family(turn, "nth_part", family, family.values[place], place=ordinal)


def fastest_part(turn: Turn) -> GeneratedQuestion:
    """Ask for the part that grew fastest, with its rate."""
    family = _family(turn)
    rate = max(_shares(turn, family, family.metric, family.year - 1)) - 100
    require(rate > 0)
    return _of_family(turn, "fastest_part", family, rate, unit="percent")


def highest_margin(turn: Turn) -> GeneratedQuestion:
    """Ask for the part with the highest operating margin."""
    family = _family(turn)
    require(family.metric == "operating_income")
    margin = max(_shares(turn, family, "revenue", family.year))
    return _of_family(turn, "highest_margin", family, margin, unit="percent")


def two_parts(turn: Turn, *, together: bool) -> GeneratedQuestion:
    """Ask for the sum of two parts, or by how much the larger exceeds the other."""
    family = _family(turn)
    pair = turn.draw.sample(sorted(family.members), 2)
    high, low = sorted(pair, key=lambda name: -family.members[name].value)
    value = float(family.members[high].value + family.members[low].value * (1 if together else -1))
    return _of_family(turn, turn.name.replace(" ", "_"), family, value, one=high, other=low)


def _family(turn: Turn) -> PartFamily:
    """Draw a company first, then one of its families."""
    families = turn.material.families
    company = turn.choice(sorted({one.company for one in families}))
    return turn.draw.choice([one for one in families if one.company == company])


def _shares(turn: Turn, family: PartFamily, metric: str, year: int) -> list[float]:
    """Return each member in percent of its figure of a metric and year. Raises UnsuitableDrawError without these."""
    wanted = family.company, family.kind, metric, year
    families = turn.material.families
    of = next((one.members for one in families if (one.company, one.kind, one.metric, one.year) == wanted), {})
    require(of.keys() == family.members.keys() and all(one.value > 0 for one in of.values()))
    return [100 * float(one.value / of[name].value) for name, one in family.members.items()]


def _of_family(
    turn: Turn, shape: str, family: PartFamily, value: float, *, unit: str = "", **fields: str
) -> GeneratedQuestion:
    measure, named = _named(turn, family.company, family.metric)
    first, last = turn.ends(family.year - 1, family.year, turn.material.filed(family.company))
    called = turn.draw.choice(read_data("wordings")["kinds"][family.kind])
    text = turn.text(shape, **named, parts=called, year=last, first=first, last=last, **fields)
    found = [Computed(float(one.value), (one,)) for one in family.members.values()]
    about = f"{family.company} {family.kind} {family.metric} {family.year} {shape} {sorted(fields.values())}"
    expected = ExpectedAnswer(value, unit or measure.unit, 0.0 if unit else sum(each.rounding for each in found))
    kind = f"{shape.removesuffix('_part')}, {family.kind}"
    return turn.make_question(about, text, found, expected, kind=kind)


# --- What the index does not hold

_YEARS_OUTSIDE = 4
"""How many years before the first and after the last one are asked about."""
_MAX_PAGES = 400


def company_absent(turn: Turn) -> GeneratedQuestion:
    """Ask about a company that is not in the index."""
    absent, material, draw = read_data("absent"), turn.material, turn.draw
    name = draw.choice(absent["companies"])
    require(not material.workspace.directory.mentions(name))
    measure = draw.choice([measure for measure in material.measures if not measure.is_formula])
    present = turn.choice(material.companies)
    year = draw.choice(material.years(present))
    words, was = turn.measure(measure)
    before, asked = turn.ends(year - 1, year)
    fields = {"company": name, "present": short_name(present), "measure": words, "was": was}
    wording = absent["absent_company"][turn.number % len(absent["absent_company"])]
    text = fill_wording(wording, **fields, year=asked, before=before)
    names = tuple(dict.fromkeys((name, name.removesuffix("'s"))))
    return turn.make_question(f"{name} {measure.id} {year}", text, missing_names=(names,))


def year_absent(turn: Turn) -> GeneratedQuestion:
    """Ask about a year before the first or after the last that is filed."""
    material = turn.material
    company, measure = turn.company_and_measure(lambda measure: measure.id in read_data("absent")["outside_periods"])
    years = material.years(company)
    around = (*range(years[0] - _YEARS_OUTSIDE, years[0]), *range(years[-1] + 1, years[-1] + _YEARS_OUTSIDE))
    year = turn.choice([year for year in around if not _may_be_there(material, company, measure.id, year)])
    fields = turn.named(company, measure)
    text = turn.text("lookup", **fields, year=turn.year(year, material.filed(company.key)))
    names = (f"FY{year}", str(year))
    return turn.make_question(f"{company.key} {measure.id} {year}", text, missing_names=(names,))


def metric_absent(turn: Turn) -> GeneratedQuestion:
    """Ask for a metric that the company does not report."""
    named, material = read_data("absent")["metrics"], turn.material
    company = turn.choice(material.companies)
    metric = turn.draw.choice([name for name in named if name in material.workspace.lexicon.metrics])
    asked = MeasureToAsk(metric, "USD", **named[metric])
    entry = material.workspace.lexicon.metrics[metric]
    labels = (label.rpartition(">")[2].strip() for label in entry.labels if " " in label)
    words = (*asked.singular, *asked.plural, metric.replace("_", " "), *entry.words, *labels)
    names = tuple(dict.fromkeys(words))
    require(metric not in material.figures.metrics(company.key) and not _is_spoken_of(material, company, names))
    year = turn.choice(material.filed(company.key).annual)
    text = turn.text("lookup", **turn.named(company, asked), year=turn.year(year))
    return turn.make_question(f"{company.key} {metric} {year}", text, missing_names=(names,))


def period_absent(turn: Turn) -> GeneratedQuestion:
    """Ask about a quarter that is not filed."""
    material = turn.material
    company, measure = turn.company_and_measure(lambda measure: measure.id in read_data("absent")["outside_periods"])
    require(material.figures.years(company.key, measure.id))
    year, quarter = turn.draw.choice(material.years(company)), turn.draw.randint(1, 4)
    filed = material.filed(company.key)
    taken = filed.covers(FiscalPeriod(fiscal_year=year, quarter=quarter)) or _has_release(material, company, year)
    # The fourth quarter ends with the year, so that an annual report has its balances.
    require(not taken and quarter < 4 and not material.figures.is_named(company.key, measure.id, year, quarter))
    text = turn.text("lookup_in_quarter", **turn.named(company, measure), year=turn.quarter(year, quarter))
    ordinal = read_data("wordings")["ordinals"][quarter]
    names = (f"Q{quarter}", f"{ordinal} quarter"), (f"FY{year}", str(year))
    return turn.make_question(f"{company.key} {measure.id} {year} Q{quarter}", text, missing_names=names)


def _may_be_there(material: QuestionMaterial, company: Company, metric: str, year: int) -> bool:
    """Return whether a figure was read for the year, or the filer may call another year so."""
    meant, _ = material.filed(company.key).resolve(FiscalPeriod(fiscal_year=year))
    return any(material.figures.is_named(company.key, metric, each) for each in {year, meant.fiscal_year})


def _has_release(material: QuestionMaterial, company: Company, year: int) -> bool:
    """Return whether an 8-K or earnings release of the company may give figures of the year."""
    identities = [material.workspace.directory.identities[doc_id] for doc_id in company.doc_ids]
    periods = [each.reported_period for each in identities if each.form in (Form.EIGHT_K, Form.EARNINGS)]
    return any(period is not None and period.fiscal_year in (year, year + 1) for period in periods)


def _is_spoken_of(material: QuestionMaterial, company: Company, names: tuple[str, ...]) -> bool:
    """Return whether a page of the company's filings contains one of a metric's names."""
    index = material.workspace.index
    for phrase in (name.casefold() for name in names):
        hits = index.search_pages(phrase.split(), doc_ids=company.doc_ids, limit=_MAX_PAGES)
        pages = index.pages([hit.key for hit in hits])
        if any(phrase in " ".join(page.page.text.casefold().split()) for page in pages):
            return True
    return False


# --- All kinds

COUNTS: Mapping[str, int] = {kind: of["count"] for kind, of in read_data("kinds").items()}
"""Default number of questions of each kind."""


def generated_questions(
    material: QuestionMaterial,
    kinds: Sequence[Family] | Sequence[QuestionKind],
    seed: int,
    *,
    counts: Mapping[str, int] = COUNTS,
) -> tuple[GeneratedQuestion, ...]:
    """Return questions of each kind; the same material and seed give the same questions.

    There are fewer than `counts` if the material has no more.
    """
    return tuple(
        question for kind in kinds for question in sample_questions(material, kind, _makers(kind), counts[kind], seed)
    )


def _makers(kind: str) -> list[tuple[str, Maker, int]]:
    """Return name, function and weight of the generators of a kind, as `kinds.yaml` lists them."""
    return [
        (name, partial(globals()[function], **dict(*given)), weight)
        for group in read_data("kinds")[kind]["generators"]
        for name, function, weight, *given in group
    ]
