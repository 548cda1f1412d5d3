"""Files that a page shows, read by what they are for."""

from __future__ import annotations

import json
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from fin_agent.cli.asking import BatchQuestion
from fin_agent.config import settings_from
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.models import PriceTable
from tests.docs.blocks import Block
from tests.docs.commands import understood
from tests.docs.kinds import Command, UnknownKindError

LEXICON = {"metrics", "formulas", "sections", "statements", "items", "topics"}


def read_toml(block: Block, folder: Path) -> str:
    """Settings of fin-agent, unless it is of another tool. Says what it was read as."""
    parsed = tomllib.loads(block.text)
    if {"project", "tool", "build-system"} & set(parsed):
        return "of a project of Python"
    file = folder / "shown" / "fin-agent.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
    settings_from(file=file)
    return "settings"


def read_yaml(block: Block, folder: Path) -> str:
    parsed = yaml.safe_load(block.text)
    file = folder / "shown" / f"line{block.line}" / "shown.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
    if set(parsed) <= LEXICON:
        load_lexicon(extra=file.parent)
        return "lexicon"
    if set(parsed) == {"models"}:
        table = PriceTable.from_file(file)
        assert all(table.price(name, "http://localhost:1/v1") is not None for name in parsed["models"])
        return "prices"
    if "services" in parsed:
        return "containers"
    raise UnknownKindError(f"{block.place}: it is not known what this YAML is for: see tests/docs/config_blocks.py")


def read_json(block: Block) -> str:
    parsed = json.loads(block.text)
    if isinstance(parsed, dict) and "graphs" in parsed:
        for target in parsed["graphs"].values():
            module, _, name = (target if isinstance(target, str) else target["path"]).partition(":")
            assert hasattr(import_module(module), name), f"{block.place}: {target}"
        return "graphs"
    servers = parsed.get("mcpServers", parsed.get("servers")) if isinstance(parsed, dict) else None
    if servers is not None:
        for server in servers.values():
            if str(server.get("command", "")).endswith("fin-agent"):
                understood(Command(["fin-agent", *server["args"]]), block.place)
        return "servers of a client"
    return "an object"


def read_json_lines(block: Block) -> str:
    """Questions of a batch, or of a benchmark, or events and answers as they are written."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in block.text.split("\n") if line.strip()]
    if all("financebench_id" in row for row in rows):
        needed = {"financebench_id", "question", "doc_name", "evidence"}
        assert all(needed <= set(row) for row in rows), block.place
        return "questions of a benchmark"
    if all(set(row) <= set(BatchQuestion.model_fields) for row in rows):
        assert [BatchQuestion.model_validate(row) for row in rows]
        return "questions of a batch"
    return "objects"
