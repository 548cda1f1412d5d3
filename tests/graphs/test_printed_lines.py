"""Figures of lines that are asked for by their words: found, computed with, cited, or refused with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.answer import Answer
from fin_agent.evidence.intent import Intent
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.workspace import Workspace

Ask = Callable[[str, str], Answer]


class Asking(RulesAnalyst):
    """Reads every question as one for an expression over printed lines."""

    def __init__(self, workspace: Workspace, expression: str) -> None:
        super().__init__(workspace)
        self._expression = expression

    def intent(self, question: str, before: Intent | None = None) -> Intent:
        """See RulesAnalyst.intent."""
        asked = {"expression": self._expression, "measure": self._expression}
        return super().intent(question, before).model_copy(update=asked)


@pytest.fixture
def ask(context: AnswerContext) -> Ask:
    def ask(question: str, expression: str) -> Answer:
        return answer_question(question, replace(context, analyst=Asking(context.workspace, expression)))

    return ask


@pytest.mark.parametrize(
    ("line", "metric"),
    [("Inventories", "inventories"), ("Cost of sales", "cost_of_revenue"), ("capex", "capital_expenditures")],
)
def test_a_line_by_its_words_is_the_figure_of_its_metric(ask: Ask, line: str, metric: str) -> None:
    question = "What was the revenue of Harborlight in FY2023?"
    found, named = ask(question, f'"{line}"'), ask(question, metric)
    assert not found.refused and found.answer.value == named.answer.value
    assert found.citations == named.citations


def test_lines_enter_formulas_beside_metrics(ask: Ask) -> None:
    question = "What was the revenue of Harborlight in FY2023?"
    assert (
        ask(question, '"cost of sales" / revenue').answer.value
        == ask(question, "cost_of_revenue / revenue").answer.value
    )


def test_words_that_no_line_bears_out_are_named_in_the_refusal(ask: Ask) -> None:
    answer = ask("What was the revenue of Harborlight in FY2023?", '"consigned inventories"')
    assert answer.refused and "which does not mention consigned" in answer.missing[0]
