"""What is indexed, in a few lines for a model."""

from __future__ import annotations

from collections.abc import Collection

from fin_agent.lexicon.fiscal import FiscalYears
from fin_agent.workspace import Workspace

_MOST_COMPANIES = 40


def filings_there(workspace: Workspace, doc_ids: Collection[str] | None = None) -> str:
    """A line for each company with its periods; of the filings `doc_ids` only, where these are given."""
    directory = workspace.directory
    lines = []
    for company in directory.companies:
        kept = [doc_id for doc_id in company.doc_ids if doc_ids is None or doc_id in doc_ids]
        if kept:
            filed = FiscalYears.of(company.name, (directory.identities[doc_id] for doc_id in kept))
            ticker = next((each.ticker for doc_id in kept if (each := directory.identities[doc_id]).ticker), None)
            lines.append(f"{company.name}{f' ({ticker})' if ticker else ''}: {filed.described()}")
    more = len(lines) - _MOST_COMPANIES
    if more > 0:
        lines = [*lines[:_MOST_COMPANIES], f"and {more} companies more: list_filings names them"]
    return "\n".join(lines) or "no filing"
