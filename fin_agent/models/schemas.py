"""What a reply has to look like: a schema for servers that hold a model to it, words for those that do not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pydantic import BaseModel, JsonValue

_KEPT = ("type", "enum", "description")


@lru_cache(maxsize=128)
def schema_text(output: type[BaseModel]) -> str:
    """The JSON schema of a type, short, and always the same for the same type."""
    schema, _ = _schema(output)
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def response_format(output: type[BaseModel]) -> dict[str, JsonValue]:
    """The `response_format` of OpenAI's protocol that asks for this type; strict where the type allows it."""
    schema, strict = _schema(output)
    return {"type": "json_schema", "json_schema": {"name": _name(output), "schema": schema, "strict": strict}}


def instruction(output: type[BaseModel]) -> str:
    """What a model is told where no server holds it to the schema."""
    return (
        "Reply with one JSON object and nothing else: no words before or after it, no Markdown. "
        f"It must be valid against this JSON schema:\n{schema_text(output)}"
    )


def strict_schema(output: type[BaseModel]) -> dict[str, JsonValue]:
    """An object in which every field is required and no other is allowed; what may be left out is null or empty.

    Only `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `anyOf` and the descriptions of
    fields are used, and nothing is referred to: the part of JSON Schema that OpenAI's strict mode, vLLM and llama.cpp
    share. What the fields mean is said by the prompt. Raises ValueError for a type that cannot be said so: one with
    free keys, or one inside itself.
    """
    schema: JsonValue = output.model_json_schema()
    whole = _part(schema)
    definitions = _part(whole.get("$defs", {}))
    _check(whole, definitions, frozenset())
    strict = _strict(whole, definitions)
    strict.pop("description", None)
    return strict


def _schema(output: type[BaseModel]) -> tuple[dict[str, JsonValue], bool]:
    """The schema of a type, and whether it is strict."""
    try:
        return strict_schema(output), True
    except ValueError:
        schema: dict[str, JsonValue] = output.model_json_schema()
        return schema, False


def _name(output: type[BaseModel]) -> str:
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_-") else "_" for sign in output.__name__)
    return plain[:64]


_NOT_STRICT = frozenset({"prefixItems", "patternProperties", "oneOf", "allOf", "not", "uniqueItems"})


def _check(schema: Mapping[str, JsonValue], definitions: Mapping[str, JsonValue], within: frozenset[str]) -> None:
    """Raises ValueError for what strict mode does not know."""
    referred = schema.get("$ref")
    if isinstance(referred, str):
        if referred in within:
            raise ValueError(f"{referred} stands inside itself")
        _check(_referred(referred, definitions), definitions, within | {referred})
        return
    if odd := _NOT_STRICT & schema.keys():
        raise ValueError(f"strict mode knows no {min(odd)}")
    free = schema.get("type") == "object" and not schema.get("properties")
    if free or schema.get("additionalProperties") not in (None, False):
        raise ValueError("free keys cannot be held to")
    for part in _parts(schema):
        _check(part, definitions, within)


def _parts(schema: Mapping[str, JsonValue]) -> Iterator[Mapping[str, JsonValue]]:
    """Schemas inside a schema; what stands under `properties` are names, not keywords."""
    yield from map(_part, _part(schema.get("properties", {})).values())
    options = schema.get("anyOf", [])
    yield from map(_part, options if isinstance(options, list) else [])
    if "items" in schema:
        yield _part(schema["items"])


def _strict(schema: Mapping[str, JsonValue], definitions: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    referred = schema.get("$ref")
    if isinstance(referred, str):
        inside = _strict(_referred(referred, definitions), definitions)
        # A type's own docstring is for those who read the code; what a field says of it is for the model.
        inside.pop("description", None)
        return inside | {key: schema[key] for key in ("description",) if key in schema}
    strict: dict[str, JsonValue] = {key: schema[key] for key in _KEPT if key in schema}
    if "const" in schema:
        strict["enum"] = [schema["const"]]
    options = schema.get("anyOf")
    if isinstance(options, list):
        strict["anyOf"] = [_strict(_part(option), definitions) for option in options]
    if "items" in schema:
        strict["items"] = _strict(_part(schema["items"]), definitions)
    if schema.get("type") == "object":
        properties = _part(schema.get("properties", {}))
        strict["properties"] = {name: _strict(_part(each), definitions) for name, each in properties.items()}
        strict["required"] = list(properties)
        strict["additionalProperties"] = False
    return strict


def _referred(name: str, definitions: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return _part(definitions[name.rpartition("/")[2]])


def _part(value: JsonValue) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no part of a schema")
    return value
