"""Makers of questions about segments, products and regions: one part, and all parts of a kind at once."""

from __future__ import annotations

from collections.abc import Callable

from fin_agent.evaluation import QuestionKind
from fin_agent.evaluation.generated.figures import AskedMeasure
from fin_agent.evaluation.generated.question import Expected, GeneratedQuestion
from fin_agent.evaluation.tagged_questions.figures import PartFamily, PartFigure, PartKind, tagged_wordings
from fin_agent.evaluation.tagged_questions.material import TaggedTurn, reads_well

# --- One part


def part_in_a_year(turn: TaggedTurn) -> GeneratedQuestion | None:
    """A part's figure of a full year, the report's own or an earlier one."""
    figure = _drawn_part(turn)
    year, quarter = figure.period
    if quarter is not None:
        return None
    filed = turn.material.workspace.years[figure.company]
    own = "own year" if year in filed.annual else "earlier column"
    when = turn.wording.year(year, filed)
    return _of_part(turn, f"{figure.kind}, {own}", _worded_as(figure), figure, when)


def part_in_a_quarter(turn: TaggedTurn) -> GeneratedQuestion | None:
    """A part's figure of a quarter."""
    quarterly = [figure for figure in turn.material.parts if figure.period[1] is not None]
    if not quarterly:
        return None
    figure = turn.draw.choice(quarterly)
    when = turn.wording.quarter(figure.period[0], figure.period[1] or 0)
    return _of_part(turn, f"{figure.kind}, quarter", _worded_as(figure), figure, when)


def growth_of_part(turn: TaggedTurn) -> GeneratedQuestion | None:
    """Relative growth of a part's figure between two years."""
    after = _drawn_part(turn)
    year, quarter = after.period
    wanted = (after.company, after.part, after.metric, (year - turn.draw.choice((1, 1, 2)), quarter))
    before = next((f for f in turn.material.parts if (f.company, f.part, f.metric, f.period) == wanted), None)
    if quarter is not None or before is None or min(before.value, after.value) <= 0:
        return None
    first, last = turn.wording.ends(before.period[0], year, turn.material.workspace.years[after.company])
    rate = Expected(100 * (float(after.value / before.value) - 1), "percent")
    kind = f"growth of a part, {year - before.period[0]}"
    return _of_part(turn, kind, "growth_of_part", after, last, rate, first=first, last=last)


def share_of_part(turn: TaggedTurn) -> GeneratedQuestion | None:
    """What part of the company's revenue it is, in percent."""
    figure = _drawn_part(turn)
    year, quarter = figure.period
    whole = turn.material.figures.figure(figure.company, figure.metric, year)
    if quarter is not None or whole is None or figure.metric != "revenue" or not 0 < figure.value < whole.value:
        return None
    when = turn.wording.ends(year, year, turn.material.workspace.years[figure.company])[0]
    share = Expected(100 * float(figure.value / whole.value), "percent")
    return _of_part(turn, "share of a part", "share_of_part", figure, when, share)


def _drawn_part(turn: TaggedTurn) -> PartFigure:
    """A company first: one with many parts is not asked about more often."""
    figures = turn.material.parts
    company = turn.draw.choice(sorted({figure.company for figure in figures}))
    chosen = turn.draw.choice(sorted({(f.part, f.metric) for f in figures if f.company == company}))
    return turn.draw.choice([f for f in figures if f.company == company and (f.part, f.metric) == chosen])


def _worded_as(figure: PartFigure) -> str:
    if figure.kind is PartKind.SEGMENT:
        return "of_segment"
    return f"revenue_of_{figure.kind}" if figure.metric == "revenue" else "of_part"


def _of_part(
    turn: TaggedTurn,
    kind: str,
    wording: str,
    figure: PartFigure,
    when: str,
    expected: Expected | None = None,
    **fields: str,
) -> GeneratedQuestion | None:
    """None where the year does not stand well; the figure itself is expected where nothing else is."""
    measure = _measure(turn, figure.metric)
    fields = {**_named(turn, figure.company, measure), "part": figure.part, "year": when, **fields}
    text = turn.text(wording, **fields)
    if not reads_well(text, when):
        return None
    year, quarter = figure.period
    period = f"{year} Q{quarter}" if quarter else str(year)
    return GeneratedQuestion(
        id=f"{figure.company} {figure.part} {figure.metric} {period}",
        family=QuestionKind.PART,
        kind=kind,
        text=text,
        filings=(figure.doc_id,),
        expected=expected or Expected(float(figure.value), measure.unit, float(figure.step)),
        exact=expected is None,
    )


