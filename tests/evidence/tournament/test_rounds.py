"""Stage 3: rounds of ranking the finalists, and when they end."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.judge import Brief, Judge, TournamentSettings, Verdict
from fin_agent.evidence.tournament.stages import Panel, hold_rounds
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


def panel(judge: Judge, stand_in: Judge | None = None, **changed: object) -> Panel:
    return Panel(brief(), judge, stand_in, SETTINGS.model_copy(update=changed))


def test_rounds_end_once_the_first_places_agree() -> None:
    stage = hold_rounds(entrants(30), panel(ByOrdinal(), list_fewest=30, list_most=30))
    assert stage.rounds == 2
    assert stage.groups[-1].note == "top 10 agree (1.00)"
    assert [key[1] for key in stage.order] == list(range(30))
    assert stage.scores["acme23", 0] == 1.0
    assert stage.scores["acme23", 29] == 0.0


def test_a_wavering_judge_and_one_that_is_not_to_be_stopped_are_asked_to_the_end() -> None:
    assert hold_rounds(entrants(40), panel(Wavering())).rounds == 5
    assert hold_rounds(entrants(40), panel(ByOrdinal(), early_stop=False)).rounds == 5
    assert hold_rounds(entrants(40), panel(Wavering(), rounds=1)).rounds == 1


def test_finalists_too_many_for_one_list_are_ranked_in_several_shuffled_ones() -> None:
    judge = ByOrdinal()
    stage = hold_rounds(entrants(30), panel(judge, list_fewest=10, list_most=10, early_stop=False))
    assert [len(listed) for listed in judge.lists] == [10] * 15
    assert len({tuple(sorted(listed)) for listed in judge.lists}) > 3
    assert [key[1] for key in stage.order[:2]] == [0, 1]
    assert sorted(key[1] for key in stage.order) == list(range(30))


def test_a_judge_that_fails_each_time_leaves_it_to_the_rules_and_the_trace_says_so() -> None:
    stage = hold_rounds(entrants(5), panel(Failing(), stand_in=ByOrdinal()))
    assert [key[1] for key in stage.order] == [0, 1, 2, 3, 4]
    assert stage.groups[0].note == "the judge failed 3 times (TimeoutError: no answer); the rules decided"
    assert stage.groups[0].attempt == 3


def test_a_judge_that_fails_once_ranks_at_the_second_attempt() -> None:
    stage = hold_rounds(entrants(5), panel(Failing(times=1)))
    assert stage.groups[0].attempt == 2
    assert stage.groups[0].note == "the judge failed 1 times (TimeoutError: no answer)"


def test_without_anyone_to_judge_words_decide() -> None:
    assert [key[1] for key in hold_rounds(entrants(4), panel(Failing())).order] == [0, 1, 2, 3]


def test_a_single_finalist() -> None:
    stage = hold_rounds(entrants(1), panel(ByOrdinal()))
    assert stage.order == (("acme23", 0),)
    assert stage.scores == {("acme23", 0): 1.0}
