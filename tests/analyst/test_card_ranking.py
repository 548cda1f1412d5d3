"""The judge by rules: fields that align go first, first cards cover all slots, and the order given does not matter."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.card_ranking import WEIGHTS, RulesJudge, greedy_select
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.tournament import Brief, Verdict
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.page_ranking import Candidate
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace

FILING = "harborlight_2023_10k"
NO_WEIGHT = dict.fromkeys(WEIGHTS, 0.0)
Briefed = Callable[[str], Brief]


@pytest.fixture(scope="module")
def cards(workspace: Workspace) -> list[Card]:
    outline = workspace.index.outline([FILING])
    stored = workspace.index.passages([page.key for page in outline])
    return [Card.model_validate_json(each.card) for each in stored]


@pytest.fixture(scope="module")
def briefed(workspace: Workspace) -> Briefed:
    analyst = RulesAnalyst(workspace)

    def of(question: str) -> Brief:
        intent = analyst.intent(question)
        plan = analyst.plan(intent)
        return Brief(intent, plan, analyst.query(intent, plan, None), workspace.directory.owners)

    return of


def ordinals(cards: list[Card], verdicts: list[Verdict]) -> list[int]:
    return [cards[verdict.at].identity.ordinal for verdict in verdicts]


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("What was the net sales of Harborlight for FY2023?", Statement.INCOME),
        ("What were the total assets of Harborlight at the end of FY2023?", Statement.BALANCE_SHEET),
        ("What were the capital expenditures of Harborlight in FY2023?", Statement.CASH_FLOW),
    ],
)
def test_a_figures_own_statement_goes_first(
    question: str, statement: Statement, cards: list[Card], briefed: Briefed, workspace: Workspace
) -> None:
    first = RulesJudge(workspace).rank(briefed(question), cards)[0]
    assert cards[first.at].identity.statement is statement
    assert f"statement: {statement.value}" in first.fields


def test_pages_that_hold_different_inputs_go_before_a_second_page_with_the_same(
    cards: list[Card], briefed: Briefed, workspace: Workspace
) -> None:
    brief = briefed("What was the asset turnover (net sales over total assets) of Harborlight in FY2023?")
    assert {slot.metric for slot in brief.query.slots} == {"revenue", "total_assets"}
    pages = list(dict.fromkeys(cards[verdict.at].identity.page for verdict in RulesJudge(workspace).rank(brief, cards)))
    statements = {card.identity.page: card.identity.statement for card in cards}
    assert {statements[page] for page in pages[:2]} == {Statement.INCOME, Statement.BALANCE_SHEET}


def test_the_order_given_does_not_matter(cards: list[Card], briefed: Briefed, workspace: Workspace) -> None:
    brief = briefed("Why did gross margin change in fiscal 2023 at Harborlight?")
    judge = RulesJudge(workspace)
    shuffled = random.Random(7).sample(cards, len(cards))
    assert ordinals(cards, judge.rank(brief, cards)) == ordinals(shuffled, judge.rank(brief, shuffled))


def test_every_card_is_ranked_once_even_where_all_are_equal(
    cards: list[Card], briefed: Briefed, workspace: Workspace
) -> None:
    equal = [
        cards[0].model_copy(update={"identity": cards[0].identity.model_copy(update={"ordinal": at})})
        for at in range(9)
    ]
    verdicts = RulesJudge(workspace).rank(briefed("Is the lease renewable?"), equal)
    assert ordinals(equal, verdicts) == list(range(9))
    assert len({verdict.score for verdict in verdicts}) == 1
    assert RulesJudge(workspace).rank(briefed("Is the lease renewable?"), []) == []


def slot(metric: str) -> Slot:
    return Slot(company="acme", company_name="Acme", metric=metric, label=metric, fiscal_year=2023)


def test_a_figure_held_by_another_page_counts_no_more_and_cards_of_the_page_keep_their_scores() -> None:
    revenue, assets = slot("revenue"), slot("total_assets")
    listed = [
        Candidate(PageKey("d", 1), {"words": 0.5}, {revenue: 1.0}),
        Candidate(PageKey("d", 1), {"words": 0.4}, {revenue: 1.0}),
        Candidate(PageKey("d", 2), {"words": 0.45}, {revenue: 1.0}),
        Candidate(PageKey("d", 3), {"words": 0.0}, {assets: 1.0}),
    ]
    taken = greedy_select(listed, {**NO_WEIGHT, "words": 1.0, "slots": 2.0})
    assert [at for at, _ in taken] == [0, 1, 3, 2]
    assert [score for _, score in taken] == pytest.approx([1.5, 1.4, 1.0, 0.45])
