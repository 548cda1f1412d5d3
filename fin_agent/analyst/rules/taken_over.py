"""What a message takes over from the question before: whose figure, of which periods."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.rules.asked_before import AskedBefore
from fin_agent.analyst.rules.said_now import SaidNow
from fin_agent.answering.answer import Answer
from fin_agent.evidence.intent import Comparison, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod

MOVING = (Relation.GROWTH, Relation.CHANGE, Relation.ANNUAL_GROWTH, Relation.TREND)


def subjects(before: AskedBefore, answer: Answer | None) -> tuple[str, ...]:
    """The companies that `its` and `it` mean: the one that the answer singles out, else all of the question."""
    names = before.names
    compares = before.intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST) or before.intent.selection
    if len(names) > 1 and compares and answer is not None and not answer.refused:
        chosen = [name for name in names if answer.answer.text.lower().startswith(name.lower())]
        return tuple(chosen[:1]) or names
    return names


def wanted_periods(before: AskedBefore, now: SaidNow, answer: Answer | None) -> tuple[FiscalPeriod, ...]:
    """The periods that a message means beside the question before; none where it says nothing of them."""
    known = before.asked or answered_periods(answer)
    if now.earlier or now.later:
        step = -1 if now.earlier else 1
        if now.periods:
            return now.periods
        return shifted_years(known, step) if now.by_years else shifted(known, step)
    if now.parsed.loose_quarters and not now.periods and known:
        year = known[-1].fiscal_year
        return tuple(FiscalPeriod(fiscal_year=year, quarter=quarter) for quarter in now.parsed.loose_quarters)
    moving = before.intent.relation in MOVING and len(before.asked) > 1
    if now.periods and moving and len(now.periods) == 1 and now.only_time and len(before.periods) > 1:
        step = now.periods[0].fiscal_year - before.asked[-1].fiscal_year
        return tuple(
            FiscalPeriod(fiscal_year=period.fiscal_year + step, quarter=period.quarter) for period in before.asked
        )
    return now.periods if not _runs_on(now) else ()


def shifted(periods: Sequence[FiscalPeriod], step: int) -> tuple[FiscalPeriod, ...]:
    """Each a period earlier or later: quarters by quarters, years by years."""
    return tuple(_shifted(period, step) for period in periods)


def shifted_years(periods: Sequence[FiscalPeriod], step: int) -> tuple[FiscalPeriod, ...]:
    """Each some years earlier or later: the same quarter where it is one."""
    return tuple(FiscalPeriod(fiscal_year=each.fiscal_year + step, quarter=each.quarter) for each in periods)


def _shifted(period: FiscalPeriod, step: int) -> FiscalPeriod:
    if period.quarter is None:
        return FiscalPeriod(fiscal_year=period.fiscal_year + step)
    count = period.fiscal_year * 4 + period.quarter - 1 + step
    return FiscalPeriod(fiscal_year=count // 4, quarter=count % 4 + 1)


def _runs_on(now: SaidNow) -> bool:
    """`since 2021`, `the last three years`: said in words that the reader of questions knows."""
    parsed = now.parsed
    return bool(parsed.since or parsed.trailing_years or (parsed.latest and not now.periods))


def answered_periods(answer: Answer | None) -> tuple[FiscalPeriod, ...]:
    """The periods of the figures that an answer stands on."""
    if answer is None:
        return ()
    found = {
        FiscalPeriod(fiscal_year=entry.slot.fiscal_year, quarter=entry.slot.quarter)
        for entry in answer.ledger
        if entry.figure is not None and entry.required
    }
    return tuple(sorted(found, key=lambda period: (period.fiscal_year, period.quarter or 5)))[-1:]
