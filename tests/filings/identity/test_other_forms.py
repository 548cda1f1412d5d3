"""Forms and covers beside the plain 10-K: foreign filers, transition periods, calls, covers of several registrants."""

from __future__ import annotations

from datetime import date

import pytest

from fin_agent.filings.identity.identify import identify
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import PageContent
from tests.filings.identity.written_covers import COMMISSION, FILLER, cover, current_report, read, sources_of, spoken

FOREIGN = (
    f"{COMMISSION}FORM 20-F\n(Mark One)\n☐ REGISTRATION STATEMENT PURSUANT TO SECTION 12(b) OR (g)\nOR\n"
    "☒ ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934\n"
    "For the fiscal year ended 31 March 2023\nOR\n☐ TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d)\n"
    "☐ SHELL COMPANY REPORT PURSUANT TO SECTION 13 OR 15(d)\nDate of event requiring this shell company report\n"
    "For the transition period from            to\nCommission file number: 001-15099\n"
    "Nordhavn Skibe A/S\n(Exact name of Registrant as specified in its charter)\n"
    "N/A\n(Translation of Registrant’s name into English)\nKingdom of Denmark\n"
    "(Jurisdiction of incorporation or organization)\nHavnegade 1, Aarhus\n(Address of principal executive offices)\n"
    "Title of each class\nTrading Symbol\nName of each exchange on which registered\n"
    f"American Depositary Shares, each representing one ordinary share\nNHS\nNew York Stock Exchange\n{FILLER}"
)


def test_a_foreign_annual_report() -> None:
    found = read(FOREIGN, "Item 3. Key Information")
    assert (found.company, found.form, found.ticker) == ("Nordhavn Skibe A/S", Form.TWENTY_F, "NHS")
    assert (found.period_end, found.fiscal_year, found.fiscal_year_end_month) == (date(2023, 3, 31), 2023, 3)


MONTHLY = (
    f"{COMMISSION}FORM 6-K\nREPORT OF FOREIGN PRIVATE ISSUER PURSUANT TO RULE 13a-16 OR 15d-16\n"
    "UNDER THE SECURITIES EXCHANGE ACT OF 1934\nFor the month of August 2023\nCommission File Number: 001-15099\n"
    "NORDHAVN SKIBE A/S\n(Translation of registrant’s name into English)\nHavnegade 1, Aarhus, Denmark\n"
    f"(Address of principal executive office)\n{FILLER}"
)


def test_a_foreign_filers_results() -> None:
    found = read(
        MONTHLY,
        "Nordhavn Skibe Reports Second Quarter 2023 Results\nAarhus, August 10, 2023 - Nordhavn Skibe A/S "
        "(NYSE: NHS) reported net income of $3 million for the quarter ended June 30, 2023, or $0.20 per share.",
    )
    assert (found.company, found.form, found.file_number) == ("NORDHAVN SKIBE A/S", Form.EARNINGS, "1-15099")
    assert (found.fiscal_year, found.quarter, found.period_end) == (2023, 2, date(2023, 6, 30))


def test_a_foreign_filers_notice() -> None:
    found = read(MONTHLY, "SIGNATURES\nPursuant to the requirements of the Act\nDate: August 21, 2023\nBy: /s/ C. Dee")
    assert (found.company, found.form, found.filed) == ("NORDHAVN SKIBE A/S", Form.OTHER, date(2023, 8, 21))


@pytest.mark.parametrize(
    ("form", "boxes", "period"),
    [
        ("FORM 10-KT", "☐☒", "For the fiscal year ended            "),
        ("FORM 10-K", "☐☒", "For the fiscal year ended June 30, 2022"),
        ("FORM 10-K", "¨ý", "For the fiscal year ended            "),
    ],
)
def test_a_transition_period(form: str, boxes: str, period: str) -> None:
    printed = cover(
        form=form,
        period=period,
        boxes=boxes,
        transition="For the transition period from July 1, 2022 to December 31, 2022",
    )
    found = read(printed, "for the fiscal year ended June 30, 2022 we reported")
    assert (found.form, found.period_end) == (Form.TEN_K, date(2022, 12, 31))
    assert (found.fiscal_year, found.fiscal_year_end_month, found.quarter) == (2022, 12, None)


def test_an_amended_report() -> None:
    found = read(cover(form="FORM 10-K/A\n(Amendment No. 2)"), "EXPLANATORY NOTE")
    assert (found.form, found.amended, found.fiscal_year) == (Form.TEN_K, True, 2022)
    assert sources_of(found, "amended")[0].printed == "FORM 10-K/A"
    assert not sources_of(read(cover()), "amended")


