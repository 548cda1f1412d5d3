"""The chat model of each role, loaded on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from fin_agent.lexicon.words import load_yaml
from fin_agent.models.call import Role
from fin_agent.models.caller import Caller, ResponseCache
from fin_agent.models.errors import ModelSetupError
from fin_agent.models.loading import LoadedModel, load_chat_model
from fin_agent.models.metering import PriceTable
from fin_agent.models.settings import ModelSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LARGE_ROLES = frozenset((Role.REASONING, Role.VERIFICATION, Role.TEXT_JUDGE, Role.PASSAGES_JUDGE, Role.ASSISTANT))
"""Roles with few calls that decide the answer; the small model fills all other roles."""


class Callers:
    """Callers by role. Thread-safe; each model is loaded once.

    An existing chat model can be used in place of a model's name:

    >>> from fin_agent import Callers
    >>> from fin_agent.models import Role
    >>> from fin_agent.testing import ScriptedChatModel
    >>> callers = Callers.with_model(ScriptedChatModel(["Revenue rose."]), name="mine:model")
    >>> callers.name(Role.REASONING)
    'mine:model'
    """

    def __init__(
        self, settings: ModelSettings, *, load: Callable[[str, ModelSettings], LoadedModel] | None = None
    ) -> None:
        """Prepare the callers; no model is loaded yet.

        Args:
            settings: Models, limits, prices and cache.
            load: Returns the model of a name, in place of `load_chat_model`.

        Raises:
            PricesError: The file of prices cannot be used.
        """
        self.settings = settings
        self._load = load or load_as_set
        self._prices = PriceTable.from_file(settings.prices)
        self._cache = None if settings.cache is None else ResponseCache(settings.cache)
        families = {} if settings.base_url is not None else load_yaml("smaller", __package__)
        self._small: str | None = settings.small or families.get(settings.model or "")
        self._callers: dict[str, Caller] = {}
        self._guard = threading.Lock()

    @classmethod
    def with_model(cls, model: BaseChatModel, settings: ModelSettings | None = None, *, name: str = "") -> Callers:
        """Make callers that fill every role with one chat model.

        Args:
            model: The chat model.
            settings: Limits, prices and cache; the defaults where None.
            name: What the model is called in accounts.

        Returns:
            The callers.
        """
        called = name or f"{model._llm_type}:{getattr(model, 'model_name', None) or getattr(model, 'model', 'model')}"
        settings = (settings or ModelSettings()).model_copy(update={"model": called, "small": called, "roles": {}})
        return cls(settings, load=lambda asked, _: LoadedModel(asked, model, settings.base_url))

    def name(self, role: Role) -> str:
        """Return the name of the model that fills a role.

        Args:
            role: The role.

        Returns:
            `PROVIDER:MODEL`.

        Raises:
            ModelSetupError: No model is named for it.
        """
        named = self.settings.roles.get(role) or self.settings.model
        if named is None:
            remedy = "Name one, such as --model openai:gpt-5.4"
            raise ModelSetupError(f"no chat model is named for the role `{role}`", remedy=remedy)
        return named if role in LARGE_ROLES or role in self.settings.roles else self._small or named

    def of(self, role: Role) -> Caller:
        """Return the caller of a role.

        Args:
            role: The role.

        Returns:
            The caller; its model is loaded once.

        Raises:
            ModelSetupError: The model cannot be set up.
        """
        name, settings = self.name(role), self.settings
        with self._guard:
            if name not in self._callers:
                self._callers[name] = Caller(
                    self._load(name, settings),
                    mode=settings.output,
                    at_once=settings.at_once,
                    cache=self._cache,
                    prices=self._prices,
                )
            return self._callers[name]

    def load_all(self) -> None:
        """Load the models of all roles, so that errors are raised at once. Raises ModelSetupError."""
        for role in sorted(Role, key=lambda role: role not in LARGE_ROLES):  # the main model first
            self.of(role)


def load_as_set(name: str, settings: ModelSettings) -> LoadedModel:
    """Load a chat model with the server, key and limits of the settings. Raises ModelSetupError."""
    return load_chat_model(
        name,
        base_url=settings.base_url,
        key_variable=settings.key_variable,
        timeout=settings.timeout,
        max_retries=settings.attempts - 1,
    )
