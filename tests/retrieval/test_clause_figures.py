"""What a clause says of one of its amounts, and not of the others."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from fin_agent.retrieval.fact_terms import (
    address_of,
    clause_count,
    clause_figure,
    clause_subject,
    is_supposed,
    words_of,
)
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.place import Box

RATES = "Total debt was 87 percent in fixed-rate and 13 percent in floating-rate instruments"
STAFF = "We had 8,521 full-time employees worldwide with 1,353 full-time employees outside the US."
BUYBACK = "We repurchased 8.9 million shares of common stock at an average price of $253.85 per share for $2.2 billion."


def fact(clause: str, amount: str, unit: str, scale: int = 1) -> Fact:
    period = FactPeriod(2023, None, 12)
    return Fact(clause, Decimal(amount), scale, unit, period, 0, Box(0, 0, 1, 1), source="text", tied=False)


@pytest.mark.parametrize(
    ("clause", "amount", "unit", "said", "unsaid"),
    [
        (RATES, "13", "percent", {"debt", "float"}, {"fix"}),
        (RATES, "87", "percent", {"debt", "fix"}, {"float"}),
        (STAFF, "1353", "count", {"full", "nonu"}, {"worldwid"}),
        (STAFF, "8521", "count", {"full", "worldwid"}, {"nonu"}),
    ],
)
def test_words_beside_another_amount_of_the_unit_are_not_of_this_one(
    clause: str, amount: str, unit: str, said: set[str], unsaid: set[str]
) -> None:
    borne = address_of(fact(clause, amount, unit)).borne
    assert said <= borne
    assert borne.isdisjoint(unsaid)


def test_a_count_that_another_includes_counts_the_same_and_is_of_a_part() -> None:
    clause = "We employed approximately 9,100 people worldwide, including approximately 4,200 people within the U.S."
    whole, part = (address_of(fact(clause, amount, "count")) for amount in ("9100", "4200"))
    assert words_of("employees") <= whole.borne & part.borne
    assert not whole.scope and words_of("U.S.") <= part.scope


def test_what_would_have_been_is_no_figure_unless_it_is_asked_for() -> None:
    caption = "Unaudited supplemental pro forma results, as if the merger had been consummated in 2022"
    row = replace(fact("Net revenue", "20150", "USD"), source="table", caption=caption)
    assert is_supposed(row, words_of("net revenue"))
    assert not is_supposed(row, words_of("pro forma net revenue"))
    assert not is_supposed(replace(row, caption="Results of operations"), words_of("net revenue"))


@pytest.mark.parametrize(
    ("caption", "section", "unsaid"),
    [
        ("Segment revenue and segment gross profit are as follows:", "Revenue", {"gross"}),
        ("Segment revenue and segment gross profit are as follows:", "Gross profit", {"revenu"}),
        ("Depreciation and amortization expense by segment was:", "Depreciation", {"amort"}),
    ],
)
def test_a_caption_of_two_measures_lends_rows_of_one_no_words_of_the_other(
    caption: str, section: str, unsaid: set[str]
) -> None:
    row = replace(fact("Subscription", "5", "USD"), source="table", caption=caption, section=(section,))
    assert address_of(row).borne.isdisjoint(unsaid) and words_of(section) <= address_of(row).borne


def test_a_part_of_an_amount_is_not_the_amount() -> None:
    clause = "Trade receivables were $1.40 billion, inclusive of unbilled receivables of $84 million"
    whole, part = (address_of(fact(clause, *each)).borne for each in (("1.40", "USD", 10**9), ("84", "USD", 10**6)))
    assert "unbil" in part
    assert "unbil" not in whole
    assert "trade" in whole


def test_a_part_told_in_passing_does_not_have_the_amount() -> None:
    clause = "Our total cloud revenue, which includes Acme 365, Skyware, and other parts, was $15 billion."
    address = address_of(fact(clause, "15", "USD", 10**9))
    assert words_of("cloud revenue") <= address.matched_words(words_of("cloud revenue"))
    assert words_of("Skyware").isdisjoint(address.matched_words(words_of("Skyware revenue")))
    assert words_of("Skyware") <= address.matched_words(words_of("revenue including Skyware"))


def test_an_amount_that_another_is_compared_with_has_a_name_of_its_own() -> None:
    clause = "The fair value of debt was $7.1 billion, compared to the carrying value of $7.4 billion."
    fair, carrying = (clause_figure(fact(clause, each, "USD", 10**9)).said for each in ("7.1", "7.4"))
    assert "fair value" in fair and "carrying" not in fair
    assert carrying.startswith("the carrying value") and "fair" not in carrying


def test_amounts_of_other_units_share_the_words_of_their_clause() -> None:
    assert clause_figure(fact(BUYBACK, "2.2", "USD", 10**9)).said == BUYBACK


def test_the_years_of_a_list_are_of_all_its_amounts() -> None:
    clause = "Costs of $1.3 billion and $660 million as of December 31, 2022 and 2021 were capitalized."
    assert clause_figure(fact(clause, "660", "USD", 10**6)).said == clause


@pytest.mark.parametrize(
    ("clause", "amount", "unit", "way"),
    [
        ("Net sales rose $40 million, or 12%, to $373 million.", "40", "USD", "up"),
        ("Net sales rose $40 million, or 12%, to $373 million.", "12", "percent", "up"),
        ("Net sales rose $40 million, or 12%, to $373 million.", "373", "USD", ""),
        ("It was due to a $384 million increase in personnel-related costs", "384", "USD", "up"),
        ("It would have been approximately $187 million and $71 million lower, respectively", "71", "USD", "down"),
        ("We may borrow up to $110 billion under the program", "110", "USD", ""),
        ("We recorded a loss of $38 million on the contract", "38", "USD", ""),
    ],
)
def test_a_change_is_told_from_how_things_stand(clause: str, amount: str, unit: str, way: str) -> None:
    assert clause_figure(fact(clause, amount, unit)).way == way


@pytest.mark.parametrize(
    ("clause", "amount", "counted"),
    [
        ("As of May 31, we employed approximately 13,893 people.", "13893", "employees"),
        (
            "At year-end the Company had approximately 9,200 total full-time and part-time employees.",
            "9200",
            "employees",
        ),
        ("As of December 31, we had about 14,000 full-time employees.", "14000", "full-time employees"),
        ("We had approximately 300 part-time employees.", "300", "part-time employees"),
        ("With approximately 132,200 employees as of December 31, costs are high", "132200", "employees"),
        ("We employed 900 people, of whom 600 work in Ohio and 300 abroad.", "300", "employees"),
        ("In 2024 and 2023 we had approximately 69,700 and 79,100 employees, respectively.", "79100", ""),
        ("The Coatings segment employed approximately 6,000 employees.", "6000", ""),
        ("The plan affected approximately 5,000 employees in Europe.", "5000", ""),
    ],
)
def test_what_the_company_has_so_many_of_is_what_a_clause_counts(clause: str, amount: str, counted: str) -> None:
    assert clause_count(clause, Decimal(amount)) == words_of(counted)


@pytest.mark.parametrize(
    ("clause", "amount", "subject"),
    [
        (
            "Total subscription ARR grew to $17.33 billion at the end of 2024, up from $15.33 billion.",
            "17.33",
            "total subscription ARR",
        ),
        ("Direct sales decreased 13% to $18.8 billion in 2025.", "18.8", "direct sales"),
        ("Direct sales decreased $2 billion in 2025.", "2", ""),
        (
            "Our total cloud revenue, which comprises Acme 365, maps, and other parts, was $15 billion.",
            "15",
            "total cloud revenue",
        ),
        (
            "Based on current rates for similar loans, the fair value of debt was $7.1 billion.",
            "7.1",
            "fair value of debt",
        ),
        ("The carrying value of our asset-backed debt was $10.6 billion.", "10.6", "asset-backed debt"),
        (
            "As of May 31, we had supply contract obligations, including fees, of $16.2 billion.",
            "16.2",
            "supply contract obligations",
        ),
        (
            "We had purchase obligations of $44 billion, with $43 billion payable within 12 months.",
            "43",
            "purchase obligations payable within months",
        ),
        (
            "We had approximately $2 billion of unused borrowing capacity as of May 31.",
            "2",
            "unused borrowing capacity",
        ),
        ("We have recorded deferred tax assets of $3 billion.", "3", ""),
        ("In 2023 we had net sales of $50 billion, operating profit of $5 billion and no debt.", "5", ""),
        ("We had loss carryforwards of $3 billion for federal purposes.", "3", ""),
        ("We had $1 billion of tax benefits, $0.7 billion of which would affect our tax rate.", "0.7", ""),
        ("Content obligations were comprised of $4 billion included in current liabilities.", "4", ""),
    ],
)
def test_the_subject_of_a_clause_is_what_its_amount_is_of(clause: str, amount: str, subject: str) -> None:
    assert clause_subject(fact(clause, amount, "USD", 10**9)) == words_of(subject)


def test_what_is_outside_a_country_is_no_figure_of_it() -> None:
    abroad = words_of("non-U.S. stores")
    assert {words_of("stores outside the United States"), words_of("Stores outside of the US")} == {abroad}
    assert not words_of("United States") & abroad
