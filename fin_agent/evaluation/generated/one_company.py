"""Questions about one company: one printed figure, and what its years come to that no single filing covers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.drawing import Material, Wording, made, slots_of_computed
from fin_agent.evaluation.generated.figures import AskedMeasure, Computed, StatedFigure, fewest_filings, shares
from fin_agent.evaluation.generated.question import Expected, GeneratedQuestion, SlotKey
from fin_agent.lexicon.company_names import Company

_LONGEST = 6
_LEAST_MOVE = 0.02
"""Relative: what moved less is no rise or fall to ask about."""
_FEWEST_YEARS_OF_A_RATE = 2


def total(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """The sum of a flow over consecutive years."""
    drawn = _drawn(material, draw, lambda measure: not measure.is_balance and measure.unit == "USD")
    if drawn is None:
        return None
    company, measure, computed, first, last = drawn
    value = sum(each.value for each in computed)
    expected = Expected(value, measure.unit, sum(each.rounding for each in computed))
    return _over_years("total", material, draw, wording, turn, company, measure, computed, (first, last), expected)


def average(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """The mean of a measure over consecutive years."""
    drawn = _drawn(material, draw, lambda measure: True)
    if drawn is None:
        return None
    company, measure, computed, first, last = drawn
    expected = Expected(
        sum(each.value for each in computed) / len(computed), measure.unit, _rounding(measure, computed)
    )
    return _over_years("average", material, draw, wording, turn, company, measure, computed, (first, last), expected)


def change(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """By how much a figure moved between two years."""
    drawn = _drawn(material, draw, lambda measure: not measure.is_formula, ends_only=True)
    if drawn is None:
        return None
    company, measure, (before, after), first, last = drawn
    moved = after.value - before.value
    if abs(moved) < _LEAST_MOVE * abs(before.value):
        return None
    kind = "change" if turn % 3 == 0 else "increase" if moved > 0 else "decrease"
    expected = Expected(moved, measure.unit, _rounding(measure, (before, after)), signed=kind == "change")
    return _over_years(
        kind, material, draw, wording, turn // 3, company, measure, (before, after), (first, last), expected
    )


def growth(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """Relative growth between two years."""
    drawn = _growing(material, draw)
    if drawn is None:
        return None
    company, measure, (before, after), first, last = drawn
    rate = 100 * (after.value / before.value - 1)
    kind = "growth" if rate > 0 and turn % 3 else "percentage_change"
    turn = turn - turn // 3 - 1 if kind == "growth" else turn // 3
    expected = Expected(rate, "percent")
    return _over_years(kind, material, draw, wording, turn, company, measure, (before, after), (first, last), expected)


def annual_growth(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """Compound annual growth between two years."""
    drawn = _growing(material, draw)
    if drawn is None:
        return None
    company, measure, ends, first, last = drawn
    rate = 100 * ((ends[1].value / ends[0].value) ** (1 / (last - first)) - 1)
    if rate < 0 or last - first < _FEWEST_YEARS_OF_A_RATE:
        return None
    expected = Expected(rate, "percent")
    return _over_years("annual_growth", material, draw, wording, turn, company, measure, ends, (first, last), expected)


_Drawn = tuple[Company, AskedMeasure, tuple[Computed, ...], int, int]


def _growing(material: Material, draw: Random) -> _Drawn | None:
    drawn = _drawn(material, draw, lambda measure: not measure.is_formula, ends_only=True)
    if drawn is None or min(drawn[2][0].value, drawn[2][1].value) <= 0:
        return None
    before, after = drawn[2]
    return drawn if abs(after.value / before.value - 1) > _LEAST_MOVE else None


def _drawn(
    material: Material, draw: Random, fits: Callable[[AskedMeasure], bool], *, ends_only: bool = False
) -> _Drawn | None:
    company = draw.choice(material.companies)
    measure = draw.choice([measure for measure in material.measures if fits(measure)])
    years = material.years(company)
    if len(years) < 2:
        return None
    first = draw.choice(years[:-1])
    last = first + draw.randint(1, _LONGEST - 1)
    wanted = (first, last) if ends_only else range(first, last + 1)
    computed = tuple(
        each for each in (material.computed(measure, company, year) for year in wanted) if each is not None
    )
    if len(computed) < len(wanted) or last not in years:
        return None
    return company, measure, computed, first, last


def _rounding(measure: AskedMeasure, computed: Sequence[Computed]) -> float:
    return sum(each.rounding for each in computed) if measure.unit == "USD" else 0.0


def _over_years(
    kind: str,
    material: Material,
    draw: Random,
    wording: Wording,
    turn: int,
    company: Company,
    measure: AskedMeasure,
    computed: Sequence[Computed],
    years: tuple[int, int],
    expected: Expected,
) -> GeneratedQuestion | None:
    """None where one filing covers all of it."""
    figures = [figure for each in computed for figure in each.figures]
    filings = fewest_filings(figures)
    if len(filings) < 2:
        return None
    (name,) = wording.names([company])
    words, was = wording.measure(measure, without=kind)
    first, last = wording.ends(*years, material.workspace.years[company.key])
    span = wording.span(*years, material.workspace.years[company.key])
    text = wording.text(kind, turn, company=name, measure=words, was=was, first=first, last=last, span=span)
    label = {"increase": "change", "decrease": "change", "percentage_change": "growth"}.get(kind, kind)
    label = f"{label}, computed" if measure.is_formula else label
    return GeneratedQuestion(
        id=f"{company.key} {measure.id} {years[0]}-{years[1]}",
        family=Family.MULTI_FILING,
        kind=label.replace("_", " "),
        text=text,
        slots=slots_of_computed(*computed),
        filings=filings,
        expected=expected,
    )


_OWN, _PRIOR, _QUARTER = 6, 5, 1
"""Weights: figures of a filing's own year, of an earlier year's column, of a quarter's report."""