def test_amendments_that_a_current_report_tells_of() -> None:
    told = "Item 1.01\nOn June 30, 2022 the Company signed Amendment No. 3 to the Credit Agreement."
    found = read(current_report("Date of Report (Date of earliest event reported): June 30, 2022") + told)
    assert not found.amended


@pytest.mark.parametrize(
    ("event", "earliest"),
    [
        ("July 7, 2022 (July 1, 2022)", date(2022, 7, 1)),
        ("August 3, 2022 and August 1, 2022", date(2022, 8, 1)),
        ("January 4, 2023 (December 29, 2022)", date(2022, 12, 29)),
    ],
)
def test_several_dates_of_events(event: str, earliest: date) -> None:
    found = read(current_report(f"Date of Report (Date of earliest event reported): {event}"))
    assert (found.period_end, found.fiscal_year) == (earliest, earliest.year)
    assert found.filed is not None and spoken(found.filed) == event.split(" (")[0].split(" and ")[0]
    assert sources_of(found, "filed")[0].page == 0


def test_two_registrants_on_one_cover() -> None:
    printed = (
        f"{COMMISSION}FORM 10-Q\n(Mark One)\n☒ QUARTERLY REPORT PURSUANT TO SECTION 13 OR 15(d)\n"
        "For the quarterly period ended September 30, 2023\nCommission file number 001-31822\n"
        "LARK HOLDINGS, INC.\n(Exact name of registrant as specified in its charter)\nMaryland\n20-1234567\n"
        "Commission file number 333-12345\nLARK OPERATING PARTNERSHIP, L.P.\n"
        f"(Exact name of registrant as specified in its charter)\nDelaware\n20-7654321\n{FILLER}"
    )
    found = read(printed, "Nine Months Ended September 30, 2023\nNine Months Ended September 30, 2022")
    assert (found.company, found.file_number, found.employer_id) == ("LARK HOLDINGS, INC.", "1-31822", "20-1234567")
    assert (found.fiscal_year, found.quarter) == (2023, 3)


@pytest.mark.parametrize(
    ("last_year", "weeks", "end", "year", "quarter"),
    [
        (date(2023, 1, 28), "16 Weeks Ended", date(2023, 5, 20), 2023, 1),
        (date(2023, 1, 28), "28 Weeks Ended", date(2023, 8, 12), 2023, 2),
        (date(2023, 1, 28), "40 Weeks Ended", date(2023, 11, 4), 2023, 3),
        (date(2022, 8, 28), "12 Weeks Ended", date(2022, 11, 20), 2023, 1),
        (date(2022, 8, 28), "24 Weeks Ended", date(2023, 2, 12), 2023, 2),
        (date(2022, 8, 28), "36 Weeks Ended", date(2023, 5, 7), 2023, 3),
        (date(2022, 7, 3), "Thirteen Weeks Ended", date(2022, 10, 2), 2023, 1),
        (date(2022, 10, 1), "Nine Months Ended", date(2023, 7, 1), 2023, 3),
    ],
)
def test_quarters_of_weeks(last_year: date, weeks: str, end: date, year: int, quarter: int) -> None:
    found = read(
        cover(form="FORM 10-Q", period=f"For the quarterly period ended {spoken(end)}"),
        f"{weeks}\n{spoken(end)}\nNet sales",
        f"{weeks}\n{spoken(end)}\nCash flows\nAnnual Report for the fiscal year ended {spoken(last_year)}.",
    )
    assert (found.quarter, found.period_end) == (quarter, end)
    assert found.fiscal_year == year
    assert not found.conflicts()


def test_quarters_of_weeks_by_their_length_alone() -> None:
    found = read(
        cover(form="FORM 10-Q", period="For the quarterly period ended May 20, 2023"),
        "Sixteen Weeks Ended\nMay 20, 2023\nNet sales",
        "Sixteen Weeks Ended\nMay 20, 2023\nCash flows",
    )
    assert found.quarter == 1


def test_a_call() -> None:
    found = read(
        "Harbor Tool Works, Inc. (NYSE:HTW)\nQ3 2023 Earnings Conference Call\nOctober 24, 2023, 8:30 AM ET\n"
        "Company Participants\nAnna Bee - Chief Executive Officer\n",
        "Operator\nGood morning, and welcome to the third quarter 2023 earnings call of Harbor Tool Works.\n"
        "Anna Bee\nThank you. Revenue grew 4%.",
    )
    assert (found.form, found.company, found.ticker) == (Form.EARNINGS, "Harbor Tool Works, Inc.", "HTW")
    assert (found.fiscal_year, found.quarter, found.filed) == (2023, 3, date(2023, 10, 24))


