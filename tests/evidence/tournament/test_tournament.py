"""The whole tournament over the sample filings, by rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tried
from hypothesis import strategies as st

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.card_ranking import RulesJudge
from fin_agent.evaluation.passage_ranking import ABLATIONS
from fin_agent.evidence.cards.card import Card, ClaimRole, Use
from fin_agent.evidence.tournament.tournament import (
    Brief,
    Judge,
    Stage,
    TournamentResult,
    TournamentSettings,
    Verdict,
    run_tournament,
)
from fin_agent.index.protocol import StoredPassage
from fin_agent.retrieval.search_query import Query
from fin_agent.workspace import Workspace
from tests.evidence.tournament.entered import Failing

FILING = "harborlight_2023_10k"
QUESTION = "What was the net sales of Harborlight for FY2023?"
WORDS = "Why did operating expenses change in fiscal 2023 at Harborlight?"
SMALL = {"fewest": 10, "most": 40, "group_size": 8, "k_max": 4}
"""The sample filings are short: sizes that make several groups of them."""

Hold = Callable[..., TournamentResult]


@pytest.fixture(scope="module")
def passages(workspace: Workspace) -> list[StoredPassage]:
    index = workspace.index
    return index.passages([page.key for page in index.outline([FILING])])


@pytest.fixture(scope="module")
def hold(workspace: Workspace, passages: list[StoredPassage]) -> Hold:
    """Hold a tournament over the passages of one filing."""
    analyst = RulesAnalyst(workspace)

    def held(
        question: str = QUESTION,
        among: Sequence[StoredPassage] | None = None,
        judge: Judge | None = None,
        fallback: Judge | None = None,
        **changed: object,
    ) -> TournamentResult:
        intent = analyst.intent(question)
        plan = analyst.plan(intent)
        brief = Brief(intent, plan, analyst.query(intent, plan, None), workspace.directory.owners)
        return run_tournament(
            brief,
            passages if among is None else among,
            workspace.index,
            workspace.lexicon,
            judge or RulesJudge(workspace),
            fallback=fallback,
            settings=TournamentSettings.model_validate({**SMALL, **changed}),
        )

    return held


def test_the_income_statement_comes_first_with_its_matching_fields(hold: Hold, passages: list[StoredPassage]) -> None:
    first = hold().ranked[0]
    assert first.stage is Stage.ROUNDS
    assert first.score == 1.0
    assert {"metrics: revenue", "time: FY2023", "statement: income"} <= set(first.fields)
    shown = next(stored for stored in passages if stored.passage.ordinal == first.key[1])
    assert "Net sales" in shown.passage.text


@pytest.mark.parametrize("name", ["full", *ABLATIONS])
def test_every_ranking_holds_every_passage_once_and_is_the_same_again(
    name: str, hold: Hold, passages: list[StoredPassage]
) -> None:
    changed = ABLATIONS.get(name, {})
    result = hold(WORDS, **changed)
    keys = sorted((stored.doc_id, stored.passage.ordinal) for stored in passages)
    for order in result.orders.values():
        assert sorted(order) == keys
    assert [card.key for card in result.ranked] == list(result.orders[Stage.ROUNDS])
    assert hold(WORDS, **changed) == result


def test_what_words_do_not_let_in_stands_behind_all_who_met(hold: Hold) -> None:
    stages = [card.stage for card in hold(share=1.0, most=12).ranked]
    assert stages == sorted(stages, key=[Stage.ROUNDS, Stage.GROUPS, Stage.WORDS].index)
    assert stages.count(Stage.WORDS) == len(stages) - 12


def test_scores_are_shares_and_finalists_stand_by_them(hold: Hold) -> None:
    finalists = [card for card in hold().ranked if card.stage is Stage.ROUNDS]
    scores = [card.score for card in finalists]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_the_trace_says_what_became_of_each_passage_and_who_met_whom(hold: Hold) -> None:
    result = hold(share=1.0, most=20)
    assert {card.stage for card in result.ranked} == set(Stage)
    assert {group.stage for group in result.groups} == {"group", "round"}
    met = [key for group in result.groups if group.stage == "group" and group.attempt == 1 for key in group.ranked]
    assert len(met) == len(set(met)) == 20


def test_a_judge_that_never_answers_leaves_the_rules_ranking(hold: Hold, workspace: Workspace) -> None:
    result = hold(judge=Failing(), fallback=RulesJudge(workspace))
    assert result.ranked[0].key == hold().ranked[0].key
    assert all("the rules decided" in group.note for group in result.groups if group.stage == "round")


def test_without_a_stand_in_the_order_of_words_stands(hold: Hold) -> None:
    result = hold(judge=Failing(), k_max=8)
    assert result.ranked[0].key == result.orders[Stage.WORDS][0]


def test_few_candidates(hold: Hold, passages: list[StoredPassage]) -> None:
    none = hold(among=[])
    assert (none.ranked, none.groups, none.rounds) == ((), (), 0)
    assert [card.key[1] for card in hold(among=passages[:1]).ranked] == [0]
    assert len(hold(among=passages[:3]).ranked) == 3
    assert len(hold(among=[*passages[:3], *passages[:2]]).ranked) == 3, "a passage given twice is ranked once"


def test_a_question_that_asks_for_no_field_is_ranked_by_its_words(hold: Hold, passages: list[StoredPassage]) -> None:
    result = hold("Is the lease renewable?")
    assert len(result.ranked) == len(passages)
    assert hold("Xyzzy plugh?").ranked


@tried(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.sets(st.integers(0, 30), max_size=25),
    seed=st.integers(0, 1000),
    group_size=st.integers(2, 9),
    k_max=st.integers(3, 9),
    list_size=st.integers(2, 20),
)
def test_any_tournament_is_a_permutation_of_its_candidates(
    chosen: set[int], seed: int, group_size: int, k_max: int, list_size: int, hold: Hold, passages: list[StoredPassage]
) -> None:
    among = [stored for stored in passages if stored.passage.ordinal in chosen]
    result = hold(
        WORDS,
        among=among,
        seed=seed,
        group_size=group_size,
        k_max=k_max,
        list_fewest=list_size,
        list_most=list_size,
        fewest=3,
        most=20,
    )
    for order in result.orders.values():
        assert sorted(order) == sorted((stored.doc_id, stored.passage.ordinal) for stored in among)


def test_without_groups_all_let_in_are_ranked(hold: Hold) -> None:
    result = hold(screened=False)
    assert all(group.stage == "round" for group in result.groups)
    met = {key for group in result.groups for key in group.ranked}
    assert met == set(result.orders[Stage.WORDS][: len(met)]) and len(met) > len(hold().groups[-1].ranked)


@pytest.mark.parametrize(
    ("use", "quota"),
    [(Use.TREND, "quota: dated table"), (Use.POLICY, "quota: explanation"), (Use.LOOKUP, "")],
)
def test_a_trend_keeps_a_dated_table_and_a_policy_an_explanation(
    workspace: Workspace, passages: list[StoredPassage], use: Use, quota: str
) -> None:
    class Averse(RulesJudge):
        """Puts tables and explanations last."""

        def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
            def liked(at: int) -> bool:
                explains = cards[at].role in (ClaimRole.DEFINES, ClaimRole.SETS_POLICY, ClaimRole.EXPLAINS)
                return not explains and cards[at].verifiability.table is None

            order = sorted(range(len(cards)), key=lambda at: (not liked(at), at))
            return [Verdict(at, 100.0 if liked(at) else 1.0) for at in order]

    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(WORDS).model_copy(update={"use": use})
    plan = analyst.plan(intent)
    brief = Brief(intent, plan, Query("operating", ("operating",)), workspace.directory.owners)
    settings = TournamentSettings.model_validate({**SMALL, "k_min": 1, "fewest": 30})
    result = run_tournament(brief, passages, workspace.index, workspace.lexicon, Averse(workspace), settings=settings)
    finalists = {card.key: card for card in result.ranked if card.stage is Stage.ROUNDS}
    cards = {(stored.doc_id, stored.passage.ordinal): Card.model_validate_json(stored.card) for stored in passages}
    tables = [key for key in finalists if cards[key].verifiability.table is not None and cards[key].time.periods]
    explanations = [key for key in finalists if cards[key].role in (ClaimRole.SETS_POLICY, ClaimRole.EXPLAINS)]
    assert bool(tables) is (quota == "quota: dated table") and bool(explanations) is (quota == "quota: explanation")
