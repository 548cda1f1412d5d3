"""Run a command and hold what it printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from fin_agent.cli import app

LOOKUP = "What was the net sales of Harborlight for FY2023?"
UNKNOWN_COMPANY = "What was the revenue of Apple in FY2022?"
CONTRACT = [
    "id",
    "question",
    "answer",
    "refused",
    "missing",
    "ask_back",
    "citations",
    "retrieved",
    "ledger",
    "program",
    "assumptions",
    "rounds",
    "seconds",
    "usage",
    "warnings",
]


class Ran:
    """A finished command."""

    def __init__(self, *arguments: object) -> None:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="fin-agent")
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it has to be."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def questions_file(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "questions.jsonl"
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines))
    return path


def asked(question: str, **fields: object) -> str:
    return json.dumps({"question": question, **fields})


def without_seconds(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "seconds"}
