"""One basis for a series: take all years from reports of one time, so that restatements apply throughout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fin_agent.evidence.slot_ledger import SlotFit, slot_fit
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.workspace import Workspace

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
    slots: Iterable[Slot],
    facts: Sequence[SourcedFact],
    workspace: Workspace,
    *,
    originally: bool = False,
) -> Basis:
    """Return the basis of every series among `slots`: a metric of one company over two full years or more.

    Each year is taken from the latest annual report that states it and is not after the last year of the series, so
    that splits and restatements apply to all years. With `originally`, each year is taken from the first report that
    states it, and years in different units are incomparable.
    """
    series: dict[tuple[str, str, str | None], list[Slot]] = {}
    for slot in slots:
        if slot.quarter is None and slot_metric(slot, workspace.lexicon.metrics).statement is not None:
            series.setdefault((slot.company, slot.measure, slot.part), []).append(slot)
    preferred: dict[Slot, SourcedFact] = {}
    restated: list[str] = []
    broken: list[str] = []
    for of_series in series.values():
        if len({slot.fiscal_year for slot in of_series}) < 2:
            continue
        first, last = min(slot.fiscal_year for slot in of_series), max(slot.fiscal_year for slot in of_series)
        stated = {
            year: _reports(of_series[0].model_copy(update={"fiscal_year": year}), facts, workspace)
            for year in range(first, last + 1)
        }
        chosen: set[int] = set()
        for slot in of_series:
            reports = stated[slot.fiscal_year]
            if reports:
                within = [] if originally else [report for report in reports if report <= last]
                report = max(within, default=min(reports))
                preferred[slot] = reports[report]
                chosen.add(report)
        of_all = sorted({report for reports in stated.values() for report in reports})
        chain = [report for report in of_all if chosen and min(chosen) <= report <= max(chosen)]
        for one, other in pairwise(chain):
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
