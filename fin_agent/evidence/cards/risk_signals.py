"""Why a passage's figures must be taken with care."""

from __future__ import annotations

from fin_agent.evidence.cards.card import ClaimRole, RiskSignal, ScopeSignature
from fin_agent.evidence.cards.cues import Cues
from fin_agent.evidence.cards.sources import PassageSource
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import TableKind

_HABIT = 2
"""Occurrences of forward-looking words from which a passage speaks of what is to come."""


def risks_of(
    source: PassageSource, found: Cues, role: ClaimRole, scope: ScopeSignature, periods: bool
) -> list[RiskSignal]:
    """The risk signals of a passage; `found` are phrases by signal, `periods` says whether any period is known."""
    figures = bool(source.facts) or (source.table is not None and bool(source.table.rows))
    holds = {
        RiskSignal.FORWARD_LOOKING: is_forward(found, role),
        RiskSignal.NON_GAAP: RiskSignal.NON_GAAP.value in found,
        RiskSignal.PRO_FORMA: RiskSignal.PRO_FORMA.value in found,
        RiskSignal.RESTATED: RiskSignal.RESTATED.value in found,
        RiskSignal.UNAUDITED: RiskSignal.UNAUDITED.value in found or _interim_statement(source),
        RiskSignal.PARENT_ONLY: source.page.kind is TableKind.PARENT_ONLY or RiskSignal.PARENT_ONLY.value in found,
        RiskSignal.PART_ONLY: bool(source.facts and scope.parts and not scope.consolidated),
        RiskSignal.UNCERTAIN_PERIOD: figures and not periods,
    }
    return [signal for signal, present in holds.items() if present]


def is_forward(found: Cues, role: ClaimRole) -> bool:
    """Whether a passage speaks of what is to come."""
    return role is ClaimRole.FORECASTS or sum(found.get(RiskSignal.FORWARD_LOOKING.value, {}).values()) >= _HABIT


def _interim_statement(source: PassageSource) -> bool:
    return source.page.statement is not None and source.identity.form in (Form.TEN_Q, Form.EARNINGS, Form.EIGHT_K)
