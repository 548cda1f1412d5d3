"""Another query in words, put in the place of one on the way."""

from __future__ import annotations

from dataclasses import replace

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.retrieval.query import Query
from fin_agent.workspace import Workspace


def reworded(query: Query, words: str, workspace: Workspace) -> Query:
    """What `words` search for, read as a question; of the companies and periods of `query` where they name none.

    Raises QuestionError where there are no words.
    """
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(words)
    read = analyst.query(intent, analyst.plan(intent), None)
    return replace(read, companies=read.companies or query.companies, periods=read.periods or query.periods)
