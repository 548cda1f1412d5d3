"""Compare results as losses if the question does: a larger loss is a more negative figure."""

from __future__ import annotations

from fin_agent.evidence.intent import Comparison, Intent, Relation
from fin_agent.evidence.sign_conventions import LOSS_OF, RESULTS
from fin_agent.lexicon.words import finds, patterns


def with_losses(intent: Intent) -> Intent:
    """Return the intent with losses compared by size, if its words are about losses.

    Levels keep the sign of the filings, and `losses` of the intent determines their ranking; for a change, growth,
    difference or bound, the sign of the result is inverted.
    """
    chosen = intent.selection
    if chosen is not None and _compare_losses(chosen.measure, chosen.expression, ""):
        chosen = chosen.model_copy(update={"expression": f"{LOSS_OF}{chosen.expression}"})
        intent = intent.model_copy(update={"selection": chosen})
    moves = intent.relation in _MOVES
    if intent.comparison in _EXTREMES and (moves or "change(" in intent.expression):
        return intent  # the fastest growth of losses is that of the figures
    if not intent.numeric or intent.further or not _compare_losses(intent.measure, intent.expression, intent.core):
        return intent
    bounded = intent.claim is not None and bool(intent.claim.bound)
    if moves or intent.comparison in _APART or bounded:
        return intent.model_copy(update={"expression": f"{LOSS_OF}{intent.expression}"})
    return _ranked_by_taste(intent)


def _ranked_by_taste(intent: Intent) -> Intent:
    """Return the intent with its losses ranked by size; the worse of two is the larger loss."""
    worse = finds(intent.core, "worse")
    by_taste = worse or finds(intent.core, "better")
    comparison, claim = intent.comparison, intent.claim
    years_ranked = intent.relation is Relation.EACH and len(intent.companies) == 1 and len(intent.periods) > 1
    if by_taste and (years_ranked or comparison in _EXTREMES):
        comparison = Comparison.HIGHEST if worse else Comparison.LOWEST
    if by_taste and claim is not None:
        claim = claim.model_copy(update={"above": worse})
    if comparison not in _EXTREMES and intent.relation not in _MOVING:
        return intent
    return intent.model_copy(update={"losses": True, "comparison": comparison, "claim": claim})


_MOVING = (Relation.TREND, Relation.EVERY_YEAR, Relation.YEARS_COUNTED)
_MOVES = (Relation.CHANGE, Relation.GROWTH)
_APART = (Comparison.DIFFERENCE, Comparison.EXCESS)
_EXTREMES = (Comparison.HIGHEST, Comparison.LOWEST)
_CASH = frozenset(("cash_from_operations", "cash_from_investing", "cash_from_financing", "free_cash_flow"))
_WITH_A_SIGN = RESULTS.union(
    ("segment_operating_income", "shareholders_equity", "total_equity", "retained_earnings", "working_capital")
)


def _compare_losses(words: str, expression: str, core: str) -> bool:
    if expression in _CASH:
        return finds(core, "burnt") and "provided" not in words  # `provided by (used in)` names either sign
    return expression in _WITH_A_SIGN and patterns("asked_patterns")["loss"].search(words) is not None
