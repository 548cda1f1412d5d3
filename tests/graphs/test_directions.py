"""Sentences and requests beside the first: what to leave out, what to use, what goes on from it. None is ignored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]
RANKING = "Which segment of Tellurond had the highest revenue in FY2024"


@pytest.mark.parametrize("verb", ["Leave out", "Ignore", "Don't count", "Do not include", "Exclude"])
def test_a_member_is_left_out_wherever_the_question_says_so(ask: Ask, verb: str) -> None:
    whole = ask(f"{RANKING}?")
    assert "Data Center" in whole.answer.text.split(" has ")[0]
    for question in (
        f"{RANKING}? {verb} Data Center.",
        f"{RANKING}, {verb[0].lower()}{verb[1:]} Data Center?",
        f"{RANKING.replace('Tellurond', f'Tellurond ({verb.lower()} Data Center)')}?",
    ):
        answer = ask(question)
        assert "Automotive" in answer.answer.text.split(" has ")[0], question
        assert "Data Center" not in answer.answer.text, question


@pytest.mark.parametrize(
    "question",
    [
        "What was Harborlight's current ratio in FY2023? Ignore inventories.",
        "What was Harborlight's current ratio in FY2023? Don't count inventories.",
        "What was Harborlight's revenue in FY2023? Do not count Life Sciences.",
        "What was Harborlight's gross margin in FY2023? Leave out one-off items.",
        "What was Harborlight's total debt in FY2023? Exclude leases.",
        "What was Harborlight's return on equity in FY2023? Use ending balances.",
        "What was Harborlight's gross margin in FY2023? Calibration Services shouldn't be in it.",
        "What was Harborlight's current ratio in FY2023? (Without inventories, please.)",
        "What was Harborlight's EPS in FY2023? Use the adjusted figure.",
    ],
)
def test_a_figure_is_refused_where_what_to_leave_out_is_not_understood(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer.refused, answer.answer.text


@pytest.mark.parametrize(
    "aside", ["I need it for a memo.", "Thanks!", "Round to one decimal.", "Please answer in millions."]
)
def test_a_sentence_about_the_asker_or_the_form_changes_nothing(ask: Ask, aside: str) -> None:
    asked = "What was Harborlight's revenue in FY2023?"
    assert ask(f"{asked} {aside}").answer.value == ask(asked).answer.value


def test_balances_are_those_that_a_sentence_says_to_use(ask: Ask) -> None:
    averaged = ask("What was Harborlight's asset turnover in FY2023? Use average total assets.").answer
    closing = ask("What was Harborlight's asset turnover in FY2023? Use year-end total assets.").answer
    plain = ask("What was Harborlight's asset turnover in FY2023? Use the balance sheet.").answer
    revenue = ask("What was Harborlight's revenue in FY2023?").answer
    assets = ask("What were Harborlight's total assets at the end of FY2023?").answer
    assert closing.unit == "ratio"
    assert closing.value == pytest.approx((revenue.value or 0) / (assets.value or 1))
    assert averaged.value == plain.value != closing.value


@pytest.mark.parametrize(
    ("question", "members"),
    [
        ("Which segments of Tellurond had lower revenue in FY2023 than in FY2022?", {"Data Center", "Industrial"}),
        ("Which Tellurond segments made less revenue in FY2023 than in FY2022?", {"Data Center", "Industrial"}),
        ("Which segments of Tellurond had higher revenue in FY2023 than a year earlier?", {"Automotive"}),
        ("Which segments of Tellurond had lower revenue in FY2023 versus FY2022?", {"Data Center", "Industrial"}),
        ("Which Tellurond segments, Data Center excluded, had lower revenue in 2023 than in 2022?", {"Industrial"}),
    ],
)
def test_members_are_compared_with_another_period_of_their_own(ask: Ask, question: str, members: set[str]) -> None:
    moved = ask(question).answer.text.partition(" (Growth of revenue")[0]
    assert {name for name in ("Automotive", "Data Center", "Industrial") if name in moved} == members


def test_a_row_that_ends_with_a_year_is_no_line_of_its_preposition(ask: Ask) -> None:
    assert " in:" not in ask(f"{RANKING}?").answer.text


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        (
            "Did operating cash flow cover capex at Harborlight in FY2023?",
            "What was the surplus or shortfall?",
            "= $674 million",
        ),
        ("What was Harborlight's net income in FY2023,", "and what margin does that imply?", "= 15.4%"),
        (
            f"{RANKING},",
            "and which came second?",
            "Automotive of Tellurond Semiconductor Corporation has the second highest",
        ),
        (
            f"{RANKING},",
            "and which was the runner-up?",
            "Automotive of Tellurond Semiconductor Corporation has the second highest",
        ),
        (
            "Harborlight's income tax expense in FY2023,",
            "and what effective tax rate does that imply?",
            "effective tax rate: 18.8%",
        ),
    ],
)
def test_a_second_request_goes_on_from_what_the_first_one_compared(ask: Ask, first: str, then: str, told: str) -> None:
    assert told in ask(f"{first} {then}").answer.text


def test_a_difference_that_the_answer_gives_is_not_asked_for_again(ask: Ask) -> None:
    asked = "Who had more revenue in FY2023, Harborlight or Tellurond"
    assert ask(f"{asked}, and by how much?").answer.text == ask(f"{asked}?").answer.text
    changed = ask("What was the change in Harborlight's revenue in FY2023, and by what percentage?").answer.text
    assert "up $199 million" in changed or "up 6.0%" in changed


def test_a_member_that_lost_most_against_another_period_is_ranked_by_its_movement(ask: Ask) -> None:
    answer = ask("Which segment of Tellurond lost the most revenue in FY2023 compared with FY2022?")
    assert answer.answer.text.startswith("Data Center")  # by amount, though a smaller segment fell by a higher rate
    assert "decline" in answer.answer.text
