"""Questions about segments, products and regions under their printed names."""

from __future__ import annotations

from random import Random

from fin_agent.evaluation.generated.measures import AskedMeasure
from fin_agent.evaluation.generated.question import Expected, Family, GeneratedQuestion
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial
from fin_agent.evaluation.tagged_questions.parts import PartFigure, PartKind
from fin_agent.evaluation.tagged_questions.tagged_wording import TaggedWording, reads_well


def part_in_a_year(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """A part's figure of a full year, the report's own or an earlier one."""
    figure = _drawn(material, draw)
    year, quarter = figure.period
    if quarter is not None:
        return None
    filed = material.workspace.years[figure.company]
    own = "own year" if year in filed.annual else "earlier column"
    when = wording.year(year, filed)
    text = wording.own_text(_worded_as(figure), turn, **_named(material, wording, figure), year=when)
    if not reads_well(text, when):
        return None
    return _made(f"{figure.kind}, {own}", figure, text, _stated(figure, material))


def part_in_a_quarter(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """A part's figure of a quarter."""
    quarterly = [figure for figure in material.parts if figure.period[1] is not None]
    if not quarterly:
        return None
    figure = draw.choice(quarterly)
    when = wording.quarter(figure.period[0], figure.period[1] or 0)
    text = wording.own_text(_worded_as(figure), turn, **_named(material, wording, figure), year=when)
    return _made(f"{figure.kind}, quarter", figure, text, _stated(figure, material))


def growth_of_part(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """Relative growth of a part's figure between two years."""
    after = _drawn(material, draw)
    year, quarter = after.period
    before = _other(material, after, (year - draw.choice((1, 1, 2)), quarter))
    if quarter is not None or before is None or min(before.value, after.value) <= 0:
        return None
    filed = material.workspace.years[after.company]
    first, last = wording.ends(before.period[0], year, filed)
    text = wording.own_text("growth_of_part", turn, **_named(material, wording, after), first=first, last=last)
    rate = 100 * (float(after.value / before.value) - 1)
    return _made(f"growth of a part, {year - before.period[0]}", after, text, Expected(rate, "percent"))


def share_of_part(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """What part of the company's revenue it is, in percent."""
    figure = _drawn(material, draw)
    year, quarter = figure.period
    whole = material.figures.figure(figure.company, figure.metric, year)
    if quarter is not None or whole is None or figure.metric != "revenue" or not 0 < figure.value < whole.value:
        return None
    when = wording.ends(year, year, material.workspace.years[figure.company])[0]
    text = wording.own_text("share_of_part", turn, **_named(material, wording, figure), year=when)
    share = 100 * float(figure.value / whole.value)
    return _made("share of a part", figure, text, Expected(share, "percent"))


def _drawn(material: TaggedMaterial, draw: Random) -> PartFigure:
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


def _named(material: TaggedMaterial, wording: TaggedWording, figure: PartFigure) -> dict[str, str]:
    (name,) = wording.names([material.workspace.directory.by_key[figure.company]])
    words, was = wording.measure(_measure(material, figure))
    return {"company": name, "measure": words.removeprefix("total "), "was": was, "part": figure.part}


def _measure(material: TaggedMaterial, figure: PartFigure) -> AskedMeasure:
    return next(measure for measure in material.measures if measure.id == figure.metric)


def _stated(figure: PartFigure, material: TaggedMaterial) -> Expected:
    return Expected(float(figure.value), _measure(material, figure).unit, float(figure.step))


def _made(kind: str, figure: PartFigure, text: str, expected: Expected) -> GeneratedQuestion:
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
