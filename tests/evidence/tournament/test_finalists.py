"""Finalists of a group: near the best, within bounds, and no field asked for is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fin_agent.evidence.tournament.tournament import TournamentSettings, select_finalists

SETTINGS = TournamentSettings(k_min=2, k_max=4, near_best=0.5)
NOTHING: list[tuple[str, ...]] = [()] * 6


def test_those_near_the_best_go_on_within_the_bounds() -> None:
    assert select_finalists([10.0, 6.0, 5.0, 4.9, 1.0, 0.0], NOTHING, SETTINGS)[0] == (0, 1, 2)
    assert select_finalists([10.0, 1.0, 1.0, 1.0, 1.0, 1.0], NOTHING, SETTINGS)[0] == (0, 1)
    assert select_finalists([9.0] * 6, NOTHING, SETTINGS)[0] == (0, 1, 2, 3)


def test_a_group_sends_three_to_ten_of_those_with_half_of_the_best_score() -> None:
    usual = TournamentSettings()
    of_a_model = [*range(100, 0, -4)]
    assert len(of_a_model) == usual.group_size == 25
    fields: list[tuple[str, ...]] = [()] * 25
    assert len(select_finalists([*map(float, of_a_model)], fields, usual)[0]) == 10, "thirteen have 50 or more"
    assert select_finalists([100.0, 80.0, 60.0, 51.0, 50.0, 49.0], fields[:6], usual)[0] == (0, 1, 2, 3, 4)
    assert select_finalists([100.0, *[0.0] * 24], fields, usual)[0] == (0, 1, 2)


def test_without_scores_as_many_as_may_go_on() -> None:
    assert select_finalists([None] * 6, NOTHING, SETTINGS)[0] == (0, 1, 2, 3)
    assert select_finalists([None] * 2, NOTHING, SETTINGS)[0] == (0, 1)


def test_the_only_card_with_a_field_goes_on_in_place_of_the_last_who_has_nothing_of_his_own() -> None:
    fields = [("time: FY2023",), ("metrics: revenue",), (), ("time: FY2023",), (), ("metrics: net_income",)]
    places, lost = select_finalists([9.0, 9.0, 9.0, 9.0, 9.0, 1.0], fields, SETTINGS)
    assert places == (0, 1, 2, 5)
    assert lost == ()


def test_fields_beyond_what_the_places_can_hold_are_named_as_lost() -> None:
    fields = [(f"metrics: m{number}",) for number in range(6)]
    places, lost = select_finalists([9.0] * 6, fields, SETTINGS)
    assert places == (0, 1, 2, 3)
    assert lost == ("metrics: m4", "metrics: m5")


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.frozensets(st.sampled_from("abcdefgh"), max_size=3)), min_size=1, max_size=30
    ),
    st.integers(1, 5),
    st.integers(0, 6),
)
def test_quotas_hold_or_the_loss_is_named(group: list[tuple[float, frozenset[str]]], k_min: int, more: int) -> None:
    ranked = sorted(group, key=lambda each: -each[0])
    settings = TournamentSettings(k_min=k_min, k_max=k_min + more)
    places, lost = select_finalists([score for score, _ in ranked], [sorted(fields) for _, fields in ranked], settings)
    assert len(set(places)) == len(places) <= settings.k_max
    assert len(places) >= min(settings.k_min, len(group))
    held = {field for place in places for field in ranked[place][1]}
    assert held | set(lost) == {field for _, fields in group for field in fields}
    assert held.isdisjoint(lost)
    if not lost:
        return
    assert len(places) == settings.k_max, "a field may be lost only where all places are taken"
