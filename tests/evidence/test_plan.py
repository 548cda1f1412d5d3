"""Which figures an answer needs: the periods meant by each company, and what was assumed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest

from fin_agent.evidence.intent import Intent, Relation, RequestedCompany, RequestedMeasure
from fin_agent.evidence.plan import Plan, build_plan, by_company
from fin_agent.lexicon.fiscal_periods import FiscalPeriod, FiscalYears, with_those_between
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.identity import Form, Identity

ACME = RequestedCompany(key="acme", name="Acme Tools")
BELL = RequestedCompany(key="bell", name="Bell Stores")


def annual(year: int, ended: date) -> Identity:
    return Identity(company="x", form=Form.TEN_K, fiscal_year=year, period_end=ended)


YEARS = {
    "acme": FiscalYears.of("Acme Tools", [annual(year, date(year, 12, 31)) for year in (2020, 2021, 2022, 2023)]),
    "bell": FiscalYears.of("Bell Stores", [annual(year, date(year + 1, 1, 31)) for year in (2018, 2019)]),
    "new": FiscalYears.of("New Co", []),
}


def plan(
    expression: str,
    *periods: int | tuple[int, int],
    relation: Relation = Relation.EACH,
    companies: tuple[RequestedCompany, ...] = (ACME,),
    years: Mapping[str, FiscalYears] = YEARS,
    core: str = "?",
) -> Plan:
    asked = [
        FiscalPeriod(fiscal_year=period) if isinstance(period, int)
        else FiscalPeriod(fiscal_year=period[0], quarter=period[1])
        for period in periods
    ]  # fmt: skip
    intent = Intent(
        question=core, core=core, companies=companies, periods=tuple(asked), relation=relation, expression=expression
    )
    return build_plan(intent, load_lexicon(), years)


def terms(found: Plan) -> list[tuple[str, str]]:
    return [(term.company.key, str(term.period)) for term in found.terms]


def needed(found: Plan) -> set[tuple[str, int, int | None]]:
    return {(slot.metric, slot.fiscal_year, slot.quarter) for slot, required in found.slots().items() if required}


def test_words_have_no_plan() -> None:
    assert plan("revenue", 2023, relation=Relation.EXPLANATION) == Plan((), ())
    assert plan("", 2023) == Plan((), ())


def test_where_no_period_is_named_the_latest_year_is_taken_and_said() -> None:
    found = plan("revenue")
    assert terms(found) == [("acme", "FY2023")]
    assert len(found.notes) == 1
    assert "FY2023" in found.notes[0]
    assert "Acme Tools" in found.notes[0]


def test_a_company_without_a_year_on_file_has_no_terms() -> None:
    assert plan("revenue", companies=(RequestedCompany(key="new", name="New Co"),)).terms == ()


def test_a_calendar_year_that_the_filer_calls_otherwise_is_translated_with_a_note() -> None:
    found = plan("revenue", 2020, companies=(BELL,))
    assert terms(found) == [("bell", "FY2019")]
    assert "2020" in found.notes[0]
    assert "fiscal 2019" in found.notes[0]


def test_a_year_under_the_filers_own_name_is_never_translated() -> None:
    found = plan("revenue", 2019, companies=(BELL,))
    assert terms(found) == [("bell", "FY2019")]
    assert found.notes == ()


@pytest.mark.parametrize("relation", [Relation.AVERAGE, Relation.TOTAL])
def test_averages_and_totals_between_two_years_take_in_those_between_and_listed_ones_do_not(relation: Relation) -> None:
    assert terms(plan("revenue", 2020, 2023, relation=relation, core="average between 2020 and 2023")) == [
        ("acme", "FY2020"), ("acme", "FY2021"), ("acme", "FY2022"), ("acme", "FY2023"),
    ]  # fmt: skip
    assert terms(plan("revenue", 2020, 2023, relation=relation, core="2020 and 2023")) == [
        ("acme", "FY2020"), ("acme", "FY2023"),
    ]  # fmt: skip


def test_quarters_are_not_filled_up() -> None:
    found = plan("revenue", (2023, 1), (2023, 3), relation=Relation.AVERAGE)
    assert terms(found) == [("acme", "Q1 FY2023"), ("acme", "Q3 FY2023")]


def test_between_two_halves_lies_nothing() -> None:
    halves = [FiscalPeriod(fiscal_year=year, quarter=2, months=6) for year in (2022, 2023)]
    assert with_those_between(halves, "between H1 2022 and H1 2023") == halves


def test_totals_between_two_quarters_take_in_those_between() -> None:
    made = plan("revenue", (2022, 4), (2023, 2), relation=Relation.TOTAL, core="total between Q4 2022 and Q2 2023")
    assert [period for _, period in terms(made)] == ["Q4 FY2022", "Q1 FY2023", "Q2 FY2023"]


@pytest.mark.parametrize("relation", [Relation.GROWTH, Relation.CHANGE, Relation.TREND])
def test_one_year_is_compared_with_the_one_before(relation: Relation) -> None:
    assert terms(plan("revenue", 2022, relation=relation)) == [("acme", "FY2021"), ("acme", "FY2022")]


def test_a_quarter_is_compared_with_the_same_quarter_a_year_before() -> None:
    found = plan("revenue", (2023, 2), relation=Relation.GROWTH)
    assert terms(found) == [("acme", "Q2 FY2022"), ("acme", "Q2 FY2023")]


@pytest.mark.parametrize("relation", [Relation.GROWTH, Relation.CHANGE, Relation.ANNUAL_GROWTH])
def test_what_lies_between_two_ends_is_not_asked_for(relation: Relation) -> None:
    assert terms(plan("revenue", 2020, 2021, 2022, 2023, relation=relation)) == [("acme", "FY2020"), ("acme", "FY2023")]


def test_a_trend_looks_at_every_year() -> None:
    assert len(plan("revenue", 2020, 2021, 2022, relation=Relation.TREND).terms) == 3


def test_an_average_of_balances_needs_the_year_before() -> None:
    assert needed(plan("cost_of_revenue / avg(inventories)", 2022)) == {
        ("cost_of_revenue", 2022, None), ("inventories", 2022, None), ("inventories", 2021, None),
    }  # fmt: skip


def test_a_balance_before_a_quarter_is_that_of_the_year_end() -> None:
    assert needed(plan("revenue - prior(inventories)", (2022, 3))) == {
        ("revenue", 2022, 3), ("inventories", 2021, None),
    }  # fmt: skip


def test_a_pinned_year_stays_whatever_period_is_asked() -> None:
    assert needed(plan("revenue - inventories[2021]", 2023)) == {
        ("revenue", 2023, None), ("inventories", 2021, None),
    }  # fmt: skip


def test_every_company_gets_its_own_terms_in_its_own_years() -> None:
    found = plan("revenue", 2020, companies=(ACME, BELL))
    assert terms(found) == [("acme", "FY2020"), ("bell", "FY2019")]
    assert list(by_company(found.terms)) == ["acme", "bell"]


def test_a_slot_that_one_term_needs_is_required_even_where_another_could_do_without() -> None:
    found = plan("optional(goodwill) + prior(goodwill)", 2022, 2023)
    asked = {(slot.metric, slot.fiscal_year): required for slot, required in found.slots().items()}
    assert asked == {("goodwill", 2023): False, ("goodwill", 2022): True, ("goodwill", 2021): True}


def test_years_that_would_fall_together_are_all_taken_as_the_years_that_ended_in_them() -> None:
    identities = [
        Identity("Bell", Form.TEN_K, year, None, date(year + 1, 1, 28), fiscal_year_end_month=1)
        for year in (2021, 2022)
    ]
    years = {"bell": FiscalYears.of("Bell", identities)}
    found = plan("revenue", 2022, 2023, relation=Relation.CHANGE, companies=(BELL,), years=years)
    assert terms(found) == [("bell", "FY2021"), ("bell", "FY2022")]
    assert "the years that ended in them" in found.notes[0]
    alone = plan("revenue", 2023, companies=(BELL,), years=years)
    assert terms(alone) == [("bell", "FY2022")]


def of_parts(expression: str, *parts: str, companies: tuple[RequestedCompany, ...] = (ACME,)) -> Plan:
    intent = Intent(
        question="?", core="?", companies=companies, periods=(FiscalPeriod(fiscal_year=2023),),
        relation=Relation.EACH, expression=expression, parts=parts,
    )  # fmt: skip
    return build_plan(intent, load_lexicon(), YEARS)


def test_a_share_needs_the_parts_figure_and_the_wholes() -> None:
    slots = of_parts("100 * (revenue) / whole(revenue)", "Marine").slots()
    assert [str(slot) for slot, required in slots.items() if required] == [
        "Marine revenue of Acme Tools for FY2023",
        "revenue of Acme Tools for FY2023",
    ]


def test_a_parts_metric_is_derived_only_from_what_is_reported_of_it() -> None:
    found = of_parts("gross_profit", "Marine").slots()
    assert {slot.metric for slot in found} >= {"gross_profit", "revenue", "cost_of_revenue"}
    assert {slot.part for slot in found} == {"Marine"}
    # Short-term investments that are not reported of a part are not zero.
    assert {slot.metric for slot in of_parts("cash_and_short_term_investments", "Marine").slots()} == {
        "cash_and_short_term_investments"
    }
    assert "short_term_investments" in {slot.metric for slot in of_parts("cash_and_short_term_investments").slots()}


def test_parts_side_by_side_have_terms_of_their_own() -> None:
    marine, garden = (
        RequestedCompany(key="acme", name=f"{part} of Acme Tools", part=part) for part in ("Marine", "Garden")
    )
    found = of_parts("revenue", "Marine", "Garden", companies=(marine, garden))
    assert [next(str(slot) for slot in found.slots()), len(by_company(found.terms))] == [
        "Marine revenue of Acme Tools for FY2023",
        2,
    ]
    assert {slot.part for slot in found.slots()} == {"Marine", "Garden"}


def test_a_part_that_is_called_by_its_measure_is_not_called_so_twice() -> None:
    (first, *_) = of_parts("revenue", "Bitcoin revenue").slots()
    assert first.label == "Bitcoin revenue"


def test_the_years_of_a_company_can_be_looked_up_by() -> None:
    again = FiscalYears.of("Acme Tools", [annual(year, date(year, 12, 31)) for year in (2020, 2021, 2022, 2023)])
    assert again.closes
    assert {YEARS["acme"]: "known"}[again] == "known"


def test_terms_say_which_measure_they_are_of() -> None:
    intent = Intent(
        question="q", core="q", companies=(ACME,), relation=Relation.EACH, measure="revenue", expression="revenue",
        measure_unit="USD", periods=(FiscalPeriod(fiscal_year=2022),),
        further=(RequestedMeasure(words="net income", expression="net_income", measure_unit="USD"),),
    )  # fmt: skip
    plan = build_plan(intent, load_lexicon(), YEARS)
    assert [(term.measure, str(term.period)) for term in plan.terms] == [(0, "FY2022"), (1, "FY2022")]
    assert [slot.metric for slot, required in plan.slots().items() if required] == ["revenue", "net_income"]


def test_years_shift_together_where_one_can_only_be_the_year_that_ended_in_it() -> None:
    found = plan("revenue", 2018, 2020, companies=(BELL,))
    assert {year for _, year, _ in needed(found)} == {2017, 2019}


def test_years_that_end_about_new_year_keep_their_names() -> None:
    years = {"near": FiscalYears.of("Near Co", [annual(2019, date(2020, 1, 3))])}
    found = plan("revenue", 2018, 2020, companies=(RequestedCompany(key="near", name="Near Co"),), years=years)
    assert {year for _, year, _ in needed(found)} == {2018, 2019}
