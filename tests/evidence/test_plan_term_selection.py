"""Of several companies one is chosen by a figure: its terms are wanted, the others' are not."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fin_agent.evidence.expressions import Operation, SlotReference
from fin_agent.evidence.intent import Comparison, Intent, Relation, RequestedCompany, Selection
from fin_agent.evidence.plan import Plan, Term, missing_slots, selected_company, selected_terms
from fin_agent.evidence.slot_ledger import Entry, Figure, Ledger
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.slots import Slot

ACME, BOLT = RequestedCompany(key="acme", name="Acme"), RequestedCompany(key="bolt", name="Bolt")


def slot(company: RequestedCompany, metric: str, year: int = 2023) -> Slot:
    return Slot(company=company.key, company_name=company.name, metric=metric, label=metric, fiscal_year=year)


def term(company: RequestedCompany, metric: str, year: int = 2023) -> Term:
    return Term(company, FiscalPeriod(fiscal_year=year), SlotReference(slot(company, metric, year)))


def figure(amount: str, scale: int = 1_000_000) -> Figure:
    return Figure(
        doc_id="x", page=0, line=0, box=(0, 0, 1, 1), label="row", column="2023", amount=Decimal(amount),
        printed=Decimal(amount), scale=scale, unit="USD", fiscal_year=2023, quarter=None, months=12,
    )  # fmt: skip


def ledger(**filled: Figure) -> Ledger:
    entries = []
    for name, held in filled.items():
        company, metric, year = name.split("__")
        asked = ACME if company == "acme" else BOLT
        entries.append(Entry(slot=slot(asked, metric, int(year)), required=True, figure=held))
    return Ledger(entries=tuple(entries))


def intent(extreme: Comparison = Comparison.HIGHEST, relation: Relation = Relation.EACH) -> Intent:
    chosen_by = Selection(
        extreme=extreme, measure="revenue", expression="revenue", measure_unit="USD", relation=relation
    )
    return Intent(question="?", core="?", companies=(ACME, BOLT), expression="net_income", selection=chosen_by)


PLAN = Plan((term(ACME, "net_income"), term(BOLT, "net_income")), (), (term(ACME, "revenue"), term(BOLT, "revenue")))


def test_what_decides_is_required_and_what_is_asked_of_each_is_not() -> None:
    required = {f"{each.company} {each.metric}": needed for each, needed in PLAN.slots().items()}
    assert required == {
        "acme revenue": True, "bolt revenue": True, "acme net_income": False, "bolt net_income": False
    }  # fmt: skip


def test_first_the_ranking_is_lacking_then_only_what_is_asked_of_the_one_chosen() -> None:
    half = ledger(acme__revenue__2023=figure("5"))
    assert [str(each) for each in missing_slots(PLAN, intent(), half)] == ["revenue of Bolt for FY2023"]
    assert selected_terms(PLAN, intent(), half) == ()
    ranked = ledger(acme__revenue__2023=figure("5"), bolt__revenue__2023=figure("7"))
    assert missing_slots(PLAN, intent(), ranked) == (slot(BOLT, "net_income"),)
    assert missing_slots(PLAN, intent(Comparison.LOWEST), ranked) == (slot(ACME, "net_income"),)


def test_values_are_compared_in_base_units() -> None:
    held = ledger(acme__revenue__2023=figure("5"), bolt__revenue__2023=figure("4999", 1_000))
    assert selected_company(PLAN, intent(), held) == "acme"


def test_where_two_are_level_none_is_chosen() -> None:
    held = ledger(acme__revenue__2023=figure("5"), bolt__revenue__2023=figure("5000", 1_000))
    assert selected_company(PLAN, intent(), held) is None


def test_the_faster_growth_chooses_and_a_division_by_zero_chooses_nobody() -> None:
    ranked = (
        term(ACME, "revenue", 2022), term(ACME, "revenue"), term(BOLT, "revenue", 2022), term(BOLT, "revenue")
    )  # fmt: skip
    plan = Plan(PLAN.terms, (), ranked)
    held = {"acme__revenue__2022": figure("100"), "acme__revenue__2023": figure("110"),
            "bolt__revenue__2022": figure("10"), "bolt__revenue__2023": figure("12")}  # fmt: skip
    growing = intent(relation=Relation.GROWTH)
    assert selected_company(plan, growing, ledger(**held)) == "bolt"
    held["bolt__revenue__2022"] = figure("0")
    assert selected_company(plan, growing, ledger(**held)) is None


@pytest.mark.parametrize(("operator", "best"), [("/", "bolt"), ("-", "acme")])
def test_a_measure_of_several_figures_ranks_by_its_value(operator: str, best: str) -> None:
    def of(company: RequestedCompany) -> Term:
        tree = Operation(
            operator, SlotReference(slot(company, "gross_profit")), SlotReference(slot(company, "revenue"))
        )
        return Term(company, FiscalPeriod(fiscal_year=2023), tree)

    plan = Plan(PLAN.terms, (), (of(ACME), of(BOLT)))
    held = ledger(
        acme__gross_profit__2023=figure("60"), acme__revenue__2023=figure("40"),
        bolt__gross_profit__2023=figure("9"), bolt__revenue__2023=figure("5"),
    )  # fmt: skip
    assert selected_company(plan, intent(), held) == best
