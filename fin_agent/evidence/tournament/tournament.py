"""The tournament: words admit passages, groups select finalists, rounds settle the order (FinCards, Section 3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fin_agent.evidence.cards.card import Card, ClaimRole, Use
from fin_agent.evidence.evidence import RankedGroup
from fin_agent.evidence.field_alignment import matched_fields, required_fields
from fin_agent.evidence.tournament.judge import (
    Brief,
    CardKey,
    Judge,
    TournamentSettings,
    mask_card,
    reduce_card,
)
from fin_agent.evidence.tournament.stages import (
    Entrant,
    GroupStage,
    JudgePanel,
    RoundStage,
    rank_by_words,
    run_group_stage,
    run_round_stage,
)
from fin_agent.index.protocol import FilingIndex, StoredPassage
from fin_agent.lexicon.lexicon import Lexicon

USUAL_SETTINGS = TournamentSettings()


class Stage(StrEnum):
    """The stages whose orders are recorded."""

    WORDS = "words"
    GROUPS = "groups"
    ROUNDS = "rounds"


@dataclass(frozen=True, slots=True)
class RankedCard:
    """A passage with its result."""

    key: CardKey
    score: float
    """Score of the rounds, 0 to 1; 0 for passages that were no finalists."""
    fields: tuple[str, ...]
    """Fields of its card that match the question's."""
    stage: Stage
    """The last stage that it reached."""


@dataclass(frozen=True, slots=True)
class TournamentResult:
    """All passages in order, with the record of the stages."""

    ranked: tuple[RankedCard, ...]
    """All candidates, best first."""
    orders: Mapping[Stage, tuple[CardKey, ...]]
    """The order of all candidates after each stage."""
    groups: tuple[RankedGroup, ...]
    """Groups of stages 2 and 3, in order."""
    rounds: int
    notes: tuple[str, ...]


def run_tournament(
    brief: Brief,
    passages: Sequence[StoredPassage],
    index: FilingIndex,
    lexicon: Lexicon,
    judge: Judge,
    *,
    fallback: Judge | None = None,
    settings: TournamentSettings = USUAL_SETTINGS,
) -> TournamentResult:
    """Rank passages; deterministic for equal settings.

    Args:
        brief: The question's context.
        passages: The passages to rank; duplicates are dropped.
        index: The index with their words.
        lexicon: Labels of metrics.
        judge: Ranks lists of cards.
        fallback: Ranks what `judge` cannot after several attempts; without one, words decide.
        settings: Sizes and thresholds.

    Returns:
        Every passage once, best first, with the order after each stage.
    """
    unique = {(stored.doc_id, stored.passage.ordinal): stored for stored in passages}
    scored = rank_by_words(brief.query, list(unique.values()), index, lexicon)
    let_in = scored[: settings.admitted_count(len(scored))]
    entrants = []
    for key, words in let_in:
        card = Card.model_validate_json(unique[key].card)
        entrants.append(Entrant(reduce_card(card, unique[key].passage.text, settings.shown), words))
    brief = replace(brief, words={} if settings.cards_only else dict(let_in))
    required = required_fields(brief.query, brief.intent.parts)
    fields = {}
    for entrant in entrants:
        card = mask_card(entrant.card, settings.hidden)
        fields[entrant.key] = *matched_fields(card, required, brief.owners), *_quota(card, brief.intent.use)
    panel = JudgePanel(brief, judge, fallback, settings)
    if entrants and settings.screened:
        groups = run_group_stage(entrants, fields, panel)
    else:
        groups = GroupStage(tuple(entrants), tuple(entrants), {}, ())
    rounds = run_round_stage(groups.finalists, panel) if entrants else _NO_ROUNDS
    by_words = tuple(key for key, _ in scored)
    after_groups = tuple(dict.fromkeys([*(entrant.key for entrant in groups.order), *by_words]))
    after_rounds = tuple(dict.fromkeys([*rounds.order, *after_groups]))
    verdicts = {**groups.verdicts, **rounds.verdicts}
    ranked = []
    for key in after_rounds:
        of_card = (verdicts[key].fields or fields[key]) if key in verdicts else ()
        met = Stage.GROUPS if key in verdicts else Stage.WORDS
        stage = Stage.ROUNDS if key in rounds.scores else met
        ranked.append(RankedCard(key, rounds.scores.get(key, 0.0), of_card, stage))
    orders = {Stage.WORDS: by_words, Stage.GROUPS: after_groups, Stage.ROUNDS: after_rounds}
    return TournamentResult(tuple(ranked), orders, (*groups.groups, *rounds.groups), rounds.rounds, groups.notes)


def _quota(card: Card, use: Use) -> tuple[str, ...]:
    """Return the quota that a card meets for a use, as a required field (FinCards, Section 3.4.3)."""
    if use in (Use.TREND, Use.COMPARISON):
        return ("quota: dated table",) if card.verifiability.table is not None and card.time.periods else ()
    if use in (Use.DEFINITION, Use.POLICY):
        return ("quota: explanation",) if card.role in _EXPLANATORY else ()
    return ()


_EXPLANATORY = (ClaimRole.DEFINES, ClaimRole.SETS_POLICY, ClaimRole.EXPLAINS)


_NO_ROUNDS = RoundStage((), {}, {}, 0, ())
