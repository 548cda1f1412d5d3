"""How many wrong programs the provenance check catches, kind by kind, and how many correct ones it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from fin_agent.evaluation.mutations import Judged


@dataclass(frozen=True, slots=True)
class CaughtOfKind:
    """The mutants of one kind."""

    kind: str
    mutants: int
    caught: int
    caught_by_facts: int


@dataclass(frozen=True, slots=True)
class MutationReport:
    """What the check made of correct programs and of their mutants."""

    correct: int
    refused: int
    """Correct programs that do not pass with their plan known."""
    refused_by_facts: int
    """Correct programs that do not pass where nothing but facts and question is known."""
    kinds: tuple[CaughtOfKind, ...]

    @property
    def mutants(self) -> int:
        """Of all kinds."""
        return sum(row.mutants for row in self.kinds)

    @property
    def caught(self) -> int:
        """Of all kinds."""
        return sum(row.caught for row in self.kinds)

    @property
    def passed_through(self) -> int:
        """Mutants that nothing noticed."""
        return self.mutants - self.caught

    def as_table(self) -> Table:
        """A line per kind of mutation."""
        table = Table(
            title="Provenance of changed programs",
            caption=f"{self.correct - self.refused} of {self.correct} correct programs pass "
            f"({self.correct - self.refused_by_facts} with facts and question alone)",
        )
        table.add_column("Mutation")
        for heading in ("Mutants", "Caught", "Caught by facts alone"):
            table.add_column(heading, justify="right")
        for row in self.kinds:
            table.add_row(row.kind, str(row.mutants), str(row.caught), str(row.caught_by_facts))
        by_facts = sum(row.caught_by_facts for row in self.kinds)
        table.add_section()
        table.add_row("all", str(self.mutants), str(self.caught), str(by_facts))
        return table

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return {
            "correct": self.correct,
            "refused": self.refused,
            "refused_by_facts": self.refused_by_facts,
            "mutants": self.mutants,
            "caught": self.caught,
            "kinds": {
                row.kind: {"mutants": row.mutants, "caught": row.caught, "caught_by_facts": row.caught_by_facts}
                for row in self.kinds
            },
        }


def report_on_mutants(correct: int, refused: int, refused_by_facts: int, judged: Sequence[Judged]) -> MutationReport:
    """Count by kind, in the order in which the kinds come."""
    kinds = dict.fromkeys(each.mutant.kind for each in judged)
    return MutationReport(
        correct=correct,
        refused=refused,
        refused_by_facts=refused_by_facts,
        kinds=tuple(_counted(kind, [each for each in judged if each.mutant.kind == kind]) for kind in kinds),
    )


def _counted(kind: str, judged: Sequence[Judged]) -> CaughtOfKind:
    return CaughtOfKind(
        kind, len(judged), sum(each.caught for each in judged), sum(each.caught_by_facts for each in judged)
    )
