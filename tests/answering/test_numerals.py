"""Numbers in running text and what they are there for."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.answering.numerals import NumeralKind, numerals_in


@pytest.mark.parametrize(
    ("text", "value", "kind", "scale", "decimals"),
    [
        ("$11588.00", "11588", NumeralKind.AMOUNT, None, 0),
        ("$4.60", "4.6", NumeralKind.AMOUNT, None, 1),
        ("$2,018mn", "2018", NumeralKind.AMOUNT, 10**6, 0),
        ("$2.5bn", "2.5", NumeralKind.AMOUNT, 10**9, 1),
        ("$32,502 million", "32502", NumeralKind.AMOUNT, 10**6, 0),
        ("11.588 USD billions", "11.588", NumeralKind.AMOUNT, 10**9, 3),
        ("$2.5Bn", "2.5", NumeralKind.AMOUNT, 10**9, 1),
        ("USD 1.2 Million", "1.2", NumeralKind.AMOUNT, 10**6, 1),
        ("a ratio of 1.57x.", "1.57", NumeralKind.AMOUNT, None, 2),
        ("up 80bps", "80", NumeralKind.AMOUNT, None, 0),
        ("the 777X", "777", NumeralKind.LABEL, None, 0),
        ("$5K", "5", NumeralKind.AMOUNT, 1_000, 0),
        ("-14.76%", "-14.76", NumeralKind.PERCENT, None, 2),
        ("~13%", "13", NumeralKind.PERCENT, None, 0),
        ("21.6 percent", "21.6", NumeralKind.PERCENT, None, 1),
        ("(1,234)", "-1234", NumeralKind.AMOUNT, None, 0),
        ("($1,234) million", "-1234", NumeralKind.AMOUNT, 10**6, 0),
        ("(5.2%)", "-5.2", NumeralKind.PERCENT, None, 1),
        ("(3.4% jump)", "3.4", NumeralKind.PERCENT, None, 1),
        ("−7", "-7", NumeralKind.AMOUNT, None, 0),
        (".5", "0.5", NumeralKind.AMOUNT, None, 1),
        ("in 2019", "2019", NumeralKind.YEAR, None, 0),
        ("FY19", "2019", NumeralKind.YEAR, None, 0),
        ("$2019", "2019", NumeralKind.AMOUNT, None, 0),
        ("3 year average", "3", NumeralKind.SPAN, None, 0),
        ("three-year average", "3", NumeralKind.SPAN, None, 0),
        ("10-K", "10", NumeralKind.LABEL, None, 0),
        ("8k filing", "8", NumeralKind.LABEL, None, 0),
        ("Q2", "2", NumeralKind.LABEL, None, 0),
        ("1st", "1", NumeralKind.LABEL, None, 0),
        ("3M", "3", NumeralKind.LABEL, None, 0),
        ("May 26", "26", NumeralKind.LABEL, None, 0),
    ],
)
def test_one_number(text: str, value: str, kind: NumeralKind, scale: int | None, decimals: int) -> None:
    (numeral,) = numerals_in(text)
    assert (numeral.value, numeral.kind, numeral.scale, numeral.decimals) == (Decimal(value), kind, scale, decimals)


@pytest.mark.parametrize("text", ["2017-2019", "2017–2019", "2017 - 2019"])
def test_a_dash_between_numbers_is_no_sign(text: str) -> None:
    assert [numeral.value for numeral in numerals_in(text)] == [2017, 2019]


@given(st.integers(-(10**12), 10**12))
def test_any_printed_amount_is_read(amount: int) -> None:
    (numeral,) = numerals_in(f"It was ${amount:,} million.")
    assert numeral.in_base_units == amount * 10**6


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    numerals_in(text)
