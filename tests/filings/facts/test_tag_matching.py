from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from fin_agent.filings.facts.tag_matching import label_of, period_of, with_tags
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.page import PageContent, PrintedLine, Statement
from fin_agent.vocabulary.place import Box, Word
from fin_agent.vocabulary.table import Cell, Row, Table

YEAR_END = date(2024, 12, 31)
CALENDAR = FiscalCalendar(2024, YEAR_END, None, YEAR_END)
CELL = Box(300, 100, 340, 112)
PAGE = PageContent(
    0, 612, 792, "", (), (PrintedLine((Word(36, 100, 90, 112, "Revenues"),), 100, 112, 0, 1),
                          PrintedLine((Word(36, 200, 90, 212, "Prose"),), 200, 212, None, 9)),
)  # fmt: skip
REVENUE = Tag(
    "us-gaap:Revenues", Decimal(1_234_000_000), "1,234", "c1", YEAR_END, date(2024, 1, 1), (), "USD", -6,
    page=0, box=Box(310, 101, 338, 111),
)  # fmt: skip
PRINTED = Fact(
    "Sales of goods", Decimal(1234), 1, "count", FactPeriod(2020, None, 12), 0, CELL, section=("Income",), line=3,
    column="2024", scope="read wrongly", tied=False,
)  # fmt: skip


def joined(facts: list[Fact], *tags: Tag, tables: tuple[Table, ...] = ()) -> list[Fact]:
    metrics = {"us-gaap:Revenues": "revenue", "us-gaap:EffectiveRate": "effective_tax_rate"}
    units = {"revenue": "USD", "effective_tax_rate": "percent"}
    return with_tags(
        facts, tags, [PAGE], tables, {0: Statement.INCOME}, CALENDAR, metrics.get, lambda metric: units[metric]
    )


def test_a_tag_corrects_what_was_read_and_keeps_the_row() -> None:
    (fact,) = joined([PRINTED], REVENUE)
    assert (fact.label, fact.section, fact.line, fact.column) == ("Sales of goods", ("Income",), 3, "2024")
    assert (fact.metric, fact.unit, fact.scale, fact.value) == ("revenue", "USD", 1_000_000, Decimal(1_234_000_000))
    assert fact.period == FactPeriod(2024, None, 12, YEAR_END)
    assert (fact.scope, fact.tied, fact.source) == (None, True, "ixbrl")
    assert fact.tag is not None and fact.tag.value == fact.value


def test_the_sign_is_the_printed_one_and_the_tags_own_stays_with_it() -> None:
    (fact,) = joined([replace(PRINTED, amount=Decimal(-1234))], REVENUE)
    assert fact.value == -1_234_000_000
    assert fact.tag is not None and fact.tag.value == 1_234_000_000


@pytest.mark.parametrize("printed", ["NaN", "Infinity", "1,,2..3", "see note"])
def test_a_tag_whose_print_is_no_number_is_no_nought(printed: str) -> None:
    unread = replace(REVENUE, text=printed, value=None, box=Box(50, 201, 60, 211))
    assert joined([], unread) == []
    (nil,) = joined([], replace(unread, text="—", nil=True))
    assert nil.amount == 0


def test_a_tag_with_members_is_a_part() -> None:
    part = replace(REVENUE, members=(("srt:ProductAxis", "xx:GardenToolsSegmentMember"),))
    assert joined([PRINTED], part)[0].scope == "read wrongly"
    (fact,) = joined([replace(PRINTED, scope=None)], part)
    assert fact.scope == "Garden Tools"
    assert not fact.tied


def test_a_tag_in_running_text_is_a_fact_of_its_own() -> None:
    loose = replace(REVENUE, text="1.2", value=Decimal("1200000000"), box=Box(50, 201, 60, 211))
    (fact,) = joined([], loose)
    assert (fact.label, fact.amount, fact.scale, fact.line, fact.statement) == (
        "Revenues",
        Decimal("1.2"),
        10**9,
        1,
        None,
    )


@pytest.mark.parametrize(
    ("value", "text", "unit", "expected"),
    [
        ("0.156", "15.6", "pure", (Decimal("15.6"), 1, "percent")),
        ("2.5", "2.5", "pure", (Decimal("2.5"), 1, "ratio")),
        ("0.97", "0.97", "USD/shares", (Decimal("0.97"), 1, "USD per share")),
        ("15116786000", "15,116,786", "shares", (Decimal(15116786), 1000, "shares")),
        ("-500000", "0.5", "EUR", (Decimal("0.5"), 1, "EUR")),
        ("7", "seven", "USD", (Decimal(7), 1, "USD")),
    ],
)
def test_amount_scale_and_unit(value: str, text: str, unit: str, expected: tuple[Decimal, int, str]) -> None:
    tag = replace(REVENUE, value=Decimal(value), text=text, unit=unit, box=Box(50, 201, 60, 211))
    (fact,) = joined([], tag)
    if unit == "EUR":
        assert abs(fact.value) == 500_000
    else:
        assert (fact.amount, fact.scale, fact.unit) == expected


def test_a_tag_dates_a_cell_of_a_column_without_a_period() -> None:
    cell = Cell(Decimal(1234), "1,234", False, False, CELL)
    row = Row("Granted", ("Restricted stock",), (cell,), 3, CELL)
    table = Table(0, CELL, "", "", ("Shares",), (None,), (row,))
    (fact,) = joined([], REVENUE, tables=(table,))
    assert (fact.label, fact.section, fact.column) == ("Granted", ("Restricted stock",), "Shares")
    assert (fact.value, fact.period.end, fact.metric) == (Decimal(1_234_000_000), YEAR_END, "revenue")
    assert joined([], replace(REVENUE, box=Box(0, 0, 1, 1)), tables=(table,))[0].label == "Revenues"
    assert joined([], tables=(table,)) == []


