"""What OpenAI would not take: requests are held against the published protocol, so that a client's fault shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.models.openai_server.exchange import HttpError, Json, text_of

KNOWN = frozenset([
    "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
    "max_tokens", "messages", "metadata", "modalities", "model", "n", "parallel_tool_calls", "prediction",
    "presence_penalty", "prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "response_format",
    "safety_identifier", "seed", "service_tier", "stop", "store", "stream", "stream_options", "temperature",
    "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity", "web_search_options",
])  # fmt: skip
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_NOT_IN_STRICT = ("default", "oneOf", "allOf", "not", "patternProperties")
_RANGES = {"temperature": (0, 2), "top_p": (0, 1), "n": (1, 128), "frequency_penalty": (-2, 2)}
_COUNTS = ("n", "max_tokens", "max_completion_tokens", "seed")


def fault(body: Json) -> HttpError | None:
    """The first thing that is wrong with the body of a chat request."""
    return next(_faults(body), None)


def _faults(body: Json) -> Iterator[HttpError]:
    if not isinstance(body, dict):
        yield _bad("We could not parse the JSON body of your request.")
        return
    for name in sorted(set(body) - KNOWN):
        yield _bad(f"Unrecognized request argument supplied: {name}")
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield _bad("you must provide a model parameter", "model")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
        yield _bad("Missing required parameter: 'messages'.", "messages")
        return
    yield from _message_faults([each for each in messages if isinstance(each, dict)])
    yield from _number_faults(body)
    yield from _tool_faults(body)
    yield from _format_faults(body)
    if "stream_options" in body and body.get("stream") is not True:
        yield _bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")


def _message_faults(messages: list[dict[str, Json]]) -> Iterator[HttpError]:
    open_calls: list[Json] = []
    for place, message in enumerate(messages):
        role, content, where = message.get("role"), message.get("content"), f"messages.[{place}]"
        if role not in _ROLES:
            yield _bad(f"Invalid value: '{role}'. Supported values are: {', '.join(_ROLES)}.", f"{where}.role")
        if not isinstance(content, str | list) and not (role == "assistant" and content is None):
            yield _bad(f"Invalid type for '{where}.content': expected a string or an array.", f"{where}.content")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield _bad(
                    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                    f"{where}.role",
                )
            else:
                open_calls.remove(message.get("tool_call_id"))
        elif open_calls:
            yield _unanswered(open_calls)
        calls = message.get("tool_calls")
        if role == "assistant" and isinstance(calls, list):
            open_calls = [call.get("id") for call in calls if isinstance(call, dict)]
    if open_calls:
        yield _unanswered(open_calls)


def _unanswered(calls: list[Json]) -> HttpError:
    named = ", ".join(map(str, calls))
    return _bad(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {named}",
        "messages",
    )


def _number_faults(body: Mapping[str, Json]) -> Iterator[HttpError]:
    for name, (least, most) in _RANGES.items():
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            yield _bad(f"Invalid '{name}': expected a number from {least} to {most}, but got {value}.", name)
    for name in _COUNTS:
        value = body.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            yield _bad(f"Invalid type for '{name}': expected an integer.", name)
        elif name.startswith("max_") and isinstance(value, int) and value < 1:
            yield _bad(f"Invalid '{name}': integer below minimum value. Expected a value >= 1.", name)
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        yield _bad("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")


def _tool_faults(body: Mapping[str, Json]) -> Iterator[HttpError]:
    tools = body.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) is not None:
                yield _bad(f"'{name}' is only allowed when 'tools' are specified.", name)
        return
    if not isinstance(tools, list) or not tools:
        yield _bad("Invalid 'tools': empty array. Expected an array with minimum length 1.", "tools")
        return
    for place, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            yield _bad(f"Missing required parameter: 'tools[{place}].function.name'.", f"tools[{place}].function.name")
        elif function.get("strict") is True:
            yield from _schema_faults(function.get("parameters"), f"function '{function['name']}'")


def _format_faults(body: Mapping[str, Json]) -> Iterator[HttpError]:
    wanted = body.get("response_format")
    if wanted is None:
        return
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if not isinstance(wanted, dict) or kind not in ("text", "json_object", "json_schema"):
        yield _bad(f"Invalid value for 'response_format.type': '{kind}'.", "response_format")
    elif kind == "json_object":
        messages = body["messages"]
        spoken = "".join(text_of(each) for each in messages if isinstance(each, dict)) if messages else ""  # type: ignore[union-attr]
        if "json" not in spoken.lower():
            yield _bad(
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
                "messages",
            )
    elif kind == "json_schema":
        named = wanted.get("json_schema")
        if not isinstance(named, dict) or not isinstance(named.get("name"), str):
            yield _bad("Missing required parameter: 'response_format.json_schema.name'.", "response_format")
        elif named.get("strict") is True:
            yield from _schema_faults(named.get("schema"), f"response_format '{named['name']}'")


def _schema_faults(schema: Json, of: str) -> Iterator[HttpError]:
    """What strict structured output does not take."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield _bad(f"Invalid schema for {of}: schema must be a JSON Schema of 'type: \"object\"'.", "response_format")
        return
    for context, part in _parts(schema, ()):
        where = f"Invalid schema for {of}: In context={context}"
        for name in _NOT_IN_STRICT:
            if name in part:
                yield _bad(f"{where}, '{name}' is not permitted.", "response_format")
        if "$ref" in part and len(part) > 1:
            others = sorted(set(part) - {"$ref"})
            yield _bad(f"{where}, $ref cannot have keywords {others}.", "response_format")
        if part.get("type") == "object":
            if part.get("additionalProperties") is not False:
                yield _bad(f"{where}, 'additionalProperties' is required to be supplied and to be false.")
            properties, required = part.get("properties"), part.get("required")
            names = sorted(properties) if isinstance(properties, dict) else []
            if not isinstance(required, list) or sorted(map(str, required)) != names:
                yield _bad(f"{where}, 'required' is required to be supplied and to be an array including every key.")


def _parts(schema: dict[str, Json], context: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Json]]]:
    """Every schema in a schema; names of properties are no keywords."""
    yield context, schema
    for name in ("properties", "$defs", "definitions"):
        named = schema.get(name)
        for key, part in named.items() if isinstance(named, dict) else ():
            if isinstance(part, dict):
                yield from _parts(part, (*context, name, key))
    for name in ("items", "anyOf"):
        inner = schema.get(name)
        for place, part in enumerate(inner if isinstance(inner, list) else [inner]):
            if isinstance(part, dict):
                yield from _parts(part, (*context, name, str(place)))


def _bad(message: str, param: str | None = None) -> HttpError:
    return HttpError(400, message, "invalid_request_error", param=param)
