"""What docs/models.md shows is true: its commands, its files, its Python, its tables."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from fin_agent.cli.model_options import ModelOptions
from fin_agent.config import settings_from
from fin_agent.config_sources import VARIABLES
from fin_agent.models import PriceTable
from tests.cli.running import Ran
from tests.loopback import no_other_host
from tests.models.openai_server import OpenAIServer
from tests.models.openai_server.fixtures import serve

__all__ = ["no_other_host", "serve"]

GUIDE = (Path(__file__).parents[1] / "docs" / "models.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^fin-agent (.+)$", GUIDE, re.M)
REFUSED = 4


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.S)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_do_what_they_say(
    command: str, serve: Callable[..., OpenAIServer], sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    names = [re.sub(r"^openai:", "", name) for name in re.findall(r"--model (\S+)", GUIDE)]
    server = serve(lambda request: '{"ready": true}', key=None, models=[*names, "gpt-5.4-mini"])
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    words = [server.url if word.startswith("http://localhost") else word for word in shlex.split(command)]
    ran = Ran(*words, "--index", sample_index)
    assert ran.code in (0, REFUSED), ran.out + ran.err
    assert server.requests


def test_there_are_commands_for_each_server() -> None:
    assert {port for command in COMMANDS for port in re.findall(r"localhost:(\d+)", command)} == {
        "8000",
        "11434",
        "8080",
    }


def test_python_runs(tmp_path: Path) -> None:
    for number, code in enumerate(blocks("python")):
        (tmp_path / f"block{number}.py").write_text(code, encoding="utf-8")
        ran = subprocess.run([sys.executable, f"block{number}.py"], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
    assert len(blocks("python")) == 3


def test_the_files_can_be_used(tmp_path: Path) -> None:
    (settings,) = blocks("toml")
    (tmp_path / "fin-agent.toml").write_text(settings, encoding="utf-8")
    models = settings_from(file=tmp_path / "fin-agent.toml").models
    assert models.model == tomllib.loads(settings)["models"]["model"]
    assert models.cache == tmp_path / "replies.sqlite" and models.batch_budget.dollars == 5
    (prices,) = blocks("yaml")
    (tmp_path / "prices.yaml").write_text(prices, encoding="utf-8")
    table = PriceTable.packaged().with_file(tmp_path / "prices.yaml")
    assert table.price("openai:qwen3", "http://localhost:11434/v1") is not None


def test_the_table_names_every_setting_of_models_with_its_option_and_variable() -> None:
    rows = re.findall(r"^\| `((?:models\.|analyst)\S*)` \|(.*?)\| `(FIN_AGENT_[A-Z_]+)", GUIDE, re.M)
    of_batches = {name for name in VARIABLES if name.startswith("models.batch_budget.")}
    told = {setting: variable for setting, _, variable in rows}
    assert told.pop("models.batch_budget.*") == VARIABLES["models.batch_budget.tokens"]
    assert told == {
        name: variable
        for name, variable in VARIABLES.items()
        if (name.startswith("models.") or name == "analyst") and name not in of_batches
    }
    options = {f"--{name.replace('_', '-')}" for name in ModelOptions.__slots__} - {"--config"}
    assert {option for _, said, _ in rows for option in re.findall(r"--[a-z-]+", said)} == options
    assert "`--config`" in GUIDE
