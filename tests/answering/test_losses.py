"""Losses set against each other: the larger one lies further below zero, and a profit is no loss."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.loss_comparison import with_losses
from fin_agent.answering.answer_composition import numeric_answer
from fin_agent.answering.program import CHANGE, ENDS, Program
from fin_agent.evidence.expressions import Constant
from fin_agent.evidence.intent import Claim, Comparison, Intent, Relation, RequestedCompany
from fin_agent.evidence.plan import Plan, Term
from fin_agent.lexicon.fiscal_periods import FiscalPeriod

ACME = RequestedCompany(key="acme", name="Acme")
BELL = RequestedCompany(key="bell", name="Bell")


def asked(
    core: str,
    relation: Relation = Relation.EACH,
    comparison: Comparison = Comparison.NONE,
    *,
    measure: str = "net loss",
    expression: str = "net_income",
    companies: tuple[RequestedCompany, ...] = (ACME,),
    years: tuple[int, ...] = (2021,),
    claim: Claim | None = None,
) -> Intent:
    return with_losses(
        Intent(
            question=core, core=core, companies=companies, relation=relation, comparison=comparison, measure=measure,
            expression=expression, measure_unit="USD", claim=claim,
            periods=tuple(FiscalPeriod(fiscal_year=year) for year in years),
        )
    )  # fmt: skip


def said(intent: Intent, *numbers: float, beside: tuple[str, ...] = ()) -> str:
    terms = tuple(Term(company, period, Constant(1)) for company in intent.companies for period in intent.periods)
    names = tuple(f"{term.company.name} {term.period}" for term in terms)
    program = Program("", {}, 1_000_000, names[: len(numbers) - len(beside)], beside)
    result = numbers[0] if len(numbers) == 1 else list(numbers)
    return numeric_answer(intent, Plan(terms, ()), program, result).text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("comparison", "numbers", "begins"),
    [
        (Comparison.HIGHEST, (-6, -90, -40), "FY2020: -$90 million"),
        (Comparison.LOWEST, (-6, -90, -40), "FY2019: -$6 million"),
        (Comparison.LOWEST, (50, -90, -40), "FY2021: -$40 million"),
        (Comparison.HIGHEST, (6, 90, 40), "None of these is below zero"),
    ],
)
def test_the_largest_loss_lies_furthest_below_zero(
    comparison: Comparison, numbers: tuple[float, ...], begins: str
) -> None:
    intent = asked("Which year had the largest net loss?", comparison=comparison, years=(2019, 2020, 2021))
    assert said(intent, *numbers).startswith(begins)


def test_the_company_that_lost_more_has_the_larger_loss() -> None:
    core = "Which had the bigger operating loss, Acme or Bell?"
    intent = asked(core, comparison=Comparison.HIGHEST, measure="operating loss", companies=(ACME, BELL))
    assert said(intent, -10, -30).startswith("Bell FY2021 has the largest operating loss: -$30 million")


@pytest.mark.parametrize(
    ("core", "claim", "last", "begins"),
    [
        ("Did the net loss shrink in 2021?", None, -30, "Yes: net loss of Acme narrowed by $20 million"),
        ("Did the net loss grow in 2021?", None, -30, "No: net loss of Acme narrowed"),
        ("Did the net loss widen in 2021?", None, -80, "Yes: net loss of Acme widened by $30 million"),
        ("Did the net loss improve in 2021?", None, -80, "No: net loss of Acme widened"),
        ("Did the net loss worsen in 2021?", None, -80, "Yes: net loss of Acme widened"),
        ("Was 2021's net loss smaller than 2020's?", Claim(above=False), -30, "Yes: net loss of Acme narrowed"),
        ("Was 2021's net loss worse than 2020's?", Claim(above=False), -30, "No: net loss of Acme narrowed"),
        ("Did the net loss shrink in 2021?", None, 30, "Not all of these are below zero"),
    ],
)
def test_a_loss_that_shrinks_comes_nearer_to_zero(core: str, claim: Claim | None, last: float, begins: str) -> None:
    intent = asked(core, Relation.TREND, years=(2020, 2021), claim=claim)
    assert said(intent, -50, last, last + 50, beside=CHANGE).startswith(begins)


def test_the_change_of_a_loss_is_reckoned_with_the_loss() -> None:
    intent = asked("By how much did the net loss shrink from 2020 to 2021?", Relation.CHANGE, years=(2020, 2021))
    assert intent.expression == "0 - net_income"
    assert said(intent, -20, 50, 30, beside=ENDS).endswith(
        "-$20 million (from $50 million in FY2020 to $30 million in FY2021, down 40.0%)."
    )
    assert said(intent, -80, 50, -30, beside=ENDS).startswith("Not every figure is a loss.")


def test_profits_and_what_is_used_are_no_losses() -> None:
    years = (2020, 2021)
    plain = asked("Which year had the largest net income (loss)?", comparison=Comparison.HIGHEST, measure="net income",
                  years=years)  # fmt: skip
    flows = {"measure": "cash from operations", "expression": "cash_from_operations", "years": years}
    burnt = asked("Which year did it burn the most operating cash?", comparison=Comparison.HIGHEST, **flows)  # type: ignore[arg-type]
    made = asked("Which year had the most operating cash flow?", comparison=Comparison.HIGHEST, **flows)  # type: ignore[arg-type]
    assert (plain.losses, burnt.losses, made.losses) == (False, True, False)


@pytest.mark.parametrize(("core", "begins"), [
    ("Which had the biggest drop in net income in 2021, Acme or Bell?",
     "Bell FY2021 has the largest decline in net income: -$30"),
    ("Which had the biggest rise in net income in 2021, Acme or Bell?",
     "Acme FY2021 has the higher change in net income: $10"),
])  # fmt: skip
def test_the_biggest_drop_is_the_lowest_change(core: str, begins: str) -> None:
    intent = asked(core, Relation.CHANGE, Comparison.HIGHEST, measure="net income", companies=(ACME, BELL))
    intent = intent.model_copy(update={"losses": "drop" in core})
    assert said(intent, 10, -30).startswith(begins)
