"""Where the evidence stands in a passage's text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fin_agent.evidence.cards.card import ClaimRole, EvidenceSpan
from fin_agent.evidence.cards.card_metrics import NamedMetric
from fin_agent.evidence.cards.cues import cue_pattern

_MOST_SPANS = 12
_MOST_CUES = 5


def spans_of(text: str, role: ClaimRole, cues: Iterable[str], named: Sequence[NamedMetric]) -> tuple[EvidenceSpan, ...]:
    """The first place of each cue phrase of the role and of each metric that sentences name, in order of place."""
    low = text.lower()
    if len(low) != len(text):  # a few letters of other scripts grow when they are lowered
        low = text
    spans = [
        EvidenceSpan(start=found.start(), end=found.end(), shows=role.value)
        for phrase in list(cues)[:_MOST_CUES]
        if (found := cue_pattern(phrase).search(low)) is not None
    ]
    spans += [EvidenceSpan(start=one.start, end=one.end, shows=one.id) for one in named[: _MOST_SPANS - len(spans)]]
    return tuple(sorted(spans, key=lambda span: (span.start, span.end, span.shows)))
