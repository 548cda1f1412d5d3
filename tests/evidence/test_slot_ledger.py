"""Which fact fills a slot: whose, where it stands, with which sign; and what disagrees."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from fin_agent.evidence.slot_ledger import Entry, Ledger, SlotFit, fill_slots
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from tests.evidence.filed import workspace_of

OWNERS = {"acme23": "acme", "acme24": "acme", "bell23": "bell"}
DOCUMENTS = ("acme23", "acme24", "bell23")


def slot(metric: str = "revenue", year: int = 2023, quarter: int | None = None) -> Slot:
    return Slot(company="acme", company_name="Acme", metric=metric, label=metric, fiscal_year=year, quarter=quarter)


def fact(
    amount: str = "100",
    metric: str = "revenue",
    *,
    label: str = "Net sales",
    statement: Statement | None = Statement.INCOME,
    page: int = 40,
    line: int = 3,
    year: int = 2023,
    quarter: int | None = None,
    months: int = 12,
    scale: int = 1_000_000,
    unit: str = "USD",
    scope: str | None = None,
) -> Fact:
    return Fact(
        label, Decimal(amount), scale, unit, FactPeriod(year, quarter, months, date(year, 12, 31)), page,
        Box(300, 10 * line, 340, 10 * line + 8), metric=metric, line=line, column=str(year), statement=statement,
        scope=scope,
    )  # fmt: skip


def filled(wanted: Slot, *facts: Fact, doc_id: str = "acme23") -> Entry:
    return filled_from(wanted, *(SourcedFact(doc_id, each) for each in facts))


def filled_from(wanted: Slot, *facts: SourcedFact) -> Entry:
    (entry,) = fill_slots({wanted: True}, facts, workspace_of(OWNERS), DOCUMENTS).entries
    return entry


def test_components_of_a_total_come_after_it() -> None:
    cash = [
        fact("5", "cash_and_cash_equivalents", label=label, statement=Statement.BALANCE_SHEET, line=line, months=0)
        for line, label in enumerate(("Cash and due from banks", "Total cash and cash equivalents"))
    ]
    wanted = slot(metric="cash_and_cash_equivalents")
    entry = filled(wanted, cash[0], replace(cash[1], amount=Decimal(33)))
    assert entry.figure is not None and entry.figure.amount == 33


def test_a_figure_keeps_its_place_and_its_value_in_base_units() -> None:
    entry = filled(slot(), fact("3763"))
    assert entry.figure is not None
    assert entry.figure.value == 3_763_000_000
    assert (entry.figure.doc_id, entry.figure.page, entry.figure.line) == ("acme23", 40, 3)
    assert "Net sales" in entry.reason


@pytest.mark.parametrize(
    "other",
    [
        fact(metric="gross_profit"),
        fact(year=2022),
        fact(scope="Europe"),
        fact(months=3, quarter=4),
        fact(months=9),
        fact(months=0, quarter=3),
    ],
)
def test_a_figure_of_another_metric_period_or_part_fills_nothing(other: Fact) -> None:
    entry = filled(slot(), other)
    assert entry.figure is None
    assert entry.reason


def test_a_figure_counts_for_its_own_filer_only() -> None:
    assert filled(slot(), fact(), doc_id="bell23").figure is None
    assert filled(slot(), fact(), doc_id="a filing of nobody").figure is None


def test_the_metrics_own_statement_goes_before_other_places() -> None:
    elsewhere = fact("99", statement=None, page=5)
    cash_flow = fact("98", statement=Statement.CASH_FLOW, page=6)
    entry = filled(slot(), elsewhere, cash_flow, fact("100", page=60))
    assert entry.figure is not None
    assert entry.figure.amount == 100


def test_the_filing_ranked_first_goes_before_an_earlier_page_of_another() -> None:
    later = SourcedFact("acme24", fact("101", page=3))
    first = SourcedFact("acme23", fact("100", page=80))
    entry = filled_from(slot(), later, first)
    assert entry.figure is not None
    assert entry.figure.doc_id == "acme23"


def test_a_restated_figure_is_a_conflict_a_rounded_one_is_not() -> None:
    own = SourcedFact("acme23", fact("100"))
    restated = SourcedFact("acme24", fact("112"))
    rounded = SourcedFact("acme24", fact("0.1", scale=1_000_000_000, page=7, statement=None))
    entry = filled_from(slot(), own, restated, rounded)
    assert [figure.amount for figure in entry.conflicts] == [112]


def test_the_order_in_which_facts_come_does_not_matter() -> None:
    facts = [SourcedFact("acme23", fact(str(100 + line), line=line)) for line in range(6)]
    assert filled_from(slot(), *facts) == filled_from(slot(), *reversed(facts))


def test_balances_fill_the_year_end_and_the_end_of_a_quarter() -> None:
    at_end = fact("7", "inventories", statement=Statement.BALANCE_SHEET, months=0)
    assert filled(slot("inventories"), at_end).figure is not None
    in_june = replace(at_end, period=FactPeriod(2023, 2, 0, date(2023, 6, 30)))
    assert filled(slot("inventories"), in_june).figure is None
    assert filled(slot("inventories", quarter=2), in_june).figure is not None


def test_cash_flows_of_a_quarter_are_printed_for_the_year_to_date_only() -> None:
    first = fact("5", "cash_from_operations", statement=Statement.CASH_FLOW, months=3)
    assert filled(slot("cash_from_operations", quarter=1), first).figure is not None
    half = fact("9", "cash_from_operations", statement=Statement.CASH_FLOW, months=6)
    assert filled(slot("cash_from_operations", quarter=2), half).figure is None


@pytest.mark.parametrize(
    ("metric", "label", "printed", "asked"),
    [
        ("capital_expenditures", "Purchases of property and equipment", "-141", "141"),
        ("capital_expenditures", "Capital expenditures", "141", "141"),
        ("dividends_paid", "Dividends paid", "-183", "183"),
        ("cost_of_revenue", "Cost of sales", "-1723", "1723"),
        ("cost_of_revenue", "Cost of sales", "1723", "1723"),
        ("income_tax_expense", "Provision for income taxes", "166", "166"),
        ("income_tax_expense", "Income tax benefit", "-20", "-20"),
        ("income_tax_expense", "Income tax (expense) benefit", "-31", "31"),
        ("income_tax_expense", "Income tax (expense) benefit", "12", "-12"),
        ("net_income", "Net loss", "-40", "-40"),
        ("cash_from_investing", "Net cash used in investing activities", "-285", "-285"),
    ],
)
def test_amounts_have_the_sign_people_mean(metric: str, label: str, printed: str, asked: str) -> None:
    home = load_lexicon().metrics[metric].statement
    entry = filled(slot(metric), fact(printed, metric, label=label, statement=home))
    assert entry.figure is not None
    assert entry.figure.amount == Decimal(asked)
    assert entry.figure.printed == Decimal(printed)
    assert entry.figure.fact().amount == Decimal(printed)


def test_a_ledger_lists_what_is_known_and_what_is_not_required_first() -> None:
    slots = {slot("goodwill"): False, slot("inventories"): True, slot(): True}
    ledger = fill_slots(slots, [SourcedFact("acme23", fact())], workspace_of(OWNERS), DOCUMENTS)
    assert list(ledger.figures) == [slot()]
    assert ledger.empty == (slot("inventories"), slot("goodwill"))
    assert Ledger().empty == ()


IDENTITIES = {
    "acme23": Identity("Acme", Form.TEN_K, 2023, None, date(2023, 12, 31)),
    "acme24": Identity("Acme", Form.TEN_K, 2024, None, date(2024, 12, 31)),
    "acme24q1": Identity("Acme", Form.TEN_Q, 2024, 1, date(2024, 3, 31)),
    "release": Identity("Acme", Form.EARNINGS, 2023, None, date(2023, 12, 31)),
}


def told(wanted: Slot, *facts: SourcedFact, statements: tuple[Statement, ...] = ()) -> Entry:
    workspace = workspace_of(dict.fromkeys(IDENTITIES, "acme"), IDENTITIES)
    documents = list(dict.fromkeys(each.doc_id for each in facts))
    (entry,) = fill_slots({wanted: True}, facts, workspace, documents, statements=statements).entries
    return entry


def test_the_report_of_the_year_is_before_a_later_one_and_statements_before_both() -> None:
    later = SourcedFact("acme24", fact("111"))
    own = SourcedFact("acme23", fact("100", statement=Statement.CASH_FLOW))
    aside = SourcedFact("acme23", fact("90", statement=None))
    assert told(slot(), later, own, aside).figure == told(slot(), own).figure
    assert told(slot(), later, aside).figure == told(slot(), later).figure


@pytest.mark.parametrize(
    ("doc_id", "filling", "words"),
    [
        ("acme23", SlotFit.EXACT, "exact"),
        ("acme24", SlotFit.PRIOR_COLUMN, "prior-period column: 10-K of FY2024"),
        ("release", SlotFit.OTHER_FILING, "other filing: earnings of FY2023"),
    ],
)
def test_an_entry_says_what_its_filing_is_to_the_slot(doc_id: str, filling: SlotFit, words: str) -> None:
    entry = told(slot(), SourcedFact(doc_id, fact()))
    assert entry.filling is filling
    assert entry.reason.endswith(words)


def test_a_years_end_in_a_quarterly_report_is_of_another_filing() -> None:
    at_end = fact("7", "inventories", statement=Statement.BALANCE_SHEET, months=0)
    assert told(slot("inventories"), SourcedFact("acme24q1", at_end)).filling is SlotFit.OTHER_FILING


def test_a_later_report_that_states_another_figure_restates_it() -> None:
    entry = told(slot(), SourcedFact("acme23", fact("100")), SourcedFact("acme24", fact("112")))
    assert "restated: acme24 gives 112" in entry.reason
    assert [figure.doc_id for figure in entry.conflicts] == ["acme24"]


def test_two_rows_of_one_report_that_differ_restate_nothing() -> None:
    entry = told(slot(), SourcedFact("acme23", fact("100", line=3)), SourcedFact("acme23", fact("90", line=5)))
    assert len(entry.conflicts) == 1
    assert "restated" not in entry.reason


def test_figures_printed_in_another_scale_than_the_rest_are_said_to_be_converted() -> None:
    wanted = {slot(): True, slot(year=2022): True, slot("gross_profit"): True}
    facts = [SourcedFact("acme23", fact()), SourcedFact("acme23", fact(metric="gross_profit", line=9)),
             SourcedFact("acme24", fact("50000", year=2022, scale=1_000))]  # fmt: skip
    entries = fill_slots(wanted, facts, workspace_of(OWNERS), DOCUMENTS).entries
    assert ["converted from thousands" in entry.reason for entry in entries] == [False, True, False]


def test_a_statement_that_the_question_names_goes_before_the_metrics_own() -> None:
    income = SourcedFact("acme23", fact("100", "depreciation_and_amortization", statement=Statement.INCOME))
    flows = SourcedFact(
        "acme23", fact("90", "depreciation_and_amortization", statement=Statement.CASH_FLOW, line=9)
    )  # fmt: skip
    for named, amount in ((Statement.INCOME, 100), (Statement.CASH_FLOW, 90)):
        entry = told(slot("depreciation_and_amortization"), income, flows, statements=(named,))
        assert entry.figure is not None
        assert entry.figure.amount == amount


def part_slot(part: str, metric: str = "revenue") -> Slot:
    return slot(metric).model_copy(update={"part": part})


def test_a_part_is_filled_by_its_own_figures_only() -> None:
    wanted = part_slot("Client Computing")
    own = fact("30", label="Client Computing", statement=None, scope="Client Computing (1)", line=7)
    entry = filled(wanted, fact("100"), fact("20", statement=None, scope="Data Center", line=8), own)
    assert entry.figure is not None
    assert entry.figure.amount == 30
    assert filled(slot(), own).figure is None


def test_of_two_readings_of_a_part_in_one_filing_none_is_taken() -> None:
    wanted = part_slot("Europe")
    readings = [fact(amount, label="Europe", statement=None, scope="Europe", line=line) for amount, line in
                (("30", 7), ("45", 9))]  # fmt: skip
    entry = filled(wanted, *readings)
    assert entry.figure is None
    assert "stated differently (30 and 45" in entry.reason


def test_two_amounts_of_one_sentence_are_no_rounding_of_each_other() -> None:
    told_twice = [
        replace(fact(amount, label="Interest payable of $13 million and $12 million", statement=None, scope="Europe"),
                source="text") for amount in ("13", "12")
    ]  # fmt: skip
    entry = filled(part_slot("Europe"), *told_twice)
    assert entry.figure is None
    assert "stated differently (13 and 12" in entry.reason


def test_of_two_lines_of_other_words_in_two_filings_none_is_taken_for_a_phrase() -> None:
    wanted = slot().model_copy(update={"metric": "", "phrase": "transaction costs"})

    def printed(label: str, amount: str, doc_id: str) -> SourcedFact:
        return SourcedFact(doc_id, fact(amount, wanted.fact_name, label=label, statement=None))

    first = printed("Transaction costs", "182", "acme23")
    assert filled_from(wanted, first, printed("Starbucks transaction costs", "41", "acme24")).figure is None
    restated = filled_from(wanted, first, printed("Transaction costs", "180", "acme24")).figure
    assert restated is not None and restated.amount == 182


@pytest.mark.parametrize(
    ("restates", "is_taken"),
    [
        ("Cloud ARR exiting fiscal 2024 was $1,930 million, up from $183 million at the end of fiscal 2023.", True),
        ("Cloud ARR of $1,930 million as of May 3, 2024 increased by 19% from $183 million as of May 1, 2023.", True),
        ("Other Cloud ARR exiting fiscal 2024 was $1,930 million, up from $183 million in fiscal 2023.", False),
        ("Revenue of services was $1,930 million, up from $183 million at the end of fiscal 2023.", False),
    ],
)
def test_sentences_of_two_years_tell_one_line_if_their_subject_is_the_same(restates: str, is_taken: bool) -> None:
    wanted = slot().model_copy(update={"metric": "", "phrase": "cloud ARR"})
    told = "Cloud ARR exiting fiscal 2023 was $146 million, up from $108 million at the end of fiscal 2022."
    first, later = (
        SourcedFact(doc_id, replace(fact(amount, wanted.fact_name, label=label, statement=None), source="text"))
        for doc_id, amount, label in (("acme23", "146", told), ("acme24", "183", restates))
    )
    entry = filled_from(wanted, first, later)
    assert (entry.figure is not None) is is_taken
    assert entry.figure is None or (entry.figure.amount == 146 and entry.conflicts)


@pytest.mark.parametrize(("printed", "amount"), [("-100", 100), ("100", 100), ("-90", None)])
def test_a_note_that_takes_a_figure_of_a_statement_off_contradicts_nothing(printed: str, amount: int | None) -> None:
    wanted = slot().model_copy(update={"metric": "", "phrase": "current term debt"})
    stated = SourcedFact("acme23", fact("100", wanted.fact_name, label="Term debt"))
    off = fact(printed, wanted.fact_name, label="Current portion of term debt", statement=None, page=60)
    found = fill_slots(
        {wanted: True},
        [SourcedFact("acme23", off), stated],
        workspace_of(OWNERS),
        DOCUMENTS,
        preferred={wanted: stated},
    )
    (entry,) = found.entries
    assert (entry.figure.amount if entry.figure is not None else None) == amount


def test_amounts_a_share_agree_to_the_cent_and_not_to_the_dollar() -> None:
    def eps(amount: str, doc_id: str) -> SourcedFact:
        stated = fact(amount, "diluted_eps", scale=1, unit="USD per share", line=9 if doc_id == "acme23" else 10)
        return SourcedFact(doc_id, stated)

    apart = told(slot("diluted_eps"), eps("1.85", "acme23"), eps("1.17", "acme24"))
    assert [str(figure.amount) for figure in apart.conflicts] == ["1.17"]
    assert not told(slot("diluted_eps"), eps("1.85", "acme23"), eps("1.9", "acme24")).conflicts


def test_of_two_prints_of_one_figure_outside_the_statements_the_finer_is_taken() -> None:
    metric = "unrecognized_tax_benefits"
    rounded = fact("22.0", metric, statement=None, page=40, months=0, scale=1_000_000_000)
    exact = fact("22038", metric, statement=None, page=43, months=0)
    entry = filled(slot(metric), rounded, exact)
    assert entry.figure is not None
    assert entry.figure.amount == 22038
    other = filled(slot(metric), rounded, replace(exact, amount=Decimal(21038)))
    assert other.figure is not None
    assert other.figure.value == 22_000_000_000


def test_tables_of_a_part_each_do_not_fill_the_slot_of_the_company() -> None:
    regions = [fact(amount, statement=None, page=24 + at) for at, amount in enumerate(("739", "666", "375"))]
    assert filled(slot(), *regions).figure is None
    assert filled(slot(), *regions[:1]).figure is not None


def test_a_statements_own_print_stays_before_a_finer_one() -> None:
    printed = fact("5.1", scale=1_000_000_000)
    entry = filled(slot(), printed, fact("5123", statement=None, page=90))
    assert entry.figure is not None
    assert entry.figure.value == 5_100_000_000


def test_of_two_scales_that_of_most_statements_is_taken() -> None:
    wrong = SourcedFact("acme23", fact("496", statement=None, page=20, scale=1_000))
    entry = filled_from(slot(), wrong, SourcedFact("acme23", fact("496", page=60)))
    assert entry.figure is not None
    assert entry.figure.value == 496_000_000
    alone = SourcedFact("acme23", fact("496", page=60, scale=1_000))
    later = [SourcedFact("acme24", fact("496", page=page)) for page in (50, 55)]
    entry = filled_from(slot(), alone, *later)
    assert entry.figure is not None
    assert (entry.figure.doc_id, entry.figure.value) == ("acme24", 496_000_000)


def test_two_scales_with_nothing_to_choose_between_are_left_open() -> None:
    entry = filled_from(
        slot(), SourcedFact("acme23", fact("496", scale=1_000)), SourcedFact("acme24", fact("496", page=9))
    )
    assert entry.figure is None
    assert "two scales" in entry.reason


def test_what_is_doubted_goes_last() -> None:
    first, second = SourcedFact("acme23", fact("100")), SourcedFact("acme24", fact("112"))
    unreliable = [("acme23", 40, 3, Decimal(100_000_000))]
    (entry,) = fill_slots(
        {slot(): True}, [first, second], workspace_of(OWNERS), DOCUMENTS, unreliable=unreliable
    ).entries
    assert entry.figure is not None
    assert entry.figure.amount == 112
