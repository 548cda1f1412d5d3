"""In questions of words too, a year is the one that its filer means by it."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.workspace import Workspace


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("What drove Quillmark's merchandise inventories at the end of FY2025?", [2024]),
        ("What drove Quillmark's merchandise inventories at the end of FY2024?", [2024]),
        ("Why did merchandise inventories of Quillmark change between FY2024 and FY2025?", [2024, 2025]),
        ("What does Quillmark expect its store openings to be in FY2025?", [2025]),
        ("What does Harborlight say of competition in FY2025?", [2025]),
    ],
)
def test_a_year_that_no_filing_is_named_for_is_the_one_that_ended_in_it(
    workspace: Workspace, question: str, years: list[int]
) -> None:
    intent = RulesAnalyst(workspace).intent(question)
    assert not intent.numeric
    assert intent.periods == tuple(FiscalPeriod(fiscal_year=year) for year in years)
    renamed = any("which Quillmark Stores, Inc. calls fiscal 2024" in note for note in intent.assumed)
    assert renamed == (f"FY{years[0]}" not in question)
