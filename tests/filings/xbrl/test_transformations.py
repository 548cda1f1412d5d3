from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.filings.xbrl.tags import read_number, read_number_words, transform_text, transformation_name


@pytest.mark.parametrize(
    ("printed_format", "printed", "number"),
    [
        ("ixt:num-dot-decimal", "1,234.50", "1234.50"),
        ("ixt:numdotdecimal", " 1 234 567 ", "1234567"),
        ("ixt4:num-dot-decimal-apos", "1'234.5", "1234.5"),
        ("ixt:num-dot-decimal", ".5", "0.5"),
        ("ixt:num-comma-decimal", "1.234,5", "1234.5"),
        ("ixt1:numdotcomma", "1.234,5", "1234.5"),
        ("ixt1:numspacedot", "1 234.5", "1234.5"),
        ("ixt1:numcomma", "12,5", "12.5"),
        ("ixt:fixed-zero", "none", "0"),
        ("ixt:zerodash", "—", "0"),
        ("ixt1:numdash", "-", "0"),
        ("ixt-sec:numwordsen", "Twenty-five", "25"),
        ("ixt-sec:numwordsen", "no", "0"),
        ("", "1234", "1234"),
        ("", "-12.5", "-12.5"),
        ("", "1.5E3", "1500"),
    ],
)
def test_numbers(printed_format: str, printed: str, number: str) -> None:
    assert read_number(printed, transformation_name(printed_format)) == Decimal(number)


@pytest.mark.parametrize(
    ("printed_format", "printed"),
    [
        ("ixt:num-dot-decimal", "$5"),
        ("ixt:num-dot-decimal", ","),
        ("ixt:num-comma-decimal", "1,2,3"),
        ("ixt-sec:numwordsen", "several"),
        ("ixt:fixed-empty", "5"),
        ("ixt-sec:num-inf", "5"),
        ("", "1,23"),
        ("", "five"),
        ("", "1" * 61),
    ],
)
def test_what_prints_no_number(printed_format: str, printed: str) -> None:
    assert read_number(printed, transformation_name(printed_format)) is None


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("zero", 0),
        ("None", 0),
        ("nineteen", 19),
        ("forty two", 42),
        ("one hundred and five", 105),
        ("three hundred twelve thousand, four hundred", 312_400),
        ("two billion one million", 2_001_000_000),
        ("", None),
        ("twenty odd", None),
    ],
)
def test_number_words(words: str, number: int | None) -> None:
    assert read_number_words(words) == number


@pytest.mark.parametrize(
    ("printed_format", "printed", "stated"),
    [
        ("ixt:date-monthname-day-year-en", "MAY 31, 2025", "2025-05-31"),
        ("ixt3:datemonthdayyearen", "Sept. 5th, 24", "2024-09-05"),
        ("ixt3:datedaymonthyearen", "28 September 2024", "2024-09-28"),
        ("ixt:date-day-month-year", "28.09.2024", "2024-09-28"),
        ("ixt:date-month-day-year", "9/28/24", "2024-09-28"),
        ("ixt:date-year-month-day", "2024-9-28", "2024-09-28"),
        ("ixt1:dateslashus", "09/28/2024", "2024-09-28"),
        ("ixt1:dateslasheu", "28/09/2024", "2024-09-28"),
        ("ixt1:datelongus", "September 28, 2024", "2024-09-28"),
        ("ixt1:datelonguk", "28 September 2024", "2024-09-28"),
        ("ixt1:datelongmonthdayus", "September 28", "--09-28"),
        ("ixt:date-monthname-day-en", "February 29", "--02-29"),
        ("ixt:date-month-day", "--12-31", "--12-31"),
        ("ixt:date-day-monthname-en", "31 December", "--12-31"),
        ("ixt:date-monthname-year-en", "January 2028", "2028-01"),
        ("ixt:date-year-month", "2028-1", "2028-01"),
        ("ixt-sec:durwordsen", "twenty-five years", "twenty-five years"),
        ("ixt:fixed-true", "anything", "true"),
        ("ixt1:booleanfalse", "anything", "false"),
        ("ixt:fixed-empty", "—", ""),
        ("ixt3:nocontent", "—", ""),
        ("ixt-sec:boolballotbox", " ☒ ", "true"),
        ("ixt-sec:boolballotbox", "☐", "false"),
        ("ixt-sec:yesnoballotbox", "☒", "Yes"),
        ("ixt-sec:stateprovnameen", "New York", "New York"),
        ("ixt-sec:exchnameen", "The New York Stock Exchange", "The New York Stock Exchange"),
        ("ixt-sec:countrynameen", "Ireland", "Ireland"),
        ("ixt-sec:entityfilercategoryen", "Large accelerated filer", "Large accelerated filer"),
    ],
)
def test_texts(printed_format: str, printed: str, stated: str) -> None:
    assert transform_text(printed, transformation_name(printed_format)) == stated


@pytest.mark.parametrize(
    ("printed_format", "printed"),
    [
        ("ixt:date-monthname-day-year-en", "February 30, 2024"),
        ("ixt:date-monthname-day-year-en", "Brumaire 3, 2024"),
        ("ixt:date-monthname-day-year-en", "May 2024"),
        ("ixt:date-month-day", "13/01"),
        ("ixt-sec:boolballotbox", "maybe"),
        ("ixt:of-tomorrow", "5"),
    ],
)
def test_what_does_not_fit_its_format(printed_format: str, printed: str) -> None:
    assert transform_text(printed, transformation_name(printed_format)) is None


@given(st.dates(min_value=date(1000, 1, 1)))
def test_a_date_survives_printing(day: date) -> None:
    assert transform_text(f"{day:%B} {day.day}, {day.year}", "datemonthnamedayyearen") == day.isoformat()
    assert transform_text(f"{day.day}.{day.month}.{day.year}", "datedaymonthyear") == day.isoformat()
    assert transform_text(f"{day:%b} {day.day}", "datemonthdayen") == f"--{day:%m-%d}"


@given(st.text(max_size=30), st.sampled_from(["durwordsen", "datemonthdayyear", "boolballotbox", "numwordsen"]))
def test_never_raises(printed: str, transformation: str) -> None:
    stated = transform_text(printed, transformation)
    assert stated is None or isinstance(stated, str)
    number = read_number(printed, transformation)
    assert number is None or number.is_finite()
