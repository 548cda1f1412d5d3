"""Select the report that provides a figure, for questions that ask for the original, a restated or a named one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum

from pydantic import BaseModel

from fin_agent.evidence.slot_ledger import SlotFit, slot_fit
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.identity import Form, Identity
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
    slots: Iterable[Slot],
    report: RequestedReport,
    facts: Sequence[SourcedFact],
    workspace: Workspace,
) -> dict[Slot, SourcedFact]:
    """Return the figure of each slot in the requested report; slots that it does not state are left out.

    An original figure comes only from its own period's report, a restated one only from a later report: if that is not
    indexed, the slot stays empty. `facts` are those of all filings of the companies.
    """
    found: dict[Slot, SourcedFact] = {}
    for slot in slots:
        stated = statements_of(slot, facts, workspace)
        doc_id = _report_meant(slot, report, stated, workspace.directory.identities)
        if doc_id is not None:
            found[slot] = stated[doc_id][0]
    return found


def statements_of(slot: Slot, facts: Iterable[SourcedFact], workspace: Workspace) -> dict[str, list[SourcedFact]]:
    """Return the facts of each filing for the slot: the metric's own statement first, then other tables by page."""
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    home = slot_metric(slot, metrics).statement
    stated: dict[str, list[SourcedFact]] = {}
    for sourced in facts:
        if fills_slot(sourced, slot, metrics, owners):
            stated.setdefault(sourced.doc_id, []).append(sourced)
    for of_filing in stated.values():
        of_filing.sort(
            key=lambda sourced: (
                home is not None and sourced.fact.statement is not home,
                sourced.fact.statement is None,
                sourced.fact.page,
                sourced.fact.line,
            )
        )
    return stated


def _report_meant(
    slot: Slot, report: RequestedReport, stated: Mapping[str, Sequence[SourcedFact]], identities: Mapping[str, Identity]
) -> str | None:
    known = {doc_id: identities[doc_id] for doc_id in sorted(stated) if doc_id in identities}
    if report.which is ReportChoice.NAMED:
        return next(iter(_named_reports(report, known)), None)
    fillings = {doc_id: slot_fit(slot, identity) for doc_id, identity in known.items()}
    own = next((doc_id for doc_id, filling in fillings.items() if filling is SlotFit.EXACT), None)
    if report.which is ReportChoice.ORIGINAL:
        return own
    later = [doc_id for doc_id, filling in fillings.items() if filling is SlotFit.PRIOR_COLUMN]
    later.sort(key=lambda doc_id: (known[doc_id].fiscal_year or 0, known[doc_id].quarter or 4, doc_id), reverse=True)
    if own is None:
        return later[0] if later else None
    first = stated[own][0].fact
    changed = (doc_id for doc_id in later if not magnitudes_agree(stated[doc_id][0].fact, first))
    return next(changed, own if later else None)


def _named_reports(report: RequestedReport, known: Mapping[str, Identity]) -> list[str]:
    """Return the filings that match a named report, by the filer's fiscal year or else by the period's end."""
    quarterly = report.quarter is not None or report.form is Form.TEN_Q
    forms = (Form.TEN_Q,) if quarterly else (Form.TEN_K, Form.TWENTY_F, Form.ANNUAL_REPORT)
    fitting = {
        doc_id: identity
        for doc_id, identity in known.items()
        if identity.form in forms and report.quarter in (None, identity.quarter)
    }
    if report.filed_in is not None:
        return [doc_id for doc_id, identity in fitting.items() if _filing_year(identity) == report.filed_in]
    own = [doc_id for doc_id, identity in fitting.items() if identity.fiscal_year == report.fiscal_year]
    return own or [doc_id for doc_id, identity in fitting.items() if identity.ending_year == report.fiscal_year]


def _filing_year(identity: Identity) -> int | None:
    if identity.filed is not None:
        return identity.filed.year
    return (identity.period_end + _FILED_AFTER).year if identity.period_end is not None else None
