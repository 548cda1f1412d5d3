"""Who goes on from a group: the best, and for every field asked for one who has it (FinCards, Section 4.2: quotas)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.evidence.tournament.settings import TournamentSettings


@dataclass(frozen=True, slots=True)
class Selection:
    """The finalists of a group."""

    places: tuple[int, ...]
    """Places in the group's ranking, ascending."""
    lost: tuple[str, ...] = ()
    """Fields that some card of the group has and no finalist: more are asked for than `k_max` cards can hold."""


def selected(
    scores: Sequence[float | None], fields: Sequence[Sequence[str]], settings: TournamentSettings
) -> Selection:
    """The finalists of a group whose cards, best first, were given `scores` and have these required `fields`.

    Those that score nearly as well as the best, at least `k_min` and at most `k_max`; the last of them give way to
    cards with fields that no other finalist has. Where there are no scores, `k_max`.
    """
    chosen = list(range(min(_near_best(scores, settings), len(scores))))
    wanted = dict.fromkeys(field for of_card in fields for field in of_card)
    while missing := [field for field in wanted if not any(field in fields[place] for place in chosen)]:
        outside = [place for place in range(len(scores)) if place not in chosen]
        joining = max(outside, key=lambda place: (sum(field in fields[place] for field in missing), -place))
        if len(chosen) >= settings.k_max:
            leaving = _dispensable(chosen, joining, fields)
            if leaving is None:
                return Selection(tuple(sorted(chosen)), tuple(missing))
            chosen.remove(leaving)
        chosen.append(joining)
    return Selection(tuple(sorted(chosen)))


def _near_best(scores: Sequence[float | None], settings: TournamentSettings) -> int:
    known = [score for score in scores if score is not None]
    if not known:
        return settings.k_max
    enough = sum(score > 0 and score >= settings.near_best * max(known) for score in known)
    return max(settings.k_min, min(settings.k_max, enough))


def _dispensable(chosen: Sequence[int], joining: int, fields: Sequence[Sequence[str]]) -> int | None:
    """The lowest of the chosen without whom, once `joining` is in, no field is lost."""
    for place in sorted(chosen, reverse=True):
        kept = {field for other in (*chosen, joining) if other != place for field in fields[other]}
        if kept.issuperset(fields[place]):
            return place
    return None
