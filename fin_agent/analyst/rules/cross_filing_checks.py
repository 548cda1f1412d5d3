"""What filings state beside the pages read: to hold figures against, and to read as well."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fin_agent.evidence.ledger import Entry, Ledger, finer_prints
from fin_agent.evidence.report_selection import ReportAsked
from fin_agent.evidence.reporting_basis import Basis
from fin_agent.evidence.sum_checks import Place, figures_on_statements, place_of
from fin_agent.index.protocol import PageKey, SourcedFact
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.search_query import Scope
from fin_agent.retrieval.slot_figures import printed_facts
from fin_agent.retrieval.slot_matching import fills
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import agree_in_size
from fin_agent.workspace import Workspace


def of_all_filings(slots: Mapping[Slot, bool], workspace: Workspace, scope: Scope) -> Sequence[SourcedFact]:
    """What all filings of the companies that may be retrieved state, read or not: by it restatements are seen."""
    asked = {slot.company for slot in slots}
    doc_ids = [doc_id for doc_id, owner in workspace.directory.owners.items() if owner in asked]
    if scope.filings is not None:
        doc_ids = [doc_id for doc_id in doc_ids if doc_id in scope.filings]
    named = {slot.metric for slot in slots if not slot.is_searched}
    stated = workspace.index.facts(doc_ids, metrics=named) if doc_ids and named else []
    return [*(sourced for sourced in stated if scope.holds(sourced.key)), *printed_facts(slots, workspace, scope)]


def statements_of_figures(ledger: Ledger, workspace: Workspace) -> dict[str, list[Fact]]:
    """The primary statements of the filings that required figures are taken from."""
    doc_ids = dict.fromkeys(figure.doc_id for figure in figures_on_statements(ledger))
    found: dict[str, list[Fact]] = {doc_id: [] for doc_id in doc_ids}
    for sourced in workspace.index.facts(list(doc_ids)) if doc_ids else ():
        if sourced.fact.statement is not None:
            found[sourced.doc_id].append(sourced.fact)
    return found


def only_from(meant: Mapping[Slot, SourcedFact], report: ReportAsked, ledger: Ledger) -> Ledger:
    """The ledger without the figures of other reports than the one that is meant."""
    entries = []
    for entry in ledger.entries:
        wanted = meant.get(entry.slot)
        if entry.figure is not None and (wanted is None or entry.figure.doc_id != wanted.doc_id):
            reason = f"stated, but not {report.words}"
            entry = Entry(slot=entry.slot, required=entry.required, reason=reason)
        entries.append(entry)
    return Ledger(entries=tuple(entries))


def restating_pages(
    ledger: Ledger, basis: Basis, read: Sequence[PageKey], *, only: bool = False
) -> tuple[PageKey, ...]:
    """Pages that state a figure otherwise than the one that fills its slot, on the basis of the other years.

    Where `only` the preferred ones are meant, also those of slots that are still empty.
    """
    pages = []
    for entry in ledger.entries:
        wanted, figure = basis.preferred.get(entry.slot), entry.figure
        if wanted is None or (figure is None and not only):
            continue
        if figure is None or not agree_in_size(figure.fact(), wanted.fact):
            pages.append(wanted.key)
    return tuple(page for page in dict.fromkeys(pages) if page not in read)


def finer_pages(
    ledger: Ledger, stated: Sequence[SourcedFact], read: Sequence[PageKey], workspace: Workspace
) -> tuple[PageKey, ...]:
    """Pages of the same filings that print a figure to more digits than where it was found: `$22.0 billion`."""
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    pages = []
    for entry in ledger.entries:
        if entry.figure is None or not entry.required or entry.figure.statement is not None:
            continue
        found = SourcedFact(entry.figure.doc_id, entry.figure.fact())
        finer = [each for each in finer_prints(found, stated) if fills(each, entry.slot, metrics, owners)]
        pages += [each.key for each in finer if each.key not in read][:1]
    return tuple(dict.fromkeys(pages))


def contradicting_pages(ledger: Ledger, broken: Collection[Place], read: Sequence[PageKey]) -> tuple[PageKey, ...]:
    """Pages that state otherwise what breaks the sums of its own statement."""
    pages = [
        PageKey(entry.conflicts[0].doc_id, entry.conflicts[0].page)
        for entry in ledger.entries
        if entry.figure is not None and entry.conflicts and place_of(entry.figure) in broken
    ]
    return tuple(page for page in dict.fromkeys(pages) if page not in read)
