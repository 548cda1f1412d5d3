"""Figures of segments and regions, their shares, and several of them side by side: asked of the sample filings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


@pytest.mark.parametrize(
    ("question", "percent"),
    [
        ("What percentage of Tellurond's FY2024 revenue came from Data Center?", 100 * 3642 / 7464),
        (
            "What share of Tellurond's total revenue was Data Center revenue in fiscal 2024, in percent?",
            100 * 3642 / 7464,
        ),
        ("What was Data Center's share of Tellurond's revenue in FY2024?", 100 * 3642 / 7464),
        ("As a percentage of total revenue, how much was Tellurond's Automotive revenue in FY2024?", 100 * 2077 / 7464),
        ("How much of Tellurond's FY2024 revenue did Automotive account for?", 100 * 2077 / 7464),
        ("Tellurond: Taiwan revenue as a percent of total revenue, FY2024?", 100 * 1493 / 7464),
        ("What percentage of total revenue was Tellurond's Data Center operating income in FY2024?", 100 * 1225 / 7464),
    ],
)
def test_a_share_is_of_the_whole_company(question: str, percent: float, ask: Ask) -> None:
    answer = ask(question)
    assert answer.answer.value == pytest.approx(percent)
    assert answer.answer.unit == "percent"


def test_a_share_says_what_it_is_a_share_of(ask: Ask) -> None:
    text = ask("What percentage of Tellurond's FY2024 revenue came from Data Center?").answer.text
    assert text.startswith("Data Center share of revenue of Tellurond") and text.endswith(
        "for FY2024: 3,642 / 7,464 = 48.8%."
    )


def test_the_margin_of_a_part_is_over_its_own_revenue(ask: Ask) -> None:
    assert ask("What was Tellurond's Data Center operating margin in FY2024?").answer.value == pytest.approx(
        100 * 1225 / 3642
    )
    of_itself = ask(
        "What was Tellurond's Data Center operating income as a percentage of Data Center revenue in FY2024?"
    )
    assert of_itself.answer.value == pytest.approx(100 * 1225 / 3642)
    behind = ask("FY2024 operating income as a percentage of revenue at Tellurond's Data Center segment")
    assert behind.answer.value == pytest.approx(100 * 1225 / 3642)


def test_a_part_that_is_the_only_name_is_the_part_of_its_company(ask: Ask) -> None:
    answer = ask("What was Data Center's operating income in FY2024?")
    assert answer.answer.value == 1225 and "Data Center is a part of Tellurond" in " ".join(answer.assumptions)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What was the difference between Tellurond's Data Center and Automotive revenue in FY2024?", 3642 - 2077),
        ("How much higher was Tellurond's Data Center revenue than its Automotive revenue in FY2024?", 3642 - 2077),
        ("What was the combined revenue of Tellurond's Data Center and Automotive segments in FY2024?", 3642 + 2077),
        ("Did Tellurond's Data Center or Automotive have higher operating income in FY2024?", 1225),
        ("Which segment of Tellurond had the lower operating income in FY2024, Automotive or Data Center?", 706),
        ("Did Tellurond's Data Center or Automotive revenue grow faster in FY2024?", 100 * (3642 / 2871 - 1)),
        ("Of Data Center and Automotive, which Tellurond segment earned the least operating income in FY2024?", 706),
        ("Despite Taiwan's share, did Data Center or Automotive at Tellurond have higher revenue in FY2024?", 3642),
    ],
)
def test_parts_are_compared_with_each_other(question: str, value: float, ask: Ask) -> None:
    assert ask(question).answer.value == pytest.approx(value)


def test_parts_named_together_are_listed(ask: Ask) -> None:
    text = ask("What were Tellurond's Data Center and Automotive segment revenues in FY2024?").answer.text
    assert "Data Center: " in text and "$3,642 million" in text and "$2,077 million" in text


@pytest.mark.parametrize(
    "question",
    [
        "What was Tellurond's Automotive revenue in Taiwan in FY2024?",
        "What was Tellurond's Data Center revenue from China in FY2024?",
    ],
)
def test_a_part_of_a_part_is_not_answered_with_either(question: str, ask: Ask) -> None:
    answer = ask(question)
    assert answer.refused and "which was not understood; ask for one thing at a time" in answer.answer.text


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of Tellurond's Data Center revenue came from new customers in FY2024?",
        "What percentage of Tellurond's revenue growth came from Data Center in FY2024?",
    ],
)
def test_a_share_of_something_else_is_no_share_of_the_whole(question: str, ask: Ask) -> None:
    assert ask(question).answer.value is None


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What was the total Data Center revenue of Tellurond over FY2022 to FY2024?", 3318 + 2871 + 3642),
        ("What was the average Data Center revenue of Tellurond from FY2022 to FY2024?", (3318 + 2871 + 3642) / 3),
        (
            "By how many percentage points did Data Center's share of Tellurond's revenue change in FY2024?",
            100 * (3642 / 7464 - 2871 / 6463),
        ),
    ],
)
def test_over_time_a_part_is_its_own_figures(question: str, value: float, ask: Ask) -> None:
    assert ask(question).answer.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("question", "figures", "others"),
    [
        ("What were Tellurond's top two segments by revenue in fiscal 2024?", [3642, 2077], [1745]),
        ("Tellurond revenue by segment in fiscal 2024", [3642, 2077, 1745], [7464]),
        ("What was Tellurond's revenue excluding Data Center in fiscal 2024?", [3822], [3642]),
        ("Which segments of Tellurond had revenue above $2 billion in fiscal 2024?", [3642, 2077], [1745]),
        ("Which segments of Tellurond had revenue below $2 billion in fiscal 2024?", [1745], [3642, 2077]),
    ],
)
def test_parts_are_selected_by_rank_bound_and_exclusion(
    question: str, figures: list[int], others: list[int], ask: Ask
) -> None:
    selected = ask(question).answer.text.partition("(")[0]
    assert all(f"${each:,} million" in selected for each in figures), selected
    assert not any(f"${each:,} million" in selected for each in others), selected


def test_respectively_pairs_the_periods_of_one_company(ask: Ask) -> None:
    told = ask("What was Harborlight's revenue in 2022 and 2023, respectively?").answer.text
    assert told.index("FY2022: $3,334 million") < told.index("FY2023: $3,533 million")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (
            "What percentage of Tellurond's full-year fiscal 2024 revenue came in the second quarter of fiscal 2024?",
            24.1,
        ),
        ("What was the change in Tellurond's revenue from Taiwan from 2023 to 2024?", 200),
        ("What was the ratio (in percent) of Harborlight's inventories to total assets in 2024?", 9.0),
        ("What was the proportion of Harborlight's inventories as a percentage of total assets in 2024?", 9.0),
    ],
)
def test_shares_and_sources_in_longer_wordings(question: str, value: float, ask: Ask) -> None:
    answer = ask(question).answer
    assert answer.value == pytest.approx(value, abs=0.05), answer.text


def test_a_figure_over_itself_is_no_answer(ask: Ask) -> None:
    answer = ask("What was Harborlight's revenue as a percentage of revenue in 2023?")
    assert answer.refused and "a figure over itself" in answer.missing[0]
