"""Chat models that say what they are told to: no network, and every prompt kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.models import Caller, Callers, LoadedModel, ModelSettings
from tests.loopback import no_other_host
from tests.models.openai_server.fixtures import openai_server, serve
from tests.models.scripted import HttpStatusError, Request, Said, ScriptedModel

__all__ = ["no_other_host", "openai_server", "serve"]

NAME = "scripted:model"


class Script:
    """A chat model that gives its replies in turn, the last one for ever; an exception among them is raised."""

    def __init__(self, *replies: Said) -> None:
        self._model = ScriptedModel(replies=list(replies))

    @property
    def prompts(self) -> list[str]:
        """What it was asked, each prompt as one text."""
        return [text_of(request) for request in self._model.asked]

    @property
    def caller(self) -> Caller:
        """It as one caller."""
        return Caller(self._loaded())

    @property
    def callers(self) -> Callers:
        """It in all roles."""
        return Callers(ModelSettings(model=NAME, small=NAME), load=lambda name, settings: self._loaded())

    @property
    def client(self) -> ModelClient:
        """A client that calls it in all roles."""
        return ModelClient(self.callers)

    def _loaded(self) -> LoadedModel:
        return LoadedModel(NAME, self._model)


def text_of(request: Request) -> str:
    """All that a request says."""
    return "\n\n".join(text for _, text in request.messages)


def scripted(answer: Callable[[str], str]) -> Script:
    """A model that replies to what it reads."""
    return Script(lambda request: answer(text_of(request)))


@pytest.fixture
def script() -> type[Script]:
    """See Script."""
    return Script


@pytest.fixture
def silent() -> Script:
    """A model that cannot be reached."""
    return Script(HttpStatusError(401, "the key is refused"))
