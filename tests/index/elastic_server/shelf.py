"""One index of the server: documents as written, and as searches find them after a refresh."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from tests.index.elastic_server.analysis import analyzers, normalizers
from tests.index.elastic_server.mapping import Mapping
from tests.index.elastic_server.refusal import RefusalError, illegal
from tests.index.elastic_server.text_field import TextField


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it was written."""

    id: str
    source: dict[str, Any]
    seq_no: int
    version: int
    routing: str | None
    shard: int
    number: int
    """Counts documents as they were written: what searches know it by."""


@dataclass(eq=False)
class View:
    """What searches see: documents by number. A view that is held stays as it is."""

    shelf: Shelf
    live: dict[int, Stored]


@dataclass
class Written:
    """What became of one write."""

    result: str
    status: int
    stored: Stored


@dataclass
class _Postings:
    """Everything that documents were ever found by; views say which of them there are."""

    values: dict[str, dict[Any, set[int]]] = field(default_factory=dict)
    texts: dict[str, TextField] = field(default_factory=dict)
    word_counts: dict[str, dict[int, int]] = field(default_factory=dict)


class Shelf:
    """An index: settings, mapping, documents."""

    def __init__(self, name: str, settings: dict[str, Any], mapping: dict[str, Any]) -> None:
        self.name = name
        self.settings = settings
        of_index = settings.get("index", {})
        self.shards = int(of_index.get("number_of_shards", settings.get("number_of_shards", 1)))
        self.blocked: str | None = None
        analysis = settings.get("analysis", {})
        self.analyzers = analyzers(analysis)
        self.mapping = Mapping(mapping, normalizers(analysis))
        for name_of_field, each in self.mapping.fields.items():
            for part in (each, *each.parts.values()):
                if part.kind in ("text", "token_count") and part.analyzer not in self.analyzers:
                    raise RefusalError(
                        400, "mapper_parsing_exception", f"analyzer [{part.analyzer}] of [{name_of_field}] not found"
                    )
        self._by_id: dict[str, Stored] = {}
        self._pending: list[tuple[Stored | None, Stored | None]] = []
        self._postings = _Postings()
        self._seq_no = -1
        self._numbers = 0
        self.view = View(self, {})

    def shard_of(self, id: str, routing: str | None) -> int:
        """Where a document stands: by its routing, else by its id."""
        return zlib.crc32((routing or id).encode()) % self.shards

    def get(self, id: str, routing: str | None) -> Stored | None:
        """A document as it was written last; None as well where the routing leads to another shard."""
        found = self._by_id.get(id)
        return found if found is not None and found.shard == self.shard_of(id, routing) else None

    def write(
        self,
        id: str,
        line: bytes,
        *,
        routing: str | None = None,
        create: bool = False,
        if_seq_no: int | None = None,
    ) -> Written:
        """Index a document. Raises RefusalError where it is not taken."""
        if self.blocked:
            raise RefusalError(429 if "disk usage" in self.blocked else 403, "cluster_block_exception", self.blocked)
        if len(id.encode()) > 512:
            raise illegal("id is too long, must be no longer than 512 bytes")
        before = self._by_id.get(id)
        if create and before is not None:
            reason = f"[{id}]: version conflict, document already exists (current version [{before.version}])"
            raise RefusalError(409, "version_conflict_engine_exception", reason)
        self._check_expected(id, before, if_seq_no)
        try:
            source = json.loads(line.decode("utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise RefusalError(400, "document_parsing_exception", f"failed to parse: {error}") from None
        self.mapping.checked(source)
        self._seq_no += 1
        self._numbers += 1
        version = 1 if before is None else before.version + 1
        shard = self.shard_of(id, routing)
        stored = Stored(id, source, self._seq_no, version, routing, shard, self._numbers)
        self._by_id[id] = stored
        self._pending.append((before, stored))
        return Written("created" if before is None else "updated", 201 if before is None else 200, stored)

    def delete(self, id: str, *, if_seq_no: int | None = None) -> Stored | None:
        """Take a document away; None where there is none."""
        before = self._by_id.get(id)
        self._check_expected(id, before, if_seq_no)
        if before is None:
            return None
        self._seq_no += 1
        del self._by_id[id]
        self._pending.append((before, None))
        return before

    def refresh(self) -> None:
        """Let searches see what was written. Views held before stay as they are."""
        if not self._pending:
            return
        live = dict(self.view.live)
        for before, after in self._pending:
            if before is not None:
                live.pop(before.number, None)
            if after is not None and self._by_id.get(after.id) is after:
                self._post(after)
                live[after.number] = after
        self._pending.clear()
        self.view = View(self, live)

    def holding(self, name: str) -> dict[Any, set[int]]:
        """Value -> numbers of documents that have it in this field, deleted ones among them."""
        return self._postings.values.get(name, {})

    def text(self, name: str) -> TextField | None:
        """An analyzed field; None where no document has it."""
        return self._postings.texts.get(name)

    def value_of(self, stored: Stored, name: str) -> Any:
        """What a document has in a field; None where it has nothing."""
        counts = self._postings.word_counts.get(name)
        return stored.source.get(name) if counts is None else counts.get(stored.number)

    def _check_expected(self, id: str, before: Stored | None, if_seq_no: int | None) -> None:
        if if_seq_no is not None and (before is None or before.seq_no != if_seq_no):
            there = f"current document has seqNo [{before.seq_no}]" if before else "but no document was found"
            reason = f"[{id}]: version conflict, required seqNo [{if_seq_no}], primary term [1]. {there}"
            raise RefusalError(409, "version_conflict_engine_exception", reason)

    def _post(self, stored: Stored) -> None:
        for name, value in stored.source.items():
            field = self.mapping.fields[name]
            for each in (field, *field.parts.values()):
                if each.kind == "text":
                    texts = self._postings.texts
                    if each.name not in texts:
                        texts[each.name] = TextField(self.analyzers[each.analyzer])
                    texts[each.name].add(stored.number, " ".join(each.values(value)))
                elif each.indexed and each.kind not in ("object", "binary"):
                    terms = each.values(value)
                    if each.kind == "token_count":
                        words = sum(len(self.analyzers[each.analyzer](text)) for text in terms)
                        self._postings.word_counts.setdefault(each.name, {})[stored.number] = words
                        terms = iter((words,))
                    of_field = self._postings.values.setdefault(each.name, {})
                    for term in terms:
                        of_field.setdefault(term, set()).add(stored.number)
