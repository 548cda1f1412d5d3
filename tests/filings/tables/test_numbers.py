from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.filings.tables.cells import Number, parse_number


@pytest.mark.parametrize(
    ("printed", "amount", "percent", "dollar"),
    [
        ("1,234", "1234", False, False),
        ("(1,234)", "-1234", False, False),
        ("$ (5.51)", "-5.51", False, True),
        ("$(5.51)", "-5.51", False, True),
        ("($0.465)", "-0.465", False, True),
        ("$1,234.5", "1234.5", False, True),
        ("12.3%", "12.3", True, False),
        ("(4.8%)", "-4.8", True, False),
        ("(4.8)%", "-4.8", True, False),
        ("(4.8 ) %", "-4.8", True, False),
        ("-7", "-7", False, False),
        ("−7", "-7", False, False),
        (".5", "0.5", False, False),
        ("1,234(1)", "1234", False, False),
        ("1,234(a)", "1234", False, False),
        ("(1,234)(1)", "-1234", False, False),
        ("2022*", "2022", False, False),
        ("(1,234", "-1234", False, False),
        ("(1,234 )", "-1234", False, False),
        ("(1)", "-1", False, False),
        ("—", "0", False, False),
        ("–", "0", False, False),
        ("-", "0", False, False),
        ("$—", "0", False, True),
        ("$ —", "0", False, True),
        ("—%", "0", True, False),
        ("2.5x", "2.5", False, False),
        ("€1,234", "1234", False, True),
        ("C$ 12", "12", False, True),
    ],
)
def test_reads_a_printed_number(printed: str, amount: str, percent: bool, dollar: bool) -> None:
    assert parse_number(printed) == Number(Decimal(amount), percent, dollar)


@pytest.mark.parametrize(
    "printed", ["", "N/A", "*", "nm", "31,", "10-K", "1,23", "1.2.3", "5)", "12%)", "$", "(a)", "Q1", "£000", "US$000"]
)
def test_what_prints_no_number_is_none(printed: str) -> None:
    assert parse_number(printed) is None


@given(
    st.decimals(min_value=0, max_value=10**12, places=2, allow_nan=False),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_a_number_survives_printing(amount: Decimal, negative: bool, dollar: bool, spaced: bool) -> None:
    body = f"{amount:,.2f}"
    body = f"({body})" if negative else body
    printed = f"${' ' if spaced else ''}{body}" if dollar else body
    assert parse_number(printed) == Number(-amount if negative else amount, False, dollar)


@given(st.integers(min_value=0, max_value=10**12), st.sampled_from(["(1)", "(12)", " (a)", "*", "†"]))
def test_footnote_marks_change_nothing(amount: int, mark: str) -> None:
    assert parse_number(f"{amount:,}{mark}") == Number(Decimal(amount))


@given(st.text(max_size=12))
def test_never_raises(token: str) -> None:
    number = parse_number(token)
    assert number is None or number.amount.is_finite()


@given(
    st.integers(min_value=0, max_value=99_999).map(lambda tenths: Decimal(tenths) / 10),
    st.sampled_from(["{}%", "{} %", "({})%", "({} )%", "({}%)", "({} ) %", "-{}%"]),
)
def test_a_percentage_survives_printing_with_its_sign(amount: Decimal, style: str) -> None:
    assert parse_number(style.format(amount)) == Number(amount if style[0] == "{" else -amount, True, False)


@given(
    st.integers(min_value=1, max_value=10**12),
    st.sampled_from(["({:,})", "({:,} )", "({:,}", "$({:,})", "($ {:,})", "-{:,}", "\u2212{:,}", "$ -{:,}", "-${:,}"]),
)
def test_every_way_to_print_a_negative(amount: int, style: str) -> None:
    read = parse_number(style.format(amount))
    assert read is not None
    assert (read.amount, read.dollar) == (-amount, "$" in style)


@given(
    st.sampled_from(["-", "--", "\u2013", "\u2014", "\u2212"]), st.sampled_from(["{}", "$ {}", "${}", "{}%", " {} "])
)
def test_dashes_are_zero(dash: str, style: str) -> None:
    read = parse_number(style.format(dash))
    assert read is not None
    assert (read.amount, read.percent, read.dollar) == (0, "%" in style, "$" in style)


@pytest.mark.parametrize(
    ("printed", "amount"),
    [
        ("1,234¹", "1234"), ("1,234[1]", "1234"), ("1,234(A)", "1234"), ("+12", "12"), ("+1.5%", "1.5"),
        ("—(1)", "0"), ("(—)", "0"), ("$ (—)", "0"), ("(5)(2)", "-5"),
    ],
)  # fmt: skip
def test_marks_and_signs_of_all_kinds(printed: str, amount: str) -> None:
    number = parse_number(printed)
    assert number is not None
    assert number.amount == Decimal(amount)


@pytest.mark.parametrize("printed", ["²", "(A)", "[1]", "+", "¹²³", "--- note"])
def test_marks_alone_are_no_numbers(printed: str) -> None:
    assert parse_number(printed) is None
