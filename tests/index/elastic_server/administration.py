"""Requests about indices: made, deleted, refreshed, their mappings and aliases."""

from __future__ import annotations

from tests.index.elastic_server.asked import Answer, Asked
from tests.index.elastic_server.node import Node

DONE = {"acknowledged": True}


def root(asked: Asked, node: Node) -> Answer:
    """GET /."""
    version = {"number": "9.1.0", "build_flavor": "default", "lucene_version": "10.2.2"}
    return Answer({"name": "test", "cluster_name": "test", "version": version, "tagline": "You Know, for Search"})


def create_index(asked: Asked, node: Node) -> Answer:
    """PUT {index}."""
    node.create(asked.path[0], asked.json())
    return Answer({**DONE, "shards_acknowledged": True, "index": asked.path[0]})


def delete_index(asked: Asked, node: Node) -> Answer:
    """DELETE {index}."""
    for name in asked.path[0].split(","):
        if name in node.shelves or not asked.flag("ignore_unavailable"):
            node.delete(name)
    return Answer(DONE)


def refresh(asked: Asked, node: Node) -> Answer:
    """POST {index}/_refresh."""
    for shelf in node.named(asked.path[0], lenient=asked.flag("ignore_unavailable")):
        shelf.refresh()
    return Answer({"_shards": {"total": 1, "successful": 1, "failed": 0}})


def get_mapping(asked: Asked, node: Node) -> Answer:
    """GET {index}/_mapping."""
    return Answer({shelf.name: {"mappings": shelf.mapping.said} for shelf in node.named(asked.path[0])})


def alias_exists(asked: Asked, node: Node) -> Answer:
    """HEAD _alias/{name}."""
    return Answer(None, 200 if asked.path[1] in node.aliases else 404)
