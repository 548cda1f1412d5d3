"""How a call is said to each provider's LangChain model, and what a server was found not to take."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from fin_agent.models.call import Call, OutputT
from fin_agent.models.failures import Failure
from fin_agent.models.schemas import instruction, response_format

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_TAKE_A_SCHEMA = frozenset(
    {
        "anthropic", "azure_openai", "deepseek", "fireworks", "google_genai", "google_vertexai", "groq", "mistralai",
        "ollama", "openai", "openrouter", "together", "xai",
    }
)  # fmt: skip
"""Providers whose LangChain model takes OpenAI's `response_format`, in its own words or translated."""
_LIMIT_NAMES = {"google_genai": "max_output_tokens", "google_vertexai": "max_output_tokens"}
_LIMIT_NAME = "max_tokens"
_OLLAMA = "ollama"


class OutputMode(StrEnum):
    """How a model is held to the form of a reply."""

    AUTO = "auto"
    """By a schema that the server enforces where it offers that, else by words in the prompt."""
    SCHEMA = "schema"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Form:
    """Which settings a request has beside its messages."""

    schema: bool
    temperature: bool = True
    streamed: bool = True

    def without(self, failure: Failure, call: Call[OutputT], mode: OutputMode) -> Form | None:
        """A form that the server may take after it refused this one; None where nothing is left to leave out."""
        if not failure.request_refused:
            return None
        if self.temperature and "temperature" in failure.about:
            return replace(self, temperature=False)
        if self.streamed and "stream" in failure.about:
            return replace(self, streamed=False)
        if self.schema and call.output is not None and mode is OutputMode.AUTO:
            return replace(self, schema=False)
        return None


class Dialect:
    """How one model is spoken to. Learns what its server does not take; safe to share between threads."""

    def __init__(self, provider: str, mode: OutputMode) -> None:
        self._provider = provider
        self.mode = mode
        self._form = Form(schema=mode is OutputMode.SCHEMA or (mode is OutputMode.AUTO and provider in _TAKE_A_SCHEMA))
        self._guard = threading.Lock()

    @property
    def form(self) -> Form:
        """The form that is tried first."""
        return self._form

    def learn(self, form: Form) -> None:
        """The server took this form after it had refused a fuller one: that one is not tried again."""
        with self._guard:
            known = self._form
            self._form = Form(
                known.schema and form.schema,
                known.temperature and form.temperature,
                known.streamed and form.streamed,
            )

    def messages(self, call: Call[OutputT], further: tuple[tuple[str, str], ...], form: Form) -> list[tuple[str, str]]:
        """(who, text) of each message; what the reply must look like is added where no schema says it."""
        said = [*call.messages, *further]
        if call.output is None or form.schema:
            return said
        told = instruction(call.output)
        kind, text = said[0]
        return [(kind, f"{text}\n\n{told}"), *said[1:]] if kind == "system" else [("system", told), *said]

    def settings(
        self, model: BaseChatModel, call: Call[OutputT], most: int | None, form: Form
    ) -> tuple[BaseChatModel, dict[str, object]]:
        """The model to ask, and what it is given beside the messages. `most` bounds the reply, in tokens."""
        options: dict[str, object] = {}
        own: dict[str, object] = {}
        if form.temperature:
            own["temperature"] = call.temperature
        if most is not None:
            own["num_predict" if self._provider == _OLLAMA else _LIMIT_NAMES.get(self._provider, _LIMIT_NAME)] = most
        if self._provider == _OLLAMA:  # takes these as fields only
            model = model.model_copy(update=own)
        else:
            options.update(own)
        if call.output is not None and form.schema:
            options["response_format"] = response_format(call.output)
        return model, options
