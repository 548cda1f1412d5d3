"""Requests in other words have the same figure; what is told once is not asked for again; no comparison is dropped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]
SENSING = "What were Environmental Sensing net sales of Harborlight in 2023?"
NINE_MONTHS = "What were Harborlight's net sales for the first nine months of fiscal 2024?"


@pytest.mark.parametrize(
    ("worded", "plain"),
    [
        (
            "Harborlight 2024: gross profit less operating income, divided by revenue",
            "(gross profit - operating income) / revenue of Harborlight in 2024",
        ),
        (
            "Harborlight FY2024: net income plus depreciation and amortization, over total assets less goodwill",
            "(net income + depreciation and amortization) / (total assets - goodwill) of Harborlight in FY2024",
        ),
        (
            "Did Harborlight hand more cash to shareholders through dividends or through share repurchases in 2024?",
            "Did Harborlight spend more on dividends or on buybacks in 2024?",
        ),
        (
            "Which region had the highest Harborlight revenue in 2024 outside the United States?",
            "Which region had the highest Harborlight revenue in 2024, excluding the United States?",
        ),
        ("How much did Harborlight's inventory build in 2024?", "How much did Harborlight's inventory rise in 2024?"),
        ("What is 2022 total assets / 7 for Harborlight in FY2024?", "Harborlight's total assets / 7 in 2022"),
        # what shows a figure
        ("I need the 2023 net sales figure for Harborlight's Environmental Sensing line.", SENSING),
        ("I want Environmental Sensing in Harborlight's net sales by segment table, 2023.", SENSING),
        ("What's the R&D line in Harborlight's 2023 income statement?", "Harborlight's R&D in 2023"),
        # what a part brings in
        ("How much did Harborlight bring in from Environmental Sensing in 2023?", SENSING),
        ("What net sales did Harborlight attribute to Environmental Sensing in 2023?", SENSING),
        (
            "How much did Environmental Sensing earn at the operating level for Harborlight in 2023?",
            "Harborlight's Environmental Sensing operating income in 2023",
        ),
        ("What was Harborlight's overall gross profit rate in 2023?", "Harborlight's gross margin in 2023"),
        (
            "What did Harborlight pull in from calibration in 2023?",
            "What was Calibration Services revenue of Harborlight in 2023?",
        ),
        (
            "Of all Tellurond revenue in FY2024, what share was Data Center?",
            "What share of Tellurond's FY2024 revenue was Data Center?",
        ),
        (
            "Which Tellurond segment had the worst revenue decline in 2023?",
            "Which Tellurond segment had the largest revenue decline in 2023?",
        ),
        # spans of three quarters and of one
        ("Harborlight's nine-month net sales, Q3 2024?", NINE_MONTHS),
        ("Harborlight's net sales over the three quarters up to September 30, 2024?", NINE_MONTHS),
        ("What were Harborlight's year-to-date net sales through the September 2024 quarter?", NINE_MONTHS),
        ("Harborlight: net sales, Q3 2024 (three months)?", "Harborlight's net sales in Q3 2024"),
        # where a measure stands is no place
        ("Where did Harborlight's inventories stand when fiscal 2024 closed?", "Harborlight's inventories in 2024"),
        ("Where did goodwill stand at Harborlight at the end of 2023?", "Harborlight's goodwill in 2023"),
        ("Where does Tellurond's revenue stand in FY2024?", "Tellurond's revenue in FY2024"),
    ],
)
def test_other_words_have_the_same_figure(ask: Ask, worded: str, plain: str) -> None:
    one, other = ask(worded).answer, ask(plain).answer
    assert other.value is not None
    assert (one.value, one.unit) == (other.value, other.unit)


@pytest.mark.parametrize("part", ["Europe", "Asia Pacific", "the United States"])
def test_what_is_outside_of_a_part_is_the_rest(ask: Ask, part: str) -> None:
    inside = ask(f"What share of Harborlight's 2024 revenue came from {part}?").answer.value
    outside = ask(f"What share of Harborlight's 2024 revenue came from outside {part}?").answer.value
    assert inside is not None and outside is not None
    assert inside + outside == pytest.approx(100)


def test_a_ranking_tells_how_far_the_next_is(ask: Ask) -> None:
    answer = ask("Which Harborlight segment had the second highest revenue in 2024, and how far behind the first?")
    assert answer.answer.value == 806  # how far behind is what is asked for in figures
    assert "$1,128 million" in answer.answer.text
    assert "$806 million apart from Electronic Test" in answer.answer.text
    assert "Not found" not in answer.answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How fast did Harborlight's revenue grow in 2024, and what was it in dollars?",
        "Did Harborlight's revenue rise in 2024? Show the numbers.",
        "Which region had the highest Harborlight revenue in 2024, and by how much?",
    ],
)
def test_what_is_told_is_no_further_request(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert not answer.refused
    assert "Not found" not in answer.answer.text


def test_movements_that_differ_have_no_common_verdict(ask: Ask) -> None:
    told = ask("Did Harborlight's revenue rise in 2024 even though its inventory fell?").answer.text
    assert told.startswith("Revenue of Harborlight")


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Did Harborlight's Electronic Test revenue grow faster than Environmental Sensing in 2024?", "faster"),
        ("Did Quillmark make more revenue than the Online segment in 2024?", "more"),
    ],
)
def test_a_comparison_that_makes_no_request_is_refused(ask: Ask, question: str, named: str) -> None:
    answer = ask(question)
    assert answer.refused
    assert named in answer.missing[0]


@pytest.mark.parametrize(
    "question",
    [
        "How many Environmental Sensing did Harborlight sell in 2023?",
        "How much may Quillmark still spend on share repurchases?",
        "How many shares can Harborlight still buy back at the end of 2024?",
        "What was Harborlight's six-month revenue in fiscal 2023?",
        "What was Harborlight's net sales rate in 2023?",
    ],
)
def test_a_figure_of_another_kind_is_not_told(ask: Ask, question: str) -> None:
    assert ask(question).refused
