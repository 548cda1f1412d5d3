"""How a page's text matches a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.retrieval.page_ranking import QueryTerms, TextMatch, text_match
from fin_agent.retrieval.search_query import Query
from fin_agent.workspace import Workspace

WANTED = QueryTerms({"restructur": 2.0, "sever": 1.0}, {"exit": 1.0}, {"layoff": 1.0}, {
    "restructur": 2.0, "sever": 1.0, "exit": 0.3, "layoff": 0.3,
})  # fmt: skip


def test_words_that_stand_together_are_nearer_than_words_apart() -> None:
    together = text_match("We planned restructuring. Severance was paid.", WANTED)
    apart = text_match("We planned restructuring. Sales rose. Costs fell. Severance was paid.", WANTED)
    assert together.nearness > apart.nearness > 0


def test_only_lines_that_read_like_headings_count_as_such() -> None:
    text = "Restructuring Plan\nOur restructuring cost 25 million.\nSeverance 2024\nseverance is paid in cash"
    assert text_match(text, WANTED).headings == pytest.approx(2 / 3)


def test_each_kind_of_word_is_told_apart() -> None:
    match = text_match("Layoffs And Exit", WANTED)
    assert match == TextMatch(synonyms=1.0, nearness=pytest.approx(0.6 / 3.6), headings=0.0, expansion_headings=1.0)


def test_a_title_of_wanted_words_says_more_than_one_that_holds_others() -> None:
    assert (
        WANTED.title_coverage("Restructuring and Severance")
        > WANTED.title_coverage("Restructuring, Leases and Taxes")
        > 0
    )
    assert WANTED.title_coverage("") == WANTED.title_coverage("The") == 0.0


@given(st.text())
def test_any_text_gives_shares(text: str) -> None:
    match = text_match(text, WANTED)
    shares = (match.synonyms, match.nearness, match.headings, match.expansion_headings)
    assert all(0 <= share <= 1 for share in shares)


def test_rare_words_of_a_query_weigh_more(workspace: Workspace) -> None:
    wanted = QueryTerms.of(Query(text="", terms=("revenue", "patent")), workspace.index)
    assert wanted.words["patent"] > wanted.words["revenu"]
