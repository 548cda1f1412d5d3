"""Program-of-Thought: write a program, account for its numbers, run it; send it back once where it fails."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.analyst.events import warned
from fin_agent.analyst.protocol import Analyst
from fin_agent.answering.answer import AnswerValue
from fin_agent.answering.composition import numeric_answer
from fin_agent.answering.model_programs import check_model_program, cited_figures, model_answer, require_accounted
from fin_agent.answering.program import Program, check_program
from fin_agent.answering.program_syntax import program_tree
from fin_agent.answering.provenance import Provenance, require_sources
from fin_agent.answering.sandbox import ProgramExecutor, ProgramValue
from fin_agent.errors import SandboxError
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Figure, Ledger
from fin_agent.evidence.plan import Plan

_ALIKE = 0.005
"""By how much of themselves two results may differ and be the same: one may be rounded."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a program is written for, and from."""

    question: str
    intent: Intent
    plan: Plan
    ledger: Ledger
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One program, where its numbers come from, and what it gave: a value or what is wrong with it."""

    program: Program
    provenance: Provenance
    value: AnswerValue | None
    problem: SandboxError | None
    result: ProgramValue | None = None
    """What it returned."""

    @property
    def cited(self) -> list[Figure]:
        """The figures it computes from."""
        if self.program.by_model:
            return list(cited_figures(self.program, self.provenance))
        return list(self.program.variables.values())


@dataclass(frozen=True, slots=True)
class Computed:
    """The attempt that counts, those before it that failed, and what another program made of the same."""

    last: Attempt
    before: tuple[Attempt, ...] = ()
    beside: tuple[str, ...] = ()


def attempts(asked: Asked, *, analyst: Analyst, executor: ProgramExecutor) -> Computed:
    """One attempt, or two where the first fails and the analyst has another program; the last one counts.

    A program with a number that nothing accounts for is never run. Where the analyst writes a second program beside one
    that succeeds, a result that differs is told: of the two the one stands that the ledger was filled for, each of
    whose inputs is a fact that fills a slot. Raises ValueError where there is no program to begin with.
    """
    first = _attempt(analyst.program(asked.intent, asked.plan, asked.ledger, asked.evidence), asked, executor)
    if first.problem is not None:
        try:
            repaired = analyst.repaired_program(
                asked.intent, asked.plan, asked.ledger, asked.evidence, first.program, first.problem
            )
        except ValueError as failure:
            return Computed(first, beside=(f"no other program: {failure}",))
        return Computed(first) if repaired is None else Computed(_attempt(repaired, asked, executor), (first,))
    try:
        second = analyst.second_program(asked.intent, asked.plan, asked.ledger, asked.evidence)
    except ValueError as failure:
        return Computed(first, beside=(f"no second program: {failure}",))
    return Computed(first, beside=() if second is None else _beside(first, _attempt(second, asked, executor)))


def _attempt(program: Program, asked: Asked, executor: ProgramExecutor) -> Attempt:
    provenance = Provenance((), ())
    try:
        program_tree(program.code)
        if program.by_model:
            provenance = check_model_program(program, asked.question)
            require_accounted(program, provenance)
        else:
            provenance = check_program(program.code, program, asked.question)
            require_sources(provenance)
        result = executor.run(program.code).value
        if program.by_model:
            value = model_answer(asked.intent, program, provenance, result, executor)
        else:
            value = numeric_answer(asked.intent, asked.plan, program, result)
        return Attempt(program, provenance, value, None, result)
    except SandboxError as problem:
        return Attempt(program, provenance, None, problem)


def _beside(first: Attempt, second: Attempt) -> tuple[str, ...]:
    if second.value is None:
        return (f"a second program, of the model, gives nothing: {second.problem}",)
    told = f"a second program, of the model, gives {second.value.text}\n{second.program.code}"
    if not _alike(first, second):
        stands = first.value.text if first.value is not None else ""
        warned(
            f"the model's program gives another result ({second.value.text}); {stands} stands, each of whose inputs is "
            "a fact of the period and company asked about"
        )
    return (told,)


def _alike(first: Attempt, second: Attempt) -> bool:
    """Whether both came to the same: value by value, or where one lists several, the other's among them."""
    one, other = _numbers(first), _numbers(second)
    if not one or not other:
        return one == other
    few, many = sorted((one, other), key=len)
    return all(any(_near(number, each) for each in many) for number in few)


def _numbers(attempt: Attempt) -> list[float]:
    """The value in its unit, else the numbers returned."""
    if attempt.value is not None and attempt.value.value is not None:
        return [attempt.value.value]
    result = attempt.result if isinstance(attempt.result, list) else [attempt.result]
    return [float(each) for each in result if isinstance(each, int | float) and not isinstance(each, bool)]


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _ALIKE * max(abs(one), abs(other))
