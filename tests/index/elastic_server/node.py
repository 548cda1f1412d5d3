"""What the server holds: indices, aliases and points in time."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from tests.index.elastic_server.refusal import RefusalError, illegal
from tests.index.elastic_server.shelf import Shelf, View


class Node:
    """One node with everything on it."""

    def __init__(self) -> None:
        self.shelves: dict[str, Shelf] = {}
        self.aliases: dict[str, dict[str, dict[str, Any]]] = {}
        """Alias -> index -> how it stands behind the alias."""
        self.scrolls: dict[str, tuple[list[View], dict[str, Any]]] = {}
        """Name -> what its search saw when it began, and what is asked for next."""
        self.shard_lost = False
        """Whether one of two shards cannot be had, and half of everything is what a search finds."""

    def create(self, name: str, body: dict[str, Any]) -> Shelf:
        """Make an index."""
        if name in self.shelves:
            raise RefusalError(400, "resource_already_exists_exception", f"index [{name}] already exists")
        if name in self.aliases:
            raise RefusalError(
                400, "invalid_index_name_exception", f"Invalid index name [{name}], already exists as alias"
            )
        self.shelves[name] = Shelf(name, body.get("settings", {}), body.get("mappings", {}))
        for alias, how in body.get("aliases", {}).items():
            self.add_alias(name, alias, how)
        return self.shelves[name]

    def add_alias(self, index: str, alias: str, how: dict[str, Any]) -> None:
        """Put an index behind an alias."""
        if alias in self.shelves:
            reason = f"an index exists with the same name as the alias [{alias}]"
            raise RefusalError(400, "invalid_alias_name_exception", reason)
        self.aliases.setdefault(alias, {})[index] = how

    def remove_alias(self, index: str, alias: str) -> None:
        """Take an index from behind an alias."""
        if index not in self.aliases.get(alias, {}):
            raise RefusalError(404, "aliases_not_found_exception", f"aliases [{alias}] missing")
        del self.aliases[alias][index]
        if not self.aliases[alias]:
            del self.aliases[alias]

    def delete(self, name: str) -> None:
        """Take an index away; aliases cannot be deleted so."""
        if name in self.aliases:
            raise illegal(
                f"The provided expression [{name}] matches an alias, specify the corresponding concrete indices"
            )
        if name not in self.shelves:
            raise missing(name)
        del self.shelves[name]
        for alias in [alias for alias, indices in self.aliases.items() if name in indices]:
            self.remove_alias(name, alias)

    def named(self, target: str, *, lenient: bool = False) -> list[Shelf]:
        """The indices that names, with commas between, stand for."""
        found: dict[str, Shelf] = {}
        for name in target.split(","):
            names = [name] if name in self.shelves else list(self.aliases.get(name, ()))
            if not names and not lenient:
                raise missing(name)
            found |= {each: self.shelves[each] for each in names}
        return list(found.values())

    def to_write(self, name: str, *, require_alias: bool) -> Shelf:
        """The index that a write to `name` goes to."""
        if require_alias and name not in self.aliases:
            reason = f"no such index [{name}] and [require_alias] request flag is [true] and [{name}] is not an alias"
            raise RefusalError(404, "index_not_found_exception", reason)
        behind = self.aliases.get(name)
        if behind is None:
            # A real node would make the index; here that is always a mistake.
            return self.named(name)[0]
        writable = [index for index, how in behind.items() if how.get("is_write_index")]
        if len(writable) != 1 and len(behind) != 1:
            raise illegal(f"no write index is defined for alias [{name}].")
        return self.shelves[(writable or list(behind))[0]]

    def open_scroll(self, views: list[View], body: dict[str, Any]) -> str:
        """A name for a search that goes on over what it sees now."""
        name = uuid.uuid4().hex
        self.scrolls[name] = (views, body)
        return name

    def scroll(self, name: str) -> tuple[list[View], dict[str, Any]]:
        """What a search sees and is asked for next."""
        if name not in self.scrolls:
            raise RefusalError(404, "search_context_missing_exception", f"No search context found for id [{name}]")
        return self.scrolls[name]

    def behind(self, alias: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """(index, how it stands behind the alias)."""
        yield from self.aliases.get(alias, {}).items()


def missing(name: str) -> RefusalError:
    """There is no index and no alias of this name."""
    return RefusalError(404, "index_not_found_exception", f"no such index [{name}]")
