"""Program-of-Thought: write a program, account for its numbers, run it; send it back once where it fails."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.analyst.protocol import Analyst
from fin_agent.answering.answer import AnswerValue
from fin_agent.answering.compose import numeric_answer
from fin_agent.answering.executor import ProgramExecutor
from fin_agent.answering.program import Program
from fin_agent.answering.program_check import check_program
from fin_agent.answering.program_errors import require_sources
from fin_agent.answering.provenance import Provenance
from fin_agent.errors import SandboxError
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan
from fin_agent.tools.python_execution import execute_program


@dataclass(frozen=True, slots=True)
class Attempt:
    """One program, where its numbers come from, and what it gave: a value or what is wrong with it."""

    program: Program
    provenance: Provenance
    value: AnswerValue | None
    problem: SandboxError | None


def attempts(
    question: str, intent: Intent, plan: Plan, ledger: Ledger, *, analyst: Analyst, executor: ProgramExecutor
) -> tuple[Attempt, ...]:
    """One attempt, or two where the first fails and the analyst has another program; the last one counts.

    A program with a number that nothing accounts for is never run. Raises ValueError where the ledger allows none.
    """
    first = _attempt(analyst.program(intent, plan, ledger), question, intent, plan, executor)
    if first.problem is None:
        return (first,)
    repaired = analyst.repaired_program(intent, plan, ledger, first.program, first.problem)
    return (first,) if repaired is None else (first, _attempt(repaired, question, intent, plan, executor))


def _attempt(program: Program, question: str, intent: Intent, plan: Plan, executor: ProgramExecutor) -> Attempt:
    provenance = check_program(program.code, program, question)
    try:
        require_sources(provenance)
        result = execute_program(program.code, executor)
        return Attempt(program, provenance, numeric_answer(intent, plan, program, result.value), None)
    except SandboxError as problem:
        return Attempt(program, provenance, None, problem)
