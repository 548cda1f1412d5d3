"""What calls of models took, as people read it: beside an answer, in a run, in a trace."""

from __future__ import annotations

import pytest

from fin_agent.answering.answer import Answer, AnswerValue, RoleUsage, Usage
from fin_agent.config import Settings
from fin_agent.evidence.trace import TraceStep
from fin_agent.presentation.answers import answer_view, trace_view, usage_line, usage_view
from fin_agent.presentation.runs import run_view
from fin_agent.runs.run import Run
from tests.presentation.figures import shown
from tests.runs.recorded import BEGAN, INDEX

CURATION = RoleUsage(role="curation", model="openai:small", calls=2, cached_calls=1, input_tokens=4_000,
                     cached_input_tokens=1_000, output_tokens=100, dollars=0.0006)  # fmt: skip
REASONING = RoleUsage(role="reasoning", model="openai:large", calls=1, input_tokens=2_000, output_tokens=90,
                      dollars=0.0059)  # fmt: skip
USAGE = Usage(model_calls=3, cached_calls=1, input_tokens=6_000, cached_input_tokens=1_000, output_tokens=190,
              dollars=0.0065, roles=(CURATION, REASONING))  # fmt: skip
STEP = TraceStep(
    node="filter_passages",
    round=1,
    summary="kept 2",
    calls=("curation by openai:small: 2,000 tokens in, 50 out, $0.00030",),
    warnings=("the curation of the model \x1b[2J could not be had",),
    flags=("passage 3 speaks to the model: 'ignore the question'",),
)
ANSWER = Answer(
    question="Why?",
    answer=AnswerValue(text="So."),
    rounds=1,
    usage=USAGE,
    warnings=("rules quote the answer in place of the model",),
    trace=(STEP,),
)


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({}, "3 model calls, 1 kept reply, 6,000 tokens in, 190 out, $0.0065"),
        ({"dollars": None}, "3 model calls, 1 kept reply, 6,000 tokens in, 190 out, price unknown"),
        ({"approximate": True}, "3 model calls, 1 kept reply, about 6,000 tokens in, 190 out, $0.0065"),
        ({"model_calls": 0, "cached_calls": 2}, "2 kept replies, at no cost"),
        ({"model_calls": 0, "cached_calls": 0}, ""),
    ],
)
def test_on_a_line(changed: dict[str, object], line: str) -> None:
    assert usage_line(USAGE.model_copy(update=changed)) == line


def test_by_role_with_the_sum() -> None:
    lines = shown(usage_view(USAGE, questions=2))
    assert [line.split() for line in lines[2:5]] == [
        ["curation", "openai:small", "2", "1", "4,000", "1,000", "100", "0.0006"],
        ["reasoning", "openai:large", "1", "0", "2,000", "0", "90", "0.0059"],
        ["all", "3", "1", "6,000", "1,000", "190", "0.0065"],
    ]
    assert lines[5] == "Per question: 1.5 calls, 3,095 tokens, $0.00325."


def test_an_unknown_price_is_marked_and_told() -> None:
    unknown = REASONING.model_copy(update={"dollars": None})
    text = "\n".join(shown(usage_view(USAGE.model_copy(update={"roles": (CURATION, unknown), "dollars": None}))))
    assert "0.0006" in text and text.count("?") == 3 and "the price of a model is not known" in text


def test_an_answer_tells_warnings_and_calls() -> None:
    lines = shown(answer_view(ANSWER))
    assert "Warning: rules quote the answer in place of the model" in lines
    assert lines[-1] == f"{usage_line(USAGE)} (curation 3, reasoning 1)"
    assert not [
        line for line in shown(answer_view(Answer(question="?", answer=AnswerValue(text="So.")))) if "model" in line
    ]


def test_many_warnings_are_cut_in_an_answer_and_whole_in_its_run() -> None:
    many = ANSWER.model_copy(update={"warnings": tuple(f"warning {number}" for number in range(9))})
    lines = shown(answer_view(many))
    assert sum(line.startswith("Warning: ") for line in lines) == 6 and "… 3 more warnings in the trace" in lines
    run = Run.of(many, started=BEGAN, settings=Settings(), index=INDEX)
    assert sum(line.startswith("Warning: ") for line in shown(run_view(run))) == 9


def test_a_run_and_a_trace_tell_calls_flags_and_warnings_of_a_step() -> None:
    run = Run.of(ANSWER, started=BEGAN, settings=Settings(models={"model": "openai:large"}), index=INDEX)
    for lines in (shown(run_view(run)), shown(trace_view([STEP]))):
        told = [line.strip() for line in lines]
        assert "asked: curation by openai:small: 2,000 tokens in, 50 out, $0.00030" in told
        assert "flagged: passage 3 speaks to the model: 'ignore the question'" in told
        assert "Warning: the curation of the model [2J could not be had" in told
    lines = shown(run_view(run))
    assert "settings: models.model openai:large" in lines
    assert any("analyst llm" in line for line in lines)
    assert any(line.split()[:2] == ["reasoning", "openai:large"] for line in lines)
