"""What docs/serving.md shows is what is answered, and what it names is there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from fin_agent.presentation.exports import BOUNDS
from fin_agent.serving.http_server import MAX_BYTES, MIN_TOKEN_LENGTH, SECONDS_TO_SEND, TOKEN_VARIABLE
from fin_agent.tools.toolkit import FinAgentToolkit

httpx = pytest.importorskip("httpx", reason="needs the extra `serving-tests`")

GUIDE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
CALL = re.compile(r"^\$ (curl [^\n]+)\n(.*?)(?=^\$ curl|^```)", re.M | re.S)


def asked(command: str, api: str) -> Any:
    """What a command with curl is answered by the server of the tests."""
    words = shlex.split(command.partition(" | ")[0])
    url = next(word for word in words if word.startswith("http://127.0.0.1:8400")).replace("http://127.0.0.1:8400", api)
    headers = dict(words[at + 1].split(": ") for at, word in enumerate(words) if word == "-H")
    body = next((words[at + 1] for at, word in enumerate(words) if word == "-d"), None)
    return httpx.request("POST" if body else "GET", url, content=body, headers=headers, timeout=60)


def test_its_calls_are_answered_so(api: str) -> None:
    calls = CALL.findall(GUIDE)
    assert len(calls) == 4
    for command, shown in calls:
        told = asked(command, api)
        if "jq" in command:
            names = [each.strip(" .'") for each in command.rpartition("jq ")[2].split(",")]
            assert [told.json()[name] for name in names] == in_a_row(shown)
        elif "-sN" in command:
            assert told.text.startswith(shown.removesuffix("...\n"))
        else:
            assert told.text == shown.removesuffix("\n")


def in_a_row(text: str) -> list[Any]:
    """The JSON documents that stand one after the other."""
    found, text = [], text.strip()
    while text:
        document, end = json.JSONDecoder().raw_decode(text)
        found.append(document)
        text = text[end:].lstrip()
    return found


def test_its_paths_are_those_there_are(api: str) -> None:
    rows = re.findall(r"^\| `(GET|POST) ([^?`]+)[^`]*` \|", GUIDE, re.M)
    document = httpx.get(f"{api}/openapi.json").json()
    there = [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]
    assert [(method, path.replace("{n}", "{page_number}")) for method, path in rows] == [
        *there,
        ("GET", "/openapi.json"),
    ]


def test_its_tools_are_those_there_are(workspace: Any) -> None:
    for tool in FinAgentToolkit(workspace=workspace).get_tools():
        assert f"`{tool.name}`" in GUIDE


def test_its_limits_are_those_there_are() -> None:
    said = " ".join(GUIDE.split())
    assert f"at least {MIN_TOKEN_LENGTH} characters" in said
    assert f"`{TOKEN_VARIABLE}`" in said
    assert f"{BOUNDS.longest_side:,} pixels" in said
    assert f"{MAX_BYTES // 1_000_000} MB long and take {SECONDS_TO_SEND:.0f} seconds" in said


def test_its_configuration_names_the_command(workspace: Any) -> None:
    (block,) = re.findall(r"```json\n(.*?)```", GUIDE, re.S)
    (server,) = json.loads(block)["mcpServers"].values()
    assert server["command"].endswith("/fin-agent")
    assert server["args"][0] == "mcp"
