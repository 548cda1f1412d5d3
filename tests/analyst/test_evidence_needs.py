"""What a question wants of its evidence, told from its words and its relation."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.words_to_intent import use_of
from fin_agent.evidence.cards.card import Use


@pytest.mark.parametrize(
    ("core", "use"),
    [
        ("Why did gross margin fall?", Use.EXPLANATION),
        ("What drove the increase in inventories?", Use.EXPLANATION),
        ("How does Acme recognize revenue from subscriptions?", Use.POLICY),
        ("What is Acme's accounting policy for leases?", Use.POLICY),
        ("What was the outcome of the vote on emissions policies?", Use.LOOKUP),
        ("What does Acme mean by adjusted operating income?", Use.DEFINITION),
        ("How is free cash flow defined?", Use.DEFINITION),
        ("Which segment had the highest sales?", Use.COMPARISON),
        ("Did demand improve during the year?", Use.TREND),
        ("What is the total amount that may be borrowed?", Use.AGGREGATION),
        ("Who are the primary customers?", Use.LOOKUP),
        ("", Use.LOOKUP),
    ],
)
def test_words_give_the_use_away(core: str, use: Use) -> None:
    assert use_of(core, periods=1) is use
