"""Questions that name a measure and ask for what sentences say: no figure answers them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent import Workspace


@pytest.mark.parametrize(
    "question",
    [
        "How does {} value its inventories?",
        "How does {} account for advertising costs?",
        "What depreciation method does {} use?",
        "Did any customer account for more than 10% of {}'s revenue in fiscal 2022?",
        "How large is {}'s revolving credit facility?",
        "When does {}'s fiscal year end?",
        "What was the market value of {}'s stock held by non-affiliates?",
    ],
)
def test_no_figure_of_a_statement_answers_what_sentences_say(sample_index: Path, question: str) -> None:
    answer = Workspace.open(sample_index).ask(question.format("Harborlight")).answer
    assert answer.value is None, answer.text


@pytest.mark.parametrize(
    "question", ["What were {}'s inventories in fiscal 2022?", "How did {}'s revenue change in fiscal 2022?"]
)
def test_figures_still_answer_what_they_state(sample_index: Path, question: str) -> None:
    assert Workspace.open(sample_index).ask(question.format("Harborlight")).answer.value is not None