def test_a_cell_that_no_table_was_found_for_takes_the_first_words_of_its_row() -> None:
    (fact,) = joined([], replace(REVENUE, box=Box(310, 101, 338, 111)))
    assert (fact.label, fact.statement) == ("Revenues", Statement.INCOME)
    (inside,) = joined([], replace(REVENUE, concept="xx:NetSales", box=Box(40, 101, 60, 111)))
    assert inside.label == "Net Sales"


def test_hidden_tags_and_unknown_contexts_make_no_fact() -> None:
    assert joined([], replace(REVENUE, page=None, box=None)) == []
    assert joined([], replace(REVENUE, end=None, start=None)) == []
    (kept,) = joined([PRINTED], replace(REVENUE, end=None, start=None, flags=("unknown context",)))
    assert kept.period == PRINTED.period
    assert kept.tag is not None and kept.tag.flags == ("unknown context",)


def test_a_primary_statements_row_keeps_the_metric_that_it_prints() -> None:
    named = replace(PRINTED, metric="net_sales")
    assert joined([named], REVENUE)[0].metric == "revenue"
    assert joined([replace(named, statement=Statement.INCOME)], REVENUE)[0].metric == "net_sales"


def test_a_part_is_of_the_concepts_metric_whatever_its_row_is_called() -> None:
    row = replace(PRINTED, label="Services", metric="service_revenue", statement=Statement.INCOME, scope=None)
    of_product = replace(REVENUE, members=(("srt:ProductOrServiceAxis", "us-gaap:ServiceMember"),))
    (fact,) = joined([row], of_product)
    assert (fact.metric, fact.scope) == ("revenue", "Service")
    of_equity = replace(REVENUE, members=(("us-gaap:StatementEquityComponentsAxis", "us-gaap:ParentMember"),))
    assert joined([row], of_equity)[0].metric == "service_revenue"


@pytest.mark.parametrize(
    ("change", "concept", "metric"),
    [
        ({}, "us-gaap:DeferredTaxAssetsDeferredIncome", None),
        ({}, "ifrs-full:OtherRevenue", None),
        ({}, "xx:NetSales", "revenue"),
        ({"statement": Statement.INCOME}, "us-gaap:DeferredTaxAssetsDeferredIncome", "revenue"),
    ],
)
def test_outside_the_statements_a_public_concept_may_say_that_a_row_is_not_what_it_is_called(
    change: dict[str, Statement], concept: str, metric: str | None
) -> None:
    held = replace(PRINTED, metric="revenue", statement=None)
    (fact,) = joined([replace(held, **change)], replace(REVENUE, concept=concept))
    assert fact.metric == metric
    assert fact.label == "Sales of goods"


def test_a_metric_in_another_unit_is_not_meant() -> None:
    (fact,) = joined([], replace(REVENUE, unit="shares"))
    assert fact.metric is None


def test_a_nil_tag_has_no_metric() -> None:
    (fact,) = joined([], replace(REVENUE, nil=True, value=None, text="—"))
    assert (fact.amount, fact.metric) == (0, None)


def test_two_tags_in_one_cell_are_two_facts() -> None:
    facts = joined([PRINTED], REVENUE, replace(REVENUE, concept="xx:Sales"))
    assert [fact.tag.concept for fact in facts if fact.tag] == ["us-gaap:Revenues", "xx:Sales"]
    assert {fact.label for fact in facts} == {"Sales of goods"}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (date(2024, 1, 1), date(2024, 12, 31), (2024, None, 12)),
        (date(2024, 4, 1), date(2024, 6, 30), (2024, 2, 3)),
        (date(2024, 1, 1), date(2024, 9, 30), (2024, None, 9)),
        (None, date(2024, 12, 31), (2024, None, 0)),
        (None, date(2024, 6, 30), (2024, 2, 0)),
        (date(2023, 7, 1), date(2024, 6, 30), (2024, 2, 12)),  # a year, but not the fiscal one
        (date(2024, 12, 5), date(2024, 12, 5), (2024, None, 1)),
    ],
)
def test_periods_by_the_filers_calendar(start: date | None, end: date, expected: tuple[int, int | None, int]) -> None:
    period = period_of(start, end, CALENDAR)
    assert (period.fiscal_year, period.quarter, period.months) == expected
    assert period.end == end


@pytest.mark.parametrize(
    ("weeks", "months"), [(13, 3), (14, 3), (26, 6), (27, 6), (39, 9), (40, 9), (52, 12), (53, 12)]
)
def test_weeks_are_named_as_months(weeks: int, months: int) -> None:
    end = date(2024, 12, 28)
    calendar = FiscalCalendar(2024, end, None, end)
    assert period_of(date.fromordinal(end.toordinal() - 7 * weeks + 1), end, calendar).months == months


@pytest.mark.parametrize(
    ("concept", "label"),
    [
        ("us-gaap:OperatingLeaseCost", "Operating Lease Cost"),
        ("aapl:OtherAssetsNoncurrent2", "Other Assets Noncurrent 2"),
        ("us-gaap:EBITDA", "EBITDA"),
    ],
)
def test_a_concepts_name_as_words(concept: str, label: str) -> None:
    assert label_of(concept) == label


def test_a_metric_known_by_its_concept_has_the_concepts_sign() -> None:
    printed = replace(PRINTED, amount=Decimal(-1234))
    assert joined([printed], REVENUE)[0].inverted
    assert not joined([PRINTED], REVENUE)[0].inverted
    assert not joined([replace(printed, metric="revenue")], REVENUE)[0].inverted
    assert not joined([replace(printed, statement=Statement.CASH_FLOW)], REVENUE)[0].inverted
