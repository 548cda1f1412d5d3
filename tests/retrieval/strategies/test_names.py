"""How strategies are written."""

from __future__ import annotations

import pytest

from fin_agent.retrieval.strategies.protocol import STRATEGIES, StrategyError, is_default, parse_strategy


def names(written: str) -> list[str]:
    return [layer.name for layer in parse_strategy(written)]


@pytest.mark.parametrize(
    ("written", "layers"),
    [
        ("bm25", ["bm25"]),
        ("rerank", ["rerank", "hybrid"]),
        ("rerank:hybrid", ["rerank", "hybrid"]),
        (" Rerank : HyDE ", ["rerank", "hyde", "dense"]),
        ("query_expansion", ["query-expansion", "bm25"]),
        ("query-expansion:dense", ["query-expansion", "dense"]),
        ("page-then-chunk:bm25", ["page-then-chunk", "bm25"]),
        ("hyde:hhr", ["hyde", "hhr", "hybrid"]),
        ("rerank:ircot:multi-hyde:page-then-chunk:parent-child",
         ["rerank", "ircot", "multi-hyde", "page-then-chunk", "parent-child"]),
        ("ircot:default", ["ircot", "default"]),
    ],
)  # fmt: skip
def test_a_colon_puts_one_over_another_and_the_usual_may_be_left_out(written: str, layers: list[str]) -> None:
    assert names(written) == layers


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_name_can_be_written_alone(name: str) -> None:
    assert names(name)[0] == name and STRATEGIES[name].description


def test_the_default_is_known_however_it_is_written() -> None:
    assert is_default("default") and is_default(" Default ") and not is_default("rerank:default")


def test_an_unknown_name_is_told_with_all_that_there_are() -> None:
    with pytest.raises(StrategyError) as failure:
        parse_strategy("rerank:bm26")
    assert "no strategy 'bm26'" in str(failure.value)
    assert all(name in str(failure.value) for name in STRATEGIES)


@pytest.mark.parametrize("written", ["", ":", "rerank:", ":dense", "rerank::dense"])
def test_a_missing_name_is_told(written: str) -> None:
    with pytest.raises(StrategyError, match="a name is missing"):
        parse_strategy(written)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "hhr:default",
            r"hhr cannot be combined with default\. hhr can wrap: bm25, dense, splade, hybrid, parent-child",
        ),
        (
            "bm25:dense",
            r"bm25 cannot be combined with dense\. bm25 wraps no other strategy; these can wrap it: .*rerank",
        ),
        ("hyde:rerank:dense", "hyde cannot be combined with rerank"),
        ("rerank:rerank", "rerank cannot be combined with rerank"),
        ("hirec:page-then-chunk", "hirec cannot be combined with page-then-chunk"),
    ],
)
def test_what_may_not_stand_over_what_is_told_with_what_may(written: str, said: str) -> None:
    with pytest.raises(StrategyError, match=said):
        parse_strategy(written)
