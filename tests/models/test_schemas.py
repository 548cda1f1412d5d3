"""Schemas as servers take them."""

from __future__ import annotations

import json
from enum import StrEnum

from pydantic import BaseModel, Field

from fin_agent.models.replies import instruction, response_format


class Verdict(StrEnum):
    YES = "yes"
    NO = "no"


class Passage(BaseModel):
    number: int = Field(description="as it stands in the prompt")
    why: str | None = None


class Curation(BaseModel):
    kept: list[Passage]
    best: Passage | None = None
    verdict: Verdict = Verdict.NO
    default: int = 3


class Free(BaseModel):
    figures: dict[str, float]


def schema_of(output: type[BaseModel]) -> dict[str, object]:
    named = response_format(output)["json_schema"]
    assert isinstance(named, dict)
    return named


def test_a_strict_schema_closes_every_object_and_requires_every_field() -> None:
    named = schema_of(Curation)
    assert named["strict"] is True and named["name"] == "Curation"
    schema = named["schema"]
    assert isinstance(schema, dict)
    assert schema["required"] == ["kept", "best", "verdict", "default"] and schema["additionalProperties"] is False
    passage = schema["properties"]["kept"]["items"]
    assert passage["required"] == ["number", "why"] and passage["additionalProperties"] is False
    assert passage["properties"]["number"]["description"] == "as it stands in the prompt"
    assert schema["properties"]["best"]["anyOf"] == [passage, {"type": "null"}], "nothing is referred to"
    assert schema["properties"]["verdict"] == {"type": "string", "enum": ["yes", "no"]}
    assert "default" not in schema["properties"]["default"], "a field may be called default, none has one"


def test_free_keys_cannot_be_strict() -> None:
    named = schema_of(Free)
    assert named["strict"] is False
    assert named["schema"] == Free.model_json_schema()


def test_words_hold_the_schema() -> None:
    assert json.loads(instruction(Curation).split("schema:\n")[1]) == schema_of(Curation)["schema"]
    assert json.loads(instruction(Free).split("schema:\n")[1]) == Free.model_json_schema()


class Section(BaseModel):
    title: str
    parts: list[Section] = []


def test_a_type_inside_itself_is_not_strict() -> None:
    named = schema_of(Section)
    assert named["strict"] is False and named["schema"] == Section.model_json_schema()


class Told(BaseModel):
    """Words for those who read the code."""

    verdict: Verdict = Field(default=Verdict.NO, description="what it comes to")
    passage: Passage


def test_a_schema_holds_what_fields_say_and_no_docstrings() -> None:
    assert schema_of(Told)["schema"]["properties"]["verdict"]["description"] == "what it comes to"  # type: ignore[index,call-overload]
    assert "read the code" not in instruction(Told)
