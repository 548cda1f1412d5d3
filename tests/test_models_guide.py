"""The tables of docs/models.md are true; its commands, files and Python are run with all others (tests/docs)."""

from __future__ import annotations

import re
from pathlib import Path

from fin_agent.cli.options import ModelOptions
from fin_agent.config import VARIABLES

GUIDE = (Path(__file__).parents[1] / "docs" / "models.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^fin-agent (.+)$", GUIDE, re.M)


def test_there_are_commands_for_each_server() -> None:
    assert {port for command in COMMANDS for port in re.findall(r"localhost:(\d+)", command)} == {
        "8000",
        "11434",
        "8080",
    }


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
