"""The judge that needs no model: cards ranked by how their fields align with the question's (FinCards, Section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources

import yaml
from pydantic import TypeAdapter, ValidationError

from fin_agent.analyst.rules.card_features import MEANINGS, Aligned, aligned
from fin_agent.errors import LexiconError
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.field_alignment import matched_fields, required_fields
from fin_agent.evidence.tournament.judge import Brief, Verdict
from fin_agent.lexicon.slots import Slot
from fin_agent.workspace import Workspace

JudgeWeights = Mapping[str, float]
"""A weight for every field of `MEANINGS`."""
_PACKAGED = "judge_weights.yaml"
_FILE = TypeAdapter(dict[str, float])


class RulesJudge:
    """See `Judge`. Deterministic, and blind to the order in which cards are given.

    Cards are taken one at a time, each the best beside those taken before it: a figure that a card of another page
    holds counts no more, so that the first pages together cover as many slots as they can.
    """

    def __init__(self, workspace: Workspace, weights: JudgeWeights | None = None) -> None:
        self._workspace = workspace
        self._weights = packaged_weights() if weights is None else weights

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        """See Judge.rank."""
        listed = sorted(range(len(cards)), key=lambda at: (cards[at].identity.doc_id, cards[at].identity.ordinal))
        found = aligned([cards[at] for at in listed], brief, self._workspace)
        required = required_fields(brief.query, brief.intent.parts)
        return [
            Verdict(listed[at], round(score, 6), matched_fields(cards[listed[at]], required, brief.owners))
            for at, score in greedy_select(found, self._weights)
        ]


def greedy_select(cards: Sequence[Aligned], weights: JudgeWeights) -> list[tuple[int, float]]:
    """(place as given, score) of each card, in the order they are taken.

    The cards of a page keep the scores they had when the first of them was taken: they stand or fall with it.
    """
    own = [sum(weights[name] * value for name, value in card.features.items()) for card in cards]
    best_held: dict[Slot, float] = {}
    met: set[tuple[str, int]] = set()
    scores: dict[int, float] = {}
    left = set(range(len(cards)))
    taken: list[tuple[int, float]] = []
    while left:
        for at in left:
            if at not in scores or (cards[at].slots and cards[at].page not in met):
                scores[at] = own[at] + weights["slots"] * slot_gain(cards[at], best_held)
        chosen = min(left, key=lambda at: (-round(scores[at], 9), at))
        taken.append((chosen, scores[chosen]))
        left.remove(chosen)
        met.add(cards[chosen].page)
        for slot, worth in cards[chosen].slots.items():
            best_held[slot] = max(worth, best_held.get(slot, 0.0))
    return taken


def slot_gain(card: Aligned, best_held: Mapping[Slot, float]) -> float:
    """0 for a card that adds no figure, near 1 for one that adds many: even one figure more is worth a place."""
    added = sum(max(0.0, worth - best_held.get(slot, 0.0)) for slot, worth in card.slots.items())
    return added / (1.0 + added)


@lru_cache(maxsize=1)
def packaged_weights() -> JudgeWeights:
    """The weights of this package. Raises LexiconError where the file does not name each field once."""
    text = resources.files(__package__).joinpath(_PACKAGED).read_text(encoding="utf-8")
    remedy = f"Give a number for each of: {', '.join(MEANINGS)}"
    try:
        weights = _FILE.validate_python(yaml.safe_load(text))
    except (yaml.YAMLError, ValidationError) as error:
        raise LexiconError(f"no weights can be read from it ({error})", subject=_PACKAGED, remedy=remedy) from error
    if weights.keys() != MEANINGS.keys():
        odd = ", ".join(sorted(weights.keys() ^ MEANINGS.keys()))
        raise LexiconError(f"missing or unknown fields: {odd}", subject=_PACKAGED, remedy=remedy)
    return {name: weights[name] for name in MEANINGS}
