"""Makers of questions about one company's years, about one figure of it, and between companies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.figures import AskedMeasure, Computed, StatedFigure, fewest_filings
from fin_agent.evaluation.generated.question import Expected, GeneratedQuestion
from fin_agent.evaluation.generated.sampling import Turn, listed, slots_of
from fin_agent.lexicon.company_names import Company

Fits = Callable[[AskedMeasure], bool]

# --- One company, several years

_LONGEST = 6
_LEAST_MOVE = 0.02
"""Relative: what moved less is no rise or fall to ask about."""
_FEWEST_YEARS_OF_A_RATE = 2


def total(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """The sum of a flow over consecutive years."""
    drawn = _years(turn, lambda measure: not measure.is_balance and measure.unit == "USD")
    return None if drawn is None else drawn.asked("total", sum(drawn.values))


def average(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """The mean of a measure over consecutive years."""
    drawn = _years(turn, lambda measure: True)
    return None if drawn is None else drawn.asked("average", sum(drawn.values) / len(drawn.values))


def change(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """By how much a figure moved between two years."""
    drawn = _years(turn, _is_stated, ends_only=True)
    if drawn is None:
        return None
    before, after = drawn.values
    if abs(after - before) < _LEAST_MOVE * abs(before):
        return None
    kind = "change" if turn.number % 3 == 0 else "increase" if after > before else "decrease"
    return drawn.asked(kind, after - before, signed=kind == "change", number=turn.number // 3)


def growth(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """Relative growth between two years."""
    drawn = _growing(turn)
    if drawn is None:
        return None
    rate, third = 100 * (drawn.values[1] / drawn.values[0] - 1), turn.number // 3
    if rate > 0 and turn.number % 3:
        return drawn.asked("growth", rate, unit="percent", number=turn.number - third - 1)
    return drawn.asked("percentage_change", rate, unit="percent", number=third)


def annual_growth(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """Compound annual growth between two years."""
    drawn = _growing(turn)
    if drawn is None:
        return None
    span = drawn.last - drawn.first
    rate = 100 * ((drawn.values[1] / drawn.values[0]) ** (1 / span) - 1)
    return None if rate < 0 or span < _FEWEST_YEARS_OF_A_RATE else drawn.asked("annual_growth", rate, unit="percent")


def _is_stated(measure: AskedMeasure) -> bool:
    return not measure.is_formula


@dataclass(frozen=True, slots=True)
class _Years:
    """A measure of a company in several years."""

    turn: Turn[Any, Any]
    company: Company
    measure: AskedMeasure
    computed: tuple[Computed, ...]
    first: int
    last: int

    @property
    def values(self) -> list[float]:
        return [each.value for each in self.computed]

    def asked(
        self, kind: str, value: float, *, unit: str = "", signed: bool = True, number: int | None = None
    ) -> GeneratedQuestion | None:
        """None where one filing covers all of it; `unit` is that of the measure where none is given."""
        turn, filed = self.turn, self.turn.material.workspace.years[self.company.key]
        filings = fewest_filings([figure for each in self.computed for figure in each.figures])
        if len(filings) < 2:
            return None
        fields = turn.named(self.company, self.measure, without=kind)
        first, last = turn.wording.ends(self.first, self.last, filed)
        span = turn.wording.span(self.first, self.last, filed)
        text = turn.text(kind, number, **fields, first=first, last=last, span=span)
        rounding = sum(each.rounding for each in self.computed) if self.measure.unit == "USD" and not unit else 0.0
        label = {"increase": "change", "decrease": "change", "percentage_change": "growth"}.get(kind, kind)
        return GeneratedQuestion(
            id=f"{self.company.key} {self.measure.id} {self.first}-{self.last}",
            family=Family.MULTI_FILING,
            kind=_kind(label, self.measure),
            text=text,
            slots=slots_of(self.computed),
            filings=filings,
            expected=Expected(value, unit or self.measure.unit, rounding, signed),
        )


def _growing(turn: Turn[Any, Any]) -> _Years | None:
    drawn = _years(turn, _is_stated, ends_only=True)
    if drawn is None or min(drawn.values) <= 0:
        return None
    before, after = drawn.values
    return drawn if abs(after / before - 1) > _LEAST_MOVE else None


def _years(turn: Turn[Any, Any], fits: Fits, *, ends_only: bool = False) -> _Years | None:
    company, measure = turn.company_and_measure(fits)
    years = turn.material.years(company)
    if len(years) < 2:
        return None
    first = turn.draw.choice(years[:-1])
    last = first + turn.draw.randint(1, _LONGEST - 1)
    wanted = (first, last) if ends_only else range(first, last + 1)
    computed = turn.material.all_computed(measure, company, wanted)
    return _Years(turn, company, measure, computed, first, last) if computed and last in years else None


def _kind(kind: str, measure: AskedMeasure) -> str:
    return (f"{kind}, computed" if measure.is_formula else kind).replace("_", " ")


# --- One figure of a company


def own_year(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """A figure of the year that an annual report is of."""
    return _of_a_year(turn, "lookup, own year", own=True)


def earlier_year(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """A figure that stands in an earlier year's column."""
    return _of_a_year(turn, "lookup, earlier column", own=False)


