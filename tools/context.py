"""What the tools work with: how they answer and search, which filings they may read, how much they may say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import strategy_for
from fin_agent.config import Settings, index_folder
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.index.opening import chosen_filings
from fin_agent.models.callers_by_role import Callers
from fin_agent.retrieval.strategies.protocol import Notify, Strategy, log_warning
from fin_agent.workspace import Workspace

USUAL_TOKENS = 4_000
MIN_TOKENS = 300
"""Less than this holds no passage beside what has to be said around it."""


def open_workspace(index: Path | str | None, workspace: Workspace | None) -> Workspace:
    """The one given, else that of the index named. Raises ValueError where both are given, FilingIndexError."""
    if index is not None and workspace is not None:
        raise ValueError("give `index` or `workspace`, not both")
    return workspace or Workspace.open(index if index is not None else index_folder())


@dataclass(frozen=True)
class SearchContext:
    """What a search works with; safe to share between threads."""

    workspace: Workspace
    settings: Settings
    strategy: Strategy
    """Searches documents, pages and passages."""
    analyst: RulesAnalyst
    """Reads what is searched for: by rules, whoever answers."""
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
    ) -> SearchContext:
        """Over a workspace, as `settings` say; `callers` ask the models of strategies in place of those named there.

        Raises FilingIndexError where one of `doc_ids` is not indexed or it is empty, StrategyError where the strategy
        lacks something, ModelSetupError where a chat model cannot be set up.
        """
        within = chosen_filings(doc_ids, workspace.index)
        strategy = strategy_for(settings, workspace, callers=callers, notify=notify)
        return cls(workspace, settings, strategy, RulesAnalyst(workspace), within)


@dataclass(frozen=True)
class ToolContext(SearchContext):
    """Shared by the tools of a toolkit: searches, answers, and how much a result may say."""

    answering: AnswerContext
    max_tokens: int = USUAL_TOKENS
    """Of one result as a model reads it."""

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        settings: Settings,
        *,
        doc_ids: Sequence[str] | None = None,
        callers: Callers | None = None,
        notify: Notify = log_warning,
        max_tokens: int = USUAL_TOKENS,
    ) -> ToolContext:
        """Over a workspace, as `settings` say.

        Raises what SearchContext.of and AnswerContext.from_settings raise.
        """
        searching = SearchContext.of(workspace, settings, doc_ids=doc_ids, callers=callers, notify=notify)
        answering = AnswerContext.from_settings(workspace, settings, callers=callers, notify=notify)
        return cls(**vars(searching), answering=answering, max_tokens=max_tokens)
