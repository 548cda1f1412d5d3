"""One company's periods set against each other, and questions that want yes or no with the figure."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


@pytest.mark.parametrize(
    ("question", "value", "beginning"),
    [
        ("Which year had the highest revenue for Harborlight between 2022 and 2024?", 3763,
         "FY2024: $3,763 million (FY2022: $3,334 million; FY2023: $3,533 million)."),
        ("Lowest annual net income of Harborlight in FY2022 to FY2024", 474, "FY2022: $474 million (FY2023:"),
        ("Was Harborlight's revenue higher in 2022 or in 2024?", 3763, "FY2024: $3,763 million (FY2022:"),
        ("Which year saw Harborlight's highest revenue growth, 2023 or 2024?", 6.5, "FY2024: 6.5% (FY2023: 6.0%)."),
        ("Did Harborlight's revenue increase every year from 2022 to 2024?", 3763, "Yes: revenue of Harborlight"),
        ("Did Harborlight's revenue fall every year from 2022 to 2024?", 3763, "No: revenue of Harborlight"),
        ("In how many of the years 2023 and 2024 did Harborlight's revenue grow?", 2, "In 2 of 2 years:"),
        ("In how many years from FY2022 to FY2024 did Harborlight's revenue exceed $3.5 billion?", 2,
         "In 2 of 3 years:"),
        ("What was the 2-year CAGR of Harborlight's revenue ending FY2024?", 6.2, "Compound annual growth rate of"),
        ("Two-year growth in Harborlight's revenue to FY2024", 12.9,
         "Growth of revenue of Harborlight Instruments, Inc. for FY2022 to FY2024: 12.9%"),
        ("2y CAGR of Harborlight's revenue to FY2024", 6.2, "Compound annual growth rate of"),
        ("Harborlight two-year compound growth in revenue through FY2024", 6.2, "Compound annual growth rate of"),
        ("Two-year change in Harborlight's revenue through FY2024, percent", 12.9, "Growth of revenue"),
        ("How much did Harborlight's revenue change over the last two years to FY2024, in dollars?", 429, "Change in"),
        ("What was the change in Harborlight's revenue over the three years FY2022 to FY2024?", 429, "Change in"),
        ("What was Harborlight's total revenue over the two years ending FY2024?", 7296, "Total revenue"),
        ("What was Harborlight's average inventory in FY2024?", 490, "Average inventory of Harborlight"),
        ("By how much did Harborlight's revenue rise in FY2024, in percent?", 6.5, "Growth of revenue"),
    ],
)  # fmt: skip
def test_periods_are_ranked_counted_and_put_together(ask: Ask, question: str, value: float, beginning: str) -> None:
    answer = ask(question)
    assert answer.answer.text.startswith(beginning), answer.answer.text
    assert answer.answer.value == pytest.approx(value, abs=0.05)


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("Is Harborlight's working capital positive in FY2023?", "Yes: working capital of Harborlight"),
        ("What was the working capital of Harborlight for FY2023?", "Working capital of Harborlight"),
        ("Ratio of the total revenues of Quillmark to those of Harborlight in FY2023", "Ratio of revenues"),
        ("Was Harborlight's current ratio below 1 in FY2023?", "No: current ratio of Harborlight"),
        ("Did Harborlight's revenue exceed $4 billion in FY2024?", "No: revenue of Harborlight"),
        ("Was Harborlight profitable in FY2023?", "Yes: net income of Harborlight"),
        ("Was Harborlight's revenue in FY2022 higher than in FY2024?", "No: revenue of Harborlight"),
        ("Was Harborlight's revenue in FY2024 higher than in FY2022?", "Yes: revenue of Harborlight"),
        ("Did Harborlight's revenue grow by more than 50% in FY2024?", "No: growth of revenue"),
        ("Did Harborlight's revenue grow by more than 5% in FY2024?", "Yes: growth of revenue"),
        ("Did Harborlight's revenue grow over 50% in FY2024?", "No: growth of revenue"),
        ("Did Harborlight have a higher gross margin than Quillmark in FY2023?", "Yes: Harborlight Instruments"),
        ("Was Harborlight's net income less than Quillmark's in FY2023?", "No: Quillmark Stores"),
        ("Did Quillmark's FY2023 revenue exceed Harborlight's, and by how much?", "Yes: difference in revenue"),
        ("By what percentage did Quillmark's FY2023 revenue exceed Harborlight's?", "Revenue of Quillmark Stores"),
        ("Did Harborlight or Quillmark grow revenue faster in FY2023?", "Harborlight Instruments, Inc. has the"),
    ],
)  # fmt: skip
def test_the_answer_says_yes_or_no_and_the_figure(ask: Ask, question: str, beginning: str) -> None:
    answer = ask(question)
    assert answer.answer.text.startswith(beginning), answer.answer.text
    assert answer.answer.value is not None


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What was Harborlight's average revenue in FY2024?", "years to average over"),
        ("What was the difference between Harborlight's highest and lowest revenue from 2022 to 2024?", "highest"),
        ("How much did Harborlight's revenue exceed its cost in FY2023?", "'exceed'"),
        ("What was Harborlight's revenue at the start of FY2023?", "no opening balance"),
        ("What were Harborlight's inventories at the beginning of Q3 FY2024?", "the end of the quarter before"),
    ],
)
def test_what_is_not_settled_is_refused(ask: Ask, question: str, names: str) -> None:
    answer = ask(question)
    assert answer.refused, answer.answer.text
    assert any(names in part for part in answer.missing), answer.missing


@pytest.mark.parametrize(
    "when", ["going into 2023", "heading into FY2023", "entering 2023", "at the start of fiscal 2023"]
)
def test_the_balance_at_the_beginning_of_a_year_is_that_of_the_year_before(ask: Ask, when: str) -> None:
    assert ask(f"What were Harborlight's inventories {when}?").answer.value == 522


@pytest.mark.parametrize("when", ["exiting 2022", "when it exited fiscal 2022", "coming out of FY2022"])
def test_the_balance_with_which_a_year_is_left_is_that_of_its_end(ask: Ask, when: str) -> None:
    assert ask(f"What were Harborlight's inventories {when}?").answer.value == 522


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("How many employees did Harborlight have at the end of 2023?", "FY2023: 11,150."),
        (
            "What was Harborlight's headcount in FY2023 versus FY2022?",
            "(from 11,300 in FY2022 to 11,150 in FY2023, down 1.3%).",
        ),
        ("What was Harborlight's revenue in FY2023 per employee?", "3,533 / 11,150 = $316,860.987."),
        ("Harborlight's revenue per employee, FY2023", "3,533 / 11,150 = $316,860.987."),
        ("How much R&D per employee did Harborlight have in FY2023?", "314 / 11,150 = $28,161.435."),
    ],
)
def test_sentences_that_count_people_fill_lookups_and_formulas(ask: Ask, question: str, end: str) -> None:
    assert ask(question).answer.text.endswith(end)


def test_basis_points_are_given_as_asked(ask: Ask) -> None:
    answer = ask("By how many basis points did Harborlight's gross margin change from FY2023 to FY2024?")
    assert ", 123 basis points" in answer.answer.text


def test_a_rate_that_the_question_defines_moves_by_points_and_an_amount_by_none(ask: Callable[[str], Answer]) -> None:
    own = ask("Harborlight FY24 GM = (sales - cost of sales) / sales, change in bps y/y?")
    assert own.answer.text.endswith(
        ask("Harborlight FY24 gross margin, change in bps y/y?").answer.text.split(": ", 1)[1]
    )
    amount = ask("Harborlight FY24 change in bps y/y of GM = sales less cost of sales?")
    assert amount.refused and "basis points of an amount" in amount.missing[0]


def test_the_largest_rise_is_no_largest_figure(ask: Ask) -> None:
    risen = ask("In which of FY2023 and FY2024 did Harborlight's revenue rise the least?")
    assert risen.answer.text.startswith("FY2023: $199 million (FY2024: $230 million)."), risen.answer.text
    fallen = ask("In which of FY2023 and FY2024 did Harborlight have its biggest drop in revenue?")
    assert fallen.answer.value is None
    assert "None of these is below zero" in fallen.answer.text


def test_years_counted_without_an_end_are_the_latest(ask: Ask) -> None:
    answer = ask("Two-year growth in Harborlight's revenue")
    assert answer.answer.text.startswith(
        "Growth of revenue of Harborlight Instruments, Inc. for FY2022 to FY2024: 12.9%"
    )


def test_years_that_are_not_named_are_those_that_are_printed(ask: Ask) -> None:
    answer = ask("Which year had the highest revenue for Harborlight?")
    assert answer.answer.text.startswith("FY2024: $3,763 million (FY2020: $2,780 million;"), answer.answer.text
    assert any("names no period" in note for note in answer.assumptions)


def test_years_beyond_a_bound_are_selected_and_counted(ask: Ask) -> None:
    above = ask("In which years from 2022 to 2024 did Harborlight have revenue above $3.5 billion?").answer.text
    assert "FY2023" in above and "FY2024" in above and "FY2022: $3,334 million" not in above.partition("(")[0], above
    none = ask("How many years from 2022 to 2024 was Harborlight's net income negative?").answer
    assert none.value == 0, none.text


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("Did Harborlight's revenue growth accelerate in FY2024?", "Yes: yearly growth of revenue of Harborlight"),
        ("Did Harborlight's revenue growth slow in FY2024?", "No: yearly growth of revenue of Harborlight"),
        ("Did Harborlight's revenue grow faster in FY2023 than in FY2024?", "No: yearly growth of revenue"),
        ("Was Harborlight's revenue growth in FY2024 higher than in FY2023?", "Yes: yearly growth of revenue"),
        (
            "By how many points did Harborlight's revenue growth pick up in FY2024?",
            "Change in yearly growth of revenue",
        ),
        ("Did Harborlight's revenue growth exceed 50% in FY2024?", "No: growth of revenue"),
        ("Was Harborlight's revenue growth below 50% in FY2024?", "Yes: growth of revenue"),
    ],
)
def test_growth_that_rises_or_falls_is_reckoned_from_growth_rates(ask: Ask, question: str, beginning: str) -> None:
    answer = ask(question)
    assert answer.answer.text.startswith(beginning), answer.answer.text
    if "yearly" in beginning.lower():
        assert "from 6.0% in FY2023 to 6.5% in FY2024" in answer.answer.text


@pytest.mark.parametrize(
    ("question", "value", "beginning"),
    [
        ("Did Harborlight's cost of revenue grow faster than its revenue in FY2024?", -2.8, "No: growth of cost of"),
        ("Did Harborlight's revenue grow slower than its cost of revenue in FY2024?", 2.8, "No: growth of revenue"),
        ("Harborlight FY2024: revenue growth minus cost of revenue growth, percentage points", 2.8,
         "Growth of revenue"),
        ("How many percentage points faster did Harborlight's revenue grow than its cost of revenue in FY2024?", 2.8,
         "Growth of revenue - growth of cost of revenue of Harborlight"),
        ("Ratio of Harborlight's revenue growth to its cost of revenue growth in FY2024", 1.74,
         "Growth of revenue / growth of"),
        ("By how much did the growth in Harborlight's revenue from 2022 to 2024 exceed that of cost of revenue growth?",
         6.1, "Growth of revenue - growth of"),
        ("What was Harborlight's two-year average revenue growth through FY2024?", 6.2, "Average yearly growth of"),
    ],
)  # fmt: skip
def test_growths_of_two_measures_are_set_against_each_other(
    ask: Ask, question: str, value: float, beginning: str
) -> None:
    answer = ask(question)
    assert answer.answer.text.startswith(beginning), answer.answer.text
    assert answer.answer.value == pytest.approx(value, abs=0.05)


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("Was Harborlight's net income $544 million in FY2023?", "Yes: "),
        ("Is it true that Harborlight's net income was $544 million in FY2023?", "Yes: "),
        ("Was Harborlight's net income $0.54 billion in FY2023?", "Yes: "),
        ("Was Harborlight's net income $540 million in FY2023?", "No: "),
        ("Was Harborlight's net income above $544 million in FY2023?", "No: "),
        ("Was Harborlight's net income at least $544 million in FY2023?", "Yes: "),
        ("Was Harborlight's net income at most $544 million in FY2023?", "Yes: "),
        ("Was Harborlight's net margin 15.4% in FY2023?", "Yes: "),
        ("Was Harborlight's net margin 12% in FY2023?", "No: "),
        ("Did Harborlight's net income grow by 14.8% in FY2023?", "Yes: "),
        ("Did Harborlight's revenue grow 5% in FY2023?", "No: "),
        ("Did Tellurond's revenue fall by 7.2% in FY2023?", "Yes: "),
        ("Did Tellurond's revenue drop by $500 million in FY2023?", "Yes: "),
        ("Did Tellurond's revenue decline by less than 5% in FY2023?", "No: "),
    ],
)
def test_a_number_that_is_claimed_is_held_against_the_figure_as_it_is_written(
    ask: Ask, question: str, verdict: str
) -> None:
    assert ask(question).answer.text.startswith(verdict)


def test_what_a_later_period_is_higher_by_is_growth_and_the_other_way_about_is_refused(ask: Ask) -> None:
    grown = ask("What was the growth of Harborlight's revenue from FY2022 to FY2024?").answer
    assert (
        ask("By what percentage was Harborlight's revenue higher in FY2024 than in FY2022?").answer.text == grown.text
    )
    assert ask("By what percentage was Harborlight's revenue lower in FY2022 than in FY2024?").answer.value is None


def test_a_result_that_is_called_a_loss_is_a_claim(ask: Ask) -> None:
    counted = ask("How many years did Harborlight report a net loss from 2022 to 2024?").answer
    assert counted.value == 0, counted.text
    answer = ask("Did Harborlight report a net loss in 2023?").answer
    assert answer.text.startswith("No"), answer.text


def test_the_second_highest_year_is_not_the_highest(ask: Ask) -> None:
    answer = ask("In which year from 2021 to 2024 was Harborlight's revenue second highest?")
    assert "was second highest in FY2023" in answer.answer.text


def test_two_lines_that_share_a_noun_are_added_up_where_their_total_is_asked_for(ask: Ask) -> None:
    answer = ask("What is the total of Harborlight's current and long-term debt in FY2024?")
    assert "250 + 850 = $1,100 million" in answer.answer.text  # `we had debt of $1,100 million`
