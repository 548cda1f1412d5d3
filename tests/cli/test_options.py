"""Options that say which chat models answer: what they come to, and how help shows them."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer

from fin_agent.cli import asking
from fin_agent.cli.options import ModelOptions
from fin_agent.config import Settings
from fin_agent.models import Budget, ModelSettings, OutputMode, Preset, Role
from fin_agent.workspace import Workspace
from tests.cli.running import LOOKUP, Ran

ANSWERING = (["ask"], ["batch"], ["eval", "financebench"], ["eval", "generated"], ["eval", "tagged-questions"])


@pytest.fixture
def asked_with(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings that `ask` comes to, in place of an answer."""
    seen: list[Settings] = []

    def from_settings(workspace: Workspace, settings: Settings, **other: object) -> None:
        seen.append(settings)
        raise typer.Exit

    monkeypatch.setattr(asking.AnswerContext, "from_settings", from_settings)
    return seen


def test_all_of_them_come_to_settings(asked_with: list[Settings], sample_index: Path) -> None:
    ran = Ran(
        "ask", LOOKUP, "--model", "openai:large", "--small-model", "openai:small", "--role", "reasoning=openai:a",
        "--role", "text-judge=openai:b", "--base-url", "http://localhost:8000/v1", "--analyst", "llm",
        "--preset", "thorough", "--output-mode", "json", "--max-tokens", 20000, "--max-calls", 9,
        "--max-seconds", 1.5, "--max-dollars", 0.25, "--strategy", "bm25", "--index", sample_index,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert asked_with == [
        Settings(
            strategy="bm25",
            analyst="llm",
            models=ModelSettings(
                model="openai:large",
                small="openai:small",
                roles={Role.REASONING: "openai:a", Role.TEXT_JUDGE: "openai:b"},
                base_url="http://localhost:8000/v1",
                preset=Preset.THOROUGH,
                output=OutputMode.JSON,
                budget=Budget(tokens=20_000, calls=9, seconds=1.5, dollars=0.25),
            ),
        )
    ]


def test_they_go_before_the_file_that_is_named_and_a_strategy_not_given_is_the_files(
    asked_with: list[Settings], sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "some.toml"
    file.write_text('strategy = "hybrid"\n[models]\nmodel = "openai:a"\nsmall = "openai:b"', encoding="utf-8")
    monkeypatch.setenv("FIN_AGENT_STRATEGY", "bm25")
    Ran("ask", LOOKUP, "--config", file, "--small-model", "openai:c", "--index", sample_index)
    Ran("ask", LOOKUP, "--config", file, "--strategy", "default", "--model", "", "--index", sample_index)
    first, second = asked_with
    assert (first.strategy, first.models.model, first.models.small) == ("hybrid", "openai:a", "openai:c")
    assert (second.strategy, second.models.model) == ("default", None)


@pytest.mark.parametrize(
    ("option", "value", "code", "told"),
    [
        ("--preset", "quick", 2, "'thorough'"),
        ("--max-tokens", "many", 2, "--max-tokens"),
        ("--max-dollars", "-1", 2, "--max-dollars"),
        ("--role", "curation", 1, "Give ROLE=MODEL"),
        ("--role", "curator=openai:x", 1, "it should be 'cover-summary', 'tree-node'"),
        ("--config", "nowhere.toml", 1, "this settings file does not exist"),
    ],
)
def test_what_cannot_be_used_is_told(
    option: str, value: str, code: int, told: str, sample_index: Path, asked_with: list[Settings]
) -> None:
    ran = Ran("ask", LOOKUP, option, value, "--index", sample_index)
    assert ran.code == code
    assert told in ran.err and not asked_with


def test_search_and_the_benchmarks_follow_the_file(sample_index: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text('strategy = "no-such-strategy"', encoding="utf-8")
    generated = ("eval", "generated", "--count", 1, "--index", sample_index, "--config", file)
    ran = Ran(*generated)
    assert ran.code == 1 and "no-such-strategy" in ran.err


@pytest.mark.parametrize("command", ANSWERING, ids=" ".join)
def test_help_shows_them(command: list[str]) -> None:
    told = Ran(*command, "--help").out
    for name in (
        "--index",
        "--config",
        "--model",
        "--small-model",
        "--role",
        "--base-url",
        "--analyst",
        "--preset",
        "--max-dollars",
    ):
        assert f"  {name} " in told


def test_choices_are_those_of_the_settings() -> None:
    hints = get_type_hints(ModelOptions)
    analysts = get_type_hints(Settings)["analyst"]
    for option, choices in (
        ("preset", [each.value for each in Preset]),
        ("output_mode", [each.value for each in OutputMode]),
        ("analyst", list(get_args(analysts))),
    ):
        literal, _ = get_args(hints[option])
        assert list(get_args(literal)) == choices
