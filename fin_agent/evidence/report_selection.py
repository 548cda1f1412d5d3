"""Select the report that provides a figure, and note other filings that restate or contradict it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from itertools import pairwise
from types import MappingProxyType

from pydantic import BaseModel

from fin_agent.evidence.sign_conventions import signed_amount
from fin_agent.evidence.slot_ledger import Entry, Figure, Ledger, Place, SlotFit, differ_only_in_scale, slot_fit
from fin_agent.filings.facts.accounting_identities import Outcome, check_facts
from fin_agent.index.protocol import FilingIndex, PageKey, SourcedFact
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace

_FILED_AFTER = timedelta(days=60)
"""Usual time between a period's end and its report, if the filing date is unknown."""


class ReportChoice(StrEnum):
    """Which of several statements of a figure is requested."""

    ORIGINAL = "original"
    """The one in the report of the figure's own period."""
    RESTATED = "restated"
    """The one in the latest report that states the period again."""
    NAMED = "named"
    """The one in a report named by its period or its filing date."""


class RequestedReport(BaseModel, frozen=True):
    """The report from which a question wants its figures."""

    which: ReportChoice
    words: str
    """The question's words."""
    form: Form | None = None
    fiscal_year: int | None = None
    quarter: int | None = None
    filed_in: int | None = None
    """Calendar year of filing."""


def figures_from_report(
    slots: Iterable[Slot], report: RequestedReport, facts: Sequence[SourcedFact], workspace: Workspace
) -> dict[Slot, SourcedFact]:
    """Return the figure of each slot in the requested report; slots that it does not state are left out.

    An original figure comes only from its own period's report, a restated one only from a later report: if that is not
    indexed, the slot stays empty. `facts` are those of all filings of the companies.
    """
    identities = workspace.directory.identities
    stated = {slot: statements_of(slot, facts, workspace) for slot in slots}
    meant = {slot: _report_meant(slot, report, of_slot, identities) for slot, of_slot in stated.items()}
    return {slot: stated[slot][doc_id][0] for slot, doc_id in meant.items() if doc_id is not None}


def statements_of(slot: Slot, facts: Iterable[SourcedFact], workspace: Workspace) -> dict[str, list[SourcedFact]]:
    """Return the facts of each filing for the slot: the metric's own statement first, then other tables by page."""
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    home = slot_metric(slot, metrics).statement
    stated = grouped((each.doc_id, each) for each in facts if fills_slot(each, slot, metrics, owners))

    def place(sourced: SourcedFact) -> tuple[bool, bool, int, int]:
        fact = sourced.fact
        elsewhere = home is not None and fact.statement is not home
        return elsewhere, fact.statement is None, fact.page, fact.line

    return {doc_id: sorted(of_filing, key=place) for doc_id, of_filing in stated.items()}


def _report_meant(
    slot: Slot, report: RequestedReport, stated: Mapping[str, Sequence[SourcedFact]], identities: Mapping[str, Identity]
) -> str | None:
    known = {doc_id: identities[doc_id] for doc_id in sorted(stated) if doc_id in identities}
    if report.which is ReportChoice.NAMED:
        return next(iter(named_reports(report, known)), None)
    fillings = {doc_id: slot_fit(slot, identity) for doc_id, identity in known.items()}
    own = next((doc_id for doc_id, filling in fillings.items() if filling is SlotFit.EXACT), None)
    if report.which is ReportChoice.ORIGINAL:
        return own
    later = [doc_id for doc_id, filling in fillings.items() if filling is SlotFit.PRIOR_COLUMN]
    later.sort(key=lambda doc_id: (known[doc_id].fiscal_year or 0, known[doc_id].quarter or 4, doc_id), reverse=True)
    if own is None or not later:
        return next(iter(later), None)
    first = stated[own][0].fact
    return next((doc_id for doc_id in later if not magnitudes_agree(stated[doc_id][0].fact, first)), own)


def named_reports(report: RequestedReport, known: Mapping[str, Identity]) -> list[str]:
    """Return the filings that match a named report, by the filer's fiscal year or else by the period's end."""
    quarterly = report.quarter is not None or report.form is Form.TEN_Q
    forms = (Form.TEN_Q,) if quarterly else ANNUAL_FORMS
    of_form = [(doc_id, one) for doc_id, one in known.items() if one.form in forms]
    fitting = [(doc_id, one) for doc_id, one in of_form if report.quarter in (None, one.quarter)]
    if report.filed_in is not None:
        days = ((doc_id, one.filed or (one.period_end and one.period_end + _FILED_AFTER)) for doc_id, one in fitting)
        return [doc_id for doc_id, day in days if day and day.year == report.filed_in]
    own = [doc_id for doc_id, one in fitting if one.fiscal_year == report.fiscal_year]
    return own or [doc_id for doc_id, one in fitting if one.ending_year == report.fiscal_year]


