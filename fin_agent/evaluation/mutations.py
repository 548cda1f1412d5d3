"""Correct programs with one number made wrong, and whether the provenance check notices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from fin_agent.analyst.protocol import Analyst
from fin_agent.answering.answer import Answer
from fin_agent.answering.program import check_program
from fin_agent.answering.provenance import check_provenance
from fin_agent.evaluation.benchmark import Column, Report, report_on
from fin_agent.evaluation.mutators import MUTATORS, Mutable, Specimen
from fin_agent.evidence.ledger import Figure, Ledger
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one number made wrong."""

    kind: str
    specimen: Specimen
    code: str


@dataclass(frozen=True, slots=True)
class JudgedMutant:
    """A mutant, and what noticed it."""

    mutant: Mutant
    caught: bool
    """With the plan known: its variables, their figures, the scale and the constants."""
    caught_by_facts: bool
    """With nothing known but the facts of the evidence and the question."""


def mutants_of(specimens: Sequence[Specimen], count: int, seed: int) -> tuple[Mutant, ...]:
    """About `count` different mutants, as many of each kind as can be; the same specimens and seed give the same."""
    per_kind = -(-count // len(MUTATORS))
    return tuple(mutant for kind in MUTATORS for mutant in _of_kind(kind, specimens, per_kind, seed))


def judge_mutants(mutants: Sequence[Mutant]) -> tuple[JudgedMutant, ...]:
    """Each mutant held against the check, with its plan and without."""
    return tuple(JudgedMutant(mutant, not _passes(mutant), not _passes_by_facts(mutant)) for mutant in mutants)


def wrongly_refused(specimens: Sequence[Specimen]) -> tuple[tuple[Specimen, str], ...]:
    """Correct programs that the check refuses, with the reasons."""
    found = []
    for specimen in specimens:
        checked = check_program(specimen.program.code, specimen.program, specimen.question, specimen.facts)
        if not checked.ok:
            found.append((specimen, "; ".join(f"{each.literal}: {each.reason}" for each in checked.unbound)))
    return tuple(found)


def refused_by_facts(specimens: Sequence[Specimen]) -> int:
    """How many correct programs are refused where nothing is known but facts and question."""
    return sum(
        not check_provenance(specimen.program.code, _facts(specimen), specimen.question).ok for specimen in specimens
    )


_ATTEMPTS = 40
"""Draws for one mutant until the specimens are taken not to allow another of its kind."""


def _of_kind(kind: str, specimens: Sequence[Specimen], count: int, seed: int) -> list[Mutant]:
    draw = Random(f"{seed} {kind}")
    made: dict[str, Mutant] = {}
    others = _figures_by_metric(specimens)
    for _ in range(count * _ATTEMPTS):
        if len(made) == count or not specimens:
            break
        specimen = draw.choice(specimens)
        mutator: Callable[[Mutable, Random], str | None] = MUTATORS[kind]
        code = mutator(Mutable(specimen, others), draw)
        if code is not None and code != specimen.program.code:
            made.setdefault(code, Mutant(kind, specimen, code))
    return list(made.values())


def _figures_by_metric(specimens: Sequence[Specimen]) -> Mapping[str, tuple[str, ...]]:
    """Label -> amounts of the figures with that label, of whatever company."""
    found: dict[str, dict[str, None]] = {}
    for specimen in specimens:
        for figure in specimen.program.variables.values():
            found.setdefault(figure.label.lower(), {})[f"{figure.amount.normalize():f}"] = None
    return {label: tuple(sorted(amounts)) for label, amounts in sorted(found.items())}


def _passes(mutant: Mutant) -> bool:
    specimen = mutant.specimen
    return check_program(mutant.code, specimen.program, specimen.question, specimen.facts).ok


def _passes_by_facts(mutant: Mutant) -> bool:
    return check_provenance(mutant.code, _facts(mutant.specimen), mutant.specimen.question).ok


def _facts(specimen: Specimen) -> list[Fact]:
    return [*(figure.fact() for figure in specimen.program.variables.values()), *specimen.facts]


def correct_programs(
    questions: Sequence[str],
    ask: Callable[[str], Answer],
    analyst: Analyst,
    workspace: Workspace,
    *,
    on_step: Callable[[str], None] = lambda question: None,
) -> Iterator[Specimen]:
    """The programs of the questions that are answered with one; equal programs come once."""
    seen: set[str] = set()
    for question in questions:
        answer = ask(question)
        on_step(question)
        if answer.program is None or answer.refused or answer.program in seen:
            continue
        seen.add(answer.program)
        intent = analyst.intent(question)
        program = analyst.program(intent, analyst.plan(intent), Ledger(entries=answer.ledger), ())
        if program.code == answer.program:
            same_row = {name: _same_row(figure, workspace) for name, figure in program.variables.items()}
            yield Specimen(question, program, same_row)


def _same_row(figure: Figure, workspace: Workspace) -> tuple[Fact, ...]:
    held: dict[Decimal, Fact] = {}
    for sourced in workspace.index.facts([figure.doc_id]):
        fact = sourced.fact
        if (fact.page, fact.line) == (figure.page, figure.line) and abs(fact.amount) != abs(figure.amount):
            held.setdefault(fact.amount, fact)
    return tuple(held[amount] for amount in sorted(held))


def report_on_mutants(judged: Sequence[JudgedMutant], caption: str = "") -> Report:
    """How many were caught, over all and kind by kind."""
    sections: dict[str, Callable[[JudgedMutant], str]] = {
        "all": lambda each: "all",
        "mutation": lambda each: each.mutant.kind,
    }
    return report_on(judged, "Provenance of changed programs", caption, _COLUMNS, sections)


_COLUMNS: tuple[Column[JudgedMutant], ...] = (
    Column("mutants", len, "mutants", str),
    Column("caught", lambda judged: sum(each.caught for each in judged), "caught", str),
    Column("caught_by_facts", lambda judged: sum(each.caught_by_facts for each in judged), "by facts alone", str),
)
