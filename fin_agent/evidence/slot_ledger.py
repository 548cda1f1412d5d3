"""The ledger: the slots of an answer with the figures that fill them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType

from pydantic import BaseModel

from fin_agent.evidence.sign_conventions import signed_amount
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS, FiscalPeriod
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.retrieval.fact_terms import OF_TIME, clause_subject, words_of
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.figure_agreement import figures_agree, last_place, magnitudes_agree
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace

_MAX_CONFLICTS = 3

Place = tuple[str, int, int, Decimal]
"""(doc_id, page, line, printed value in base units)."""

_STATEMENTS = {
    Statement.INCOME: "income statement",
    Statement.COMPREHENSIVE_INCOME: "statement of comprehensive income",
    Statement.BALANCE_SHEET: "balance sheet",
    Statement.CASH_FLOW: "cash flow statement",
    Statement.EQUITY: "statement of equity",
}
_SCALES = {1: "units", 1_000: "thousands", 1_000_000: "millions", 1_000_000_000: "billions"}
_SCALED = ("USD", "shares")
"""Units whose amounts are printed in scales."""


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
    if identity is None or reported is None or identity.form not in (*ANNUAL_FORMS, Form.TEN_Q):
        return SlotFit.OTHER_FILING
    own, wanted = (reported.fiscal_year, reported.quarter or 4), (slot.fiscal_year, slot.quarter or 4)
    if own < wanted or (identity.form in ANNUAL_FORMS) != (slot.quarter is None):
        return SlotFit.OTHER_FILING
    return SlotFit.EXACT if own == wanted else SlotFit.PRIOR_COLUMN


class Figure(BaseModel, frozen=True):
    """A fact as cited by an answer."""

    doc_id: str
    page: int
    """0-based."""
    line: int
    box: tuple[float, float, float, float]
    label: str
    column: str
    amount: Decimal
    """In units of `scale`, with the conventional sign: a cash outflow is positive whatever is printed."""
    printed: Decimal
    """As printed, with its sign."""
    scale: int
    unit: str
    fiscal_year: int
    quarter: int | None
    months: int
    period_end: date | None = None
    statement: Statement | None = None

    def fact(self) -> Fact:
        """Return the underlying fact, for the provenance check."""
        period = FactPeriod(self.fiscal_year, self.quarter, self.months, self.period_end)
        return Fact(self.label, self.printed, self.scale, self.unit, period, self.page, Box(*self.box), line=self.line)

    @property
    def value(self) -> Decimal:
        """The amount in base units."""
        return self.amount * self.scale

    @property
    def place(self) -> Place:
        """The location and the printed value."""
        return self.doc_id, self.page, self.line, self.printed * self.scale


class Entry(BaseModel, frozen=True):
    """A slot with the figure that fills it."""

    slot: Slot
    required: bool
    figure: Figure | None = None
    reason: str = ""
    """Why this figure fills the slot, or why none does."""
    filling: SlotFit | None = None
    """How the figure's filing relates to the slot; None if the slot is empty."""
    conflicts: tuple[Figure, ...] = ()
    """Other figures for the slot that disagree."""


class Ledger(BaseModel, frozen=True):
    """The slots of one question."""

    entries: tuple[Entry, ...] = ()

    @property
    def figures(self) -> dict[Slot, Figure]:
        """The figures of the filled slots."""
        return {entry.slot: entry.figure for entry in self.entries if entry.figure is not None}

    @property
    def empty(self) -> tuple[Slot, ...]:
        """Slots without a figure, required ones first."""
        slots = [(not entry.required, entry.slot) for entry in self.entries if entry.figure is None]
        return tuple(slot for _, slot in sorted(slots, key=lambda pair: pair[0]))


