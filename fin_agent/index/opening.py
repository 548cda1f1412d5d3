"""An index opened by where it is: a folder on this machine, or the address of a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fin_agent.index.sqlite import SqliteIndex

if TYPE_CHECKING:
    from fin_agent.index.elastic.index import ElasticIndex

AnyIndex: TypeAlias = "SqliteIndex | ElasticIndex"

_ADDRESS = re.compile(r"^(https?|cloud):/+(.*)$", re.I | re.S)


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

    A command line takes paths, and a Path holds `https://host/x` as `https:/host/x`: both are understood.

    >>> address_of(Path("https://localhost:9200/filings"))
    'https://localhost:9200/filings'
    """
    found = _ADDRESS.match(str(place))
    return f"{found[1].lower()}://{found[2]}" if found else None


def place_of(index: object, otherwise: Path) -> str:
    """Where an index is, as it is named to open it again: its address, else the folder `otherwise`."""
    address = getattr(index, "address", None)
    return str(otherwise.resolve()) if address is None else str(address)


def _elastic() -> type[ElasticIndex]:
    from fin_agent.index.elastic.index import ElasticIndex

    return ElasticIndex
