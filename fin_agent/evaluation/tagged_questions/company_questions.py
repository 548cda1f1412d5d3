"""Makers of questions about one company's tagged figures: of a year, and of the years that a filing shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fin_agent.evaluation import QuestionKind
from fin_agent.evaluation.generated.figures import AskedMeasure, Computed, fewest_filings
from fin_agent.evaluation.generated.question import Expected, GeneratedQuestion
from fin_agent.evaluation.generated.sampling import slots_of
from fin_agent.evaluation.tagged_questions.material import TaggedTurn, reads_well
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.fiscal_periods import FiscalYears

_LEAST_MOVE = 0.005
"""Relative: what moved less has hardly changed."""
_MOST_TIMES = 20


def own_year(turn: TaggedTurn) -> GeneratedQuestion | None:
    """A figure of the year that an annual report is of."""
    return _of_a_year(turn, "lookup, own year", own=True)


def earlier_year(turn: TaggedTurn) -> GeneratedQuestion | None:
    """A figure that stands in an earlier year's column."""
    return _of_a_year(turn, "lookup, earlier column", own=False)


def computed(turn: TaggedTurn) -> GeneratedQuestion | None:
    """A margin or ratio of one year."""
    drawn = _drawn(turn, lambda measure: measure.is_formula, 1)
    if drawn is None:
        return None
    when = turn.wording.year(drawn.last, drawn.filed)
    text = turn.text("computed", **turn.named(drawn.company, drawn.measure), year=when)
    return drawn.asked("computed", text, drawn.values[0])


def growth(turn: TaggedTurn) -> GeneratedQuestion | None:
    """Relative growth between two years."""
    drawn = _drawn(turn, _is_stated, turn.draw.choice((2, 2, 3)), ends_only=True)
    if drawn is None or not drawn.moves:
        return None
    rate = 100 * (drawn.values[1] / drawn.values[0] - 1)
    fields = {**drawn.years(), **turn.named(drawn.company, drawn.measure)}
    kind = "growth" if rate > 0 and turn.number % 4 else "percentage_change"
    if drawn.last - drawn.first == 1 and turn.number % 2:
        kind = "year_over_year"
    return drawn.asked("growth", turn.text(kind, turn.number // 2, **fields), rate, unit="percent")


def change(turn: TaggedTurn) -> GeneratedQuestion | None:
    """By how much a figure moved between two years."""
    drawn = _drawn(turn, _is_stated, turn.draw.choice((2, 3)), ends_only=True)
    if drawn is None or not drawn.moves or drawn.measure.unit != "USD":
        return None
    moved = drawn.values[1] - drawn.values[0]
    kind = "change" if turn.number % 3 == 0 else "increase" if moved > 0 else "decrease"
    fields = {**drawn.years(), **turn.named(drawn.company, drawn.measure, without=kind)}
    text = turn.text(kind, turn.number // 3, **fields)
    return drawn.asked("change", text, moved, signed=kind == "change")


def annual_growth(turn: TaggedTurn) -> GeneratedQuestion | None:
    """Compound annual growth over the years that a filing shows."""
    drawn = _drawn(turn, _is_stated, 3, ends_only=True)
    if drawn is None or not drawn.moves or drawn.values[1] < drawn.values[0]:
        return None
    rate = 100 * ((drawn.values[1] / drawn.values[0]) ** (1 / (drawn.last - drawn.first)) - 1)
    fields = {**drawn.years(), **turn.named(drawn.company, drawn.measure)}
    return drawn.asked("annual growth", turn.text("annual_growth", **fields), rate, unit="percent")


def total(turn: TaggedTurn) -> GeneratedQuestion | None:
    """The sum of a flow over two or three years."""
    years = turn.draw.choice((2, 3, 3))
    drawn = _drawn(turn, lambda measure: not measure.is_balance and measure.unit == "USD", years)
    return None if drawn is None else drawn.over_years("total", sum(drawn.values))


def average(turn: TaggedTurn) -> GeneratedQuestion | None:
    """The mean of a measure over two or three years."""
    drawn = _drawn(turn, lambda measure: True, turn.draw.choice((2, 3, 3)))
    return None if drawn is None else drawn.over_years("average", sum(drawn.values) / len(drawn.values))


def _is_stated(measure: AskedMeasure) -> bool:
    return not measure.is_formula


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A measure of a company in consecutive years, or in the first and the last of them."""

    turn: TaggedTurn
    company: Company
    measure: AskedMeasure
    found: tuple[Computed, ...]
    first: int
    last: int

    @property
    def filed(self) -> FiscalYears:
        return self.turn.material.workspace.years[self.company.key]

    @property
    def values(self) -> list[float]:
        return [each.value for each in self.found]

    @property
    def moves(self) -> bool:
        """Whether it changed between two years, and not beyond measure."""
        before, after = self.values
        return min(before, after) > 0 and abs(after / before - 1) > _LEAST_MOVE and after < _MOST_TIMES * before

    def years(self) -> dict[str, str]:
        """The fields that name the first and the last year."""
        first, last = self.turn.wording.ends(self.first, self.last, self.filed)
        return {"first": first, "last": last}

    def over_years(self, kind: str, value: float) -> GeneratedQuestion:
        fields = {**self.years(), "span": self.turn.wording.span(self.first, self.last, self.filed)}
        fields |= self.turn.named(self.company, self.measure, without=kind)
        label = f"{kind}, computed" if self.measure.is_formula else kind
        return self.asked(label, self.turn.text(kind, **fields), value)

    def asked(self, kind: str, text: str, value: float, *, unit: str = "", signed: bool = True) -> GeneratedQuestion:
        """`unit` is that of the measure where none is given."""
        rounded = not unit and self.measure.unit in ("USD", "shares")
        rounding = sum(each.rounding for each in self.found) if rounded else 0.0
        return GeneratedQuestion(
            id=f"{self.company.key} {self.measure.id} {len(self.found)} to {self.last}",
            family=QuestionKind.LOOKUP,
            kind=kind,
            text=text,
            slots=slots_of(self.found),
            filings=fewest_filings(figure for each in self.found for figure in each.figures),
            expected=Expected(value, unit or self.measure.unit, rounding, signed),
        )


def _drawn(
    turn: TaggedTurn, fits: Callable[[AskedMeasure], bool], years: int, *, ends_only: bool = False
) -> _Drawn | None:
    if not turn.material.companies:
        return None
    company, measure = turn.company_and_measure(fits)
    known = turn.material.tagged_years(company)
    if len(known) < years:
        return None
    last = turn.draw.choice(known[years - 1 :])
    first = last - years + 1
    found = turn.material.all_computed(measure, company, (first, last) if ends_only else range(first, last + 1))
    return _Drawn(turn, company, measure, found, first, last) if found else None


def _of_a_year(turn: TaggedTurn, kind: str, *, own: bool) -> GeneratedQuestion | None:
    drawn = _drawn(turn, _is_stated, 1)
    if drawn is None or (drawn.last in drawn.filed.annual) is not own:
        return None
    fields = turn.named(drawn.company, drawn.measure)
    when = turn.wording.year(drawn.last, drawn.filed)
    day = turn.wording.last_day(drawn.last, drawn.filed)
    if drawn.measure.is_balance and day is not None and turn.number % 2:
        when = drawn.years()["last"]
        text = turn.text("balance", turn.number // 2, **fields, year=when, day=day)
    else:
        text = turn.text("lookup", **fields, year=when)
    return drawn.asked(kind, text, drawn.values[0]) if reads_well(text, when) else None
