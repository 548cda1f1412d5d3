"""Questions over the sample filings, as strategies get them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.query import Query
from fin_agent.retrieval.strategies.writing import ChatModelWriter
from fin_agent.workspace import Workspace

SUIT = "Which patent suit did Harborlight settle in 2024?"
SUIT_PAGES = (4, 15)
"""Of `harborlight_2024_10k`: each answers it."""
CHIEF = "Who was appointed chief executive officer of Tellurond?"
CHIEF_PAGE = PageKey("tellurond_2024_8k", 1)


class Script:
    """A chat model that says what it is told to, and the prompts it was given."""

    def __init__(self, *replies: str) -> None:
        self.prompts: list[str] = []
        left = iter(replies)

        class Recording(GenericFakeChatModel):
            def invoke(self, prompt: object, *rest: object, **more: object) -> BaseMessage:  # type: ignore[override]
                heard.append(str(prompt))
                return super().invoke(prompt, *rest, **more)  # type: ignore[arg-type]

        heard = self.prompts

        def messages() -> Iterator[AIMessage | str]:
            yield from (AIMessage(reply) for reply in left)

        self.writer = ChatModelWriter(Recording(messages=messages()))


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
