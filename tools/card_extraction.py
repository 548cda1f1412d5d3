"""Card extraction: what passages are about, over the fields questions ask by."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.card_making import CardMaker, MadeCard
from fin_agent.analyst.journal import warned
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.cards.facts import with_facts as joined_to_facts
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import PageKey
from fin_agent.workspace import Workspace


def extract_cards(
    passages: Sequence[RetrievedPassage],
    workspace: Workspace,
    *,
    with_facts: bool = False,
    maker: CardMaker | None = None,
) -> list[Card]:
    """The card of each passage, in their order: as made when its filing was ingested, or by `maker` from that.

    `with_facts` joins the figures that stand in each passage to its card; the index keeps them on their own.
    """
    cards = [made.card for made in made_cards(passages, workspace, maker)]
    return joined_to_facts(cards, workspace.index) if with_facts else cards


def made_cards(
    passages: Sequence[RetrievedPassage], workspace: Workspace, maker: CardMaker | None = None
) -> list[MadeCard]:
    """The same without facts, each with who made it. That cards stay as the rules made them is noted in the journal."""
    keys = list(dict.fromkeys(PageKey(passage.doc_id, passage.page) for passage in passages))
    stored = {(entry.doc_id, entry.passage.ordinal): entry.card for entry in workspace.index.passages(keys)}
    bases = [Card.model_validate_json(stored[passage.key]) for passage in passages]
    if maker is None:
        return [MadeCard(base, by_model=False) for base in bases]
    made: list[MadeCard] = []
    for base, passage in zip(bases, passages, strict=True):
        made.append(_not_asked(made[-1], base) if _given_up(made) else maker.made(base, passage.text))
    stayed = [one for one in made if not one.by_model]
    if stayed:
        warned(f"{len(stayed)} of {len(made)} cards are those of the rules: {stayed[0].notes[0]}")
    return made


_PATIENCE = 2
"""Passages in a row for which a model may be out of reach before it is left alone."""


def _given_up(made: Sequence[MadeCard]) -> bool:
    return len(made) >= _PATIENCE and all(one.out_of_reach for one in made[-_PATIENCE:])


def _not_asked(before: MadeCard, base: Card) -> MadeCard:
    return MadeCard(base, by_model=False, notes=before.notes, out_of_reach=True)
