"""Stage 2: who meets whom, who goes on, and what happens where a judge fails."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.tournament import (
    Brief,
    Judge,
    JudgePanel,
    TournamentSettings,
    Verdict,
    run_group_stage,
)
from tests.evidence.tournament.entered import ByOrdinal, Failing, Saying, brief, entrants

SETTINGS = TournamentSettings(group_size=5, k_min=1, k_max=3)


def panel(judge: Judge, settings: TournamentSettings = SETTINGS, fallback: Judge | None = None) -> JudgePanel:
    return JudgePanel(brief(), judge, fallback, settings)


def test_everyone_meets_once_in_groups_of_about_equal_size() -> None:
    judge = ByOrdinal()
    run_group_stage(entrants(23), {}, panel(judge))
    assert sorted(map(len, judge.lists)) == [4, 4, 5, 5, 5]
    assert sorted(ordinal for listed in judge.lists for ordinal in listed) == list(range(23))


def test_the_first_of_all_groups_come_before_the_second_of_any() -> None:
    stage = run_group_stage(entrants(20), {}, panel(ByOrdinal()))
    winners = {group.ranked[0] for group in stage.groups}
    assert {entrant.key for entrant in stage.order[:4]} == winners
    assert [entrant.key[1] for entrant in stage.order[:4]] == sorted(key[1] for key in winners)
    assert {entrant.key for entrant in stage.finalists} == {
        key for group in stage.groups for key in group.ranked[: group.finalists]
    }


def test_groups_are_dealt_in_turn_so_that_each_holds_good_middling_and_poor_ones() -> None:
    judge = ByOrdinal()
    run_group_stage(entrants(20), {}, panel(judge, SETTINGS.model_copy(update={"seed": 7})))
    assert judge.lists[:2] == [[0, 4, 8, 12, 16], [1, 5, 9, 13, 17]]


def test_scores_of_groups_compare_and_equals_go_by_their_words() -> None:
    class Scoring(ByOrdinal):
        def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
            scores = [90.0 if card.identity.ordinal in (13, 2) else 40.0 for card in cards]
            return [Verdict(at, scores[at]) for at in sorted(range(len(cards)), key=lambda at: -scores[at])]

    stage = run_group_stage(entrants(20), {}, panel(Scoring()))
    assert [entrant.key[1] for entrant in stage.order] == [2, 13, 0, 1, *(at for at in range(3, 20) if at != 13)]


def test_a_failing_judge_meets_shuffled_groups_and_then_the_rules_decide() -> None:
    stage = run_group_stage(entrants(10), {}, panel(Failing(), fallback=ByOrdinal()))
    assert [group.attempt for group in stage.groups] == [1, 1, 2, 2, 3, 3]
    first, last = stage.groups[0], stage.groups[-1]
    assert first.note == "the judge failed (TimeoutError: no answer); shuffled anew"
    assert last.note == "the judge failed (TimeoutError: no answer); the rules decided"
    assert {key for group in stage.groups[4:] for key in group.ranked} == {("acme23", at) for at in range(10)}
    assert len({group.ranked for group in stage.groups}) > 2, "groups are shuffled between attempts"
    assert all(list(group.ranked) == sorted(group.ranked) for group in stage.groups[4:])


def test_a_judge_that_recovers_is_asked_no_more() -> None:
    stage = run_group_stage(entrants(10), {}, panel(Failing(times=1)))
    assert [(group.attempt, bool(group.note)) for group in stage.groups] == [
        (1, True), (1, False), (2, False), (2, False),
    ]  # fmt: skip


def test_rubbish_without_a_fallback_leaves_the_order_of_words() -> None:
    stage = run_group_stage(entrants(6), {}, panel(Saying(Verdict(99))))
    assert "the order of words decided" in stage.groups[-1].note
    winners = sorted(group.ranked[0][1] for group in stage.groups[-2:])
    assert [entrant.key[1] for entrant in stage.order[:2]] == winners


def test_a_card_with_a_field_of_its_own_goes_on_from_the_last_place() -> None:
    fields = {("acme23", 19): ("metrics: revenue",)}
    stage = run_group_stage(entrants(20), fields, panel(ByOrdinal()))
    assert ("acme23", 19) in {entrant.key for entrant in stage.finalists}
    assert not stage.notes


def test_quotas_that_no_shuffling_can_meet_are_said_and_met_from_outside_the_places() -> None:
    fields = {("acme23", at): (f"metrics: m{at}",) for at in range(5)}
    stage = run_group_stage(entrants(5), fields, panel(ByOrdinal()))
    assert [group.attempt for group in stage.groups] == [1, 2, 3]
    assert stage.groups[-1].note == "no finalist for metrics: m3, metrics: m4"
    assert len(stage.finalists) == 5
    assert stage.notes == (
        "acme23, passage 3 goes on for metrics: m3",
        "acme23, passage 4 goes on for metrics: m4",
    )


@tried(max_examples=40, deadline=None)
@given(
    st.integers(1, 60),
    st.dictionaries(st.integers(0, 59), st.frozensets(st.sampled_from("abcdefgh"), min_size=1), max_size=20),
    st.integers(0, 3),
)
def test_every_field_asked_for_keeps_someone_in_the_final(
    count: int, held: dict[int, frozenset[str]], seed: int
) -> None:
    fields = {("acme23", at): tuple(sorted(of_card)) for at, of_card in held.items() if at < count}
    stage = run_group_stage(entrants(count), fields, panel(ByOrdinal(), SETTINGS.model_copy(update={"seed": seed})))
    assert sorted(entrant.key[1] for entrant in stage.order) == list(range(count))
    kept = {field for entrant in stage.finalists for field in fields.get(entrant.key, ())}
    assert kept == {field for of_card in fields.values() for field in of_card}
