"""Questions that choose a company first, then ask something of it."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.selections import choosing_in
from fin_agent.evidence.intent import Comparison


@pytest.mark.parametrize(
    ("question", "clause", "extreme", "rest"),
    [
        ("What was the net income of the company with the highest revenue in FY2020, Acme, Bolt or Crane?",
         "revenue in FY2020", Comparison.HIGHEST, "What was the net income of , Acme, Bolt or Crane?"),
        ("How much did the company with the largest total assets among Acme and Bolt spend on R&D in FY2020?",
         "total assets", Comparison.HIGHEST, "How much did among Acme and Bolt spend on R&D in FY2020?"),
        ("Among Acme and Bolt, how much capex did the company with the fewest employees have in FY2023?",
         "employees", Comparison.LOWEST, "Among Acme and Bolt, how much capex did have in FY2023?"),
        ("Of Acme and Bolt, which had the lowest total debt in FY2024, and what was its net income?",
         "total debt in FY2024", Comparison.LOWEST, "net income"),
        ("Which of Acme and Bolt reported the highest revenue in FY2024 and how much did it spend on capex?",
         "revenue in FY2024", Comparison.HIGHEST, "of Acme and Bolt spend on capex"),
        ("What was the FY2021 revenue of whichever company had the highest net income in FY2020: Acme or Bolt?",
         "net income in FY2020", Comparison.HIGHEST, "What was the FY2021 revenue of : Acme or Bolt?"),
    ],
)  # fmt: skip
def test_the_clause_that_chooses_is_told_from_what_is_asked(
    question: str, clause: str, extreme: Comparison, rest: str
) -> None:
    found = choosing_in(question)
    assert found is not None
    assert (found.clause, found.extreme) == (clause, extreme)
    assert " ".join(found.rest.split()) == rest


@pytest.mark.parametrize(
    "question",
    [
        "Which company had the highest revenue in FY2020, Acme or Bolt?",
        "Which is the company with the highest revenue, Acme or Bolt?",
        "What was the highest revenue of Acme between FY2018 and FY2020?",
        "Why did the company report a loss?",
        "",
    ],
)
def test_a_company_that_is_itself_the_answer_is_not_chosen_first(question: str) -> None:
    assert choosing_in(question) is None


def test_the_rest_keeps_its_places() -> None:
    question = "What was the capex of the company with the highest revenue, Acme or Bolt?"
    found = choosing_in(question)
    assert found is not None
    assert len(found.rest) == len(question)
    assert found.rest.index("Acme") == question.index("Acme")
