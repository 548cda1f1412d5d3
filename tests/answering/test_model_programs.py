"""What a program of a chat model comes to: its unit is tried out, its figures are cited, a misfit is refused."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_agent.answering.answer import AnswerValue
from fin_agent.answering.dimensional_analysis import Measure, measure_of
from fin_agent.answering.model_programs import check_model_program, cited_figures, model_answer, require_accounted
from fin_agent.answering.program import Program
from fin_agent.answering.program_syntax import ProgramError
from fin_agent.answering.sandbox import MontySandbox, ProgramValue
from fin_agent.errors import SandboxError
from fin_agent.evidence.intent import Intent, OutputUnit
from fin_agent.evidence.ledger import Figure

SANDBOX = MontySandbox()
QUESTION = "What came of it in FY2023, 5% of it aside?"
SCALE_WORDS = {1: "", 1_000: " thousands", 1_000_000: " millions", 1_000_000_000: " billions"}


def figure(label: str, amount: str, unit: str = "USD", scale: int = 1_000_000, line: int = 1) -> Figure:
    return Figure(
        doc_id="acme_2023_10k", page=3, line=line, box=(0, 0, 1, 1), label=label, column="2023",
        amount=abs(Decimal(amount)), printed=Decimal(amount), scale=scale, unit=unit, fiscal_year=2023, quarter=None,
        months=12,
    )  # fmt: skip


FIGURES = {
    "revenue": figure("Net sales", "3533", line=1),
    "costs": figure("Cost of sales", "-1661", line=2),
    "debt": figure("Total debt", "1.2", scale=1_000_000_000, line=3),
    "fees": figure("Fees", "412800", scale=1_000, line=4),
    "shares": figure("Diluted shares", "167.7", "shares", line=5),
    "few_shares": figure("Restricted shares", "4120", "shares", 1_000, line=6),
    "dividend": figure("Dividends per share", "1.04", "USD per share", 1, line=7),
    "stores": figure("Stores", "425", "count", 1, line=8),
    "rate": figure("Effective tax rate", "18.8", "percent", 1, line=9),
}


def written(names: str, result: str, unit: OutputUnit | None, *, instead: Mapping[str, str] | None = None) -> Program:
    """A program that gives each of these variables its figure, and returns a result."""
    used = {name: FIGURES[name] for name in names.split()}
    lines = [
        f"    {name} = {(instead or {}).get(name, str(abs(each.printed)))}"
        f"  # {each.unit}{SCALE_WORDS[each.scale]}{', printed negative' if each.printed < 0 else ''}: '{each.label}'"
        for name, each in used.items()
    ]
    code = "\n".join(["def solution():", *lines, f"    return {result}"])
    return Program(code, used, scale=1, names=(), by_model=True, unit=unit)


def intent(**fields: object) -> Intent:
    return Intent.model_validate({"question": QUESTION, "core": QUESTION, **fields})


def answered(program: Program, asked: Intent | None = None) -> AnswerValue:
    provenance = check_model_program(program, QUESTION)
    require_accounted(program, provenance)
    result: ProgramValue = SANDBOX.run(program.code).value
    return model_answer(asked or intent(), program, provenance, result, SANDBOX)


@pytest.mark.parametrize(
    ("names", "result", "unit", "value", "of"),
    [
        ("revenue costs", "revenue - costs", "USD millions", 1872.0, "USD millions"),
        ("revenue costs", "revenue - costs", "USD", 1872.0, "USD millions"),
        ("revenue costs", "revenue - costs", None, 1872.0, "USD millions"),
        ("fees", "fees", "USD thousands", 412_800.0, "USD thousands"),
        ("revenue", "revenue", "USD", 3533.0, "USD millions"),
        ("revenue", "revenue", "USD billions", 3533.0, "USD millions"),
        ("revenue costs", "costs / revenue", "ratio", 1661 / 3533, "ratio"),
        ("revenue costs", "100 * costs / revenue", "percent", 166100 / 3533, "percent"),
        ("revenue costs", "365 * costs / revenue", "days", 365 * 1661 / 3533, "days"),
        ("revenue shares", "revenue / shares", "USD per share", 3533 / 167.7, "USD per share"),
        ("revenue shares", "revenue / shares", None, 3533 / 167.7, "USD per share"),
        ("dividend shares", "dividend * shares", "USD millions", 1.04 * 167.7, "USD millions"),
        ("revenue dividend", "revenue / dividend", "shares", 3533e6 / 1.04, "shares"),
        ("shares", "shares", "shares", 167.7e6, "shares"),
        ("few_shares", "few_shares", "shares", 4_120_000.0, "shares"),
        ("stores", "stores", "count", 425.0, "count"),
        ("rate", "rate / 100", "ratio", 0.188, "ratio"),
        (
            "rate revenue costs",
            "rate - 100 * costs / revenue",
            "percentage points",
            18.8 - 166100 / 3533,
            "percentage points",
        ),
        ("revenue costs", "100 * ((revenue - costs) / costs)", "percent", 187200 / 1661, "percent"),
        ("revenue costs", "100 * revenue / costs - 100", "percent", 187200 / 1661, "percent"),
        ("revenue costs", "sum([revenue, costs]) / 2", "USD millions", 2597.0, "USD millions"),
        ("revenue costs", "round(revenue / costs, 2)", "ratio", 2.13, "ratio"),
        ("revenue costs", "round(100 * (revenue - 2 * costs) / revenue, 1)", "percent", 6.0, "percent"),
        ("revenue", "revenue / 12", "USD millions", 3533 / 12, "USD millions"),
        ("revenue costs", "costs / (revenue / 365)", "days", 365 * 1661 / 3533, "days"),
        ("revenue costs", "sorted([revenue, costs, revenue - costs])[1]", "USD millions", 1872.0, "USD millions"),
        ("revenue costs", "revenue if revenue > costs else costs", "USD millions", 3533.0, "USD millions"),
        ("revenue stores", "revenue / stores", "USD millions", 3533 / 425, "USD millions"),
        ("rate revenue", "revenue * rate / 100", "USD millions", 664.204, "USD millions"),
        ("rate", "rate", "percent", 18.8, "percent"),
        ("revenue costs", "max(revenue - costs, costs - revenue)", "USD millions", 1872.0, "USD millions"),
        ("revenue costs", "max(revenue, costs, 5) - 5", "USD billions", 3528.0, "USD millions"),
    ],
)
def test_a_result_is_in_the_unit_that_its_figures_make_it(
    names: str, result: str, unit: OutputUnit | None, value: float, of: str
) -> None:
    answer = answered(written(names, result, unit))
    assert answer.value == pytest.approx(value, rel=1e-9) and answer.unit == of


@pytest.mark.parametrize(
    ("names", "result", "unit", "told"),
    [
        ("revenue costs", "costs / revenue", "USD millions", "dollars cancel out"),
        ("revenue costs", "costs / revenue", "USD per share", "dollars cancel out"),
        ("revenue costs", "costs / revenue", "shares", "shares cancel out"),
        ("revenue costs", "revenue - costs", "percent", "it is an amount of dollars"),
        ("revenue costs", "revenue - costs", "count", "it is an amount of dollars"),
        ("revenue costs", "revenue - costs", "shares", "it is an amount of dollars"),
        ("revenue costs", "[revenue, costs]", "percent", "it is an amount of dollars"),
        ("revenue", "round(revenue)", "days", "it is an amount of dollars"),
        ("shares", "shares", "USD millions", "it is a number of shares"),
        ("shares", "[shares, shares]", "percent", "it is a number of shares"),
        ("dividend", "dividend", "USD", "it is dollars per share"),
        ("dividend shares", "dividend * shares", "USD per share", "it is an amount of dollars"),
        ("revenue costs", "revenue * costs", "USD millions", "neither an amount"),
        ("revenue shares", "shares / revenue", "ratio", "neither an amount"),
        ("revenue few_shares", "revenue / few_shares", "USD per share", "do not go together"),
        ("revenue costs", "costs / revenue", None, "does not say in which unit"),
        ("revenue costs", "costs / revenue", "percent", "it is a ratio. Multiply it by 100"),
        ("revenue costs", "100 * costs / revenue", "ratio", "a factor of 100 is left in it"),
        ("revenue costs", "100 * (revenue - costs)", "USD millions", "a factor of 100 is left in it"),
        ("rate revenue", "revenue * rate", "USD millions", "a factor of 100 is left in it"),
        ("rate", "rate", "ratio", "a factor of 100 is left in it"),
        ("revenue", "revenue * 365", "USD millions", "days, weeks or months"),
        ("revenue", "revenue * 12", "USD millions", "days, weeks or months"),
        ("revenue costs", "365 * revenue / costs", "ratio", "days, weeks or months"),
    ],
)
def test_a_unit_that_is_not_the_results_is_refused(names: str, result: str, unit: OutputUnit | None, told: str) -> None:
    with pytest.raises(ProgramError, match=told) as raised:
        answered(written(names, result, unit))
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("names", "result", "told"),
    [
        ("revenue shares", "revenue + shares", "line 4: dollars and shares do not go together"),
        ("revenue dividend", "revenue + dividend", "dollars and dollars per share do not go together"),
        ("revenue costs", "[revenue, costs / revenue]", "dollars and a number of neither"),
        ("revenue costs", "max(revenue, costs / revenue)", "dollars and a number of neither"),
        ("revenue costs", "revenue + 1 - costs", "dollars and a number of neither"),
        ("rate revenue costs", "rate - costs / revenue", "a percentage and a ratio"),
        ("revenue costs", "100 * costs / revenue - 1", "a percentage and a ratio"),
        ("revenue fees", "revenue - fees", "enters times|scale|one scale"),
        ("revenue costs", "revenue ** (1 / 2) / costs", "source|root of dollars"),
        ("revenue", "revenue * 1000", "line 3: a power of a thousand"),
        ("revenue", "revenue * 10 ** 6", "line 3: a power"),
        ("revenue", "revenue * 1000 / 1000", "a power of a thousand"),
        ("revenue costs", "revenue - costs / 1e6", "a power of a thousand"),
        ("revenue", "revenue % 100", "`%` makes another number"),
        ("revenue", "revenue // 100", "`//` makes another number"),
        ("revenue", "int(revenue)", "`int` is none of the calls"),
        ("revenue", "len([revenue] * 12)", "`len` is none of the calls"),
        ("revenue", "sum([revenue] * 12)", "a list stands where a number"),
        ("revenue", "'$' + str(revenue)[:2]", "a text stands where a number"),
        ("revenue", "f'{revenue} million'", "`joinedstr` is no arithmetic"),
        ("revenue", "[each for each in [revenue]]", "`listcomp` is no arithmetic"),
        ("revenue", "round(revenue, -3)", "`round` cuts decimals"),
        ("revenue costs", "revenue ** 0 + costs", "whatever the figure"),
        ("revenue costs", "(revenue > costs) + (revenue > costs)", "a truth value stands where a number"),
        ("revenue", "revenue.real", "the attribute `real` is no arithmetic"),
        ("revenue", "revenue * other", "`other` is given no value"),
        ("revenue", "-revenue", "its sign turned"),
        ("revenue", "0 - revenue", "its sign turned"),
        ("revenue", "[-revenue]", "its sign turned"),
        ("dividend", "[round(dividend)]", "rounding makes 1 of 1.04"),
        ("dividend", "round(dividend)", "rounding makes 1 of 1.04"),
        ("revenue costs", "revenue * (costs / costs)", "source"),
        ("revenue costs", "revenue", "line 3: 1661 .Cost of sales. has no part in the result"),
        ("revenue costs", "revenue if costs > 0 else costs", "has no part in the result"),
        ("revenue", "'costs' if revenue > 0 else 'none'", "the text 'costs', which is neither"),
        ("revenue costs", "revenue / costs + 1 + 1 + 1", "1 stands in it 3 times|source"),
    ],
)
def test_what_is_no_plain_arithmetic_of_its_figures_is_refused(names: str, result: str, told: str) -> None:
    with pytest.raises(ProgramError, match=told) as raised:
        answered(
            written(
                names, result, "USD per share" if names == "dividend" else "USD millions" if "rev" in names else None
            )
        )
    assert raised.value.remedy


@pytest.mark.parametrize(
    "lines",
    [
        "one = revenue / same\n    return one + one",
        "one = revenue / same\n    return revenue * one",
        "twice = 0\n    for each in [revenue]:\n        twice += each\n    return twice",
        "import math\n    return math.floor(revenue)",
        "return revenue\n\ndef other():\n    return 5",
    ],
)
def test_ways_around_the_figures_in_several_lines_are_refused(lines: str) -> None:
    program = written("revenue", "revenue", "ratio")
    code = program.code.replace("    return revenue", f"    same = revenue\n    {lines}")
    around = Program(code, program.variables, 1, (), by_model=True, unit="ratio")
    with pytest.raises(ProgramError):
        require_accounted(around, check_model_program(around, QUESTION))
        model_answer(intent(), around, check_model_program(around, QUESTION), SANDBOX.run(code).value, SANDBOX)


def test_one_figure_printed_twice_cancels_out() -> None:
    twice = {"old": figure("Net sales", "3334"), "new": figure("Net sales", "3533"), "also": figure("Sales", "3533")}
    old = twice["old"].model_copy(update={"fiscal_year": 2022})
    lines = ["def solution():", "    old = 3334", "    new = 3533", "    also = 3533", "    return old + (new - also)"]
    program = Program("\n".join(lines), {**twice, "old": old}, 1, (), by_model=True, unit="USD millions")
    with pytest.raises(ProgramError, match=r"line 3: 3533 .* has no part in the result"):
        answered(program)


def test_figures_of_another_scale_are_brought_to_one_where_they_are_assigned() -> None:
    program = written("revenue debt", "revenue - debt", "USD millions", instead={"debt": "1.2 * 1000"})
    assert (answered(program).value, answered(program).unit) == (2333.0, "USD millions")
    base = written("revenue", "revenue", "USD billions", instead={"revenue": "3533 * 1000000"})
    bare = Program(
        base.code.replace("  # USD millions: 'Net sales'", ""), base.variables, 1, (), by_model=True, unit="USD"
    )
    assert (answered(bare).value, answered(bare).unit) == (3_533_000_000.0, "USD")


def test_what_is_asked_in_percent_is_given_in_percent() -> None:
    asked = intent(unit="percent", decimals=1)
    ratio, percent = (written("revenue costs", f"{of}costs / revenue", unit) for of, unit in (
        ("", "ratio"), ("100 * ", "percent"),
    ))  # fmt: skip
    for program in (ratio, percent):
        assert (answered(program, asked).value, answered(program, asked).unit) == (47.0, "percent")
    assert answered(percent, intent(unit="ratio", decimals=2)).value == 0.47
    with pytest.raises(ProgramError, match="percent is asked for"):
        answered(written("revenue costs", "costs / revenue", None), asked)
    assert answered(written("revenue", "revenue", "USD millions"), intent(unit="USD billions")).value == 3.533
    for unit in ("percent", "ratio", "days", "USD per share"):
        with pytest.raises(ProgramError, match=f"{unit} is asked for, and the result is an amount of dollars"):
            answered(written("revenue", "revenue", "USD millions"), intent(unit=unit))
    with pytest.raises(ProgramError, match="USD millions is asked for"):
        answered(ratio, intent(unit="USD millions"))


def test_truth_values_texts_and_lists() -> None:
    both = "'Net sales' FY2023 $3,533 million; 'Cost of sales' FY2023 -$1,661 million"
    of = f"computed by the model's program from {both}."
    said = answered(written("revenue costs", "revenue > costs", None))
    assert (said.value, said.unit) == (None, None)
    assert said.text == f"Yes, {of}"
    assert answered(written("revenue costs", "revenue < costs", "percent")).text.startswith("No, ")
    label = written("revenue costs", "'Cost of sales' if revenue < costs else 'Net sales'", None)
    assert answered(label).text == f"Result: Net sales, {of}"
    year = written("revenue costs", "['FY2023' if revenue > costs else 'no', revenue, costs]", "USD millions")
    listed = answered(year, intent(measure="both"))
    assert (listed.value, listed.text) == (None, f"Result: FY2023; $3,533 million; $1,661 million, {of}")


@pytest.mark.parametrize(
    "text", ["It was 42\u202e", "the company is bankrupt", "Forty-two million dollars", "  ", "42"]
)
def test_prose_is_no_result(text: str) -> None:
    result = f"{text!r} if revenue > costs else 'Net sales'"
    program = written("revenue costs", result, None)
    with pytest.raises(ProgramError, match=r"text|source"):
        answered(program)


def test_what_is_not_seen_is_taken_out_of_texts() -> None:
    hidden = FIGURES["revenue"].model_copy(update={"label": "Net\x1b[2J \u202esales\x07"})
    program = written("revenue", "revenue", "USD millions")
    odd = Program(
        program.code.replace("'Net sales'", ""), {"revenue": hidden}, 1, (), by_model=True, unit="USD millions"
    )
    assert (
        answered(odd).text
        == "Result: $3,533 million, computed by the model's program from 'Net[2J sales' FY2023 $3,533 million."
    )


def test_an_answer_is_not_called_by_the_name_of_what_is_asked() -> None:
    asked = intent(measure="Advertising expense", numeric=True, expression="advertising_expense")
    told = answered(written("costs", "costs", "USD millions"), asked)
    assert told.text.startswith("Result: $1,661 million, computed by the model's program from 'Cost of sales' FY2023")
    assert "dvertising" not in told.text


@pytest.mark.parametrize(
    ("code", "literal"),
    [
        ("    revenue = 3533  # USD millions\n    return revenue * 1.37", "1.37"),
        ("    revenue = 3534  # USD millions\n    return revenue", "3534"),
        ("    revenue = 3533  # USD thousands\n    return revenue", "3533"),
        ("    revenue = 3533  # USD millions\n    return 'It was 42'", "42"),
        ("    revenue = 3533  # USD millions\n    return 6 * 7", "6"),
    ],
)
def test_numbers_that_nothing_accounts_for_are_found(code: str, literal: str) -> None:
    program = Program(f"def solution():\n{code}", {"figure_1": FIGURES["revenue"]}, 1, (), by_model=True, unit=None)
    assert literal in [number.literal for number in check_model_program(program, QUESTION).unbound]


def test_the_figures_cited_are_those_that_numbers_stand_for() -> None:
    program = written("revenue costs rate", "revenue - costs", "USD millions")
    only = Program(program.code.replace("    rate = 18.8", "    # 18.8"), program.variables, 1, (), by_model=True)
    assert cited_figures(program, check_model_program(program, QUESTION)) == tuple(program.variables.values())
    assert cited_figures(only, check_model_program(only, QUESTION)) == (FIGURES["revenue"], FIGURES["costs"])


@pytest.mark.parametrize(
    ("names", "result", "measure"),
    [
        ("revenue costs", "revenue - costs", Measure(dollars=1, scale=Fraction(10**6))),
        ("revenue costs", "revenue / costs", Measure()),
        ("revenue costs", "100 * revenue / costs", Measure(hundreds=1)),
        ("revenue costs", "(revenue / costs) ** (1 / 5) - 1", Measure()),
        ("revenue shares", "revenue / shares", Measure(1, -1)),
        ("dividend shares", "dividend * shares", Measure(dollars=1, scale=Fraction(10**6))),
        ("stores", "stores", Measure()),
        ("rate", "rate", Measure(hundreds=1)),
        ("revenue costs", "[revenue, costs, costs]", Measure(dollars=1, scale=Fraction(10**6))),
        ("revenue costs", "revenue > costs", None),
    ],
)
def test_what_a_result_measures(names: str, result: str, measure: Measure | None) -> None:
    program = written(names, result, None)
    assert measure_of(program.code, check_model_program(program, "5 years")) == measure


UNITS = st.sampled_from([None, "USD", "USD thousands", "USD per share", "percent", "ratio", "shares", "days"])
RESULTS = st.recursive(
    st.sampled_from(["revenue", "costs", "shares", "dividend", "1", "100"]),
    lambda inner: st.builds(lambda a, b, of: f"({a} {of} {b})", inner, inner, st.sampled_from("+-*/")),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(result=RESULTS, unit=UNITS, asked=UNITS)
def test_whatever_is_computed_an_answer_or_a_typed_refusal_comes_of_it(
    result: str, unit: OutputUnit | None, asked: OutputUnit | None
) -> None:
    program = written("revenue costs shares dividend", result, unit)
    provenance = check_model_program(program, QUESTION)
    if not provenance.ok:
        return
    try:
        value = SANDBOX.run(program.code).value
        answer = model_answer(intent(unit=asked), program, provenance, value, SANDBOX)
    except SandboxError:
        return
    assert answer.value is not None and answer.text and require_accounted(program, provenance) is None
    in_dollars = (answer.unit or "").startswith("USD") and answer.unit != "USD per share"
    if not set(result) & set("*/") and "1" not in result and "shares" not in result and "dividend" not in result:
        assert in_dollars or answer.value == 0
