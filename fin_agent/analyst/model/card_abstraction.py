"""Cards made by a chat model from those of the rules (FinCards): it describes a passage, and never states figures."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from fin_agent.analyst.model.grounding import contains_phrase, numbers_not_in, printable_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import card_place
from fin_agent.analyst.model.replies import Abstraction
from fin_agent.evidence.cards.card import Card, ClaimRole, EvidenceType, RiskSignal
from fin_agent.evidence.cards.card_metrics import NamedMetric, spans_of
from fin_agent.evidence.cards.rule_based_abstraction import SKETCH_CHARACTERS
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.prompts import Quoted

_MAX_PASSAGE_CHARACTERS = 8_000
"""Characters of a passage shown to the model; its reply is checked against the whole passage."""
_MAX_CACHED = 2_000
"""Cards cached for further rounds and questions."""
_MAX_VALUES = 12
_MAX_LENGTH = 80
_PERIOD = re.compile(r"(?:(Q[1-4]) )?(?:FY|fiscal (?:year )?)?((?:19|20)\d\d)", re.I)
_BY_STRUCTURE = (RiskSignal.PART_ONLY, RiskSignal.UNCERTAIN_PERIOD)
"""Risks that follow from the figures alone: only the rules set them."""


class ModelCardMaker:
    """Makes cards of passages. Identity, facts, units, scales and the table's signature are always the rules'."""

    def __init__(self, client: ModelClient, lexicon: Lexicon) -> None:
        """Load the prompt and its model. Raises PromptError and ModelSetupError."""
        client.require("card")
        self._client = client
        self._lexicon = lexicon
        self._made: dict[tuple[str, str], tuple[Card, tuple[str, ...]]] = {}

    def make(self, base: Card, text: str) -> tuple[Card, tuple[str, ...]]:
        """Return the card of a passage with that text, and notes on rejected parts of the model's reply.

        Without a usable reply the card is `base`, the rules' one. Cards are cached: a passage is described once.
        """
        key = (base.model_dump_json(), text)
        if key not in self._made:
            passage = [Quoted(text[:_MAX_PASSAGE_CHARACTERS], card_place(base))]
            reply = self._client.ask("card", Abstraction, passage=passage)
            if reply is None:
                return base, ()
            if len(self._made) >= _MAX_CACHED:
                self._made.clear()
            self._made[key] = merge_card(base, reply, text, self._lexicon)
        return self._made[key]


def merge_card(base: Card, reply: Abstraction, text: str, lexicon: Lexicon) -> tuple[Card, tuple[str, ...]]:
    """Return the rules' card with the model's fields, and notes on rejected parts of the reply.

    What the model omits stays as the rules set it, and so do risks. If the passage has figures, their metrics, periods
    and scope come first and the model's are appended.
    """
    has_figures = base.verifiability.facts > 0
    notes: list[str] = []

    def checked(own: Sequence[str], values: dict[str, Sequence[str]], rejected: str) -> tuple[str, ...]:
        """Return the values found for the model's words; words without a value are noted."""
        _note(notes, rejected, (words for words, found in values.items() if not found))
        found = [each for several in values.values() for each in several][:_MAX_VALUES]
        return tuple(dict.fromkeys([*(own if has_figures or not found else ()), *found]))

    def quoted(phrases: Iterable[str]) -> dict[str, Sequence[str]]:
        lines = (" ".join(phrase.split()) for phrase in phrases)
        return {line: [line] if len(line) <= _MAX_LENGTH and contains_phrase(line, text) else [] for line in lines}

    metric_ids = {words: _metric_ids(words[:_MAX_LENGTH], lexicon, base) for words in reply.metrics}
    metrics = checked(base.metrics, metric_ids, "metrics the lexicon does not know")
    named_periods = {words: _periods(words, text, base) for words in reply.periods}
    periods = checked(base.time.periods, named_periods, "periods not in the passage")
    parts = checked(base.scope.parts, quoted(reply.parts), "parts not in the passage")
    cues = checked((), quoted(map(str.lower, reply.cues)), "cues not in the passage")
    if not cues and reply.role is base.role:
        cues = base.verifiability.cues
    known = {*base.risks, *reply.risks}.difference(set(_BY_STRUCTURE).difference(base.risks))
    risks = tuple(risk for risk in RiskSignal if risk in known)
    forward = reply.role is ClaimRole.FORECASTS or RiskSignal.FORWARD_LOOKING in risks
    adjusted = base.basis.adjusted or bool(reply.adjusted)
    unaudited = base.basis.unaudited or bool(reply.unaudited)
    consolidated = None if has_figures else reply.consolidated
    if consolidated is None:
        consolidated = base.scope.consolidated
    sketch = textwrap.shorten(printable_line(reply.sketch), SKETCH_CHARACTERS, placeholder="…")
    invented = numbers_not_in(sketch, text)
    _note(notes, "the sketch, for numbers not in the passage", invented)
    if invented or not any(map(str.isalpha, sketch)):
        sketch = base.sketch
    is_prose = base.evidence_type in (EvidenceType.NARRATIVE, EvidenceType.MIXED)
    named = [NamedMetric(span.shows, span.start, span.end) for span in base.spans if span.shows in metrics]
    card = base.model_copy(
        update={
            "role": reply.role,
            "metrics": metrics,
            "answers": base.answers.model_copy(update={"uses": reply.uses or base.answers.uses}),
            "time": base.time.model_copy(update={"periods": periods, "forward": forward}),
            "scope": base.scope.model_copy(update={"parts": parts, "consolidated": consolidated}),
            "basis": base.basis.model_copy(update={"adjusted": adjusted, "unaudited": unaudited}),
            "verifiability": base.verifiability.model_copy(update={"cues": cues}),
            "risks": risks,
            "sketch": sketch,
            "spans": spans_of(text, reply.role, cues if is_prose else (), named),
        }
    )
    return card, tuple(notes)


def _note(notes: list[str], what: str, rejected: Iterable[str]) -> None:
    words = [printable_line(each)[:_MAX_LENGTH] for each in rejected]
    if words:
        notes.append(f"left out {what}: {', '.join(words[:_MAX_VALUES])}")


def _metric_ids(words: str, lexicon: Lexicon, base: Card) -> Sequence[str]:
    """Return the ids of the metrics and formulas that a model's words name; empty if the lexicon knows none."""
    name = "_".join(words.lower().split())
    if name in lexicon.metrics or name in lexicon.formulas:
        return [name]
    labelled = lexicon.metric_of_label(words, base.identity.statement)
    return [mention.id for mention in lexicon.mentions(words)] or ([labelled] if labelled else [])


def _periods(words: str, text: str, base: Card) -> Sequence[str]:
    """Return the period that a model's words name, as `Q2 FY2023`; empty if neither passage nor card has its year."""
    if (found := _PERIOD.fullmatch(" ".join(words.split()))) is None:
        return []
    quarter, year = found.groups()
    named = f"{quarter.upper()} FY{year}" if quarter else f"FY{year}"
    own = f"FY{base.identity.fiscal_year}"
    is_known = named in (*base.time.periods, own, f"Q{base.identity.quarter} {own}") or contains_phrase(year, text)
    return [named] if is_known else []
