"""Requests that write: bulks, single documents, deletes by query."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.index.elastic_server.asked import Answer, Asked
from tests.index.elastic_server.node import Node
from tests.index.elastic_server.queries import matching
from tests.index.elastic_server.refusal import RefusalError, illegal
from tests.index.elastic_server.shelf import Shelf, Stored, Written

ItemRefusal = Callable[[str, str], RefusalError | None]
"""Index and id -> why an item of a bulk is not taken, where a test says so."""


def bulk(asked: Asked, node: Node, refusal: ItemRefusal) -> Answer:
    """POST _bulk: every item for itself."""
    lines = asked.lines()
    items: list[dict[str, Any]] = []
    at = 0
    touched: set[str] = set()
    while at < len(lines):
        ((action, said),) = json.loads(lines[at]).items()
        source = lines[at + 1] if action != "delete" else b""
        at += 1 if action == "delete" else 2
        name = said.get("_index") or (asked.path[0] if len(asked.path) > 1 else "")
        item: dict[str, Any] = {"_index": name, "_id": said["_id"]}
        try:
            shelf = node.to_write(name, require_alias=asked.flag("require_alias"))
            touched.add(shelf.name)
            if (told := refusal(name, said["_id"])) is not None:
                raise told
            if action not in ("index", "create"):
                raise illegal(f"bulks with [{action}] are more than this server knows")
            written = shelf.write(said["_id"], source, routing=said.get("routing"), create=action == "create")
            item |= _written(shelf, written)
            item["status"] = written.status
        except RefusalError as error:
            item |= {"status": error.status, "error": error.error}
        items.append({action: item})
    _refresh(asked, [node.shelves[name] for name in touched])
    failed = any("error" in item for each in items for item in each.values())
    return Answer({"took": 1, "errors": failed, "items": items})


def put_document(asked: Asked, node: Node) -> Answer:
    """PUT {index}/_doc/{id}, PUT {index}/_create/{id}."""
    name, kind, id = asked.path
    shelf = node.to_write(name, require_alias=asked.flag("require_alias"))
    written = shelf.write(
        id,
        asked.body,
        routing=asked.parameters.get("routing"),
        create=kind == "_create" or asked.parameters.get("op_type") == "create",
        if_seq_no=asked.number("if_seq_no"),
    )
    _refresh(asked, [shelf])
    return Answer(_written(shelf, written), written.status)


def delete_document(asked: Asked, node: Node) -> Answer:
    """DELETE {index}/_doc/{id}."""
    shelf = node.to_write(asked.path[0], require_alias=False)
    gone = shelf.delete(asked.path[2], if_seq_no=asked.number("if_seq_no"))
    _refresh(asked, [shelf])
    told = {"_index": shelf.name, "_id": asked.path[2], "_shards": {"total": 1, "successful": 1, "failed": 0}}
    if gone is None:
        return Answer({**told, "result": "not_found", "_version": 1, "_seq_no": 0, "_primary_term": 1}, 404)
    number = {"_version": gone.version + 1, "_seq_no": gone.seq_no + 1, "_primary_term": 1}
    return Answer({**told, "result": "deleted", **number})


def delete_by_query(asked: Asked, node: Node) -> Answer:
    """POST {index}/_delete_by_query: what searches find now, unless it was written again since."""
    deleted = conflicts = 0
    shelves = node.named(asked.path[0], lenient=asked.flag("ignore_unavailable"))
    for shelf in shelves:
        if shelf.blocked:
            raise RefusalError(403, "cluster_block_exception", shelf.blocked)
        for number in sorted(matching(asked.json()["query"], shelf.view)):
            found = shelf.view.live[number]
            if _is_current(shelf, found):
                shelf.delete(found.id)
                deleted += 1
            else:
                conflicts += 1
    if conflicts and asked.parameters.get("conflicts") != "proceed":
        raise RefusalError(409, "version_conflict_engine_exception", f"{conflicts} documents were written meanwhile")
    _refresh(asked, shelves)
    return Answer({"took": 1, "total": deleted, "deleted": deleted, "version_conflicts": conflicts, "failures": []})


def _is_current(shelf: Shelf, found: Stored) -> bool:
    return shelf.get(found.id, found.routing) is found


def _refresh(asked: Asked, shelves: list[Shelf]) -> None:
    if asked.parameters.get("refresh") in ("true", "", "wait_for"):
        for shelf in shelves:
            shelf.refresh()


def _written(shelf: Shelf, written: Written) -> dict[str, Any]:
    return {
        "_index": shelf.name,
        "_id": written.stored.id,
        "_version": written.stored.version,
        "result": written.result,
        "_shards": {"total": 1, "successful": 1, "failed": 0},
        "_seq_no": written.stored.seq_no,
        "_primary_term": 1,
    }
