"""Requests that read: documents by their ids, searches, scrolls."""

from __future__ import annotations

from typing import Any

from tests.index.elastic_server.asked import Answer, Asked
from tests.index.elastic_server.node import Node
from tests.index.elastic_server.refusal import RefusalError
from tests.index.elastic_server.searches import searched, selected
from tests.index.elastic_server.shelf import Shelf


def get_document(asked: Asked, node: Node) -> Answer:
    """GET {index}/_doc/{id}: as written last, before any refresh."""
    (shelf,) = node.named(asked.path[0])
    told = _document(shelf, asked.path[2], asked.parameters.get("routing"), True)
    return Answer(told, 200 if told["found"] else 404)


def search(asked: Asked, node: Node) -> Answer:
    """POST {index}/_search."""
    body = asked.json()
    if node.shard_lost:
        return Answer(_partial(asked.parameters.get("allow_partial_search_results") != "false"))
    shelves = node.named(asked.path[0])
    if "scroll" in asked.parameters:
        return Answer(_scrolled(node, node.open_scroll([shelf.view for shelf in shelves], body)))
    routing = asked.parameters.get("routing")
    shards = None
    if routing is not None:
        shards = {shelf.name: {shelf.shard_of("", route) for route in routing.split(",")} for shelf in shelves}
    return Answer(searched(body, [shelf.view for shelf in shelves], shards))


def scroll(asked: Asked, node: Node) -> Answer:
    """POST _search/scroll."""
    return Answer(_scrolled(node, asked.json()["scroll_id"]))


def clear_scroll(asked: Asked, node: Node) -> Answer:
    """DELETE _search/scroll."""
    gone = node.scrolls.pop(asked.json()["scroll_id"], None)
    return Answer({"succeeded": True, "num_freed": int(gone is not None)}, 200 if gone is not None else 404)


def _scrolled(node: Node, name: str) -> dict[str, Any]:
    views, body = node.scroll(name)
    answer = searched(body, views, None)
    if hits := answer["hits"]["hits"]:
        node.scrolls[name] = (views, {**body, "search_after": hits[-1]["sort"]})
    return {"_scroll_id": name, **answer}


def _document(shelf: Shelf, id: str, routing: str | None, wanted: Any) -> dict[str, Any]:
    found = shelf.get(id, routing)
    told: dict[str, Any] = {"_index": shelf.name, "_id": id, "found": found is not None}
    if found is None:
        return told
    told |= {"_version": found.version, "_seq_no": found.seq_no, "_primary_term": 1}
    if (source := selected(found.source, wanted)) is not None:
        told["_source"] = source
    return told


def _partial(allowed: bool) -> dict[str, Any]:
    """What a cluster says that has one of two shards: without more words the half, where that is allowed."""
    if not allowed:
        raise RefusalError(503, "search_phase_execution_exception", "Search rejected due to missing shards")
    marks = {"marks": {"value": 0.0}}
    shards = {"total": 2, "successful": 1, "skipped": 0, "failed": 1}
    return {
        "took": 1,
        "timed_out": False,
        "_shards": shards,
        "hits": {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []},
        "aggregations": marks,
    }
