"""A program's numbers are accounted for, and every way of slipping in another one is caught."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.answering.program_syntax import ProgramError
from fin_agent.answering.provenance import Source, check_provenance, constants_of
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.place import Box


def fact(
    label: str, amount: str, year: int = 2019, *, scale: int = 1_000_000, unit: str = "USD", page: int = 69
) -> Fact:
    period = FactPeriod(fiscal_year=year, quarter=None, months=12)
    return Fact(label, Decimal(amount), scale, unit, period, page, Box(0, 0, 1, 1))


REVENUE = fact("Net revenues", "6489")
REVENUE_BEFORE = fact("Net revenues", "7500", 2018)
PPE = fact("Property and equipment, net", "253", page=68)
PPE_BEFORE = fact("Property and equipment, net", "282", 2018, page=68)
CAPEX = fact("Capital expenditures", "-116")
TAX_RATE = fact("Effective tax rate", "21.6", unit="percent", scale=1)
EPS = fact("Diluted earnings per share", "1.95", unit="USD per share", scale=1)
IN_THOUSANDS = fact("Net revenues", "382456", scale=1_000)
FACTS = (REVENUE, REVENUE_BEFORE, PPE, PPE_BEFORE, CAPEX, TAX_RATE, EPS)
QUESTION = "What is the FY2019 fixed asset turnover ratio? Round your answer to two decimal places."

TURNOVER = """def solution():
    revenue_2019 = 6489  # USD millions, page 70
    ppe_2019 = 253  # USD millions, page 69
    ppe_2018 = 282  # USD millions, page 69
    return revenue_2019 / ((ppe_2018 + ppe_2019) / 2)
