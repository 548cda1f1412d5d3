"""What the filings cannot answer is refused, with what is missing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


def refused(answer: Answer) -> str:
    """The refusal's text, after all that goes with a refusal was checked."""
    assert answer.refused, answer.answer.text
    assert (answer.answer.value, answer.answer.unit) == (None, None)
    assert answer.citations == ()
    assert answer.program is None
    assert answer.missing
    for what in answer.missing:
        assert what in answer.answer.text
    return answer.answer.text


@pytest.mark.parametrize("name", ["Apple", "Microsoft", "Zebracorp", "Nordwind Holdings"])
def test_a_company_that_is_not_indexed(ask: Ask, name: str) -> None:
    answer = ask(f"What was {name}'s revenue in FY2023?")
    text = refused(answer)
    assert name in text
    assert "Harborlight Instruments, Inc." in text
    assert answer.rounds == 0


def test_filings_that_are_asked_tell_of_no_others(ask: Ask) -> None:
    text = refused(ask("What was Apple's revenue in FY2023?", doc_ids=["quillmark_2023_10k", "quillmark_2024_10k"]))
    assert "'Apple' is not in the filings asked, which are of Quillmark Stores, Inc." in text
    assert "Harborlight" not in text and "Inc.." not in text
    two = ["quillmark_2023_10k", "harborlight_2023_10k"]
    text = refused(ask("What was the revenue in FY2023?", doc_ids=two))
    assert "the filings asked are of" in text and "Tellurond" not in text


def test_one_of_two_companies_is_not_indexed(ask: Ask) -> None:
    assert "Microsoft" in refused(ask("Which company had higher revenue in 2023, Harborlight or Microsoft?"))
    assert "Microsoft" in refused(ask("What is the difference in revenue between Microsoft and Harborlight in FY2023?"))


@pytest.mark.parametrize(
    "period", ["1987", "FY1965", "FY2015", "FY2027", "Q1 2024", "the quarter ended March 31, 2021"]
)
def test_a_period_that_was_not_filed(ask: Ask, period: str) -> None:
    text = refused(ask(f"What was Harborlight's revenue in {period}?"))
    assert "Harborlight Instruments, Inc. is not in the index, which has FY2022, FY2023, FY2024; Q3 FY2024" in text


def test_a_balance_before_the_first_balance_sheet(ask: Ask) -> None:
    assert "inventories of Quillmark Stores, Inc. for FY2020" in refused(
        ask("What was Quillmark's inventory in FY2020?")
    )


@pytest.mark.parametrize("metric", ["research and development", "deposits", "organic growth"])
def test_a_metric_that_is_not_reported(ask: Ask, metric: str) -> None:
    answer = ask(f"What was Quillmark's {metric} in fiscal 2024?")
    assert f"{metric.split()[0]}" in refused(answer)
    assert answer.rounds == 3


def test_a_ratio_with_a_figure_that_is_not_reported_names_that_figure(ask: Ask) -> None:
    text = refused(ask("What was Quillmark's R&D as a % of revenue in FY2023?"))
    assert "research and development of Quillmark Stores, Inc. for FY2023" in text
    assert "revenue of" not in text


def test_no_company(ask: Ask) -> None:
    assert "names no company" in refused(ask("What was the revenue in FY2023?"))


@pytest.mark.parametrize(
    "question",
    [
        "What was Harborlight's iPhone revenue in 2023?",
        "What was the annualized subscriber churn of Harborlight?",
        "What is the meaning of life?",
    ],
)
def test_what_no_filing_speaks_of(ask: Ask, question: str) -> None:
    refused(ask(question))


def test_filings_that_are_left_out_cannot_answer(ask: Ask) -> None:
    answer = ask("What was Harborlight's revenue in FY2024?", ["harborlight_2022_10k", "tellurond_2024_10k"])
    refused(answer)
    assert set(answer.retrieved.documents) <= {"harborlight_2022_10k", "tellurond_2024_10k"}


def test_a_sentence_that_says_how_to_compute_is_not_passed_over(ask: Ask) -> None:
    asked = "What was Harborlight's debt to equity in FY2023?"
    answer = ask(f"{asked} Count net income plus total assets over net sales.")
    assert answer.refused and "net income + total assets / net sales" in answer.missing[0]
    computed = ask(f"{asked} Use (net income plus total assets) over net sales, ignore goodwill.")
    assert computed.answer.text.startswith("(net income + total assets) / net sales of Harborlight")
    assert ask(f"{asked} Use (net income plus total assets) over net sales, ignore total assets.").refused
