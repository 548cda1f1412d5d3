"""Passages as a model is shown them: numbered, each with its filing, its period and its page."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.prompts import Quoted
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace

MOST_CHARACTERS = 6_000
"""Of a passage; those of the index are shorter, unless their words are very long."""


def shown_passages(passages: Sequence[RetrievedPassage], workspace: Workspace) -> list[Quoted]:
    """Each passage, and where it stands: `Acme Corp., 10-K, FY2023, page 4`."""
    return [Quoted(passage.text[:MOST_CHARACTERS], place_of(passage, workspace)) for passage in passages]


def place_of(passage: RetrievedPassage, workspace: Workspace) -> str:
    """Whose report a passage is from, of which period, and its page as people count them."""
    identity = workspace.directory.identities.get(passage.doc_id)
    if identity is None:
        return f"{passage.doc_id}, page {passage.page + 1}"
    parts = (identity.company, identity.form.value, _period(identity), f"page {passage.page + 1}")
    return ", ".join(part for part in parts if part)


def reporter_of(passage: RetrievedPassage, workspace: Workspace) -> str:
    """Whose report a passage is from, and of which period: `Acme Corp. FY2023`."""
    identity = workspace.directory.identities.get(passage.doc_id)
    return "" if identity is None else f"{identity.company} {_period(identity)}"


def _period(identity: Identity) -> str:
    quarter = f"Q{identity.quarter} " if identity.quarter else ""
    return f"{quarter}FY{identity.fiscal_year}" if identity.fiscal_year else ""
