"""Questions over the sample filings, as strategies get them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.index.protocol import PageKey
from fin_agent.models import ServerUnreachableError
from fin_agent.prompts import FilledPrompt
from fin_agent.retrieval.search_query import Query, RankedPassage
from fin_agent.workspace import Workspace

SUIT = "Which patent suit did Harborlight settle in 2024?"
SUIT_PAGES = (4, 15)
"""Of `harborlight_2024_10k`: each answers it."""
CHIEF = "Who was appointed chief executive officer of Tellurond?"
CHIEF_PAGE = PageKey("tellurond_2024_8k", 1)


class Script:
    """A writer that says what it is told to, in turn, and then fails; and the prompts it was given."""

    def __init__(self, *replies: str) -> None:
        self.prompts: list[str] = []
        self._left = iter(replies)

    def write(self, prompt: FilledPrompt) -> str:
        """See Writer."""
        self.prompts.append(prompt.text)
        reply = next(self._left, None)
        if reply is None:
            raise ServerUnreachableError("no connection to the server", subject="the model")
        return reply


def key_of(passage: RankedPassage) -> tuple[str, int]:
    """The filing and ordinal of a passage."""
    return passage.stored.doc_id, passage.stored.passage.ordinal


@pytest.fixture
def asked(workspace: Workspace) -> Callable[[str], Query]:
    """The query that the rules analyst makes of a question."""
    analyst = RulesAnalyst(workspace)

    def query_of(question: str) -> Query:
        intent = analyst.intent(question)
        return analyst.query(intent, analyst.plan(intent), None)

    return query_of


@pytest.fixture
def script() -> type[Script]:
    """See Script."""
    return Script


@pytest.fixture
def notes() -> list[str]:
    """What a person is told; hand its `append` over as `notify`."""
    return []
