"""An answer in words told while a model writes it, out of JSON that is not yet whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from fin_agent.analyst.events import Draft, DraftWithdrawn
from fin_agent.analyst.listening import told
from fin_agent.analyst.model.grounding import on_a_line

ReplyT = TypeVar("ReplyT", bound=BaseModel)

_LONGEST = 2_000
_LONGEST_REPLY = 60_000
_STEP = 12
"""Characters of a reply that come in between two looks at it."""


class Drafting:
    """Tells one field of a reply as drafts. What is told is not checked, and never the answer."""

    def __init__(self, field: str | None) -> None:
        """Without a field nothing is told."""
        self._name = field or ""
        self._key = re.compile(rf'(?<!\\)"{re.escape(self._name)}"\s*:')
        self._closed = re.compile(rf'{self._key.pattern}\s*"(?:[^"\\]|\\.)*"')
        self._reply = ""
        self._looked = 0
        self._drafted = ""

    @property
    def on_text(self) -> Callable[[str], None] | None:
        """What a caller is to tell of the reply as it grows; None where nobody wants to know."""
        return self._heard if self._name else None

    def withdrawn_where(self, fault: Callable[[ReplyT], str | None]) -> Callable[[ReplyT], str | None]:
        """The check of a reply, which withdraws the draft of one that has a fault."""

        def checked(reply: ReplyT) -> str | None:
            if (wrong := fault(reply)) is not None:
                self.withdraw(wrong)
            return wrong

        return checked

    def ended(self, reply: BaseModel) -> None:
        """The reply is whole and holds; a draft of nothing is withdrawn."""
        if any(map(str.isalnum, str(getattr(reply, self._name, None) or ""))):
            self._look(whole=True)
        else:
            self.withdraw("the model gives no answer")

    def withdraw(self, why: str) -> None:
        """What was told is void. Nothing is told where nothing was."""
        if self._drafted:
            told(DraftWithdrawn(why=why))
        self._reply, self._looked, self._drafted = "", 0, ""

    def _heard(self, reply: str) -> None:
        """The reply as far as it is written; one that does not go on from the last is another try."""
        if not reply.startswith(self._reply):
            self.withdraw("it is written anew")
        self._reply = reply
        if self._looked + _STEP <= len(reply) <= _LONGEST_REPLY and len(self._drafted) < _LONGEST:
            self._look()

    def _look(self, *, whole: bool = False) -> None:
        self._looked = len(self._reply)
        text = self._written()[:_LONGEST]
        if not (whole or self._closed.search(self._reply)):
            text = text[: text.rfind(" ") + 1]  # a number of which a part is there is another number
        if len(text) > len(self._drafted) and text.startswith(self._drafted):
            told(Draft(text=text[len(self._drafted) :]))
            self._drafted = text

    def _written(self) -> str:
        """The field as far as it is written; empty where it has not begun, or is no text."""
        from langchain_core.utils.json import parse_partial_json

        if (begins := self._key.search(self._reply)) is None:
            return ""
        # From the field on: what stands before it is not read anew with every piece.
        rest = self._reply[begins.start() : begins.start() + 2 * _LONGEST]
        try:
            found = parse_partial_json("{" + rest)
        except (ValueError, RecursionError):
            return ""
        value = found.get(self._name) if isinstance(found, dict) else None
        return on_a_line(value) if isinstance(value, str) else ""