def fill_slots(
    slots: Mapping[Slot, bool],
    facts: Iterable[SourcedFact],
    workspace: Workspace,
    documents: Sequence[str],
    *,
    statements: Collection[Statement] = (),
    preferred: Mapping[Slot, SourcedFact] = MappingProxyType({}),
    elsewhere: Sequence[SourcedFact] = (),
    unreliable: Collection[Place] = (),
) -> Ledger:
    """Fill slots from facts.

    A figure on a requested statement comes first, then one on the metric's primary statement; then the order of
    `documents`, a statement's total before its components, page and line decide. Statements that disagree are
    recorded as conflicts.

    Args:
        slots: Slot -> whether it is required.
        facts: Candidate facts.
        workspace: The index with its filings and metrics.
        documents: Ids of filings, preferred ones first.
        statements: Statements that the question names.
        preferred: Facts that take precedence for their slot.
        elsewhere: Further facts that are only compared for conflicts.
        unreliable: Places of facts that come last.
    """
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    identities = workspace.directory.identities
    rank = {doc_id: position for position, doc_id in enumerate(documents)}
    by_metric = grouped((sourced.fact.metric, sourced) for sourced in facts)
    found: dict[Slot, list[SourcedFact]] = {}
    for slot in slots:
        metric = slot_metric(slot, metrics)
        home = metric.statement
        candidates = [fact for fact in by_metric.get(slot.fact_name, ()) if fills_slot(fact, slot, metrics, owners)]
        fit_of = {each.doc_id: slot_fit(slot, identities.get(each.doc_id)) for each in candidates}
        candidates.sort(
            key=lambda sourced: (
                (sourced.doc_id, sourced.fact.page, sourced.fact.line, sourced.fact.value) in unreliable,
                sourced != preferred.get(slot),
                sourced.fact.statement not in statements,
                sourced.fact.statement in (None, Statement.EQUITY) and sourced.fact.statement is not home,
                sourced.fact.statement is not None and fit_of[sourced.doc_id] is not SlotFit.EXACT,
                home is not None and sourced.fact.statement is not home,
                sourced.fact.statement is None,
                metric.period == "instant" and sourced.fact.period.months > 0,
                rank.get(sourced.doc_id, len(rank)),
                sourced.fact.statement is None or "total" not in words_of(sourced.fact.label),
                sourced.fact.page,
                sourced.fact.line,
            )
        )
        found[slot] = _most_exact_first(candidates)
    scales = Counter(each[0].fact.scale for each in found.values() if each and each[0].fact.unit in _SCALED)
    common = max(scales, key=lambda scale: (scales[scale], scale), default=None)
    entries = []
    for slot, required in slots.items():
        others = [fact for fact in elsewhere if fills_slot(fact, slot, metrics, owners)]
        entries.append(_entry(slot, required, found[slot], others, workspace, common))
    return Ledger(entries=tuple(entries))


def _most_exact_first(candidates: list[SourcedFact]) -> list[SourcedFact]:
    """Prefer a more precise print of the first figure in its own filing, outside the statements: 22,038 over 22.0."""
    finer = more_precise_facts(candidates[0], candidates) if candidates else []
    best = min(finer, key=lambda sourced: last_place(sourced.fact), default=None)
    return candidates if best is None else [best, *(each for each in candidates if each is not best)]


def more_precise_facts(rounded: SourcedFact, facts: Iterable[SourcedFact]) -> list[SourcedFact]:
    """Return the facts that print the same figure of the same filing with more digits; none for one on a statement."""
    if rounded.fact.statement is not None or not rounded.fact.amount:
        return []
    return [
        other
        for other in facts
        if other.doc_id == rounded.doc_id
        and last_place(other.fact) < last_place(rounded.fact)
        and figures_agree(other.fact, rounded.fact)
    ]


