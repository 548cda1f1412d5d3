"""Programs that rules write for questions over an index, with the figures that could be mistaken for theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from fin_agent.analyst.protocol import Analyst
from fin_agent.answering.answer import Answer
from fin_agent.answering.program import Program
from fin_agent.evidence.ledger import Figure, Ledger
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Specimen:
    """A correct program, and what stands near its figures."""

    question: str
    program: Program
    same_row: dict[str, tuple[Fact, ...]]
    """Variable -> other figures printed on its row: of other years."""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every figure that stands near, in the order of the variables."""
        return tuple(fact for name in self.program.variables for fact in self.same_row[name])


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
