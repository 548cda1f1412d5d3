"""What a reply has to look like: a schema for servers that hold a model to it, words for those that do not."""

from __future__ import annotations

import json
from functools import lru_cache

from pydantic import BaseModel, JsonValue

_NOT_STRICT = frozenset({"prefixItems", "patternProperties", "oneOf", "allOf", "not", "uniqueItems"})


@lru_cache(maxsize=128)
def schema_text(output: type[BaseModel]) -> str:
    """The JSON schema of a type, short, and always the same for the same type."""
    return json.dumps(output.model_json_schema(), ensure_ascii=False, separators=(",", ":"))


def response_format(output: type[BaseModel]) -> dict[str, JsonValue]:
    """The `response_format` of OpenAI's protocol that asks for this type; strict where the type allows it."""
    schema: JsonValue = json.loads(schema_text(output))
    strict = _can_be_strict(schema)
    named: dict[str, JsonValue] = {
        "name": _name(output),
        "schema": _closed(schema) if strict else schema,
        "strict": strict,
    }
    return {"type": "json_schema", "json_schema": named}


def instruction(output: type[BaseModel]) -> str:
    """What a model is told where no server holds it to the schema."""
    return (
        "Reply with one JSON object and nothing else: no words before or after it, no Markdown. "
        f"It must be valid against this JSON schema:\n{schema_text(output)}"
    )


def _name(output: type[BaseModel]) -> str:
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_-") else "_" for sign in output.__name__)
    return plain[:64]


def _can_be_strict(schema: JsonValue) -> bool:
    """Whether every object names all its fields: free keys cannot be held to in strict mode."""
    if isinstance(schema, list):
        return all(map(_can_be_strict, schema))
    if not isinstance(schema, dict):
        return True
    if _NOT_STRICT & schema.keys() or schema.get("additionalProperties") not in (None, False):
        return False
    if schema.get("type") == "object" and not schema.get("properties"):
        return False
    return all(_can_be_strict(part) for part in _parts(schema))


def _parts(schema: dict[str, JsonValue]) -> list[JsonValue]:
    """Schemas inside a schema; what stands under `properties` and `$defs` are names, not keywords."""
    inside: list[JsonValue] = []
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            inside.extend(value.values())
        elif key in ("items", "anyOf"):
            inside.append(value)
    return inside


def _closed(schema: JsonValue) -> JsonValue:
    """The schema as strict mode wants it: no other fields, all of them required, no defaults, nothing beside a $ref."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    closed: dict[str, JsonValue] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            closed[key] = {name: _closed(part) for name, part in value.items()}
        elif key in ("items", "anyOf"):
            closed[key] = _closed(value)
        elif key != "default":
            closed[key] = value
    properties = closed.get("properties")
    if isinstance(properties, dict):
        closed["required"] = list(properties)
        closed["additionalProperties"] = False
    return closed
