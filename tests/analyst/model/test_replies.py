"""Replies of every role: their schemas are those that strict servers take, and what weak models write is read."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest
from pydantic import BaseModel, JsonValue, ValidationError

from fin_agent.analyst.model import replies
from fin_agent.analyst.model.replies import (
    Correctness,
    CurationReply,
    GroupReply,
    IntentReply,
    ListwiseReply,
    QueryReply,
    ReasoningReply,
    SubQuestionsReply,
    SummaryReply,
    TextJudgeReply,
)
from fin_agent.analyst.rules.analyst import RulesAnalyst, is_computable
from fin_agent.evidence.intent import OutputUnit
from fin_agent.models.replies import response_format
from fin_agent.prompts import load_prompt
from fin_agent.prompts.prompt import TEXT, prompt_roles
from fin_agent.workspace import Workspace

ALLOWED = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf"}
OUTPUTS = {role.output for role in prompt_roles().values()} - {TEXT}
REPLIES: dict[str, type[BaseModel]] = {name: getattr(replies, name) for name in sorted(OUTPUTS)}
MOST_FIELDS = 30
DEEPEST = 5


def strict_schema(output: type[BaseModel]) -> dict[str, JsonValue]:
    named = response_format(output)["json_schema"]
    assert isinstance(named, dict) and named["strict"] is True and isinstance(named["schema"], dict)
    return named["schema"]


@pytest.mark.parametrize("name", REPLIES)
def test_a_schema_is_what_strict_servers_take(name: str) -> None:
    schema = strict_schema(REPLIES[name])
    assert schema["type"] == "object" and "anyOf" not in schema
    fields = list(checked(schema))
    assert 1 <= len(fields) <= MOST_FIELDS
    assert len(json.dumps(schema)) < 3_000


def checked(schema: JsonValue, depth: int = 1) -> list[str]:
    """The names of all fields of a schema that keeps to the rules of strict mode."""
    assert isinstance(schema, dict) and set(schema) <= ALLOWED and depth <= DEEPEST
    if "anyOf" in schema:
        assert set(schema) == {"anyOf"} and isinstance(schema["anyOf"], list)
        assert {"type": "null"} in schema["anyOf"]
        return [name for option in schema["anyOf"] for name in checked(option, depth)]
    if schema["type"] == "array":
        return checked(schema["items"], depth)
    if schema["type"] == "object":
        properties = schema["properties"]
        assert isinstance(properties, dict) and properties
        assert schema["additionalProperties"] is False and schema["required"] == list(properties)
        return [*properties, *(name for each in properties.values() for name in checked(each, depth + 1))]
    assert schema["type"] in ("string", "integer", "boolean", "number", "null")
    enum = schema.get("enum", [""])
    assert isinstance(enum, list) and enum and all(isinstance(value, str) for value in enum)
    return []


def test_a_calculation_may_say_any_unit_or_none() -> None:
    calculation = strict_schema(ReasoningReply)["properties"]["calculations"]["items"]  # type: ignore[call-overload,index]
    unit = calculation["properties"]["unit"]  # type: ignore[call-overload,index]
    assert unit["anyOf"] == [{"type": "string", "enum": list(get_args(OutputUnit))}, {"type": "null"}]  # type: ignore[call-overload,index]


@pytest.mark.parametrize("name", [name for name, role in prompt_roles().items() if role.output != TEXT])
def test_a_prompt_names_every_field_of_its_reply(name: str) -> None:
    system = load_prompt(name).filled(**dict.fromkeys(prompt_roles()[name].placeholders, "")).system
    fields = checked(strict_schema(REPLIES[prompt_roles()[name].output]))
    assert [field for field in fields if f'"{field}"' not in system] == []


def test_a_prompt_names_every_value_that_may_be_given() -> None:
    for name in ("text_judge", "reasoning"):
        schema = json.dumps(strict_schema(REPLIES[prompt_roles()[name].output]))
        values = {value for enum in re.findall(r'"enum": (\[[^\]]*\])', schema) for value in json.loads(enum)}
        system = load_prompt(name).system
        assert len(values) >= 3 and {value for value in values if f'"{value}"' not in system} == set()


GOOD: list[tuple[type[BaseModel], dict[str, JsonValue]]] = [
    (CurationReply, {"kept": [{"passage": 1, "reason": "revenue"}], "missing": [], "answerable": True,
                     "complementary_question": None}),
    (GroupReply, {"chosen": [{"card": 4, "score": 88.0, "fields": ["time: FY2023"]}]}),
    (IntentReply, {"questions": ["revenue of Acme in FY2023"], "search": "net sales", "ask_back": None}),
    (ListwiseReply, {"ranking": [{"card": 2, "fields": []}, {"card": 1, "fields": []}]}),
    (QueryReply, {"query": "Acme 10-K fiscal 2023 revenue", "terms": ["Net sales"]}),
    (ReasoningReply, {"figures": [{"name": "a", "passage": 1, "quote": "Net sales 12", "number": "12"}],
                      "calculations": [{"name": "b", "expression": "2 * a", "unit": "USD millions"}],
                      "sentences": [{"text": "Sales rose.", "citations": [{"passage": 1, "quote": "Sales rose"}]}],
                      "answer": "Yes: {b}.", "verdict": "yes", "assumption": None, "missing": [], "keep": [],
                      "complementary_question": None}),
    (SubQuestionsReply, {"questions": ["What was revenue?"]}),
    (SummaryReply, {"company": "Acme Corp.", "also_named": [], "summary": "Annual report of Acme."}),
    (TextJudgeReply, {"reason": "Same.", "verdict": "correct"}),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "written"), GOOD)
def test_what_the_schema_asks_for_is_read_as_written(reply: type[BaseModel], written: dict[str, JsonValue]) -> None:
    read = reply.model_validate(written)
    assert json.loads(read.model_dump_json()) == written
    assert read == reply.model_validate({**written, "thoughts": "more than was asked for"})
    with pytest.raises(ValidationError, match="frozen"):
        setattr(read, next(iter(written)), None)


def test_what_weak_models_write_is_read_too() -> None:
    kept = CurationReply.model_validate({"kept": [3, "passage 1", "[2]"], "missing": None, "answerable": False,
                                         "complementary_question": "  none "})  # fmt: skip
    assert [each.passage for each in kept.kept] == [3, 1, 2] and kept.complementary_question is None
    assert CurationReply.model_validate({"answerable": "yes", "kept": {"passage": 2}}).kept[0].passage == 2
    intent = IntentReply.model_validate({"questions": "What was revenue?", "search": None})
    assert (intent.questions, intent.search) == (("What was revenue?",), "")
    ranked = ListwiseReply.model_validate({"ranking": [3, "card 1", {"card": "2"}, 3, 1]})
    assert [place.card for place in ranked.ranking] == [3, 1, 2, 3, 1]
    reasoning = ReasoningReply.model_validate(
        {"sentences": [{"text": "x", "citations": None}], "answer": "n/a", "verdict": True}
    )
    assert (reasoning.answer, reasoning.verdict, reasoning.sentences[0].citations) == (None, "yes", ())
    figure = {"name": "a", "passage": "[2]", "quote": "Net sales 12", "number": 12}
    kept = {"answer": None, "keep": "passage 3", "figures": {**figure, "number": "12"}, "calculations": None}
    read = ReasoningReply.model_validate(kept)
    assert (read.keep, read.figures[0].passage, read.calculations) == ((3,), 2, ())
    units = [{"name": "b", "expression": "a", "unit": unit} for unit in (" n/a ", None, "percent")]
    several = ReasoningReply.model_validate({"answer": "x", "calculations": units}).calculations
    assert [each.unit for each in several] == [None, None, "percent"]
    assert TextJudgeReply.model_validate({"verdict": "No answer"}).verdict is Correctness.NO_ANSWER


@pytest.mark.parametrize(
    ("reply", "written"),
    [
        (CurationReply, {"kept": []}),
        (CurationReply, {"kept": ["the first"], "answerable": True}),
        (CurationReply, {"kept": [True], "answerable": True}),
        (IntentReply, {"questions": [{"asked": "x"}]}),
        (GroupReply, {}),
        (ReasoningReply, {"answer": "x", "calculations": [{"name": "b", "expression": "a", "unit": "dollars"}]}),
        (ListwiseReply, {"ranking": [1.5]}),
        (ReasoningReply, {"sentences": ["a sentence"]}),
        (TextJudgeReply, {"reason": "fine"}),
        (QueryReply, {"terms": []}),
    ],
)
def test_what_decides_is_never_made_up(reply: type[BaseModel], written: dict[str, JsonValue]) -> None:
    with pytest.raises(ValidationError):
        reply.model_validate(written)


PART = "Electronic Test"


def test_the_forms_that_the_intent_prompt_shows_are_read_by_rules(workspace: Workspace) -> None:
    """With companies, lines and parts that the filings at hand have."""
    shown = re.findall(r"^ {4}(\S.*)$", load_prompt("intent").system, re.M)
    forms = [form.strip() for line in shown for form in line.split(";")]
    assert len(forms) >= 12
    rules = RulesAnalyst(workspace)
    for form in forms:
        asked = form.replace("Acme", "Harborlight").replace("Bolt", "Quillmark").replace("Europe", PART)
        intent = rules.intent(asked)
        assert is_computable(intent), (asked, intent.unsupported)
