"""Filings are near-duplicates of each other: the right one, and the right page in it, come first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.retrieval.search_query import Depth
from fin_agent.retrieval.strategies.one_pass import Staged
from fin_agent.workspace import Workspace
from tests.retrieval.near_duplicates import NearDuplicate, near_duplicate_questions, printed_label_questions

LEAST_RIGHT = 0.98


@pytest.fixture(scope="module")
def html_workspace(sample_html_index: Path) -> Workspace:
    """The index of the sample filings in HTML with what is derived from it."""
    return Workspace.open(sample_html_index)


def test_there_are_questions_of_every_kind_and_no_two_are_the_same(sample_filings: Path) -> None:
    asked = near_duplicate_questions(sample_filings / "expected.json")
    assert len(asked) >= 200
    assert len({question.text for question in asked}) == len(asked)
    assert {question.kind for question in asked} == {"lookup", "column", "told", "event"}
    assert asked == near_duplicate_questions(sample_filings / "expected.json")
    assert len({question.doc_id for question in asked}) == 15


def test_the_right_filing_and_page_come_first(workspace: Workspace, sample_filings: Path) -> None:
    asked = near_duplicate_questions(sample_filings / "expected.json")
    wrong_filings, wrong_pages = _wrong(asked, workspace)
    assert len(wrong_filings) <= (1 - LEAST_RIGHT) * len(asked), "\n".join(wrong_filings)
    assert len(wrong_pages) <= (1 - LEAST_RIGHT) * len(asked), "\n".join(wrong_pages)


def test_rows_are_found_by_the_labels_that_html_filings_print(html_workspace: Workspace, sample_html: Path) -> None:
    asked = printed_label_questions(sample_html / "expected.json")
    assert len(asked) >= 50
    wrong_filings, wrong_pages = _wrong(asked, html_workspace)
    assert len(wrong_filings) <= (1 - LEAST_RIGHT) * len(asked), "\n".join(wrong_filings)
    assert len(wrong_pages) <= 0.05 * len(asked), "\n".join(wrong_pages)


def _wrong(asked: Sequence[NearDuplicate], workspace: Workspace) -> tuple[list[str], list[str]]:
    """Questions whose first filing, and whose first page, is not the right one, with what came first."""
    analyst = RulesAnalyst(workspace)
    wrong_filings: list[str] = []
    wrong_pages: list[str] = []
    for question in asked:
        intent = analyst.intent(question.text)
        found = Staged(workspace).search(analyst.query(intent, analyst.plan(intent), None), depth=Depth(passages=1))
        first = found.filings[0].doc_id if found.filings else "none"
        if first != question.doc_id:
            wrong_filings.append(f"{question.text} {question.doc_id}, not {first}")
        page = found.pages[0].key if found.pages else None
        if page is None or page.doc_id != question.doc_id or page.page not in question.pages:
            where = "none" if page is None else f"{page.doc_id} {page.page}"
            wrong_pages.append(f"{question.text} {question.doc_id} {sorted(question.pages)}, not {where}")
    return wrong_filings, wrong_pages