def of_a_quarter(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """A figure of a quarter, or of its end."""
    if not turn.material.quarterly:
        return None
    company, measure = turn.company_and_measure(_is_stated, turn.material.quarterly)
    figures = turn.material.figures
    quarters = figures.quarters(company.key, measure.id)
    if not quarters:
        return None
    year, quarter = turn.draw.choice(quarters)
    figure = figures.figure(company.key, measure.id, year, quarter)
    whole = figures.figure(company.key, measure.names.whole or "", year, quarter)
    if figure is None or (whole is not None and whole.value != figure.value):
        return None
    fields = turn.named(company, measure)
    text = turn.text("lookup_in_quarter", **fields, year=turn.wording.quarter(year, quarter))
    found = Computed(float(figure.value), (figure,))
    return _looked_up("lookup, quarter", company, measure, f"{year} Q{quarter}", text, found)


def _of_a_year(turn: Turn[Any, Any], kind: str, *, own: bool) -> GeneratedQuestion | None:
    company, measure = turn.company_and_measure(_is_stated)
    filed = turn.material.workspace.years[company.key]
    years = [year for year in turn.material.years(company) if (year in filed.annual) is own]
    if not years:
        return None
    year = turn.draw.choice(years)
    found = turn.material.computed(measure, company, year)
    if found is None:
        return None
    text = turn.text("lookup", **turn.named(company, measure), year=turn.wording.year(year, filed))
    return _looked_up(kind, company, measure, str(year), text, found)


def _looked_up(
    kind: str, company: Company, measure: AskedMeasure, when: str, text: str, found: Computed
) -> GeneratedQuestion:
    return GeneratedQuestion(
        id=f"{company.key} {measure.id} {when}",
        family=Family.LOOKUP,
        kind=kind,
        text=text,
        slots=slots_of([found]),
        filings=fewest_filings(found.figures),
        expected=Expected(found.value, measure.unit, found.rounding if measure.unit in ("USD", "shares") else 0.0),
    )


# --- Between companies

_CLEAR_LEAD = 0.05
"""Relative: the first is asked for only where the second is as far behind."""
_MOST_TIMES = 50
_SPANS = (2, 3, 4)


def difference(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """How much more one company has than another."""
    drawn = _ranked(turn, 2, lambda measure: True)
    if drawn is None:
        return None
    unit = "percentage points" if drawn.measure.unit == "percent" else drawn.measure.unit
    (_, high), (_, low) = drawn.ranked
    return drawn.of_two("difference", Expected(high.value - low.value, unit, drawn.rounding, signed=False))


def ratio(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """How many times another company's figure."""
    drawn = _ranked(turn, 2, lambda measure: measure.unit == "USD")
    if drawn is None:
        return None
    (_, high), (_, low) = drawn.ranked
    if low.value <= 0 or high.value > _MOST_TIMES * low.value:
        return None
    return drawn.of_two("ratio", Expected(high.value / low.value, "ratio"))


def combined(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """The figures of two companies added up."""
    drawn = _ranked(turn, 2, lambda measure: measure.unit == "USD" and not measure.is_formula)
    if drawn is None:
        return None
    (_, one), (_, other) = drawn.ranked
    return drawn.of_two("combined", Expected(one.value + other.value, drawn.measure.unit, drawn.rounding))


def highest(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """Which of several companies has the highest figure, or the lowest."""
    drawn = _ranked(turn, turn.draw.choice((3, 3, 4)), lambda measure: True)
    if drawn is None:
        return None
    lowest, number = turn.number % 3 == 2, turn.number // 3
    winner, computed = drawn.ranked[-1] if lowest else drawn.ranked[0]
    rounding = computed.rounding if drawn.measure.unit == "USD" else 0.0
    expected = Expected(computed.value, drawn.measure.unit, rounding, company=winner.key)
    kind = "lowest" if lowest else "highest"
    names, fields = _several(turn, drawn.companies, drawn.measure, drawn.year)
    text = turn.text(kind, number if lowest else turn.number - number, **fields)
    return _between(kind, drawn.measure, drawn.year, names, text, drawn.computed, expected)


def of_highest(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """A figure of whichever company has the highest other figure."""
    drawn = _ranked(turn, 3, lambda measure: True)
    if drawn is None:
        return None
    material = turn.material
    other = turn.draw.choice([other for other in material.measures if other.id != drawn.measure.id])
    of_others = [material.computed(other, company, drawn.year) for company in drawn.companies]
    found = of_others[0]
    if found is None or None in of_others or _share_inputs(found, drawn.computed[0]):
        return None
    words, was = turn.wording.measure(other)
    names, fields = _several(turn, drawn.companies, drawn.measure, drawn.year)
    text = turn.text("of_highest", **fields, other=words, other_was=was)
    expected = Expected(found.value, other.unit, found.rounding if other.unit == "USD" else 0.0)
    computed = [*drawn.computed, found]
    return _between("of highest", drawn.measure, drawn.year, names, text, computed, expected, other.id)


def faster(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """Which of two companies grew a figure faster."""
    material, draw = turn.material, turn.draw
    measure = draw.choice([measure for measure in material.measures if _is_stated(measure)])
    companies = draw.sample(material.companies, min(2, len(material.companies)))
    last = draw.choice(material.years(companies[0]))
    first = last - draw.choice(_SPANS)
    known = [each for company in companies for each in material.all_computed(measure, company, (first, last))]
    if len(known) < 4 or min(each.value for each in known) <= 0:
        return None
    rates = [100 * (known[1].value / known[0].value - 1), 100 * (known[3].value / known[2].value - 1)]
    if abs(rates[0] - rates[1]) < 100 * _CLEAR_LEAD or max(rates) <= 0:
        return None
    winner = companies[0] if rates[0] > rates[1] else companies[1]
    a, b = turn.wording.names(companies)
    words, was = turn.wording.measure(measure)
    begins, ends = turn.wording.ends(first, last)
    text = turn.text("faster", a=a, b=b, measure=words, was=was, first=begins, last=ends)
    expected = Expected(max(rates), "percent", company=winner.key)
    return _between("faster", measure, last, companies, text, known, expected)


def highest_over_years(turn: Turn[Any, Any]) -> GeneratedQuestion | None:
    """Which of several companies has the highest average or total over consecutive years."""
    material, draw = turn.material, turn.draw
    companies = draw.sample(material.companies, min(draw.choice((2, 3)), len(material.companies)))
    measure = draw.choice([each for each in material.measures if each.unit == "USD" and not each.is_balance])
    last = draw.choice(material.years(companies[0]))
    first = last - draw.choice(_SPANS) + 1
    found = {each.key: material.all_computed(measure, each, range(first, last + 1)) for each in companies}
    if not all(found.values()):
        return None
    sums = {key: sum(each.value for each in computed) for key, computed in found.items()}
    best, second = sorted(sums, key=lambda key: (-sums[key], key))[:2]
    if _is_close(sums[best], sums[second]):
        return None
    kind = "highest_average" if turn.number % 2 else "highest_total"
    names, fields = _several(turn, companies, measure, last)
    span = turn.wording.span(first, last, *(material.workspace.years[company.key] for company in companies))
    text = turn.text(kind, turn.number // 2, **fields, span=span)
    value = sums[best] / (last - first + 1 if turn.number % 2 else 1)
    expected = Expected(value, measure.unit, sum(each.rounding for each in found[best]), company=best)
    computed = [each for key in sums for each in found[key]]
    return _between("highest over years", measure, last, names, text, computed, expected)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A measure of one year, of companies in falling order."""

    turn: Turn[Any, Any]
    measure: AskedMeasure
    year: int
    ranked: Sequence[tuple[Company, Computed]]

    @property
    def companies(self) -> list[Company]:
        return [company for company, _ in self.ranked]

    @property
    def computed(self) -> list[Computed]:
        return [computed for _, computed in self.ranked]

    @property
    def rounding(self) -> float:
        return sum(each.rounding for each in self.computed) if self.measure.unit == "USD" else 0.0

    def of_two(self, kind: str, expected: Expected) -> GeneratedQuestion:
        wording = self.turn.wording
        a, b = wording.names(self.companies)
        words, was = wording.measure(self.measure)
        text = self.turn.text(kind, a=a, b=b, measure=words, was=was, year=wording.year(self.year))
        return _between(kind, self.measure, self.year, self.companies, text, self.computed, expected)


def _ranked(turn: Turn[Any, Any], count: int, fits: Fits) -> _Ranked | None:
    """None where a figure is lacking or the ends are close."""
    material, draw = turn.material, turn.draw
    if len(material.companies) < count:
        return None
    companies = draw.sample(material.companies, count)
    measure = draw.choice([measure for measure in material.measures if fits(measure)])
    year = draw.choice(material.years(companies[0]))
    found = [(company, computed) for company in companies if (computed := material.computed(measure, company, year))]
    if len(found) < count:
        return None
    found.sort(key=lambda pair: (-pair[1].value, pair[0].key))
    values = [computed.value for _, computed in found]
    if _is_close(values[0], values[1]) or _is_close(values[-2], values[-1]):
        return None
    return _Ranked(turn, measure, year, found)


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= _CLEAR_LEAD * max(abs(one), abs(other))


def _share_inputs(one: Computed, other: Computed) -> bool:
    return bool({figure.metric for figure in one.figures} & {figure.metric for figure in other.figures})


def _several(
    turn: Turn[Any, Any], companies: Sequence[Company], measure: AskedMeasure, year: int
) -> tuple[list[Company], dict[str, str]]:
    """The companies in some order, and the fields that name them, the measure and the year."""
    mixed = turn.draw.sample(companies, len(companies))
    names = turn.wording.names(mixed)
    words, was = turn.wording.measure(measure)
    fields = {"companies": listed(names), "either": listed(names, "or"), "measure": words, "was": was}
    return mixed, {**fields, "year": turn.wording.year(year)}


def _between(
    kind: str,
    measure: AskedMeasure,
    year: int,
    companies: Sequence[Company],
    text: str,
    computed: Sequence[Computed],
    expected: Expected,
    of: str = "",
) -> GeneratedQuestion:
    figures: list[StatedFigure] = [figure for each in computed for figure in each.figures]
    return GeneratedQuestion(
        id=f"{' '.join(company.key for company in companies)} {measure.id} {year} {of}".rstrip(),
        family=Family.MULTI_FILING,
        kind=kind if of else _kind(kind, measure),
        text=text,
        slots=slots_of(computed),
        filings=fewest_filings(figures),
        expected=expected,
    )
