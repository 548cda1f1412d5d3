"""An analyst whose programs are shown before they are run, and may be changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from langgraph.func import task
from langgraph.types import interrupt
from pydantic import TypeAdapter

from fin_agent.analyst.events import current_listener, flagged, journal, listening, warned
from fin_agent.analyst.protocol import Analyst
from fin_agent.answering.program import Program
from fin_agent.errors import SandboxError
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan
from fin_agent.models.metering import CallRecord, Meter, current_meter, metered

_PROGRAM = TypeAdapter(Program)
EDITED_PROGRAM = "the program was changed by hand before it ran"


def showing_programs(analyst: Analyst) -> Analyst:
    """The analyst, each of whose programs stops the run before it is checked and executed.

    Going on, the run is given what was written already: nothing is asked of a model twice.
    """
    return cast(Analyst, _Showing(analyst))


class _Showing:
    def __init__(self, analyst: Analyst) -> None:
        self._analyst = analyst

    def __getattr__(self, name: str) -> Any:
        return getattr(self._analyst, name)

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        """See Analyst.program."""
        shown = _shown(_written(lambda: self._analyst.program(intent, plan, ledger, evidence)), "")
        assert shown is not None, "an analyst writes a first program, or says why not"
        return shown

    def repaired_program(
        self,
        intent: Intent,
        plan: Plan,
        ledger: Ledger,
        evidence: Sequence[Evidence],
        program: Program,
        problem: SandboxError,
    ) -> Program | None:
        """See Analyst.repaired_program."""
        write = lambda: self._analyst.repaired_program(intent, plan, ledger, evidence, program, problem)  # noqa: E731
        return _shown(_written(write), f"in place of one that failed: {problem}")

    def second_program(
        self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]
    ) -> Program | None:
        """See Analyst.second_program."""
        write = lambda: self._analyst.second_program(intent, plan, ledger, evidence)  # noqa: E731
        return _shown(_written(write), "to hold its result against that of the first")


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
