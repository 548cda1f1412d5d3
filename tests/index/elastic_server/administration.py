"""Requests about indices: made, deleted, refreshed, their mappings, aliases and templates."""

from __future__ import annotations

import json

from tests.index.elastic_server.asked import Answer, Asked
from tests.index.elastic_server.node import Node
from tests.index.elastic_server.refusal import RefusalError

DONE = {"acknowledged": True}


def root(asked: Asked, node: Node) -> Answer:
    """GET /."""
    version = {"number": "9.1.0", "build_flavor": "default", "lucene_version": "10.2.2"}
    return Answer({"name": "test", "cluster_name": "test", "version": version, "tagline": "You Know, for Search"})


def put_template(asked: Asked, node: Node) -> Answer:
    """PUT _index_template/{name}."""
    name, body = asked.path[1], asked.json()
    for other, template in node.templates.items():
        same = set(template["index_patterns"]) & set(body["index_patterns"])
        if other != name and same and template.get("priority") == body.get("priority"):
            raise RefusalError(
                400, "illegal_argument_exception", f"index template [{name}] has patterns of [{other}]: {same}"
            )
    node.templates[name] = body
    return Answer(DONE)


def get_template(asked: Asked, node: Node) -> Answer:
    """GET _index_template/{name}."""
    name = asked.path[1]
    if name not in node.templates:
        raise RefusalError(404, "resource_not_found_exception", f"index template matching [{name}] not found")
    return Answer({"index_templates": [{"name": name, "index_template": node.templates[name]}]})


def delete_template(asked: Asked, node: Node) -> Answer:
    """DELETE _index_template/{name}."""
    for name in asked.path[1].split(","):
        if node.templates.pop(name, None) is None:
            raise RefusalError(404, "index_template_missing_exception", f"index_template [{name}] missing")
    return Answer(DONE)


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


def get_alias(asked: Asked, node: Node) -> Answer:
    """GET _alias/{name}."""
    name = asked.path[1]
    found = {index: {"aliases": {name: how}} for index, how in node.behind(name)}
    if not found:
        return Answer({"error": f"alias [{name}] missing", "status": 404}, 404)
    return Answer(found)


def change_aliases(asked: Asked, node: Node) -> Answer:
    """POST _aliases: all or nothing."""
    actions = [next(iter(action.items())) for action in asked.json()["actions"]]
    for kind, said in actions:
        if kind == "remove" and said["index"] not in node.aliases.get(said["alias"], {}):
            raise RefusalError(404, "aliases_not_found_exception", f"aliases [{said['alias']}] missing")
    for kind, said in actions:
        if kind == "add":
            how = {name: value for name, value in said.items() if name not in ("index", "alias")}
            node.add_alias(said["index"], said["alias"], how)
        elif kind == "remove":
            node.remove_alias(said["index"], said["alias"])
        elif kind == "remove_index":
            node.delete(said["index"])
        else:
            raise RefusalError(400, "illegal_argument_exception", f"unknown action [{kind}]")
    return Answer(DONE)


def reindex(asked: Asked, node: Node) -> Answer:
    """POST _reindex: documents of one index as they are found now, into another."""
    body = asked.json()
    (target,) = node.named(body["dest"]["index"])
    failures: list[dict[str, object]] = []
    count = 0
    for source in node.named(body["source"]["index"]):
        for stored in list(source.view.live.values()):
            try:
                target.write(stored.id, json.dumps(stored.source).encode(), routing=stored.routing)
                count += 1
            except RefusalError as error:
                failures.append({"id": stored.id, "cause": error.error})
    if asked.parameters.get("refresh") in ("true", ""):
        target.refresh()
    done = {"total": count + len(failures), "created": count}
    if asked.parameters.get("wait_for_completion") != "false":
        return Answer({"took": 1, "timed_out": False, **done, "failures": failures})
    name = f"node:{len(node.tasks) + 1}"
    node.tasks[name] = {"completed": True, "task": {"status": done}, "response": {**done, "failures": failures}}
    return Answer({"task": name})


def get_task(asked: Asked, node: Node) -> Answer:
    """GET _tasks/{task_id}."""
    if asked.path[1] not in node.tasks:
        raise RefusalError(404, "resource_not_found_exception", f"task [{asked.path[1]}] isn't running")
    return Answer(node.tasks[asked.path[1]])


def add_block(asked: Asked, node: Node) -> Answer:
    """PUT {index}/_block/write."""
    for shelf in node.named(asked.path[0]):
        shelf.blocked = "index [" + shelf.name + "] blocked by: [FORBIDDEN/8/index write (api)];"
    return Answer({**DONE, "shards_acknowledged": True, "indices": [{"name": asked.path[0], "blocked": True}]})


def put_settings(asked: Asked, node: Node) -> Answer:
    """PUT {index}/_settings: the block on writes is taken away, and nothing else is known."""
    if asked.json() != {"index": {"blocks": {"write": False}}}:
        raise RefusalError(400, "illegal_argument_exception", f"settings {asked.json()}")
    for shelf in node.named(asked.path[0]):
        shelf.blocked = None
    return Answer(DONE)
