"""Options of a server for its users: models, indexes, and where conversations and runs are stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, ConfigDict, Field

from fin_agent.config import Recording, Settings, recording_from_environment
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.chat.state import ChatContext
from fin_agent.graphs.chat.threads import FILE_NAME, ThreadStore, ThreadStoreError
from fin_agent.models.metering import Budget
from fin_agent.models.settings import Preset
from fin_agent.runs.store import RunStore, UnknownRunError, store_file
from fin_agent.serving.calls import Calls
from fin_agent.serving.problem_details import BusyError, NotThereError
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError


@dataclass(frozen=True, slots=True)
class Storage:
    """What a server may write, and where; nothing without a folder."""

    folder: Path | None = None
    """The folder of the index; runs and threads are stored in it."""
    uploads: bool = False
    """Whether filings may be added."""
    recording: Recording = field(default_factory=lambda: Recording(enabled=False))

    @property
    def name(self) -> str:
        """The name of the index, for people."""
        return self.folder.name if self.folder is not None else "on a cluster"

    @classmethod
    def next_to_index(cls, folder: Path | None, *, uploads: bool) -> Storage:
        """Return storage in the folder of an index, configured by the environment. Raises SettingsError."""
        return cls(folder, uploads and folder is not None, recording_from_environment())


@dataclass(frozen=True, slots=True)
class Offers:
    """What users may choose in the workspace, besides the settings of the server."""

    models: tuple[str, ...] = ()
    """Chat models by name; the model of the settings and the rules can always be chosen."""
    indexes: tuple[tuple[str, str], ...] = ()
    """(name, path prefix) of every served index; empty if there is only one."""


class QuestionSettings(BaseModel):
    """Settings of one question that override those of the server, within its limits."""

    model_config = ConfigDict(extra="forbid")

    model: Annotated[
        str | None,
        Field(max_length=200, description="`rules`, or a model that `/workspace` lists.", examples=["rules"]),
    ] = None
    preset: Annotated[Preset | None, Field(description="How much work the model does.")] = None
    budget: Annotated[Budget, Field(description="Limits of the question, within those of the server.")] = Budget()


class ServedWorkspace:
    """A workspace as it is served, for the routes."""

    def __init__(self, context: ToolContext, storage: Storage, calls: Calls, offers: Offers) -> None:
        self.context, self.storage, self.calls, self.offers = context, storage, calls, offers
        self.chat = ChatContext.over(context.answering, doc_ids=context.within)
        self._memory = InMemorySaver()
        self._by_settings = lru_cache(maxsize=16)(
            lambda settings: AnswerContext.from_settings(context.workspace, Settings.model_validate_json(settings))
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The chat models that can be chosen."""
        settings = self.context.settings
        own = (settings.models.model,) if settings.by_model and settings.models.model else ()
        return tuple(dict.fromkeys((*own, *self.offers.models)))

    def settings(self, chosen: QuestionSettings) -> Settings:
        """Return the server's settings with those of a question. Raises ToolInputError for a model not offered."""
        settings, models = self.context.settings, self.context.settings.models
        if chosen.model is not None and chosen.model not in ("rules", *self.models):
            offered = ", ".join(("rules", *self.models))
            raise ToolInputError("this model is not offered here", subject=chosen.model, remedy=f"Choose: {offered}")
        update: dict[str, Any] = {"budget": models.budget.within(chosen.budget)}
        if chosen.preset is not None:
            update["preset"] = chosen.preset
        if chosen.model not in (None, "rules", models.model):
            update |= {"model": chosen.model, "small": None, "roles": {}}
        analyst = settings.analyst if chosen.model is None else "rules" if chosen.model == "rules" else "llm"
        return settings.model_copy(update={"models": models.model_copy(update=update), "analyst": analyst})

    def answering(self, settings: Settings) -> AnswerContext:
        """Return the answer context for these settings. Raises ModelSetupError."""
        if settings == self.context.settings:
            return self.context.answering
        return self._by_settings(settings.model_dump_json())

    @contextmanager
    def threads(self) -> Iterator[ThreadStore | InMemorySaver]:
        """Yield the store of conversations: next to the index, or in memory if that fails."""
        folder = self.storage.folder
        store: ThreadStore | None = None
        if folder is not None:
            with suppress(ThreadStoreError):
                store = ThreadStore(folder / FILE_NAME)
        with store or nullcontext():
            try:
                yield store or self._memory
            except ThreadStoreError as error:
                raise BusyError(error.what, remedy="Ask again, or begin a new conversation") from error

    @contextmanager
    def runs(self) -> Iterator[RunStore]:
        """Yield the store of recorded runs. Raises NotThereError if runs are not recorded."""
        if self.storage.folder is None or not self.storage.recording.enabled:
            raise NotThereError(
                "no runs are recorded here", remedy="Serve an index in a folder, without FIN_AGENT_RECORD=0"
            )
        with RunStore(store_file(self.storage.folder, self.storage.recording), self.storage.recording) as store:
            try:
                yield store
            except UnknownRunError as error:
                raise NotThereError(error.what, subject=error.subject, remedy="Choose a run from the list") from error
