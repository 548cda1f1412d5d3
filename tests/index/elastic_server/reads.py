"""Requests that read: documents by their ids, searches, points in time."""

from __future__ import annotations

import json
from typing import Any

from tests.index.elastic_server.asked import Answer, Asked
from tests.index.elastic_server.node import Node
from tests.index.elastic_server.refusal import RefusalError, illegal
from tests.index.elastic_server.searches import searched, selected
from tests.index.elastic_server.shelf import Shelf


def get_document(asked: Asked, node: Node) -> Answer:
    """GET {index}/_doc/{id}: as written last, before any refresh."""
    (shelf,) = node.named(asked.path[0])
    told = _document(shelf, asked.path[2], asked.parameters.get("routing"), True)
    return Answer(told, 200 if told["found"] else 404)


def get_documents(asked: Asked, node: Node) -> Answer:
    """POST {index}/_mget."""
    (shelf,) = node.named(asked.path[0])
    said = asked.json()
    wanted: Any = True
    if "_source_includes" in asked.parameters:
        wanted = asked.parameters["_source_includes"].split(",")
    named = said.get("docs") or [{"_id": id} for id in said.get("ids", [])]
    if not named:
        raise RefusalError(400, "action_request_validation_exception", "Validation Failed: 1: no documents to get;")
    return Answer({"docs": [_document(shelf, each["_id"], each.get("routing"), wanted) for each in named]})


def search(asked: Asked, node: Node) -> Answer:
    """POST {index}/_search, POST _search with a point in time."""
    body = asked.json()
    if "pit" in body:
        if len(asked.path) > 1 or "routing" in asked.parameters or "preference" in asked.parameters:
            raise RefusalError(
                400, "action_request_validation_exception", "[indices] cannot be used with point in time"
            )
        views = node.point(body["pit"]["id"])
        return Answer({"pit_id": body["pit"]["id"], **searched(body, views, None)})
    shelves = node.named(asked.path[0])
    routing = asked.parameters.get("routing")
    shards = None
    if routing is not None:
        shards = {shelf.name: {shelf.shard_of("", route) for route in routing.split(",")} for shelf in shelves}
    named_scores = asked.parameters.get("include_named_queries_score") == "true"
    return Answer(searched(body, [shelf.view for shelf in shelves], shards, named_scores=named_scores))


def searches(asked: Asked, node: Node) -> Answer:
    """POST _msearch: each answers, or tells its error, for itself."""
    lines = [json.loads(line) for line in asked.lines()]
    answers: list[dict[str, Any]] = []
    for header, body in zip(lines[::2], lines[1::2], strict=True):
        try:
            views = [shelf.view for shelf in node.named(header["index"])]
            answers.append({**searched(body, views, None), "status": 200})
        except RefusalError as error:
            answers.append(error.body)
    return Answer({"took": 1, "responses": answers})


def open_point(asked: Asked, node: Node) -> Answer:
    """POST {index}/_pit."""
    if "keep_alive" not in asked.parameters:
        raise illegal("[keep_alive] is required")
    return Answer({"id": node.open_point(asked.path[0])})


def close_point(asked: Asked, node: Node) -> Answer:
    """DELETE _pit."""
    gone = node.points.pop(asked.json()["id"], None)
    return Answer({"succeeded": True, "num_freed": int(gone is not None)}, 200 if gone is not None else 404)


def _document(shelf: Shelf, id: str, routing: str | None, wanted: Any) -> dict[str, Any]:
    found = shelf.get(id, routing)
    told: dict[str, Any] = {"_index": shelf.name, "_id": id, "found": found is not None}
    if found is None:
        return told
    told |= {"_version": found.version, "_seq_no": found.seq_no, "_primary_term": 1}
    if (source := selected(found.source, wanted)) is not None:
        told["_source"] = source
    return told
