"""What docs/chat.md shows is so: the conversation, what can be said, the commands, the Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fin_agent.analyst.rules.follow_ups import MessageKind, PreviousTurn, read_message
from fin_agent.cli import app
from fin_agent.cli.chatting import HELP
from fin_agent.workspace import Workspace

GUIDE = (Path(__file__).parents[1] / "docs" / "chat.md").read_text(encoding="utf-8")
TALKED = re.compile(r"```\n\$ fin-agent chat [^\n]*\n(.*?)\n```", re.S)
TYPED = re.compile(r"^you> (.*)$", re.M)


def test_the_conversation_is_what_is_printed(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    found = TALKED.search(GUIDE)
    assert found is not None
    typed = "".join(f"{line}\n" for line in TYPED.findall(found[1]))
    ran = CliRunner().invoke(app, ["chat", "--index", str(sample_index), "--no-record"], input=typed)
    at = 0
    for part in TYPED.sub(r"> \1", found[1]).split("...\n"):
        place = ran.stdout.find(part.strip("\n"), at)
        assert place >= 0, part
        at = place + len(part.strip("\n"))


def test_what_can_be_said_is_understood(workspace: Workspace) -> None:
    section = GUIDE.split("## Follow-up questions")[1].split("\n## ")[0]
    asked = re.search(r'after "([^"]+)"', section)
    assert asked is not None
    said = [phrase for row in re.findall(r"^\| (`.*?) \|", section, re.M) for phrase in re.findall(r"`([^`]+)`", row)]
    assert len(said) > 20
    for message in said:
        kind = read_message(message, [PreviousTurn(asked[1])], workspace).kind
        assert kind in (MessageKind.FOLLOW_UP, MessageKind.WHERE, MessageKind.HOW, MessageKind.DOUBT), message


def test_every_command_stands_there() -> None:
    section = GUIDE.split("## Commands")[1].split("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", section, re.M) for name in re.findall(r"`/(\w+)", row)}
    assert named == set(re.findall(r"^/(\w+)", HELP, re.M))


def test_the_python_runs(sample_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```python\n(.*?)\n```", GUIDE, re.S)
    assert found is not None
    exec(found[1].replace('".fin-agent/demo-index"', repr(str(sample_index))), {})
    assert capsys.readouterr().out.splitlines() == [
        "What was Harborlight's net income in FY2023? 544.0",
        "What was Harborlight's net income in FY2022? 474.0",
    ]
