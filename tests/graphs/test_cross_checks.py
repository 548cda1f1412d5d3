"""Statements that contradict themselves or each other: sums, scales and signs, over filings altered after reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.filings.facts.table_facts import reconcile_tables
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.index.ingest import PreparedFiling, ingest
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace

Change = Callable[[Fact], Fact]


@pytest.fixture
def asking(sample_filings: Path, tmp_path: Path) -> Callable[..., Answer]:
    """Ask over Harborlight's reports of some years, the facts of the first of them changed."""

    def asked(question: str, change: Change, *years: int) -> Answer:
        def prepared(path: Path) -> PreparedFiling:
            made = prepare(path)
            if str(years[0]) not in path.name:
                return made
            filing = replace(made.filing, facts=tuple(map(change, made.filing.facts)))
            return PreparedFiling(filing, made.cards, made.summary)

        files = [sample_filings / f"harborlight_{year}_10k.pdf" for year in years]
        with SqliteIndex.create(tmp_path) as index:
            assert not ingest(files, index, prepared, workers=0).failures
        return answer_question(question, AnswerContext.by_rules(Workspace.open(tmp_path)))

    return asked


def is_balance(fact: Fact, metric: str, year: int) -> bool:
    own = fact.statement is Statement.BALANCE_SHEET and fact.scope is None
    return own and fact.metric == metric and fact.period.fiscal_year == year


def misread(fact: Fact) -> Fact:
    return replace(fact, amount=fact.amount + 500) if is_balance(fact, "total_assets", 2023) else fact


QUESTION = "What were Harborlight's total assets at the end of FY2023?"


def test_the_only_figure_that_breaks_its_statements_sums_is_told(asking: Callable[..., Answer]) -> None:
    answer = asking(QUESTION, misread, 2023)
    assert answer.answer.value is not None
    (told,) = answer.assumptions
    assert "does not fit the sums of its own statement" in told


def test_a_figure_that_breaks_its_sums_loses_against_one_that_keeps_them(asking: Callable[..., Answer]) -> None:
    answer = asking(QUESTION, misread, 2023, 2024)
    assert {citation.doc_id for citation in answer.citations} == {"harborlight_2024_10k"}
    assert not any("sums" in note for note in answer.assumptions)


def test_nothing_is_said_where_the_sums_hold(asking: Callable[..., Answer]) -> None:
    assert asking(QUESTION, lambda fact: fact, 2023, 2024).assumptions == ()


def misscaled(fact: Fact) -> Fact:
    return replace(fact, scale=fact.scale // 1000) if is_balance(fact, "inventories", 2023) else fact


def test_one_print_against_another_in_another_scale_is_left_open(asking: Callable[..., Answer]) -> None:
    answer = asking("What were Harborlight's inventories at the end of FY2023?", misscaled, 2023, 2024)
    assert answer.refused
    assert any("stated in two scales" in entry.reason for entry in answer.ledger)


def without_inversion(fact: Fact) -> Fact:
    tax = fact.metric == "income_tax_expense" and fact.statement is Statement.INCOME
    return replace(fact, amount=-abs(fact.amount), inverted=False) if tax else fact


def test_opposite_signs_of_one_figure_are_told(asking: Callable[..., Answer]) -> None:
    answer = asking("What was Harborlight's income tax expense in FY2023?", without_inversion, 2023, 2024)
    assert answer.answer.value is not None
    assert any("by the sign of" in note and "harborlight_2024_10k" in note for note in answer.assumptions)


def test_a_years_end_stands_in_the_next_quarterly_report(sample_filings: Path, tmp_path: Path) -> None:
    with SqliteIndex.create(tmp_path) as index:
        ingest([sample_filings / "harborlight_2024q3_10q.pdf"], index, prepare, workers=0)
    context = AnswerContext.by_rules(Workspace.open(tmp_path))
    for when in ("at the end of FY2023", "at December 31, 2023"):
        answer = answer_question(f"What were Harborlight's total assets {when}?", context)
        assert answer.answer.value is not None
        assert [entry.slot.fiscal_year for entry in answer.ledger if entry.required] == [2023]
    flow = answer_question("What was Harborlight's revenue in FY2023?", context)
    assert flow.refused
    assert "FY2023" in flow.answer.text


def test_a_tax_is_a_deduction_with_results_of_investees_between() -> None:
    def row(line: int, metric: str | None, amount: int) -> Fact:
        period = FactPeriod(2023, None, 12)
        return Fact("Row", Decimal(amount), 10**6, "USD", period, 4, Box(0, 0, 9, 9), metric=metric, line=line,
                    statement=Statement.INCOME)  # fmt: skip

    rows = [row(1, "income_before_taxes", 1568), row(2, "income_tax_expense", -950), row(3, None, -22)]
    found = reconcile_tables([[*rows, row(4, "net_income", 596)]], lambda metric: "USD")
    assert [fact.inverted for fact in found] == [False, True, False, False]
    odd = reconcile_tables([[*rows, row(4, "net_income", 896)]], lambda metric: "USD")
    assert not any(fact.inverted for fact in odd)
