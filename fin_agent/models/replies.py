"""Replies of chat models: the schema they must match, parsing, validation, and correction requests."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from fin_agent.errors import validation_problems
from fin_agent.lexicon.words import load_yaml
from fin_agent.models.call import Call, Finish, Message, OutputT, Usage
from fin_agent.models.errors import ModelError, RefusedByModelError, TruncatedReplyError, UnusableReplyError
from fin_agent.redaction import redact_keys, redact_reply, secrets_set

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

ValueT = TypeVar("ValueT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ServerReply:
    """One reply of a server."""

    text: str = ""
    """The text, without the model's reasoning."""
    finish: Finish = Finish.UNKNOWN
    usage: Usage | None = None
    """None if the server reported none."""
    refusal: str = ""
    """The model's text if it declined."""
    held_key: bool = False
    """Whether the text contained a key, which was removed; such a reply is not cached."""
    broken: ModelError | None = None
    """Why the reply broke off while it was streamed."""


def validated_value(call: Call[OutputT], answer: ServerReply) -> OutputT | None:
    """Return the value of a reply, or None if the call names no type. Raises ModelError if it cannot be used."""
    cut_off, empty = answer.finish is Finish.LENGTH, not answer.text.strip()
    if answer.broken is not None:
        raise answer.broken
    if answer.refusal or answer.finish is Finish.FILTERED:
        said = f" ({redact_keys(answer.refusal)})" if answer.refusal else ""
        raise _unusable(f"the model, or a filter before it, declined to answer{said}", RefusedByModelError)
    if empty and not cut_off:
        raise _unusable("the reply is empty")
    if empty or (call.output is None and cut_off):
        when = "before the reply began" if empty else "before the reply ended"
        raise _unusable(f"the reply was cut off: the token limit was reached {when}", TruncatedReplyError)
    if call.output is None:
        return None
    try:
        value = read_value(answer.text, call.output, whole=cut_off)
    except UnusableReplyError as failure:
        if cut_off:
            what = f"the reply was cut off by the limit of tokens ({failure.what})"
            raise _unusable(what, TruncatedReplyError) from None
        raise
    if call.check is not None and (wrong := call.check(value)) is not None:
        raise _unusable(wrong)
    return value


def _unusable(what: str, kind: type[ModelError] = UnusableReplyError) -> ModelError:
    remedy = "The rules' result may serve, or a larger model"
    if kind is TruncatedReplyError:
        remedy = "Allow more output tokens for this role; a model that reasons needs them for its thoughts as well"
    return kind(what, remedy=remedy)


_MOST_OF_FAULT, _MOST_OF_REPLY = 400, 4_000
"""Characters of the fault, and of the reply, that are quoted."""


def correction(call: Call[OutputT], answer: ServerReply, fault: ModelError) -> tuple[Message, ...]:
    """Return the messages that request a correction: the model's own reply, and what is wrong with it."""
    wanted = "Reply anew, in words." if call.output is None else f"Reply anew. {instruction(call.output)}"
    shorter = " Be briefer: the reply must end before the limit." if isinstance(fault, TruncatedReplyError) else ""
    what = "it was declined" if isinstance(fault, RefusedByModelError) else " ".join(fault.what.split())
    told: Message = ("user", f"That reply could not be used: {what[:_MOST_OF_FAULT]}.{shorter} {wanted}")
    said = answer.text.strip()[:_MOST_OF_REPLY]
    return (("assistant", said), told) if said else (told,)


# The form of a reply


@lru_cache(maxsize=128)
def schema_text(output: type[BaseModel]) -> str:
    """Return the JSON schema of a type, compact and always the same for the same type."""
    return json.dumps(_schema(output)[0], ensure_ascii=False, separators=(",", ":"))


