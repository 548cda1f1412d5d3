"""Program-of-Thought: write a program, account for its numbers, run it, send it back once; show it first, if wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from langgraph.func import task
from langgraph.types import interrupt
from pydantic import TypeAdapter

from fin_agent.analyst.events import current_listener, flagged, journal, listening, warned
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
from fin_agent.models.metering import CallRecord, Meter, current_meter, metered

_PROGRAM = TypeAdapter(Program)
EDITED_PROGRAM = "the program was changed by hand before it ran"
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


def showing_programs(analyst: Analyst) -> Analyst:
    """The analyst, each of whose programs stops the run before it is checked and executed.

    Going on, the run is given what was written already: nothing is asked of a model twice.
    """
    return cast(Analyst, _Showing(analyst))


_SHOWN = {
    "program": "",
    "repaired_program": "in place of one that failed: {}",
    "second_program": "to hold its result against that of the first",
}
"""What of an analyst writes programs -> why it does; where it says of what, of the last argument."""


class _Showing:
    def __init__(self, analyst: Analyst) -> None:
        self._analyst = analyst

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._analyst, name)
        if name not in _SHOWN:
            return method
        return lambda *given: _shown(_written(partial(method, *given)), _SHOWN[name].format(given[-1]))


def _written(write: Callable[[], Program | None]) -> Program | None:
    """The program, written once: a run that goes on after a stop reads it from its checkpoint, with what it took.

    Raises ValueError as the analyst does.
    """
    outer, hearing = current_meter(), current_listener()
    ran: list[bool] = []

    def writing() -> dict[str, Any]:
        ran.append(True)
        meter = Meter(within=outer)
        refusal, program = "", None
        with metered(meter), listening(hearing.listener, drafts=hearing.drafts), journal() as notes:
            try:
                program = write()
            except ValueError as refused:
                refusal = str(refused)
        return {
            "program": None if program is None else _PROGRAM.dump_python(program, mode="json"),
            "refusal": refusal,
            "calls": [record.model_dump(mode="json") for record in meter.records],
            "warnings": list(notes.warnings),
            "flags": list(notes.flags),
        }

    once: Any = task(name="write_program")
    kept: dict[str, Any] = once(writing)().result()
    for record in kept["calls"]:
        if outer is not None and not ran:
            outer.add(CallRecord.model_validate(record))
    for warning in kept["warnings"]:
        warned(warning)
    for flag in kept["flags"]:
        flagged(flag)
    if kept["refusal"]:
        raise ValueError(kept["refusal"])
    return None if kept["program"] is None else _PROGRAM.validate_python(kept["program"])


def _shown(program: Program | None, why: str) -> Program | None:
    if program is None:
        return None
    answer = interrupt(
        {
            "about_to": f"run this program{f', {why}' if why else ''}",
            "program": program.code,
            "written_by": "the model" if program.by_model else "rules",
            "figures": [
                f"{name} = {figure.amount:,}: {figure.label} ({figure.doc_id} page {figure.page + 1})"
                for name, figure in program.variables.items()
            ],
            "resume_with": 'true to run it; false to refuse it; {"program": "..."} to run another in its place,'
            " which is checked like any",
        }
    )
    if answer is False:
        raise ValueError("it was not allowed to run")
    changed = answer.get("program") if isinstance(answer, Mapping) else None
    if not isinstance(changed, str) or changed == program.code:
        return program
    warned(EDITED_PROGRAM)
    return replace(program, code=changed)
