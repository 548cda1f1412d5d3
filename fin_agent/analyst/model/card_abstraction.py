"""Cards made by a chat model from those of the rules: it describes, and never states figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.analyst.card_making import CardWithAuthor
from fin_agent.analyst.model.grounding import (
    contains_phrase,
    latest_first,
    metric_ids_in,
    numbers_not_in,
    parse_card_period,
    printable_line,
)
from fin_agent.analyst.model.model_client import prompt_to_call
from fin_agent.analyst.model.prompt_context import card_place
from fin_agent.analyst.model.replies import Abstraction
from fin_agent.evidence.cards.card import Card, ClaimRole, EvidenceType, RiskSignal, Use
from fin_agent.evidence.cards.card_metrics import NamedMetric, spans_of
from fin_agent.evidence.cards.rule_based_abstraction import SKETCH_CHARACTERS
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon
from fin_agent.models.caller import Caller
from fin_agent.models.errors import ModelError, RefusedByModelError, UnusableReplyError
from fin_agent.prompts import FilledPrompt, Quoted, load_prompt
from fin_agent.retrieval.strategies.protocol import Notify, log_warning

_MAX_PASSAGE_CHARACTERS = 8_000
"""Characters of a passage shown to the model; its reply is checked against the whole passage."""
_MAX_TOKENS = 3_000
"""Tokens of a reply, including reasoning."""
_MAX_CACHED = 2_000
"""Cards cached for further rounds and questions."""


class ModelCardMaker:
    """See CardMaker. Identity, facts, units, scales and the table's signature are always those of the rules."""

    def __init__(
        self,
        caller: Caller,
        folder: Path | None = None,
        *,
        lexicon: Lexicon | None = None,
        notify: Notify = log_warning,
    ) -> None:
        """Load the prompt; `folder` may contain the user's `card.md`, `notify` is called by `make_card`.

        Raises PromptError.
        """
        self._caller = caller
        self._prompt = load_prompt("card", folder=folder)
        self._lexicon = lexicon or load_lexicon()
        self._notify = notify
        self._held: dict[str, CardWithAuthor] = {}

    def make_card(self, base: Card, text: str) -> Card:
        """Return the card of a passage; rejected parts of the model's reply are reported."""
        made = self.make(base, text)
        for note in made.notes:
            self._notify(f"{base.identity.doc_id}, passage {base.identity.ordinal}: {note}")
        return made.card

    def make(self, base: Card, text: str) -> CardWithAuthor:
        """See CardMaker.make. Cards are cached, so that a passage is described once."""
        key = f"{base.model_dump_json()}\n{text}"
        if (held := self._held.get(key)) is not None:
            return held
        try:
            said, _ = self._caller.value(
                prompt_to_call(self.prompt(base, text), output=Abstraction, max_output_tokens=_MAX_TOKENS)
            )
        except ModelError as failure:
            note = f"the rules' card stays: {' '.join(failure.what.split())}"
            there = isinstance(failure, UnusableReplyError | RefusedByModelError)
            return CardWithAuthor(base, by_model=False, notes=(note,), model_unavailable=not there)
        card, notes = merge_card(base, said, text, self._lexicon)
        if len(self._held) >= _MAX_CACHED:
            self._held.clear()
        return self._held.setdefault(key, CardWithAuthor(card, by_model=True, notes=notes))

    def prompt(self, base: Card, text: str) -> FilledPrompt:
        """Return the prompt for a card; deterministic."""
        return self._prompt.filled(passage=[Quoted(text[:_MAX_PASSAGE_CHARACTERS], card_place(base))])


_MAX_METRICS = 40
_MAX_PERIODS = 12
_MAX_PARTS = 12
_MAX_CUES = 6
_MAX_NAME_LENGTH = 80
_PROSE = (EvidenceType.NARRATIVE, EvidenceType.MIXED)
_BY_STRUCTURE = (RiskSignal.PART_ONLY, RiskSignal.UNCERTAIN_PERIOD)
"""Risks that follow from the figures alone: only the rules set them."""


def merge_card(base: Card, said: Abstraction, text: str, lexicon: Lexicon) -> tuple[Card, tuple[str, ...]]:
    """Merge the model's fields into the rules' card.

    If the passage has figures, their metrics, periods and scope come first and the model's are appended; risks of the
    rules are always kept. Identity, facts, units, scales and the table's signature are unchanged.

    Returns:
        The card, and notes on rejected parts of the reply.
    """
    joining = _CardMerge(base, said, text, lexicon, [])
    return joining.card(), tuple(joining.notes)


