"""Programs: one named and cited variable per figure, arithmetic without needless parentheses, the right value."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.answering.amounts import convert_to_unit, format_amount
from fin_agent.answering.program import Program, check_program, write_program
from fin_agent.answering.sandbox import MontySandbox
from fin_agent.evidence.expressions import (
    Constant,
    Function,
    Node,
    Operation,
    SlotReference,
    bind,
    parse_formula,
)
from fin_agent.evidence.intent import Comparison, Intent, Relation, RequestedCompany
from fin_agent.evidence.plan import Plan, Term
from fin_agent.evidence.slot_ledger import Entry, Figure, Ledger
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.slots import Slot

ACME = RequestedCompany(key="acme", name="Acme Tools, Inc.")
BELL = RequestedCompany(key="bell", name="Bell Stores")


def slot(metric: str, year: int = 2023, company: RequestedCompany = ACME) -> Slot:
    return Slot(company=company.key, company_name=company.name, metric=metric, label=metric, fiscal_year=year)


def figure(
    amount: str, scale: int = 1_000_000, unit: str = "USD", year: int = 2023, printed: str | None = None
) -> Figure:
    return Figure(
        doc_id="acme23", page=40, line=6, box=(0, 0, 1, 1), label="Net sales", column=str(year), amount=Decimal(amount),
        printed=Decimal(printed or amount), scale=scale, unit=unit, fiscal_year=year, quarter=None, months=12,
    )  # fmt: skip


def ledger(figures: dict[Slot, Figure]) -> Ledger:
    return Ledger(entries=tuple(Entry(slot=place, required=True, figure=held) for place, held in figures.items()))


def tree(expression: str, year: int = 2023, company: RequestedCompany = ACME) -> Node:
    return bind(
        parse_formula(expression),
        slot_of=lambda asked: slot(asked.name, asked.year if asked.year is not None else year + asked.shift, company),
        formula_of=lambda name: None,
        derive_of=lambda asked: None,
    )


def plan(expression: str, *years: int, companies: tuple[RequestedCompany, ...] = (ACME,)) -> Plan:
    return Plan(
        tuple(
            Term(company, FiscalPeriod(fiscal_year=year), tree(expression, year, company))
            for company in companies
            for year in years
        ),
        (),
    )


def intent(relation: Relation = Relation.EACH, comparison: Comparison = Comparison.NONE) -> Intent:
    return Intent(question="?", core="?", relation=relation, comparison=comparison, expression="x")


def run(program: Program) -> object:
    namespace: dict[str, object] = {}
    exec(program.code, namespace)  # what is written here, from figures of this file
    solution = namespace["solution"]
    assert callable(solution)
    result = solution()
    assert MontySandbox().run(program.code).value == result
    return result


def test_every_figure_is_a_named_variable_with_its_source() -> None:
    program = write_program(plan("revenue", 2023), ledger({slot("revenue"): figure("3763")}), intent())
    assert program.code == (
        "def solution():\n"
        "    revenue_fy2023 = 3763  # USD millions: 'Net sales', acme23 page 41 line 7\n"
        "\n"
        "    return revenue_fy2023\n"
    )
    assert program.variables["revenue_fy2023"].amount == 3763


def test_several_companies_are_told_apart_by_their_names() -> None:
    held = {slot("revenue"): figure("10"), slot("revenue", company=BELL): figure("4")}
    program = write_program(
        plan("revenue", 2023, companies=(ACME, BELL)), ledger(held), intent(comparison=Comparison.DIFFERENCE)
    )
    assert list(program.variables) == ["acme_revenue_fy2023", "bell_revenue_fy2023"]
    assert run(program) == 6


def test_companies_whose_names_begin_alike_keep_their_own_figures() -> None:
    twin = RequestedCompany(key="acme2", name="Acme Foods")
    held = {slot("revenue"): figure("10"), slot("revenue", company=twin): figure("4")}
    program = write_program(
        plan("revenue", 2023, companies=(ACME, twin)), ledger(held), intent(comparison=Comparison.DIFFERENCE)
    )
    assert len(program.variables) == 2
    assert run(program) == 6


def test_a_sign_that_was_turned_is_said_in_the_citation() -> None:
    program = write_program(plan("capex", 2023), ledger({slot("capex"): figure("141", printed="-141")}), intent())
    assert "printed negative" in program.code
    assert run(program) == 141


def test_figures_of_filings_in_thousands_and_millions_are_brought_to_one_scale() -> None:
    held = {
        slot("revenue"): figure("3763"),
        slot("revenue", company=BELL): figure("5272046", scale=1_000),
        slot("cost"): figure("1723"),
        slot("cost", company=BELL): figure("3252852", scale=1_000),
        slot("goodwill"): figure("1"),
    }
    program = write_program(
        plan("revenue - cost", 2023, companies=(ACME, BELL)), ledger(held), intent(comparison=Comparison.RATIO)
    )
    assert program.scale == 1_000_000
    assert run(program) == pytest.approx((3763 - 1723) / (5272.046 - 3252.852))


def test_counts_enter_in_their_own_scale_and_one_by_one_beside_amounts() -> None:
    members = figure("51778", scale=1_000, unit="count")
    alone = write_program(plan("members", 2023), ledger({slot("members"): members}), intent())
    assert (run(alone), alone.scale_of("count"), alone.scale_of("percent")) == (51_778, 1_000, 1)
    held = {slot("members"): members, slot("revenue"): figure("5178")}
    each = write_program(plan("revenue / members", 2023), ledger(held), intent())
    assert run(each) == pytest.approx(5178 / 51_778_000)
    assert (each.scale_of("USD"), each.scale_of("count")) == (1_000_000, 1)
    assert check_program(each.code, each, "").ok
    mixed = {slot("members"): members, slot("people"): figure("8600", scale=1, unit="count")}
    per_head = write_program(plan("members / people", 2023), ledger(mixed), intent())
    assert run(per_head) == pytest.approx(51_778_000 / 8_600)


@pytest.mark.parametrize(
    ("value", "unit", "scale", "told"),
    [
        (51_778.0, "count", 1_000, "51,778 thousand"),
        (27.0, "count", 1_000_000, "27 million"),
        (8_600.0, "count", 1, "8,600"),
        (0.129302, "USD", 1_000, "$129.302"),
        (0.4, "USD", 1_000_000, "$0.4 million"),
    ],
)
def test_counts_are_told_in_their_scale(value: float, unit: str, scale: int, told: str) -> None:
    assert format_amount(*convert_to_unit(value, unit, scale, None)) == told


def test_per_share_figures_and_percentages_are_never_scaled() -> None:
    held = {slot("revenue"): figure("100"), slot("eps"): figure("3.87", scale=1, unit="USD per share")}
    program = write_program(plan("revenue - eps", 2023), ledger(held), intent())
    assert run(program) == pytest.approx(96.13)


def test_what_is_not_filled_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="revenue of Acme"):
        write_program(plan("revenue", 2023), ledger({}), intent())


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (Relation.GROWTH, 100 * (30 - 10) / 10),
        (Relation.CHANGE, 20),
        (Relation.ANNUAL_GROWTH, 100 * ((30 / 10) ** 0.5 - 1)),
        (Relation.AVERAGE, (10 + 16 + 30) / 3),
        (Relation.TOTAL, 56),
    ],
)
def test_relations_over_time(relation: Relation, expected: float) -> None:
    held = {slot("revenue", year): figure(amount) for year, amount in ((2021, "10"), (2022, "16"), (2023, "30"))}
    program = write_program(plan("revenue", 2021, 2022, 2023), ledger(held), intent(relation))
    assert run(program) == pytest.approx(expected)
    assert program.names == ()


def test_growth_from_a_loss_is_positive_where_it_shrinks() -> None:
    held = {slot("net_income", 2022): figure("-40"), slot("net_income", 2023): figure("-10")}
    program = write_program(plan("net_income", 2022, 2023), ledger(held), intent(Relation.GROWTH))
    assert run(program) == pytest.approx(75)


@pytest.mark.parametrize(("relation", "returned"), [(Relation.EACH, [16, 30]), (Relation.TREND, [16, 30, 14])])
def test_each_period_is_listed_with_its_name(relation: Relation, returned: list[int]) -> None:
    held = {slot("revenue", 2022): figure("16"), slot("revenue", 2023): figure("30")}
    program = write_program(plan("revenue", 2022, 2023), ledger(held), intent(relation))
    assert run(program) == returned
    assert program.names == ("Acme Tools, Inc. FY2022", "Acme Tools, Inc. FY2023")


def test_companies_are_compared_after_the_relation_over_time() -> None:
    held = {
        slot("revenue", 2022): figure("10"), slot("revenue", 2023): figure("20"),
        slot("revenue", 2022, BELL): figure("40"), slot("revenue", 2023, BELL): figure("60"),
    }  # fmt: skip
    program = write_program(
        plan("revenue", 2022, 2023, companies=(ACME, BELL)),
        ledger(held),
        intent(Relation.AVERAGE, Comparison.HIGHEST),
    )
    assert run(program) == [15, 50]
    assert program.names == ("Acme Tools, Inc.", "Bell Stores")


def test_the_total_of_two_companies() -> None:
    held = {slot("revenue"): figure("10"), slot("revenue", company=BELL): figure("4")}
    program = write_program(
        plan("revenue", 2023, companies=(ACME, BELL)), ledger(held), intent(comparison=Comparison.TOTAL)
    )
    assert run(program) == 14


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        ("a + b + c", "a_fy2023 + b_fy2023 + c_fy2023"),
        ("a - (b - c)", "a_fy2023 - (b_fy2023 - c_fy2023)"),
        ("(a - b) - c", "a_fy2023 - b_fy2023 - c_fy2023"),
        ("a / (b * c)", "a_fy2023 / (b_fy2023 * c_fy2023)"),
        ("(a * b) / c", "a_fy2023 * b_fy2023 / c_fy2023"),
        ("100 * (a + b) / c", "100 * (a_fy2023 + b_fy2023) / c_fy2023"),
        ("a / mean(b, c)", "a_fy2023 / ((b_fy2023 + c_fy2023) / 2)"),
        ("abs(a - b)", "abs(a_fy2023 - b_fy2023)"),
    ],
)
def test_parentheses_stand_only_where_they_are_needed(expression: str, written: str) -> None:
    held = {slot(name): figure("5") for name in "abc"}
    code = write_program(plan(expression, 2023), ledger(held), intent()).code
    assert f" = {written}\n" in code


_TREES = st.recursive(
    st.one_of(
        st.sampled_from("abcdef").map(lambda name: SlotReference(slot(name))),
        st.one_of(st.integers(-400, 400), st.floats(-1e6, 1e6, allow_nan=False)).map(Constant),
    ),
    lambda inner: st.one_of(
        st.builds(Operation, st.sampled_from("+-*/"), inner, inner),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: Function("mean", tuple(parts))),
        inner.map(lambda part: Function("abs", (part,))),
    ),
    max_leaves=12,
)


@given(_TREES, st.lists(st.decimals(-1000, 1000, places=3), min_size=6, max_size=6))
def test_a_written_program_has_the_value_of_its_tree(expression: Node, amounts: list[Decimal]) -> None:
    held = {slot(name): figure(str(amount)) for name, amount in zip("abcdef", amounts, strict=True)}
    program = write_program(Plan((Term(ACME, FiscalPeriod(fiscal_year=2023), expression),), ()), ledger(held), intent())
    namespace: dict[str, object] = {}
    exec(program.code, namespace)
    try:
        expected = evaluated(expression, held)
    except ZeroDivisionError:
        return
    solution = namespace["solution"]
    assert callable(solution)
    try:
        assert solution() == pytest.approx(expected, rel=1e-9, abs=1e-9)
    except ZeroDivisionError:
        pytest.fail(f"divides by zero: {program.code}")


def evaluated(node: Node, held: dict[Slot, Figure]) -> float:
    match node:
        case Constant(value):
            return float(value)
        case SlotReference(place):
            return float(held[place].amount)
        case Operation(operator, left, right):
            first, second = evaluated(left, held), evaluated(right, held)
            if operator == "/":
                return first / second
            return {"+": first + second, "-": first - second, "*": first * second}[operator]
        case Function("mean", parts):
            return sum(evaluated(part, held) for part in parts) / len(parts)
        case Function("abs", (of,)):
            return abs(evaluated(of, held))
        case _:
            raise AssertionError(node)


@given(st.decimals(-1_000_000_000, 1_000_000_000, places=2), st.sampled_from([1, 1_000, 1_000_000, 1_000_000_000]))
def test_a_figure_keeps_its_value_through_any_unit_of_dollars(amount: Decimal, scale: int) -> None:
    sizes = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}
    for wanted, size in sizes.items():
        value, unit = convert_to_unit(float(amount), "USD", scale, wanted)
        assert unit == wanted
        assert value * size == pytest.approx(float(amount) * scale, rel=1e-12)


def test_units_that_do_not_fit_leave_the_value_alone() -> None:
    assert convert_to_unit(0.65, "ratio", 1, "percent") == (65.0, "percent")
    assert convert_to_unit(65.0, "percent", 1, "ratio") == (0.65, "ratio")
    assert convert_to_unit(0.65, "ratio", 1, "USD millions") == (0.65, "ratio")
    assert convert_to_unit(12.0, "days", 1_000, None) == (12.0, "days")
    assert convert_to_unit(3.2, "USD", 1_000_000, None) == (3.2, "USD millions")
    assert convert_to_unit(165.5, "shares", 1_000_000, None) == (165_500_000.0, "shares")


def test_names_of_variables_are_python_names() -> None:
    odd = RequestedCompany(key="3m", name="3M Company")
    held = {slot("revenue", company=odd): figure("1"), slot("revenue"): figure("2")}
    program = write_program(
        plan("revenue", 2023, companies=(odd, ACME)), ledger(held), intent(comparison=Comparison.TOTAL)
    )
    assert all(re.fullmatch(r"[a-z_][a-z0-9_]*", name) for name in program.variables)
    assert run(program) == 3