"""
EXPECTED = {"revenue_2019": REVENUE, "ppe_2019": PPE, "ppe_2018": PPE_BEFORE}


def body(*lines: str) -> str:
    return "def solution():\n" + "\n".join(f"    {line}" for line in lines)


def reasons(code: str, question: str = QUESTION, facts: tuple[Fact, ...] = FACTS) -> list[str]:
    return [f"{each.literal}: {each.reason}" for each in check_provenance(code, facts, question).unbound]


class TestCorrectPrograms:
    def test_every_number_is_bound_to_its_source(self) -> None:
        provenance = check_provenance(TURNOVER, FACTS, QUESTION, EXPECTED)
        assert provenance.ok
        bound = [(each.variable, each.literal, each.line, each.where) for each in provenance.bindings]
        assert bound == [
            ("revenue_2019", "6489", 2, "page 70: Net revenues, FY2019"),
            ("ppe_2019", "253", 3, "page 69: Property and equipment, net, FY2019"),
            ("ppe_2018", "282", 4, "page 69: Property and equipment, net, FY2018"),
            (None, "2", 5, "constant"),
        ]

    @pytest.mark.parametrize(
        "code",
        [
            body("revenue = 6489", "return revenue"),
            body("revenue = 6_489.0", "return revenue"),
            body("return 6489 / ((253 + 282) / 2)"),
            body("capex = 116  # USD millions, printed negative", "return capex"),
            body("capex = -116", "return -capex"),
            body("revenue = 6489 * 1_000_000  # USD", "return revenue"),
            body("revenue = 6489 * 10**6", "return revenue"),
            body("revenue = 6489 * 1_000_000  # USD millions", "return revenue / 1e9"),
            body("revenue = 6.489  # USD billions", "return revenue"),
            body("revenue_thousands = 6489000", "return revenue_thousands"),
            body("revenue = 6489000000", "return revenue"),
            body("revenue = 6489000000  # USD", "return revenue"),
            body("values = [6489, 7500]", "return sum(values) / 2"),
            body("tax_rate = 21.6  # percent", "return tax_rate / 100"),
            body("tax_rate = 0.216  # ratio", "return tax_rate"),
            body("eps = 1.95  # USD per share", "return eps"),
            body("revenue = 6489", "days_in_year = 365", "return 282 / revenue * days_in_year"),
            body("a = 6489", "return 365 * ((253 + 282) / 2) / (a + 7500 - a / 2)"),
            body("a = 6489", "return 365 * ((a + 282) / 2) / a + 365 * a / 7500 - 365 * ((253 + 282) / 2) / 7500"),
            body("a = 6489", "return a - (253 + 282 + 0) - 0 + 7500 + 0"),
            body("total = 253 + 282", "return 365 * (total / 2) / 6489"),
            body("a = 6489", "return 100 * (1 - a / 7500) - 100 * 253 / a"),
            body("a = 6489", "b = 7500", "return (a / b) ** (1 / 1) - 1 if b > 0 else a"),
            body("a = 6489", "b = 7500", "return round((a - b) / b * 100, 1)"),
            body("return 'Revenue was 6,489 in FY2019, not 7,500.'"),
            body("a = [6489, 7500]", "return max(a[0], 0) - a[-1]"),
            body("if 6489 > 7500:", "    return 253", "return 6489 > 7500"),
            "REVENUE = 6489\n\ndef solution():\n    return REVENUE / 2",
            body('"""Uses 77 figures."""', "return 6489"),
        ],
    )
    def test_passes(self, code: str) -> None:
        assert reasons(code) == []

    @pytest.mark.parametrize(
        ("question", "code"),
        [
            ("Did any segment exceed 20% of revenue?", body("return 253 / 6489 > 0.20")),
            ("Did any segment exceed 20% of revenue?", body("threshold = 20", "return 253 / 6489 * 100 > threshold")),
            ("By how much is it above $400 million?", body("limit = 400  # asked", "return 6489 - limit")),
            ("By how much is it above $400 million?", body("limit = 400_000_000", "return 6489000000 - limit")),
            ("What is the five year average?", body("years = 5", "return 6489 / years")),
            ("What is the 5-year average?", body("return 6489 / 5")),
            ("What is the FY2015 to FY2020 CAGR?", body("return (6489 / 7500) ** (1 / 5) - 1")),
            ("What was it in 2017?", body("year = 2017", "return 6489 if year == 2017 else 7500")),
        ],
    )
    def test_a_questions_numbers_count(self, question: str, code: str) -> None:
        assert reasons(code, question) == []

    def test_average_of_five_listed_variables(self) -> None:
        listed = body("a = 6489", "return (a + a + a + a + a) / 5")
        assert reasons(listed) == []
        assert reasons(body("return sum([6489, 7500, 253, 282, -116]) / 5")) == []
        assert reasons(listed.replace("/ 5", "/ 6")) != []

    def test_scales_may_differ_where_the_program_rescales(self) -> None:
        lines = ("a = 6489  # USD millions", "b = 382456 / 1000  # USD thousands", "return a + b")
        assert reasons(body(*lines), facts=(*FACTS, IN_THOUSANDS)) == []
        later = ("a = 6489  # USD millions", "b = 382456  # USD thousands", "return a + b / 1000")
        assert reasons(body(*later), facts=(*FACTS, IN_THOUSANDS)) == []

    def test_equal_amounts_cite_the_fact_that_the_variable_names(self) -> None:
        twin = fact("Goodwill", "6489", page=3)
        provenance = check_provenance(body("net_revenues_2019 = 6489", "return net_revenues_2019"), (twin, REVENUE), "")
        assert provenance.bindings[0].fact is REVENUE


class TestCaught:
    @pytest.mark.parametrize(
        "code",
        [
            body("revenue = 12", "return revenue"),
            body("other_debt = 0", "return 6489 - other_debt"),
            body("revenue = 6498", "return revenue"),
            body("revenue = 2019", "return revenue"),
            body("revenue = 5 * 7", "return revenue"),
            body("revenue = 3 * 4 * 100", "return revenue"),
            body("revenue = 2 ** 10", "return revenue"),
            body("revenue = float('3') * float('4')", "return revenue"),
            body("revenue = float('12')", "return revenue"),
            body("revenue = int('7')", "return revenue"),
            body("revenue = Decimal('12.5')", "return revenue"),
            body("revenue = float('1' + '2')", "return revenue"),
            body("t = '12 ish'", "return float(t[:2])"),
            body("revenue = int('z', 36)", "return revenue"),
            body("revenue = len('twelve chars')", "return revenue"),
            body("revenue = ord('x')", "return revenue"),
            body("return eval('6489 + 11')"),
            body("return True + True"),
            body("return sum(range(8))"),
            body("values = [6489, 77]", "return sum(values)"),
            body("values = {'a': 77}", "return values['a']"),
            body("return 42"),
            body("return 6489 if 6489 > 0 else 42"),
            body("return 6489 * 1.17"),
            body("return 6489 * 7"),
            body("return 6489 + 5"),
            body("a = 6489", "return a + 5"),
            body("return 6489 > 5000"),
            body("return (6489 / 7500) ** (1 / 7) - 1"),
            body("days = 364", "return days * 253 / 6489"),
            body("return 'Margin was 36.8% in FY2019'"),
            body("return f'{6489:.1f} against 99'"),
            body("return 'Turnover was 1.57x in FY2019'"),
            body("return 'grew since 1987'"),
            body("values = {}", "return values.get('revenue', 0)"),
            body("return (lambda x=77: x)()"),
            body("return 1j"),
            body("if (n := 77):", "    return n"),
            "def solution(revenue=77):\n    return revenue",
            "class A:\n    revenue: float = 77.0\ndef solution():\n    return A.revenue",
            body("revenue = 6489000", "return revenue"),
            body("revenue = 6489  # USD thousands", "return revenue"),
            body("revenue = 6489  # USD", "return revenue"),
            body("revenue = 6.489", "return revenue"),
            body("revenue_billions = 6489", "return revenue_billions"),
            body("tax_rate = 0.216", "return tax_rate"),
            body("return 6489 * 1_000_000 + revenue_missing", "revenue_missing = 31"),
            "def solution(:",
            "x = '\0'",
            "return " + "(" * 150 + "1" + ")" * 150,
            "x = " + "-" * 5000 + "1",
        ],
    )
    def test_is_unbound(self, code: str) -> None:
        assert reasons(code) != []

    def test_says_what_and_where(self) -> None:
        unbound = check_provenance(body("revenue = 12", "return revenue"), FACTS, QUESTION).unbound
        assert [(each.literal, each.line, each.variable) for each in unbound] == [("12", 2, "revenue")]
        assert unbound[0].reason == "12 is neither in the evidence nor in the question"

    def test_dropped_scale_beside_another_figure(self) -> None:
        facts = (*FACTS, IN_THOUSANDS)
        right = body("a = 6489", "b = 7500", "c = 382456 / 1000", "return a + b + c")
        assert reasons(right, facts=facts) == []
        (reason,) = reasons(right.replace(" / 1000", ""), facts=facts)
        assert reason == "382456: 382456 enters times 1,000, other USD times 1,000,000"

    @pytest.mark.parametrize(("dropped", "declared"), [(" * 1_000_000", "# USD"), (" / 1000", "# USD billions")])
    def test_dropped_scale_against_the_declared_unit(self, dropped: str, declared: str) -> None:
        right = body(f"revenue = 6489{dropped}  {declared}", "return revenue")
        assert reasons(right) == []
        assert reasons(right.replace(dropped, "")) != []

    def test_the_number_of_a_fact_is_no_constant(self) -> None:
        """A small figure is taken from the evidence, and only then."""
        small = fact("Restructuring", "12")
        program = body("restructuring = 12", "return restructuring")
        assert reasons(program, facts=(small,)) == []
        assert reasons(program) != []


class TestWhatTheProgramSays:
    @pytest.mark.parametrize(
        ("line", "ok"),
        [
            ("revenue_2019 = 6489", True),
            ("revenue_fy19 = 6489", True),
            ("revenue_2018 = 6489", False),
            ("revenue_fy18 = 6489", False),
            ("revenue = 6489  # USD millions, page 70", True),
            ("revenue = 6489  # USD millions, page 71", False),
            ("revenue = 6489  # shares millions", False),
            ("revenue = -6489", False),
            ("capex = 116", False),
            ("capex = 116  # USD millions, printed negative", True),
            ("eps = 1.95  # USD per share", True),
            ("eps = 1.95  # USD", False),
            ("tax_rate = 21.6  # percent", True),
            ("tax_rate = 21.6  # shares", False),
            ("revenue = 0x1959", False),
            ("revenue = 0o14531", False),
        ],
    )
    def test_year_page_unit_and_sign_must_be_right(self, line: str, ok: bool) -> None:
        assert (reasons(body(line, f"return {line.split()[0]}")) == []) is ok

    @pytest.mark.parametrize(
        "expression",
        [
            "int('10', 12) * a",
            "int(str(a)[:2])",
            "float(str(a) + '1')",
            "len(str(a))",
            "a / a * 12",
            "(a > 0) + (a > 1)",
            "a | 1",
            "a << 2",
            "~a",
            "a * 3 * 4",
            "a * 100 * 100",
            "a + 1 + 1 + 1",
            "(a + a) / 3",
            "a * 360",
            "round(6489, -2)",
            "int(1.95)",
            "Decimal((0, (1, 2), 0))",
            "math.pi * a",
            "[ord][0]('c')",
            "a ** (1 / 4)",
            "sum(1 for x in range(2019))",
        ],
    )
    def test_ways_to_make_a_number(self, expression: str) -> None:
        assert reasons(body("a = 6489", f"return {expression}")) != []

    def test_a_year_of_another_length_is_asked_for(self) -> None:
        program = body("a = 6489", "return a * 360")
        assert reasons(program, "Use a 360 day year.") == []


class TestErrors:
    def test_offending_literals_and_lines_are_there_for_a_repair(self) -> None:
        provenance = check_provenance(body("a = 6489", "b = 77", "return a + b + 5"), FACTS, QUESTION)
        with pytest.raises(ProgramError, match=r"line 3: 77.*line 4: 5") as raised:
            provenance.require_sources()
        assert raised.value.line == 3
        assert [each.literal for each in provenance.unbound] == ["77", "5"]
        check_provenance(TURNOVER, FACTS, QUESTION).require_sources()


class TestExpected:
    def test_another_facts_literal_is_caught(self) -> None:
        swapped = TURNOVER.replace("= 253", "= 77")
        other = fact("Property of a part", "77", page=68)
        assert check_provenance(swapped, (*FACTS, other), QUESTION).ok
        (unbound,) = check_provenance(swapped, (*FACTS, other), QUESTION, EXPECTED).unbound
        assert unbound.variable == "ppe_2019"
        assert unbound.reason == (
            "`ppe_2019` stands for Property and equipment, net of FY2019 on page 69, which is 253 (times 1,000,000) USD"
        )

    def test_a_figure_of_the_same_row_and_another_year_is_caught(self) -> None:
        assert not check_provenance(TURNOVER.replace("= 6489", "= 7500"), FACTS, QUESTION, EXPECTED).ok

    def test_second_assignment_is_checked_as_well(self) -> None:
        again = TURNOVER.replace("    return", "    ppe_2018 = 253\n    return")
        assert not check_provenance(again, FACTS, QUESTION, EXPECTED).ok

    def test_variable_that_is_never_given_its_figure(self) -> None:
        derived = TURNOVER.replace("ppe_2018 = 282  # USD millions, page 69", "ppe_2018 = ppe_2019")
        (unbound,) = check_provenance(derived, FACTS, QUESTION, EXPECTED).unbound
        assert "never assigned" in unbound.reason

    def test_arithmetic_on_the_figure_is_not_the_figure(self) -> None:
        assert not check_provenance(TURNOVER.replace("= 6489", "= 6489 * 2"), FACTS, QUESTION, EXPECTED).ok

    def test_sign_is_the_printed_one_unless_the_comment_says_so(self) -> None:
        expected = {"capex": CAPEX}
        declared = body("capex = 116  # USD millions, printed negative", "return capex")
        assert check_provenance(declared, (), "", expected).ok
        assert check_provenance(body("capex = -116  # USD millions", "return capex"), (), "", expected).ok
        assert not check_provenance(body("capex = 116  # USD millions", "return capex"), (), "", expected).ok
        assert not check_provenance(declared.replace("116", "-116"), (), "", expected).ok
        assert not check_provenance(declared.replace("116", "-(116)"), (), "", expected).ok

    def test_each_variable_is_given_once_and_used(self) -> None:
        for change in (
            "ppe_2018 += 100",
            "ppe_2018 = 282",
            "for ppe_2018 in (1, 2): pass",
            "ppe_2018 = ppe_2019",
        ):
            again = TURNOVER.replace("    return", f"    {change}\n    return")
            assert not check_provenance(again, FACTS, QUESTION, EXPECTED).ok, change
        unused = TURNOVER.replace("(ppe_2018 + ppe_2019) / 2", "ppe_2019")
        assert "is not used" in check_provenance(unused, FACTS, QUESTION, EXPECTED).unbound[0].reason

    def test_no_other_figure_enters(self) -> None:
        more = TURNOVER.replace("    return ", "    before = 7500  # USD millions\n    return before + ")
        assert check_provenance(more, FACTS, QUESTION).ok
        (unbound,) = check_provenance(more, FACTS, QUESTION, EXPECTED).unbound
        assert unbound.reason == "no figure is expected as `before`"

    @pytest.mark.parametrize("scaling", [" * 1000", " / 1000", " * 1_000_000", " / 1e6", " * 10**3"])
    def test_figures_enter_at_the_scale_of_the_result(self, scaling: str) -> None:
        program = body("revenue = 6489  # USD millions", "return revenue")
        expected = {"revenue": REVENUE}
        assert check_provenance(program, (), "", expected, scale=1_000_000).ok
        scaled = program.replace("6489", f"6489{scaling}")
        assert not check_provenance(scaled, (), "", expected, scale=1_000_000).ok
        assert not check_provenance(program.replace("return revenue", f"return revenue{scaling}"), (), "", expected).ok
        per_share = body(f"eps = 1.95{scaling}  # USD per share", "return eps")
        assert not check_provenance(per_share, (), "", {"eps": EPS}).ok

    def test_constants_are_those_of_the_formula(self) -> None:
        growth = body("a = 6489", "b = 7500", "return 100 * (a - b) / abs(b)")
        expected = {"a": REVENUE, "b": REVENUE_BEFORE}
        constants = constants_of(growth, expected)
        assert constants == (Decimal(100),)
        assert check_provenance(growth, (), "", expected, constants=constants).ok
        for other in ("12 *", "365 *", "", "2 * 100 *"):
            mutant = growth.replace("100 *", other)
            assert not check_provenance(mutant, (), "", expected, constants=constants).ok, mutant

    def test_wrong_unit_is_caught(self) -> None:
        assert not check_provenance(TURNOVER.replace("USD millions", "USD thousands"), FACTS, QUESTION, EXPECTED).ok


class TestMutations:
    @given(st.data())
    def test_any_changed_digit_of_a_figure_is_caught(self, data: st.DataObject) -> None:
        figures = [match.span() for match in re.finditer(r"(?<== )\d+", TURNOVER)]
        start, end = data.draw(st.sampled_from(figures))
        place = data.draw(st.integers(start, end - 1))
        digit = data.draw(st.sampled_from([each for each in "0123456789" if each != TURNOVER[place]]))
        if place == start and digit == "0":
            digit = "9" if TURNOVER[place] != "9" else "8"
        mutant = TURNOVER[:place] + digit + TURNOVER[place + 1 :]
        assert not check_provenance(mutant, FACTS, QUESTION, EXPECTED).ok
        assert not check_provenance(mutant, FACTS, QUESTION).ok

    @given(st.decimals(min_value=0, max_value=10**7, places=2, allow_nan=False))
    def test_any_invented_figure_is_caught(self, invented: Decimal) -> None:
        held = {abs(each.amount) for each in FACTS} | {each.value for each in FACTS}
        program = TURNOVER.replace("    return ", f"    goodwill = {invented}\n    return goodwill + ")
        assert check_provenance(program, FACTS, QUESTION).ok == (invented in held)

    @given(st.text(max_size=200))
    def test_never_raises(self, code: str) -> None:
        check_provenance(code, FACTS, QUESTION)

    def test_same_program_same_result(self) -> None:
        first = check_provenance(TURNOVER, FACTS, QUESTION, EXPECTED)
        assert first == check_provenance(TURNOVER, FACTS, QUESTION, EXPECTED)
        assert {each.source for each in first.bindings} == {Source.FACT, Source.CONSTANT}
