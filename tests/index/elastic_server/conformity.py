"""Requests held against Elastic's published specification: path, method, parameters and body."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.index.elastic_server.asked import Asked

VARIABLE = "FIN_AGENT_ES_SPEC"
"""Names the file of the specification (OpenAPI, gzip or plain): elastic/elasticsearch-specification, output/openapi."""

Schema = dict[str, Any]

_LOST: dict[str, Schema] = {
    "_types.SortOptions": {
        "additionalProperties": {
            "type": "object",
            "properties": {"order": {"type": "string", "enum": ["asc", "desc"]}, "missing": {"type": "string"}},
        }
    },
    "indices._types.IndexSettings": {
        "properties": {"number_of_shards": {"type": "integer"}, "number_of_replicas": {"type": "integer"}}
    },
}
"""What OpenAPI cannot say (a sort by any field) and what the file, being that of the serverless product, leaves out."""
_ACTIONS = frozenset({"_global.bulk.WriteOperation", "_global.bulk.OperationBase"})
"""Their bare `object` beside others is empty; that of a query stands for fields of any name."""
_NAME = "urn:specification"
_EVERYWHERE = frozenset({"pretty", "human", "error_trace", "filter_path"})


class Specification:
    """The specification, and how many requests of each kind were held against it."""

    def __init__(self, file: Path) -> None:
        written = file.read_bytes()
        self._said: Schema = json.loads(gzip.decompress(written) if file.suffix == ".gz" else written)
        self.checked: Counter[str] = Counter()
        """`METHOD /path` as the specification writes it -> requests."""
        self._paths = {tuple(path.strip("/").split("/")) if path != "/" else (): path for path in self._said["paths"]}
        for name, addition in _LOST.items():
            self._said["components"]["schemas"][name] |= {
                part: {**self._said["components"]["schemas"][name].get(part, {}), **more}
                for part, more in addition.items()
            }
        schemas = {name: self.closed(schema) for name, schema in self._said["components"]["schemas"].items()}
        whole = {"components": {"schemas": schemas}}
        self._registry: Any = Registry().with_resource(
            _NAME, Resource.from_contents(whole, default_specification=DRAFT202012)
        )
        self._validators: dict[str, Any] = {}

    @classmethod
    def named(cls) -> Specification | None:
        """The one that the environment names; None where it names none that is there."""
        named = os.environ.get(VARIABLE)
        return _read(named) if named and Path(named).is_file() else None

    def violations(self, asked: Asked) -> list[str]:
        """What about a request is not as the specification has it."""
        method = asked.method.lower()
        fitting = [path for parts, path in self._paths.items() if _fits(parts, asked.path)]
        here = [path for path in fitting if method in self._said["paths"][path]]
        where = f"{asked.method} /{'/'.join(asked.path)}"
        if not here:
            return [f"{where}: the specification has no such path and method"]
        path = max(here, key=lambda each: sum(not part.startswith("{") for part in each.split("/")))
        self.checked[f"{asked.method} {path}"] += 1
        operation = self._said["paths"][path][method]
        found = [*self._of_parameters(operation, asked), *self._of_body(f"{method} {path}", operation, asked)]
        return [f"{where}: {each}" for each in found]

    def _of_parameters(self, operation: Schema, asked: Asked) -> Iterator[str]:
        known = {each["name"]: each for each in map(self._resolved, operation.get("parameters", []))}
        for name, value in asked.parameters.items():
            if name in _EVERYWHERE:
                continue
            if name not in known or known[name]["in"] != "query":
                yield f"parameter [{name}] is not known"
                continue
            schema = known[name]["schema"]
            if not any(self._valid(schema, each) for each in _readings(value)):
                yield f"parameter [{name}] cannot be {value!r}"
        for name, each in known.items():
            if each["in"] == "query" and each.get("required") and name not in asked.parameters:
                yield f"parameter [{name}] is missing"

    def _of_body(self, key: str, operation: Schema, asked: Asked) -> Iterator[str]:
        said = operation.get("requestBody")
        if said is None:
            if asked.body:
                yield "it has a body, and none is known"
            return
        body = self._resolved(said)
        kinds = body["content"]
        if not asked.body:
            if body.get("required"):
                yield "its body is missing"
            return
        sent = asked.headers.get("content-type", "").split(";")[0].replace("vnd.elasticsearch+", "")
        # Lines of JSON stand in the specification as JSON; https://www.elastic.co/docs/api asks for x-ndjson.
        kind = next((kind for kind in kinds if kind == sent.replace("x-ndjson", "json")), None)
        if kind is None:
            yield f"its body is {sent}; {', '.join(kinds)} is known"
            return
        if key.endswith("_bulk"):
            yield from self._of_actions(asked)
            return
        read = [json.loads(line) for line in asked.lines()] if sent.endswith("ndjson") else asked.json()
        yield from self._faults(kinds[kind]["schema"], read)

    def _of_actions(self, asked: Asked) -> Iterator[str]:
        """Of a bulk the actions: sources may be anything. Those that differ in what they name only are one."""
        schema = {"$ref": "#/components/schemas/_global.bulk.OperationContainer"}
        met: set[str] = set()
        for line in asked.lines()[::2]:
            action = json.loads(line)
            shape = json.dumps(action | {kind: _shape(said) for kind, said in action.items()}, sort_keys=True)
            if shape not in met:
                met.add(shape)
                yield from self._faults(schema, action)

    def _faults(self, schema: Schema, value: object) -> Iterator[str]:
        for error in self._validator(schema).iter_errors(value):
            best = error
            while best.context:
                best = max(best.context, key=lambda each: len(each.absolute_path))
            yield f"{'.'.join(map(str, best.absolute_path))}: {best.message[:200]}"

    def _valid(self, schema: Schema, value: object) -> bool:
        return bool(self._validator(schema).is_valid(value))

    def _validator(self, schema: Schema) -> Any:
        key = json.dumps(schema, sort_keys=True).replace('"#/', f'"{_NAME}#/')
        if key not in self._validators:
            closed = self.closed(json.loads(key))
            self._validators[key] = jsonschema.Draft202012Validator(closed, registry=self._registry)
        return self._validators[key]

    def _resolved(self, said: Schema) -> Schema:
        while "$ref" in said:
            said = self._component(said["$ref"].removeprefix(_NAME))
        return said

    def _component(self, reference: str) -> Schema:
        said: Any = self._said
        for part in reference.removeprefix("#/").split("/"):
            said = said[part]
        found: Schema = said
        return found

    def closed(self, schema: Any) -> Any:
        """A schema in which objects hold what is listed and nothing else: else a misspelt key would pass."""
        if isinstance(schema, list):
            return [self.closed(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        schema = self._flat(schema)
        kept = {
            ("anyOf" if name == "oneOf" else name): self.closed(value)
            if name not in ("enum", "default", "properties")
            else value
            for name, value in schema.items()
            if name not in ("description", "default", "externalDocs", "discriminator", "x-state", "nullable", "example")
        }
        if "properties" in schema:
            kept["properties"] = {name: self.closed(each) for name, each in schema["properties"].items()}
            kept.setdefault("additionalProperties", False)
        if schema.get("nullable"):
            kept = {"anyOf": [kept, {"type": "null"}]}
        return kept

    def _flat(self, schema: Schema) -> Schema:
        """Parts that an object is composed of, as one object."""
        parts = schema.get("allOf")
        if not parts:
            return schema
        resolved = [self._flat(self._resolved(part)) for part in parts]
        others = {name: value for name, value in schema.items() if name != "allOf"}
        if len(resolved) == 1:
            return {**parts[0], **others} if "$ref" in parts[0] else {**resolved[0], **others}
        if not all(part.get("type") == "object" for part in resolved):
            return schema
        references = {part.get("$ref", "").rpartition("/")[2] for part in parts}
        flat: Schema = {"type": "object", "properties": {}, "required": []}
        for part in resolved:
            if "properties" not in part and not references & _ACTIONS:
                flat["additionalProperties"] = True
            flat["properties"] |= part.get("properties", {})
            flat["required"] += part.get("required", [])
            flat |= {name: part[name] for name in ("minProperties", "maxProperties") if name in part}
            if part.get("additionalProperties"):
                flat["additionalProperties"] = part["additionalProperties"]
        if "maxProperties" in flat:  # a limit of one part: those of the others come on top
            flat["maxProperties"] += sum(
                len(part.get("properties", ())) for part in resolved if "maxProperties" not in part
            )
        if not flat["required"]:
            del flat["required"]
        return {**others, **flat}


def _fits(parts: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if len(parts) != len(path):
        return False
    # Names of indices do not begin with an underscore: `_search` is no index.
    return all(
        part == given or (part.startswith("{") and not given.startswith("_"))
        for part, given in zip(parts, path, strict=True)
    )


def _shape(said: dict[str, object]) -> dict[str, object]:
    return {name: "" if isinstance(value, str) else value for name, value in said.items()}


def _readings(value: str) -> list[object]:
    """What a parameter may be read as: all are written as text."""
    readings: list[object] = [value, value.split(",")]
    if value in ("true", "false", ""):
        readings.append(value != "false")
    with suppress(ValueError):
        readings.append(float(value))
    return readings


@lru_cache(maxsize=4)
def _read(file: str) -> Specification:
    return Specification(Path(file))
