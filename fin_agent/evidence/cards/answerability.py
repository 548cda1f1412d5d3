"""Which questions a passage can answer on its own."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.evidence.cards.card import AnswerabilityProfile, ClaimRole, ScopeSignature, Use
from fin_agent.evidence.cards.cues import Cues
from fin_agent.vocabulary.fact import Fact

_SEVERAL = 2
_FOR_SUMS = 3
_HABIT = 2


def answerability_of(
    facts: Sequence[Fact], role: ClaimRole, cues: Cues, scope: ScopeSignature, numeric: bool
) -> AnswerabilityProfile:
    """Uses from the role, the figures, the number of periods of one row, and the parts; `numeric` as in the profile."""
    rows: dict[tuple[str, str | None], set[tuple[int, int | None]]] = {}
    for fact in facts:
        rows.setdefault((fact.label, fact.scope), set()).add((fact.period.fiscal_year, fact.period.quarter))
    periods = max(map(len, rows.values()), default=0)
    compared = len(scope.parts) >= _SEVERAL and numeric
    can = {
        Use.LOOKUP: numeric or role in _TOLD,
        Use.TREND: periods >= _SEVERAL,
        Use.COMPARISON: compared,
        Use.AGGREGATION: periods >= _FOR_SUMS or (compared and bool(facts)),
        Use.EXPLANATION: role is ClaimRole.EXPLAINS or _many(cues, ClaimRole.EXPLAINS),
        Use.DEFINITION: role is ClaimRole.DEFINES or _many(cues, ClaimRole.DEFINES),
        Use.POLICY: role is ClaimRole.SETS_POLICY or _many(cues, ClaimRole.SETS_POLICY),
    }
    return AnswerabilityProfile(uses=tuple(use for use, possible in can.items() if possible), numeric=numeric)


_TOLD = (
    ClaimRole.REPORTS,
    ClaimRole.TELLS_EVENT,
    ClaimRole.DESCRIBES,
    ClaimRole.WARNS,
    ClaimRole.FORECASTS,
)
"""Roles whose passages are looked up for what they say, figures or not."""


def _many(cues: Cues, role: ClaimRole) -> bool:
    return sum(cues.get(role.value, {}).values()) > _HABIT
