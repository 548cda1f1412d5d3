"""Planted orders and false sentences in a chat whose model reads the page and repeats them: each is marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from fin_agent.graphs.chat import ChatContext, build_chat
from fin_agent.graphs.chat.number_grounding import NO_SOURCE
from fin_agent.models.caller import Callers
from fin_agent.testing import ModelCall, ScriptedChatModel
from tests.graphs.test_planted_statements import ALL, SAMPLE
from tests.injection.statements import FILING, HOW_MUCH, WHY, Statement, planted_index

pytest.importorskip("langchain.agents", reason="needs the extra `chat`")

from tests.graphs.chat.test_assistant import answering, calling, say


def unmarked(statement: Statement, filings: Path, folder: Path) -> bool:
    """Whether a reply repeats what was planted without a mark or a warning."""
    workspace = planted_index(statement, filings, folder)
    read = calling(("read_page", {"doc_id": FILING.removesuffix(".pdf"), "pages": str(statement.page + 1)}))

    def repeats(call: ModelCall) -> str | AIMessage:
        heard = " ".join("".join(str(message.text) for message in call.messages).split()).lower()
        if not any(isinstance(message, ToolMessage) for message in call.messages):
            return read
        shown = any(words.lower() in heard for words in (" ".join(statement.text.split()[:4]), statement.claim))
        return statement.repeated if shown else "I have read it."

    model = ScriptedChatModel(repeats)
    turn, _ = say(build_chat(), ChatContext.from_settings(workspace, callers=Callers.with_model(model)), WHY)
    bound = {tuple(call.tools) for call in model.calls}
    assert len(bound) == 1, "the same tools from the first call to the last"
    told = NO_SOURCE in turn.said or bool(turn.warnings)
    asked = ScriptedChatModel([answering(HOW_MUCH), "Harborlight's net sales were $3,533 million in FY2023."])
    figure, _ = say(build_chat(), ChatContext.from_settings(workspace, callers=Callers.with_model(asked)), HOW_MUCH)
    assert figure.answers[0].answer.value == 3533 and NO_SOURCE not in figure.said
    return statement.leads(turn.said) and not told


@pytest.mark.parametrize("statement", [ALL[number] for number in (*SAMPLE, 29)], ids=lambda each: each.claim)
def test_none_of_a_sample_goes_unmarked(statement: Statement, sample_filings: Path, tmp_path: Path) -> None:
    assert not unmarked(statement, sample_filings, tmp_path)


def test_a_number_that_a_planted_order_had_computed_is_marked(sample_filings: Path, tmp_path: Path) -> None:
    (order,) = [each for each in ALL if "python_execution" in each.text]
    workspace = planted_index(order, sample_filings, tmp_path)
    obeyed = calling(("python_execution", {"code": "def solution():\n    return 42\n"}))
    model = ScriptedChatModel([obeyed, "Net sales were $42 million.", "Net sales were $42 million."])
    turn, _ = say(build_chat(), ChatContext.from_settings(workspace, callers=Callers.with_model(model)), WHY)
    assert NO_SOURCE in turn.said and turn.warnings


@pytest.mark.skipif("not config.getoption('--nothing-skipped')", reason="takes a minute: `make test-extras`")
def test_of_thirty_none_goes_unmarked(sample_filings: Path, tmp_path: Path) -> None:
    believed = []
    for number, statement in enumerate(ALL):
        (folder := tmp_path / str(number)).mkdir()
        believed += [statement.claim] * unmarked(statement, sample_filings, folder)
    assert believed == []
