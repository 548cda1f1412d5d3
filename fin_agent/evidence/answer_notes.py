"""Notes on an answer's figures: other filings that restate or contradict them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from fin_agent.evidence.report_selection import statements_of
from fin_agent.evidence.scale_conflicts import differ_only_in_scale
from fin_agent.evidence.sign_conventions import signed_amount
from fin_agent.evidence.slot_ledger import Entry, Figure, Ledger, Place, SlotFit, slot_fit
from fin_agent.filings.facts.accounting_identities import Outcome, check_facts
from fin_agent.index.protocol import FilingIndex, SourcedFact
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.workspace import Workspace


def answer_notes(
    ledger: Ledger,
    facts: Sequence[SourcedFact],
    workspace: Workspace,
    in_series: Collection[Slot] = (),
    broken: Mapping[Place, str] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return a sentence for every required figure that is restated, contradicted or fails a check.

    `facts` are those of all filings of the companies. For slots `in_series`, only later reports are noted, since the
    basis of the series covers the rest. `broken` are places that fail the sums of their statement.
    """
    said: dict[str, None] = {}
    for entry in ledger.entries:
        if entry.figure is None or not entry.required:
            continue
        notes: list[str] = []
        own = workspace.directory.identities.get(entry.figure.doc_id)
        stated = statements_of(entry.slot, facts, workspace)
        if own is not None and own.reported_period is not None:
            differing = _differing_reports(entry.slot, entry.figure, stated, workspace)
            notes.append(_restatement_note(entry, entry.figure, own, differing, later_only=entry.slot in in_series))
        prints = [each for filing in stated.values() for each in filing]
        notes += _print_differences(entry.slot, entry.figure, prints, workspace)
        if entry.figure.place in broken:
            notes.append(f"{entry.slot} does not fit the sums of its own statement: {broken[entry.figure.place]}")
        said |= dict.fromkeys(note for note in notes if note)
    return tuple(said)


_Report = tuple[Identity, str]
"""A filing, and the amount that it states."""


def _differing_reports(
    slot: Slot, figure: Figure, stated: Mapping[str, Sequence[SourcedFact]], workspace: Workspace
) -> list[_Report]:
    """Return the other filings whose statement differs, by period; one agreeing figure makes a filing agree."""
    metrics = workspace.lexicon.metrics
    home = slot_metric(slot, metrics).statement
    found: list[_Report] = []
    for doc_id in sorted(stated):
        identity = workspace.directory.identities.get(doc_id)
        held = [sourced.fact for sourced in stated[doc_id] if home is None or sourced.fact.statement is home]
        if identity is None or identity.reported_period is None or not held or doc_id == figure.doc_id:
            continue
        if not any(magnitudes_agree(figure.fact(), fact) for fact in held):
            found.append((identity, amount_with_unit(signed_amount(held[0], metrics), held[0].scale, held[0].unit)))
    return sorted(found, key=lambda report: (_order(report[0]), filing_name(report[0])))


def _restatement_note(
    entry: Entry, figure: Figure, own: Identity, differing: Iterable[_Report], *, later_only: bool
) -> str:
    """Return a note on restatements; empty if there are none."""
    earlier, later, others = list[_Report](), list[_Report](), list[_Report]()
    for report in differing:
        if SlotFit.OTHER_FILING in (entry.filling, slot_fit(entry.slot, report[0])):
            others.append(report)  # only the periodic reports of the slot's period and later ones restate
        elif _order(report[0]) > _order(own):
            later.append(report)
        elif _order(report[0]) < _order(own) and not later_only:
            earlier.append(report)
    if not (earlier or later or others):
        return ""
    how = "as reported in" if entry.filling is SlotFit.EXACT else "in"
    said = f"{entry.slot} is {amount_with_unit(figure.amount, figure.scale, figure.unit)} {how} {filing_name(own)}"
    if earlier:
        said += f", restated from {earlier[0][1]} in {filing_name(earlier[0][0])}"
    if later:
        said += f"; {filing_name(later[0][0])} restates it as {later[0][1]}"
        said += f", {filing_name(later[-1][0])} as {later[-1][1]}" if later[-1][1] != later[0][1] else ""
    elif others and not earlier:
        said += f"; {filing_name(others[0][0])} gives {others[0][1]}"
    return said


def _print_differences(
    slot: Slot, figure: Figure, prints: Iterable[SourcedFact], workspace: Workspace
) -> Iterator[str]:
    """Yield a note where the same number is printed in another scale, and one where it has the other sign."""
    metrics = workspace.lexicon.metrics
    own, home = figure.fact(), slot_metric(slot, metrics).statement
    taken = amount_with_unit(figure.amount, figure.scale, figure.unit)
    said: dict[str, str] = {}
    for sourced in prints:
        fact = sourced.fact
        amount = signed_amount(fact, metrics)
        where = f"page {fact.page + 1} of {sourced.doc_id} has {amount_with_unit(amount, fact.scale, fact.unit)}"
        if differ_only_in_scale(own, fact):
            said.setdefault("scale", f"{slot} is read as {taken}; {where}, the same number in another scale")
        elif home is not None and fact.statement is home and figure.amount * amount < 0 and magnitudes_agree(own, fact):
            said.setdefault("sign", f"{slot} is {taken} by the sign of {figure.label!r}; {where}")
    yield from said.values()


def _order(identity: Identity) -> tuple[int, int]:
    reported = identity.reported_period
    return (reported.fiscal_year, reported.quarter or 4) if reported is not None else (0, 0)


def filing_name(identity: Identity) -> str:
    """Return a filing's name, such as `the 10-K of FY2018` or `the 10-Q of Q2 FY2019`."""
    reported = identity.reported_period
    quarter = f"Q{reported.quarter} " if reported is not None and reported.quarter else ""
    period = f" of {quarter}FY{reported.fiscal_year}" if reported is not None else ""
    return f"the {_KINDS.get(identity.form, identity.form.value)}{period}"


_KINDS = {Form.ANNUAL_REPORT: "annual report", Form.EARNINGS: "release", Form.EIGHT_K: "release", Form.OTHER: "filing"}


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
