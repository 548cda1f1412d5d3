"""How a figure came to fill a slot: stated by the period's own filing, in a later one's column, somewhere else."""

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
    """What the filing of a figure is to the slot it fills."""

    EXACT = "exact"
    """The periodic report of the slot's own period."""
    PRIOR_COLUMN = "prior-period column"
    """A filing of a later period, in its column for the slot's."""
    OTHER_FILING = "other filing"
    """Any other: a release of results, a quarterly report that prints the last year's end."""


def slot_fit(slot: Slot, identity: Identity | None) -> SlotFit:
    """What a filing so identified is to `slot`; a filing that cannot be told is another filing."""
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
    """(why this fact fills the slot, whether it was restated), in words.

    `differing` are facts for the same slot with another value, `scale` what the other figures of the answer are in.
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
    """`millions`."""
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
    """Whether the two stand on statements of reports of different periods: the later one changed the figure."""
    if one.fact.statement is None or one.fact.statement is not other.fact.statement:
        return False
    ends = [
        identity.period_end
        for identity in (identities.get(one.doc_id), identities.get(other.doc_id))
        if identity is not None and slot_fit(slot, identity) is not SlotFit.OTHER_FILING
    ]
    return len(set(ends)) == 2
