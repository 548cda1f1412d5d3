"""Notes on an answer's figures: other filings that restate or contradict them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from fin_agent.evidence.report_selection import statements_of
from fin_agent.evidence.scale_conflicts import differ_only_in_scale
from fin_agent.evidence.sign_conventions import signed_amount
from fin_agent.evidence.slot_ledger import Entry, Figure, Ledger
from fin_agent.evidence.slot_provenance import SlotFit, slot_fit
from fin_agent.evidence.sum_checks import Place, place_of
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.identity import Form, Identity


def answer_notes(
    ledger: Ledger,
    facts: Sequence[SourcedFact],
    metrics: Mapping[str, Metric],
    owners: Mapping[str, str],
    identities: Mapping[str, Identity],
    in_series: Collection[Slot] = (),
    broken: Mapping[Place, str] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return a sentence for every required figure that is restated, contradicted or fails a check.

    `facts` are those of all filings of the companies. For slots `in_series`, only later reports are noted, since the
    basis of the series covers the rest. `broken` are places that fail the sums of their statement.
    """
    said: list[str] = []
    for entry in ledger.entries:
        if entry.figure is None or not entry.required:
            continue
        stated = statements_of(entry.slot, facts, metrics, owners)
        reports = list(_reports(entry, entry.figure, stated, metrics, identities))
        own = identities.get(entry.figure.doc_id)
        said += _restatement_note(entry, entry.figure, own, reports, later_only=entry.slot in in_series)
        said += _print_difference_note(
            entry, entry.figure, [each for prints in stated.values() for each in prints], metrics
        )
        breaks = broken.get(place_of(entry.figure))
        if breaks is not None:
            said.append(f"{entry.slot} does not fit the sums of its own statement: {breaks}")
    return tuple(dict.fromkeys(said))


@dataclass(frozen=True, slots=True)
class _Report:
    """The statement of a slot by one filing, on the metric's own statement."""

    name: str
    order: tuple[int, int]
    amount: str
    differs: bool
    restates: bool
    """Whether it is a periodic report of the slot's period or a later one: a difference is then a restatement."""


def _reports(
    entry: Entry,
    figure: Figure,
    stated: Mapping[str, Sequence[SourcedFact]],
    metrics: Mapping[str, Metric],
    identities: Mapping[str, Identity],
) -> Iterator[_Report]:
    """Yield the other filings that state the slot, by period; one agreeing figure makes a filing agree."""
    home = slot_metric(entry.slot, metrics).statement
    for doc_id in sorted(stated):
        identity = identities.get(doc_id)
        held = [sourced.fact for sourced in stated[doc_id] if home is None or sourced.fact.statement is home]
        if identity is None or identity.reported_period is None or not held or doc_id == figure.doc_id:
            continue
        yield _Report(
            name=filing_name(identity),
            order=_order(identity),
            amount=amount_with_unit(signed_amount(held[0], metrics), held[0].scale, held[0].unit),
            differs=not any(magnitudes_agree(figure.fact(), fact) for fact in held),
            restates=slot_fit(entry.slot, identity) is not SlotFit.OTHER_FILING,
        )


def _restatement_note(
    entry: Entry, figure: Figure, own: Identity | None, reports: Sequence[_Report], *, later_only: bool
) -> Iterator[str]:
    """Yield a note on restatements, if there are any.

    For example `sales of A for FY2018 is $5 million as reported in the 10-K of FY2018; the 10-K of FY2019 restates it
    as $6`.
    """
    if own is None or own.reported_period is None:
        return
    differing = sorted((one for one in reports if one.differs), key=lambda one: (one.order, one.name))
    periodic = entry.filling is not SlotFit.OTHER_FILING
    earlier = [one for one in differing if one.restates and one.order < _order(own) and not later_only and periodic]
    later = [one for one in differing if one.restates and one.order > _order(own) and periodic]
    others = [one for one in differing if not (one.restates and periodic)]
    if not (earlier or later or others):
        return
    how = "as reported in" if entry.filling is SlotFit.EXACT else "in"
    said = f"{entry.slot} is {amount_with_unit(figure.amount, figure.scale, figure.unit)} {how} {filing_name(own)}"
    if earlier:
        said += f", restated from {earlier[0].amount} in {earlier[0].name}"
    if later:
        said += f"; {later[0].name} restates it as {later[0].amount}"
        said += f", {later[-1].name} as {later[-1].amount}" if later[-1].amount != later[0].amount else ""
    elif others and not earlier:
        said += f"; {others[0].name} gives {others[0].amount}"
    yield said


def _print_difference_note(
    entry: Entry, figure: Figure, prints: Sequence[SourcedFact], metrics: Mapping[str, Metric]
) -> Iterator[str]:
    """Yield a note where the same number is printed in another scale or with the other sign."""
    own, taken = figure.fact(), amount_with_unit(figure.amount, figure.scale, figure.unit)
    scaled = next((each for each in prints if differ_only_in_scale(own, each.fact)), None)
    if scaled is not None:
        there = amount_with_unit(scaled.fact.amount, scaled.fact.scale, scaled.fact.unit)
        yield (
            f"{entry.slot} is read as {taken}; page {scaled.fact.page + 1}"
            f" of {scaled.doc_id} has {there}, the same number in another scale"
        )
    home = slot_metric(entry.slot, metrics).statement
    flipped = next(
        (
            each
            for each in prints
            if figure.amount * signed_amount(each.fact, metrics) < 0
            and magnitudes_agree(own, each.fact)
            and home is not None
            and each.fact.statement is home
        ),
        None,
    )
    if flipped is not None:
        there = amount_with_unit(signed_amount(flipped.fact, metrics), flipped.fact.scale, flipped.fact.unit)
        yield (
            f"{entry.slot} is {taken} by the sign of {figure.label!r};"
            f" page {flipped.fact.page + 1} of {flipped.doc_id} has {there}"
        )


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
