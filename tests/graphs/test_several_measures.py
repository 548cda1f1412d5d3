"""Several measures in one question: each is told with its figures, or the one that stands out."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


def said(answer: Answer) -> str:
    """The answer with the companies' names cut short."""
    return answer.answer.text.replace(" Instruments, Inc.", "").replace(" Stores, Inc.", "")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What were revenue and net income of Harborlight in FY2024?",
         "Revenue of Harborlight for FY2024: $3,763 million; net income: $641 million."),
        ("Harborlight FY2024: net income as well as its revenue, in $ billions with two decimals",
         "Net income of Harborlight for FY2024: $0.64 billion; revenue: $3.76 billion."),
        ("What were Harborlight's R&D, SG&A and net income in FY2024?",
         "R&D of Harborlight for FY2024: $342 million; SG&A: $843 million; net income: $641 million."),
        ("What did Harborlight spend on dividends and on capex in FY2024?",
         "Dividends of Harborlight for FY2024: $183 million; capex: $141 million."),
        ("Harborlight's current assets and liabilities in FY2023?",
         "Current assets of Harborlight for FY2023: $2,261 million; current liabilities: $672 million."),
        ("Basic and diluted EPS of Harborlight for FY2024?",
         "Basic EPS of Harborlight for FY2024: $3.92 per share; diluted EPS: $3.87 per share."),
        ("What were Harborlight's operating, investing and financing cash flows in FY2024?",
         "Operating cash flows of Harborlight for FY2024: $935 million; "
         "investing cash flows: -$285 million; financing cash flows: -$392 million."),
        ("Both capex and total assets of Harborlight in FY2022 and FY2023?",
         "Capex of Harborlight: $158 million in FY2022, $149 million in FY2023; "
         "total assets: $4,691 million in FY2022, $5,054 million in FY2023."),
        ("Net income and total assets of Harborlight and Quillmark in FY2023?",
         "Net income: Harborlight FY2023: $544 million, Quillmark FY2023: $340.921 million. "
         "Total assets: Harborlight FY2023: $5,054 million, "
         "Quillmark FY2023: $3,137.333 million."),
        ("By how much did Harborlight's revenue and net income grow in FY2024, in percent?",
         "Growth of revenue of Harborlight for FY2023 to FY2024: 6.5%; growth of net income: 17.8%."),
        ("Did both revenue and net income of Harborlight grow from FY2023 to FY2024?",
         "Yes: revenue of Harborlight rose from $3,533 million in FY2023 to $3,763 million in FY2024; "
         "net income rose from $544 million in FY2023 to $641 million in FY2024."),
        ("Did both revenue and capex of Harborlight grow from FY2023 to FY2024?",
         "No: revenue of Harborlight rose from $3,533 million in FY2023 to $3,763 million in FY2024; "
         "capex fell from $149 million in FY2023 to $141 million in FY2024."),
        ("Average inventory and total assets of Harborlight in FY2024?",
         "Average inventory of Harborlight for FY2024: $490 million; "
         "average total assets: $5,225.5 million."),
    ],
)  # fmt: skip
def test_every_measure_is_told_and_none_is_the_value(ask: Ask, question: str, text: str) -> None:
    answer = ask(question)
    assert said(answer) == text
    assert answer.answer.value is None


@pytest.mark.parametrize(
    ("question", "value", "beginning"),
    [
        ("Among operating, investing and financing activities, which brought in the most (or lost the least) cash for "
         "Harborlight in FY2023?", 823, "Operating activities of Harborlight for FY2023: $823 million "
         "(investing activities: -$169 million; financing activities: -$272 million). Of these it is the highest."),
        ("Which activity used the most cash at Harborlight in 2023: operating, investing or financing activities?",
         -272, "Financing activities of Harborlight"),
        ("Did Harborlight spend more on capex or on dividends in FY2024?", 183,
         "Dividends of Harborlight for FY2024: $183 million (capex: $141 million). Of these it is the "
         "higher."),
        ("Did Harborlight spend more on capex than on dividends in FY2024?", 183,
         "No: capex of Harborlight for FY2024: $141 million (dividends: $183 million)."),
        ("Did Harborlight's dividends exceed its capex in FY2024?", 183,
         "Yes: dividends of Harborlight for FY2024: $183 million (capex: $141 million)."),
        ("Harborlight FY2024 operating margin before restructuring charges", 22.72,
         "(operating income + restructuring charges) / revenue of Harborlight for FY2024"),
        ("Did Harborlight's gross margin get better or worse in FY2024?", 54.21, "Gross margin of Harborlight "),
        ("Which was lower at Harborlight in FY2024, R&D or SG&A?", 342, "R&D of Harborlight"),
        ("Which grew faster at Harborlight from FY2023 to FY2024, revenue or net income?", 17.8,
         "Growth of net income"),
    ],
)  # fmt: skip
def test_the_measure_that_stands_out_is_the_value(ask: Ask, question: str, value: float, beginning: str) -> None:
    answer = ask(question)
    assert said(answer).startswith(beginning), answer.answer.text
    assert answer.answer.value == pytest.approx(value, abs=0.05)


def test_none_is_called_larger_where_figures_lie_below_zero(ask: Ask) -> None:
    answer = ask("Which was larger at Harborlight in FY2023, investing or financing cash flow?")
    assert answer.answer.value is None
    assert "-$169 million" in answer.answer.text


def test_the_figures_of_all_measures_are_cited_and_stand_in_the_ledger(ask: Ask) -> None:
    answer = ask("What were revenue and net income of Harborlight in FY2024?")
    required = {entry.slot.metric: entry.figure for entry in answer.ledger if entry.required}
    assert set(required) == {"revenue", "net_income"}
    assert [required[name].value for name in ("revenue", "net_income")] == [Decimal(3763000000), Decimal(641000000)]  # type: ignore[union-attr]
    assert len(answer.citations) == 2


@pytest.mark.parametrize(
    "question",
    [
        "Harborlight's revenue and dragons in 2024?",
        "Harborlight's goodwill, dragons and revenue in 2024?",
        "Were revenue and net income of Harborlight in FY2023 above $1 billion?",
        "Harborlight's capex and revenue in FY2023 and FY2024, respectively?",
        "Which company had the higher revenue and net income in FY2023, Harborlight or Quillmark?",
        "Total capex and dividends of Harborlight in FY2024?",
        "What were Harborlight's capex and dividends in total over FY2022 to FY2024?",
        "What is the relationship between revenue and net income at Harborlight in FY2024?",
        "What were revenue and net income of Harborlight in FY2011?",
    ],
)
def test_no_half_of_a_question_is_answered(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer.refused, answer.answer.text


def test_a_name_with_and_at_the_end_of_a_ratio_is_one(ask: Ask) -> None:
    answer = ask("What was Harborlight's ratio of capex to depreciation and amortization for FY2024?")
    assert answer.answer.unit == "ratio"
