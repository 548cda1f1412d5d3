"""Numbers of a reply, held against what was said by tools: roundings pass, others do not."""

from __future__ import annotations

import pytest

from fin_agent.graphs.chat.figures_said import NO_SOURCE, marked, without_source

TOLD = [
    "Value: 544.0 (USD millions). Net income FY2023, harborlight_2023_10k page 9",
    "net sales | FY2022 | 3,334 USD million | ratio 0.15397679 | (7.2)%",
    "What was it in 2021?",
]


@pytest.mark.parametrize(
    "said",
    [
        "Net income was $544 million in FY2023 (harborlight_2023_10k, page 9).",
        "It was $0.54 billion.",
        "It was $544,000 thousand.",
        "It was $544,000,000.",
        "That is 15.4%, or 15.40 percent.",
        "It fell by 7.2% in 2022.",
        "Net sales were $3.33 billion.",
        "1. The 10-K says 544.\n2. So does Q3. [1]",
        "I cannot say.",
    ],
)
def test_what_was_told_passes_in_other_scales_and_rounded(said: str) -> None:
    assert without_source(said, TOLD) == ()


@pytest.mark.parametrize(
    ("said", "lacking"),
    [
        ("It was $545 million.", ("$545 million",)),
        ("It was $544 billion.", ("$544 billion",)),
        ("It was $544 thousand.", ("$544 thousand",)),
        ("It rose 16%, then 15.5%.", ("16%", "15.5%")),
        ("It was 544 in FY2019.", ("2019",)),
        ("It was 3,335 and 3,335 again.", ("3,335",)),
        ("It was -12.5 or 99x.", ("-12.5", "99")),
    ],
)
def test_what_was_not_told_is_named(said: str, lacking: tuple[str, ...]) -> None:
    assert without_source(said, TOLD) == lacking


def test_a_mark_stands_behind_each_such_figure() -> None:
    said = "It rose 77% to $545 million; 77% is a lot, 177% more."
    assert marked(said, ["77%", "$545 million"]) == (
        f"It rose 77%{NO_SOURCE} to $545 million{NO_SOURCE}; 77%{NO_SOURCE} is a lot, 177% more."
    )
