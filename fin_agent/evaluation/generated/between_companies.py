"""Questions between companies: differences, ratios, who has the most, and a figure of whoever has the most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.drawing import Material, Wording, listed, slots_of_computed
from fin_agent.evaluation.generated.figures import AskedMeasure, Computed, fewest_filings
from fin_agent.evaluation.generated.question import Expected, GeneratedQuestion
from fin_agent.lexicon.company_names import Company

_CLEAR_LEAD = 0.05
"""Relative: the first is asked for only where the second is as far behind."""
_MOST_TIMES = 50
_SPANS = (2, 3, 4)


def difference(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """How much more one company has than another."""
    drawn = _ranked(material, draw, 2, lambda measure: True)
    if drawn is None:
        return None
    measure, year, ranked = drawn
    (more, high), (less, low) = ranked
    unit = "percentage points" if measure.unit == "percent" else measure.unit
    rounding = high.rounding + low.rounding if measure.unit == "USD" else 0.0
    expected = Expected(high.value - low.value, unit, rounding, signed=False)
    return _of_two("difference", wording, turn, measure, year, (more, less), (high, low), expected)


def ratio(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """How many times another company's figure."""
    drawn = _ranked(material, draw, 2, lambda measure: measure.unit == "USD")
    if drawn is None:
        return None
    measure, year, ranked = drawn
    (more, high), (less, low) = ranked
    if low.value <= 0 or high.value > _MOST_TIMES * low.value:
        return None
    expected = Expected(high.value / low.value, "ratio")
    return _of_two("ratio", wording, turn, measure, year, (more, less), (high, low), expected)


