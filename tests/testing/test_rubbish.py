"""Rubbish comes as often as it is told to, of every kind, and in the same places each time."""

from __future__ import annotations

import asyncio
import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from benchmarks.models.rubbish import Rubbish, RubbishChatModel, rubbish
from fin_agent.testing import ModelCall, ScriptedChatModel

ANSWER = '{"metric": "revenue", "value": 1234.5}'
SOUND = {"metric": "revenue", "value": 1234.5}


def spoiling(probability: float = 1, *kinds: Rubbish, seed: int = 0, script: Any = ANSWER) -> RubbishChatModel:
    return RubbishChatModel(
        ScriptedChatModel(script), probability=probability, kinds=kinds or tuple(Rubbish), seed=seed
    )


def said(kind: Rubbish, answer: str = ANSWER) -> str:
    return str(spoiling(1, kind, script=answer).invoke("What was revenue?").content)


def test_each_kind_is_rubbish_of_its_own() -> None:
    made = {kind: said(kind) for kind in Rubbish}
    assert ANSWER not in made.values() and len(set(made.values())) == len(Rubbish)
    assert made[Rubbish.EMPTY] == "" and not made[Rubbish.BLANK].strip()
    assert made[Rubbish.PROMPT_ECHO] == "What was revenue?"
    assert ANSWER.startswith(made[Rubbish.TRUNCATED])
    assert json.loads(made[Rubbish.WRONG_TYPES]) == {"metric": {"value": "revenue"}, "value": "about 1234.5"}
    assert json.loads(made[Rubbish.WRONG_NAMES]) == {
        "metric_final": {"final": "revenue"},
        "value_final": {"final": 1234.5},
    }
    assert json.loads(made[Rubbish.NULLS]) == {"metric": None, "value": None}
    assert json.loads(made[Rubbish.BARE_LIST]) == [SOUND, SOUND]
    assert json.loads(made[Rubbish.SCALED_NUMBERS]) == {**SOUND, "value": 1234500}
    assert len(made[Rubbish.ENDLESS]) >= 30_000 and made[Rubbish.REPEATED].count(ANSWER) == 2


@pytest.mark.parametrize("answer", [ANSWER, "Revenue was $1,234.5 million, 7% more.", "[1, 2]", "", "0", "yes", "null"])
@pytest.mark.parametrize("kind", list(Rubbish))
def test_rubbish_is_never_the_answer(kind: Rubbish, answer: str) -> None:
    for seed in range(20):
        made = rubbish(kind, answer, "prompt", random.Random(seed))
        assert made != answer


def test_invented_numbers_look_like_those_they_replace() -> None:
    sentence = "Revenue was $1,234.5 million in 2023."
    made = said(Rubbish.INVENTED_NUMBERS, sentence)
    assert [len(word) for word in made.split()] == [len(word) for word in sentence.split()]
    assert "1,234.5" not in made and "2023" not in made and made.startswith("Revenue was $")


def test_numbers_are_scaled() -> None:
    assert said(Rubbish.SCALED_NUMBERS, "It was 1,234 in 5") == "It was 1,234,000 in 5000"


def test_it_comes_as_often_as_it_is_told_to() -> None:
    for probability, least, most in ((0.0, 0, 0), (0.5, 160, 240), (1.0, 400, 400)):
        model = spoiling(probability, seed=3)
        answers = [str(model.invoke(f"question {number}").content) for number in range(400)]
        assert least <= len(model.spoiled) <= most
        assert sum(answer != ANSWER for answer in answers) == len(model.spoiled)
    assert {each.kind for each in model.spoiled} == set(Rubbish)


def test_the_same_seed_spoils_the_same_calls_in_any_order_and_thread() -> None:
    def answers(model: RubbishChatModel, order: list[int]) -> dict[int, str]:
        with ThreadPoolExecutor(4) as pool:
            return dict(zip(order, pool.map(lambda number: str(model.invoke(f"{number}").content), order), strict=True))

    async def asynchronous(model: RubbishChatModel) -> dict[int, str]:
        heard = await asyncio.gather(*(model.ainvoke(f"{number}") for number in range(40)))
        return {number: str(message.content) for number, message in enumerate(heard)}

    first = answers(spoiling(0.5), list(range(40)))
    assert first == answers(spoiling(0.5), list(range(39, -1, -1))) == asyncio.run(asynchronous(spoiling(0.5)))
    assert first != answers(spoiling(0.5, seed=1), list(range(40)))


def test_a_call_made_again_is_drawn_anew() -> None:
    model = spoiling(0.5)
    assert len({str(model.invoke("again").content) for _ in range(30)}) > 5


def test_tokens_and_streams_stay() -> None:
    model = spoiling(1, Rubbish.PROSE)
    whole = model.invoke("What was revenue?")
    assert whole.usage_metadata == ScriptedChatModel(ANSWER).invoke("What was revenue?").usage_metadata
    assert whole.response_metadata["model_name"] == "scripted"
    assert len(list(model.stream("What was revenue?"))) > 5


def test_calls_of_tools_are_spoiled() -> None:
    call = AIMessage(content="", tool_calls=[{"name": "look_up", "args": SOUND, "id": "1"}])

    def message(kind: Rubbish) -> AIMessage:
        return spoiling(1, kind, script=[call]).invoke("?")

    assert message(Rubbish.NULLS).tool_calls[0]["args"] == {"metric": None, "value": None}
    broken = message(Rubbish.BARE_LIST)
    assert not broken.tool_calls and broken.invalid_tool_calls[0]["name"] == "look_up"
    prose = message(Rubbish.PROSE)
    assert prose.content and not prose.tool_calls and not prose.invalid_tool_calls


def test_errors_and_roles_of_the_model_behind_come_through() -> None:
    with pytest.raises(TimeoutError):
        spoiling(1, script=[TimeoutError()]).invoke("?")
    heard: list[ModelCall] = []

    def answer(call: ModelCall) -> str:
        heard.append(call)
        return "x"

    model = spoiling(0, script=answer)
    model.invoke("?", {"metadata": {"role": "judge"}})
    list(model.stream("?", {"metadata": {"role": "judge"}}))
    asyncio.run(model.ainvoke("?", {"tags": ["role:judge"]}))
    assert [call.role for call in heard] == ["judge"] * 3


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="probability"):
        spoiling(1.5)
    with pytest.raises(ValueError, match="kinds"):
        RubbishChatModel(ScriptedChatModel("x"), kinds=[])
