"""Who, what and when a filing is, from pages written for these tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_agent.filings.identity.identify import identify
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import PageContent
from tests.filings.identity.written_covers import COMMISSION, FILLER, MONTHS, cover, current_report, read, spoken


def test_a_cover_says_it_all() -> None:
    found = read(cover())
    assert found.company == "HARBOR TOOL WORKS, INC."
    assert found.form is Form.TEN_K
    assert (found.fiscal_year, found.quarter, found.period_end) == (2022, None, date(2022, 12, 31))
    assert found.fiscal_year_end_month == 12
    assert (found.file_number, found.employer_id, found.ticker) == ("1-4321", "12-3456789", "HTW")
    assert not found.amended
    ends = [one for one in found.sources if one.field == "period_end"]
    assert (ends[0].value, ends[0].printed) == ("2022-12-31", "fiscal year ended December 31, 2022")


@given(
    st.sampled_from(
        ["PepperTree Foods, Inc.", "THE LARK COMPANY", "3K COMPANY", "Ash & Elm Holdings plc", "AT&B INC",
         "eFlora Corp.", "Verne Communications Inc.", "ORION BANCORP", "Kite N.V.", "M/I Houses, Inc.",
         "Seven-Tenths Group Ltd"]
    ),
    st.sampled_from(["001-{n:05}", "1-{n}", "001 - {n:05}", "1–{n}"]),
    st.integers(100, 42000),
    st.dates(date(2001, 1, 8), date(2030, 12, 31)),
    st.sampled_from(
        ["fiscal year ended {m} {d}, {y}", "FISCAL YEAR ENDED {M} {d}, {y}", "fiscal year ended:\n {m}\n{d},\n{y}",
         "year ended\u00a0{m}\u00a0{d},\u00a0{y}", "fiscal year ended {d} {m} {y}", "fiscal year ended {m} {d} , {y}"]
    ),
    st.sampled_from(["", "________________\n", "\n \n", "* * *\n"]),
)  # fmt: skip
@settings(deadline=None)
def test_covers_in_many_prints(name: str, number: str, n: int, day: date, period: str, rule: str) -> None:
    month = MONTHS[day.month - 1]
    words = "For the " + period.format(m=month, M=month.upper(), d=day.day, y=day.year)
    found = read(cover(f"{rule}{name}", period=words, number=number.format(n=n)))
    assert found.company == name
    assert found.form is Form.TEN_K
    assert found.file_number == f"1-{n}"
    assert found.period_end == day


@pytest.mark.parametrize(
    ("printed", "form", "amended"),
    [
        ("FORM 10-K", Form.TEN_K, False),
        ("Form 10-K/A\nAmendment No. 1", Form.TEN_K, True),
        ("FORM 10–Q", Form.TEN_Q, False),
        ("FORM 20-F", Form.TWENTY_F, False),
        ("FORM 10 - K", Form.TEN_K, False),
    ],
)
def test_forms(printed: str, form: Form, amended: bool) -> None:
    found = read(cover(form=printed.replace("–", "\u2011")))
    assert (found.form, found.amended) == (form, amended)


def test_names_over_two_lines_and_beside_logos() -> None:
    assert (
        read(cover("TRANSATLANTIC BUSINESS\nMACHINES CORPORATION")).company
        == "TRANSATLANTIC BUSINESS MACHINES CORPORATION"
    )
    assert read(cover("HARBOR\nHARBOR TOOL WORKS, INC.")).company == "HARBOR TOOL WORKS, INC."
    assert read(cover("graphic\nHarbor Tool Works, Inc .")).company == "Harbor Tool Works, Inc."


def test_a_name_that_is_only_a_logo_is_found_in_the_text() -> None:
    text = (
        "Harbor Tool Works, Inc. and its subsidiaries make tools. Harbor Tool Works, Inc. was founded in Ohio in 1901. "
    )
    found = read(
        cover(name=""), "TABLE OF CONTENTS\nItem 1. Business", text + "KPMG LLP audits. Nasdaq Stock Market LLC."
    )
    assert found.company == "Harbor Tool Works, Inc."


def test_the_first_of_several_registrants() -> None:
    found = read(
        f"{COMMISSION}FORM 10-K\nANNUAL REPORT PURSUANT TO SECTION 13\nFor the fiscal year ended December 31, 2022\n"
        "Commission\nFile Number\nExact name of registrants as specified in their charters\nI.R.S. Employer\n"
        f"1-6468\nLARK POWER COMPANY\n58-0257110\n1-6469\nELM POWER COMPANY\n58-0257111\n{FILLER}"
    )
    assert (found.company, found.file_number, found.employer_id) == ("LARK POWER COMPANY", "1-6468", "58-0257110")


def test_a_cover_behind_a_letter_to_shareholders() -> None:
    found = read("2022 Annual Report", "Dear shareholders, it was a good year.", cover())
    assert (found.form, found.company, found.fiscal_year) == (Form.TEN_K, "HARBOR TOOL WORKS, INC.", 2022)


@pytest.mark.parametrize(
    ("end", "year"),
    [
        (date(2022, 1, 1), 2021),
        (date(2021, 1, 3), 2020),
        (date(2023, 1, 28), 2022),
        (date(2024, 2, 3), 2023),
        (date(2022, 6, 30), 2022),
        (date(2022, 9, 24), 2022),
    ],
)
def test_years_without_a_name_of_their_own(end: date, year: int) -> None:
    assert read(cover(period=f"For the fiscal year ended {spoken(end)}"), "Item 1. Business").fiscal_year == year


@pytest.mark.parametrize(
    ("end", "words", "year"),
    [
        (date(2023, 1, 28), "Fiscal 2023, which ended on January 28, 2023, had 52 weeks.", 2023),
        (date(2023, 1, 28), "Revenue grew in fiscal 2023 from fiscal 2022. In fiscal 2023 we opened 3 stores.", 2023),
        (date(2023, 1, 28), "Sales fell in fiscal 2022 from fiscal 2021; fiscal 2021 was up. Now fiscal 2023.", 2022),
        (date(2023, 1, 31), 'the fiscal year ended January 31, 2023 ("fiscal 2023") had growth.', 2023),
        (date(2023, 2, 25), "Fiscal 2022, 2021 and 2020 ended February 25, 2023, February 26, 2022 and so on.", 2022),
        (date(2023, 1, 28), "Fiscal 2023, fiscal 2022 and fiscal 2021 ended January 28, 2023, January 29, 2022.", 2023),
        (date(2023, 1, 28), "“Fiscal 2023” means the fiscal year ended January 28, 2023.", 2023),
        (date(2023, 1, 28), "the 52 weeks ended January 28, 2023 (fiscal 2023)", 2023),
        (date(2023, 1, 28), "Fiscal 2023 consisted of the 52 weeks ended January 28, 2023.", 2023),
        (date(2022, 12, 2), "Fiscal 2022 ended December 2, 2022.", 2022),
    ],
)  # fmt: skip
def test_the_filers_own_name_of_the_year(end: date, words: str, year: int) -> None:
    assert read(cover(period=f"For the fiscal year ended {spoken(end)}"), words).fiscal_year == year


def month_end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


@given(st.integers(2005, 2030), st.integers(1, 12), st.integers(1, 3), st.booleans())
@settings(deadline=None)
def test_quarters_of_any_fiscal_year(year: int, close: int, quarter: int, says_year_end: bool) -> None:
    """`close` is the month the fiscal year ends in; `year` the calendar year of the close before the quarter."""
    last_close = month_end(year, close)
    months = close + 3 * quarter
    end = month_end(year + (months - 1) // 12, (months - 1) % 12 + 1)
    length = {1: "Three Months Ended", 2: "Six Months Ended", 3: "Nine Months Ended"}[quarter]
    words = (
        f"read with the Annual Report on Form 10-K for the fiscal year ended {spoken(last_close)}."
        if says_year_end
        else ""
    )
    found = read(
        cover(form="FORM 10-Q", period=f"For the quarterly period ended {spoken(end)}"),
        f"Three Months Ended\n{length}\n{spoken(end)}\nNet sales",
        f"Three Months Ended\n{length}\n{spoken(end)}\nCash flows\n{words}",
    )
    assert (found.form, found.quarter, found.fiscal_year_end_month) == (Form.TEN_Q, quarter, close)
    assert found.fiscal_year == (year if close == 1 else year + 1)


def test_a_quarter_by_the_filers_own_name() -> None:
    found = read(
        cover(form="FORM 10-Q", period="For the quarterly period ended October 29, 2022"),
        "the year ended January 29, 2022. The third quarter of fiscal 2023 ended October 29, 2022.",
    )
    assert (found.fiscal_year, found.quarter) == (2023, 3)


@pytest.mark.parametrize(("words", "year"), [("2023", 2023), ("2022", 2022)])
def test_quarters_named_without_the_word_fiscal(words: str, year: int) -> None:
    spoken_of = f"Effective with the first quarter of {words}. We sold it in the second quarter of {words}."
    found = read(
        cover(form="FORM 10-Q", period="For the quarterly period ended October 29, 2022"),
        f"the year ended January 29, 2022. {spoken_of}",
    )
    assert (found.fiscal_year, found.quarter) == (year, 3)


@pytest.mark.parametrize(
    "event",
    [
        "Date of Report (Date of earliest event reported): July 1, 2022 (June 30, 2022)",
        "Date of Report (Date of earliest event\nreported): July 1, 2022 (June 30,\n2022)",
        "June 30, 2022\nDate of Report (Date of earliest event reported)",
    ],
)
def test_events(event: str) -> None:
    found = read(
        current_report(event), "SIGNATURES\nPursuant to the requirements of the Act\nDate: July 6, 2022\nBy: /s/ A. Bee"
    )
    assert (found.form, found.company) == (Form.EIGHT_K, "Harbor Tool Works, Inc.")
    assert (found.period_end, found.filed, found.fiscal_year) == (date(2022, 6, 30), date(2022, 7, 6), 2022)
    assert found.file_number == "1-4321"
    assert found.other_names == ()


def test_other_names() -> None:
    found = read(
        cover("HARBOR, INC."),
        "In this report, the terms “we,” “us,” “our,” “Harbor” and the “Company” refer to Harbor, Inc. (formerly known "
        "as\nQuayside Tools, Inc.) and its subsidiaries. “Management” and “Item 7” and “Risk Factors” are not names. "
        "Pier Holdings Ltd. (formerly known as Jetty Ltd.) is a customer.",
    )
    assert found.other_names == ("Quayside Tools, Inc.", "Harbor")


@pytest.mark.parametrize(
    ("title", "released", "year", "quarter", "end"),
    [
        ("Harbor Reports Fourth Quarter and Full-Year 2022 Results", "March 1, 2023", 2022, 4, date(2022, 12, 31)),
        ("Harbor Announces First Quarter Fiscal 2023 Results", "May 25, 2023", 2023, 1, date(2023, 4, 29)),
        ("HARBOR REPORTS SECOND-QUARTER 2023 RESULTS", "July 13, 2023", 2023, 2, date(2023, 6, 17)),
        ("Harbor reports fiscal 2023 results", "August 3, 2023", 2023, 4, date(2023, 6, 30)),
        ("Harbor Announces Q3 2023 Results", "October 20, 2023", 2023, 3, date(2023, 9, 30)),
        ("Harbor Delivers Record Third Quarter Results", "October 20, 2023", 2023, 3, date(2023, 9, 30)),
        ("Harbor Announces Fourth Quarter and Fiscal Year 2022 Results", "March 9, 2023", 2022, 4, date(2023, 1, 28)),
    ],
)
def test_releases(title: str, released: str, year: int, quarter: int, end: date) -> None:
    found = read(
        f"{title}\nSALEM, Ohio - {released} - Harbor Tool Works, Inc. (NYSE: HTW) today reported results for the "
        f"quarter ended {spoken(end)}. Net sales were $14 million and diluted earnings per share $1.20.",
        f"Three Months Ended\n{spoken(end)}\nNet sales $ 14",
    )
    assert found.form is Form.EARNINGS
    assert (found.company, found.ticker) == ("Harbor Tool Works, Inc.", "HTW")
    assert (found.fiscal_year, found.quarter, found.period_end) == (year, quarter, end)
    assert found.filed is not None and spoken(found.filed) == released
    assert "Harbor" in found.other_names or title.isupper()


def test_a_name_below_a_title() -> None:
    found = read("HARBOR REPORTS FIRST-QUARTER 2022 NET INCOME OF $2 PER SHARE\nHarbor & Co. (NYSE: HBR) revenue grew.")
    assert found.company == "Harbor & Co."


def test_a_release_date_and_the_end_of_its_quarter() -> None:
    found = read(
        "May 25, 2023\nHarbor Announces First Quarter Fiscal 2023 Results\nHarbor Tool Works, Inc. (NASDAQ: HTW) "
        "announced results for the thirteen-week period (“first quarter”) ended April 29, 2023. "
        "Net income per share was $2.",
        "13 Weeks Ended\nApril 29,\nApril 30,\n2023\n2022\nthe five trading days ended May 24, 2023",
    )
    assert (found.filed, found.period_end, found.fiscal_year_end_month) == (date(2023, 5, 25), date(2023, 4, 29), 1)


def test_a_glossy_report_without_a_cover() -> None:
    found = read(
        "2022 Annual Report\nHarbor Tool Works, Inc.",
        "Letter to shareholders of Harbor Tool Works, Inc.",
        "Harbor Tool Works, Inc. and Subsidiaries\nConsolidated Balance Sheets\nYears ended December 31, 2022 and 2021",
    )
    assert (found.form, found.company, found.fiscal_year) == (Form.ANNUAL_REPORT, "Harbor Tool Works, Inc.", 2022)


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("",),
        ("", "", ""),
        ("A recipe for plum cake. Take 500 g of plums, Form 10-K of flour and the SECURITIES of eggs.",),
        ("Minutes of the sailing club, March 3, 2021. Present: A. Bee, C. Dee. The jetty was repaired.",) * 3,
    ],
)
def test_what_is_no_filing(texts: tuple[str, ...]) -> None:
    found = read(*texts)
    assert (found.form, found.company, found.fiscal_year) == (Form.OTHER, "", None)


@given(st.lists(st.text(max_size=300), max_size=4), st.integers(0, 400))
@settings(deadline=None, max_examples=60)
def test_never_raises(texts: list[str], cut: int) -> None:
    whole = cover()
    assert read(*texts, whole[:cut] + "".join(texts) + whole[cut:]) == read(
        *texts, whole[:cut] + "".join(texts) + whole[cut:]
    )


def test_ten_thousand_pages_cost_no_more() -> None:
    seen: set[int] = set()

    class Counted(Sequence[PageContent]):
        def __len__(self) -> int:
            return 10_000

        def __getitem__(self, place: int | slice) -> PageContent | list[PageContent]:  # type: ignore[override]
            if isinstance(place, slice):
                return [self._page(number) for number in range(*place.indices(len(self)))]
            return self._page(range(len(self))[place])

        def _page(self, number: int) -> PageContent:
            seen.add(number)
            return PageContent(number, 612.0, 792.0, "The parties agree." if number else cover(), ())

    assert identify(Counted()).company == "HARBOR TOOL WORKS, INC."
    assert len(seen) < 500


def test_a_cover_set_as_a_table_and_a_number_on_a_line_of_its_own() -> None:
    captions = (
        "Commission\nFile\nNumber\nExact Name of\nRegistrant\nas Specified\nin its Charter\nState of\nIncorporation\n"
    )
    table = f"{COMMISSION}FORM 10-Q\nFor the quarterly period ended June 30, 2022\n{captions}1-4321\n"
    table += "Harbor Tool Works, Inc."
    found = read(
        f"{table}\nOhio\n12-3456789\n1-2348\nHarbor Gas Company\nQUARTERLY REPORT PURSUANT TO SECTION 13\n{FILLER}"
    )
    assert found.company == "Harbor Tool Works, Inc."
    assert read(cover("number 1-4321\nHarbor Tool Works, Inc.", number="\n")).company == "Harbor Tool Works, Inc."


def test_a_short_name_that_is_defined_late_and_what_is_none() -> None:
    pages = [cover(), *["We make tools."] * 9]
    pages.append(
        "Harbor Tool Works, Inc. (ticker symbol “HTW”) is listed. Harbor Tool Works, Inc. (the “Parent Guarantor”)"
    )
    pages.append(
        "Harbor Tool Works, Inc. (together with its subsidiaries, “Harbor,” the “Company” or “we”) makes tools."
    )
    assert read(*pages).other_names == ("Harbor",)


def test_the_first_of_several_registrants_and_a_name_that_begins_small() -> None:
    several = cover("HARBOR TOOLS, INC.\nHARBOR TOOLS LIMITED PARTNERSHIP")
    assert read(several.replace("name of registrant as", "name of Registrants as")).company == "HARBOR TOOLS, INC."
    release = (
        "eQuay Inc. Reports First Quarter 2023 Results\nSALEM, Ohio, April 26, 2023 -- eQuay Inc. (Nasdaq: EQAY) today"
        " reported financial results for its first quarter ended March 31, 2023. Revenue was $2.5 billion.\n"
    )
    assert read(release * 3).company == "eQuay Inc."
