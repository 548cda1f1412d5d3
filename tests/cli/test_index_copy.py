"""`fin-agent index copy`, and commands over an index on a cluster."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("elasticsearch")

from fin_agent.cli.app import app
from tests.index.elastic_server.server import ElasticServer

QUESTION = "What were Quillmark's merchandise inventories at the end of fiscal 2023?"
SECRET = "sesame-open"


@pytest.fixture(scope="module")
def server() -> Iterator[ElasticServer]:
    """A server that wants a key."""
    with ElasticServer(api_key=SECRET) as made:
        yield made


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIN_AGENT_ES_API_KEY", SECRET)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))


@pytest.fixture
def address(server: ElasticServer, sample_index: Path) -> str:
    """The address of an index that holds the sample filings."""
    address = f"{server.url}/samples"
    if "samples-filings" not in server.node.aliases:
        done = run("index", "copy", "--to", address, "--index", str(sample_index), "--json")
        told = json.loads(done)
        assert (told["copied"], told["failed"], told["held"]) == (15, 0, 15)
        assert told["to"] == address
    return address


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == code, done.output
    assert SECRET not in done.output
    return done.stdout


def test_copied_again_all_is_unchanged(address: str, sample_index: Path) -> None:
    done = CliRunner().invoke(app, ["index", "copy", "--to", address, "--index", str(sample_index)])
    assert "0 copied, 15 unchanged, 0 failed" in done.stdout
    assert f"The index at {address} contains 15" in done.stdout
    assert "quillmark_2023_10k: unchanged" in done.stderr


def test_questions_are_asked_over_it(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = run("ask", QUESTION, "--index", address)
    assert "$945,162 thousand" in answer
    monkeypatch.setenv("FIN_AGENT_INDEX", address)
    assert json.loads(run("info", "--json"))["index"] == address
    assert json.loads(run("info", "--json"))["filings"] == 15
    assert "quillmark_2023_10k" in run("search", "merchandise inventories of Quillmark", "--level", "page")
    runs = json.loads(run("runs", "list", "--json"))
    assert QUESTION in json.dumps(runs)
    assert "the same answer and the same trace" in run("runs", "replay", "last")
    for file in tmp_path.rglob("*.sqlite"):
        with sqlite3.connect(file) as connection:
            assert SECRET not in "\n".join(connection.iterdump())


def test_a_filing_is_removed_and_copied_back(address: str, sample_index: Path) -> None:
    run("remove", "quillmark_2023_10k", "--index", address)
    assert "quillmark_2023_10k" not in run("filings", "--index", address)
    done = run("index", "copy", "--to", address, "--index", str(sample_index), "--doc", "quillmark_2023_10k")
    assert "1 copied" in done and "contains 15" in done


def test_what_cannot_be_reached_is_told(server: ElasticServer, monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(app, ["filings", "--index", f"{server.url}/nowhere"])
    assert done.exit_code == 1 and "there is no index here" in done.stderr
    monkeypatch.setenv("FIN_AGENT_ES_API_KEY", "wrong")
    done = CliRunner().invoke(app, ["filings", "--index", f"{server.url}/samples"])
    assert done.exit_code == 1 and "FIN_AGENT_ES_API_KEY" in done.stderr
    assert "wrong" not in done.stderr.replace("went wrong", "")
    host = server.url.removeprefix("http://")
    done = CliRunner().invoke(app, ["filings", "--index", f"http://me:{SECRET}@{host}/samples"])
    assert done.exit_code == 1 and SECRET not in done.output + done.stderr


def test_not_into_itself(address: str) -> None:
    done = CliRunner().invoke(app, ["index", "copy", "--to", address, "--index", address])
    assert done.exit_code == 1 and "cannot be copied into itself" in done.stderr


def test_files_are_read_into_an_index_on_this_machine(address: str, sample_filings: Path) -> None:
    done = CliRunner().invoke(app, ["ingest", str(sample_filings), "--index", address])
    assert done.exit_code == 1
    assert "fin-agent index copy" in done.stderr
