"""`answer_question`: the graph as a tool."""

from __future__ import annotations

from fin_agent.answering.answer import Answer
from tests.tools.conftest import Call


def test_an_answer_with_its_figures_pages_and_program(call: Call) -> None:
    message = call("answer_question", question="What was Harborlight's net income in FY2023?")
    answer = message.artifact
    assert isinstance(answer, Answer)
    assert (answer.answer.value, answer.answer.unit) == (544.0, "USD millions")
    content = str(message.content)
    assert content.startswith("Answered.")
    assert "Value: 544.0 (USD millions)" in content
    assert (
        "net income | Harborlight Instruments, Inc. | FY2023 | 544 USD millions | harborlight_2023_10k page 9"
        in content
    )
    assert "def solution():" in content
    assert "Take care" not in content, "our own program is no sign of anything"


def test_a_refusal_says_what_is_missing_and_gives_no_figure(call: Call) -> None:
    message = call("answer_question", question="What did Quillmark spend on research and development in fiscal 2024?")
    assert message.status == "success"
    assert message.artifact.refused
    assert str(message.content).startswith("Not answered:")
    assert "research and development of Quillmark Stores, Inc. for FY2024" in str(message.content)


def test_what_narrows_names_the_company_and_period(call: Call) -> None:
    message = call("answer_question", question="What was net income?", company="QLMK", form="10-K", fiscal_year=2023)
    assert message.artifact.answer.value == 340_921.0
    assert {cited.doc_id for cited in message.artifact.citations} == {"quillmark_2023_10k"}


def test_sentences_are_quoted_with_their_page(call: Call) -> None:
    message = call("answer_question", question="Who was appointed CEO of Tellurond in 2024?")
    assert "tellurond_2024_8k page 2: On the same day the Board appointed Ines K. Calloway" in str(message.content)


def test_a_question_that_cannot_be_read_is_an_error_with_a_remedy(call: Call) -> None:
    message = call("answer_question", question="?")
    assert message.status in ("error", "success")
    assert message.status == "error" or message.artifact.refused
