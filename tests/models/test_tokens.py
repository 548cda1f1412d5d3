"""Counting tokens: without a network, ever."""

from __future__ import annotations

import socket

import pytest

from fin_agent.models.tokens import approximate_tokens, message_tokens

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


def test_messages_take_more_than_their_texts() -> None:
    assert message_tokens([PROSE, TITLE]) == approximate_tokens(PROSE) + approximate_tokens(TITLE) + 8
