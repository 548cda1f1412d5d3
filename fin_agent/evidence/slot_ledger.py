"""The ledger: the slots of an answer with the figures that fill them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from fin_agent.evidence.scale_conflicts import differ_only_in_scale, most_plausible_scale
from fin_agent.evidence.sign_conventions import signed_amount
from fin_agent.evidence.slot_provenance import SlotFit, provenance_reason, scale_name, slot_fit
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.retrieval.fact_terms import words_of
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.figure_agreement import figures_agree, last_place
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box

_MAX_CONFLICTS = 3


class Figure(BaseModel):
    """A fact as cited by an answer."""

    model_config = ConfigDict(frozen=True)

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


class Entry(BaseModel):
    """A slot with the figure that fills it."""

    model_config = ConfigDict(frozen=True)

    slot: Slot
    required: bool
    figure: Figure | None = None
    reason: str = ""
    """Why this figure fills the slot, or why none does."""
    filling: SlotFit | None = None
    """How the figure's filing relates to the slot; None if the slot is empty."""
    restated: bool = False
    """Whether reports of different periods state different figures for the slot."""
    conflicts: tuple[Figure, ...] = ()
    """Other figures for the slot that disagree."""


class Ledger(BaseModel):
    """The slots of one question."""

    model_config = ConfigDict(frozen=True)

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
    lexicon: Lexicon,
    owners: Mapping[str, str],
    documents: Sequence[str],
    *,
    identities: Mapping[str, Identity] = MappingProxyType({}),
    statements: Collection[Statement] = (),
    preferred: Mapping[Slot, SourcedFact] = MappingProxyType({}),
    elsewhere: Sequence[SourcedFact] = (),
    unreliable: Collection[tuple[str, int, int, Decimal]] = (),
) -> Ledger:
    """Fill slots from facts.

    A figure on a requested statement comes first, then one on the metric's primary statement; then the order of
    `documents`, page and line decides. Statements that disagree are recorded as conflicts.

    Args:
        slots: Slot -> whether it is required.
        facts: Candidate facts.
        lexicon: Metrics by id.
        owners: Company key of each filing.
        documents: Ids of filings, preferred ones first.
        identities: Identity of each filing, for its period.
        statements: Statements that the question names.
        preferred: Facts that take precedence for their slot.
        elsewhere: Further facts that are only compared for conflicts.
        unreliable: (doc_id, page, line, value in base units) of facts that come last.
    """
    rank = {doc_id: position for position, doc_id in enumerate(documents)}
    by_metric: dict[str, list[SourcedFact]] = {}
    for sourced in facts:
        if sourced.fact.metric is not None:
            by_metric.setdefault(sourced.fact.metric, []).append(sourced)
    found: dict[Slot, list[SourcedFact]] = {}
    for slot in slots:
        home = slot_metric(slot, lexicon.metrics).statement
        candidates = [
            fact for fact in by_metric.get(slot.fact_name, ()) if fills_slot(fact, slot, lexicon.metrics, owners)
        ]
        candidates.sort(
            key=lambda sourced: (
                (sourced.doc_id, sourced.fact.page, sourced.fact.line, sourced.fact.value) in unreliable,
                sourced != preferred.get(slot),
                sourced.fact.statement not in statements,
                home is not None and sourced.fact.statement is not home,
                sourced.fact.statement is None,
                slot_metric(slot, lexicon.metrics).period == "instant" and sourced.fact.period.months > 0,
                rank.get(sourced.doc_id, len(rank)),
                sourced.fact.page,
                sourced.fact.line,
            )
        )
        found[slot] = _most_exact_first(candidates)
    scale = _common_scale([candidates[0].fact for candidates in found.values() if candidates])
    return Ledger(
        entries=tuple(
            _entry(
                slot,
                required,
                found[slot],
                [fact for fact in elsewhere if fills_slot(fact, slot, lexicon.metrics, owners)],
                lexicon,
                identities,
                scale,
            )
            for slot, required in slots.items()
        )
    )


