"""A filing that is not in the index, and which ones may be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

from fin_agent.errors import FilingIndexError

_NEAR = 0.65
_SAME_START = 0.5
"""How alike the first words have to be: years and forms are alike in the names of all companies."""
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
    >>> names_near("AAPL_2022_10K", ["NKE_2022_10K"])
    []
    """
    folded: dict[str, list[str]] = {}
    for name in sorted(names):
        folded.setdefault(name.casefold(), []).append(name)
    if same := folded.get(doc_id.casefold()):
        return same
    wanted = doc_id.casefold()
    likely = [each for each in folded if _start_alike(wanted, each)]
    return [folded[each][0] for each in get_close_matches(wanted, likely, n=_MOST, cutoff=_NEAR)]


def _start_alike(one: str, other: str) -> bool:
    first, second = (re.split(r"[\W\d_]", name.lstrip("_"), maxsplit=1)[0] for name in (one, other))
    return not (first and second) or SequenceMatcher(None, first, second).ratio() >= _SAME_START