@dataclass(frozen=True, slots=True)
class _CardMerge:
    base: Card
    abstraction: Abstraction
    text: str
    lexicon: Lexicon
    notes: list[str]

    def card(self) -> Card:
        base, said = self.base, self.abstraction
        metrics, cues, risks = self._metrics(), self._cues(), self._risks()
        scope, basis = base.scope, base.basis
        consolidated = scope.consolidated if self._has_figures or said.consolidated is None else said.consolidated
        named = [NamedMetric(span.shows, span.start, span.end) for span in base.spans if span.shows in metrics]
        return base.model_copy(
            update={
                "role": said.role,
                "metrics": metrics,
                "answers": base.answers.model_copy(update={"uses": self._uses()}),
                "time": base.time.model_copy(
                    update={
                        "periods": self._periods(),
                        "forward": said.role is ClaimRole.FORECASTS or RiskSignal.FORWARD_LOOKING in risks,
                    }
                ),
                "scope": scope.model_copy(update={"parts": self._parts(), "consolidated": consolidated}),
                "basis": basis.model_copy(
                    update={
                        "adjusted": basis.adjusted or bool(said.adjusted),
                        "unaudited": basis.unaudited or bool(said.unaudited),
                    }
                ),
                "verifiability": base.verifiability.model_copy(update={"cues": cues}),
                "risks": risks,
                "sketch": self._sketch(),
                "spans": spans_of(self.text, said.role, cues if base.evidence_type in _PROSE else (), named),
            }
        )

    @property
    def _has_figures(self) -> bool:
        """Whether the rules read figures in the passage, whose metrics and periods are kept."""
        return self.base.verifiability.facts > 0

    def _uses(self) -> tuple[Use, ...]:
        return self.base.answers.uses if self.abstraction.uses is None else tuple(dict.fromkeys(self.abstraction.uses))

    def _metrics(self) -> tuple[str, ...]:
        if self.abstraction.metrics is None:
            return self.base.metrics
        found: dict[str, None] = {}
        unknown: list[str] = []
        for words in self.abstraction.metrics:
            names = metric_ids_in(words[:_MAX_NAME_LENGTH], self.lexicon, self.base.identity.statement)
            found.update(dict.fromkeys(names))
            unknown += [] if names else [words]
        self._note_omitted("metrics the lexicon does not know", unknown)
        return self._append_to_figures(self.base.metrics, found)[:_MAX_METRICS]

    def _periods(self) -> tuple[str, ...]:
        if self.abstraction.periods is None:
            return self.base.time.periods
        identity = self.base.identity
        own = f"FY{identity.fiscal_year}"
        known = (*self.base.time.periods, own, f"Q{identity.quarter} {own}")
        found = {written: parse_card_period(written, self.text, known) for written in self.abstraction.periods}
        self._note_omitted(
            "periods not in the passage", (written for written, period in found.items() if period is None)
        )
        held = [period for period in found.values() if period is not None]
        return latest_first(self._append_to_figures(self.base.time.periods, held))[:_MAX_PERIODS]

    def _parts(self) -> tuple[str, ...]:
        if self.abstraction.parts is None:
            return self.base.scope.parts
        held = self._phrases_in_passage("parts", self.abstraction.parts)
        return self._append_to_figures(self.base.scope.parts, held)[:_MAX_PARTS]

    def _cues(self) -> tuple[str, ...]:
        kept = self.base.verifiability.cues if self.abstraction.role is self.base.role else ()
        return (self._phrases_in_passage("cues", map(str.lower, self.abstraction.cues or ())) or kept)[:_MAX_CUES]

    def _risks(self) -> tuple[RiskSignal, ...]:
        added = {risk for risk in self.abstraction.risks or () if risk not in _BY_STRUCTURE}
        return tuple(risk for risk in RiskSignal if risk in added or risk in self.base.risks)

    def _sketch(self) -> str:
        sketch = textwrap.shorten(printable_line(self.abstraction.sketch), SKETCH_CHARACTERS, placeholder="…")
        if not any(map(str.isalpha, sketch)):
            return self.base.sketch
        invented = numbers_not_in(sketch, self.text)
        if invented:
            self._note_omitted("the sketch, for numbers not in the passage", invented)
            return self.base.sketch
        return sketch

    def _phrases_in_passage(self, what: str, phrases: Iterable[str]) -> tuple[str, ...]:
        lines = dict.fromkeys(" ".join(phrase.split()) for phrase in phrases)
        held = {line: len(line) <= _MAX_NAME_LENGTH and contains_phrase(line, self.text) for line in lines}
        self._note_omitted(f"{what} not in the passage", (line for line, stands in held.items() if not stands))
        return tuple(line for line, stands in held.items() if stands)

    def _append_to_figures(self, own: Sequence[str], found: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(own if self._has_figures else ()), *found]))

    def _note_omitted(self, what: str, named: Iterable[str]) -> None:
        words = [printable_line(each)[:_MAX_NAME_LENGTH] for each in named]
        if words:
            self.notes.append(f"left out {what}: {', '.join(words[:_MAX_CUES])}")
