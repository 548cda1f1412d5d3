"""The chat models that the settings of a run name, by role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fin_agent.config import Settings
from fin_agent.models.call import Role
from fin_agent.models.settings import ModelSettings

if TYPE_CHECKING:
    from fin_agent.models.callers_by_role import Callers

_SETTINGS_OF_ROLES: dict[str, tuple[Role, ...]] = {
    "chat_model": (Role.HYDE, Role.MULTI_HYDE, Role.THOUGHT),
    "card_model": (Role.CARD,),
    "judge_model": (Role.GROUP, Role.LISTWISE),
}
"""Settings that name a model for some roles; `models.roles` takes precedence."""


def role_models(settings: Settings) -> ModelSettings:
    """Return the models by role, including `chat_model`, `card_model` and `judge_model`."""
    named = {
        role: model
        for setting, roles in _SETTINGS_OF_ROLES.items()
        if (model := getattr(settings, setting)) is not None
        for role in roles
    }
    return settings.models.model_copy(update={"roles": {**named, **settings.models.roles}})


def callers_for_roles(settings: Settings) -> Callers:
    """Return the callers of all roles for which the settings name models. Raises PricesError."""
    from fin_agent.models.callers_by_role import Callers  # imported only if a model is named

    return Callers(role_models(settings))


def has_model_for_role(settings: Settings, role: Role) -> bool:
    """Return whether a model is named for exactly this role."""
    return role in role_models(settings).roles
