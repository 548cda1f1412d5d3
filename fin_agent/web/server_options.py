"""What a server offers to those who work in the browser: who answers, where conversations and runs are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, ConfigDict, Field

from fin_agent.config import Recording, Settings, recording_from_environment
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.chat.state import ChatContext
from fin_agent.graphs.chat.threads import FILE_NAME, ThreadStore, ThreadStoreError
from fin_agent.models.metering import Budget
from fin_agent.models.settings import Preset
from fin_agent.runs.store import RunStore, UnknownRunError, store_file
from fin_agent.serving.problem_details import BusyError, NotThereError
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError

if TYPE_CHECKING:
    from fin_agent.serving.http_api import Calls


@dataclass(frozen=True, slots=True)
class Storage:
    """What a server may write, and where: nothing without a folder."""

    folder: Path | None = None
    """Of the index; runs and threads are kept beside it."""
    uploads: bool = False
    """Whether filings may be added."""
    recording: Recording = field(default_factory=lambda: Recording(enabled=False))

    @property
    def name(self) -> str:
        """Of the index, for people."""
        return self.folder.name if self.folder is not None else "on a cluster"

    @classmethod
    def next_to_index(cls, folder: Path | None, *, uploads: bool) -> Storage:
        """In the folder of an index, as the environment says. Raises SettingsError."""
        return cls(folder, uploads and folder is not None, recording_from_environment())


@dataclass(frozen=True, slots=True)
class Offers:
    """What people may choose in the workspace beside what the server was started with."""

    models: tuple[str, ...] = ()
    """Chat models by name; the one of the settings is offered anyway, and so are rules alone."""
    indexes: tuple[tuple[str, str], ...] = ()
    """(name, what its paths begin with) of every index that is served; none where there is only one."""


class QuestionSettings(BaseModel):
    """What one question is answered with in place of what the server was started with, within its limits."""

    model_config = ConfigDict(extra="forbid")

    model: Annotated[
        str | None,
        Field(max_length=200, description="`rules`, or a model that `/workspace` lists.", examples=["rules"]),
    ] = None
    preset: Annotated[Preset | None, Field(description="How much is asked of the model.")] = None
    budget: Annotated[Budget, Field(description="Limits of the question, within those of the server.")] = Budget()


class ServedWorkspace:
    """A workspace as it is served: what the routes work with."""

    def __init__(self, context: ToolContext, keeping: Storage, calls: Calls, offers: Offers) -> None:
        self.context, self.keeping, self.calls, self.offers = context, keeping, calls, offers
        self.chat = ChatContext.over(context.answering, doc_ids=context.within)
        self._memory = InMemorySaver()
        self._by_settings = lru_cache(maxsize=16)(self._made)

    @property
    def models(self) -> tuple[str, ...]:
        """The chat models that may answer."""
        settings = self.context.settings
        own = (settings.models.model,) if settings.by_model and settings.models.model else ()
        return tuple(dict.fromkeys((*own, *self.offers.models)))

    def settings(self, chosen: QuestionSettings) -> Settings:
        """The server's settings with what was chosen for a question. Raises ToolInputError for a model not offered."""
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
        """Who answers by these settings. Raises ModelSetupError."""
        if settings == self.context.settings:
            return self.context.answering
        return self._by_settings(settings.model_dump_json())

    def _made(self, settings: str) -> AnswerContext:
        return AnswerContext.from_settings(self.context.workspace, Settings.model_validate_json(settings))

    @contextmanager
    def threads(self) -> Iterator[ThreadStore | InMemorySaver]:
        """Where conversations are kept: beside the index, in memory where that cannot be."""
        folder = self.keeping.folder
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
        """The runs that are recorded. Raises NotThereError where none are."""
        if self.keeping.folder is None or not self.keeping.recording.enabled:
            raise NotThereError(
                "no runs are recorded here", remedy="Serve an index of a folder, without FIN_AGENT_RECORD=0"
            )
        with RunStore(store_file(self.keeping.folder, self.keeping.recording), self.keeping.recording) as store:
            try:
                yield store
            except UnknownRunError as error:
                raise NotThereError(error.what, subject=error.subject, remedy="Runs lists those there are") from error
