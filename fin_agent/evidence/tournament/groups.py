"""Stage 2: groups of cards meet, and the finalists of each go on (FinCards, Section 4.2)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from fin_agent.evidence.tournament.entrants import Entrant
from fin_agent.evidence.tournament.finalists import selected
from fin_agent.evidence.tournament.judge import CardKey, Verdict
from fin_agent.evidence.tournament.listing import Panel, Ranked, reason_of
from fin_agent.evidence.tournament.settings import TournamentSettings
from fin_agent.evidence.trace import RankedGroup


@dataclass(frozen=True, slots=True)
class GroupStage:
    """What came of the groups."""

    order: tuple[Entrant, ...]
    """All entrants: first of their group, second of their group and so on; equals by their words."""
    finalists: tuple[Entrant, ...]
    """Those who go on, in that order."""
    verdicts: Mapping[CardKey, Verdict]
    groups: tuple[RankedGroup, ...]
    """Of every attempt, in the order they met."""
    notes: tuple[str, ...] = ()


def hold_groups(entrants: Sequence[Entrant], fields: Mapping[CardKey, tuple[str, ...]], panel: Panel) -> GroupStage:
    """Groups of about equal size, shuffled, each ranked by the judge; `entrants` come best words first.

    `fields` are the required fields each card has: none may lose all who have it (quotas). Where a judge fails or a
    quota cannot be met, all are shuffled anew with the next seed; after the last attempt the one who stands in ranks
    what the judge cannot, and quotas are met as far as they can.
    """
    settings = panel.settings
    told: list[RankedGroup] = []
    for attempt in range(1, settings.attempts + 1):
        last = attempt == settings.attempts
        met = [
            _met(number, attempt, group, fields, panel, last)
            for number, group in enumerate(_drawn(entrants, settings, attempt), start=1)
        ]
        told += [group.told for group in met]
        if last or not any(group.failed for group in met):
            break
    return _stage(met, entrants, fields, told)


@dataclass(frozen=True, slots=True)
class _Met:
    ranked: Ranked
    through: tuple[int, ...]
    told: RankedGroup
    failed: bool


def _drawn(entrants: Sequence[Entrant], settings: TournamentSettings, attempt: int) -> Iterator[list[Entrant]]:
    """Dealt one by one to as many groups as are needed, so that no two differ by more than one card."""
    dealt = list(entrants)
    if settings.shuffled:
        random.Random(f"groups {settings.seed + attempt - 1}").shuffle(dealt)
    groups = ceil(len(dealt) / settings.group_size)
    return (dealt[number::groups] for number in range(groups))


def _met(
    number: int,
    attempt: int,
    group: Sequence[Entrant],
    fields: Mapping[CardKey, tuple[str, ...]],
    panel: Panel,
    last: bool,
) -> _Met:
    note, failed = "", False
    try:
        ranked = panel.rank_group(group)
    except Exception as failure:  # a judge may fail in any way: the group meets again, shuffled
        ranked, decided = panel.rank_instead(group)
        note, failed = f"the judge failed ({reason_of(failure)})", True
        note += f"; {decided}" if last else "; shuffled anew"
    selection = selected(
        [verdict.score for verdict in ranked.verdicts],
        [fields.get(entrant.key, ()) for entrant in ranked.entrants],
        panel.settings,
    )
    if selection.lost and not failed:
        failed = True
        note = f"no finalist for {', '.join(selection.lost)}" + ("" if last else "; shuffled anew")
    told = RankedGroup(
        stage="group",
        number=number,
        attempt=attempt,
        ranked=ranked.keys,
        finalists=len(selection.places),
        note=note,
    )
    return _Met(ranked, selection.places, told, failed)


def _stage(
    met: Sequence[_Met],
    entrants: Sequence[Entrant],
    fields: Mapping[CardKey, tuple[str, ...]],
    told: Sequence[RankedGroup],
) -> GroupStage:
    words = {entrant.key: place for place, entrant in enumerate(entrants)}
    places = {key: place for group in met for place, key in enumerate(group.ranked.keys)}
    order = sorted(entrants, key=lambda entrant: (places[entrant.key], words[entrant.key]))
    through = {group.ranked.entrants[place].key for group in met for place in group.through}
    notes: list[str] = []
    held = {field for key in through for field in fields.get(key, ())}
    for entrant in order:
        # A field lost in its own group may still be had: no quota is given up that anyone can meet.
        gained = [field for field in fields.get(entrant.key, ()) if field not in held]
        if gained:
            through.add(entrant.key)
            held.update(gained)
            notes.append(f"{entrant.key[0]}, passage {entrant.key[1]} goes on for {', '.join(gained)}")
    verdicts = {
        entrant.key: verdict
        for group in met
        for entrant, verdict in zip(group.ranked.entrants, group.ranked.verdicts, strict=True)
    }
    finalists = tuple(entrant for entrant in order if entrant.key in through)
    return GroupStage(tuple(order), finalists, verdicts, tuple(told), tuple(notes))
