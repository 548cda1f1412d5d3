"""Word a derived Query as a complete question."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.lexicon.words import load_yaml
from fin_agent.query.tree import (
    Claim,
    Kind,
    Line,
    Measure,
    Move,
    NamedFormula,
    Number,
    Operation,
    Parts,
    Period,
    Query,
    measure_text,
)


def query_to_question(query: Query, moved: str = "change") -> str:
    """Return the question that asks for `query`; empty if its kind has no plain wording.

    Its companies have the names to use; `moved` is the verb for the movement, in a question for reasons.
    """
    if not query.measures:
        return ""
    measure, names = query.measures[0], [*(one.name for one in query.companies), *query.unknown_companies]
    form = _form(query, measure.how if isinstance(measure, Move) else "")
    if not form or not names:
        return ""
    parts = query.parts or Parts()
    nouns = [_noun(one.of if isinstance(one, Move) else one) for one in query.measures]
    noun = f"{join_names(parts.names)} {join_names(nouns)}".strip()
    owners = [possessive(one) for one in names]
    text = form.format(
        noun=noun,
        names=join_names(names),
        owners=join_names(owners),
        first=owners[0],
        others=join_names(owners[1:]),
        choice=f"{', '.join(names[:-1])} or {names[-1]}",
        years=join_names(list(map(str, query.periods))),
        kind=parts.kind,
        when=in_periods(query.periods, moving=isinstance(measure, Move)),
        moved=moved,
    )
    subject = noun.partition(_SHARE)[0]
    is_plural = subject.endswith(("s", "data")) and not subject.endswith(("ss", "is", "us"))
    if is_plural and form == load_yaml("question_wordings")["plain"] and not nouns[-1].isupper():
        text = text.replace("What was", "What were", 1)
    unit = (query.unit or "").removeprefix("USD ") if _SHARE not in noun else ""
    return " ".join(f"{text} {f'in {unit}' if unit else ''}".split()).replace(" ,", ",") + "?"


def _noun(measure: Measure) -> str:
    """Return the measure as a noun of a question."""
    if not isinstance(measure, Operation) or measure.operator != "/":
        return measure_text(measure)
    part, whole = measure.left, measure.right
    if isinstance(part, Operation) and part.left == Number(value=100, unit="percent"):
        part = part.right
    if not isinstance(part, Line | NamedFormula) or not isinstance(whole, Line | NamedFormula):
        return measure_text(measure)
    return f"{measure_text(part)}{_SHARE}{'total ' * (isinstance(whole, Line) and whole.whole)}{measure_text(whole)}"


_SHARE = " as a percentage of "


def _form(query: Query, how: str) -> str:
    """Return the wording of a query, with `how` its measure moved; empty if there is no plain one."""
    comparison, claim, forms = query.comparison, query.claim, load_yaml("question_wordings")
    if query.kind is Kind.REASON:
        return str(forms["reason"])
    if claim is not None:
        return str(forms["claims"].get(claim.way, "")) if claim == Claim(way=claim.way) else ""
    if comparison is None:
        plain = forms["plain"] if query.kind is Kind.VALUE else ""
        return str(forms["moves"][how] if how else plain)
    if comparison.nth or comparison.top or query.chosen_by is not None:
        return ""
    return str(forms["moves compared" if how else "comparisons"].get(f"{comparison.axis} {comparison.how}", ""))


def in_periods(periods: Sequence[Period], *, moving: bool = False) -> str:
    """Return `in FY2023`, `in FY2021 and FY2023` or `from FY2021 to FY2023`; empty without periods."""
    years = [period.fiscal_year or 0 for period in periods]
    run = len(periods) > 2 and years == list(range(years[0], years[-1] + 1))
    if len(periods) > 1 and (moving or run):
        return f"from {periods[0]} to {periods[-1]}"
    return f"in {join_names([str(one) for one in periods])}" if periods else ""


def shift_period(period: Period, years: int, quarters: int = 0) -> Period:
    """Return the period shifted by years and quarters, later if positive."""
    count = (period.fiscal_year or 0) * 4 + (period.quarter or 1) - 1 + years * 4 + quarters
    leap_day = period.end is not None and (period.end.month, period.end.day) == (2, 29)
    end = period.end and period.end.replace(year=period.end.year + years, day=28 if leap_day else period.end.day)
    year = period.fiscal_year and count // 4
    return period.model_copy(update={"fiscal_year": year, "quarter": period.quarter and count % 4 + 1, "end": end})


def possessive(name: str) -> str:
    """Return the possessive of a name: `A's`, `Stores'`."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def join_names(names: Sequence[str]) -> str:
    """Join names: `A`, `A and B`, `A, B and C`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
