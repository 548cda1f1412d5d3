"""Stage 3: rounds of ranking the finalists, and when they end."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from fin_agent.evaluation.passage_ranking import NoisyJudge
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.tournament import (
    Aggregation,
    Brief,
    Judge,
    JudgePanel,
    TournamentSettings,
    Verdict,
    run_round_stage,
)
from tests.evidence.tournament.entered import ByOrdinal, Failing, brief, entrants

SETTINGS = TournamentSettings()


class Wavering:
    """Another order each time."""

    def __init__(self) -> None:
        self.random = random.Random(0)

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        order = list(range(len(cards)))
        self.random.shuffle(order)
        return [Verdict(at) for at in order]


def panel(judge: Judge, fallback: Judge | None = None, **changed: object) -> JudgePanel:
    return JudgePanel(brief(), judge, fallback, SETTINGS.model_copy(update=changed))


def test_rounds_end_once_the_first_places_agree() -> None:
    stage = run_round_stage(entrants(30), panel(ByOrdinal(), list_fewest=30, list_most=30))
    assert stage.rounds == 2
    assert stage.groups[-1].note == "top 10 agree (1.00)"
    assert [key[1] for key in stage.order] == list(range(30))
    assert stage.scores["acme23", 0] == 1.0
    assert stage.scores["acme23", 29] == 0.0


def test_a_wavering_judge_and_one_that_is_not_to_be_stopped_are_asked_to_the_end() -> None:
    assert run_round_stage(entrants(40), panel(Wavering())).rounds == 5
    assert run_round_stage(entrants(40), panel(ByOrdinal(), early_stop=False)).rounds == 5
    assert run_round_stage(entrants(40), panel(Wavering(), rounds=1)).rounds == 1


def test_finalists_too_many_for_one_list_are_ranked_in_several_shuffled_ones() -> None:
    judge = ByOrdinal()
    stage = run_round_stage(entrants(30), panel(judge, list_fewest=10, list_most=10, early_stop=False))
    assert [len(listed) for listed in judge.lists] == [10] * 15
    assert len({tuple(sorted(listed)) for listed in judge.lists}) > 3
    assert [key[1] for key in stage.order[:2]] == [0, 1]
    assert sorted(key[1] for key in stage.order) == list(range(30))


def test_a_judge_that_fails_each_time_leaves_it_to_the_rules_and_the_trace_says_so() -> None:
    stage = run_round_stage(entrants(5), panel(Failing(), fallback=ByOrdinal()))
    assert [key[1] for key in stage.order] == [0, 1, 2, 3, 4]
    assert stage.groups[0].note == "the judge failed 3 times (TimeoutError: no answer); the rules decided"
    assert stage.groups[0].attempt == 3


def test_a_judge_that_fails_once_ranks_at_the_second_attempt() -> None:
    stage = run_round_stage(entrants(5), panel(Failing(times=1)))
    assert stage.groups[0].attempt == 2
    assert stage.groups[0].note == "the judge failed 1 times (TimeoutError: no answer)"


def test_without_anyone_to_judge_words_decide() -> None:
    assert [key[1] for key in run_round_stage(entrants(4), panel(Failing())).order] == [0, 1, 2, 3]


def test_a_single_finalist() -> None:
    stage = run_round_stage(entrants(1), panel(ByOrdinal()))
    assert stage.order == (("acme23", 0),)
    assert stage.scores == {("acme23", 0): 1.0}


class Scoring:
    """The true order: the lower the ordinal, the higher the score."""

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        by_score = sorted(range(len(cards)), key=lambda at: cards[at].identity.ordinal)
        return [Verdict(at, 100.0 - cards[at].identity.ordinal) for at in by_score]


def displaced(seed: int, **changed: object) -> int:
    """How far the finalists stand from their true places, added up, after rounds of a judge that wavers."""
    judge = NoisyJudge(Scoring(), 0.4, seed)
    order = run_round_stage(entrants(37)[::-1], panel(judge, seed=seed, early_stop=False, **changed)).order
    return sum(abs(place - key[1]) for place, key in enumerate(order))


def test_of_a_judge_that_wavers_five_rounds_are_nearer_to_the_truth_than_one() -> None:
    seeds = range(8)
    assert sum(displaced(seed, rounds=5) for seed in seeds) < 0.7 * sum(displaced(seed, rounds=1) for seed in seeds)
    assert sum(displaced(seed) for seed in seeds) < sum(displaced(seed, shuffled=False) for seed in seeds)
    assert sum(displaced(seed) for seed in seeds) < sum(
        displaced(seed, aggregation=Aggregation.VOTES) for seed in seeds
    )


def test_mean_ranks_differ_from_bordas_shares_where_lists_differ_in_length() -> None:
    judge = NoisyJudge(Scoring(), 0.4)
    by = {how: run_round_stage(entrants(37), panel(judge, aggregation=how)).order for how in Aggregation}
    assert by[Aggregation.BORDA] != by[Aggregation.MEAN_RANK]


def test_the_same_list_gets_the_same_verdict_and_a_judge_without_scores_cannot_waver() -> None:
    cards = [entrant.card for entrant in entrants(9)]
    judge = NoisyJudge(Scoring(), 0.4)
    assert judge.rank(brief(), cards) == judge.rank(brief(), cards)
    assert NoisyJudge(Scoring(), 0.4, 1).rank(brief(), cards) != judge.rank(brief(), cards)
    assert [verdict.at for verdict in NoisyJudge(Scoring(), 0.0).rank(brief(), cards)] == list(range(9))
    with pytest.raises(ValueError, match="needs a judge that scores"):
        NoisyJudge(Wavering(), 0.4).rank(brief(), cards)
