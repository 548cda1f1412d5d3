"""What a computed answer would leave out is said; it is never answered with the part that was understood."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Median operating margin of Harborlight FY2022-FY2024", "'Median'"),
        ("What were the average revenue and net income of Harborlight and Tellurond in FY2024?", "average"),
        ("Harborlight's net income before restructuring charges in FY2023", "before"),
        ("If Harborlight's FY2024 revenue grew by 10%, what would it be?", "'If'"),
        ("Harborlight's revenue, trailing twelve months ended September 30, 2024", "trailing"),
        ("zebra technologies revenue 2023", "no company that is indexed"),
        ("General Electric revenue in 2022", "'General Electric' is not in the index"),
        ("Compare Harborlight and Zebra revenue in 2023", "'Zebra' is not in the index"),
        ("combined revenue of harborlight and zebulon in FY2023", "'zebulon'"),
        ("How much more revenue did Harborlight make than zebulon in FY2023?", "'zebulon'"),
        ("Harborlight, zebulon and quillmark: combined revenue in FY2023?", "'zebulon'"),
        ("What is Harborlight's dividend yield for FY2023?", "market price"),
        ("What was Harborlight's EV/EBITDA in FY2023?", "market price"),
        ("What was Harborlight's free cash flow yield in FY2023?", "market price"),
        ("What share of the combined FY2023 revenue of Harborlight and Quillmark was Harborlight's?", "'What share'"),
        ("What share of the average FY2023 revenue of Harborlight and Quillmark was Harborlight's?", "'What share'"),
        ("Is Harborlight's FY2023 revenue above the average of Tellurond and Quillmark?", "'average of'"),
        ("Which of Harborlight and Tellurond had revenue above the average in FY2023?", "'average'"),
        ("What is a third of Harborlight's FY2023 revenue?", "'third'"),
        ("What was 10% of Harborlight's revenue in FY2023?", "'10%'"),
        ("What was Harborlight's FY2023 revenue in euros?", "'euros'"),
        ("What was Harborlight's revenue for FY2023? Answer in millions of yen.", "'yen'"),
        ("How much did Harborlight spend on R&D in FY2023 per month?", "'month'"),
        ("What was Harborlight's revenue in FY2023 per zeppelin?", "'zeppelin'"),
        ("What was Harborlight's average quarterly revenue in FY2023?", "Q1 FY2023 of Harborlight"),
        ("What was Harborlight's target revenue for FY2023?", "'target'"),
        ("What was Harborlight's planned capex in FY2023?", "'planned'"),
        ("What was Harborlight's budget for capital expenditures in FY2023?", "'budget'"),
        ("By what factor did Harborlight's inventories shrink from FY2022 to FY2024?", "'shrink'"),
        ("Suppose ROX = net income / goodwill. What was Harborlight's current ratio in FY2023?", "asks for another"),
        ("Let EBITDA = operating income + mirth. What was Harborlight's EBITDA margin in FY2023?", "'mirth'"),
    ],
)
def test_it_is_refused_and_says_what_is_left_out(ask: Ask, question: str, names: str) -> None:
    answer = ask(question)
    assert answer.refused, answer.answer.text
    assert names in " ".join(answer.missing)


@pytest.mark.parametrize(
    ("question", "value", "unit"),
    [
        ("What is the difference between Harborlight's FY2024 and FY2022 revenue?", 429, "USD millions"),
        ("Net margin of Harborlight minus net margin of Tellurond in FY2024", -7.697766001, "percentage points"),
        ("Three-year total dividends paid by Quillmark (FY2022-FY2024)", 353864, "USD thousands"),
        ("By how much did Tellurond's R&D grow in FY2023, in dollars?", 107, "USD millions"),
        ("Net debt of Harborlight at FY2024 (total debt less cash and cash equivalents)", -83, "USD millions"),
        (
            "Fixed asset turnover for Harborlight FY2024: revenue / (average PP&E between FY2023 and FY2024)",
            4.119321292,
            "ratio",
        ),
        ("what was harborlight and quillmark net income difference in 2023?", 203.079, "USD millions"),
    ],
)
def test_differences_totals_and_formulas_behind_the_question(ask: Ask, question: str, value: float, unit: str) -> None:
    answer = ask(question)
    assert not answer.refused, answer.answer.text
    assert answer.answer.value == pytest.approx(value)
    assert answer.answer.unit == unit


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        (
            "Tally up Harborlight's revenue for FY2022, FY2023 and FY2024.",
            "Total revenue of Harborlight, FY2022 to FY2024",
        ),
        (
            "How much did Harborlight's revenue go up from FY2022 to FY2024?",
            "Change in Harborlight's revenue, FY2022 to FY2024",
        ),
        (
            "What percent did Harborlight's revenue go up from FY2022 to FY2024?",
            "Harborlight's revenue growth, FY2022 to FY2024",
        ),
        (
            "Harborlight's revenue, annualized growth rate from FY2022 to FY2024?",
            "Harborlight's revenue CAGR, FY2022 to FY2024",
        ),
        (
            "Average annual growth rate of Harborlight's revenue, FY2022 to FY2024",
            "Harborlight's revenue CAGR, FY2022 to FY2024",
        ),
        (
            "How many times Harborlight's FY2024 revenue is Tellurond's?",
            "Tellurond's FY2024 revenue divided by Harborlight's?",
        ),
        (
            "How far ahead of Tellurond was Harborlight in FY2024 revenue?",
            "Harborlight's minus Tellurond's FY2024 revenue",
        ),
        ("whats TUND minus harborlight revenue fy24", "Tellurond's revenue minus Harborlight's revenue in FY2024"),
        ("Total capex of Harborlight and Tellurond in FY2024", "Combined capex of Harborlight and Tellurond in FY2024"),
        (
            "Harborlight's EBITDA margin (EBITDA = operating income + depreciation and amortization) in FY2024?",
            "What was Harborlight's EBITDA margin in FY2024?",
        ),
    ],
)
def test_other_words_for_the_same_are_computed_alike(ask: Ask, asked: str, same: str) -> None:
    first, second = ask(asked), ask(same)
    assert not first.refused, first.answer.text
    assert first.answer.value is not None
    assert (first.answer.value, first.answer.unit) == (second.answer.value, second.answer.unit)


def test_a_factor_over_years_is_computed(ask: Ask) -> None:
    answer = ask("By what factor did Harborlight's revenue multiply from FY2022 to FY2024?")
    growth = ask("What was Harborlight's revenue growth from FY2022 to FY2024, in percent?")
    assert answer.answer.value is not None
    assert growth.answer.value is not None
    assert answer.answer.unit == "ratio"
    assert answer.answer.value == pytest.approx(1 + growth.answer.value / 100)


def test_who_made_more_money_is_told_by_net_income(ask: Ask) -> None:
    answer = ask("Which one made more money in FY2024: Harborlight, Tellurond or Quillmark?")
    assert not answer.refused, answer.answer.text
    assert (
        answer.answer.text
        == ask("Which had the higher net income in FY2024: Harborlight, Tellurond or Quillmark?").answer.text
    )


def test_ten_filings_are_listed_where_there_are_as_many_but_only_the_companys_are_searched(ask: Ask) -> None:
    answer = ask("What was Harborlight's net income in FY2023?")
    assert len(answer.retrieved.documents) == 10
    assert {page.doc_id.split("_")[0] for page in answer.retrieved.pages} == {"harborlight"}


def test_an_optional_figure_that_is_not_reported_is_said_to_count_as_zero(ask: Ask) -> None:
    answer = ask("What is Quillmark's quick ratio for FY2023?")
    assert not answer.refused
    zero = [note for note in answer.assumptions if "counts as zero" in note]
    assert ("+ 0" in (answer.program or "")) == bool(zero)


@pytest.mark.parametrize(
    "question",
    [
        "Did any of Harborlight's customers account for more than 10% of sales in 2024?",
        "Did any single customer account for more than 10% of Tellurond's revenue in fiscal 2024?",
        "Did any region account for more than 30% of Harborlight's sales in 2024?",
    ],
)
def test_segments_are_no_customers_and_no_regions(ask: Ask, question: str) -> None:
    assert "Electronic Test" not in ask(question).answer.text and "Data Center" not in ask(question).answer.text
