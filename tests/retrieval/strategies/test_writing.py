"""Chat models as writers, and what counts as nothing written."""

from __future__ import annotations

import sys

import pytest

from fin_agent.retrieval.strategies.names import StrategyError
from fin_agent.retrieval.strategies.writing import WritingError, load_writer, written
from tests.retrieval.strategies.conftest import Script


def test_any_chat_model_of_langchain_writes(script: type[Script], notes: list[str]) -> None:
    model = script("  Net sales rose in fiscal 2024.\n")
    assert written(model.writer, "Write.", notes.append) == "Net sales rose in fiscal 2024."
    assert model.prompts == ["Write."] and notes == []


@pytest.mark.parametrize("rubbish", ["", "   \n", "?!? 12 34 ...", "ok", "{}{}"])
def test_what_is_no_text_is_noted_and_left_out(script: type[Script], notes: list[str], rubbish: str) -> None:
    assert written(script(rubbish).writer, "Write.", notes.append) == ""
    assert len(notes) == 1 and "the question itself is searched with" in notes[0]


def test_a_model_that_fails_is_noted_and_does_not_end_the_search(script: type[Script], notes: list[str]) -> None:
    model = script()  # has nothing to say: raises
    with pytest.raises(WritingError, match="chat model failed"):
        model.writer.write("Write.")
    assert written(model.writer, "Write.", notes.append) == ""
    assert "chat model failed" in notes[0]


def test_a_very_long_text_is_cut(script: type[Script], notes: list[str]) -> None:
    assert len(written(script("revenue " * 9000).writer, "Write.", notes.append)) == 4000


def test_without_langchain_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain", None)
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(StrategyError, match=r"openai:x.*langchain.*pip install \"fin-agent\[chat\]\""):
        load_writer("openai:x")
