"""What an oracle lets a search of one question retrieve."""

from __future__ import annotations

from collections.abc import Collection

from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.oracle import Oracle
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.query import EVERYTHING, Scope


def allowed(question: FinanceBenchQuestion, oracle: Oracle, indexed: Collection[str]) -> Scope | None:
    """What may be retrieved for `question` of the filings `indexed`; None where no gold filing is among them."""
    if oracle is Oracle.NONE:
        return EVERYTHING
    pages = tuple(PageKey(*page) for page in question.pages if page[0] in indexed)
    if not pages:
        return None
    if oracle is Oracle.PAGE:
        return Scope(pages=pages)
    return Scope(doc_ids=tuple(dict.fromkeys(page.doc_id for page in pages)))
