"""Periods that questions name."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_agent.lexicon.periods import parse_periods
from fin_agent.vocabulary.fiscal_calendar import fiscal_year_of

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
ORDINALS = ("first", "second", "third", "fourth")
years = st.integers(1995, 2040)
quarters = st.integers(1, 4)


@given(
    years,
    st.sampled_from(
        ["FY{y}", "FY {y}", "fy{y}", "FY{s}", "FY'{s}", "FY ’{s}", "fiscal {y}", "fiscal year {y}", "fiscal '{s}",
         "the {y} fiscal year", "F.Y. {y}", "F{y}", "{y}FY", "FYE {y}", "FY_{y}", "F'{s}",
         "fiscal year ended {y}", "fiscal-year {y}", "financial year {y}"]
    ),
)  # fmt: skip
@settings(deadline=None)
def test_fiscal_years_in_any_form(year: int, form: str) -> None:
    question = f"What was net revenue in {form.format(y=year, s=f'{year % 100:02}')}?"
    found = parse_periods(question)
    assert found.years == (year,)
    (mention,) = found.mentions
    assert question[mention.start : mention.end] == mention.phrase
    assert mention.months == 12 and mention.quarter is None


@given(
    years,
    quarters,
    st.sampled_from(
        [
            "Q{q} {y}", "Q{q} FY{y}", "Q{q} of FY{y}", "Q{q} of fiscal {y}", "{q}Q{s}", "{q}Q{y}", "{q}Q FY{s}",
            "Q{q}'{s}", "Q{q}-{y}", "Q{q} {s}", "FY{y}Q{q}", "FY{s}Q{q}", "{y}Q{q}", "{y} Q{q}", "Q{q}FY{s}",
            "{q}QFY{y}",
            "{o} quarter of {y}", "{o} quarter {y}", "{o} quarter of fiscal {y}", "{o} fiscal quarter of {y}",
            "{o}-quarter {y}", "{o} quarter of the fiscal year {y}", "{y}'s {o} quarter", "{y} {o} quarter",
            "quarter {q} of {y}", "Q{q}, {y}", "{o} quarter ended {y}", "Q{q}/{y}", "Q{q}/{s}", "FQ{q} {y}", "F{q}Q{s}",
            "{y}/Q{q}", "{y}-Q{q}", "{o} quarter of its fiscal {y}", "{o} quarter of their {y}",
        ]
    ),
)  # fmt: skip
@settings(deadline=None)
def test_quarters_in_any_form(year: int, quarter: int, form: str) -> None:
    words = form.format(q=quarter, y=year, s=f"{year % 100:02}", o=ORDINALS[quarter - 1])
    question = f"How much did sales grow in {words} at the company?"
    found = parse_periods(question)
    assert found.quarters == ((year, quarter),)
    assert found.years == (year,)
    assert [mention.phrase for mention in found.mentions] == [words]


@given(
    years,
    st.sampled_from((3, 6, 9, 12)),
    st.sampled_from(["the quarter ended {m} {y}", "the three months ending {a} {y}", "the {m} {y} quarter",
                     "the {m} quarter of {y}", "the {a} quarter {y}", "the quarterly period ended {m} {d}, {y}",
                     "the three-month period ended {m} {d}, {y}", "the quarter that ended on {d} {m} {y}",
                     "the 13 weeks to {m} {d}, {y}"]),
)  # fmt: skip
@settings(deadline=None)
def test_quarters_named_by_the_month_they_end_in(year: int, month: int, form: str) -> None:
    day = 30 if month in (6, 9) else 31
    words = form.format(m=MONTHS[month - 1], a=MONTHS[month - 1][:3], d=day, y=year)
    found = parse_periods(f"How much did sales grow in {words}?")
    assert found.quarters == ((year, month // 3),)
    assert [mention.date for mention in found.dates] == [date(year, month, day)]
    assert found.dates[0].role == "ended"


@given(years, st.sampled_from(["{y}", "fiscal {y}", "FY{y}", "fiscal year {y}", "the {y} fiscal year"]))
@settings(deadline=None)
def test_a_year_is_read_the_same_in_any_surroundings(year: int, form: str) -> None:
    words = form.format(y=year)
    for question in ("{w}", "{w}?", "({w})", "In {w}, what was revenue?", "Revenue: {w}.", "as of {w}", "\"{w}\"",
                     "What was {w}'s revenue?", "{w} 10-K", "10-K for {w}", "capex/{w}"):  # fmt: skip
        assert parse_periods(question.format(w=words)).years == (year,), question.format(w=words)


@given(
    st.dates(date(1995, 1, 1), date(2049, 12, 31)),
    st.sampled_from(
        ["{m} {d}, {y}", "{m} {d} {y}", "{d} {m} {y}", "{d}{th} {m} {y}", "{m} {d}{th}, {y}", "{a} {d}, {y}",
         "{a}. {d}, {y}", "{d}{th} of {m}, {y}", "{y}-{n:02}-{d:02}", "{n}/{d}/{y}", "{m}\u00a0{d},\n{y}"]
    ),
)  # fmt: skip
@settings(deadline=None)
def test_exact_dates_are_dates_and_not_years(day: date, form: str) -> None:
    th = "th" if day.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    month = MONTHS[day.month - 1]
    words = form.format(m=month, a=month[:3], d=day.day, y=day.year, n=day.month, th=th)
    question = f"What was agreed in the 8-K filed on {words} by the company?"
    found = parse_periods(question)
    assert [mention.date for mention in found.dates] == [day]
    assert found.dates[0].role == "filed"
    assert found.dates[0].phrase == words
    assert found.years == ()


@given(years, st.integers(1, 6), st.sampled_from(["FY{a} - FY{b}", "from FY{a} to FY{b}", "FY{a}-FY{b}", "{a}–{b}",
                                                   "FY{a} through FY{b}", "from {a} to {b}", "fiscal {a} to fiscal {b}",
                                                   "from the end of FY{a} to the end of FY{b}"]))  # fmt: skip
@settings(deadline=None)
def test_ranges_are_filled(first: int, more: int, form: str) -> None:
    found = parse_periods("average capex " + form.format(a=first, b=first + more))
    assert found.years == tuple(range(first, first + more + 1))
    assert found.span is not None
    assert (found.span.first, found.span.last) == (first, first + more)
    assert found.span.form == "range"


@pytest.mark.parametrize(
    ("question", "asked", "form"),
    [
        ("What changed between FY2017 and FY2019?", (2017, 2019), "between"),
        ("debt between 2022 and the 2021 fiscal period", (2021, 2022), "between"),
        ("dividends in 2019, 2020 and 2021", (2019, 2020, 2021), "list"),
        ("capex over the last three years as of 2023", (2021, 2022, 2023), "last"),
        ("revenue over the past 3 years ending FY2022", (2020, 2021, 2022), "last"),
        ("the 3-year average ROE as of FY2020", (2018, 2019, 2020), "last"),
        ("2015-2017 margin", (2015, 2016, 2017), "range"),
        ("the average for 2017,2018 and 2019", (2017, 2018, 2019), "list"),
        ("FY19-21 margin", (2019, 2020, 2021), "range"),
        ("average margin of the three years between 2015 and 2017", (2015, 2016, 2017), "between"),
    ],
)
def test_spans(question: str, asked: tuple[int, ...], form: str) -> None:
    found = parse_periods(question)
    assert found.years == asked
    assert found.span is not None and found.span.form == form


def test_counted_years() -> None:
    assert not parse_periods("revenue growth FY2017 - FY2019").span.worded  # type: ignore[union-attr]
    assert parse_periods("the unsecured five year revolving credit agreement in FY2023").span is None
    assert parse_periods("over the past three years").trailing_years == 3
    assert parse_periods("over the past three years").years == ()


def test_a_definition_does_not_ask() -> None:
    found = parse_periods(
        "What is FY2017 DPO? DPO is defined as: 365 * (average payables between FY2016 and FY2017) / (FY2017 COGS). "
        "Round your answer. Use the balance sheet."
    )
    assert found.years == (2017,)
    assert found.span is None
    assert {mention.fiscal_year for mention in found.mentions if mention.defining} == {2016, 2017}


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How much of the 4.2% notes due 2028 and 2031 was outstanding in 2022?", (2022,)),
        ("How much does it expect to pay in 2024 as of FY 2021?", (2021, 2024)),
        ("Revenue of $2019 or 2020 million against 2015 employees?", ()),
        ("Effect of ASU 2016-02 in 2019?", (2019,)),
        ("Cost of the 2022 Equity Incentive Plan in 2023?", (2023,)),
        ("FY2017 days payable outstanding?", (2017,)),
        ("What is 2,019 plus 20190 plus 12.2019?", ()),
        ("change in 2018/2019 from 2017/18", (2017, 2018, 2019)),
        ("from Jun-2018 to Aug-2019", (2018, 2019)),
        ("fiscal years 2019 and 2018", (2018, 2019)),
        ("In June 2022, which unit was sold?", (2022,)),
        ("deposits held at 31 December 2019 and 2018", (2018, 2019)),
        ("As of May 26, 2023, what may it borrow?", ()),
    ],
)
def test_which_numbers_are_years(question: str, asked: tuple[int, ...]) -> None:
    assert parse_periods(question).years == asked


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Q2 of 2022 and 2023", ((2022, 2), (2023, 2))),
        ("Q1, Q2 and Q3 2022", ((2022, 1), (2022, 2), (2022, 3))),
        ("Q1-Q3 2022", ((2022, 1), (2022, 2), (2022, 3))),
        ("between the second and first quarter in the fiscal year 2019", ((2019, 1), (2019, 2))),
        ("second quarter of fiscal 2023 and third quarter 2022", ((2022, 3), (2023, 2))),
        ("FY22Q2 and 2Q23", ((2022, 2), (2023, 2))),
        ("How did Q4 do compared to Q3 in FY2021", ((2021, 3), (2021, 4))),
        ("three months ended March 31, 2022", ((2022, 1),)),
        ("first half of 2022", ()),
    ],
)
def test_several_quarters(question: str, asked: tuple[tuple[int, int], ...]) -> None:
    assert parse_periods(question).quarters == asked


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("third quarter ended October 29, 2022", (2022, 3)),
        ("first quarter ended August 31, 2022", (2023, 1)),
        ("fourth fiscal quarter (ended January 28, 2023)", (2022, 4)),
        ("second quarter of fiscal 2023 ended December 31, 2022", (2023, 2)),
        ("13 weeks ended October 29, 2022", (2022, 4)),
    ],
)
def test_a_quarter_that_is_counted_and_dated_is_the_filers_own(question: str, period: tuple[int, int]) -> None:
    assert parse_periods(question).quarters == (period,)


def test_years_behind_a_date_end_on_the_same_day() -> None:
    found = parse_periods("years ended December 31, 2022, 2021 and 2020")
    assert [one.date.isoformat() for one in found.dates] == ["2022-12-31", "2021-12-31", "2020-12-31"]
    assert [one.date.year for one in parse_periods("as of February 29, 2024 and 2023").dates] == [2024, 2023]
    assert parse_periods("three months ended September 30, 2022 and 2021").quarters == ((2021, 3), (2022, 3))


@pytest.mark.parametrize(
    ("question", "since"),
    [
        ("How has capex changed since 2018?", 2018),
        ("since the end of fiscal 2018", 2018),
        ("from FY2018 onwards", 2018),
        ("from 2018 to date", 2018),
        ("from 2018 to 2019", None),
        ("in 2018", None),
    ],
)
def test_since(question: str, since: int | None) -> None:
    assert parse_periods(question).since == since


def test_period_ends() -> None:
    found = parse_periods("net sales for the years ended January 28, 2023 and January 29, 2022")
    assert [(m.fiscal_year, m.period_end) for m in found.mentions] == [
        (2022, date(2023, 1, 28)),
        (2021, date(2022, 1, 29)),
    ]
    assert parse_periods("year ended June 30, 2020").years == (2020,)
    nine = parse_periods("nine months ended September 30, 2022").mentions[0]
    assert (nine.months, nine.quarter, nine.fiscal_year) == (9, None, 2022)


@pytest.mark.parametrize(
    ("span", "months", "quarter"),
    [
        ("first thirty-nine weeks", 9, None),
        ("first 24 weeks", 6, None),
        ("opening two quarters", 6, None),
        ("first three quarters", 9, None),
        ("26 weeks", 6, None),
        ("first 12 weeks", 3, 1),
        ("first 16 weeks", 12, None),
        ("first five months", 12, None),
        ("first few weeks", 12, None),
    ],
)
def test_weeks_and_quarters_count_a_span_from_the_start_of_a_year(span: str, months: int, quarter: int | None) -> None:
    """What is not one to four whole quarters is no span that a filing reports: the year alone is read."""
    (found,) = parse_periods(f"sales in the {span} of fiscal 2022").mentions
    assert (found.fiscal_year, found.months, found.quarter) == (2022, months, quarter)


def test_what_a_question_says_beside_years() -> None:
    assert parse_periods("As of FY2023Q1, why was guidance raised for FY2024?").as_of == 2023
    assert parse_periods("at the end of FY2019").as_of == 2019
    assert parse_periods("in the most recent quarter").latest == "quarter"
    assert parse_periods("in the latest fiscal year").latest == "year"
    assert parse_periods("the latest fiscal year, 2022").latest is None
    assert parse_periods("How did Q4 do?").loose_quarters == (4,)
    assert [m.half for m in parse_periods("first half of 2022, 2H21").mentions] == [1, 2]


PIECES = ("FY", "Q1", "2023", "'19", " - ", " and ", "first", " quarter ", "3/1/", "31 ", "Feb ", "between ", "years ",
          "ended ", "00", ",")  # fmt: skip


@given(st.text(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
@settings(deadline=None)
def test_never_raises_and_phrases_are_the_question(question: str) -> None:
    found = parse_periods(question)
    for mention in (*found.mentions, *found.dates):
        assert question[mention.start : mention.end] == mention.phrase
    assert list(found.years) == sorted(set(found.years))
    assert found == parse_periods(question)


@pytest.mark.parametrize(
    ("end", "month", "expected"),
    [
        (date(2022, 12, 31), None, 2022),
        (date(2022, 1, 1), None, 2021),
        (date(2023, 1, 28), None, 2022),
        (date(2024, 2, 3), None, 2023),
        (date(2022, 10, 29), 1, 2022),
        (date(2022, 12, 31), 6, 2023),
        (date(2022, 6, 30), 6, 2022),
        (date(2023, 5, 28), 5, 2023),
    ],
)
def test_default_names_of_years(end: date, month: int | None, expected: int) -> None:
    assert fiscal_year_of(end, month) == expected


@pytest.mark.parametrize(
    "text", ["between June 30 and December 31, 2022", "June 30, September 30 and December 31 of 2022"]
)
def test_a_year_behind_several_dates_is_that_of_all(text: str) -> None:
    days = [mention.date for mention in parse_periods(text).dates]
    assert {date(2022, 6, 30), date(2022, 12, 31)} <= set(days) and all(day.year == 2022 for day in days)


@pytest.mark.parametrize(
    ("text", "months", "last"),
    [
        ("revenue Jan-Jun 2025", 6, date(2025, 6, 30)),
        ("revenue from January 1 to June 30, 2025", 6, date(2025, 6, 30)),
        ("revenue, October 2024 through June 2025", 9, date(2025, 6, 30)),
        ("revenue April to June 2025", 3, date(2025, 6, 30)),
    ],
)
def test_a_run_of_months_is_a_span(text: str, months: int, last: date) -> None:
    (mention,) = parse_periods(text).mentions
    assert (mention.months, mention.period_end) == (months, last)


def test_a_run_of_months_that_no_filing_reports_is_no_span() -> None:
    assert not any(one.months not in (0, 3, 6, 9, 12) for one in parse_periods("from May to June 2025").mentions)
