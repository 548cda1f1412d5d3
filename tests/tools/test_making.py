"""What a tool makes of whatever goes wrong inside it."""

from __future__ import annotations

import logging

import pytest
from langchain_core.tools import ToolException
from langgraph.errors import GraphInterrupt
from pydantic import BaseModel

from fin_agent.errors import FinAgentError
from fin_agent.tools.arguments import ReadPageArguments
from fin_agent.tools.toolkit import make_tool

GIVEN = {"type": "tool_call", "id": "1", "name": "read_page", "args": {"doc_id": "a", "pages": "1"}}


def answered(error: BaseException) -> object:
    def run(given: ReadPageArguments) -> tuple[str, BaseModel]:
        raise error

    return make_tool("read_page", ReadPageArguments, run).invoke(GIVEN)  # type: ignore[arg-type]


def test_errors_of_ours_are_messages_with_the_remedy() -> None:
    message = answered(FinAgentError("it is locked", subject="a.pdf", remedy="Unlock it"))
    assert message.status == "error"  # type: ignore[attr-defined]
    assert message.content == "read_page could not do this: a.pdf: it is locked. Unlock it"  # type: ignore[attr-defined]
    assert message.artifact is None  # type: ignore[attr-defined]


def test_errors_of_others_are_messages_too_and_the_log_has_where(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="fin_agent"):
        message = answered(ZeroDivisionError("/secret/path"))
    assert message.status == "error"  # type: ignore[attr-defined]
    assert "it broke (ZeroDivisionError)" in message.content  # type: ignore[attr-defined]
    assert "secret" not in message.content  # type: ignore[attr-defined]
    assert "/secret/path" in caplog.text


@pytest.mark.parametrize("error", [GraphInterrupt(()), KeyboardInterrupt()])
def test_interrupts_are_not_held_back(error: BaseException) -> None:
    with pytest.raises(type(error)):
        answered(error)


def test_a_tool_exception_stays_what_it_is() -> None:
    assert answered(ToolException("Not now.")).content == "Not now."  # type: ignore[attr-defined]
