"""Totals named by what they add up to, where no label tells."""

from __future__ import annotations

from fin_agent.filings.facts.table_facts import facts_of_tables
from fin_agent.filings.tables.reading import read_tables
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from tests.filings.typeset import Page

IDENTITY = Identity(company="Example Corp.", form=Form.TEN_K, fiscal_year=2018)
EDGES = [440.0, 540.0]


def metrics(statement: Statement, *rows: tuple[str, str, str]) -> dict[str, str | None]:
    drawn = Page(0).text("Consolidated statements (in millions)")
    drawn.header([("2018", 420.0), ("2017", 520.0)], stub="At and for the years ended December 31,")
    for label, *cells in rows:
        drawn.row(label, cells, EDGES)
    facts = facts_of_tables(read_tables([drawn.done()], IDENTITY), {0: statement}, load_lexicon().metric_of_label)
    return {f"{fact.amount:,}": fact.metric for fact in facts}


def test_cash_by_its_roll_forward() -> None:
    found = metrics(
        Statement.CASH_FLOW,
        ("Profit", "4,000", "5,000"),
        ("Items without cash", "752", "977"),
        ("From operating activities", "4,752", "5,977"),
        ("Plants", "(6,000)", "(5,000)"),
        ("Software", "(564)", "(650)"),
        ("For investing activities", "(6,564)", "(5,650)"),
        ("Loans", "3,000", "(50)"),
        ("Shares", "31", "(5)"),
        ("From financing activities", "3,031", "(55)"),
        ("Movement", "1,219", "272"),
        ("Held at January 1", "456", "184"),
        ("Held at December 31", "1,675", "456"),
    )
    assert (found["1,219"], found["184"], found["1,675"]) == (
        "net_change_in_cash",
        "cash_at_beginning_of_period",
        "cash_at_end_of_period",
    )
