"""Which of the figures that were listed stands out: `which had the highest?`, `which grew fastest?`."""

from __future__ import annotations

import re

from fin_agent.analyst.rules.asked_before import AskedBefore, period_names
from fin_agent.analyst.rules.said_now import SaidNow
from fin_agent.analyst.rules.taken_over import answered_periods, shifted_years
from fin_agent.answering.answer import Answer

_WHICH = r"^\W*(?:and\s+)?(?:which|who)(?:\s+(?:one|company|firm))?(?:\s+of\s+(?:them|these|those|the\s+\w+))?\s+"
_STANDS_OUT = re.compile(
    _WHICH + r"(?:has|had|have|is|was|did|earned|made|were|are)\s+(?:the\s+)?"
    r"(?P<word>highest|lowest|largest|smallest|biggest|most|least|higher|lower|larger|smaller|bigger|more|less|best|worst)"
    r"(?:\s+(?:one|figure|value))?\W*$",
    re.I,
)
_GREW = re.compile(
    _WHICH
    + r"(?P<verb>grew|rose|increased|fell|declined|decreased)\s+(?:the\s+)?(?:fastest|quickest|most|more|faster)\W*$",
    re.I,
)
_LOW = frozenset({"lowest", "smallest", "least", "lower", "smaller", "less"})


def asks_which(text: str) -> bool:
    """Whether it asks which of some figures stands out, without saying of what."""
    return bool(_STANDS_OUT.match(text) or _GREW.match(text))


def which_of_listed(before: AskedBefore, now: SaidNow, answer: Answer | None) -> str | None:
    """The question that compares what the question before listed; None where it does not ask that.

    `best` and `worst` are asked back: which end is good is not ours to say.
    """
    if now.names or now.measures or len(before.names) < 2 or not (before.measure and before.intent.numeric):
        return None
    periods = before.asked or answered_periods(answer)
    among = f"{', '.join(before.names[:-1])} or {before.names[-1]}"
    found = _STANDS_OUT.match(now.text)
    if found is not None and found["word"].lower() not in ("best", "worst"):
        word = "lowest" if found["word"].lower() in _LOW else "highest"
        told = f" in {period_names(periods[-1:])}" if periods else ""
        return f"Which company had the {word} {before.measure}{told}, {among}?"
    found = _GREW.match(now.text)
    if found is None or not periods:
        return None
    span = periods if len(periods) > 1 else (*shifted_years(periods, -1), *periods)
    told = f"from {period_names(span[:1])} to {period_names(span[-1:])}"
    verb = "grew fastest" if found["verb"].lower() in ("grew", "rose", "increased") else "fell the most"
    return f"Which company's {before.measure} {verb} {told}, {among}?"
