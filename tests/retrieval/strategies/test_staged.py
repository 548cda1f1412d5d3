"""`default`: our own search behind the interface of all."""

from __future__ import annotations

from collections.abc import Callable

from fin_agent.config import Settings
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.search_query import Depth, Query, Scope
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import SUIT

FIGURE = "What was Harborlight's gross profit in 2024?"


def test_it_is_the_search_in_stages(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    default = build_strategy("default", workspace)
    assert default.name == "default"
    for question in (FIGURE, SUIT):
        found = default.search(asked(question))
        assert {page.key.doc_id for page in found.pages} <= {filing.doc_id for filing in found.filings}
        assert {passage.stored.key for passage in found.passages} <= {page.key for page in found.pages}
    assert default.search(asked(FIGURE)).pages[0].key == PageKey("harborlight_2024_10k", 8)


def test_it_stays_in_scope(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    default = build_strategy("default", workspace)
    found = default.search(asked(FIGURE), Scope(doc_ids=("harborlight_2022_10k",)))
    assert {page.key.doc_id for page in found.pages} == {"harborlight_2022_10k"}
    pages = (PageKey("harborlight_2024_10k", 5), PageKey("harborlight_2023_10k", 8))
    found = default.search(asked(FIGURE), Scope(pages=pages))
    assert {page.key for page in found.pages} == set(pages)
    assert {passage.stored.key for passage in found.passages} <= set(pages)
    assert {filing.doc_id for filing in found.filings} == {"harborlight_2024_10k", "harborlight_2023_10k"}


def test_it_goes_as_deep_as_asked(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    found = build_strategy("default", workspace).search(asked(FIGURE), depth=Depth(2, 7, 3))
    assert (len(found.filings), len(found.pages), len(found.passages)) == (2, 7, 3)
    one = build_strategy("default", workspace, Settings(documents=1)).search(asked(FIGURE))
    assert len(one.filings) == 5 and {page.key.doc_id for page in one.pages} == {"harborlight_2024_10k"}
