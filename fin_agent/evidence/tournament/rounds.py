"""Stage 3: finalists are ranked in several shuffled rounds until the first places agree (FinCards, Section 4.3)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from fin_agent.evidence.tournament.aggregation import aggregated, in_order, jaccard
from fin_agent.evidence.tournament.entrants import Entrant
from fin_agent.evidence.tournament.judge import CardKey, Verdict
from fin_agent.evidence.tournament.listing import Panel, Ranked, reason_of
from fin_agent.evidence.tournament.settings import TournamentSettings
from fin_agent.evidence.trace import RankedGroup


@dataclass(frozen=True, slots=True)
class RoundStage:
    """What came of the rounds."""

    order: tuple[CardKey, ...]
    """The finalists, best first."""
    scores: Mapping[CardKey, float]
    """0 to 1."""
    verdicts: Mapping[CardKey, Verdict]
    """Of the last round."""
    rounds: int
    groups: tuple[RankedGroup, ...]


def hold_rounds(finalists: Sequence[Entrant], panel: Panel) -> RoundStage:
    """Rank the finalists up to `rounds` times; rounds end early once their first `top_k` hardly change.

    A round's lists are shuffled with its own seed; where the judge fails, with further ones, and after the last attempt
    the one who stands in ranks.
    """
    settings = panel.settings
    before = [entrant.key for entrant in finalists]
    held: list[list[tuple[CardKey, ...]]] = []
    told: list[RankedGroup] = []
    verdicts: dict[CardKey, Verdict] = {}
    scores: dict[CardKey, float] = {}
    order: list[CardKey] = list(before)
    for number in range(1, settings.rounds + 1):
        lists, notes, attempt = _round(finalists, panel, number)
        held.append([ranked.keys for ranked in lists])
        for ranked in lists:
            verdicts |= zip(ranked.keys, ranked.verdicts, strict=True)
        scores = aggregated(held, settings.aggregation, settings.top_k)
        earlier, order = order, in_order(scores, before)
        agreed = jaccard(earlier[: settings.top_k], order[: settings.top_k])
        ends = settings.early_stop and number > 1 and agreed >= settings.jaccard
        if number > 1:
            notes = [*notes, f"top {settings.top_k} agree ({agreed:.2f})"] if ends else notes
        told += [
            RankedGroup(
                stage="round",
                number=number,
                attempt=attempt,
                ranked=ranked.keys,
                finalists=len(ranked.keys),
                note="; ".join(notes),
            )
            for ranked in lists
        ]
        if ends:
            break
    return RoundStage(tuple(order), scores, verdicts, len(held), tuple(told))


def _round(finalists: Sequence[Entrant], panel: Panel, number: int) -> tuple[list[Ranked], list[str], int]:
    """The lists of one round as ranked, what went wrong, and the attempt that counted."""
    settings = panel.settings
    notes: list[str] = []
    for attempt in range(1, settings.attempts + 1):
        drawn = list(_drawn(finalists, settings, number, attempt))
        try:
            return [panel.rank(listed) for listed in drawn], notes, attempt
        except Exception as failure:  # a judge may fail in any way: the round is held again, shuffled
            notes = [f"the judge failed {attempt} times ({reason_of(failure)})"]
    instead = [panel.rank_instead(listed) for listed in drawn]
    return [ranked for ranked, _ in instead], [*notes, *dict.fromkeys(who for _, who in instead)], settings.attempts


def _drawn(
    finalists: Sequence[Entrant], settings: TournamentSettings, number: int, attempt: int
) -> Iterator[list[Entrant]]:
    """All finalists in one list, or where they are too many in several of about equal length."""
    dealt = list(finalists)
    if settings.shuffled:
        random.Random(f"round {settings.seed}.{number}.{attempt}").shuffle(dealt)
    lists = ceil(len(dealt) / settings.list_size)
    return (dealt[first::lists] for first in range(lists))
