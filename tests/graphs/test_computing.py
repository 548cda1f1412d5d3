"""A program that is wrong is sent back once, with what is wrong said; what is still wrong then is no answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.answer import Answer
from fin_agent.answering.program import Program
from fin_agent.answering.provenance import UnsourcedNumberError
from fin_agent.errors import SandboxError
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.workspace import Workspace

QUESTION = "What was Quillmark's revenue growth in fiscal 2024?"
Change = Callable[[str], str]


class Writing(RulesAnalyst):
    """Writes the right program changed by `first`, and `second` when it is sent back; keeps what it was told."""

    def __init__(self, workspace: Workspace, first: Change, second: Change | None) -> None:
        super().__init__(workspace)
        self._first, self._second = first, second
        self.told: list[SandboxError] = []

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        written = super().program(intent, plan, ledger, evidence)
        return replace(written, code=self._first(written.code))

    def repaired_program(
        self,
        intent: Intent,
        plan: Plan,
        ledger: Ledger,
        evidence: Sequence[Evidence],
        program: Program,
        problem: SandboxError,
    ) -> Program | None:
        self.told.append(problem)
        if self._second is None:
            return None
        return replace(program, code=self._second(super().program(intent, plan, ledger, evidence).code))


def as_it_is(code: str) -> str:
    return code


def invented(code: str) -> str:
    return code.replace("return ", "return 1.02 * ")


def endless(code: str) -> str:
    return code.replace("    return", "    while True:\n        pass\n    return")


def asked(workspace: Workspace, first: Change, second: Change | None) -> tuple[Answer, list[SandboxError]]:
    context = AnswerContext.by_rules(workspace)
    analyst = Writing(workspace, first, second)
    return answer_question(QUESTION, replace(context, analyst=analyst)), analyst.told


def computed(answer: Answer) -> tuple[str, str]:
    (step,) = (step for step in answer.trace if step.node == "answer_with_program")
    return step.summary, "\n".join(step.details)


@pytest.fixture(scope="module")
def right(workspace: Workspace) -> Answer:
    answer, told = asked(workspace, as_it_is, invented)
    assert not told
    return answer


@pytest.mark.parametrize("wrong", [invented, endless])
def test_a_repaired_program_gives_the_answer(workspace: Workspace, right: Answer, wrong: Change) -> None:
    answer, told = asked(workspace, wrong, as_it_is)
    assert len(told) == 1
    assert answer.answer == right.answer
    assert answer.program == right.program
    assert not answer.refused
    summary, details = computed(answer)
    assert summary.startswith("computed ")
    assert f"sent back: {told[0]}" in details


def test_the_number_without_a_source_is_named_to_the_writer(workspace: Workspace) -> None:
    _, (problem,) = asked(workspace, invented, as_it_is)
    assert isinstance(problem, UnsourcedNumberError)
    assert problem.unbound[0].literal == "1.02"


@pytest.mark.parametrize(("second", "says"), [(invented, "a source for 1.02"), (endless, "a program that runs")])
def test_what_is_still_wrong_is_refused_and_not_sent_back_again(
    workspace: Workspace, second: Change, says: str
) -> None:
    answer, told = asked(workspace, invented, second)
    assert len(told) == 1
    assert answer.refused
    assert answer.answer.value is None
    assert says in answer.missing[0]


def test_who_has_no_other_program_is_refused(workspace: Workspace) -> None:
    answer, told = asked(workspace, invented, None)
    assert len(told) == 1
    assert answer.refused
    assert "a source for 1.02" in answer.missing[0]
    assert "sent back" not in computed(answer)[1]
