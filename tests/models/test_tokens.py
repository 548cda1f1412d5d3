"""Counting tokens: without a network, ever."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from fin_agent.models import tokens
from fin_agent.models.tokens import TokenCounter, approximate_tokens, token_counter

PROSE = (
    "Cash provided by operating activities decreased to $522 million in 2022 from $667 million in 2021, mainly "
    "because of net income and of changes in inventories and payables.\n"
)
TABLE = "Net cash provided\n$\n522\n$\n667\n$\n583\nNet cash used\n(433)\n(178)\n(1,131)\n"
DOTS = "." * 60 + "\n"
TITLE = "CONSOLIDATED BALANCE SHEETS\n"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    token_counter.cache_clear()


@pytest.mark.parametrize(("text", "exact"), [(PROSE, 37), (TABLE, 28), (DOTS, 3), (TITLE, 9), ("", 0)])
def test_estimates_are_close_to_the_real_vocabulary(text: str, exact: int) -> None:
    """`exact` is what o200k_base makes of it."""
    assert abs(approximate_tokens(text) - exact) <= max(2, 0.05 * exact)


def test_figures_take_more_tokens_a_character_than_prose() -> None:
    assert len(PROSE) / approximate_tokens(PROSE) > 1.2 * len(TABLE) / approximate_tokens(TABLE)


def test_long_texts_are_estimated_piece_by_piece() -> None:
    assert approximate_tokens(PROSE * 50) == pytest.approx(50 * approximate_tokens(PROSE), rel=0.03)


def test_other_scripts_are_not_taken_for_one_word() -> None:
    assert approximate_tokens("財務諸表の注記事項" * 20) > 150


@pytest.mark.parametrize("folder", ["", "empty", "damaged"])
def test_without_a_whole_vocabulary_on_this_machine_tokens_are_estimated(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    file = tmp_path / "damaged" / hashlib.sha1(address.encode()).hexdigest()
    file.parent.mkdir()
    file.write_bytes(b"AAAA 0\n")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / folder) if folder else "")
    assert token_counter("openai:gpt-4o").approximate
    assert file.exists(), "tiktoken takes a damaged file away before it downloads another"


def test_the_vocabulary_on_this_machine_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    vocabulary = b"AAAA 0\n"
    address = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    (tmp_path / hashlib.sha1(address.encode()).hexdigest()).write_bytes(vocabulary)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(tokens._HASHES, "o200k_base", hashlib.sha256(vocabulary).hexdigest())
    words = SimpleNamespace(encode_ordinary=str.split)
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: words if name == "o200k_base" else None)
    counter = token_counter("openai:gpt-4o-mini")
    assert not counter.approximate and counter.count("net income rose") == 3
    assert counter.count_messages([("system", "net income"), ("user", "rose")]) == 3 + 2 * tokens.MESSAGE_TOKENS


@pytest.mark.parametrize("model", ["ollama:llama3.1", "openai:llama-3.1-8b", "anthropic:claude-haiku-4-5"])
def test_models_of_unknown_vocabularies_are_estimated(model: str) -> None:
    assert token_counter(model) == TokenCounter()


def test_the_addresses_are_those_that_tiktoken_uses() -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="tiktoken is not installed")
    source = Path(public.__file__).read_text(encoding="utf-8")
    for name, expected in tokens._HASHES.items():
        assert tokens._ADDRESS.format(name) in source and expected in source
