"""Stretches of a text, counted by a tokenizer: words stand for tokens here."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("numpy", reason="vectors need the extra `dense`")

from fin_agent.retrieval.dense.encoder import windows_of


class Words:
    """A tokenizer whose tokens are words, with two marks around each text."""

    def num_special_tokens_to_add(self) -> int:
        return 2

    def __call__(self, text: str, **_: object) -> dict[str, list[object]]:
        return {"offset_mapping": [word.span() for word in re.finditer(r"\S+", text)]}


def test_windows_overlap_and_the_last_ends_the_text() -> None:
    text = "a b c d e f g h i j"
    tokenizer = Words()
    assert windows_of(text, tokenizer, 6, overlap=1) == ["a b c d", "d e f g", "g h i j"]
    assert windows_of(f"{text} k", tokenizer, 6, overlap=1) == ["a b c d", "d e f g", "g h i j", "j k"]
    assert windows_of(text, tokenizer, 12) == [text]
    assert windows_of("", tokenizer, 6) == [""]


def test_an_overlap_longer_than_a_window_still_moves_on() -> None:
    assert windows_of("a b c d", Words(), 4, overlap=30) == ["a b", "b c", "c d"]
    assert windows_of("a b", Words(), 1, overlap=30) == ["a", "b"]
