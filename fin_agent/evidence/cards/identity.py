"""Whose passage it is and where it stands: the identity of a card."""

from __future__ import annotations

from fin_agent.evidence.cards.card import CardIdentity
from fin_agent.evidence.cards.sources import PassageSource


def identity_of(source: PassageSource, heading: str) -> CardIdentity:
    """The filing, page, Item, statement and note of a passage, under `heading`."""
    identity, page = source.identity, source.page
    return CardIdentity(
        doc_id=source.doc_id,
        page=source.passage.page,
        ordinal=source.passage.ordinal,
        company=identity.company,
        form=identity.form,
        fiscal_year=identity.fiscal_year,
        quarter=identity.quarter,
        item=page.item,
        statement=page.statement,
        table_kind=page.kind,
        note=page.note,
        heading=heading,
    )