def _measure(turn: TaggedTurn, metric: str) -> AskedMeasure:
    return next(measure for measure in turn.material.measures if measure.id == metric)


def _named(turn: TaggedTurn, company: str, measure: AskedMeasure) -> dict[str, str]:
    fields = turn.named(turn.material.workspace.directory.by_key[company], measure)
    return {**fields, "measure": fields["measure"].removeprefix("total ")}


# --- All parts of a kind


def highest(turn: TaggedTurn) -> GeneratedQuestion | None:
    """The member with the largest figure of a year, or the smallest."""
    low = turn.number % 3 == 2 and any(one.whole for one in turn.material.families)
    family = _drawn_family(turn, lambda one: one.whole or not low)
    value, _ = family.values[-1 if low else 0]
    return _of_family(turn, "lowest_part" if low else "highest_part", family, value)


def nth(turn: TaggedTurn) -> GeneratedQuestion | None:
    """The second or third largest."""
    family = _drawn_family(turn)
    place = turn.draw.choice((2, 2, 3))
    value, _ = family.values[place - 1]
    return _of_family(turn, "nth_part", family, value, place=("second", "third")[place - 2])


def fastest(turn: TaggedTurn) -> GeneratedQuestion | None:
    """The member that grew fastest, with its rate."""
    family = _drawn_family(turn)
    before = _of_year(turn, family, family.year - 1)
    if before is None or before.members.keys() != family.members.keys():
        return None
    if any(one.value <= 0 for one in (*before.members.values(), *family.members.values())):
        return None
    rate = max(100 * (float(one.value / before.members[name].value) - 1) for name, one in family.members.items())
    return _of_family(turn, "fastest_part", family, rate, unit="percent") if rate > 0 else None


def difference(turn: TaggedTurn) -> GeneratedQuestion | None:
    """By how much one member exceeds another."""
    family = _drawn_family(turn)
    pair = turn.draw.sample(sorted(family.members), 2)
    one, other = sorted(pair, key=lambda name: -family.members[name].value)
    value = float(family.members[one].value - family.members[other].value)
    return _of_family(turn, "members_apart", family, value, one=one, other=other)


def together(turn: TaggedTurn) -> GeneratedQuestion | None:
    """The sum of two members."""
    family = _drawn_family(turn)
    one, other = turn.draw.sample(sorted(family.members), 2)
    value = float(family.members[one].value + family.members[other].value)
    return _of_family(turn, "members_together", family, value, one=one, other=other)


def highest_margin(turn: TaggedTurn) -> GeneratedQuestion | None:
    """The member with the highest operating margin."""
    if not any(one.metric == "operating_income" for one in turn.material.families):
        return None
    family = _drawn_family(turn, lambda one: one.metric == "operating_income")
    whole = _of_year(turn, family, family.year, "revenue")
    if whole is None or whole.members.keys() != family.members.keys():
        return None
    margin = max(100 * float(one.value / whole.members[name].value) for name, one in family.members.items())
    return _of_family(turn, "highest_margin", family, margin, unit="percent")


def _drawn_family(turn: TaggedTurn, fits: Callable[[PartFamily], bool] = lambda one: True) -> PartFamily:
    """A company first, then one of its families."""
    families = [one for one in turn.material.families if fits(one)]
    company = turn.draw.choice(sorted({one.company for one in families}))
    return turn.draw.choice([one for one in families if one.company == company])


def _of_year(turn: TaggedTurn, family: PartFamily, year: int, metric: str = "") -> PartFamily | None:
    wanted = family.company, family.kind, metric or family.metric, year
    families = turn.material.families
    return next((one for one in families if (one.company, one.kind, one.metric, one.year) == wanted), None)


def _of_family(
    turn: TaggedTurn, kind: str, family: PartFamily, value: float, *, unit: str = "", **fields: str
) -> GeneratedQuestion:
    measure = _measure(turn, family.metric)
    named = _named(turn, family.company, measure)
    first, last = turn.wording.ends(family.year - 1, family.year, turn.material.workspace.years[family.company])
    called = turn.draw.choice(tagged_wordings().kinds[family.kind])
    text = turn.text(kind, **named, parts=called, year=last, first=first, last=last, **fields)
    steps = float(sum(one.step for one in family.members.values()))
    return GeneratedQuestion(
        id=f"{family.company} {family.kind} {family.metric} {family.year} {kind} {sorted(fields.values())}",
        family=QuestionKind.FAMILY,
        kind=f"{kind.removesuffix('_part').replace('_', ' ')}, {family.kind}",
        text=text,
        filings=tuple(sorted({one.doc_id for one in family.members.values()})),
        expected=Expected(value, unit or measure.unit, 0.0 if unit else steps),
    )