def _entry(
    slot: Slot,
    required: bool,
    candidates: Sequence[SourcedFact],
    elsewhere: Sequence[SourcedFact],
    workspace: Workspace,
    common_scale: int | None,
) -> Entry:
    def empty(reason: str) -> Entry:
        return Entry(slot=slot, required=required, reason=reason)

    if not candidates:
        return empty("nothing read so far states it")
    metrics, identities = workspace.lexicon.metrics, workspace.directory.identities
    plausible = most_plausible_scale(candidates, [sourced for sourced in elsewhere if sourced not in candidates])
    if plausible is None:
        first = candidates[0]
        other = next(each for each in (*candidates, *elsewhere) if differ_only_in_scale(first.fact, each.fact))
        where = " and ".join(
            f"{each.fact.amount:,} {scale_name(each.fact.scale)} on page {each.fact.page + 1} of {each.doc_id}"
            for each in (first, other)
        )
        return empty(f"stated in two scales: {where}")
    best, *others = dict.fromkeys((plausible, *candidates, *elsewhere))
    if twin := next((each for each in candidates if _is_line_of_other_heading(each, best)), None):
        told = " and ".join(f"{each.fact.amount:,} under {' > '.join(each.fact.section)}" for each in (best, twin))
        return empty(f"two lines of this name: {told}; ask for one of them")
    chosen = figure_of(best, metrics)
    differing: dict[SourcedFact, Figure] = {}
    for other in others:
        figure = figure_of(other, metrics)
        # A sentence tells a size, and its words the sign: `net cash used was $3.9 million`.
        agree = magnitudes_agree if "text" in (other.fact.source, best.fact.source) else figures_agree
        # No rounding makes two amounts of one sentence differ: `$13 million and $12 million`.
        of_one, of_other = ((each.fact.source, each.fact.label, each.fact.scale) for each in (best, other))
        apart = of_one == of_other and best.fact.source == "text" and other.fact.amount != best.fact.amount
        if (apart or not agree(chosen, figure)) and (figure.amount or not chosen.amount):
            differing[other] = figure
    unsure = [
        sourced
        for sourced, figure in differing.items()
        if (sourced.doc_id == best.doc_id or (slot.is_searched and not _are_of_one_line(best.fact, sourced.fact)))
        # a note may take the statement's figure off: `Less: current portion (10)`
        and not (best.fact.statement and not sourced.fact.statement and magnitudes_agree(chosen, figure))
    ]
    alike = {each.fact.value for each in unsure if each.fact.label == best.fact.label and not each.fact.statement}
    misread = slot.part is not None or (len(alike) > 1 and best.fact.statement is None)  # tables of a part each
    if unsure and (slot.is_searched or (misread and best.fact.tag is None)):
        # Two lines may match the same words, and outside the statements a row's part and period may be misread:
        # of two readings neither is used.
        stated = " and ".join(f"{each.fact.amount:,}" for each in (best, unsure[0]))
        where = " and ".join(f"{each.doc_id} page {each.fact.page + 1}" for each in (best, unsure[0]))
        return empty(f"stated differently ({stated}, {where})")
    return Entry(
        slot=slot,
        required=required,
        figure=chosen,
        reason=_provenance_reason(slot, best, differing, identities, common_scale),
        filling=slot_fit(slot, identities.get(best.doc_id)),
        conflicts=tuple(differing.values())[:_MAX_CONFLICTS],
    )


def _are_of_one_line(one: Fact, other: Fact) -> bool:
    """Return whether two filings call two figures the same; sentences of different years have only a subject in common.

    The second one may only compare with it: `ARR was $5 million`, `ARR of $6 million rose by 2% from $5 million`.
    """
    first, second = (
        clause_subject(each) - OF_TIME if each.source == "text" else frozenset[str]() for each in (one, other)
    )
    said = words_of(other.label)
    if first and other.source == "text":
        return first == second if second else first <= said
    return said == words_of(one.label)


def _is_line_of_other_heading(one: SourcedFact, best: SourcedFact) -> bool:
    """Return whether a balance sheet prints a line under two headings with two values: current and noncurrent."""
    fact, other = one.fact, best.fact
    together = (one.doc_id, fact.page, fact.label) == (best.doc_id, other.page, other.label)
    of_sheet = fact.statement is other.statement is Statement.BALANCE_SHEET and fact.period == other.period
    return together and of_sheet and fact.section != other.section and abs(fact.amount) != abs(other.amount)