_ANOTHER_UNIT = 1.5
"""Two statements of a figure that differ by this factor or more are in different units, as after a stock split."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The report from which each year of a series is taken."""

    preferred: Mapping[Slot, SourcedFact] = field(default_factory=dict)
    restated: tuple[str, ...] = ()
    """Descriptions of years that the reports of a series state differently."""
    incomparable: tuple[str, ...] = ()
    """Descriptions of differences so large that the years are not comparable."""


def basis_of(
    slots: Iterable[Slot], facts: Sequence[SourcedFact], workspace: Workspace, *, originally: bool = False
) -> Basis:
    """Return the basis of every series among `slots`: a metric of one company over two full years or more.

    Each year is taken from the latest annual report that states it and is not after the last year of the series, or
    with `originally` from the first; years in different units are incomparable then.
    """
    series = grouped(
        ((slot.company, slot.measure, slot.part), slot)
        for slot in slots
        if slot.quarter is None and slot_metric(slot, workspace.lexicon.metrics).statement is not None
    )
    preferred: dict[Slot, SourcedFact] = {}
    restated: list[str] = []
    broken: list[str] = []
    for of_series in series.values():
        years = [slot.fiscal_year for slot in of_series]
        if len(set(years)) < 2:
            continue
        stated = {
            year: _reports(of_series[0].model_copy(update={"fiscal_year": year}), facts, workspace)
            for year in range(min(years), max(years) + 1)
        }
        chosen: set[int] = set()
        for slot in of_series:
            if reports := stated[slot.fiscal_year]:
                within = [] if originally else [report for report in reports if report <= max(years)]
                report = max(within, default=min(reports))
                preferred[slot] = reports[report]
                chosen.add(report)
        of_all = sorted({report for reports in stated.values() for report in reports})
        for one, other in pairwise(each for each in of_all if chosen and min(chosen) <= each <= max(chosen)):
            for words, far in _last_difference(one, other, stated, of_series[0]):
                (broken if far else restated).append(words)
    return Basis(preferred, tuple(restated), tuple(broken))


def _reports(slot: Slot, facts: Sequence[SourcedFact], workspace: Workspace) -> dict[int, SourcedFact]:
    """Return the figure of the slot by fiscal year of the annual report that states it."""
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    found: dict[int, SourcedFact] = {}
    for sourced in facts:
        if sourced.fact.statement is not slot_metric(slot, metrics).statement or not sourced.fact.amount:
            continue
        identity = workspace.directory.identities.get(sourced.doc_id)
        if identity is None or slot_fit(slot, identity) not in (SlotFit.EXACT, SlotFit.PRIOR_COLUMN):
            continue
        if fills_slot(sourced, slot, metrics, owners) and identity.fiscal_year is not None:
            found.setdefault(identity.fiscal_year, sourced)
    return found


def _last_difference(
    one: int, other: int, stated: Mapping[int, Mapping[int, SourcedFact]], slot: Slot
) -> Iterator[tuple[str, bool]]:
    """Yield the last year that two reports state differently, and whether the amounts are in different units."""
    for year, reports in sorted(stated.items(), reverse=True):
        if one in reports and other in reports and not magnitudes_agree(reports[one].fact, reports[other].fact):
            first, second = reports[one], reports[other]
            small, large = sorted((abs(first.fact.value), abs(second.fact.value)))
            far = not small or float(large / small) >= _ANOTHER_UNIT
            told = " and ".join(f"{each.doc_id} gives {each.fact.amount:,}" for each in (first, second))
            yield f"{slot.label} of {slot.company_name} for FY{year}: {told}", far
            return


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
        pages = {PageKey(doc_id, figure.page) for figure in figures if figure.doc_id == doc_id}
        pages |= {each.key for each in index.outline([doc_id]) if each.page.statement is not None}
        found = index.facts([doc_id], pages=pages)
        stated = [sourced.fact for sourced in found if sourced.fact.statement is not None]
        for check in check_facts(stated):
            places = [(doc_id, figure.page, figure.line, figure.value) for figure in check.figures]
            if check.outcome is Outcome.HOLDS:
                held.update(places)
            elif check.outcome is Outcome.FAILS:
                failing = dict.fromkeys(places, check.sentence.rstrip(".")) | failing
    taken = dict.fromkeys(figure.place for figure in figures)
    return {place: failing[place] for place in taken if place in failing and place not in held}
