"""Identity from `dei:` tags: read first, and outvoted where the print contradicts them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.identity import Form, Identity, Origin
from tests.filings.identity.written_covers import cover, current_report, read, sources_of

ENTITY = "dei:LegalEntityAxis"
CLASS = "us-gaap:StatementClassOfStockAxis"


def tag(
    concept: str,
    text: str,
    *members: tuple[str, str],
    page: int | None = 0,
    context: str = "c-1",
    end: date | None = None,
    numeric: bool = False,
) -> Tag:
    return Tag(concept, None, text, context, end, members=members, page=page, numeric=numeric)


def tags(**stated: str) -> list[Tag]:
    usual = {
        "EntityRegistrantName": "Harbor Tool Works, Inc.",
        "EntityCentralIndexKey": "0000043210",
        "DocumentType": "10-K",
        "DocumentFiscalYearFocus": "2022",
        "DocumentFiscalPeriodFocus": "FY",
        "DocumentPeriodEndDate": "2022-12-31",
        "CurrentFiscalYearEndDate": "--12-31",
        "AmendmentFlag": "false",
        "EntityFileNumber": "001-04321",
        "EntityTaxIdentificationNumber": "12-3456789",
        "TradingSymbol": "HTW",
    }
    return [tag(f"dei:{concept}", text) for concept, text in {**usual, **stated}.items()]


def conflicting(found: Identity) -> dict[str, tuple[str, str]]:
    return {taken.field: (taken.value, other.value) for taken, other in found.conflicts()}


def test_tags_and_print_agree() -> None:
    found = read(cover(), tags=tags())
    assert (found.company, found.ticker, found.cik) == ("Harbor Tool Works, Inc.", "HTW", "43210")
    assert (found.form, found.fiscal_year, found.quarter) == (Form.TEN_K, 2022, None)
    assert (found.period_end, found.fiscal_year_end_month) == (date(2022, 12, 31), 12)
    assert (found.file_number, found.employer_id, found.amended) == ("1-4321", "12-3456789", False)
    assert found.conflicts() == ()
    assert [one.origin for one in sources_of(found, "company")] == [Origin.DEI, Origin.COVER]
    assert sources_of(found, "company")[0].printed == "dei:EntityRegistrantName Harbor Tool Works, Inc."


def test_tags_alone() -> None:
    found = read("A page without a cover.", tags=tags(DocumentType="10-Q/A", DocumentFiscalPeriodFocus="Q2",
                 DocumentPeriodEndDate="2022-06-30"))  # fmt: skip
    assert (found.form, found.amended, found.company) == (Form.TEN_Q, True, "Harbor Tool Works, Inc.")
    assert (found.fiscal_year, found.quarter, found.period_end) == (2022, 2, date(2022, 6, 30))


@pytest.mark.parametrize(
    ("printed", "form"),
    [
        ("10-K", Form.TEN_K), ("10-KT", Form.TEN_K), ("10-K405", Form.TEN_K), ("10-QT", Form.TEN_Q),
        ("8-K12B", Form.EIGHT_K), ("20-F", Form.TWENTY_F), ("40-F", Form.OTHER), ("ARS", Form.ANNUAL_REPORT),
    ],
)  # fmt: skip
def test_document_types(printed: str, form: Form) -> None:
    assert read("Nothing else.", tags=tags(DocumentType=printed)).form is form


def test_a_focus_left_over_from_last_year() -> None:
    found = read(cover(), tags=tags(DocumentFiscalYearFocus="2021"))
    assert found.fiscal_year == 2022
    assert conflicting(found) == {"fiscal_year": ("2022", "2021")}


JANUARY = "For the fiscal year ended January 31, 2025"
IN_JANUARY = {"DocumentPeriodEndDate": "2025-01-31", "CurrentFiscalYearEndDate": "--01-31"}


@pytest.mark.parametrize(
    ("focus", "words", "year", "differing"),
    [
        ("2025", "", 2025, {}),
        ("2024", "", 2024, {}),
        ("2025", "Fiscal 2025 ended January 31, 2025. Sales in fiscal 2025 grew over fiscal 2024.", 2025, {}),
        ("2025", "Fiscal 2024 ended January 31, 2025.", 2024, {"fiscal_year": ("2024", "2025")}),
        ("2024", "In our fiscal year ended January 31, 2025 (“fiscal 2024”) sales grew.", 2024, {}),
    ],
)
def test_the_year_that_ends_in_january(
    focus: str, words: str, year: int, differing: dict[str, tuple[str, str]]
) -> None:
    found = read(cover(period=JANUARY), words, tags=tags(DocumentFiscalYearFocus=focus, **IN_JANUARY))
    assert found.fiscal_year == year
    assert conflicting(found) == differing


def test_the_name_of_the_year_in_a_note_far_behind() -> None:
    pages = [cover(period="For the fiscal year ended January 28, 2023"), *["Text."] * 60]
    note = (
        "Fiscal years 2023, 2022 and 2021 represented the 52 weeks ended January 28, 2023, January 29, 2022 and so on."
    )
    assert read(*pages, note).fiscal_year == 2023
    assert sources_of(read(*pages, note), "fiscal_year")[0].page == 61
    assert read(*pages).fiscal_year == 2022


def test_a_period_end_that_was_not_updated() -> None:
    figures = [tag("us-gaap:Assets", "1", end=date(2022, 12, 31), numeric=True)] * 30
    found = read(cover(), tags=[*tags(DocumentPeriodEndDate="2021-12-31", DocumentFiscalYearFocus="2021"), *figures])
    assert (found.period_end, found.fiscal_year) == (date(2022, 12, 31), 2022)
    assert conflicting(found) == {"period_end": ("2022-12-31", "2021-12-31"), "fiscal_year": ("2022", "2021")}


def test_the_last_day_of_a_52_week_year() -> None:
    found = read("Text.", tags=tags(DocumentPeriodEndDate="2024-02-03", CurrentFiscalYearEndDate="--02-03",
                 DocumentFiscalYearFocus="2023"))  # fmt: skip
    assert (found.fiscal_year_end_month, found.fiscal_year) == (1, 2023)
    assert found.conflicts() == ()


def test_the_parent_of_several_registrants() -> None:
    member = (ENTITY, "lark:LarkGasCompanyMember")
    found = read(
        "Text.",
        tags=[
            tag("dei:EntityRegistrantName", "LARK GAS COMPANY", member),
            tag("dei:EntityCentralIndexKey", "0000000777", member),
            tag("dei:EntityFileNumber", "001-00777", member),
            tag("dei:TradingSymbol", "LRKG", member),
            *tags(EntityRegistrantName="LARK HOLDINGS INC"),
        ],
    )
    assert (found.company, found.cik, found.file_number, found.ticker) == (
        "LARK HOLDINGS INC",
        "43210",
        "1-4321",
        "HTW",
    )
    assert found.conflicts() == ()


def test_registrants_that_are_all_members() -> None:
    found = read(
        "Text.",
        tags=[
            tag("dei:DocumentType", "10-K"),
            tag("dei:EntityRegistrantName", "LARK HOLDINGS INC", (ENTITY, "lark:HoldingsMember")),
            tag("dei:EntityRegistrantName", "LARK GAS COMPANY", (ENTITY, "lark:GasMember")),
            tag("dei:EntityCentralIndexKey", "0000000777", (ENTITY, "lark:GasMember")),
            tag("dei:EntityCentralIndexKey", "0000000778", (ENTITY, "lark:HoldingsMember")),
        ],
    )
    assert (found.company, found.cik) == ("LARK HOLDINGS INC", "778")


@pytest.mark.parametrize(
    ("classes", "symbol"),
    [
        ((("0.500% Notes due 2031", "HTW31"), ("Common Stock, par value $0.01", "HTW")), "HTW"),
        ((("Class A Common Stock", "HTWA"), ("Class B Common Stock", "HTWB")), "HTWA"),
        ((("Warrants to purchase common stock", "HTWW"), ("Ordinary Shares", "HTW")), "HTW"),
        ((("Depositary shares of Series C preferred stock", "HTWpC"), ("Common shares", "HTW.A")), "HTW.A"),
        ((("Common Stock", "N/A"),), None),
        ((("Common Stock", "NYSE: htw"),), "HTW"),
    ],
)
def test_the_symbol_of_the_common_stock(classes: tuple[tuple[str, str], ...], symbol: str | None) -> None:
    stated = [one for one in tags() if one.concept != "dei:TradingSymbol"]
    for number, (title, printed) in enumerate(classes):
        member = (CLASS, f"us-gaap:C{number}Member")
        stated.append(tag("dei:Security12bTitle", title, member, context=f"s-{number}"))
        stated.append(tag("dei:TradingSymbol", printed, member, context=f"s-{number}"))
    assert read("Text.", tags=stated).ticker == symbol


def test_names_of_a_register_and_of_the_cover() -> None:
    found = read(cover("The Harbor-Tool Company"), tags=tags(EntityRegistrantName="HARBOR TOOL CO /DE/"))
    assert found.company == "HARBOR TOOL CO"
    assert not found.conflicts()
    other = read(cover("Lark Power Company"), tags=tags(EntityRegistrantName="HARBOR TOOL CO"))
    assert conflicting(other)["company"] == ("HARBOR TOOL CO", "Lark Power Company")


def test_an_amendment_whose_flag_was_forgotten() -> None:
    found = read(cover(form="FORM 10-K/A"), tags=tags(AmendmentFlag="false", DocumentType="10-K/A"))
    assert found.amended
    assert conflicting(found) == {"amended": ("true", "false")}


def test_numbers_that_say_nothing() -> None:
    found = read("Text.", tags=tags(EntityTaxIdentificationNumber="00-0000000", EntityFileNumber="N/A",
                 CurrentFiscalYearEndDate="--13-41", DocumentFiscalYearFocus="FY22", TradingSymbol="none"))  # fmt: skip
    assert (found.employer_id, found.file_number, found.ticker) == (None, None, None)
    assert found.fiscal_year == 2022


@given(st.lists(st.tuples(st.sampled_from([one.concept for one in tags()]), st.text(max_size=30))))
def test_any_text_in_tags(stated: list[tuple[str, str]]) -> None:
    read(cover(), tags=[tag(concept, text) for concept, text in stated])


def test_a_current_report() -> None:
    text = current_report("June 30, 2022\nDate of report (Date of earliest event reported)")
    found = read(text, tags=tags(DocumentType="8-K", DocumentPeriodEndDate="2022-06-30")[:7])
    assert (found.form, found.period_end, found.quarter) == (Form.EIGHT_K, date(2022, 6, 30), None)
    assert not found.conflicts()
