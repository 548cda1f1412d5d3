"""A scripted model says what it is told to, in every way a model can be asked, and complains where it is not told."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from pydantic import BaseModel

from fin_agent.prompts import load_prompt
from fin_agent.testing import ModelCall, ScriptedChatModel, ScriptError


class Figure(BaseModel):
    label: str
    value: float


@tool
def look_up(page: int) -> str:
    """Look up a page."""
    return f"page {page}"


HYDE = load_prompt("hyde").filled(question="What was revenue?").text
RANKING = load_prompt("judge").filled(question="Which?", wanted="-", cards="Sales rose.", count="1").text


def test_replies_come_in_turn_however_it_is_asked() -> None:
    model = ScriptedChatModel([str(number) for number in range(6)])

    async def asked() -> list[str]:
        streamed = [str(piece.content) async for piece in model.astream("c")]
        return [str((await model.ainvoke("b")).content), "".join(streamed)]

    assert model.invoke("a").content == "0"
    assert sorted(asyncio.run(asked())) == ["1", "2"]
    assert "".join(str(piece.content) for piece in model.stream("d")) == "3"
    assert sorted(str(message.content) for message in model.batch(["e", "f"])) == ["4", "5"]
    assert [call.text for call in model.calls][:4] == ["a", "c", "b", "d"]
    model.verify()


def test_a_script_that_ends_says_so_with_the_prompt() -> None:
    model = ScriptedChatModel(["only"])
    model.invoke("first")
    with pytest.raises(ScriptError, match=r"has 1 reply and was asked for one more\. The prompt: second question"):
        model.invoke([SystemMessage("second"), HumanMessage("question")])
    with pytest.raises(ScriptError, match=r"x{300}… \(2000 characters\)"):
        model.invoke("x" * 2000)


def test_what_a_caller_catches_comes_out_at_the_end() -> None:
    model = ScriptedChatModel([])
    with contextlib.suppress(ScriptError):
        model.invoke("first")
    with pytest.raises(ScriptError, match="asked for one more"):
        model.verify()
    with pytest.raises(ScriptError, match="not requested: 2"):
        ScriptedChatModel(["a", "b"]).verify()
    with pytest.raises(ScriptError, match="not requested: 1 of 'judge'"):
        ScriptedChatModel({"judge": ["a"], "hyde": "b"}).verify()


def by(role: str) -> RunnableConfig:
    return {"metadata": {"role": role}}


def test_roles_have_replies_of_their_own() -> None:
    model = ScriptedChatModel({"hyde": "a passage", "judge": ["one ranking", "another"], "*": "something else"})
    told = [model.invoke("Go", by(role)).content for role in ("judge", "hyde", "hyde", "listwise-ranking")]
    assert [*told, model.invoke("What is this?").content] == [
        "one ranking", "a passage", "a passage", "another", "something else",
    ]  # fmt: skip
    assert [call.role for call in model.calls] == ["judge", "hyde", "hyde", "judge", None]
    with pytest.raises(ScriptError, match="2 replies for the role 'judge'"):
        model.invoke(RANKING, by("judge"))
    with pytest.raises(
        ScriptError, match=r"no reply for the role 'judge', only for hyde\. The prompt: You rank passages"
    ):
        ScriptedChatModel({"hyde": "x"}).invoke(RANKING, by("judge"))
    with pytest.raises(ScriptError, match="no reply for a call of no known role, only for hyde"):
        ScriptedChatModel({"hyde": "x"}).invoke("Who are you?")


def test_a_role_may_be_told() -> None:
    model = ScriptedChatModel({"judge": "ranked", "cover": "summed up"})
    assert model.invoke("Anything", {"metadata": {"role": "judge"}}).content == "ranked"
    assert asyncio.run(model.ainvoke("Anything", {"tags": ["role:cover"]})).content == "summed up"
    assert model.invoke(HYDE, {"metadata": {"role": "judge"}}).content == "ranked"
    bound = model.bind(stop=["x"]).with_config(metadata={"role": "cover"})
    assert "".join(str(piece.content) for piece in bound.stream(HYDE)) == "summed up"
    assert model.calls[-1].options == {"stop": ["x"]}


def test_a_function_answers_by_the_call() -> None:
    def answer(call: ModelCall) -> str | AIMessage:
        assert call.schema is None
        return f"{call.role}: {len(call.messages)}, {call.tools}, {call.options.get('stop')}"

    model = ScriptedChatModel(answer)
    assert model.bind_tools([look_up]).invoke(
        [SystemMessage(HYDE), HumanMessage("Go")], by("hyde"), stop=["x"]
    ).content == ("hyde: 2, ('look_up',), ['x']")


def test_errors_of_the_script_are_raised() -> None:
    model = ScriptedChatModel([TimeoutError("too late"), "well"])
    with pytest.raises(TimeoutError, match="too late"):
        model.invoke("a")
    assert model.invoke("a").content == "well"
    model.verify()


def test_structured_answers() -> None:
    figure = Figure(label="Revenue", value=5.5)
    for method in ("json_schema", "json_mode", "function_calling"):
        assert ScriptedChatModel([figure]).with_structured_output(Figure, method=method).invoke("?") == figure
        raw = ScriptedChatModel(["no"]).with_structured_output(Figure, method=method, include_raw=True).invoke("?")
        assert isinstance(raw, dict) and raw["parsed"] is None and raw["raw"].content == "no"
        assert raw["raw"].usage_metadata is not None
    model = ScriptedChatModel([{"label": "Revenue", "value": 5.5}])
    bound = model.bind(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"a": 1}}})
    assert bound.invoke("?").content == '{"label": "Revenue", "value": 5.5}'
    assert model.calls[0].schema == {"a": 1}


def test_an_agent_calls_tools() -> None:
    agents = pytest.importorskip("langchain.agents", reason="agents come with langchain")
    call = AIMessage(content="", tool_calls=[{"name": "look_up", "args": {"page": 9}, "id": "1"}])
    model = ScriptedChatModel([call, lambda heard: f"It says {heard.messages[-1].text}"])
    messages = agents.create_agent(model, [look_up]).invoke({"messages": [("human", "Look it up")]})["messages"]
    assert messages[-1].content == "It says page 9"
    assert all(each.tools == ("look_up",) for each in model.calls)


def test_streams_carry_calls_usage_and_the_reason_why_they_end() -> None:
    call = AIMessage(content="Let me see", tool_calls=[{"name": "look_up", "args": {"page": 9}, "id": "1"}])
    first, *rest = ScriptedChatModel([call]).stream("?")
    for piece in rest:
        first += piece  # type: ignore[assignment]
    assert len(rest) >= 4 and first.content == "Let me see"
    assert [(each["name"], each["args"]) for each in first.tool_calls] == [("look_up", {"page": 9})]
    assert first.usage_metadata == ScriptedChatModel([call]).invoke("?").usage_metadata is not None
    assert first.response_metadata["finish_reason"] == "tool_calls"


def test_tokens_are_counted_for_each_model_without_a_network() -> None:
    with get_usage_metadata_callback() as counted:
        ScriptedChatModel("four", model_name="small").invoke("12345678")
        list(ScriptedChatModel("four", model_name="small").stream("12345678"))
        ScriptedChatModel("x", tells_usage=False).invoke("12345678")
    assert {name: usage["total_tokens"] for name, usage in counted.usage_metadata.items()} == {"small": 6}
    given = AIMessage("x", usage_metadata={"input_tokens": 7, "output_tokens": 1, "total_tokens": 8})
    usage = ScriptedChatModel([given]).invoke("?").usage_metadata
    assert usage is not None and usage["input_tokens"] == 7
    assert ScriptedChatModel("x").get_num_tokens("12345") == 2


def test_threads_each_get_a_reply_of_their_own() -> None:
    model = ScriptedChatModel([str(number) for number in range(200)])
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda number: model.invoke(str(number)).content, range(200)))
    assert sorted(map(str, said), key=int) == [str(number) for number in range(200)]
    model.verify()


def test_importing_the_package_does_not_import_langchain() -> None:
    code = "import sys, fin_agent; sys.exit(any(name.split('.')[0].startswith('langchain') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    code = (
        "import sys, fin_agent.testing; sys.exit(any(n in sys.modules for n in ('langchain', 'openai', 'langgraph')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
