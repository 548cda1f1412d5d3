"""What the nodes depend on: it enters through LangGraph's runtime context, never through globals."""

from __future__ import annotations

from dataclasses import dataclass, field

from fin_agent.analyst.protocol import Analyst
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.sandbox import MontySandbox, ProgramExecutor
from fin_agent.config import Settings
from fin_agent.workspace import Workspace


@dataclass(frozen=True)
class AnswerContext:
    """Index and lexicon, who reasons, where programs run, how far to look."""

    workspace: Workspace
    analyst: Analyst
    executor: ProgramExecutor
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def by_rules(cls, workspace: Workspace, settings: Settings | None = None) -> AnswerContext:
        """The default: the rules analyst and the Monty sandbox."""
        settings = settings or Settings()
        analyst = RulesAnalyst(workspace, most_evidence=settings.evidence)
        return cls(workspace, analyst, MontySandbox(), settings)
