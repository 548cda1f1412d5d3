"""What a computed answer would leave out is said; it is never answered with the part that was understood."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Median operating margin of Harborlight FY2022-FY2024", "median"),
        ("Lowest annual net income of Harborlight in FY2022 to FY2024", "lowest"),
        ("What is the average revenue of Harborlight and Tellurond in FY2024?", "average"),
        ("How much cash did Harborlight return through dividends and buybacks in FY2024?", "one measure at a time"),
        ("What is the total of Harborlight's current and long-term debt in FY2024?", "one measure at a time"),
        ("Harborlight's operating income before restructuring charges in FY2023", "before"),
        ("If Harborlight's FY2024 revenue grew by 10%, what would it be?", "if"),
        ("What was Harborlight's cash balance at the beginning of fiscal 2024?", "beginning of"),
        ("Harborlight's revenue, trailing twelve months ended September 30, 2024", "trailing"),
        ("What were Harborlight's net sales for the nine months ended September 30, 2024?", "9 months"),
        ("zebra technologies revenue 2023", "no company that is indexed"),
        ("General Electric revenue in 2022", "no company that is indexed"),
        ("Compare Harborlight and Zebra revenue in 2023", "'Zebra' is not in the index"),
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


def test_ten_filings_are_listed_where_there_are_as_many_but_only_the_companys_are_searched(ask: Ask) -> None:
    answer = ask("What was Harborlight's net income in FY2023?")
    assert len(answer.retrieved.documents) == 10
    assert {page.doc_id.split("_")[0] for page in answer.retrieved.pages} == {"harborlight"}


def test_an_optional_figure_that_is_not_reported_is_said_to_count_as_zero(ask: Ask) -> None:
    answer = ask("What is Quillmark's quick ratio for FY2023?")
    assert not answer.refused
    zero = [note for note in answer.assumptions if "counts as zero" in note]
    assert ("+ 0" in (answer.program or "")) == bool(zero)
