"""One basis for a series: the years of a question as reports of one time state them, not as each was first filed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fin_agent.evidence.slot_provenance import SlotFit, slot_fit
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.identity import Identity

_ANOTHER_UNIT = 1.5
"""Two statements of one figure that differ by this factor or more count in different units: shares were split."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Which report each year of a series is to be taken from."""

    preferred: Mapping[Slot, SourcedFact] = field(default_factory=dict)
    restated: tuple[str, ...] = ()
    """In words: where the reports of a series differ on a year that both state."""
    broken: tuple[str, ...] = ()
    """In words: where they differ so much that their years cannot be set against each other."""


def basis_of(
    slots: Iterable[Slot],
    facts: Sequence[SourcedFact],
    metrics: Mapping[str, Metric],
    owners: Mapping[str, str],
    identities: Mapping[str, Identity],
    *,
    originally: bool = False,
) -> Basis:
    """The basis of every series among `slots`: a metric of one company over two full years or more.

    Each year is taken from the latest annual report that states it and is not after the last year of the series, so
    that splits and restatements within it are in all of its years; `originally`, from the first one, and the series is
    broken where these count differently. `facts` are those of the companies' filings.
    """
    series: dict[tuple[str, str, str | None], list[Slot]] = {}
    for slot in slots:
        if slot.quarter is None and slot_metric(slot, metrics).statement is not None:
            series.setdefault((slot.company, slot.measure, slot.part), []).append(slot)
    preferred: dict[Slot, SourcedFact] = {}
    restated: list[str] = []
    broken: list[str] = []
    for of_series in series.values():
        if len({slot.fiscal_year for slot in of_series}) < 2:
            continue
        first, last = min(slot.fiscal_year for slot in of_series), max(slot.fiscal_year for slot in of_series)
        stated = {
            year: _reports(of_series[0].model_copy(update={"fiscal_year": year}), facts, metrics, owners, identities)
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
            for words, far in _differences(one, other, stated, of_series[0]):
                (broken if far else restated).append(words)
    return Basis(preferred, tuple(restated), tuple(broken))


def _reports(
    slot: Slot,
    facts: Sequence[SourcedFact],
    metrics: Mapping[str, Metric],
    owners: Mapping[str, str],
    identities: Mapping[str, Identity],
) -> dict[int, SourcedFact]:
    """Fiscal year of an annual report -> the figure that its statement gives for the slot."""
    found: dict[int, SourcedFact] = {}
    for sourced in facts:
        if sourced.fact.statement is not slot_metric(slot, metrics).statement or not sourced.fact.amount:
            continue
        identity = identities.get(sourced.doc_id)
        if identity is None or slot_fit(slot, identity) not in (SlotFit.EXACT, SlotFit.PRIOR_COLUMN):
            continue
        if fills_slot(sourced, slot, metrics, owners) and identity.fiscal_year is not None:
            found.setdefault(identity.fiscal_year, sourced)
    return found


def _differences(
    one: int, other: int, stated: Mapping[int, Mapping[int, SourcedFact]], slot: Slot
) -> Iterator[tuple[str, bool]]:
    """(words, whether years cannot be compared) of the last year that reports `one` and `other` state differently."""
    for year, reports in sorted(stated.items(), reverse=True):
        if one in reports and other in reports and not magnitudes_agree(reports[one].fact, reports[other].fact):
            first, second = reports[one], reports[other]
            told = " and ".join(f"{each.doc_id} gives {each.fact.amount:,}" for each in (first, second))
            yield f"{slot.label} of {slot.company_name} for FY{year}: {told}", _differs_far(first.fact, second.fact)
            return


def _differs_far(one: Fact, other: Fact) -> bool:
    small, large = sorted((abs(one.value), abs(other.value)))
    return not small or float(large / small) >= _ANOTHER_UNIT
