"""An index opened by where it is: a folder on this machine, or the address of a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import shown
from fin_agent.index.sqlite import SqliteIndex

if TYPE_CHECKING:
    from fin_agent.index.elastic.index import ElasticIndex

AnyIndex: TypeAlias = "SqliteIndex | ElasticIndex"

_ADDRESS = re.compile(r"^(https?|cloud):/+(.*)$", re.I | re.S)
_WITHOUT_SCHEME = re.compile(r"(?:.*@)?(?:\[[\da-f:.]+\]|[\w.-]{2,}):\d{2,5}(?:/.*)?", re.I | re.S)
"""`127.0.0.1:9200/filings`: a folder may be called so, and hardly ever is."""


def open_index(place: Path | str) -> AnyIndex:
    """The index in a folder, or at `https://host:9200/prefix`.

    Raises FilingIndexError where there is none, it cannot be reached or read, or the client for a cluster is missing.
    """
    address = address_of(place)
    if address is None:
        return SqliteIndex(Path(place))
    return _elastic()(address)


def create_index(place: Path | str) -> AnyIndex:
    """The index in a folder or on a cluster, made where there is none."""
    address = address_of(place)
    if address is None:
        return SqliteIndex.create(Path(place))
    return _elastic().create(address)


def address_of(place: Path | str) -> str | None:
    """The address that an index was given as, or None for a folder.

    A command line takes paths, and a Path holds `https://host/x` as `https:/host/x`: both are understood. Raises
    FilingIndexError for what may be meant as either: a host with its port and no `https://`.

    >>> address_of(Path("https://localhost:9200/filings"))
    'https://localhost:9200/filings'
    """
    found = _ADDRESS.match(str(place))
    if found is None and _WITHOUT_SCHEME.fullmatch(str(place)) and not Path(place).exists():
        named = shown(str(place))
        folder = Path.cwd() / named
        raise FilingIndexError(
            "this may mean a folder on this machine or a cluster",
            subject=named,
            remedy=f"For a cluster give https://{named} (or http://); for a folder its whole path, {folder}",
        )
    return f"{found[1].lower()}://{found[2]}" if found else None


def place_of(index: object, otherwise: Path) -> str:
    """Where an index is, as it is named to open it again: its address, else the folder `otherwise`."""
    address = getattr(index, "address", None)
    return str(otherwise.resolve()) if address is None else str(address)


def _elastic() -> type[ElasticIndex]:
    from fin_agent.index.elastic.index import ElasticIndex

    return ElasticIndex