def figure_of(sourced: SourcedFact, metrics: Mapping[str, Metric]) -> Figure:
    """Return a fact as cited by an answer."""
    fact = sourced.fact
    same = {
        name: getattr(fact, name) for name in ("page", "line", "box", "label", "column", "scale", "unit", "statement")
    }
    return Figure(
        doc_id=sourced.doc_id,
        amount=signed_amount(fact, metrics),
        printed=fact.amount,
        fiscal_year=fact.period.fiscal_year,
        quarter=fact.period.quarter,
        months=fact.period.months,
        period_end=fact.period.end,
        **{name: getattr(fact, name) for name in same},
    )


def _provenance_reason(
    slot: Slot,
    chosen: SourcedFact,
    differing: Iterable[SourcedFact],
    identities: Mapping[str, Identity],
    common_scale: int | None,
) -> str:
    """Return why a fact fills the slot; `common_scale` is that of the answer's other figures."""
    fact, identity = chosen.fact, identities.get(chosen.doc_id)
    place = f"the {_STATEMENTS[fact.statement]}" if fact.statement else "a table outside the statements"
    parts = [f"{fact.label!r} in the column {fact.column!r} of {place}"]
    how = slot_fit(slot, identity)
    if how is SlotFit.EXACT:
        parts.append(how.value)
    elif identity is not None:
        reported = identity.reported_period
        own = f" of {FiscalPeriod(fiscal_year=reported.fiscal_year, quarter=reported.quarter)}" if reported else ""
        parts.append(f"{how.value}: {identity.form.value}{own}")
    restated = next((other for other in differing if _restates(slot, chosen, other, identities)), None)
    if restated is not None:
        parts.append(f"restated: {restated.doc_id} gives {restated.fact.amount:,}")
    if common_scale is not None and fact.unit in _SCALED and fact.scale != common_scale:
        parts.append(f"converted from {scale_name(fact.scale)}")
    return "; ".join(parts)


def scale_name(scale: int) -> str:
    """Return the name of a scale, such as `millions`."""
    return _SCALES.get(scale, f"units of {scale}")


def _restates(slot: Slot, one: SourcedFact, other: SourcedFact, identities: Mapping[str, Identity]) -> bool:
    """Return whether the facts are on statements of reports of different periods: the later one restates."""
    filed = (identity for each in (one, other) if (identity := identities.get(each.doc_id)) is not None)
    ends = {identity.period_end for identity in filed if slot_fit(slot, identity) is not SlotFit.OTHER_FILING}
    return len(ends) == 2 and one.fact.statement is not None and one.fact.statement is other.fact.statement


_FACTORS = (1_000, 1_000_000)


def differ_only_in_scale(one: Fact, other: Fact) -> bool:
    """Return whether two facts have the same number in scales that differ by a thousand or a million."""
    if not one.amount or not other.amount or one.scale == other.scale:
        return False
    small, large = sorted((one, other), key=lambda fact: fact.scale)
    return any(
        large.scale == small.scale * factor and magnitudes_agree(replace(small, scale=1), replace(large, scale=1))
        for factor in _FACTORS
    )


def most_plausible_scale(candidates: Sequence[SourcedFact], beside: Iterable[SourcedFact]) -> SourcedFact | None:
    """Return the first candidate in the scale with the most support; None if two scales are level.

    Tags count more than statements, and statements more than other tables; then the number of prints decides. Other
    statements of the figure (`beside`) only count as support.
    """
    first, *further = *candidates, *beside
    others = [each for each in further if differ_only_in_scale(first.fact, each.fact)]
    if not others:
        return first
    same = [first, *(each for each in further if magnitudes_agree(each.fact, first.fact))]
    here, there = _weight(same), _weight(others)
    if here == there:
        return None
    return first if here > there else next((each for each in others if each in candidates), None)


def _weight(prints: Iterable[SourcedFact]) -> tuple[int, int, int]:
    facts = {(each.doc_id, each.fact.page, each.fact.line): each.fact for each in prints}.values()
    return sum(fact.tag is not None for fact in facts), sum(fact.statement is not None for fact in facts), len(facts)
