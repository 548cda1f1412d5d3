"""Questions to families of parts: the highest, the n-th, the fastest grower, differences and sums of members."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.question import Expected, GeneratedQuestion
from fin_agent.evaluation.tagged_questions.figures import PartFamily, tagged_wordings
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial, TaggedWording


def highest(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """The member with the largest figure of a year, or the smallest."""
    low = turn % 3 == 2 and any(one.whole for one in material.families)
    family = _drawn(material, draw, lambda one: one.whole or not low)
    value, _ = family.values[-1 if low else 0]
    return _asked("lowest" if low else "highest", material, draw, wording, turn, family, value)


def nth(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """The second or third largest."""
    family = _drawn(material, draw)
    place = draw.choice((2, 2, 3))
    value, _ = family.values[place - 1]
    return _asked("nth", material, draw, wording, turn, family, value, place=("second", "third")[place - 2])


def fastest(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """The member that grew fastest, with its rate."""
    family = _drawn(material, draw)
    before = _of_year(material, family, family.year - 1)
    if before is None or before.members.keys() != family.members.keys():
        return None
    if any(one.value <= 0 for one in (*before.members.values(), *family.members.values())):
        return None
    rates = [100 * (float(one.value / before.members[name].value) - 1) for name, one in family.members.items()]
    rate = max(rates)
    return _asked("fastest", material, draw, wording, turn, family, rate, unit="percent") if rate > 0 else None


def difference(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """By how much one member exceeds another."""
    family = _drawn(material, draw)
    one, other = sorted(draw.sample(sorted(family.members), 2), key=lambda name: -family.members[name].value)
    value = float(family.members[one].value - family.members[other].value)
    return _asked("members_apart", material, draw, wording, turn, family, value, one=one, other=other)


def together(material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int) -> GeneratedQuestion | None:
    """The sum of two members."""
    family = _drawn(material, draw)
    one, other = draw.sample(sorted(family.members), 2)
    value = float(family.members[one].value + family.members[other].value)
    return _asked("members_together", material, draw, wording, turn, family, value, one=one, other=other)


def highest_margin(
    material: TaggedMaterial, draw: Random, wording: TaggedWording, turn: int
) -> GeneratedQuestion | None:
    """The member with the highest operating margin."""
    if not any(one.metric == "operating_income" for one in material.families):
        return None
    family = _drawn(material, draw, lambda one: one.metric == "operating_income")
    whole = _of_year(material, family, family.year, "revenue")
    if whole is None or whole.members.keys() != family.members.keys():
        return None
    margin = max(100 * float(one.value / whole.members[name].value) for name, one in family.members.items())
    return _asked("highest_margin", material, draw, wording, turn, family, margin, unit="percent")


def _drawn(material: TaggedMaterial, draw: Random, fits: Callable[[PartFamily], bool] = lambda one: True) -> PartFamily:
    """A company first, then one of its families."""
    families = [one for one in material.families if fits(one)]
    company = draw.choice(sorted({one.company for one in families}))
    return draw.choice([one for one in families if one.company == company])


def _of_year(material: TaggedMaterial, family: PartFamily, year: int, metric: str = "") -> PartFamily | None:
    wanted = family.company, family.kind, metric or family.metric, year
    return next((one for one in material.families if (one.company, one.kind, one.metric, one.year) == wanted), None)


def _asked(
    kind: str,
    material: TaggedMaterial,
    draw: Random,
    wording: TaggedWording,
    turn: int,
    family: PartFamily,
    value: float,
    *,
    unit: str = "",
    **fields: str,
) -> GeneratedQuestion:
    company = material.workspace.directory.by_key[family.company]
    measure = next(one for one in material.measures if one.id == family.metric)
    (name,) = wording.names([company])
    words, was = wording.measure(measure)
    first, when = wording.ends(family.year - 1, family.year, material.workspace.years[company.key])
    called = draw.choice(tagged_wordings().kinds[family.kind])
    said = {"company": name, "measure": words.removeprefix("total "), "was": was, "parts": called, **fields}
    text = wording.own_text(kind, turn, **said, year=when, first=first, last=when)
    steps = float(sum(one.step for one in family.members.values()))
    return GeneratedQuestion(
        id=f"{family.company} {family.kind} {family.metric} {family.year} {kind} {sorted(fields.values())}",
        family=Family.LOOKUP,
        kind=f"{kind.replace('_', ' ')}, {family.kind}",
        text=text,
        filings=tuple(sorted({one.doc_id for one in family.members.values()})),
        expected=Expected(value, unit or measure.unit, 0.0 if unit else steps),
    )
