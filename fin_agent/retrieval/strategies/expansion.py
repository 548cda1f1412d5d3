"""`query-expansion`: the question's words, and at half their weight what the lexicon says filings call the same."""

from __future__ import annotations

from fin_agent.retrieval.query import Query
from fin_agent.retrieval.strategies.ranking import Wording


def expanded(query: Query) -> Wording:
    """The question, with the synonyms that its query brings along."""
    return Wording((query.text,), query.expansions)
