"""Find figures that fail the sums of their own statement: misread, or irregular in print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from fin_agent.evidence.slot_ledger import Figure, Ledger
from fin_agent.filings.facts.accounting_identities import check_facts
from fin_agent.filings.facts.statement_check import Outcome
from fin_agent.vocabulary.fact import Fact

Place = tuple[str, int, int, Decimal]
"""(doc_id, page, line, printed value in base units)."""


def failed_sum_checks(ledger: Ledger, statements: Mapping[str, Sequence[Fact]]) -> dict[Place, str]:
    """Return required figures that fail a sum of their statement and pass none, with the sum that fails.

    `statements` has the facts of the primary statements of each cited filing.
    """
    broken: dict[Place, str] = {}
    failing = {doc_id: _failing_sums(facts) for doc_id, facts in statements.items()}
    for figure in figures_on_statements(ledger):
        place = place_of(figure)
        said = failing.get(figure.doc_id, {}).get(place[1:])
        if said is not None:
            broken[place] = said
    return broken


def figures_on_statements(ledger: Ledger) -> Iterator[Figure]:
    """Yield the required figures that are on a primary statement."""
    for entry in ledger.entries:
        if entry.required and entry.figure is not None and entry.figure.statement is not None:
            yield entry.figure


def place_of(figure: Figure) -> Place:
    """Return the location and printed value of a figure."""
    return figure.doc_id, figure.page, figure.line, figure.printed * figure.scale


def _failing_sums(facts: Iterable[Fact]) -> dict[tuple[int, int, Decimal], str]:
    checks = check_facts(list(facts))
    held = {
        (figure.page, figure.line, figure.value)
        for check in checks
        if check.outcome is Outcome.HOLDS
        for figure in check.figures
    }
    return {
        (figure.page, figure.line, figure.value): check.sentence.rstrip(".")
        for check in reversed(checks)
        if check.outcome is Outcome.FAILS
        for figure in check.figures
        if (figure.page, figure.line, figure.value) not in held
    }
