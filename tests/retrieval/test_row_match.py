"""Rows of tables, labelled as a question puts it."""

from __future__ import annotations

from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.retrieval.page_ranking import row_matches
from fin_agent.retrieval.search_query import Query
from fin_agent.workspace import Workspace

DOC = "harborlight_2024_10k"


def asked(*terms: str, year: int | None = None) -> Query:
    return Query(text="", terms=terms, periods=(FiscalPeriod(fiscal_year=year),) if year else ())


def test_a_row_with_the_words_of_the_question_and_no_others_is_a_whole_match(workspace: Workspace) -> None:
    matches = row_matches(asked("gross", "profit"), workspace.index, [DOC])
    assert matches[PageKey(DOC, 8)] == (1.0, 1.0)


def test_more_words_on_either_side_make_it_less(workspace: Workspace) -> None:
    whole, longer = (
        row_matches(asked(*terms), workspace.index, [DOC])[PageKey(DOC, 8)][0]
        for terms in (("gross", "profit"), ("gross", "profit", "growth", "drivers"))
    )
    assert whole > longer > 0


def test_a_row_of_another_period_counts_half(workspace: Workspace) -> None:
    own, other = (
        row_matches(asked("gross", "profit", year=year), workspace.index, [DOC])[PageKey(DOC, 8)][0]
        for year in (2024, 2019)
    )
    assert (own, other) == (1.0, 0.5)


def test_rows_of_notes_are_no_rows_of_statements(workspace: Workspace) -> None:
    rows = workspace.index.row_labels([DOC], holding=["a", "e", "i", "o"])
    row = min((row for row in rows if row.statement is None), key=lambda row: (row.page, row.label))
    matches = row_matches(asked(*row.label.lower().split()), workspace.index, [DOC])
    of_statement, of_any_table = matches[PageKey(DOC, row.page)]
    assert of_statement < of_any_table == 1.0


def test_without_words_nothing_matches(workspace: Workspace) -> None:
    assert row_matches(asked(), workspace.index, [DOC]) == {}
    assert row_matches(asked("the"), workspace.index, [DOC]) == {}
