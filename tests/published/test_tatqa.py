"""TAT-QA's published file, where it is at hand; the variable FIN_AGENT_TATQA names it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fin_agent.analyst.rules.context_answers.answering import answer_in_context
from fin_agent.evaluation.tatqa.asking import ask_tatqa
from fin_agent.evaluation.tatqa.benchmark import load_contexts
from fin_agent.evaluation.tatqa.report import report_on

PUBLISHED = os.environ.get("FIN_AGENT_TATQA", "")


@pytest.mark.skipif(not PUBLISHED, reason="FIN_AGENT_TATQA names no published TAT-QA file with answers")
def test_the_published_file_is_answered_as_well_as_we_say() -> None:
    outcomes = [
        outcome for context in load_contexts(Path(PUBLISHED)) for outcome in ask_tatqa(context, answer_in_context)
    ]
    assert report_on(outcomes).of("arithmetic").exact >= 0.5
