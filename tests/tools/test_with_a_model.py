"""The tools where a chat model answers: its words and its failures come through the same door."""

from __future__ import annotations

import pytest

from fin_agent.config import Settings
from fin_agent.errors import FinAgentError
from fin_agent.models.caller import Callers
from fin_agent.testing import ScriptedChatModel
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.tools.conftest import called


def test_a_model_that_talks_rubbish_leaves_the_rules_and_that_is_told(workspace: Workspace) -> None:
    callers = Callers.with_model(ScriptedChatModel("I would rather not."))
    tools = {tool.name: tool for tool in FinAgentToolkit(workspace=workspace, callers=callers).get_tools()}
    message = called(tools, "answer_question", {"question": "Who was appointed CEO of Tellurond in 2024?"})
    assert message.status == "success"
    assert "Ines K. Calloway" in message.artifact.answer.text
    assert message.artifact.usage.model_calls > 0
    assert message.artifact.warnings
    assert message.artifact.warnings[0].split(":")[0] in str(message.content)


def test_a_model_that_cannot_be_set_up_is_told_when_the_toolkit_is_made(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = Settings.model_validate({"models": {"model": "nobody:nothing"}})
    with pytest.raises(FinAgentError) as refused:
        FinAgentToolkit(workspace=workspace, settings=settings)
    assert refused.value.remedy
