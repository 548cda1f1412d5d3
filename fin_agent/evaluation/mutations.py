"""Correct programs with one number made wrong, and whether the provenance check notices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from fin_agent.answering.program import check_program
from fin_agent.answering.provenance import check_provenance
from fin_agent.evaluation.correct_programs import Specimen
from fin_agent.evaluation.mutators import MUTATORS, Mutable
from fin_agent.vocabulary.fact import Fact


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one number made wrong."""

    kind: str
    specimen: Specimen
    code: str


@dataclass(frozen=True, slots=True)
class Judged:
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


def judge_mutants(mutants: Sequence[Mutant]) -> tuple[Judged, ...]:
    """Each mutant held against the check, with its plan and without."""
    return tuple(Judged(mutant, not _passes(mutant), not _passes_by_facts(mutant)) for mutant in mutants)


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
