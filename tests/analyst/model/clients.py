"""The model analyst with a chat model that says what a test tells it to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from fin_agent.analyst.model.analyst import ModelAnalyst
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.models import Callers, ModelSettings
from fin_agent.models.settings import Preset
from fin_agent.testing import ScriptedChatModel
from fin_agent.testing.scripted_model import Script
from fin_agent.workspace import Workspace


class Prompted(Protocol):
    """A call of a model, or a request to its server."""

    @property
    def text(self) -> str: ...


Replying = Callable[[Prompted], Mapping[str, object]]
"""What a model replies to what it reads."""
NOTHING = "{}"
"""A reply that fits no role whose answer counts."""
_PASSAGE = re.compile(r'<passage-\w+ number="(\d+)"[^>]*>\n?(.*?)\n?</passage-', re.S)


def client(script: Script, prompts: Path | None = None, **settings: object) -> tuple[ModelClient, ScriptedChatModel]:
    """A client whose roles are all filled by one scripted model."""
    model = ScriptedChatModel(script)
    named = ModelSettings.model_validate({"attempts": 1, **settings})
    return ModelClient(Callers.with_model(model, named), prompts=prompts), model


def analyst(
    workspace: Workspace, script: Script, preset: Preset = Preset.DEFAULT, **settings: object
) -> tuple[ModelAnalyst, ScriptedChatModel]:
    """The model analyst, and the model that it asks."""
    asked, model = client(script, preset=preset, **settings)
    return ModelAnalyst(asked, workspace, preset=preset), model


def roles(model: ScriptedChatModel) -> list[str | None]:
    """The roles that a model was asked in, in turn."""
    return [call.role for call in model.calls]


def passages(text: str) -> dict[int, str]:
    """The passages of a prompt by their numbers."""
    return {int(number): words for number, words in _PASSAGE.findall(text)}


def keeps(words: str, **fields: object) -> Replying:
    """Keeps the passages that have these words, and finds them enough where there are any."""

    def curated(call: Prompted) -> Mapping[str, object]:
        kept = [number for number, text in passages(call.text).items() if words in " ".join(text.split())]
        listed = [{"passage": number, "reason": "it has the words"} for number in kept]
        return {"kept": listed, "missing": [], "answerable": bool(kept), "complementary_question": None, **fields}

    return curated


def quotes(
    quote: str, answer: str | None, *, text: str = "It is said.", verdict: str = "none", number: int = 0
) -> Replying:
    """Answers with one quote, of the passage that has it, or of the one numbered."""

    def reasoned(call: Prompted) -> Mapping[str, object]:
        having = [place for place, words in passages(call.text).items() if quote in " ".join(words.split())]
        cited = {"passage": number or (having or [1])[0], "quote": quote}
        return {"sentences": [{"text": text, "citations": [cited]}], "answer": answer, "verdict": verdict}

    return reasoned


def calculates(
    figures: Mapping[str, tuple[str, str]],
    expression: str,
    unit: str | None,
    answer: str = "It comes to {result}.",
    *,
    instead: Mapping[str, str] | None = None,
) -> Replying:
    """Answers with a calculation: variable -> (a quote that stands in a passage, its number).

    `instead` gives variables another number than that of their quote.
    """

    def reasoned(call: Prompted) -> Mapping[str, object]:
        texts = {place: " ".join(words.split()) for place, words in passages(call.text).items()}
        listed = [
            {
                "name": name,
                "passage": next((place for place, words in texts.items() if quote in words), 1),
                "quote": quote,
                "number": (instead or {}).get(name, number),
            }
            for name, (quote, number) in figures.items()
        ]
        calculations = [{"name": "result", "expression": expression, "unit": unit}]
        return {"figures": listed, "calculations": calculations, "sentences": [], "answer": answer}

    return reasoned
