"""The JSON schema of a reply, as servers that hold a model to a schema take it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, JsonValue

_KEPT = ("type", "enum")


def strict_schema(reply: type[BaseModel]) -> dict[str, JsonValue]:
    """An object in which every field is required and no other is allowed; what may be left out is null or empty.

    Only `type`, `properties`, `required`, `additionalProperties`, `items`, `enum` and `anyOf` are used, and nothing is
    referred to: the part of JSON Schema that OpenAI's strict mode, vLLM and llama.cpp share. What
    the fields mean is said by the prompt.
    """
    schema = reply.model_json_schema()
    definitions = schema.get("$defs", {})
    return _strict(schema, definitions if isinstance(definitions, dict) else {})


def _strict(schema: Mapping[str, JsonValue], definitions: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    referred = schema.get("$ref")
    if isinstance(referred, str):
        return _strict(_part(definitions[referred.rpartition("/")[2]]), definitions)
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


def _part(value: JsonValue) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no part of a schema")
    return value
