"""What is written for a search, and what counts as nothing written."""

from __future__ import annotations

import pytest

from fin_agent.prompts import load_prompt
from fin_agent.retrieval.strategies.protocol import generated_text
from tests.retrieval.strategies.conftest import Script

PROMPT = load_prompt("hyde").filled(question="What drove sales?")


def test_what_is_written_is_searched_with(script: type[Script], notes: list[str]) -> None:
    model = script("  Net sales rose in fiscal 2024.\n")
    assert generated_text(model.write, PROMPT, notes.append) == "Net sales rose in fiscal 2024."
    assert model.prompts == [PROMPT.text] and notes == []


@pytest.mark.parametrize("rubbish", ["", "   \n", "?!? 12 34 ...", "ok", "{}{}"])
def test_what_is_no_text_is_noted_and_left_out(script: type[Script], notes: list[str], rubbish: str) -> None:
    assert generated_text(script(rubbish).write, PROMPT, notes.append) == ""
    assert len(notes) == 1 and "the search uses the question itself" in notes[0]


def test_a_model_that_fails_is_noted_and_does_not_end_the_search(script: type[Script], notes: list[str]) -> None:
    assert generated_text(script().write, PROMPT, notes.append) == ""
    assert notes == ["the model: no connection to the server; the search uses the question itself"]


def test_a_very_long_text_is_cut(script: type[Script], notes: list[str]) -> None:
    assert len(generated_text(script("revenue " * 9000).write, PROMPT, notes.append)) == 4000
