"""Statements of other periods and other signs than asked about."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from fin_agent.evidence.filing_preparation import prepare
from fin_agent.filings.facts.table_facts import reconcile_tables
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.index.ingest import ingest
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace


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
