"""Commands by a model: in this process or in one that can be killed, asking the test server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.models.openai_server import KEY, ChatRequest, OpenAIServer, Reply
from tests.prompt_roles import role_of

MODEL = "openai:gpt-4o"
QUESTIONS = (
    "What drove Harborlight's net sales in 2024?",
    "Does Harborlight hold derivatives for trading?",
    "Which patent suit did Harborlight settle in 2024?",
    "Who was appointed CEO of Tellurond in 2024?",
    "What drove the change in Harborlight's gross profit in 2024?",
    "Why did Quillmark's gross profit change in fiscal 2024?",
)
"""All are answered in words: each asks the role `reasoning`, and in the preset `fast` no other."""
_PASSAGE = re.compile(r'<passage-\w+ number="1"[^>]*>\n(.*?)\n?</passage', re.S)
_MAIN = "from fin_agent.cli import main; main()"


def settings(server: OpenAIServer, **more: object) -> dict[str, str]:
    """Variables that name a small and a large model at the server, the preset `fast`, and whatever else is given."""
    given = {
        "model": MODEL,
        "small_model": "openai:gpt-4o-mini",
        "base_url": server.url,
        "preset": "fast",
        "attempts": 1,
        **more,
    }
    return {"OPENAI_API_KEY": KEY, **{f"FIN_AGENT_{name.upper()}": str(value) for name, value in given.items()}}


def used(monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str]) -> None:
    """Let the commands of this process have these settings."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def child(variables: Mapping[str, str], *arguments: object) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN, *map(str, arguments)],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def replied(request: ChatRequest) -> Reply:
    """An answer to any role that is good: of `reasoning` the words of the first passage that are nearest, quoted."""
    role = role_of(request.text)
    found = _PASSAGE.search(request.text)
    if role == "reasoning" and found is not None:
        quote = _nearest(found[1], next(question for question in QUESTIONS if question in request.text))
        sentence = {"text": quote, "citations": [{"passage": 1, "quote": quote}]}
        said: dict[str, object] = {"sentences": [sentence], "answer": f"It is said: {quote}", "verdict": "none"}
    elif role == "curation":
        said = {"kept": [{"passage": 1, "reason": "it serves"}], "missing": [], "answerable": True,
                "complementary_question": None}  # fmt: skip
    else:
        raise AssertionError(f"the role {role} is asked: {request.text[:200]}")
    return Reply(json.dumps(said), prompt_tokens=900, completion_tokens=60)


def _nearest(passage: str, question: str) -> str:
    """Twelve words of a passage that have most words of the question."""
    words, asked = passage.split(), set(re.findall(r"\w{4,}", question.lower()))
    starts = range(max(1, len(words) - 11))
    best = max(starts, key=lambda at: len(asked & set(re.findall(r"\w+", " ".join(words[at : at + 12]).lower()))))
    return " ".join(words[best : best + 12])
