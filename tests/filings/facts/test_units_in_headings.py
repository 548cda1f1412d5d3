"""Units and scales that headings of columns state and nothing else does."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from html import escape
from pathlib import Path

import pytest

from fin_agent import prepare
from fin_agent.evaluation.tatqa import synthetic_cover
from fin_agent.filings.tables.cells import is_of_money, scale_of, unit_line_in
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import Filing


def read(folder: Path, *rows: Sequence[str], above: Sequence[str] = ()) -> Filing:
    cover = synthetic_cover("Example Corporation", "30 June 2019", "")
    cells = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    lines = "".join(f"<p>{line}</p>" for line in (*cover, *above))
    path = folder / "filing.html"
    path.write_text(f"<html><body>{lines}<table>{cells}</table></body></html>", encoding="utf-8")
    return prepare(path).filing


def figure(filing: Filing, label: str, year: int) -> tuple[Decimal | int, int, str]:
    found: list[Fact] = [fact for fact in filing.facts if fact.label == label and fact.period.fiscal_year == year]
    assert len(found) == 1
    return found[0].amount, found[0].scale, found[0].unit


@pytest.mark.parametrize(
    ("unit", "scale"),
    [
        ("$'000", 1_000),
        ("US$’000", 1_000),
        ("£000", 1_000),
        ("RM'000", 1_000),
        ("£m", 1_000_000),
        ("€m", 1_000_000),
        ("US$m", 1_000_000),
        ("$M", 1_000_000),
        ("RMB’Million", 1_000_000),
        ("USD ‘000", 1_000),
        ("A$ million", 1_000_000),
        ("(S$ million)", 1_000_000),
        ("€bn", 1_000_000_000),
    ],
)
def test_a_unit_under_each_year(tmp_path: Path, unit: str, scale: int) -> None:
    filing = read(
        tmp_path,
        ("", "2019", "2018"),
        ("", unit, unit),
        ("Trade receivables", "3,770", "3,054"),
        ("Other receivables", "1,223", "1,014"),
    )
    assert figure(filing, "Trade receivables", 2018) == (3054, scale, "USD")
    assert [row.label for row in filing.tables[0].rows] == ["Trade receivables", "Other receivables"]
    assert filing.tables[0].columns == ("2019", "2018")
    assert filing.tables[0].unit_line == unit


def test_a_unit_over_some_columns_is_theirs_alone(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("", "30 June 2019", "30 June 2018", "Change"),
        ("", "$’000", "$’000", "%"),
        ("Finance costs", "54,897", "25,803", "113%"),
        ("Underlying EBITDA", "132,771", "102,190", "30%"),
    )
    assert figure(filing, "Finance costs", 2018) == (25803, 1000, "USD")
    assert filing.tables[0].periods[2] is None
    assert filing.tables[0].column_paths[0] == ("30 June 2019", "$’000")


def test_amounts_under_a_currency_are_money(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("", "2019", "2018"),
        ("", "$", "$"),
        ("Salaries and benefits", "345,041", "317,118"),
        ("Number of employees", "1,204", "1,190"),
    )
    assert figure(filing, "Salaries and benefits", 2019) == (345041, 1, "USD")
    assert figure(filing, "Number of employees", 2019)[2] == "count"


def test_columns_of_change_leave_the_earlier_year_its_own(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("", "Years Ended June 30,", "", "Change", ""),
        ("", "2019", "2018", "$", "%"),
        ("Impairment of goodwill", "$1,910", "$14,740", "$(12,830)", "(87%)"),
        ("Depreciation", "$2,012", "$1,900", "$112", "6%"),
    )
    assert figure(filing, "Impairment of goodwill", 2018) == (14740, 1, "USD")
    assert [period and period.fiscal_year for period in filing.tables[0].periods] == [2019, 2018, None, None]


def test_years_over_the_first_column_of_each_pair(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("", "June 30, 2019", "", "June 30, 2018", ""),
        ("", "$", "%", "$", "%"),
        ("Canada", "96,168", "6.1%", "70,774", "6.6%"),
        ("United States", "1,079,520", "68.4%", "755,454", "70.4%"),
    )
    assert [period and period.fiscal_year for period in filing.tables[0].periods] == [2019, 2019, 2018, 2018]


@pytest.mark.parametrize("text", ["Rs. crore", "€1,234 million", "Form 10-K", "US$", "EUROm", "$mart", "Note M"])
def test_what_names_no_unit(text: str) -> None:
    assert unit_line_in(text) == ""


def test_a_longer_unit_line_goes_before_its_sign() -> None:
    said = unit_line_in("(In US$ millions, except per share amounts)")
    assert said == "(In US$ millions, except per share amounts)"
    assert scale_of(said) == 1_000_000


@pytest.mark.parametrize(
    ("heading", "money"), [("2019 $", True), ("Amount ($)", True), ("£m", True), ("Change %", False), ("Units", False)]
)
def test_headings_of_money(heading: str, money: bool) -> None:
    assert is_of_money(heading) is money


def test_a_change_beside_three_years_takes_none_of_them(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("", "", "As of June 30,", "", "Change"),
        ("", "2019", "2018", "2017", "2019 vs. 2018"),
        ("Streaming revenues", "$38,322", "$33,640", "$31,469", "14%"),
        ("Operating income", "$9,417", "$6,954", "$5,632", "35%"),
    )
    assert [period and period.fiscal_year for period in filing.tables[0].periods] == [2019, 2018, 2017, None]


def test_years_beside_two_columns_of_change_keep_the_heading_over_them(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("", "", "Years Ended", "", "2019 vs. 2018", ""),
        ("", "June 29, 2019", "June 30, 2018", "July 1, 2017", "In Dollars", "In Percent"),
        ("Service", "$12,899", "$12,621", "$12,300", "$278", "2%"),
        ("Product", "$39,005", "$36,709", "$35,705", "$2,296", "6%"),
    )
    assert [period and period.fiscal_year for period in filing.tables[0].periods] == [2019, 2018, 2017, None, None]


def test_a_heading_over_the_first_column_of_its_years_is_over_all_of_them(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("", "Domestic", "", "International", ""),
        ("", "June 30,", "", "June 30,", ""),
        ("(In millions)", "2019", "2018", "2019", "2018"),
        ("Service cost", "1,310", "1,220", "2,470", "2,330"),
        ("Interest cost", "4,050", "3,940", "1,860", "1,790"),
    )
    heads = [path[0] for path in filing.tables[0].column_paths]
    assert heads == ["Domestic", "Domestic", "International", "International"]


def test_the_heading_of_the_labels_is_a_heading_of_their_rows(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("Number of rights", "2019", "2018"),
        ("Granted during the period", "1,001", "907"),
        ("Exercised during the period", "529", "408"),
    )
    assert [row.section for row in filing.tables[0].rows] == [("Number of rights",), ("Number of rights",)]


@pytest.mark.parametrize(
    ("above", "scale"),
    [
        (("NOTES TO CONSOLIDATED FINANCIAL STATEMENTS (in thousands, except per share data)", "Leases."), 1_000),
        (("The effects are presented in the table below (in millions).", "See Note 1 for more about them."), 1_000_000),
    ],
)
def test_a_table_without_a_unit_has_that_of_what_leads_to_it(tmp_path: Path, above: Sequence[str], scale: int) -> None:
    filing = read(
        tmp_path, ("", "2019", "2018"), ("Lease cost", "$3,770", "$3,054"), ("Rent", "1,223", "1,014"), above=above
    )
    assert figure(filing, "Rent", 2018) == (1014, scale, "USD")


def test_years_beside_headings_of_any_length_date_their_columns(tmp_path: Path) -> None:
    filing = read(
        tmp_path,
        ("", "2019", "As a share of the total revenue from all of our services", "2018", "Growth over the year before"),
        ("Freight", "$3,770", "61 %", "$3,054", "23 %"),
        ("Storage", "2,410", "39", "2,006", "20"),
    )
    periods = [period and period.fiscal_year for period in filing.tables[0].periods]
    assert periods == [2019, None, 2018, None]
    assert figure(filing, "Freight", 2018)[0] == 3054


@pytest.mark.parametrize(
    "above", [("Our backlog was $490 million.", "Depreciation"), ("See Note 4 about the backlog.", "Depreciation")]
)
def test_a_heading_is_told_without_the_sentence_above_it(tmp_path: Path, above: Sequence[str]) -> None:
    filing = read(tmp_path, ("", "2019", "2018"), ("Retail", "$377", "$305"), ("Other", "122", "101"), above=above)
    assert {fact.caption for fact in filing.facts if fact.label == "Retail"} == {"Depreciation"}


@pytest.mark.parametrize(
    ("rows", "unit"),
    [
        ((("Factory stores", "213", "198"), ("In-line stores", "85", "79"), ("TOTAL", "298", "277")), "count"),
        ((("Factory stores", "213", "198"), ("Rent of them", "85", "79"), ("TOTAL", "298", "277")), "USD"),
    ],
)
def test_a_total_of_counts_is_a_count(tmp_path: Path, rows: Sequence[Sequence[str]], unit: str) -> None:
    above = ("CONSOLIDATED BALANCE SHEETS (in millions)",)
    assert figure(read(tmp_path, ("", "2019", "2018"), *rows, above=above), "TOTAL", 2018)[2] == unit


def test_cents_are_in_no_scale(tmp_path: Path) -> None:
    above = ("(dollars in millions, except ARPA)",)
    rows = (("", "2019", "2018"), ("Service revenue", "$65,383", "$63,020"), ("Postpaid ARPA", "122.30", "119.10"))
    filing = read(tmp_path, *rows, above=above)
    assert figure(filing, "Service revenue", 2019) == (65383, 1_000_000, "USD")
    assert figure(filing, "Postpaid ARPA", 2019)[:2] == (Decimal("122.30"), 1)


@pytest.mark.parametrize(
    ("unit_line", "label", "scale"),
    [
        ("(in thousands, except revenue per membership)", "Paid memberships at end of period", 1_000),
        ("(in thousands)", "Wireless connections", 1_000),
        ("(in thousands)", "Number of employees", 1),
        ("(in thousands, except connections)", "Wireless connections", 1),
        ("(dollars in thousands)", "Wireless connections", 1),
    ],
)
def test_what_is_counted_in_the_scale_of_its_table(tmp_path: Path, unit_line: str, label: str, scale: int) -> None:
    rows = (("", "2019", "2018"), ("Revenues", "$61,850", "$57,310"), (label, "54,750", "49,431"))
    assert figure(read(tmp_path, *rows, above=(unit_line,)), label, 2019) == (54750, scale, "count")
