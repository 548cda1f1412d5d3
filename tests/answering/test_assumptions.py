"""When the years of a filer ended, where they are not the calendar's, and what counts as zero."""

from __future__ import annotations

from datetime import date

import pytest

from fin_agent.answering.answer_composition import assumptions
from fin_agent.evidence.expressions import Function, SlotReference
from fin_agent.evidence.intent import Intent, Relation, RequestedCompany
from fin_agent.evidence.plan import Plan, Term
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.lexicon.fiscal_periods import FiscalPeriod, FiscalYears
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.workspace import Workspace

ACME = RequestedCompany(key="acme", name="Acme")
INTENT = Intent(question="?", core="?")


def notes(filed: FiscalYears, *periods: FiscalPeriod) -> tuple[str, ...]:
    slot = Slot(company="acme", company_name="Acme", metric="revenue", label="revenue", fiscal_year=2022)
    terms = tuple(Term(ACME, period, SlotReference(slot)) for period in periods)
    return assumptions(Plan(terms, ()), INTENT, Ledger(), {"acme": filed}, {})


def filed(*closes: tuple[int, int | None, date]) -> FiscalYears:
    ends = {FiscalPeriod(fiscal_year=year, quarter=quarter): end for year, quarter, end in closes}
    return FiscalYears("Acme", (), (), (), ends)


RETAILER = filed((2021, None, date(2022, 1, 29)), (2022, None, date(2023, 1, 28)))


def test_years_that_are_not_the_calendars_are_dated_in_one_sentence() -> None:
    years = FiscalPeriod(fiscal_year=2022), FiscalPeriod(fiscal_year=2021)
    assert notes(RETAILER, *years) == ("FY2021 of Acme ended on January 29, 2022, FY2022 on January 28, 2023",)
    assert notes(RETAILER, years[0], years[0]) == ("FY2022 of Acme ended on January 28, 2023",)


@pytest.mark.parametrize(
    ("year", "quarter", "end"),
    [(2022, None, date(2022, 12, 31)), (2022, None, date(2022, 12, 25)), (2022, 2, date(2022, 6, 30))],
)
def test_calendar_years_and_quarters_need_no_date(year: int, quarter: int | None, end: date) -> None:
    period = FiscalPeriod(fiscal_year=year, quarter=quarter)
    assert notes(filed((year, quarter, end)), period) == ()


def test_a_year_whose_report_is_not_indexed_has_no_date() -> None:
    assert notes(RETAILER, FiscalPeriod(fiscal_year=2019)) == ()


def test_a_part_that_is_not_reported_counts_as_zero_and_is_named() -> None:
    slot = Slot(company="acme", company_name="Acme", metric="goodwill", label="goodwill", fiscal_year=2022)
    plan = Plan((Term(ACME, FiscalPeriod(fiscal_year=2022), Function("optional", (SlotReference(slot),))),), ())
    assert assumptions(plan, INTENT, Ledger(), {}, {}) == (f"{slot} is not reported and counts as zero",)


def test_a_formula_of_the_lexicon_is_told() -> None:
    formulas = load_lexicon().formulas
    read = Intent(question="?", core="?", expression="gross_margin", relation=Relation.EACH)
    told = assumptions(Plan((), ()), read, Ledger(), {}, formulas)
    assert told == ("gross margin is gross profit as a percentage of revenue",)
    assert assumptions(Plan((), ()), INTENT, Ledger(), {}, formulas) == ()


def identity(form: Form, year: int, quarter: int | None, end: date) -> Identity:
    return Identity(
        company="Acme", form=form, fiscal_year=year, quarter=quarter, period_end=end,
    )  # fmt: skip


def test_periods_close_with_the_reports_about_them_not_with_releases() -> None:
    years = FiscalYears.of(
        "Acme",
        [
            identity(Form.TEN_K, 2022, None, date(2023, 1, 28)),
            identity(Form.TEN_Q, 2022, 2, date(2022, 7, 30)),
            identity(Form.EIGHT_K, 2021, 4, date(2022, 3, 1)),
        ],
    )
    assert years.closes == {
        FiscalPeriod(fiscal_year=2022): date(2023, 1, 28),
        FiscalPeriod(fiscal_year=2022, quarter=2): date(2022, 7, 30),
    }


def test_the_sample_filers_close_when_their_covers_say(workspace: Workspace) -> None:
    closes = {
        (years.company.split()[0], period.fiscal_year): end
        for years in workspace.years.values()
        for period, end in years.closes.items()
        if period.quarter is None
    }
    assert closes["Quillmark", 2024] == date(2025, 2, 1)
    assert closes["Harborlight", 2023] == date(2023, 12, 31)
