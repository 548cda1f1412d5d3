"""Cards abstracted by a chat model over those the rules made: it describes, it never states figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.analyst.card_making import MadeCard
from fin_agent.analyst.model.grounding import (
    latest_first,
    metrics_named,
    numbers_not_in,
    on_a_line,
    period_in,
    stands_in,
)
from fin_agent.analyst.model.model_client import call_of
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

_MOST_READ = 8_000
"""Characters of a passage that the model is shown; what it says is held against the whole passage."""
_MOST_TOKENS = 3_000
"""Of a reply, the thoughts of a model that reasons included."""
_MOST_HELD = 2_000
"""Cards kept for further rounds and questions."""


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
        """`folder` may hold a `card.md` of the user's own; `notify` is told by `card`. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("card", folder=folder)
        self._lexicon = lexicon or load_lexicon()
        self._notify = notify
        self._held: dict[str, MadeCard] = {}

    def card(self, base: Card, text: str) -> Card:
        """The card of a passage; what could not be used of the model's reply is told."""
        made = self.made(base, text)
        for note in made.notes:
            self._notify(f"{base.identity.doc_id}, passage {base.identity.ordinal}: {note}")
        return made.card

    def made(self, base: Card, text: str) -> MadeCard:
        """See CardMaker.made. A passage that the model has described is not shown to it again."""
        key = f"{base.model_dump_json()}\n{text}"
        if (held := self._held.get(key)) is not None:
            return held
        try:
            said, _ = self._caller.value(
                call_of(self.prompt(base, text), output=Abstraction, max_output_tokens=_MOST_TOKENS)
            )
        except ModelError as failure:
            note = f"the rules' card stays: {' '.join(failure.what.split())}"
            there = isinstance(failure, UnusableReplyError | RefusedByModelError)
            return MadeCard(base, by_model=False, notes=(note,), out_of_reach=not there)
        card, notes = merge_card(base, said, text, self._lexicon)
        if len(self._held) >= _MOST_HELD:
            self._held.clear()
        return self._held.setdefault(key, MadeCard(card, by_model=True, notes=notes))

    def prompt(self, base: Card, text: str) -> FilledPrompt:
        """What the model is asked; the same input always gives the same text."""
        return self._prompt.filled(passage=[Quoted(text[:_MOST_READ], card_place(base))])


_MOST_METRICS = 40
_MOST_PERIODS = 12
_MOST_PARTS = 12
_MOST_CUES = 6
_LONGEST_NAME = 80
_PROSE = (EvidenceType.NARRATIVE, EvidenceType.MIXED)
_BY_STRUCTURE = (RiskSignal.PART_ONLY, RiskSignal.UNCERTAIN_PERIOD)
"""Warnings that follow from the figures alone: only the rules give them."""


def merge_card(base: Card, said: Abstraction, text: str, lexicon: Lexicon) -> tuple[Card, tuple[str, ...]]:
    """The rules' card with the fields that a model may fill, and what of its reply was left out.

    Where the passage has figures, their metrics, periods and scope stay and the model's come after them; a warning of
    the rules always stays. Identity, facts, units, scales and the table's signature are untouched.
    """
    joining = _Joining(base, said, text, lexicon, [])
    return joining.card(), tuple(joining.notes)


@dataclass(frozen=True, slots=True)
class _Joining:
    base: Card
    said: Abstraction
    text: str
    lexicon: Lexicon
    notes: list[str]

    def card(self) -> Card:
        base, said = self.base, self.said
        metrics, cues, risks = self._metrics(), self._cues(), self._risks()
        scope, basis = base.scope, base.basis
        consolidated = scope.consolidated if self._figures or said.consolidated is None else said.consolidated
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
    def _figures(self) -> bool:
        """Whether the rules read figures in the passage: what is known from them stays."""
        return self.base.verifiability.facts > 0

    def _uses(self) -> tuple[Use, ...]:
        return self.base.answers.uses if self.said.uses is None else tuple(dict.fromkeys(self.said.uses))

    def _metrics(self) -> tuple[str, ...]:
        if self.said.metrics is None:
            return self.base.metrics
        found: dict[str, None] = {}
        unknown: list[str] = []
        for words in self.said.metrics:
            names = metrics_named(words[:_LONGEST_NAME], self.lexicon, self.base.identity.statement)
            found.update(dict.fromkeys(names))
            unknown += [] if names else [words]
        self._left_out("metrics the lexicon does not know", unknown)
        return self._after_figures(self.base.metrics, found)[:_MOST_METRICS]

    def _periods(self) -> tuple[str, ...]:
        if self.said.periods is None:
            return self.base.time.periods
        identity = self.base.identity
        own = f"FY{identity.fiscal_year}"
        known = (*self.base.time.periods, own, f"Q{identity.quarter} {own}")
        found = {written: period_in(written, self.text, known) for written in self.said.periods}
        self._left_out("periods not in the passage", (written for written, period in found.items() if period is None))
        held = [period for period in found.values() if period is not None]
        return latest_first(self._after_figures(self.base.time.periods, held))[:_MOST_PERIODS]

    def _parts(self) -> tuple[str, ...]:
        if self.said.parts is None:
            return self.base.scope.parts
        held = self._in_the_text("parts", self.said.parts)
        return self._after_figures(self.base.scope.parts, held)[:_MOST_PARTS]

    def _cues(self) -> tuple[str, ...]:
        kept = self.base.verifiability.cues if self.said.role is self.base.role else ()
        return (self._in_the_text("cues", map(str.lower, self.said.cues or ())) or kept)[:_MOST_CUES]

    def _risks(self) -> tuple[RiskSignal, ...]:
        added = {risk for risk in self.said.risks or () if risk not in _BY_STRUCTURE}
        return tuple(risk for risk in RiskSignal if risk in added or risk in self.base.risks)

    def _sketch(self) -> str:
        sketch = textwrap.shorten(on_a_line(self.said.sketch), SKETCH_CHARACTERS, placeholder="…")
        if not any(map(str.isalpha, sketch)):
            return self.base.sketch
        invented = numbers_not_in(sketch, self.text)
        if invented:
            self._left_out("the sketch, for numbers not in the passage", invented)
            return self.base.sketch
        return sketch

    def _in_the_text(self, what: str, phrases: Iterable[str]) -> tuple[str, ...]:
        lines = dict.fromkeys(" ".join(phrase.split()) for phrase in phrases)
        held = {line: len(line) <= _LONGEST_NAME and stands_in(line, self.text) for line in lines}
        self._left_out(f"{what} not in the passage", (line for line, stands in held.items() if not stands))
        return tuple(line for line, stands in held.items() if stands)

    def _after_figures(self, own: Sequence[str], found: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(own if self._figures else ()), *found]))

    def _left_out(self, what: str, named: Iterable[str]) -> None:
        words = [on_a_line(each)[:_LONGEST_NAME] for each in named]
        if words:
            self.notes.append(f"left out {what}: {', '.join(words[:_MOST_CUES])}")
