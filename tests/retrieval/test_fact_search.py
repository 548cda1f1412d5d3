"""Fact search: figures by the words of their addresses."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.fact_search import (
    FactQuery,
    FactSearchResult,
    find_facts,
    kept_once,
    search_facts,
    with_own_unit,
)
from fin_agent.retrieval.slot_figures import printed_facts
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace


def fact(label: str, amount: int, months: int = 0, **fields: Any) -> SourcedFact:
    period, unit = FactPeriod(2023, fields.pop("quarter", None), months), fields.pop("unit", "USD")
    return SourcedFact(
        "a", Fact(label, Decimal(amount), 1, unit, period, fields.pop("page", 0), Box(0, 0, 1, 1), **fields)
    )


def found(facts: list[SourcedFact], phrase: str, **asked: Any) -> FactSearchResult:
    return search_facts(facts, FactQuery(phrase, 2023, **asked), load_lexicon())


def values(result: FactSearchResult) -> list[int]:
    return [int(hit.sourced.fact.amount) for hit in result.hits]


CONTENT = [
    fact("Current content liabilities", 4, statement=Statement.BALANCE_SHEET),
    fact("Total content obligations", 23),
    fact("Less than one year", 11, section=("Content obligations",)),
    fact("Total assets", 99, statement=Statement.BALANCE_SHEET),
]
LEASES = [
    fact("Operating lease liabilities", 75, section=("Current liabilities",), statement=Statement.BALANCE_SHEET),
    fact("Operating lease liabilities", 353, section=("Long-term liabilities",), statement=Statement.BALANCE_SHEET),
]
MARKETS = [
    fact("Net sales", 383, 12, statement=Statement.INCOME),
    fact("China", 72, 12, section=("Net sales",), scope="China"),
    fact("China", 5, 0, section=("Long-lived assets",), scope="China"),
    fact("Other countries", 3, 0, section=("Long-lived assets",), scope="Other countries"),
    fact("China", 41, 12, section=("Net sales",), scope="China, Services"),
]


def test_the_line_that_is_called_as_the_phrase_says_goes_before_one_with_other_words() -> None:
    result = found(CONTENT, "content obligations")
    assert values(result)[0] == 23 and result.is_sure
    assert result.best is not None and result.best.is_complete and not result.best.extra


def test_rows_that_qualify_what_is_asked_for_do_not_rival_its_total() -> None:
    rows = [fact(name, 9 - len(name), 12, metric="backlog") for name in ("Total backlog", "Contractual backlog")]
    assert not found(rows, "order backlog", metric="backlog").rivals
    rows[0] = replace(rows[0], fact=replace(rows[0].fact, label="Funded backlog"))
    assert found(rows, "order backlog", metric="backlog").rivals


def test_words_that_nothing_bears_out_are_named_and_the_match_is_not_sure() -> None:
    result = found(CONTENT, "licensed content obligations")
    assert result.best is not None
    assert result.best.missing == ("licensed",) and not result.is_sure and not result.matches


def test_words_of_the_line_that_the_phrase_lacks_cost_and_are_named() -> None:
    best = found(CONTENT[:1], "content liabilities").best
    exact = found([fact("Content liabilities", 4)], "content liabilities").best
    assert best is not None and exact is not None
    assert best.extra == ("current",) and best.score < exact.score


def test_two_lines_of_one_name_and_different_figures_are_rivals_and_headings_tell_them_apart() -> None:
    assert [int(hit.sourced.fact.amount) for hit in found(LEASES, "operating lease liabilities").rivals] == [75, 353]
    told_apart = found(LEASES, "long-term operating lease liabilities")
    assert values(told_apart)[0] == 353 and told_apart.is_sure


def test_a_part_is_of_its_own_figures_only_and_of_no_two_parts_at_once() -> None:
    sales = found(MARKETS, "net sales", part="China", months=12)
    assert values(sales)[0] == 72 and sales.is_sure
    assert values(found(MARKETS, "long-lived assets", part="China"))[0] == 5
    assert values(found(MARKETS, "net sales"))[0] == 383
    assert not found(MARKETS, "net sales", part="Japan").hits


def test_the_period_has_to_fit() -> None:
    flows = [fact("Rent", 12, 12), fact("Rent", 3, 3, quarter=2), fact("Rent", 6, 6), fact("Rent", 1, 0)]
    assert values(found(flows, "rent", months=12)) == [12]
    assert values(found(flows, "rent", quarter=2)) == [3]
    assert values(found(flows, "rent", quarter=2, months=6)) == [6]
    assert values(found(flows, "rent", months=0))[0] == 1
    assert not search_facts(flows, FactQuery("rent", 2022), load_lexicon()).hits


def test_abbreviations_and_synonyms_of_the_lexicon_are_as_good_as_labels() -> None:
    lines = [
        fact("Purchases of property and equipment", -7, 12, statement=Statement.CASH_FLOW),
        fact("Property and equipment, net", 70),
    ]
    result = found(lines, "capex", months=12)
    assert values(result) == [-7] and result.is_sure


def test_a_rate_is_no_amount() -> None:
    rates = [fact("Effective tax", 21, 12), fact("Effective tax rate", 18, 12)]
    rates[1] = SourcedFact("a", replace(rates[1].fact, unit="percent"))
    assert values(found(rates, "effective tax rate"))[0] == 18
    assert values(found(rates, "effective tax"))[0] == 21


def test_a_row_called_exactly_so_goes_before_one_whose_caption_says_the_rest() -> None:
    rates = [
        fact("Adjusted average capital", 17, 12, caption="Return on average capital"),
        fact("Adjusted return on average capital", 11, 12, unit="percent", page=3),
    ]
    for phrase in ("adjusted return on average capital", "adjusted return average capital"):
        assert values(found(rates, phrase))[0] == 11 and found(rates, phrase).is_sure


def test_dollars_are_no_rate() -> None:
    assert not found([fact("Gross margin", 43, 12)], "gross margin", metric="gross_margin_reported").hits


def test_names_of_tags_bear_words_out() -> None:
    tag = Tag("us-gaap:UnrecordedUnconditionalPurchaseObligation", Decimal(8), "8", "c1", None)
    result = found([fact("Total", 8, tag=tag), fact("Total", 9)], "unrecorded purchase obligation")
    assert values(result) == [8] and result.hits[0].is_complete


def test_balances_go_before_their_changes() -> None:
    lines = [
        fact("Customer deposits", 2, 12, section=("Changes in operating assets",), statement=Statement.CASH_FLOW),
        fact("Customer deposits", 30, 0, section=("Current liabilities",), statement=Statement.BALANCE_SHEET),
    ]
    assert values(found(lines, "customer deposits"))[0] == 30
    assert values(found(lines, "change in customer deposits"))[0] == 2


@pytest.fixture
def slot(workspace: Workspace) -> Slot:
    company = next(each for each in workspace.directory.companies if each.name.startswith("Harborlight"))
    return Slot(
        company=company.key,
        company_name=company.name,
        phrase="restructuring liability at year end",
        label="restructuring liability",
        fiscal_year=2023,
    )


def test_facts_for_a_slot_of_a_printed_line_carry_its_name(workspace: Workspace, slot: Slot) -> None:
    plain = slot.model_copy(update={"phrase": "Total net sales"})
    facts = printed_facts([plain, plain.model_copy(update={"phrase": "", "metric": "revenue"})], workspace)
    owners, metrics = workspace.directory.owners, workspace.lexicon.metrics
    assert facts and {sourced.fact.metric for sourced in facts} == {plain.fact_name}
    assert all(fills_slot(sourced, plain, metrics, owners) for sourced in facts)
    assert not any(
        fills_slot(sourced, plain.model_copy(update={"fiscal_year": 2022}), metrics, owners) for sourced in facts
    )


def test_the_whole_index_is_searched_where_no_company_is_named(workspace: Workspace) -> None:
    best = find_facts(workspace, FactQuery("total assets")).best
    assert best is not None and best.sourced.fact.metric == "total_assets"


REGIONS = [
    fact("Revenues", 62, 12, column_path=("ASIA PACIFIC & LATIN AMERICA",), scope="ASIA PACIFIC & LATIN AMERICA"),
    fact("Revenues", 195, 12, column_path=("NORTH AMERICA",), scope="NORTH AMERICA"),
    fact("Rest of Asia Pacific", 30, 12, section=("Revenues",), scope="Rest of Asia Pacific"),
]


@pytest.mark.parametrize(("phrase", "value"), [("APLA revenue", 62), ("rest of asia pac revenue", 30)])
def test_short_forms_are_written_out_as_the_filings_print_them(phrase: str, value: int) -> None:
    result = found(REGIONS, phrase, months=12)
    assert values(result)[0] == value and result.is_sure


def test_words_that_only_say_that_a_figure_is_meant_need_not_be_printed() -> None:
    notes = [fact("Debentures, 5.45%, due 2079", 1086), fact("Debentures, 5.75%, due 2040", 396)]
    result = found(notes, "carrying amount 5.45% debentures due 2079")
    assert values(result)[0] == 1086 and result.is_sure
    assert not found(notes, "fair value 5.45% debentures due 2079").is_sure


def test_the_row_of_a_year_to_come_says_that_something_falls_due() -> None:
    leases = "Maturity of operating and finance lease liabilities"
    rows = [
        fact("2024", 2484, caption=leases, column_path=("Operating Leases",)),
        fact("2024", 92, caption=leases, column_path=("Finance Leases",)),
        fact("2023", 11, caption=leases, column_path=("Operating Leases",)),
    ]
    result = found(rows, "operating lease payments due 2024")
    assert values(result)[0] == 2484 and result.is_sure
    assert not found(rows, "operating lease payments due 2023").is_sure


def test_a_longer_line_is_taken_where_no_other_bears_all_words_out() -> None:
    parts = fact("Commercial spare parts, used aircraft, general stock materials and other", 56)
    result = found([parts, fact("Commercial aircraft programs", 528)], "commercial spare parts and used aircraft")
    assert values(result)[0] == 56 and result.is_sure and result.alone
    rival = fact("Commercial spare parts, used aircraft, engines, and tools in general stock", 7)
    assert not found([parts, rival], "commercial spare parts and used aircraft").is_sure


def test_another_row_of_about_the_same_size_is_no_print_of_the_figure() -> None:
    caption = "The components of net periodic pension benefit expense are presented below"
    rows = [
        fact("Net benefit expense", 7, 12, caption=caption),
        fact("Amortization of net loss", 8, 12, caption=caption),
    ]
    result = found(rows, "net pension benefit expense", months=12)
    assert result.alone and [hit.sourced.fact.label for hit in result.matches] == ["Net benefit expense"]


def test_a_single_word_names_no_longer_line() -> None:
    assert not found([fact("Acquisitions, net of cash acquired", 340, 12)], "acquisitions", months=12).is_sure


def test_of_one_table_the_row_that_says_more_of_the_phrase_is_meant() -> None:
    caption = "Endorsement contract commitments and other obligations"
    rows = [
        fact("Endorsement Contracts", 1330, caption=caption, column_path=("2024",)),
        fact("TOTAL", 7574, caption=caption, column_path=("2024",)),
    ]
    result = found(rows, "endorsement contract commitments due 2024")
    assert values(result)[0] == 1330 and result.is_sure
    assert [int(hit.sourced.fact.amount) for hit in result.matches] == [1330]


def test_what_a_concept_is_without_bears_nothing_out() -> None:
    concept = "us-gaap:PropertyPlantAndEquipmentAfterAccumulatedDepreciationAndAmortization"
    assets = fact("Europe", 233, scope="Europe", tag=Tag(concept, Decimal(233), "233", "c", None))
    result = found([assets], "property equipment depreciation", part="Europe")
    assert result.best is not None and not result.best.is_complete


def test_a_metric_called_otherwise_in_a_table_of_parts_is_found_by_the_words_of_the_question() -> None:
    facts = [
        fact("Segment net income", 11, 12, scope="Life Sciences", metric="segment_operating_income"),
        fact("Segment net sales", 231, 12, scope="Life Sciences"),
        fact("Net income", 900, 12, statement=Statement.INCOME, metric="net_income"),
    ]
    result = found(facts, "net income", metric="net_income", part="Life Sciences")
    assert result.is_sure and values(result)[0] == 11


@pytest.mark.parametrize(
    ("asked", "printed"), [("Latin American sales", "Latin America"), ("Swiss sales", "Switzerland")]
)
def test_what_is_of_a_place_is_found_by_the_name_of_the_place(asked: str, printed: str) -> None:
    result = found([fact(printed, 72, 12, section=("Net sales",)), fact("Japan", 5, 12, section=("Net sales",))], asked)
    assert result.is_sure and values(result)[0] == 72


def test_a_row_called_as_the_part_below_a_heading_called_as_the_phrase_goes_before_a_longer_name() -> None:
    facts = [
        fact("Transaction costs", 182, 12, section=("Cost of revenue",)),
        fact("Starbucks transaction costs", 41, 12, section=("Cost of revenue",), scope="Starbucks transaction costs"),
    ]
    assert values(found(facts, "cost of revenue", part="Transaction costs"))[0] == 182


def test_a_row_of_a_statement_goes_before_a_note_that_says_no_more() -> None:
    facts = [
        fact("Marketing", 190, 12, caption="Stock-based compensation"),
        fact("Marketing", 5254, 12, section=("Operating expenses",), statement=Statement.INCOME),
    ]
    result = found(facts, "marketing")
    assert values(result)[0] == 5254 and result.is_sure


def test_a_row_of_a_statement_is_clear_beside_a_note_that_prints_another_amount_under_its_name() -> None:
    row = fact("Termination fee", 1000, 12, statement=Statement.INCOME)
    note = fact("Termination fee", 210, 12, section=("Tax at the statutory rate",), page=9)
    assert [int(hit.sourced.fact.amount) for hit in found([row, note], "termination fee").matches] == [1000]
    notes = [replace(row, fact=replace(row.fact, statement=None, section=("Other costs",))), note]
    assert len(found(notes, "termination fee").matches) == 2


def test_a_cost_of_a_part_is_not_its_revenue() -> None:
    facts = [
        fact("Services", 78, 12, section=("Net sales",), metric="revenue", statement=Statement.INCOME),
        fact("Services", 22, 12, section=("Cost of sales",), metric="cost_of_revenue", statement=Statement.INCOME),
    ]
    result = found(facts, "services revenue", metric="service_revenue")
    assert [int(hit.sourced.fact.amount) for hit in result.matches] == [78] and result.is_sure


def test_of_one_table_the_row_that_is_called_as_asked_to_the_letter_is_taken() -> None:
    facts = [fact("Accrued receivables", 399), fact("Total accrued receivables, net", 363)]
    assert values(found(facts, "accrued receivables")) == [399] and found(facts, "accrued receivables").is_sure
    owed = [fact("Amounts owed by members", 3), fact("Amounts owed to members", 1)]
    assert values(found(owed, "amounts owed to the members")) == [1]
    elsewhere = [facts[0], SourcedFact("a", replace(facts[1].fact, page=1))]
    assert found(elsewhere, "accrued receivables").rivals


def test_the_balance_a_year_begins_with_is_of_the_day_before() -> None:
    rows = [
        fact("Unrecognized tax benefit - beginning balance", 8),
        fact("Unrecognized tax benefit - ending balance", 9),
    ]
    before = [SourcedFact("a", replace(one.fact, period=FactPeriod(2022, None, 0))) for one in rows]
    assert values(found([*rows, before[0]], "unrecognized tax benefit beginning balance"))[0] == 8
    beginning = found([rows[1], *before], "beginning balance of unrecognized tax benefit")
    assert beginning.best is not None and beginning.best.sourced.fact.period.fiscal_year == 2022


def test_a_total_without_a_name_is_found_where_one_table_has_it() -> None:
    total = fact("Total", 44, section=("Derivatives in hedging relationships",))
    assert found([total, fact("Commodity contracts", 45)], "total").is_sure
    assert found([total, SourcedFact("a", replace(total.fact, amount=Decimal(7), page=1))], "total").rivals


def test_a_table_of_two_countries_is_of_neither() -> None:
    both = fact(
        "Paid memberships", 64_757, caption="Memberships by region are as follows: United States and Canada (UCAN)"
    )
    alone = fact("Paid memberships", 58_486, caption="Memberships by region are as follows: United States")
    assert values(found([both, alone], "paid memberships", part="United States")) == [58_486]
    assert values(found([both, alone], "paid memberships", part="United States and Canada")) == [64_757]
    assert values(found([both, alone], "paid memberships", part="UCAN")) == [64_757]


def test_a_row_of_two_of_a_kind_is_of_neither() -> None:
    both = fact("Dividends on common stock ($0.955 per share) and preferred stock ($0.10 per share)", 1491, 12)
    assert not found([both], "preferred stock dividends").hits
    assert not found([fact("Dividends — common and preferred", 1452, 12)], "preferred stock dividends").hits
    assert found([both], "dividends on common stock and preferred stock").matches
    assert found([both], "dividends on stock").hits


def test_figures_rounded_on_their_own_are_one() -> None:
    prints = [fact("Cloud services", amount) for amount in (16_988, 16_989)]
    assert not found([prints[0], SourcedFact("a", replace(prints[1].fact, page=1))], "cloud services").rivals
    prints = [fact("Cloud services", amount) for amount in (6, 7)]
    assert found([prints[0], SourcedFact("a", replace(prints[1].fact, page=1))], "cloud services").rivals


def test_a_figure_that_differs_in_its_last_digit_is_another_one() -> None:
    diluted, basic = (
        SourcedFact("a", replace(fact(f"Core {way} earnings per common share", 0, 12).fact, amount=Decimal(amount)))
        for way, amount in (("diluted", "0.45"), ("basic", "0.46"))
    )
    result = found([diluted, basic], "diluted core earnings per share")
    assert [str(hit.sourced.fact.amount) for hit in result.matches] == ["0.45"]


def test_an_amount_per_unit_has_no_scale_of_its_table() -> None:
    (per_shipment, total) = (
        SourcedFact("a", replace(fact(label, 29, 12, section=section).fact, scale=1_000_000))
        for label, section in (("Priority", ("Revenue per hundredweight",)), ("Priority", ("Revenue",)))
    )
    assert with_own_unit(per_shipment).fact.value == 29
    assert with_own_unit(total).fact.value == 29_000_000


def test_a_scale_without_a_unit_belongs_to_what_its_caption_counts() -> None:
    captions = ("Our average MAUs by segment (amounts in millions):", "Fees paid for our MAUs (amounts in millions):")
    users, fees = (
        with_own_unit(SourcedFact("a", replace(fact("Games", 249, 3).fact, scale=1_000_000, caption=caption))).fact
        for caption in captions
    )
    assert (users.value, users.unit) == (249_000_000, "count")
    assert fees.unit == "USD"


def test_what_is_kept_is_made_once_until_it_is_pushed_out(workspace: Workspace) -> None:
    index, made = workspace.index, list[str]()

    def make(key: str) -> list[str]:
        made.append(key)
        return [key]

    for key in ("a", "b", "a", "c", "a", "b"):
        assert kept_once(index, "test", key, lambda key=key: make(key), most=2) == [key]
    assert made == ["a", "b", "c", "b"]


def test_the_sales_of_what_is_counted_are_no_count() -> None:
    sales = fact("Stores", 7029, 12, section=("Sales by channel",))
    counted = SourcedFact("a", replace(fact("Total owned stores", 2858).fact, unit="count"))
    assert values(found([sales, counted], "total store count"))[0] == 2858
    assert not found([sales], "total store count").is_sure


def test_what_a_row_includes_is_not_the_row() -> None:
    leases = fact("Operating and finance leases, including imputed interest", 79840)
    assert not found([leases], "imputed interest").is_sure
    assert found([leases], "operating and finance leases including imputed interest").is_sure


def test_what_a_figure_is_net_of_bears_nothing_out() -> None:
    facts = [
        fact("Deferred tax assets, net of valuation allowance", 1597),
        fact("Valuation allowance", -181, section=("Deferred tax assets",)),
    ]
    assert values(found(facts, "valuation allowance on deferred tax assets"))[0] == -181
    assert values(found(facts, "deferred tax assets net of valuation allowance"))[0] == 1597


def test_another_print_of_a_figure_may_say_all_that_is_asked() -> None:
    owed = [
        fact("Operating leases", 538, scope="Year Ending May 31, 2024", column_path=("Year Ending May 31,", "2024")),
        fact("Operating leases", 2381, column_path=("Year Ending May 31,", "Total")),
        fact("Fiscal 2024", 538, scope="Fiscal 2024", caption="future minimum annual operating lease payments"),
        fact("Fiscal 2025", 425, scope="Fiscal 2025", caption="future minimum annual operating lease payments"),
    ]
    best = found(owed, "minimum operating lease payments due 2024").best
    assert best is not None and best.is_complete and best.sourced.fact.label == "Fiscal 2024"


def test_a_row_of_a_page_about_one_part_is_not_the_companys_and_the_last_total_of_a_row_is() -> None:
    by_region = [
        fact("Sales to dealers", 108, 12, scope="North", column_path=("North",), page=1),
        fact("Sales to dealers", 70, 12, scope="South", column_path=("South",), page=1),
        fact("Sales to dealers", 178, 12, column_path=("Total brand",), page=1),
        fact("Sales to dealers", 190, 12, column_path=("Total company",), page=1),
    ]
    about_one = fact("Sales to dealers", 108, 12)
    result = found([about_one, *by_region], "sales to dealers")
    assert values(result)[0] == 190 and result.is_sure
    assert not found([about_one, *by_region[:1]], "sales to dealers").rivals  # nothing else is printed of the whole
    assert values(found([about_one, *by_region], "sales to dealers", part="North"))[0] == 108


def test_of_figures_with_one_label_the_sum_of_the_others_is_that_of_the_whole() -> None:
    regions = [fact("Paid accounts at end of period", amount, page=page) for page, amount in enumerate((40, 25, 60))]
    world = fact("Paid accounts at end of period", 125, page=7, section=("Global accounts",))
    result = found([*regions, world], "paid accounts")
    assert values(result) == [125] and result.is_sure
    assert found(regions, "paid accounts").rivals
    assert found([*regions, replace(world, fact=replace(world.fact, amount=Decimal(126)))], "paid accounts").rivals
    assert found([*regions[:1], *regions[:1], world], "paid accounts").rivals


@pytest.mark.parametrize(("said", "printed"), [("Walmart", "Wal-Mart"), ("Wal-Mart", "Walmart")])
def test_a_name_in_one_word_and_in_two_is_the_same(said: str, printed: str) -> None:
    sales = fact("Net sales", 20, 12, section=(f"{printed} (a)",), unit="percent")
    result = found([sales, fact("Net sales", 15, 12, section=("Target",), unit="percent")], f"{said} % of net sales")
    assert values(result)[0] == 20 and result.is_sure
    assert not found([sales], "Wallmart % of net sales").is_sure


def test_words_in_brackets_and_the_quarter_of_a_row_are_no_words_too_many() -> None:
    flows = [fact("Free cash flow (non-U.S. GAAP measure)", 497, 12), fact("Cash flow from operations", 533, 12)]
    result = found(flows, "free cash flow")
    assert values(result)[:1] == [497] and result.is_sure
    narrowed, explained = (
        found([fact(f"Lamps sold ({words})", 5, 12)], "lamps sold") for words in ("excluding reds", "reds")
    )
    assert narrowed.hits[0].score < explained.hits[0].score
    sold, returned = (
        fact("First Quarter", amount, 3, quarter=1, column_path=(name,))
        for name, amount in (("Units sold", 5), ("Units returned", 8))
    )
    result = found([sold, returned], "units sold", quarter=1)
    assert values(result)[:1] == [5] and result.is_sure


def test_a_figure_whose_period_is_assumed_comes_after_a_dated_one() -> None:
    assert values(found([fact("Lamp costs", 1, 12, source="undated"), fact("Lamp costs", 2, 12)], "lamp costs"))[0] == 2


def test_a_name_that_ends_in_less_is_net_of_nothing() -> None:
    result = found([fact("Northern Wireless", 7, 12), fact("Northern Media", 3, 12)], "Northern Wireless")
    assert values(result)[0] == 7 and result.is_sure


def test_a_row_that_its_own_words_name_goes_before_one_that_its_heading_names() -> None:
    awards = [
        fact(label, shares, months, unit="shares", section=("Non-vested awards",), column_path=("Shares",))
        for label, shares, months in (("Vested", 3, 12), ("Non-vested", 9, 0))
    ]
    result = found(awards, "non-vested shares")
    assert values(result)[0] == 9 and result.is_sure


def test_a_clause_that_says_as_much_as_a_row_is_no_rival_of_it() -> None:
    label, said = "Total gross unrecognized tax benefits as of May 31", "we had $8 of gross unrecognized tax benefits"
    facts = fact(label, 7), fact(f"As of May 31, {said}, including interest", 8, source="text")
    at_end = [
        SourcedFact("a", replace(each.fact, period=FactPeriod(2023, None, 0, date(2023, 5, 31)))) for each in facts
    ]
    result = found(at_end[::-1], "gross unrecognized tax benefits")
    assert values(result)[0] == 7 and result.is_sure


def test_the_amount_that_a_clause_states_is_found_by_its_subject_alone() -> None:
    clause = fact("The carrying value of our asset-backed debt was $10", 10, source="text")
    assert found([clause, fact("Other asset-backed debt of subsidiaries < 5 years", 9)], "asset-backed debt").is_sure


def test_what_falls_due_is_found_in_a_row_that_names_only_the_span() -> None:
    above = "The expected timing of payments for these content obligations is as follows:"
    rows = [fact("Less than one year", 11, caption=above), fact("Due after five years", 1, caption=above)]
    result = found(rows, "content obligations due in less than one year")
    assert values(result)[0] == 11 and result.is_sure


def test_a_print_of_a_tagged_figure_in_another_scale_is_left_aside() -> None:
    tagged = fact(
        "As of May 31",
        63,
        metric="backlog",
        tag=Tag("us-gaap:RevenueRemainingPerformanceObligation", Decimal(63), "63", "c", None),
    )
    wrong = fact("Remaining performance obligation", 63, metric="backlog")
    billions = replace(tagged, fact=replace(tagged.fact, scale=10**9))
    assert [hit.sourced.fact.scale for hit in found([wrong, billions], "remaining performance obligation").hits] == [
        10**9
    ]


def test_a_row_that_joins_the_line_asked_for_to_another_yields_to_the_line_itself() -> None:
    support = fact("Cloud services and license support", 30, 12, statement=Statement.INCOME)
    offering = fact("Cloud services", 10, 12, section=("Revenues by offering",))
    asked = "cloud services revenues"
    assert values(found([support, offering], asked))[0] == 10
    assert values(found([support, offering], "cloud services and license support"))[0] == 30


def test_a_row_that_has_a_word_in_a_paragraph_above_it_alone_goes_behind_a_clause_of_that_subject() -> None:
    above = "including the cost of providing our cloud services and license support offerings"
    total = fact("Total revenues", 36, 12, section=("Cloud and license",), caption=above)
    clause = fact("Our total cloud services revenues increased to $10 in fiscal 2023", 10, 12, source="text")
    others = [fact(f"{name} revenues", 3, 12) for name in ("Hardware", "License", "Total hardware", "Total license")]
    assert values(found([total, clause, *others], "total cloud services revenue"))[0] == 10


def test_a_clause_that_says_more_than_a_row_is_no_rival_of_it() -> None:
    row = fact("Free cash flow (non-GAAP measure)", 533, 12, section=("Excluding",), scope="Excluding")
    clause = fact("Free cash flow was positive $308 million, respectively", 308, 12, source="text")
    result = found([clause, row], "free cash flow")
    assert values(result)[0] == 533 and result.is_sure


def test_counts_of_a_table_in_thousands_are_in_thousands() -> None:
    members = fact("Paid memberships at end of period", 51_778, section=("Members",))
    for scale, caption, unit, counted in (
        (1_000, "Europe", "USD", 1_000),
        (1_000, "See the note on financial instruments. Europe", "USD", 1_000),
        (1_000_000, "Europe", "USD", 1),  # among tables in millions of dollars
        (1_000, "", "acme:membership", 1_000),
    ):
        asked = replace(members.fact, scale=scale, caption=caption, unit=unit)
        own = with_own_unit(replace(members, fact=asked)).fact
        assert (own.unit, own.scale) == ("count", counted)


def test_the_unit_in_brackets_of_a_column_is_that_of_its_figures() -> None:
    lives = fact("Trademarks", 5, 12, column_path=("Useful lives (in years)",))
    growth = fact("Impact of exchange rates", 8, 12, column_path=("2023 (%)",))
    assert [with_own_unit(one).fact.unit for one in (lives, growth)] == ["count", "percent"]
    assert with_own_unit(replace(lives, fact=replace(lives.fact, scale=1_000))).fact.scale == 1


def test_a_customer_is_found_by_its_short_name_and_without_its_legal_form() -> None:
    of_customers = {"unit": "percent", "caption": "Revenue from significant customers"}
    shares = [fact("Apple Inc.", 34, 12, **of_customers), fact('Huawei Co., Ltd. ("HW")', 11, 12, **of_customers)]
    for phrase, share in (("percentage of revenue from Apple", 34), ("percentage of revenue from HW", 11)):
        result = found(shares, phrase)
        assert values(result)[0] == share and result.is_sure, phrase


def test_a_bare_total_under_a_heading_takes_less_of_the_words_above_than_of_its_column() -> None:
    above = fact("Consolidated", 638, 12, section=("Net Sales",), caption="fees for shipping, advertising")
    beside = fact("Consolidated", 638, 12, section=("Net Sales",), column="Advertising")
    scores = [found([one], "advertising sales").hits[0].score for one in (above, beside)]
    assert scores[0] < scores[1]


def test_columns_of_one_row_that_add_up_are_no_whole() -> None:
    cells = [
        fact("Lamp bonds", amount, column=column) for amount, column in ((80, "Cost"), (6, "Gains"), (86, "Fair value"))
    ]
    assert not found(cells, "lamp bonds").is_sure
    total = found([*cells[:2], fact("Lamp bonds", 86, column="Total")], "lamp bonds")
    assert values(total)[0] == 86 and total.is_sure


OPTIONS = [
    fact("Exercisable", 89, section=("Aggregate intrinsic value",), caption="Stock option activity"),
    fact("Total intrinsic value of options exercised", 23, 12),
]


@pytest.mark.parametrize("asked", ["stock options exercised", "options exercised", "employee stock options exercised"])
def test_what_was_exercised_is_not_what_is_exercisable(asked: str) -> None:
    result = found(OPTIONS, f"total intrinsic value of the {asked}")
    assert values(result)[0] == 23 and result.is_sure


AWARDS = [
    fact("Granted", 60, 12, unit="shares", column_path=("Number of RSUs",)),
    fact("Balance", 150, unit="shares", column_path=("Number of RSUs",)),
    fact("Balance", 188, unit="USD per share", column_path=("Fair value of RSUs",)),
    fact("Liability, beginning of the year", 118, section=("Restructuring",)),
    fact("Liability, end of the year", 302, section=("Restructuring",)),
]


@pytest.mark.parametrize(("asked", "value"), [("RSUs outstanding", 150), ("restructuring liability remaining", 302)])
def test_the_end_of_a_table_of_changes_is_what_is_outstanding(asked: str, value: int) -> None:
    assert values(found(AWARDS, asked))[0] == value


def test_a_caption_that_names_what_its_table_states_is_a_heading() -> None:
    concept = Tag("us-gaap:SegmentExpenditureAdditionToLongLivedAssets", Decimal(53), "53", "c", None)
    told = "They are allocated. Total net additions to property and equipment are as follows (in millions):"
    cells = [
        fact("Cloud", 53, 12, scope="Cloud", caption=told, tag=concept),
        fact("Cloud", 110, 0, scope="Cloud", caption="Property and equipment, net by segment is as follows:"),
    ]
    result = found(cells, "net additions to property and equipment", part="Cloud")
    assert values(result)[0] == 53 and result.is_sure


def test_of_rows_of_one_metric_the_one_called_as_asked_is_taken_from_every_report() -> None:
    flows = {"metric": "repurchases_of_common_stock", "statement": Statement.CASH_FLOW}
    rows = [
        fact("Repurchase of common shares", -283, 12, **flows),
        fact("Purchase of treasury shares", -21, 12, **flows),
    ]
    later = [replace(each, doc_id="b") for each in rows]
    result = found([*rows, *later], "purchase of treasury shares", metric="repurchases_of_common_stock")
    assert set(values(result)) == {-21} and result.is_sure


def test_a_row_with_the_same_words_in_another_order_yields_to_the_one_called_as_asked() -> None:
    rows = [
        fact("Prepaid expenses and other", 6906, statement=Statement.BALANCE_SHEET),
        fact("Other prepaid expense and other", 2287, page=90, section=("Prepaid expenses and other",)),
    ]
    assert values(found(rows, "other prepaid expense and other"))[0] == 2287
    assert values(found(rows, "prepaid expenses and other"))[0] == 6906


def test_a_row_of_a_statement_named_with_its_heading_goes_before_an_adjustment_of_that_name() -> None:
    rows = [
        fact("Product support revenues", -2, 12, caption="Adjustments of acquired contracts"),
        fact("Product support", 18861, 12, section=("Revenues",), statement=Statement.INCOME),
    ]
    assert values(found(rows, "product support revenues"))[0] == 18861


def test_what_was_bought_with_a_company_is_not_the_buyers() -> None:
    caption = "The final purchase price allocation of Plume Corporation (in millions):"
    rows = [fact("Inventories", 15, caption=caption, metric="inventories")]
    assert not found(rows, "inventories", metric="inventories").hits
    assert values(found(rows, "Plume inventories")) == [15]
