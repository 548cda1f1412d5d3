"""Cards with some of their fields hidden, to see what those fields are worth (FinCards, Section 5: ablations)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fin_agent.evidence.cards.card import Card, EvidenceType, RiskSignal, ScopeSignature, TemporalAnchor
from fin_agent.evidence.tournament.settings import HiddenField


def masked(card: Card, hidden: Collection[HiddenField]) -> Card:
    """`card` as a judge sees it who is not shown the fields `hidden`."""
    if not hidden:
        return card
    changed: dict[str, object] = {}
    identity: dict[str, object] = {}
    if HiddenField.TIME in hidden:
        changed["time"] = TemporalAnchor()
        identity |= {"fiscal_year": None, "quarter": None}
    if HiddenField.METRICS in hidden:
        changed["metrics"] = ()
    if HiddenField.TABLES in hidden:
        changed["verifiability"] = card.verifiability.model_copy(update={"table": None})
        changed["evidence_type"] = EvidenceType.NARRATIVE
        identity |= {"statement": None, "table_kind": None}
    if HiddenField.SCOPE in hidden:
        changed["scope"] = ScopeSignature()
        changed["risks"] = tuple(risk for risk in card.risks if risk not in _OF_SCOPE)
    if _FACT_FIELDS.keys() & hidden:
        changed["facts"] = tuple(fact.model_copy(update=_hidden_of_facts(hidden)) for fact in card.facts)
    return card.model_copy(update={**changed, "identity": card.identity.model_copy(update=identity)})


_OF_SCOPE = (RiskSignal.PART_ONLY, RiskSignal.PARENT_ONLY)
_FACT_FIELDS: Mapping[HiddenField, Mapping[str, object]] = {
    HiddenField.TIME: {"period": ""},
    HiddenField.METRICS: {"metric": None},
    HiddenField.SCOPE: {"scope": None},
}


def _hidden_of_facts(hidden: Collection[HiddenField]) -> dict[str, object]:
    return {name: value for field in hidden for name, value in _FACT_FIELDS.get(field, {}).items()}
