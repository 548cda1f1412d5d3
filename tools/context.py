"""The context shared by tools: how they search and answer, the readable filings and the size of a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import strategy_for
from fin_agent.config import Settings, index_folder
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.index.opening import chosen_filings
from fin_agent.models.caller import Callers
from fin_agent.retrieval.strategies.protocol import Notify, Strategy, log_warning
from fin_agent.workspace import Workspace

USUAL_TOKENS = 4_000
MIN_TOKENS = 300
"""A smaller budget leaves no room for a passage next to the required text."""


def open_workspace(index: Path | str | None, workspace: Workspace | None) -> Workspace:
    """Return the given workspace, or open the index in a folder; the default one if None.

    Raises ValueError and FilingIndexError.
    """
    if index is not None and workspace is not None:
        raise ValueError("give `index` or `workspace`, not both")
    return workspace or Workspace.open(index if index is not None else index_folder())


@dataclass(frozen=True)
class ToolContext:
    """The context of tools; safe to share between threads."""

    answering: AnswerContext
    strategy: Strategy
    """Searches documents, pages and passages."""
    within: tuple[str, ...] | None
    """The only filings that may be read; None for all."""

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        settings: Settings,
        *,
        doc_ids: Sequence[str] | None = None,
        callers: Callers | None = None,
        notify: Notify = log_warning,
        answers: bool = True,
    ) -> ToolContext:
        """Build the context of tools over a workspace.

        `doc_ids` are the only filings that may be read; without `answers`, no model that answers is loaded.

        Raises FilingIndexError, StrategyError and ModelSetupError.
        """
        within = chosen_filings(doc_ids, workspace.index)
        make = AnswerContext.from_settings if answers else AnswerContext.by_rules
        answering = make(workspace, settings, callers=callers, notify=notify)
        strategy = answering.strategy or strategy_for(settings, workspace, callers=callers, notify=notify)
        return cls(answering, strategy, within)

    @property
    def workspace(self) -> Workspace:
        """The index and its lexicon."""
        return self.answering.workspace

    @property
    def settings(self) -> Settings:
        """How is searched and answered."""
        return self.answering.settings

    @cached_property
    def analyst(self) -> RulesAnalyst:
        """Parses search requests; always by rules, whatever model answers."""
        return RulesAnalyst(self.workspace)