def highest(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """Which of several companies has the highest figure, or the lowest."""
    drawn = _ranked(material, draw, draw.choice((3, 3, 4)), lambda measure: True)
    if drawn is None:
        return None
    measure, year, ranked = drawn
    lowest = turn % 3 == 2
    winner, computed = ranked[-1] if lowest else ranked[0]
    expected = Expected(
        computed.value, measure.unit, computed.rounding if measure.unit == "USD" else 0.0, company=winner.key
    )
    names, fields = _several(draw, wording, [company for company, _ in ranked], measure, year)
    kind = "lowest" if lowest else "highest"
    text = wording.text(kind, turn // 3 if lowest else turn - turn // 3, **fields)
    return _made(kind, measure, year, names, text, [each for _, each in ranked], expected)


def of_highest(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """A figure of whichever company has the highest other figure."""
    drawn = _ranked(material, draw, 3, lambda measure: True)
    if drawn is None:
        return None
    measure, year, ranked = drawn
    other = draw.choice([other for other in material.measures if other.id != measure.id])
    of_others = [material.computed(other, company, year) for company, _ in ranked]
    found = of_others[0]
    if found is None or any(each is None for each in of_others) or _share_inputs(found, ranked[0][1]):
        return None
    words, was = wording.measure(other)
    names, fields = _several(draw, wording, [company for company, _ in ranked], measure, year)
    text = wording.text("of_highest", turn, **fields, other=words, other_was=was)
    expected = Expected(found.value, other.unit, found.rounding if other.unit == "USD" else 0.0)
    asked = _made("of highest", measure, year, names, text, [*(each for _, each in ranked), found], expected)
    of_all = slots_of_computed(*(each for each in of_others if each is not None))
    return replace(asked, kind="of highest", id=f"{asked.id} {other.id}", may_need=of_all)


def faster(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """Which of two companies grew a figure faster."""
    measure = draw.choice([measure for measure in material.measures if not measure.is_formula])
    companies = draw.sample(material.companies, min(2, len(material.companies)))
    last = draw.choice(material.years(companies[0]))
    first = last - draw.choice(_SPANS)
    computed = [material.computed(measure, company, year) for company in companies for year in (first, last)]
    known = [each for each in computed if each is not None and each.value > 0]
    if len(known) < 4:
        return None
    rates = [100 * (known[1].value / known[0].value - 1), 100 * (known[3].value / known[2].value - 1)]
    if abs(rates[0] - rates[1]) < 100 * _CLEAR_LEAD or max(rates) <= 0:
        return None
    winner = companies[0] if rates[0] > rates[1] else companies[1]
    a, b = wording.names(companies)
    words, was = wording.measure(measure)
    begins, ends = wording.ends(first, last)
    text = wording.text("faster", turn, a=a, b=b, measure=words, was=was, first=begins, last=ends)
    expected = Expected(max(rates), "percent", company=winner.key)
    return _made("faster", measure, last, companies, text, known, expected)


def combined(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """The figures of two companies added up."""
    drawn = _ranked(material, draw, 2, lambda measure: measure.unit == "USD" and not measure.is_formula)
    if drawn is None:
        return None
    measure, year, ((one, first), (other, second)) = drawn
    expected = Expected(first.value + second.value, measure.unit, first.rounding + second.rounding)
    return _of_two("combined", wording, turn, measure, year, (one, other), (first, second), expected)


def highest_over_years(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    """Which of several companies has the highest average or total over consecutive years."""
    companies = draw.sample(material.companies, min(draw.choice((2, 3)), len(material.companies)))
    measure = draw.choice([each for each in material.measures if each.unit == "USD" and not each.is_balance])
    last = draw.choice(material.years(companies[0]))
    first = last - draw.choice(_SPANS) + 1
    found: dict[str, list[Computed]] = {}
    for company in companies:
        computed = [material.computed(measure, company, year) for year in range(first, last + 1)]
        found[company.key] = [each for each in computed if each is not None]
        if len(found[company.key]) < len(computed):
            return None
    sums = {company.key: sum(each.value for each in found[company.key]) for company in companies}
    best, second = sorted(sums, key=lambda key: (-sums[key], key))[:2]
    if sums[best] - sums[second] <= _CLEAR_LEAD * max(abs(sums[best]), abs(sums[second])):
        return None
    kind = "highest_average" if turn % 2 else "highest_total"
    names, fields = _several(draw, wording, companies, measure, last)
    span = wording.span(first, last, *(material.workspace.years[company.key] for company in companies))
    text = wording.text(kind, turn // 2, **fields, span=span)
    value = sums[best] / (last - first + 1 if turn % 2 else 1)
    rounding = sum(each.rounding for each in found[best])
    expected = Expected(value, measure.unit, rounding, company=best)
    return _made(
        "highest over years", measure, last, names, text, [each for key in sums for each in found[key]], expected
    )


_Ranked = list[tuple[Company, Computed]]


def _ranked(
    material: Material, draw: Random, count: int, fits: Callable[[AskedMeasure], bool]
) -> tuple[AskedMeasure, int, _Ranked] | None:
    """A measure and year, and companies in falling order; None where a figure is lacking or the ends are close."""
    if len(material.companies) < count:
        return None
    companies = draw.sample(material.companies, count)
    measure = draw.choice([measure for measure in material.measures if fits(measure)])
    year = draw.choice(material.years(companies[0]))
    found: _Ranked = []
    for company in companies:
        computed = material.computed(measure, company, year)
        if computed is None:
            return None
        found.append((company, computed))
    found.sort(key=lambda pair: (-pair[1].value, pair[0].key))
    values = [computed.value for _, computed in found]
    for one, other in ((values[0], values[1]), (values[-2], values[-1])):
        if abs(one - other) <= _CLEAR_LEAD * max(abs(one), abs(other)):
            return None
    return measure, year, found


def _share_inputs(one: Computed, other: Computed) -> bool:
    return bool({figure.metric for figure in one.figures} & {figure.metric for figure in other.figures})


def _of_two(
    kind: str,
    wording: Wording,
    turn: int,
    measure: AskedMeasure,
    year: int,
    companies: tuple[Company, Company],
    computed: Sequence[Computed],
    expected: Expected,
) -> GeneratedQuestion:
    a, b = wording.names(companies)
    words, was = wording.measure(measure)
    text = wording.text(kind, turn, a=a, b=b, measure=words, was=was, year=wording.year(year))
    return _made(kind, measure, year, companies, text, computed, expected)


def _several(
    draw: Random, wording: Wording, companies: Sequence[Company], measure: AskedMeasure, year: int
) -> tuple[list[Company], dict[str, str]]:
    """The companies in some order, and the fields that name them, the measure and the year."""
    mixed = draw.sample(companies, len(companies))
    names = wording.names(mixed)
    words, was = wording.measure(measure)
    fields = {"companies": listed(names), "either": listed(names, "or"), "measure": words, "was": was}
    return mixed, {**fields, "year": wording.year(year)}


def _made(
    kind: str,
    measure: AskedMeasure,
    year: int,
    companies: Sequence[Company],
    text: str,
    computed: Sequence[Computed],
    expected: Expected,
) -> GeneratedQuestion:
    label = f"{kind}, computed" if measure.is_formula else kind
    return GeneratedQuestion(
        id=f"{' '.join(company.key for company in companies)} {measure.id} {year}",
        family=Family.MULTI_FILING,
        kind=label.replace("_", " "),
        text=text,
        slots=slots_of_computed(*computed),
        filings=fewest_filings([figure for each in computed for figure in each.figures]),
        expected=expected,
    )
