"""Find figures that fail the sums of their own statement: misread, or irregular in print."""

from __future__ import annotations

from fin_agent.evidence.slot_ledger import Ledger, Place
from fin_agent.filings.facts.accounting_identities import Outcome, check_facts
from fin_agent.index.protocol import FilingIndex


def failed_sums(ledger: Ledger, index: FilingIndex) -> dict[Place, str]:
    """Return required figures that fail a sum of their statement and pass none, with the sum that fails."""
    required = [entry.figure for entry in ledger.entries if entry.required and entry.figure is not None]
    figures = [figure for figure in required if figure.statement is not None]
    failing: dict[Place, str] = {}
    held: set[Place] = set()
    for doc_id in dict.fromkeys(figure.doc_id for figure in figures):
        stated = [sourced.fact for sourced in index.facts([doc_id]) if sourced.fact.statement is not None]
        for check in check_facts(stated):
            places = [(doc_id, figure.page, figure.line, figure.value) for figure in check.figures]
            if check.outcome is Outcome.HOLDS:
                held.update(places)
            elif check.outcome is Outcome.FAILS:
                failing = dict.fromkeys(places, check.sentence.rstrip(".")) | failing
    taken = dict.fromkeys(figure.place for figure in figures)
    return {place: failing[place] for place in taken if place in failing and place not in held}
