"""Numbers of a reply, held against what was said by tools: roundings pass, others do not."""

from __future__ import annotations

import pytest

from fin_agent.graphs.chat.number_grounding import NO_SOURCE, mark_unverified, unsourced_numbers

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
    assert unsourced_numbers(said, TOLD) == ()


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
    assert unsourced_numbers(said, TOLD) == lacking


PAGE = """STATEMENTS OF INCOME
(In millions, except per share amounts)
Net income $ 544 $ 474
Net sales 3,533 3,334
Basic 3.28"""


@pytest.mark.parametrize(
    "said",
    [
        "Net income was 545M.", "545B", "545k", "USD545 million", "US$545M", "net_income_545 million",
        "$**545** million", "five hundred forty-five million dollars", "Net income [545] million",
        "See page 9, 545 million", "on page 9 - 545 million", "Sales outstanding: 47 days", "1,234 days",
        "-$544 million", "a loss of ($544) million", "Margin was 544%", "It grew 9%", "$1 billion", "$0 billion",
        "5.45e2 million", "approx.545 million", "2031E",
    ],
)  # fmt: skip
def test_what_was_not_told_is_seen_however_it_is_written(said: str) -> None:
    assert unsourced_numbers(said, TOLD)


@pytest.mark.parametrize("said", ["$544 billion", "$544 thousand", "$4 trillion", "$3.5 trillion", "-$544 million"])
def test_a_page_is_in_the_scale_of_its_header(said: str) -> None:
    assert unsourced_numbers(said, [PAGE])


@pytest.mark.parametrize(
    "said",
    [
        "$544 million, or $0.54 billion, of sales of $3.5 billion ($3.28 a share)", "544M; USD544 million", "544",
        "five hundred forty-four million", "over the last 3 years, or 12 months", "See pages 9, 12 and 13. [1]",
        "Net income - 544 million", "a margin of ($544 million)",
    ],
)  # fmt: skip
def test_what_a_page_prints_passes(said: str) -> None:
    assert unsourced_numbers(said, [PAGE]) == ()


def test_a_sign_is_turned_with_a_word_only() -> None:
    assert unsourced_numbers("It fell 7.2%, a change of -7.2%.", ["It was (7.2)%"]) == ()
    assert unsourced_numbers("It rose 7.2%.", ["It was (7.2)%"]) == ("7.2%",)
    assert unsourced_numbers("The change was -$12 million.", ["a decrease of $12 million"]) == ()


def test_a_mark_stands_behind_what_is_written_in_another_way() -> None:
    assert mark_unverified(f"It was $999 million{NO_SOURCE}.", ["$999 million"]) == f"It was $999 million{NO_SOURCE}."
    assert mark_unverified("It was 545M.", unsourced_numbers("It was 545M.", TOLD)) == f"It was 545M{NO_SOURCE}."


def test_a_mark_stands_behind_each_such_figure() -> None:
    said = "It rose 77% to $545 million; 77% is a lot, 177% more."
    assert mark_unverified(said, ["77%", "$545 million"]) == (
        f"It rose 77%{NO_SOURCE} to $545 million{NO_SOURCE}; 77%{NO_SOURCE} is a lot, 177% more."
    )
