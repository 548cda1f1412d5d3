"""Formulas as trees: parsed, bound to slots, resolved with what is known."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.errors import LexiconError
from fin_agent.evidence.expressions import (
    Constant,
    Function,
    Node,
    Operation,
    Quantity,
    SlotReference,
    assumes_zero,
    bind,
    parse_formula,
    resolve,
    shift_years,
    slots_of,
)
from fin_agent.lexicon.slots import Slot

FORMULAS = {
    "gross_margin": "100 * gross_profit / revenue",
    "margin_before": "prior(gross_margin)",
    "turnover": "cost / avg(inventory)",
}
DERIVED = {
    "gross_profit": "revenue - cost",
    "revenue": "gross_profit + cost",
    "total_debt": "first(short_debt + long_debt, long_debt)",
}


def slot(metric: str, year: int = 2023) -> Slot:
    return Slot(company="acme", company_name="Acme", metric=metric, label=metric, fiscal_year=year)


def bound(expression: str, year: int = 2023) -> Node:
    return bind(
        parse_formula(expression),
        slot_of=lambda asked: slot(asked.name, asked.year if asked.year is not None else year + asked.shift),
        formula_of=lambda name: parse_formula(FORMULAS[name]) if name in FORMULAS else None,
        derive_of=lambda asked: parse_formula(DERIVED[asked.name]) if asked.name in DERIVED else None,
    )


def value(tree: Node, known: Mapping[Slot, float]) -> float:
    match tree:
        case Constant(number):
            return number
        case SlotReference(place):
            return known[place]
        case Operation(operator, left, right):
            first, second = value(left, known), value(right, known)
            if operator == "/":
                return first / second
            return {"+": first + second, "-": first - second, "*": first * second}[operator]
        case Function("mean", parts):
            return sum(value(part, known) for part in parts) / len(parts)
        case Function("abs", (of,)):
            return abs(value(of, known))
        case _:
            raise AssertionError(f"not resolved: {tree}")


def test_a_formula_keeps_the_precedence_of_arithmetic() -> None:
    assert parse_formula("a + b * c") == Operation("+", Quantity("a"), Operation("*", Quantity("b"), Quantity("c")))
    assert parse_formula("a - b - c") == Operation("-", Operation("-", Quantity("a"), Quantity("b")), Quantity("c"))


def test_functions_of_the_grammar_become_shifts_means_and_choices() -> None:
    assert parse_formula("prior(a)") == Quantity("a", -1)
    assert parse_formula("avg(a)") == Function("mean", (Quantity("a"), Quantity("a", -1)))
    assert parse_formula("change(a)") == Operation("-", Quantity("a"), Quantity("a", -1))
    assert parse_formula("mean(a, b, c)") == Function("mean", (Quantity("a"), Quantity("b"), Quantity("c")))
    assert parse_formula("first(a, b)") == Function("first", (Quantity("a"), Quantity("b")))
    assert parse_formula("optional(abs(a))") == Function("optional", (Function("abs", (Quantity("a"),)),))
    assert parse_formula("revenue[2019]") == Quantity("revenue", 0, 2019)
    assert parse_formula("-a") == Operation("-", Constant(0), Quantity("a"))
    assert parse_formula('a - "Content  obligations"') == Operation(
        "-", Quantity("a"), Quantity("Content obligations", printed=True)
    )


def test_prior_of_a_whole_expression_shifts_every_part_of_it() -> None:
    assert parse_formula("prior(a / avg(b))") == Operation(
        "/", Quantity("a", -1), Function("mean", (Quantity("b", -1), Quantity("b", -2)))
    )


def test_a_pinned_year_moves_when_it_is_shifted() -> None:
    assert shift_years(parse_formula("a[2019] + b"), -2) == parse_formula("a[2017] + prior(prior(b))")


@pytest.mark.parametrize(
    "text",
    ["", "a +", "a ** b", "a if b else c", "open('x')", "a.b", "avg(a, b)", "mean()", "a[b]", "' '", "a == b",
     "__import__('os').system('true')", "lambda: 1", "[a, b]", "f(x=1)", "True", "a // b", "unknown(a)", "a[2019.5]"],
)  # fmt: skip
def test_what_is_outside_the_grammar_is_refused_with_the_text_that_caused_it(text: str) -> None:
    with pytest.raises(LexiconError) as refused:
        parse_formula(text)
    assert refused.value.subject == text


def test_binding_expands_formulas_and_offers_the_derivation_of_a_metric_second() -> None:
    tree = bound("gross_margin")
    assert isinstance(tree, Operation)
    wanted = list(dict(slots_of(tree)))
    assert slot("gross_profit") in wanted
    assert slot("cost") in wanted
    printed, missing = resolve(tree, {slot("gross_profit"), slot("revenue")}.__contains__)
    assert missing == ()
    assert printed is not None
    assert value(printed, {slot("gross_profit"): 30.0, slot("revenue"): 120.0}) == pytest.approx(25)


def test_a_metric_that_is_not_printed_is_derived() -> None:
    known = {slot("revenue"): 120.0, slot("cost"): 90.0}
    tree, missing = resolve(bound("gross_margin"), known.__contains__)
    assert missing == ()
    assert tree is not None
    assert value(tree, known) == pytest.approx(25)


def test_what_is_missing_is_named_by_the_figure_itself_not_by_its_derivation() -> None:
    tree, missing = resolve(bound("total_debt"), {slot("short_debt")}.__contains__)
    assert tree is None
    assert missing == (slot("total_debt"),)


def test_everything_missing_of_an_expression_is_named() -> None:
    tree, missing = resolve(bound("turnover"), {slot("inventory", 2023)}.__contains__)
    assert tree is None
    assert missing == (slot("cost"), slot("inventory", 2022))


def test_the_first_option_that_can_be_computed_is_taken() -> None:
    known = {slot("short_debt"): 5.0, slot("long_debt"): 20.0}
    both, _ = resolve(bound("total_debt"), known.__contains__)
    assert both is not None
    assert value(both, known) == 25
    only_long, _ = resolve(bound("total_debt"), {slot("long_debt")}.__contains__)
    assert only_long is not None
    assert value(only_long, known) == 20


def test_what_is_not_reported_counts_as_zero_only_where_the_formula_says_so() -> None:
    tree, missing = resolve(bound("cost + optional(extra)"), {slot("cost")}.__contains__)
    assert missing == ()
    assert tree == Operation("+", SlotReference(slot("cost")), Constant(0))
    assert resolve(bound("cost + extra"), {slot("cost")}.__contains__) == (None, (slot("extra"),))


def test_metrics_that_derive_from_each_other_do_not_loop() -> None:
    tree = bound("gross_profit")  # from revenue and cost, where revenue derives from gross profit and cost
    assert [place.metric for place, _ in slots_of(tree)].count("gross_profit") == 2
    assert resolve(tree, lambda place: False) == (None, (slot("gross_profit"),))


def test_shifts_add_up_through_nested_formulas_and_pinned_years_stay() -> None:
    known = dict(slots_of(bound("prior(margin_before) + 0 * revenue[2015]")))
    assert slot("gross_profit", 2021) in known
    assert slot("revenue", 2015) in known
    assert slot("gross_profit", 2023) not in known


def test_a_pinned_formula_is_taken_as_of_that_year() -> None:
    wanted = dict(slots_of(bound("turnover[2019]")))
    assert set(wanted) == {slot("cost", 2019), slot("inventory", 2019), slot("inventory", 2018)}


def test_only_what_cannot_be_done_without_is_required() -> None:
    wanted = dict(slots_of(bound("first(a, b) + optional(c) + d")))
    assert wanted == {slot("a"): True, slot("b"): False, slot("c"): False, slot("d"): True}


_LEAVES = st.one_of(
    st.sampled_from(["a", "b", "c", "d", "a[2020]", "prior(b)"]), st.integers(1, 400).map(str), st.just("2.5")
)
_EXPRESSIONS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"),
        inner.map(lambda text: f"avg({text})"),
        inner.map(lambda text: f"abs({text})"),
        st.tuples(inner, inner).map(lambda parts: f"mean({parts[0]}, {parts[1]})"),
    ),
    max_leaves=10,
)


@given(_EXPRESSIONS, st.lists(st.floats(0.5, 50), min_size=30, max_size=30))
def test_a_bound_tree_has_the_value_of_its_text(text: str, amounts: list[float]) -> None:
    tree = bound(text)
    places = sorted({place for place, _ in slots_of(tree)}, key=str)
    known = dict(zip(places, amounts, strict=False))
    settled, missing = resolve(tree, known.__contains__)
    assert missing == ()
    assert settled is not None
    try:
        direct = _evaluated(ast.parse(text, mode="eval").body, known, 2023)
        read = value(settled, known)
    except ZeroDivisionError:
        return
    assert read == pytest.approx(direct, rel=1e-9, abs=1e-9)


def _evaluated(tree: ast.expr, known: Mapping[Slot, float], year: int) -> float:
    """The text's value with no code of the package: the year is carried down instead of shifting the tree."""
    match tree:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return known[slot(name, year)]
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() as pinned)):
            return known[slot(name, pinned + year - 2023)]
        case ast.BinOp(left=left, op=operator, right=right):
            first, second = _evaluated(left, known, year), _evaluated(right, known, year)
            if isinstance(operator, ast.Div):
                return first / second
            return {ast.Add: first + second, ast.Sub: first - second, ast.Mult: first * second}[type(operator)]
        case ast.Call(func=ast.Name(id=name), args=[of]):
            if name == "prior":
                return _evaluated(of, known, year - 1)
            if name == "abs":
                return abs(_evaluated(of, known, year))
            return (_evaluated(of, known, year) + _evaluated(of, known, year - 1)) / 2
        case ast.Call(args=args):
            return sum(_evaluated(of, known, year) for of in args) / len(args)
        case _:
            raise AssertionError(ast.dump(tree))


def test_an_expression_of_too_many_operations_is_refused() -> None:
    assert parse_formula(" + ".join(["revenue"] * 101))
    with pytest.raises(LexiconError, match="101 operators"):
        parse_formula(" + ".join(["revenue"] * 102))


def test_whole_marks_every_metric_in_it() -> None:
    assert parse_formula("revenue / whole(prior(revenue) + cost_of_revenue)") == Operation(
        "/",
        Quantity("revenue"),
        Operation("+", Quantity("revenue", -1, whole=True), Quantity("cost_of_revenue", whole=True)),
    )


def test_what_may_be_zero_is_a_guess() -> None:
    assert assumes_zero(parse_formula("first(revenue, revenue - optional(cost_of_revenue))"))
    assert not assumes_zero(parse_formula("first(revenue, revenue - cost_of_revenue)"))
