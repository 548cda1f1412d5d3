"""A program with a number that nothing accounts for, or that does not end, is no answer, and what is wrong is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.answer import Answer
from fin_agent.answering.program import Program
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.workspace import Workspace

QUESTION = "What was Quillmark's revenue growth in fiscal 2024?"
Change = Callable[[str], str]


class Writing(RulesAnalyst):
    """Writes the right program, changed."""

    def __init__(self, workspace: Workspace, change: Change) -> None:
        super().__init__(workspace)
        self._change = change

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        written = super().program(intent, plan, ledger, evidence)
        return replace(written, code=self._change(written.code))


def as_it_is(code: str) -> str:
    return code


def invented(code: str) -> str:
    return code.replace("return ", "return 1.02 * ")


def endless(code: str) -> str:
    return code.replace("    return", "    while True:\n        pass\n    return")


def asked(workspace: Workspace, change: Change) -> Answer:
    context = AnswerContext.by_rules(workspace)
    return answer_question(QUESTION, replace(context, analyst=Writing(workspace, change)))


def test_a_program_as_it_is_gives_the_answer(workspace: Workspace) -> None:
    answer = asked(workspace, as_it_is)
    assert not answer.refused and answer.answer.value is not None


@pytest.mark.parametrize(("change", "says"), [(invented, "a source for 1.02"), (endless, "a program that runs")])
def test_what_is_wrong_is_refused_and_told(workspace: Workspace, change: Change, says: str) -> None:
    answer = asked(workspace, change)
    assert answer.refused and answer.answer.value is None
    assert says in answer.missing[0]
    (step,) = (step for step in answer.trace if step.node == "answer_with_program")
    assert step.summary.startswith("refused: ")