def _most_exact_first(candidates: list[SourcedFact]) -> list[SourcedFact]:
    """Prefer a more precise print of the first figure in its own filing, outside the statements: 22,038 over 22.0."""
    if not candidates:
        return candidates
    finer = more_precise_facts(candidates[0], candidates)
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


def _common_scale(facts: Sequence[Fact]) -> int | None:
    """Return the most frequent scale of the facts, the larger one in a tie."""
    scales = Counter(fact.scale for fact in facts if fact.unit in ("USD", "shares"))
    return max(scales, key=lambda scale: (scales[scale], scale)) if scales else None


def _entry(
    slot: Slot,
    required: bool,
    candidates: Sequence[SourcedFact],
    elsewhere: Sequence[SourcedFact],
    lexicon: Lexicon,
    identities: Mapping[str, Identity],
    scale: int | None,
) -> Entry:
    if not candidates:
        return Entry(slot=slot, required=required, reason="nothing read so far states it")
    best = most_plausible_scale(candidates, [sourced for sourced in elsewhere if sourced not in candidates])
    if best is None:
        one, other = (
            candidates[0],
            next(each for each in (*candidates[1:], *elsewhere) if differ_only_in_scale(candidates[0].fact, each.fact)),
        )
        where = " and ".join(
            f"{each.fact.amount:,} {scale_name(each.fact.scale)} on page {each.fact.page + 1} of {each.doc_id}"
            for each in (one, other)
        )
        return Entry(slot=slot, required=required, reason=f"stated in two scales: {where}")
    candidates = [best, *(each for each in candidates if each is not best)]
    others = list(dict.fromkeys([*candidates[1:], *(sourced for sourced in elsewhere if sourced not in candidates)]))
    chosen = figure_of(candidates[0], lexicon)
    differing = [
        (sourced, figure)
        for sourced, figure in ((other, figure_of(other, lexicon)) for other in others)
        if not figures_agree(chosen, figure) and (figure.amount or not chosen.amount)
    ]
    label = words_of(candidates[0].fact.label)
    unsure = [
        sourced
        for sourced, _ in differing
        if sourced.doc_id == candidates[0].doc_id or (slot.is_searched and words_of(sourced.fact.label) != label)
    ]
    if unsure and (slot.is_searched or (slot.part is not None and candidates[0].fact.tag is None)):
        # Two lines may match the same words, and outside the statements a row's part and period may be misread:
        # of two readings neither is used.
        stated = " and ".join(f"{each.fact.amount:,}" for each in (candidates[0], unsure[0]))
        where = " and ".join(f"{each.doc_id} page {each.fact.page + 1}" for each in (candidates[0], unsure[0]))
        return Entry(slot=slot, required=required, reason=f"stated differently ({stated}, {where})")
    reason, restated = provenance_reason(slot, candidates[0], [sourced for sourced, _ in differing], identities, scale)
    return Entry(
        slot=slot,
        required=required,
        figure=chosen,
        reason=reason,
        filling=slot_fit(slot, identities.get(candidates[0].doc_id)),
        restated=restated,
        conflicts=tuple(figure for _, figure in differing[:_MAX_CONFLICTS]),
    )


def figure_of(sourced: SourcedFact, lexicon: Lexicon) -> Figure:
    """Return a fact as cited by an answer."""
    fact = sourced.fact
    return Figure(
        doc_id=sourced.doc_id,
        page=fact.page,
        line=fact.line,
        box=fact.box,
        label=fact.label,
        column=fact.column,
        amount=signed_amount(fact, lexicon.metrics),
        printed=fact.amount,
        scale=fact.scale,
        unit=fact.unit,
        fiscal_year=fact.period.fiscal_year,
        quarter=fact.period.quarter,
        months=fact.period.months,
        period_end=fact.period.end,
        statement=fact.statement,
    )
