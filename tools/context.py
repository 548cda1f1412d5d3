"""The context shared by tools: workspace, strategy, settings, readable filings and the size of a result."""

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
"""A smaller budget leaves no room for a passage next to the required text."""


def open_workspace(index: Path | str | None, workspace: Workspace | None) -> Workspace:
    """Return the given workspace, or open the index.

    Args:
        index: Folder of the index; None for the default folder.
        workspace: An open workspace to use in place of `index`.

    Raises:
        ValueError: Both are given.
        FilingIndexError: The index cannot be opened.
    """
    if index is not None and workspace is not None:
        raise ValueError("give `index` or `workspace`, not both")
    return workspace or Workspace.open(index if index is not None else index_folder())


@dataclass(frozen=True)
class SearchContext:
    """The context of a search; safe to share between threads."""

    workspace: Workspace
    settings: Settings
    strategy: Strategy
    """Searches documents, pages and passages."""
    analyst: RulesAnalyst
    """Parses search requests; always by rules, whatever model answers."""
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
        """Build the context of a search over a workspace.

        Args:
            workspace: The index to search.
            settings: Select the strategy and its models.
            doc_ids: The only filings that may be read; None for all.
            callers: Model callers for strategies, in place of those that the settings name.
            notify: Receives warnings.

        Raises:
            FilingIndexError: One of `doc_ids` is not indexed, or the index is empty.
            StrategyError: The strategy lacks a requirement.
            ModelSetupError: A chat model cannot be set up.
        """
        within = chosen_filings(doc_ids, workspace.index)
        strategy = strategy_for(settings, workspace, callers=callers, notify=notify)
        return cls(workspace, settings, strategy, RulesAnalyst(workspace), within)


@dataclass(frozen=True)
class ToolContext(SearchContext):
    """The context of a toolkit: searching, answering and the size of a result."""

    answering: AnswerContext
    max_tokens: int = USUAL_TOKENS
    """Budget of one result, in tokens."""

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
        """Build the context of a toolkit; arguments and errors are those of `SearchContext.of` and `AnswerContext`."""
        searching = SearchContext.of(workspace, settings, doc_ids=doc_ids, callers=callers, notify=notify)
        answering = AnswerContext.from_settings(workspace, settings, callers=callers, notify=notify)
        return cls(**vars(searching), answering=answering, max_tokens=max_tokens)
