"""Score how well a filing's identity fits a question: period, date, form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS, FiscalPeriod, is_annual
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement

# How far an annual report covers earlier years: figures of its statements, and words of its text.
_COLUMN_OF_YEARS_AGO = {0: 1.0, 1: 0.7, 2: 0.4}
_TEXT_OF_YEARS_AGO = {-1: 0.15, 0: 1.0, 1: 0.35, 2: 0.1}
_BY_ITS_END = 0.7
"""Factor for a year that is the one asked for only by the calendar year in which it ends."""
DAYS_NEAR = 7
"""Number of days within which a filing still matches a date asked for."""


def slot_fit(slot: Slot, identity: Identity, metrics: Mapping[str, Metric]) -> float:
    """Return how likely the filing's columns contain the figure of a slot: 0 to 1, highest for the slot's own year."""
    reported = identity.reported_period
    if reported is None:
        return 0.0
    ago = reported.fiscal_year - slot.fiscal_year
    if slot.quarter is not None:
        if reported.quarter == slot.quarter:
            return {0: 1.0, 1: 0.6}.get(ago, 0.0)
        return 0.2 if is_annual(identity) and ago == 0 else 0.0
    if not is_annual(identity):
        return 0.1 if ago in (0, 1) else 0.0
    if slot_metric(slot, metrics).statement is Statement.BALANCE_SHEET and ago > 1:
        return 0.0
    fit = _COLUMN_OF_YEARS_AGO.get(ago, 0.0)
    return fit if identity.form in ANNUAL_FORMS else 0.8 * fit


def period_fit(period: FiscalPeriod, identity: Identity, *, by_end_too: bool = False) -> float:
    """Return how well the filing's own period fits the one asked about, 0 to 1.

    With `by_end_too`, a year also matches by the calendar year in which it ends, at a lower score: a question that does
    not name the company cannot know how the filer names its years.
    """
    if identity.fiscal_year is None:
        return 0.0
    fit = _fit_of_year(period, identity, 0)
    if by_end_too and identity.ending_year not in (None, identity.fiscal_year):
        assert identity.ending_year is not None
        fit = max(fit, _BY_ITS_END * _fit_of_year(period, identity, identity.ending_year - identity.fiscal_year))
    return fit


def date_fit(dates: Sequence[date], identity: Identity) -> float:
    """Return 1 if the filing is dated on a day asked about, 0.5 within a week of it, otherwise 0."""
    days = [day for day in (identity.period_end, identity.filed) if day is not None]
    gaps = [abs((day - asked).days) for day in days for asked in dates]
    if not gaps or min(gaps) > DAYS_NEAR:
        return 0.0
    return 1.0 if min(gaps) == 0 else 0.5


def form_fits(forms: Sequence[Form], identity: Identity) -> bool:
    """Return whether the filing has one of the forms asked for; an annual report counts as a 10-K."""
    return identity.form in forms or (Form.TEN_K in forms and identity.form is Form.ANNUAL_REPORT)


def _fit_of_year(period: FiscalPeriod, identity: Identity, later: int) -> float:
    """Return the fit of a period with the filing's years renamed to `later` years later."""
    assert identity.fiscal_year is not None
    reported = identity.reported_period
    if reported is None:
        ago = identity.fiscal_year + later - period.fiscal_year
        return 0.4 if ago == 0 else 0.1 if abs(ago) == 1 else 0.0
    ago = reported.fiscal_year + later - period.fiscal_year
    if period.quarter is not None:
        if reported.quarter == period.quarter:
            return {0: 1.0, 1: 0.4}.get(ago, 0.0)
        return 0.3 if ago == 0 else 0.0
    if is_annual(identity):
        return _TEXT_OF_YEARS_AGO.get(ago, 0.0) * (1.0 if identity.form in ANNUAL_FORMS else 0.9)
    return {0: 0.4, 1: 0.1}.get(ago, 0.0)
