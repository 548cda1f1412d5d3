"""Fitting the weights of the page scorer, and measuring them on companies left out."""

from __future__ import annotations

import pytest

pytest.importorskip("scipy", reason="fitting weights needs the extra `evaluation`")

import numpy as np

from benchmarks.fit_pages import FEATURES, PageExample, examples_of, fit, leave_one_group_out
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.errors import QuestionError
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.page_ranking import MEANINGS, Candidate
from fin_agent.retrieval.search_query import Query
from fin_agent.workspace import Workspace


def question(number: int, company: str, page: int, text: str = "?") -> FinanceBenchQuestion:
    doc_id = f"{company}_2024_10k"
    return FinanceBenchQuestion(
        id=str(number), company=company, doc_id=doc_id, question_type="made", reasoning="", question=text,
        answer="-", pages=((doc_id, page),),
    )  # fmt: skip


def example(number: int, company: str, *, telling: str) -> PageExample:
    """Ten pages whose features are noise, but for `telling`, which only the right page has."""
    noise = np.random.default_rng(number).random((10, len(FEATURES)))
    noise[:, FEATURES.index("slots")] = 0.0
    noise[:, FEATURES.index(telling)] = np.arange(10) == number % 10
    doc_id = f"{company}_2024_10k"
    pages = tuple(
        Candidate(PageKey(doc_id, page), {name: noise[page, column] for column, name in enumerate(FEATURES)}, {})
        for page in range(10)
    )
    return PageExample(question(number, company, number % 10), company, pages, noise, np.arange(10) == number % 10)


def test_the_feature_that_tells_the_right_page_gets_the_weight() -> None:
    weights = fit([example(number, f"c{number % 4}", telling="headings") for number in range(40)])
    assert weights.keys() == MEANINGS.keys()
    assert min(weights.values()) >= 0
    assert weights["headings"] > 3 * max(
        weight for name, weight in weights.items() if name not in ("headings", "slots")
    )


def test_the_same_examples_give_the_same_weights() -> None:
    examples = [example(number, f"c{number % 4}", telling="words") for number in range(12)]
    assert fit(examples) == fit(examples)


def test_a_company_left_out_has_no_part_in_its_weights() -> None:
    """One company's pages are told by another feature: weights that know it find them, those left out do not."""
    others = [example(number, f"c{number % 3}", telling="headings") for number in range(30)]
    odd = [example(number, "odd", telling="note") for number in range(30, 60)]
    everything = fit([*others, *odd])
    left_out = {each.example.question.id: each for each in leave_one_group_out([*others, *odd])}
    of_odd = [left_out[str(number)] for number in range(30, 60)]
    assert everything["note"] > 2 * of_odd[0].weights["note"]
    assert of_odd[0].weights == fit(others)
    assert [each.recall for each in of_odd] == [each.example.recall(fit(others)) for each in of_odd]


def test_what_cannot_be_learned_from_is_said() -> None:
    with pytest.raises(QuestionError, match="nothing to learn"):
        fit([])
    with pytest.raises(QuestionError, match="one company"):
        leave_one_group_out([example(number, "same", telling="words") for number in range(3)])


def test_examples_are_made_of_the_pages_that_are_searched(workspace: Workspace) -> None:
    analyst = RulesAnalyst(workspace)

    def query_of(text: str) -> Query:
        intent = analyst.intent(text)
        return analyst.query(intent, analyst.plan(intent), None)

    asked = [
        question(1, "harborlight", 8, "What was Harborlight's gross profit in 2024?"),
        question(2, "tellurond", 10, "What were Tellurond's total assets in fiscal 2024?"),
        question(3, "nowhere", 1, "What were Nowhere's total assets in fiscal 2024?"),
    ]
    first, second = examples_of(asked, workspace, query_of)
    assert first.values.shape == (len(first.pages), len(FEATURES))
    assert [page.key for page, right in zip(first.pages, first.right, strict=True) if right] == [
        PageKey("harborlight_2024_10k", 8)
    ]
    assert first.group != second.group
    assert first.gold_share == 1.0
    assert first.recall({**dict.fromkeys(MEANINGS, 0.0), "slots": 1.0}, k=1) == 1.0
    assert first.recall({**dict.fromkeys(MEANINGS, 0.0), "early": 1.0}, k=1) == 0.0
