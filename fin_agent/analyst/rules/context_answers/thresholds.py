"""Bounds and superlatives in questions: `exceed $5 million`, `the lowest`, `negative`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from fin_agent.analyst.rules.context_answers.scales import NAMES


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound for figures; `scale` is empty where the question names none."""

    amount: Decimal
    scale: str
    above: bool
    inclusive: bool = False

    def holds(self, amount: Decimal, scale: str) -> bool:
        """Whether a printed figure of that scale lies on the right side."""
        if self.scale in NAMES:
            amount, limit = amount * NAMES.get(scale, 1), self.amount * NAMES[self.scale]
        else:
            limit = self.amount
            if scale in NAMES and limit >= NAMES[scale] and abs(amount) * 100 < limit:
                amount *= NAMES[scale]
        if self.inclusive and amount == limit:
            return True
        return amount > limit if self.above else amount < limit


def bound_in(question: str) -> Bound | None:
    """The bound that a question names."""
    if match := _BOUND.search(question):
        above = _ABOVE.search(match["side"]) is not None
        scale = (match["scale"] or "").lower().rstrip("s")
        return Bound(
            Decimal(match["amount"].replace(",", "")),
            scale,
            above,
            re.search("at least|most|equal", match["side"]) is not None,
        )
    if re.search(r"\bnegative\b", question, re.I):
        return Bound(Decimal(0), "", above=False)
    if re.search(r"\bpositive\b", question, re.I):
        return Bound(Decimal(0), "", above=True)
    return None


def extreme_in(question: str) -> Callable[[list[Decimal]], Decimal] | None:
    """`max` or `min` where a question asks for the largest or smallest."""
    if _LOW.search(question):
        return min
    return max if _HIGH.search(question) else None


_SIDES = (
    r"exceed(?:s|ed|ing)?|above|over|(?:more|greater|higher|larger|less|lower|fewer"
    r"|smaller) than(?: or equal to)?|below|under"
    r"|at least|at most|fell below|surpass(?:ed)?"
)
_BOUND = re.compile(
    rf"\b(?P<side>{_SIDES})\s+(?:the\s+)?(?:\w{{0,3}}[$€£]\s?|RMB\s?)?(?P<amount>-?\d[\d,]*(?:\.\d+)?)(?!\d)"
    r"\s*(?P<scale>thousands?|millions?|billions?)?",
    re.I,
)
_ABOVE = re.compile(r"exceed|above|over|more|greater|higher|larger|at least|surpass", re.I)
_LOW = re.compile(r"\b(?:lowest|smallest|least|fewest|minimum|lower|smaller|less|fewer)\b", re.I)
_HIGH = re.compile(r"\b(?:highest|largest|greatest|most|biggest|maximum|higher|larger|greater|bigger|more)\b", re.I)
