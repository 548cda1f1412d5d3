"""The model analyst with a chat model that says what a test tells it to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from fin_agent.analyst.model.analyst import ModelAnalyst
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.models import Callers, ModelSettings
from fin_agent.models.settings import Preset
from fin_agent.testing import ScriptedChatModel
from fin_agent.testing.scripted import Script
from fin_agent.workspace import Workspace


class Prompted(Protocol):
    """A call of a model, or a request to its server."""

    @property
    def text(self) -> str: ...


Replying = Callable[[Prompted], Mapping[str, object]]
"""What a model replies to what it reads."""
NOTHING = "{}"
"""A reply that fits no role whose answer counts."""
_FIGURE = re.compile(r"(\d+)\. (.+)")
_AMOUNT = re.compile(r"(-?[\d,.]+) ((?:USD|shares|percent|ratio|count).*)")
_PASSAGE = re.compile(r'<passage-\w+ number="(\d+)"[^>]*>\n?(.*?)\n?</passage-', re.S)


def client(script: Script, **settings: object) -> tuple[ModelClient, ScriptedChatModel]:
    """A client whose roles are all filled by one scripted model."""
    model = ScriptedChatModel(script)
    named = ModelSettings.model_validate({"attempts": 1, **settings})
    return ModelClient(Callers.with_model(model, named)), model


def analyst(
    workspace: Workspace, script: Script, preset: Preset = Preset.DEFAULT, **settings: object
) -> tuple[ModelAnalyst, ScriptedChatModel]:
    """The model analyst, and the model that it asks."""
    asked, model = client(script, preset=preset, **settings)
    return ModelAnalyst(asked, workspace, preset=preset), model


def roles(model: ScriptedChatModel) -> list[str | None]:
    """The roles that a model was asked in, in turn."""
    return [call.role for call in model.calls]


@dataclass(frozen=True, slots=True)
class Offered:
    """A figure as a prompt offers it."""

    number: int
    label: str
    amount: str
    """Without commas, its sign as printed."""
    unit: str
    period: str


def offered(text: str) -> list[Offered]:
    """The figures of a prompt."""
    found = []
    for line in text.splitlines():
        match = _FIGURE.fullmatch(line)
        parts = match[2].split(" | ") if match else []
        amounts = [each for part in parts if (each := _AMOUNT.fullmatch(part))]
        if match and amounts:
            amount = amounts[-1]
            found.append(Offered(int(match[1]), parts[0], amount[1].replace(",", ""), amount[2], parts[-2]))
    return found


def passages(text: str) -> dict[int, str]:
    """The passages of a prompt by their numbers."""
    return {int(number): words for number, words in _PASSAGE.findall(text)}


def program(
    figures: Mapping[str, tuple[str, str]], result: str, unit: str | None, *, instead: Mapping[str, str] | None = None
) -> Replying:
    """Writes a program as a careful model does: variable -> (words of a figure's label, its period).

    `instead` gives variables another number than that of their figure.
    """

    def written(call: Prompted) -> Mapping[str, object]:
        listed = offered(call.text)
        lines, inputs = [], []
        for name, (words, period) in figures.items():
            figure = next(each for each in listed if words in each.label and each.period.endswith(period))
            inputs.append(figure.number)
            amount = (instead or {}).get(name, figure.amount)
            lines.append(f"    {name} = {amount}  # {figure.unit}: '{figure.label}'")
        code = "\n".join(["def solution():", *lines, f"    return {result}"])
        return {"inputs": inputs, "code": code, "unit": unit, "missing": None}

    return written


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
