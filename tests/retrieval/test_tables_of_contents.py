"""The page that a list of contents names for what is sought, over the sample filings."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.config import Settings
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval import page_ranking
from fin_agent.retrieval.page_ranking import follow_contents, listed_pages
from fin_agent.retrieval.search_query import Query, RankedPage
from fin_agent.workspace import Workspace

FILING = "harborlight_2024_10k"
CONTENTS, SALES, CONTROLS = (PageKey(FILING, page) for page in (1, 8, 16))
QUESTION = "What do Harborlight's controls and procedures say in 2024?"


def asked(workspace: Workspace, question: str) -> Query:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(question)
    return analyst.query(intent, analyst.plan(intent), None)


def ranked(*keys: PageKey) -> list[RankedPage]:
    return [RankedPage(key, 1.0 - place / 10, ()) for place, key in enumerate(keys)]


def test_entries_of_a_list_of_contents(workspace: Workspace) -> None:
    texts = {stored.key: stored.page.text for stored in workspace.index.pages([CONTENTS, SALES, CONTROLS])}
    entries = dict(listed_pages(texts[CONTENTS]))
    assert entries["Item 9A. Controls and Procedures"] == "16" and entries["Item 7A. " + MARKET] == "6"
    assert listed_pages(texts[CONTROLS]) == []


MARKET = "Quantitative and Qualitative Disclosures About Market Risk"


def test_a_table_with_small_numbers_lists_no_pages() -> None:
    lines = ["Item 1.", "Business", "2", "Risk Factors .... 3", "Properties 9", "Exhibits", "40", "Signatures .. 41"]
    assert listed_pages("\n".join(lines))[1] == ("Risk Factors", "3")
    assert listed_pages("Cash 12\nInventories 7\nDebt 31\nEquity 4\nLand 1") == []


def test_the_page_that_a_list_of_contents_names_stands_behind_it(workspace: Workspace) -> None:
    """It prints `16`, and is the seventeenth."""
    found = follow_contents(asked(workspace, QUESTION), ranked(CONTENTS, SALES), workspace.index)
    assert [page.key for page in found] == [CONTENTS, CONTROLS]
    assert found[1].score == 1.0 and found[1].features == (("named by contents", 1.0),)
    lower = follow_contents(asked(workspace, QUESTION), ranked(CONTENTS, SALES, CONTROLS), workspace.index)
    assert [page.key for page in lower] == [CONTENTS, CONTROLS, SALES]


@pytest.mark.parametrize(
    ("question", "order", "only"),
    [
        (QUESTION, (CONTROLS, CONTENTS), None),
        (QUESTION, (SALES, CONTROLS), None),
        ("What was Harborlight's revenue in 2024?", (CONTENTS, SALES), None),
        (QUESTION, (CONTENTS, SALES), {CONTENTS, SALES}),
    ],
    ids=["it stands before", "there is no list", "no entry says what is sought", "it may not be read"],
)
def test_pages_stay_as_they_are(
    workspace: Workspace, question: str, order: tuple[PageKey, ...], only: set[PageKey] | None
) -> None:
    given = ranked(*order)
    assert follow_contents(asked(workspace, question), given, workspace.index, only) == given


def test_the_page_named_is_among_those_read(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the list of contents leads, as it does where nothing else fits."""
    greedy_select = page_ranking.greedy_select

    def contents_first(*given: object) -> list[RankedPage]:
        others = [page for page in greedy_select(*given) if page.key not in (CONTENTS, CONTROLS)]  # type: ignore[arg-type]
        return [RankedPage(CONTENTS, 99.0, ()), *others]

    monkeypatch.setattr(page_ranking, "greedy_select", contents_first)
    answer = answer_question(QUESTION, AnswerContext.by_rules(workspace, Settings(rounds=1)))
    step = next(step for step in answer.trace if step.node == "search_passages")
    first = step.details[:5]
    assert any(line.startswith(f"{FILING} page {CONTROLS.page + 1} ") for line in first), first