def response_format(output: type[BaseModel]) -> dict[str, JsonValue]:
    """Return the `response_format` of OpenAI's protocol for this type, strict if the type allows it."""
    schema, strict = _schema(output)
    name = re.sub(r"[^A-Za-z0-9_-]", "_", output.__name__)[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": strict}}


def instruction(output: type[BaseModel]) -> str:
    """Return the instruction for a model whose server does not enforce the schema."""
    return (
        "Reply with one JSON object and nothing else: no words before or after it, no Markdown. "
        f"It must be valid against this JSON schema:\n{schema_text(output)}"
    )


def _schema(output: type[BaseModel]) -> tuple[dict[str, JsonValue], bool]:
    """Return the schema of a type, and whether it is strict: all fields required, no others allowed, no references.

    A strict one uses only the part of JSON Schema that OpenAI's strict mode, vLLM and llama.cpp share.
    """
    from langchain_core.utils.json_schema import dereference_refs

    schema: dict[str, Any] = output.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("description", None)  # a docstring, for readers of the code
    try:
        return _shared_part(dereference_refs(schema)), True
    except (ValueError, RecursionError):
        return output.model_json_schema(), False


def _shared_part(schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return a schema without defaults, bounds and titles. Raises ValueError for what strict mode does not support."""
    part: dict[str, JsonValue] = {name: schema[name] for name in ("type", "enum", "description") if name in schema}
    if "const" in schema:
        part["enum"] = [schema["const"]]
    if "anyOf" in schema:
        part["anyOf"] = [_shared_part(option) for option in schema["anyOf"]]
    if "items" in schema:
        part["items"] = _shared_part(schema["items"])
    if properties := schema.get("properties"):
        part["properties"] = {name: _shared_part(each) for name, each in properties.items()}
        part["required"], part["additionalProperties"] = list(properties), False
    bare = part.get("type") in ("object", "array") and not (properties or "items" in schema)
    if not part or bare or schema.get("additionalProperties"):
        raise ValueError("strict mode needs the fields of every object and the form of every item")
    return part


# Reading a message


def from_langchain_message(message: AIMessage) -> ServerReply:
    """Convert a message of LangChain, or a merged stream."""
    blocks = message.content if isinstance(message.content, list) else []
    refusals = [str(block["refusal"]) for block in blocks if isinstance(block, dict) and block.get("refusal")]
    said = cleaned(str(message.text))
    text = redact_reply(said)
    named = map(message.response_metadata.get, ("finish_reason", "stop_reason", "done_reason", "status"))
    why = next((name.lower().rsplit(".", 1)[-1] for name in named if isinstance(name, str) and name), "")
    return ServerReply(
        text=without_thoughts(text),
        finish=Finish(load_yaml("finishes", __package__).get(why, Finish.UNKNOWN)),
        usage=_usage(message.usage_metadata or {}),
        refusal=str(message.additional_kwargs.get("refusal") or " ".join(refusals)),
        held_key=text != said,
    )


def _usage(counted: Mapping[str, Any]) -> Usage | None:
    total, output = counted.get("input_tokens") or 0, counted.get("output_tokens") or 0
    if not total and not output:
        return None
    cached = (counted.get("input_token_details") or {}).get("cache_read") or 0
    reasoning = (counted.get("output_token_details") or {}).get("reasoning") or 0
    return Usage(input=total, cached_input=min(cached, total), output=output, reasoning=min(reasoning, output))


def shown_part(text: str, *, more: bool) -> str:
    """Return what a listener may see of a reply's text so far: no reasoning, and no key.

    If there is `more` to come, the beginning of a key at the end is held back.
    """
    text = redact_reply(cleaned(text))
    keys = secrets_set() if more else []
    sizes = range(min(max(map(len, keys), default=0), len(text)), 0, -1)
    begun = next((size for size in sizes if any(key.startswith(text[-size:]) for key in keys)), 0)
    return without_thoughts(text[: len(text) - begun])


def cleaned(text: str) -> str:
    r"""Return a text without lone surrogates, unassigned and control characters, except line ends and tabs.

    >>> cleaned("net\n sales\x1b[2J\ud800")
    'net\n sales[2J'
    """
    if text.isprintable():
        return text
    return "".join(sign for sign in text if sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cs", "Cn"))


_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.S | re.I)


def without_thoughts(text: str) -> str:
    r"""Return a text without the reasoning that some models write before it; empty while the reasoning goes on.

    >>> without_thoughts("<think>Is it 4?</think>\nIt is 5."), without_thoughts("<thi"), without_thoughts("<think>Hm")
    ('It is 5.', '', '')
    """
    opening = text.strip().lower()
    return "" if opening and "<thinking>".startswith(opening.rstrip(">")) else _THOUGHTS.sub("", text)


# Reading JSON from a model's text


_MOST_READ = 200_000
_OPENING = re.compile(r"(\{)(?=\s*[\"}])")
_OPENING_OF_A_LIST = re.compile(r"^[ \t]*(\[)", re.M)


def _unique_fields(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Return the fields as a dict. Raises UnusableReplyError if a field appears twice."""
    fields: dict[str, JsonValue] = {}
    for name, value in pairs:
        if name in fields:
            raise _unusable(f"it is not valid JSON: the field {name[:40]!r} appears twice")
        fields[name] = value
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_fields)


def read_value(text: str, output: type[ValueT], *, whole: bool = False) -> ValueT:
    """Read a value from a model's text, from which reasoning was removed. Raises UnusableReplyError.

    Unless the text must be JSON as a `whole`, words around the JSON are skipped. Of several objects, the last one with
    a field of the type is meant, since examples precede the answer. Parts of a broken object are never used.
    """
    if len(text) > _MOST_READ:
        raise _unusable(f"it is longer than {_MOST_READ:,} characters")
    try:
        try:
            found = _DECODER.decode(text.strip())
        except json.JSONDecodeError:
            values = [] if whole else list(_values(text))
            if not values:
                raise
            fitting = [each for each in values if isinstance(each, dict) and each.keys() & output.model_fields.keys()]
            found = (fitting or values)[-1]
        return output.model_validate_json(json.dumps(found, allow_nan=False))
    except ValidationError as failure:
        raise _unusable(validation_problems(failure, "the whole", most=4)) from None
    except json.JSONDecodeError as failure:
        raise _unusable(f"it is not valid JSON: {failure.msg.lower()} (character {failure.pos})") from None
    except (ValueError, RecursionError):
        raise _unusable("it is not valid JSON: it goes too deep, or a number is too large") from None


def _values(text: str) -> Iterator[JsonValue]:
    """Yield each outermost object, up to a broken one; if there are no objects, lists on lines of their own.

    Lists in running text are references, as in `card [3]`.
    """
    opening = _OPENING if "{" in text else _OPENING_OF_A_LIST
    found = opening.search(text)
    while found is not None:
        try:
            value, end = _DECODER.raw_decode(text, found.start(1))
        except (ValueError, RecursionError, UnusableReplyError):
            return  # what follows may be a part of it
        yield value
        found = opening.search(text, end)
