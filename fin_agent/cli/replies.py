"""Where replies of chat models are kept."""

from __future__ import annotations

from pathlib import Path

from fin_agent.cli.indexes import chosen_index
from fin_agent.config import Settings

FILE_NAME = "replies.sqlite"


def with_replies_kept(settings: Settings, given: Path | None, *, wanted: bool) -> Settings:
    """The settings of a batch: replies are kept where the settings say, else beside the index in use.

    Where they are not `wanted`, none are kept or used. Without a model there are none.
    """
    if not settings.by_model:
        return settings
    cache = (settings.models.cache or chosen_index(given).folder / FILE_NAME) if wanted else None
    return settings.model_copy(update={"models": settings.models.model_copy(update={"cache": cache})})
