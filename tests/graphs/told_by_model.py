"""A chat model that answers a question in words from what it is shown, as tests of streams need it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from langchain_core.outputs import ChatGenerationChunk

from fin_agent.config import Settings
from fin_agent.graphs.answer import AnswerContext
from fin_agent.models import Callers, ModelSettings
from fin_agent.testing import ModelCall, ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.injection.quoted import quotations

QUESTION = "Who will retire as President and Chief Executive Officer of Tellurond?"
_RETIRES = re.compile(r"[^.]*\bretire[^.]*\.")
Says = Callable[[ModelCall], Mapping[str, object]]


def sound(call: ModelCall) -> dict[str, object]:
    """Keeps all passages, and answers with the words of the one that tells who retires."""
    passages = quotations(call, "passage")
    if call.role == "intent":
        return {"questions": [QUESTION], "search": ""}
    if call.role == "curation":
        return {"kept": [each.number for each in passages][:5], "answerable": True}
    assert call.role == "reasoning", call.role
    for passage in passages:
        if (found := _RETIRES.search(passage.text)) is not None:
            quote = " ".join(found[0].split()[:21])
            cited = [{"passage": passage.number, "quote": quote}]
            return {
                "sentences": [{"text": "The filing tells who will retire.", "citations": cited}],
                "answer": f"The filing tells it so: {quote}. These are its own words.",
                "verdict": "none",
            }
    return {"sentences": [{"text": "Nothing is said of it."}], "answer": None, "verdict": "none"}


def invented(call: ModelCall) -> dict[str, object]:
    """As `sound`, with a number in the answer that no quote has."""
    reply = sound(call)
    return {**reply, "answer": f"It is one of 987654 people. {reply['answer']}"} if call.role == "reasoning" else reply


class Reasons:
    """As `sound`, but for the replies of the role `reasoning`: these in turn, the last for ever."""

    def __init__(self, *replies: Says) -> None:
        self._replies = list(replies)

    def __call__(self, call: ModelCall) -> Mapping[str, object]:
        if call.role != "reasoning":
            return sound(call)
        return (self._replies.pop(0) if len(self._replies) > 1 else self._replies[0])(call)


class PausingModel(ScriptedChatModel):
    """Streams up to a mark, and the rest only once it is let go on."""

    mark: str = ""
    go_on: Any = None
    streams: int = 0

    def _stream(self, *args: Any, **named: Any) -> Iterator[ChatGenerationChunk]:
        self.streams += 1
        said = ""
        for piece in super()._stream(*args, **named):
            yield piece
            said += str(piece.message.text)
            if self.mark in said:
                assert self.go_on.wait(30)


def pausing(mark: str) -> tuple[PausingModel, threading.Event]:
    """A model that pauses once it has said `mark`, and what lets it go on."""
    model, go_on = PausingModel(sound), threading.Event()
    model.mark, model.go_on = mark, go_on
    return model, go_on


def context_of(
    workspace: Workspace, model: ScriptedChatModel, models: ModelSettings | None = None, *, server: str = "told"
) -> AnswerContext:
    """A context whose analyst is the model; calls under way are counted by `server`."""
    settings = (models or ModelSettings()).model_copy(update={"base_url": f"http://{server}/v1"})
    callers = Callers.with_model(model, settings, name="openai:gpt-4o-mini")
    return AnswerContext.from_settings(workspace, Settings(models=settings), callers=callers)
