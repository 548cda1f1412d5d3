"""What is said to a question after a loss."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fin_agent.evidence.sign_conventions import loss_notes


@pytest.mark.parametrize(
    ("measure", "amount", "words"),
    [
        ("net loss", "213", "no loss"),
        ("operating loss", "-481", "losses are negative"),
        ("loss per share", "-0.60", "losses are negative"),
        ("net income", "-40", ""),
        ("net income (loss)", "-40", ""),
        ("net loss", "0", ""),
    ],
)
def test_a_loss_that_was_none_is_told(measure: str, amount: str, words: str) -> None:
    said = loss_notes(measure, [("the result", Decimal(amount))])
    assert bool(said) is bool(words)
    assert all(words in one for one in said)
