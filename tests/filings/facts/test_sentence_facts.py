"""Amounts in sentences, from pages written for these tests."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from fin_agent.filings.facts.sentence_facts import facts_of_sentences
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.vocabulary.fact import UNDATED, Fact, FactPeriod
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box, Word
from fin_agent.vocabulary.table import Table

CALENDAR = FiscalCalendar(2022, date(2022, 12, 31), None, date(2022, 12, 31))
YEAR = {year: FactPeriod(year, None, 12, date(year, 12, 31)) for year in range(2019, 2024)}
END = {year: FactPeriod(year, None, 0, date(year, 12, 31)) for year in range(2019, 2024)}


def page(text: str, number: int = 0) -> PageContent:
    words = [
        Word(60.0 * at, 20.0 * line, 60.0 * at + 50, 20.0 * line + 10, word)
        for line, words in enumerate(text.split("\n"))
        for at, word in enumerate(words.split())
    ]
    return PageContent(number, 612.0, 792.0, text, tuple(words))


def read(text: str, facts: list[Fact] | None = None, notes: dict[int, str] | None = None) -> list[Fact]:
    return facts_of_sentences([page(text)], (), facts or [], CALENDAR, notes or {})


def values(facts: list[Fact]) -> list[tuple[Decimal, str]]:
    return [(fact.value, fact.unit) for fact in facts]


@pytest.mark.parametrize(("kind", "scope"), [("product", None), ("segment", "Acme")])
def test_the_filers_own_name_is_a_part_only_where_a_segment_is_called_so(kind: str, scope: str | None) -> None:
    of_part = Fact("Sales", Decimal(1), 1, "USD", YEAR[2022], 3, Box(0, 0, 1, 1), scope="Acme", part_kind=kind)
    text = "At December 31, 2022, Acme had approximately 35,700 full-time employees around the world."
    (found,) = facts_of_sentences([page(text)], (), [of_part], CALENDAR, {}, "ACME INCORPORATED")
    assert found.scope == scope


@pytest.mark.parametrize(
    ("words", "value", "unit"),
    [
        ("we repaid $1.5 billion of debt", "1500000000", "USD"),
        ("we paid a dividend of $0.47 per common share", "0.47", "USD per share"),
        ("margins rose by 3.5% of sales", "3.5", "percent"),
        ("margins rose by 1.5 percentage points", "1.5", "percentage points"),
        ("the spread widened by 20 basis points", "20", "basis points"),
        ("we had approximately 164,000 full-time employees", "164000", "count"),
        ("we had 1.7 million paying customers", "1700000", "count"),
        ("we bought back 5.2 million shares of our stock", "5200000", "shares"),
        ("we issued €500 million of notes", "500000000", "EUR"),
        ("we drew C$12 million under the facility", "12000000", "CAD"),
        ("the return on assets was (2.7)% in all", "-2.7", "percent"),
        ("we spent $300.0  million in cash", "300000000", "USD"),
        ("the price was $24.50 per ton of ore", "24.50", "USD per ton"),
    ],
)
def test_what_an_amount_counts(words: str, value: str, unit: str) -> None:
    assert values(read(f"During that time {words} and did other things.")) == [(Decimal(value), unit)]


@pytest.mark.parametrize(
    "words",
    [
        "the Chapter 11 cases were stayed by the court",
        "the 2022 stores were opened by us",
        "we refer to Note 11 and to Item 7 of this report",
        "it flies the Boeing 737 aircraft on most days",
        "we have been in business for 40 years or so",
    ],
)
def test_numbers_that_count_nothing(words: str) -> None:
    assert read(f"As was said before, {words}.") == []


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        (
            "As of December 31, 2022, we employed 900 people, of whom 600 work in the U.S. and 300 abroad.",
            [("900", None), ("600", "U.S."), ("300", "abroad")],
        ),
        (
            "At year end we had 1,200 employees: 700 in research, 300 in sales (mostly online), and 200 elsewhere.",
            [("1200", None), ("700", "research"), ("300", "sales"), ("200", "elsewhere")],
        ),
        ("In 2022 we operated 2,022 stores, 1,500 of our own and about 500 under licence.", [("2022", None)]),
    ],
)
def test_numbers_that_add_up_to_a_count_are_its_parts(sentence: str, parts: list[tuple[str, str | None]]) -> None:
    assert [(str(fact.amount), fact.scope) for fact in read(sentence)] == parts


def test_a_name_behind_a_part_of_an_amount_is_of_the_part() -> None:
    american = Fact(
        "Sales", Decimal(5), 1, "USD", YEAR[2022], 0, Box(0, 0, 0, 0), scope="United States", part_kind="region"
    )
    sentence = "We employed 264,000 people worldwide, including 113,000 people within the United States."
    assert [(str(one.amount), one.scope) for one in read(sentence, facts=[american])] == [
        ("264000", None),
        ("113000", "United States"),
    ]


def test_what_is_counted_by_several_words() -> None:
    found = read("As of year-end we were supplied by 120 finished goods footwear contract factories in 11 countries.")
    assert [(str(one.amount), one.unit) for one in found] == [("120", "count"), ("11", "count")]


def test_an_amount_is_scaled_as_the_one_it_is_listed_with() -> None:
    found = read("We expect to spend between $1.2 and $1.5 billion on new plants.")
    assert [fact.value for fact in found] == [Decimal("1.2e9"), Decimal("1.5e9")]


def test_notes_that_print_amounts_without_a_scale_have_that_of_their_tables() -> None:
    table = Table(0, Box(0, 700, 600, 720), "", "(in millions)", ("2022",), (YEAR[2022],))
    text = "The plan owed the sum of $5 to banks. " * 25
    found = facts_of_sentences([page(text)], [table], [], CALENDAR, {0: "Debt"})
    assert {(fact.value, fact.note) for fact in found} == {(Decimal(5_000_000), "Debt")}
    assert {fact.value for fact in read(text)} == {Decimal(5)}


@pytest.mark.parametrize(
    ("sentence", "periods"),
    [
        ("In 2022, we spent $5 million on new plants and machines.", [YEAR[2022]]),
        ("Cash was $5 million and $4 million at December 31, 2022 and 2021, respectively.", [END[2022], END[2021]]),
        ("At December 31, 2022 and 2021, cash was $5 million and $4 million, respectively.", [END[2022], END[2021]]),
        (
            "Costs were $3 million, $2 million and $1 million for the years ended December 31, 2022, 2021 and 2020.",
            [YEAR[2022], YEAR[2021], YEAR[2020]],
        ),
        ("Sales in 2022 were $5 billion, compared to $4 billion in 2021.", [YEAR[2022], YEAR[2021]]),
        ("Sales rose to $5 million in 2022 from $4 million in the prior year.", [YEAR[2022], YEAR[2021]]),
        (
            "Revenues fell $5 million in 2022 compared to 2021, primarily due to a decrease of $3 million in fees.",
            [YEAR[2022], YEAR[2022]],
        ),
        (
            "At December 31, 2022 and 2021, we had shares with rates between 4% and 5% of their price.",
            [END[2022], END[2022]],
        ),
        ("The credits of $399 million will expire at various dates between 2020 and 2039.", [UNDATED]),
        ("Prior to the close of business on December 1, 2021, each $1,000 of notes may be converted.", [UNDATED]),
        ("We have $2 billion of notes due 2027 and 2030 in our books.", [UNDATED]),
        ("The grants under the 2018 Plan had a value of $7 million in all.", [UNDATED]),
        (
            "For the three months ended September 30, 2022, we lost $3 million on the sale.",
            [FactPeriod(2022, 3, 3, date(2022, 9, 30))],
        ),
        ("In the second quarter of 2021 we paid $3 million for it.", [FactPeriod(2021, 2, 3, date(2021, 6, 30))]),
        ("Comparable sales rose 15.6% compared to 37.9% in 2021, driven by a 10.8% rise.", [None, YEAR[2021], None]),
        (
            "Costs rose by $5 million, or 3.5%, to $9 million for fiscal 2022, from $4 million for 2021.",
            [YEAR[2022]] * 3 + [YEAR[2021]],
        ),
        (
            "Costs were $7 million and $9 million for the three and six months ended June 30, 2022.",
            [FactPeriod(2022, 2, 3, date(2022, 6, 30)), FactPeriod(2022, None, 6, date(2022, 6, 30))],
        ),
        (
            "In the second quarter of 2022 we paid $3 per share, and $2 per share in the same quarter of 2021.",
            [FactPeriod(2022, 2, 3, date(2022, 6, 30)), FactPeriod(2021, 2, 3, date(2021, 6, 30))],
        ),
        (
            "On May 17, 2022, we issued $5 million of notes due in May 2025.",
            [FactPeriod(2022, 2, 0, date(2022, 5, 17))],
        ),
        (
            "For the years ended December 31, 2022 and December 31, 2021, we paid $5 and $4 million, respectively.",
            [YEAR[2022], YEAR[2021]],
        ),
        ("The rate we used was 25.0% (2021: 18.0%), and the yield was 4.1% (2021: 4.7%).", [None, YEAR[2021]] * 2),
        ("Inventories of the whole company decreased $19 million from 2021.", [UNDATED]),
        ("Some $4 billion of it remains under our May 2022 authority today.", [UNDATED]),
        ("Operating costs rose by $3 million due to the 2017 earthquake in the region.", [UNDATED]),
    ],
)
def test_the_period_that_a_sentence_names(sentence: str, periods: list[FactPeriod | None]) -> None:
    found = read(sentence)
    assert [fact.period for fact in found] == [period or UNDATED for period in periods]


def test_lines_are_joined_and_headings_are_not() -> None:
    text = "Liquidity\nAs of December 31, 2022, we had cash of $5\nmillion in banks. "
    text += "We also owe $3 million to our suppliers today."
    found = read(text)
    assert [fact.label for fact in found] == [
        "As of December 31, 2022, we had cash of $5 million in banks.",
        "We also owe $3 million to our suppliers today.",
    ]
    assert [fact.period for fact in found] == [END[2022], UNDATED]
    assert found[0].box.y0 == 20.0


def test_parts_that_tables_name() -> None:
    of_part = Fact(
        "Sales", Decimal(5), 1, "USD", YEAR[2022], 0, Box(0, 0, 0, 0), scope="Frozen Foods", part_kind="segment"
    )
    (found,) = read("In 2022, Frozen Foods sales grew by 7% on higher prices.", [of_part])
    assert (found.scope, found.part_kind, found.tied, found.metric) == ("Frozen Foods", "segment", False, None)


def test_what_a_tag_says_is_not_said_twice() -> None:
    text = "In 2022, we spent $5 million on new plants and machines."
    (alone,) = read(text)
    tagged = Fact("Payments", Decimal(5), 10**6, "USD", YEAR[2022], 0, alone.box, source="ixbrl")
    assert read(text, [tagged]) == []


def test_rows_of_figures_are_no_sentences() -> None:
    assert read("Total for the period $5 $3 $(6) net of tax 7% 8% 9%\nCommon Stock $0.01 par") == []


@pytest.mark.parametrize(
    ("words", "told", "unit"),
    [
        ("We sold 33.7 billion and 33.3 billion cases in 2022 and 2021, respectively.", (33.7e9, 33.3e9), "count"),
        ("We sold 5 and 6 million cases of our wares in 2022 and 2021, respectively.", (5e6, 6e6), "count"),
        ("We opened 12 and 15 new stores in 2022 and 2021, respectively, in all.", (12, 15), "count"),
        ("We served 1,200 and 1,100 customers in 2022 and 2021, respectively.", (1200, 1100), "count"),
        ("Left out were 16 million and 2 million shares for 2022 and 2021, respectively.", (16e6, 2e6), "shares"),
    ],
)
def test_numbers_listed_before_a_count_count_the_same(words: str, told: tuple[float, float], unit: str) -> None:
    found = [(fact.value, fact.unit, fact.period.fiscal_year) for fact in read(words)]
    assert found == [(Decimal(int(told[0])), unit, 2022), (Decimal(int(told[1])), unit, 2021)]


def test_years_and_bare_numbers_before_a_count_are_none() -> None:
    assert values(read("In each of 2022 and 2021, 5,300 stores of ours were open.")) == [(Decimal(5300), "count")]
    assert values(read("We looked at items 10 and 12 stores of ours during that year.")) == [(Decimal(12), "count")]
