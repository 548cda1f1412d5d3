"""Program-of-Thought: a program is checked and run, after a review if requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph.types import interrupt

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.answer import AnswerValue
from fin_agent.answering.answer_composition import numeric_answer
from fin_agent.answering.program import Program, check_program
from fin_agent.answering.program_syntax import program_tree
from fin_agent.answering.provenance import Provenance
from fin_agent.answering.sandbox import ProgramExecutor
from fin_agent.errors import SandboxError
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.graphs.answer.context import overridden

EDITED_PROGRAM = "the program was changed by hand before it ran"


@dataclass(frozen=True, slots=True)
class ProgramAttempt:
    """A program with the sources of its numbers, and its value or its problem."""

    program: Program
    provenance: Provenance
    value: AnswerValue | None
    problem: SandboxError | None


def attempt_program(
    question: str,
    intent: Intent,
    plan: Plan,
    ledger: Ledger,
    evidence: Sequence[Evidence],
    *,
    analyst: RulesAnalyst,
    executor: ProgramExecutor,
) -> ProgramAttempt:
    """Check and run the analyst's program; a program with an unsourced number is never run.

    Raises ValueError if there is no program.
    """
    program = analyst.program(intent, plan, ledger, evidence)
    provenance = Provenance((), ())
    try:
        program_tree(program.code)
        provenance = check_program(program.code, program, question)
        provenance.require_sources()
        value = numeric_answer(intent, plan, program, executor.run(program.code).value)
        return ProgramAttempt(program, provenance, value, None)
    except SandboxError as problem:
        return ProgramAttempt(program, provenance, None, problem)


def with_program_review(analyst: RulesAnalyst) -> RulesAnalyst:
    """Return the analyst with a pause before each of its programs is checked and run."""

    def reviewed(*given: Any) -> Program:
        program = analyst.program(*given)
        figures = program.variables.items()
        answer = interrupt(
            {
                "about_to": "run this program",
                "program": program.code,
                "figures": [
                    f"{name} = {figure.amount:,}: {figure.label} ({figure.doc_id} page {figure.page + 1})"
                    for name, figure in figures
                ],
                "resume_with": 'true to run it; false to refuse it; {"program": "..."} to run another in its place,'
                " which is checked like any",
            }
        )
        if answer is False:
            raise ValueError("the program was not approved to run")
        changed = answer.get("program") if isinstance(answer, Mapping) else None
        if not isinstance(changed, str) or changed == program.code:
            return program
        record_warning(EDITED_PROGRAM)
        return replace(program, code=changed)

    return overridden(analyst, program=reviewed)
