"""How a figure fills a slot: from the period's own filing, a later filing's column, or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement

_YEARS = (Form.TEN_K, Form.TWENTY_F, Form.ANNUAL_REPORT)
_STATEMENTS = {
    Statement.INCOME: "income statement",
    Statement.COMPREHENSIVE_INCOME: "statement of comprehensive income",
    Statement.BALANCE_SHEET: "balance sheet",
    Statement.CASH_FLOW: "cash flow statement",
    Statement.EQUITY: "statement of equity",
}
_SCALES = {1: "units", 1_000: "thousands", 1_000_000: "millions", 1_000_000_000: "billions"}


class SlotFit(StrEnum):
    """How the filing of a figure relates to the slot that it fills."""

    EXACT = "exact"
    """The periodic report of the slot's period."""
    PRIOR_COLUMN = "prior-period column"
    """A report of a later period, in its column for the slot's period."""
    OTHER_FILING = "other filing"
    """Any other, such as a release of results or a quarterly report with the last year's end."""


def slot_fit(slot: Slot, identity: Identity | None) -> SlotFit:
    """Return how a filing relates to `slot`; OTHER_FILING if its period is unknown."""
    reported = identity.reported_period if identity is not None else None
    if identity is None or reported is None:
        return SlotFit.OTHER_FILING
    annual = identity.form in _YEARS
    if not annual and identity.form is not Form.TEN_Q:
        return SlotFit.OTHER_FILING
    own, wanted = (reported.fiscal_year, reported.quarter or 4), (slot.fiscal_year, slot.quarter or 4)
    if own == wanted and annual == (slot.quarter is None):
        return SlotFit.EXACT
    return SlotFit.PRIOR_COLUMN if own > wanted and annual == (slot.quarter is None) else SlotFit.OTHER_FILING


def provenance_reason(
    slot: Slot,
    chosen: SourcedFact,
    differing: Sequence[SourcedFact],
    identities: Mapping[str, Identity],
    scale: int | None = None,
) -> tuple[str, bool]:
    """Return why a fact fills the slot, and whether the figure was restated.

    `differing` are facts for the slot with other values; `scale` is that of the answer's other figures.
    """
    fact = chosen.fact
    place = f"the {_STATEMENTS[fact.statement]}" if fact.statement else "a table outside the statements"
    how = slot_fit(slot, identities.get(chosen.doc_id))
    parts = [f"{fact.label!r} in the column {fact.column!r} of {place}", _fit_description(how, chosen, identities)]
    restated = [other for other in differing if _restates(slot, chosen, other, identities)]
    if restated:
        parts.append(f"restated: {restated[0].doc_id} gives {restated[0].fact.amount:,}")
    if scale is not None and fact.unit in ("USD", "shares") and fact.scale != scale:
        parts.append(f"converted from {scale_name(fact.scale)}")
    return "; ".join(part for part in parts if part), bool(restated)


def scale_name(scale: int) -> str:
    """Return the name of a scale, such as `millions`."""
    return _SCALES.get(scale, f"units of {scale}")


def _fit_description(how: SlotFit, chosen: SourcedFact, identities: Mapping[str, Identity]) -> str:
    identity = identities.get(chosen.doc_id)
    if how is SlotFit.EXACT:
        return how.value
    if identity is None:
        return ""
    reported = identity.reported_period
    quarter = f"Q{reported.quarter} " if reported and reported.quarter else ""
    of = f" of {quarter}FY{reported.fiscal_year}" if reported else ""
    return f"{how.value}: {identity.form.value}{of}"


def _restates(slot: Slot, one: SourcedFact, other: SourcedFact, identities: Mapping[str, Identity]) -> bool:
    """Return whether the facts are on statements of reports of different periods: the later one restates."""
    if one.fact.statement is None or one.fact.statement is not other.fact.statement:
        return False
    ends = [
        identity.period_end
        for identity in (identities.get(one.doc_id), identities.get(other.doc_id))
        if identity is not None and slot_fit(slot, identity) is not SlotFit.OTHER_FILING
    ]
    return len(set(ends)) == 2