@pytest.mark.parametrize(
    ("title", "quarter"),
    [("Harbor Reports Fiscal 2023 Third Quarter Results", 3), ("Harbor Reports 2023 Q2 Results", 2)],
)
def test_a_release_that_names_the_year_before_the_quarter(title: str, quarter: int) -> None:
    found = read(
        f"{title}\nSalem, October 24, 2023 - Harbor, Inc. (NYSE: HTW) reported net income of $0.42 per share.\n"
    )
    assert (found.form, found.fiscal_year, found.quarter) == (Form.EARNINGS, 2023, quarter)


@pytest.mark.parametrize("words", ["formerly known as", "f/k/a", "formerly", "previously known as"])
def test_former_and_short_names(words: str) -> None:
    found = read(
        cover("Harbor, Inc."),
        f"Harbor, Inc. ({words} Quayside Tools, Inc.) was founded in 1901. In this report “we,” “our,” “Harbor,” and "
        "the “Company” mean Harbor, Inc.",
    )
    assert found.other_names == ("Quayside Tools, Inc.", "Harbor")
    assert sources_of(found, "other_names")[0].page == 1
    assert "Quayside" in sources_of(found, "other_names")[0].printed


def test_an_annual_report_to_shareholders() -> None:
    found = read(
        "Annual Report 2023\nHarbor Tool Works, Inc.",
        "To our shareholders: Harbor Tool Works, Inc. had a good year.",
        "Harbor Tool Works, Inc. and Subsidiaries\nConsolidated Statements of Income\nFiscal years ended\n"
        "Years ended July 1, 2023 and July 2, 2022",
    )
    assert (found.form, found.company) == (Form.ANNUAL_REPORT, "Harbor Tool Works, Inc.")
    assert (found.fiscal_year, found.fiscal_year_end_month, found.period_end) == (2023, 6, date(2023, 7, 1))


COVER_OF_8K = (
    "UNITED STATES\nSECURITIES AND EXCHANGE COMMISSION\nWashington, D.C. 20549\nFORM 8-K\nCURRENT REPORT\n"
    "Pursuant to Section 13 or 15(d) of the Securities Exchange Act of 1934\n"
    "Date of Report (Date of earliest event reported): July 24, 2025\nMossgate Freight, Inc.\n"
    "(Exact name of registrant as specified in its charter)\nCommission file number 1-12345\n" + "x" * 100
)


def eight_k(*pages: str) -> Identity:
    return identify([PageContent(number, 612, 792, text, ()) for number, text in enumerate((COVER_OF_8K, *pages))])


@pytest.mark.parametrize(
    "pages",
    [
        [
            "Item 2.01 Completion of Acquisition.\nOn July 24, 2025 Mossgate Freight announced that it had acquired "
            "Tidewell, which had net sales of $71.4 million in the year ended December 31, 2024. It is expected to add "
            "$0.03 to diluted earnings per share in fiscal 2026.\nPursuant to the requirements of the Act, the "
            "registrant has duly caused this report to be signed on its behalf.",
        ],
        [
            "Item 8.01 Other Events.\nThe registrant has duly caused this report to be signed.",
            "Mossgate Freight Completes Acquisition of Tidewell\nJuly 24, 2025 - Mossgate Freight, Inc. announced that "
            "it has bought Tidewell, which had revenue of $71.4 million in full year 2024.",
        ],
    ],
)
def test_an_8k_about_something_else_is_of_no_results(pages: list[str]) -> None:
    assert eight_k(*pages).results is None


def test_an_8k_knows_the_results_that_an_item_introduces() -> None:
    found = eight_k(
        "Item 2.02 Results of Operations and Financial Condition.\nA release is furnished as Exhibit 99.1.",
        "Mossgate Freight has a strong start\nJuly 24, 2025 - Mossgate Freight, Inc. today reported net income of "
        "$20.1 million for the second quarter 2025.\nThree Months Ended June 30, 2025\nRevenue 341,489\n",
    )
    assert found.results == FactPeriod(2025, 2, 3, date(2025, 6, 30))


def test_the_results_of_an_8k_are_not_its_own_period() -> None:
    release = (
        "Mossgate Freight Reports Second Quarter 2025 Results\nJuly 24, 2025 - Mossgate Freight, Inc. today reported "
        "net income of $20.1 million, or $0.42 per diluted share, for the quarter ended June 30, 2025.\n"
        "Three Months Ended June 30, 2025\nSix Months Ended June 30, 2025\nRevenue 341,489\n"
    )
    pages = [PageContent(number, 612, 792, text, ()) for number, text in enumerate((COVER_OF_8K, "Item 2.02", release))]
    identity = identify(pages)
    assert (identity.form, identity.period_end, identity.quarter) == (Form.EIGHT_K, date(2025, 7, 24), None)
    assert identity.results == FactPeriod(2025, 2, 3, date(2025, 6, 30))
    assert identity.reported_period == identity.results
    assert identify(pages[:2]).results is None
    assert identify(pages[:2]).reported_period is None
