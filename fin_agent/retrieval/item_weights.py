"""Weights of the Items of a filing for a question."""

from __future__ import annotations

from collections.abc import Callable

from fin_agent.filings.outline.items import COVER
from fin_agent.index.protocol import FilingRecord
from fin_agent.retrieval.search_query import Query
from fin_agent.vocabulary.identity import Form

_EXHIBITS = "9.01"
_BODY = 0.6
"""Weight of an Item of an 8-K other than those that the query names; 1 where the query names none."""


def item_weights(query: Query, record: FilingRecord) -> Callable[[str | None], float]:
    """Return a function from Item to weight: 1 for the first Item the query names, less for those after it.

    An 8-K is short: every Item except its list of exhibits is relevant.
    """
    prefix = f"{record.identity.form.value}."
    named = [item.removeprefix(prefix) for item in query.items if item.startswith(prefix)]
    names = list(dict.fromkeys(name.replace("II.", "II-").removeprefix("I.") for name in named))
    worth = {name: 1.0 / (1 + rank) for rank, name in enumerate(names)}
    eight_k = record.identity.form is Form.EIGHT_K

    def of(item: str | None) -> float:
        if eight_k and item not in (None, _EXHIBITS, COVER):
            return max(_BODY, worth.get(item or "", 0.0)) if worth else 1.0
        return worth.get(item or "", 0.0)

    return of
