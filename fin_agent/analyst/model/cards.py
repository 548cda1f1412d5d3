"""Cards abstracted by a chat model over those the rules made: it describes, it never states figures."""

from __future__ import annotations

from pathlib import Path

from fin_agent.analyst.card_making import MadeCard
from fin_agent.analyst.model.abstraction import Abstraction
from fin_agent.analyst.model.calls import call_of
from fin_agent.analyst.model.joining import joined
from fin_agent.analyst.model.showing import card_place
from fin_agent.evidence.cards.card import Card
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon
from fin_agent.models.caller import Caller
from fin_agent.models.errors import ModelError, RefusedByModelError, UnusableReplyError
from fin_agent.prompts import FilledPrompt, Quoted, load_prompt
from fin_agent.retrieval.strategies.protocol import Notify, logged

_MOST_READ = 8_000
"""Characters of a passage that the model is shown; what it says is held against the whole passage."""
_MOST_TOKENS = 3_000
"""Of a reply, the thoughts of a model that reasons included."""
_MOST_HELD = 2_000
"""Cards kept for further rounds and questions."""


class ModelCardMaker:
    """See CardMaker. Identity, facts, units, scales and the table's signature are always those of the rules."""

    def __init__(
        self, caller: Caller, folder: Path | None = None, *, lexicon: Lexicon | None = None, notify: Notify = logged
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
        card, notes = joined(base, said, text, self._lexicon)
        if len(self._held) >= _MOST_HELD:
            self._held.clear()
        return self._held.setdefault(key, MadeCard(card, by_model=True, notes=notes))

    def prompt(self, base: Card, text: str) -> FilledPrompt:
        """What the model is asked; the same input always gives the same text."""
        return self._prompt.filled(passage=[Quoted(text[:_MOST_READ], card_place(base))])
