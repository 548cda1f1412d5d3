"""How a passage's figures are measured: units, scales, per share, outside GAAP, unaudited."""

from __future__ import annotations

from fin_agent.evidence.cards.card import MeasurementBasis, RiskSignal
from fin_agent.evidence.cards.cues import Cues
from fin_agent.evidence.cards.sources import PassageSource
from fin_agent.lexicon.words import word_lists

_PER_SHARE = "USD per share"


def basis_of(source: PassageSource, risks: Cues, figures: bool) -> MeasurementBasis:
    """The measurement of a passage's facts; where it has none, of the amounts in its sentences (`figures`)."""
    units = {fact.unit for fact in source.facts if fact.unit}
    scales = {fact.scale for fact in source.facts if fact.unit == "USD"}
    flat = source.flat
    if not source.facts and figures:
        named = word_lists("unit_words")
        units = {unit for unit in _UNITS if any(words in flat for words in named[unit])}
        scales = {_SCALES[scale] for scale in _SCALES if any(words in flat for words in named[scale])}
    return MeasurementBasis(
        units=tuple(sorted(units)),
        scales=tuple(sorted(scales)),
        per_share=_PER_SHARE in units
        or (figures and " per share" in flat)
        or (figures and " per diluted share" in flat),
        adjusted=RiskSignal.NON_GAAP.value in risks,
        unaudited=RiskSignal.UNAUDITED.value in risks,
    )


_UNITS = ("USD", "percent")
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
