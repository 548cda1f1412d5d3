"""`query-expansion`: all words of the question, and at half their weight what filings write for the same."""

from __future__ import annotations

from collections.abc import Iterable

from fin_agent.retrieval.query import Query
from fin_agent.retrieval.strategies.ranking import Wording
from fin_agent.retrieval.terms import stems_of


def expanded(query: Query) -> Wording:
    """The question as `bm25` searches for it, company and year among its words, with its expansions and synonyms.

    Each of these counts once however it is written or inflected, as a word of the question does: what the lexicon lists
    in several forms (`Net revenue`, `net revenues`) would weigh more than the question itself.
    """
    return Wording((query.text,), _each_once((*query.expansions, *query.synonyms)))


def _each_once(phrases: Iterable[str]) -> tuple[str, ...]:
    first: dict[tuple[str, ...], str] = {}
    for phrase in phrases:
        first.setdefault(tuple(stems_of(phrase)) or (phrase.lower(),), phrase)
    return tuple(first.values())
