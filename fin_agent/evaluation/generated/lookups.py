"""Questions for one printed figure: none of them may be refused."""

from __future__ import annotations

from random import Random

from fin_agent.evaluation.generated.drawing import Material, made
from fin_agent.evaluation.generated.figures import StatedFigure, fewest_filings
from fin_agent.evaluation.generated.measures import AskedMeasure
from fin_agent.evaluation.generated.multi_filing import shares
from fin_agent.evaluation.generated.question import Expected, Family, GeneratedQuestion, SlotKey
from fin_agent.evaluation.generated.wording import Wording
from fin_agent.lexicon.company_names import Company

_OWN, _PRIOR, _QUARTER = 6, 5, 1
"""Weights: figures of a filing's own year, of an earlier year's column, of a quarter's report."""


def lookup_questions(material: Material, count: int, seed: int) -> tuple[GeneratedQuestion, ...]:
    """`count` questions; fewer where the index holds no more."""
    quarterly = _QUARTER if any(_quarters(material, company) for company in material.companies) else 0
    own, prior, quarter = shares([_OWN, _PRIOR, quarterly], count)
    return (
        *made(material, "lookup, own year", _own_year, own, seed),
        *made(material, "lookup, earlier column", _earlier_column, prior, seed),
        *made(material, "lookup, quarter", _of_a_quarter, quarter, seed),
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
    return _question(kind, company, measure, str(year), text, computed.value, computed.figures)


def _of_a_quarter(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    company = draw.choice(material.companies)
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
    return _question("lookup, quarter", company, measure, when, text, float(figure.value), (figure,))


def _quarters(material: Material, company: Company) -> bool:
    return any(material.figures.quarters(company.key, measure.id) for measure in material.measures)


def _question(
    kind: str,
    company: Company,
    measure: AskedMeasure,
    when: str,
    text: str,
    value: float,
    figures: tuple[StatedFigure, ...],
) -> GeneratedQuestion:
    rounding = sum(float(figure.scale) for figure in figures) if measure.unit == "USD" else 0.0
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
