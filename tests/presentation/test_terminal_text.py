"""Text of a filing cannot drive a terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from fin_agent.presentation.terminal_text import one_line, plain


@given(st.text(st.characters(codec=None)))
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    left = {unicodedata.category(mark) for mark in plain(text) if mark not in "\n\t\u00ad\u200c\u200d"}
    assert not left & {"Cc", "Cf", "Cs"}


@given(st.text(st.characters(exclude_categories=("C",))))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert plain(text) == text


def test_escape_sequences_and_reordering_marks_are_dropped() -> None:
    assert plain("up\x1b[2J \u202e12%\x07") == "up[2J 12%"


@given(st.text(), st.integers(2, 40))
def test_one_line_is_one_line_and_no_longer(text: str, longest: int) -> None:
    line = one_line(text, longest)
    assert len(line) <= longest
    assert len(line.splitlines()) <= 1
