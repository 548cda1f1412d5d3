"""A filing that is not in the index, and which ones may be meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from fin_agent.errors import FilingIndexError

_NEAR = 0.65
_MOST = 3


def not_indexed(doc_id: str, names: Iterable[str]) -> FilingIndexError:
    """The error for a filing that is asked for and not there; `names` are those that are."""
    near = names_near(doc_id, names)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return FilingIndexError(
        "this filing is not in the index", subject=doc_id, remedy=f"{meant}`fin-agent filings` lists those that are"
    )


def names_near(doc_id: str, names: Iterable[str]) -> list[str]:
    """Names that differ in capitals alone, else the few that are most alike.

    >>> names_near("AAPL_2023", ["AAPL_2023_10K", "NKE_2022_10K"])
    ['AAPL_2023_10K']
    """
    folded: dict[str, list[str]] = {}
    for name in sorted(names):
        folded.setdefault(name.casefold(), []).append(name)
    if same := folded.get(doc_id.casefold()):
        return same
    return [folded[each][0] for each in get_close_matches(doc_id.casefold(), list(folded), n=_MOST, cutoff=_NEAR)]
