"""Questions about tagged figures: of one company, and of its segments, products and regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.drawing import slots_of_computed
from fin_agent.evaluation.generated.figures import AskedMeasure, Computed, fewest_filings
from fin_agent.evaluation.generated.question import Expected, GeneratedQuestion
from fin_agent.evaluation.tagged_questions.figures import PartFigure, PartKind
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial, TaggedWording, reads_well, years_of
from fin_agent.lexicon.company_names import Company


def own_year(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """A figure of the year that an annual report is of."""
    return _of_a_year(material, draw, wording, turn, own=True)


def earlier_year(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """A figure that stands in an earlier year's column."""
    return _of_a_year(material, draw, wording, turn, own=False)


def computed(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """A margin or ratio of one year."""
    drawn = _drawn(material, draw, lambda measure: measure.is_formula, years=1)
    if drawn is None:
        return None
    company, measure, (found,), year = drawn
    when = wording.year(year, material.workspace.years[company.key])
    fields = _named(wording, company, measure)
    text = wording.own_text("computed", turn, **fields, year=when)
    expected = Expected(found.value, measure.unit, _rounding(measure, found.rounding))
    return _made("computed", company, measure, [found], year, text, expected)


def growth(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """Relative growth between two years."""
    drawn = _drawn(material, draw, lambda measure: not measure.is_formula, years=draw.choice((2, 2, 3)), ends_only=True)
    if drawn is None or not _moves(*drawn[2]):
        return None
    company, measure, (before, after), last = drawn
    first = min(figure.fiscal_year for figure in before.figures)
    rate = 100 * (after.value / before.value - 1)
    begins, ends = wording.ends(first, last, material.workspace.years[company.key])
    fields = {**_named(wording, company, measure), "first": begins, "last": ends}
    if last - first == 1 and turn % 2:
        text = wording.own_text("year_over_year", turn // 2, **fields)
    else:
        kind = "growth" if rate > 0 and turn % 4 else "percentage_change"
        text = wording.text(kind, turn // 2, **fields)
    return _made("growth", company, measure, [before, after], last, text, Expected(rate, "percent"))


def change(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """By how much a figure moved between two years."""
    drawn = _drawn(material, draw, lambda measure: not measure.is_formula, years=draw.choice((2, 3)), ends_only=True)
    if drawn is None or not _moves(*drawn[2]) or drawn[1].unit != "USD":
        return None
    company, measure, (before, after), last = drawn
    first = min(figure.fiscal_year for figure in before.figures)
    moved = after.value - before.value
    kind = "change" if turn % 3 == 0 else "increase" if moved > 0 else "decrease"
    begins, ends = wording.ends(first, last, material.workspace.years[company.key])
    fields = _named(wording, company, measure, without=kind)
    text = wording.text(kind, turn // 3, **fields, first=begins, last=ends)
    rounding = before.rounding + after.rounding
    expected = Expected(moved, measure.unit, rounding, signed=kind == "change")
    return _made("change", company, measure, [before, after], last, text, expected)


def annual_growth(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """Compound annual growth over the years that a filing shows."""
    drawn = _drawn(material, draw, lambda measure: not measure.is_formula, years=3, ends_only=True)
    if drawn is None or not _moves(*drawn[2]):
        return None
    company, measure, (before, after), last = drawn
    first = min(figure.fiscal_year for figure in before.figures)
    rate = 100 * ((after.value / before.value) ** (1 / (last - first)) - 1)
    if rate < 0:
        return None
    begins, ends = wording.ends(first, last, material.workspace.years[company.key])
    text = wording.text("annual_growth", turn, **_named(wording, company, measure), first=begins, last=ends)
    return _made("annual growth", company, measure, [before, after], last, text, Expected(rate, "percent"))


def total(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """The sum of a flow over two or three years."""
    drawn = _drawn(
        material, draw, lambda each: not each.is_balance and each.unit == "USD", years=draw.choice((2, 3, 3))
    )
    return None if drawn is None else _over_years("total", material, wording, turn, *drawn)


def average(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """The mean of a measure over two or three years."""
    drawn = _drawn(material, draw, lambda each: True, years=draw.choice((2, 3, 3)))
    return None if drawn is None else _over_years("average", material, wording, turn, *drawn)


_LEAST_MOVE = 0.005
"""Relative: what moved less has hardly changed."""
_MOST_TIMES = 20


def _of_a_year(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int, *, own: bool
) -> GeneratedQuestion | None:
    drawn = _drawn(material, draw, lambda measure: not measure.is_formula, years=1)
    if drawn is None:
        return None
    company, measure, (found,), year = drawn
    filed = material.workspace.years[company.key]
    if (year in filed.annual) is not own:
        return None
    fields = {**_named(wording, company, measure), "year": wording.year(year, filed)}
    day = wording.last_day(year, filed)
    if measure.is_balance and day is not None and turn % 2:
        fields["year"] = wording.ends(year, year, filed)[0]
        text = wording.own_text("balance", turn // 2, **fields, day=day)
    else:
        text = wording.text("lookup", turn, **fields)
    if not reads_well(text, fields["year"]):
        return None
    kind = "lookup, own year" if own else "lookup, earlier column"
    expected = Expected(found.value, measure.unit, _rounding(measure, found.rounding))
    return _made(kind, company, measure, [found], year, text, expected)


_Drawn = tuple[Company, AskedMeasure, tuple[Computed, ...], int]


def _drawn(
    material: TaggedMaterial,
    draw: Random,
    fits: Callable[[AskedMeasure], bool],
    *,
    years: int,
    ends_only: bool = False,
) -> _Drawn | None:
    """A company, a measure, its figures in consecutive years (or the first and last of them), and the last year."""
    if not material.companies:
        return None
    company = draw.choice(material.companies)
    measure = draw.choice([each for each in material.measures if fits(each)])
    known = years_of(material, company)
    if len(known) < years:
        return None
    last = draw.choice(known[years - 1 :])
    wanted = (last - years + 1, last) if ends_only else range(last - years + 1, last + 1)
    found = [each for each in (material.computed(measure, company, year) for year in wanted) if each is not None]
    return (company, measure, tuple(found), last) if len(found) == len(wanted) else None


def _moves(before: Computed, after: Computed) -> bool:
    return (
        min(before.value, after.value) > 0
        and abs(after.value / before.value - 1) > _LEAST_MOVE
        and after.value < _MOST_TIMES * before.value
    )


def _over_years(
    kind: str,
    material: TaggedMaterial,
    wording: TaggedWording,
    turn: int,
    company: Company,
    measure: AskedMeasure,
    found: Sequence[Computed],
    last: int,
) -> GeneratedQuestion:
    filed = material.workspace.years[company.key]
    begins, ends = wording.ends(last - len(found) + 1, last, filed)
    span = wording.span(last - len(found) + 1, last, filed)
    fields = _named(wording, company, measure, without=kind)
    text = wording.text(kind, turn, **fields, first=begins, last=ends, span=span)
    value = sum(each.value for each in found) / (len(found) if kind == "average" else 1)
    rounding = _rounding(measure, sum(each.rounding for each in found))
    label = f"{kind}, computed" if measure.is_formula else kind
    return _made(label, company, measure, found, last, text, Expected(value, measure.unit, rounding))


def _named(wording: TaggedWording, company: Company, measure: AskedMeasure, *, without: str = "") -> dict[str, str]:
    (name,) = wording.names([company])
    words, was = wording.measure(measure, without=without)
    return {"company": name, "measure": words, "was": was}


def _rounding(measure: AskedMeasure, scale: float) -> float:
    return scale if measure.unit in ("USD", "shares") else 0.0


def _made(
    kind: str,
    company: Company,
    measure: AskedMeasure,
    found: Sequence[Computed],
    year: int,
    text: str,
    expected: Expected,
) -> GeneratedQuestion:
    return GeneratedQuestion(
        id=f"{company.key} {measure.id} {len(found)} to {year}",
        family=Family.LOOKUP,
        kind=kind,
        text=text,
        slots=slots_of_computed(*found),
        filings=fewest_filings([figure for each in found for figure in each.figures]),
        expected=expected,
    )


def part_in_a_year(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """A part's figure of a full year, the report's own or an earlier one."""
    figure = _drawn_part(material, draw)
    year, quarter = figure.period
    if quarter is not None:
        return None
    filed = material.workspace.years[figure.company]
    own = "own year" if year in filed.annual else "earlier column"
    when = wording.year(year, filed)
    text = wording.own_text(_worded_as(figure), turn, **_named_part(material, wording, figure), year=when)
    if not reads_well(text, when):
        return None
    return _made_of_part(f"{figure.kind}, {own}", figure, text, _stated(figure, material))


def part_in_a_quarter(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """A part's figure of a quarter."""
    quarterly = [figure for figure in material.parts if figure.period[1] is not None]
    if not quarterly:
        return None
    figure = draw.choice(quarterly)
    when = wording.quarter(figure.period[0], figure.period[1] or 0)
    text = wording.own_text(_worded_as(figure), turn, **_named_part(material, wording, figure), year=when)
    return _made_of_part(f"{figure.kind}, quarter", figure, text, _stated(figure, material))


def growth_of_part(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """Relative growth of a part's figure between two years."""
    after = _drawn_part(material, draw)
    year, quarter = after.period
    before = _other(material, after, (year - draw.choice((1, 1, 2)), quarter))
    if quarter is not None or before is None or min(before.value, after.value) <= 0:
        return None
    filed = material.workspace.years[after.company]
    first, last = wording.ends(before.period[0], year, filed)
    text = wording.own_text("growth_of_part", turn, **_named_part(material, wording, after), first=first, last=last)
    rate = 100 * (float(after.value / before.value) - 1)
    return _made_of_part(f"growth of a part, {year - before.period[0]}", after, text, Expected(rate, "percent"))


def share_of_part(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """What part of the company's revenue it is, in percent."""
    figure = _drawn_part(material, draw)
    year, quarter = figure.period
    whole = material.figures.figure(figure.company, figure.metric, year)
    if quarter is not None or whole is None or figure.metric != "revenue" or not 0 < figure.value < whole.value:
        return None
    when = wording.ends(year, year, material.workspace.years[figure.company])[0]
    text = wording.own_text("share_of_part", turn, **_named_part(material, wording, figure), year=when)
    share = 100 * float(figure.value / whole.value)
    return _made_of_part("share of a part", figure, text, Expected(share, "percent"))


def _drawn_part(material: TaggedMaterial, draw: Random) -> PartFigure:
    """A company first: one with many parts is not asked about more often."""
    companies = sorted({figure.company for figure in material.parts})
    company = draw.choice(companies)
    parts = sorted({(f.part, f.metric) for f in material.parts if f.company == company})
    chosen = draw.choice(parts)
    return draw.choice([f for f in material.parts if f.company == company and (f.part, f.metric) == chosen])


def _other(material: TaggedMaterial, figure: PartFigure, period: tuple[int, int | None]) -> PartFigure | None:
    wanted = (figure.company, figure.part, figure.metric, period)
    return next((f for f in material.parts if (f.company, f.part, f.metric, f.period) == wanted), None)


def _worded_as(figure: PartFigure) -> str:
    if figure.kind is PartKind.SEGMENT:
        return "of_segment"
    return f"revenue_of_{figure.kind}" if figure.metric == "revenue" else "of_part"


def _named_part(material: TaggedMaterial, wording: TaggedWording, figure: PartFigure) -> dict[str, str]:
    (name,) = wording.names([material.workspace.directory.by_key[figure.company]])
    words, was = wording.measure(_measure(material, figure))
    return {"company": name, "measure": words.removeprefix("total "), "was": was, "part": figure.part}


def _measure(material: TaggedMaterial, figure: PartFigure) -> AskedMeasure:
    return next(measure for measure in material.measures if measure.id == figure.metric)


def _stated(figure: PartFigure, material: TaggedMaterial) -> Expected:
    return Expected(float(figure.value), _measure(material, figure).unit, float(figure.step))


def _made_of_part(kind: str, figure: PartFigure, text: str, expected: Expected) -> GeneratedQuestion:
    year, quarter = figure.period
    when = f"{year} Q{quarter}" if quarter else str(year)
    return GeneratedQuestion(
        id=f"{figure.company} {figure.part} {figure.metric} {when}",
        family=Family.LOOKUP,
        kind=kind,
        text=text,
        filings=(figure.doc_id,),
        expected=expected,
    )