def lookup_questions(material: Material, count: int, seed: int) -> tuple[GeneratedQuestion, ...]:
    """`count` questions; fewer where the index holds no more."""
    quarterly = _QUARTER if any(_quarters(material, company) for company in material.companies) else 0
    own, prior, quarter = shares([_OWN, _PRIOR, quarterly], count)
    return (
        *made(material, "lookup, own year", _own_year, own, seed),
        *made(material, "lookup, earlier column", _earlier_column, prior, seed),
        *made(material, "lookup, quarter", of_a_quarter, quarter, seed),
    )


def _own_year(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    return _of_a_year(material, draw, wording, turn, own=True)


def _earlier_column(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    return _of_a_year(material, draw, wording, turn, own=False)


def _of_a_year(material: Material, draw: Random, wording: Wording, turn: int, *, own: bool) -> GeneratedQuestion | None:
    company = draw.choice(material.companies)
    measure = draw.choice([measure for measure in material.measures if not measure.is_formula])
    filed = material.workspace.years[company.key].annual
    years = [year for year in material.years(company) if (year in filed) is own]
    if not years:
        return None
    year = draw.choice(years)
    computed = material.computed(measure, company, year)
    if computed is None:
        return None
    (name,) = wording.names([company])
    words, was = wording.measure(measure)
    when = wording.year(year, material.workspace.years[company.key])
    text = wording.text("lookup", turn, company=name, measure=words, was=was, year=when)
    kind = "lookup, own year" if own else "lookup, earlier column"
    return _looked_up(kind, company, measure, str(year), text, computed.value, computed.figures)


def of_a_quarter(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """A figure of a quarter, or of its end."""
    if not material.quarterly:
        return None
    company = draw.choice(material.quarterly)
    measure = draw.choice([measure for measure in material.measures if not measure.is_formula])
    quarters = material.figures.quarters(company.key, measure.id)
    if not quarters:
        return None
    year, quarter = draw.choice(quarters)
    figure = material.figures.figure(company.key, measure.id, year, quarter)
    whole = material.figures.figure(company.key, measure.names.whole or "", year, quarter)
    if figure is None or (whole is not None and whole.value != figure.value):
        return None
    (name,) = wording.names([company])
    words, was = wording.measure(measure)
    when = wording.quarter(year, quarter)
    text = wording.text("lookup_in_quarter", turn, company=name, measure=words, was=was, year=when)
    when = f"{year} Q{quarter}"
    return _looked_up("lookup, quarter", company, measure, when, text, float(figure.value), (figure,))


def _quarters(material: Material, company: Company) -> bool:
    return any(material.figures.quarters(company.key, measure.id) for measure in material.measures)


def _looked_up(
    kind: str,
    company: Company,
    measure: AskedMeasure,
    when: str,
    text: str,
    value: float,
    figures: tuple[StatedFigure, ...],
) -> GeneratedQuestion:
    rounding = sum(float(figure.scale) for figure in figures) if measure.unit in ("USD", "shares") else 0.0
    return GeneratedQuestion(
        id=f"{company.key} {measure.id} {when}",
        family=Family.LOOKUP,
        kind=kind,
        text=text,
        slots=tuple(
            sorted({SlotKey(each.company, each.metric, each.fiscal_year, each.quarter) for each in figures}, key=str)
        ),
        filings=fewest_filings(list(figures)),
        expected=Expected(value, measure.unit, rounding),
    )
