"""Replies are read leniently, and one correction is asked for."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from fin_agent.analyst.model.asking import UnusableReplyError, asked, json_in
from fin_agent.retrieval.strategies.writing import WritingError
from tests.analyst.model.conftest import Script


class Reply(BaseModel):
    role: int


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("[2, 1]", [2, 1]),
        ("```json\n[2, 1]\n```", [2, 1]),
        ("Card [2] is best, as [1] is of another year.\nRanking: [2, 1, 3]\nI hope this helps [really].", [2, 1, 3]),
        ('<think>Is it [9, 8, 7, 6, 5, 4, 3]?</think>{"ranking": [1]}', {"ranking": [1]}),
        ('{"role": 1} or rather {"role": 2}', {"role": 2}),
        ("[1, [2] and {so on: [3, 4]", [3, 4]),
    ],
)
def test_the_longest_json_of_a_reply_is_taken(reply: str, value: object) -> None:
    assert json_in(reply) == value


@pytest.mark.parametrize("reply", ["", "no idea", "[1, 2", "{'role': 1}", "[" * 30_000, "[" + "9" * 9_000 + "]"])
def test_a_reply_without_whole_json_is_told(reply: str) -> None:
    with pytest.raises(UnusableReplyError, match="no whole JSON"):
        json_in(reply)


def test_a_correction_names_what_was_wrong(script: type[Script]) -> None:
    model = script('{"role": "chief"}', '{"role": 2}')
    assert asked(model, lambda correction: f"Write. {correction}", Reply.model_validate) == Reply(role=2)
    assert model.prompts[0] == "Write. "
    assert "could not be used: role: Input should be a valid integer" in model.prompts[1]


def test_two_replies_that_cannot_be_used_are_the_end(script: type[Script], silent: Script) -> None:
    model = script("no", "never")
    with pytest.raises(UnusableReplyError, match="two replies of the chat model"):
        asked(model, str, Reply.model_validate)
    assert len(model.prompts) == 2
    with pytest.raises(WritingError, match="refused"):
        asked(silent, str, Reply.model_validate)
    assert len(silent.prompts) == 1
