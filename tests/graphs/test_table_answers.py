"""Questions in words that a table answers: what ranks first, what a cover lists."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


@pytest.mark.parametrize(
    ("question", "first", "figure"),
    [
        ("What was Harborlight's largest liability in fiscal 2023?", "Long-term debt", "$1,100 million"),
        ("What was Quillmark's largest current liability in fiscal 2024?", "Accounts payable", "$492,829 thousand"),
        (
            "What was Quillmark's largest asset in 2023?",
            "Property, plant and equipment, net",
            "$1,354,800 thousand",
        ),
        (
            "What was Tellurond's largest operating expense in fiscal 2024?",
            "Research and development",
            "$1,306 million",
        ),
    ],
)
def test_the_row_that_ranks_first_is_told_with_its_figure_and_cell(
    ask: Ask, question: str, first: str, figure: str
) -> None:
    answer = ask(question)
    amount = figure.removeprefix("$").partition(" ")[0]
    assert answer.answer.text.startswith(f"{first} of ") and f": {figure} (" in answer.answer.text
    assert answer.answer.value == float(amount.replace(",", ""))
    cited = next(one for one in answer.citations if one.text.startswith(first))
    assert cited.text.rsplit(" ", 1)[-1] == amount and cited.box is not None


def test_the_segment_that_ranks_first_is_told_with_its_figure_beside_the_others(ask: Ask) -> None:
    answer = ask("Which segment of Harborlight had the highest revenue in 2023?")
    assert answer.answer.text == (
        "Electronic Test of Harborlight Instruments, Inc. has the highest revenue: $1,803 million"
        " (Environmental Sensing: $1,097 million; Calibration Services: $633 million;"
        " $706 million apart from Environmental Sensing)."
    )
    assert (answer.answer.value, answer.answer.unit) == (1803.0, "USD millions")
    cited = {citation.text.rsplit(" ", 1)[-1]: citation for citation in answer.citations}
    assert cited.keys() == {"1,803", "1,097", "633"}
    assert all(one.doc_id == "harborlight_2023_10k" and one.box is not None for one in cited.values())
    assert cited["1,803"].text.startswith("Electronic Test")


def test_as_many_rows_are_told_as_are_asked_for(ask: Ask) -> None:
    told = ask("What were Tellurond's top two operating expenses in fiscal 2024?").answer.text
    assert told.endswith(
        ": 1. Research and development: $1,306 million; 2. Selling, general and administrative: $814 million."
    )


@pytest.mark.parametrize("noun", ["asset", "liability"])
def test_the_rows_of_a_balance_sheet_are_ranked_across_its_headings(ask: Ask, noun: str) -> None:
    told = ask(f"What was Harborlight's largest {noun} in fiscal 2024?").answer.text
    others = [one.partition(":")[0] for one in told.partition("(")[2].split("; ")]
    assert f"has the highest {noun}" in told and len(others) > 3
    assert not any("total" in one.lower() for one in others)


def test_a_rank_among_what_no_table_shows_is_refused(ask: Ask) -> None:
    answer = ask("Which brand of Harborlight had the highest revenue in 2023?")
    assert answer.refused and "a table that divides revenue by brand" in answer.answer.text


def test_the_securities_of_a_cover_are_listed(ask: Ask) -> None:
    told = ask("Which securities of Harborlight are registered on an exchange as of 2023?").answer.text
    assert told == "Common stock, $0.01 par value per share (HLGT), New York Stock Exchange."
    debt = ask("Which debt securities of Harborlight are registered on an exchange as of 2023?").answer.text
    assert debt.startswith("None: the cover page lists only Common stock, $0.01 par value per share (HLGT)")


def test_the_largest_of_something_is_not_its_total(ask: Ask) -> None:
    """`Largest operating expense` once gave the total of all of them."""
    answer = ask("What was Harborlight's largest operating expense in 2023?")
    assert answer.answer.text.startswith("Selling, general and administrative of Harborlight")
    assert "Total operating expenses" not in answer.answer.text
