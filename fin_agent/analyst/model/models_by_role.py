"""Which chat models the settings of a run name, role by role."""

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
"""Settings that name a model for some roles; what `models.roles` names goes before them."""


def role_models(settings: Settings) -> ModelSettings:
    """The models by role, those of `chat_model`, `card_model` and `judge_model` among them."""
    named = {
        role: model
        for setting, roles in _SETTINGS_OF_ROLES.items()
        if (model := getattr(settings, setting)) is not None
        for role in roles
    }
    return settings.models.model_copy(update={"roles": {**named, **settings.models.roles}})


def callers_for_roles(settings: Settings) -> Callers:
    """The callers of all roles that the settings name models for. Raises PricesError."""
    from fin_agent.models.callers_by_role import Callers  # whoever names no model calls none

    return Callers(role_models(settings))


def has_model_for_role(settings: Settings, role: Role) -> bool:
    """Whether a model is named for this very role."""
    return role in role_models(settings).roles
