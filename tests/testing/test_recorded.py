"""What a model said is kept and said again; what was not kept is refused; what is secret is never kept."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field, SecretStr

from fin_agent.prompts import load_prompt
from fin_agent.testing import (
    NotRecordedError,
    RecordedChatModel,
    RecordingError,
    ScriptedChatModel,
    loopback_only,
    no_model_requests,
)

HYDE = load_prompt("hyde").filled(question="What was revenue?").text


class Figure(BaseModel):
    value: float


@tool
def look_up(page: int) -> str:
    """Look up a page."""
    return f"page {page}"


class Keyed(ScriptedChatModel):
    """As models of providers are: with a key, and headers."""

    api_key: SecretStr = SecretStr("sk-secret-0123456789")
    default_headers: dict[str, str] = Field(default={"X-Org": "organisation-0123456789"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "said.jsonl"


def test_what_was_said_is_said_again_to_the_letter(file: Path) -> None:
    said = AIMessage(
        "Sales rose — by 5 %.",
        tool_calls=[{"name": "look_up", "args": {"page": 9}, "id": "1"}],
        response_metadata={"finish_reason": "tool_calls", "headers": {"x-request-id": "7"}, "model_name": "big"},
        additional_kwargs={"refusal": "no", "parsed": Figure(value=1)},
        usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
        id="chatcmpl-77",
    )
    thread = [SystemMessage("Be brief"), HumanMessage("Sales?")]
    with RecordedChatModel.recording(ScriptedChatModel([said]), file) as model:
        first = model.bind_tools([look_up], tool_choice="any").invoke(thread)
    with no_model_requests(), loopback_only():
        again = RecordedChatModel.replaying(file).bind_tools([look_up], tool_choice="any").invoke(thread)
    for message in (first, again):
        assert (message.content, message.tool_calls) == (said.content, said.tool_calls)
        assert message.usage_metadata == said.usage_metadata
        assert message.response_metadata["finish_reason"] == "tool_calls"
        assert message.response_metadata["model_name"] == "big"
        assert message.additional_kwargs == {"refusal": "no"}
    written = file.read_text(encoding="utf-8")
    assert "x-request-id" not in written and "chatcmpl" not in written and "Sales rose — by 5 %." in written


def test_in_every_way_a_model_is_asked(file: Path) -> None:
    async def streamed(model: RecordedChatModel) -> str:
        return "".join([str(piece.content) async for piece in model.astream("d")])

    def asked(model: RecordedChatModel) -> list[str]:
        return [
            str(model.invoke("a").content),
            str(asyncio.run(model.ainvoke("b")).content),
            "".join(str(piece.content) for piece in model.stream("c")),
            asyncio.run(streamed(model)),
            str(model.with_structured_output(Figure).invoke("e")),
        ]

    sound = ScriptedChatModel(["one", "two", "three words said", "four", Figure(value=5)])
    with RecordedChatModel.recording(sound, file) as model:
        first = asked(model)
    assert first == ["one", "two", "three words said", "four", "value=5.0"]
    assert asked(RecordedChatModel.replaying(file)) == first


def test_usage_is_counted_once(file: Path) -> None:
    with (
        get_usage_metadata_callback() as counted,
        RecordedChatModel.recording(ScriptedChatModel("four"), file) as model,
    ):
        model.invoke("12345678")
    assert [usage["total_tokens"] for usage in counted.usage_metadata.values()] == [3]
    with get_usage_metadata_callback() as again:
        RecordedChatModel.replaying(file).invoke("12345678")
    assert again.usage_metadata == counted.usage_metadata


def test_the_same_calls_give_the_same_file_whatever_their_order(tmp_path: Path) -> None:
    def recorded(name: str, order: list[int]) -> bytes:
        file = tmp_path / name
        sound = ScriptedChatModel(lambda call: f"reply to {call.text}")
        with RecordedChatModel.recording(sound, file) as model, ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: model.invoke(f"{number}"), order))
            model.invoke(HYDE)
        return file.read_bytes()

    one = recorded("one.jsonl", list(range(30)))
    assert one == recorded("two.jsonl", list(range(29, -1, -1)))
    header, *entries = [json.loads(line) for line in one.splitlines()]
    assert header["version"] == 2 and len(entries) == 31
    assert [entry["role"] for entry in entries].count("hyde") == 1


def test_a_call_made_again_is_kept_again(file: Path) -> None:
    with RecordedChatModel.recording(ScriptedChatModel([TimeoutError(), "one", "two"]), file) as model:
        with pytest.raises(TimeoutError):
            model.invoke("a")
        assert [model.invoke("a").content for _ in range(2)] == ["one", "two"]
    model = RecordedChatModel.replaying(file)
    assert [model.invoke("a").content for _ in range(2)] == ["one", "two"]
    with pytest.raises(NotRecordedError, match=r"recorded 2 times and is made once more\. The prompt: a"):
        model.invoke("a")
    model.rewind()
    assert model.invoke("a").content == "one"


@pytest.mark.parametrize(
    ("asked", "options", "said"),
    [
        ([SystemMessage("Be brief"), HumanMessage("Revenue of 2024?")], {},
         r"with content 'Revenue of 2023\?', where content 'Revenue of 2024\?' was asked"),
        ([SystemMessage("Be brief")], {}, r"with .*'Revenue of 2023\?'.*, where nothing was asked"),
        ([SystemMessage("Be brief"), AIMessage("Revenue of 2023?")], {}, "type .human., where type .ai. was asked"),
        ([SystemMessage("Be brief"), HumanMessage("Revenue of 2023?")], {"temperature": 0.7},
         r"with temperature 0\.1, where temperature 0\.7 was asked"),
        ([SystemMessage("Be brief"), HumanMessage("Revenue of 2023?")], {"stop": ["x"]},
         "with nothing, where stop 'x' was asked"),
        ([SystemMessage("Be brief"), HumanMessage("Revenue of 2023?")], {"extra_headers": {"a": "b"}},
         "with nothing, where options_not_told 'extra_headers' was asked"),
    ],
)  # fmt: skip
def test_what_was_not_recorded_is_refused_with_the_difference(
    asked: list[Any], options: dict[str, Any], said: str, file: Path
) -> None:
    with RecordedChatModel.recording(ScriptedChatModel("yes"), file) as model:
        model.invoke([HumanMessage("Something else altogether")], temperature=0.1)
        model.invoke([SystemMessage("Be brief"), HumanMessage("Revenue of 2023?")], temperature=0.1)
    with pytest.raises(NotRecordedError, match=rf"said\.jsonl: this call was not recorded\..*{said}"):
        RecordedChatModel.replaying(file).invoke(asked, **{"temperature": 0.1, **options})


def test_an_empty_recording_says_so(file: Path) -> None:
    RecordedChatModel.recording(ScriptedChatModel("yes"), file).close()
    with pytest.raises(NotRecordedError, match="The recording is empty"):
        RecordedChatModel.replaying(file).invoke("a")


def test_keys_and_headers_are_not_recorded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", "environment-0123456789")
    sound = Keyed(lambda call: "sk-secret-0123456789" if "echo" in call.text else "fine")
    with RecordedChatModel.recording(sound, file) as model:
        model.bind(extra_headers={"Authorization": "Bearer told-0123456789"}, api_key="given-0123456789").invoke("a")
        for secret in ("sk-secret-0123456789", "organisation-0123456789", "environment-0123456789"):
            with pytest.raises(RecordingError, match="a key or a header's value stands in the prompt"):
                model.invoke(f"My key is {secret}")
        with pytest.raises(RecordingError, match="stands in the answer; nothing was recorded"):
            model.invoke("echo")
        assert "0123456789" not in file.read_text()
    assert "0123456789" not in file.read_text() and '["api_key", "extra_headers"]' in file.read_text()


def test_a_recording_is_added_to_only_when_asked(file: Path) -> None:
    with RecordedChatModel.recording(ScriptedChatModel(["one"]), file) as model:
        model.invoke("a")
    with pytest.raises(RecordingError, match="a recording is there already"):
        RecordedChatModel.recording(ScriptedChatModel([]), file)
    with RecordedChatModel.recording(ScriptedChatModel(["two"]), file, add=True) as model:
        assert [model.invoke(text).content for text in ("a", "b")] == ["one", "two"]
    replayed = RecordedChatModel.replaying(file)
    assert [replayed.invoke(text).content for text in ("b", "a")] == ["two", "one"]


def test_what_was_said_before_a_crash_is_there(file: Path) -> None:
    model = RecordedChatModel.recording(ScriptedChatModel(["one", "two"]), file)
    model.invoke("b")
    model.invoke("a")
    assert RecordedChatModel.replaying(file).invoke("a").content == "two"


@pytest.mark.parametrize("text", ["", "{}\n", "no json\n", '{"format": "fin-agent recorded chat", "version": 1}\n{}\n'])
def test_a_file_that_is_no_recording_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(text)
    with pytest.raises(RecordingError, match=r"x\.jsonl: it (is no recording|cannot be read as a recording)"):
        RecordedChatModel.replaying(file)
    with pytest.raises(RecordingError, match="cannot be read"):
        RecordedChatModel.replaying(tmp_path / "none.jsonl")


@pytest.mark.parametrize("odd", ["a\ud800\x00\u2028\x1b b", "a\u2028b\u2029c\x85d\x0b\r\ne"])
def test_odd_letters_travel(odd: str, file: Path) -> None:
    with RecordedChatModel.recording(ScriptedChatModel(odd), file) as model:
        model.invoke("odd \ud800")
    assert RecordedChatModel.replaying(file).invoke("odd \ud800").content == odd


def test_openais_model_is_recorded_over_http(file: Path) -> None:
    langchain_openai = pytest.importorskip("langchain_openai", reason="a real client is recorded")
    from tests.models.openai_server import KEY, OpenAIServer, Reply, ToolCall

    def asked(model: RecordedChatModel) -> list[Any]:
        messages = [
            model.invoke("Hello"),
            asyncio.run(model.ainvoke("Hello")),
            model.bind_tools([look_up], tool_choice="any").invoke("Look"),
            model.bind(response_format={"type": "json_object"}).invoke("As json"),
        ]
        return [(message.content, message.tool_calls, message.usage_metadata) for message in messages]

    with OpenAIServer(
        lambda request: Reply(tool_calls=(ToolCall("look_up", {"page": 9}),)) if request.tools else f"{request.number}"
    ) as server:
        real = langchain_openai.ChatOpenAI(
            model="gpt-4o", base_url=server.url, api_key=KEY, include_response_headers=True, temperature=0.01
        )
        with RecordedChatModel.recording(real, file) as model:
            first = asked(model)
        assert len(server.log) == 4 and all(logged.status == 200 for logged in server.log)
    assert first[2][1][0]["args"] == {"page": 9}
    with no_model_requests(), loopback_only():
        assert asked(RecordedChatModel.replaying(file)) == first
    written = file.read_text()
    assert KEY not in written and "req_0" not in written and "127.0.0.1" not in written
