"""Resolve names given by callers: an index by folder or cluster address, filings by doc_id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import redacted_address
from fin_agent.index.protocol import FilingIndex

_ADDRESS = re.compile(r"^(https?):/+(.*)$", re.I | re.S)
_WITHOUT_SCHEME = re.compile(r"(?:.*@)?(?:\[[\da-f:.]+\]|[\w.-]{2,}):\d{2,5}(?:/.*)?", re.I | re.S)
"""An address without a scheme, such as `127.0.0.1:9200/filings`, which is rarely the name of a folder."""


def open_index(place: Path | str) -> FilingIndex:
    """Open the index in a folder, or at `https://host:9200/prefix`.

    Raises:
        FilingIndexError: There is none, it cannot be reached or read, or the client for clusters is missing.
    """
    return _opened(place)


def create_index(place: Path | str) -> FilingIndex:
    """Open the index in a folder or on a cluster, creating it where there is none."""
    return _opened(place, create=True)


def _opened(place: Path | str, *, create: bool = False) -> FilingIndex:
    address = address_of(place)
    if address is None:
        from fin_agent.index.sqlite import SqliteIndex  # imports this module, as the other

        return SqliteIndex.create(place) if create else SqliteIndex(place)
    from fin_agent.index.elastic.index import ElasticIndex

    return ElasticIndex(address, create=create)


def address_of(place: Path | str) -> str | None:
    """Return the cluster address that `place` is, or None for a folder.

    A Path turns `https://host/x` into `https:/host/x`; both are accepted.

    Raises:
        FilingIndexError: The text is ambiguous: a host with a port but without `https://`.

    >>> address_of(Path("https://localhost:9200/filings"))
    'https://localhost:9200/filings'
    """
    found = _ADDRESS.match(str(place))
    if found is None and _WITHOUT_SCHEME.fullmatch(str(place)) and not Path(place).exists():
        named = redacted_address(str(place))
        folder = Path.cwd() / named
        raise FilingIndexError(
            "this may mean a folder on this machine or a cluster",
            subject=named,
            remedy=f"For a cluster give https://{named} (or http://); for a folder its whole path, {folder}",
        )
    return f"{found[1].lower()}://{found[2]}" if found else None


def place_of(index: object, otherwise: Path) -> str:
    """Return the location with which an index can be opened again: its address, otherwise the folder `otherwise`."""
    address = getattr(index, "address", None)
    return str(otherwise.resolve()) if address is None else str(address)


def chosen_filings(doc_ids: Sequence[str] | None, index: FilingIndex) -> tuple[str, ...] | None:
    """Return each doc_id once; None for all.

    Raises:
        FilingIndexError: A filing is not indexed, or the list is empty, which does not mean all.
    """
    if doc_ids is None:
        return None
    if isinstance(doc_ids, str) or not doc_ids:
        raise FilingIndexError(
            "no filing may be read: `doc_ids` names none" if not doc_ids else "`doc_ids` is a list of ids",
            subject=str(doc_ids),
            remedy="Give the filings that may be read as a list; leave `doc_ids` out where all may be",
        )
    for doc_id in doc_ids:
        index.filing(doc_id)
    return tuple(dict.fromkeys(doc_ids))


def not_indexed(doc_id: str, names: Iterable[str]) -> FilingIndexError:
    """Return the error for a filing that is not in the index; `names` are those that are."""
    near = similar_names(doc_id, names)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return FilingIndexError(
        "this filing is not in the index", subject=doc_id, remedy=f"{meant}`fin-agent filings` lists those that are"
    )


def similar_names(doc_id: str, names: Iterable[str]) -> list[str]:
    """Return names that differ only in case, otherwise the most similar ones.

    >>> similar_names("AAPL_2023", ["AAPL_2023_10K", "NKE_2022_10K"])
    ['AAPL_2023_10K']
    >>> similar_names("AAPL_2022_10K", ["NKE_2022_10K"])
    []
    """
    by_folded = {name.casefold(): name for name in sorted(names)}
    wanted = doc_id.casefold()
    if wanted in by_folded:
        return [by_folded[wanted]]
    # Years and forms are alike in the names of all companies: others have to be near.
    return [by_folded[near] for near in get_close_matches(wanted, by_folded, n=3, cutoff=0.75)]
