"""`sub-questions`: each part is searched for, and the best of each comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from fin_agent.retrieval.search_query import Depth, Query, Scope
from fin_agent.retrieval.strategies.protocol import Models, StrategyError
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import CHIEF, SUIT, SUIT_PAGES, key_of


class Parts:
    """Takes every query apart into the same."""

    def __init__(self, *parts: Query) -> None:
        self._parts = parts

    def parts(self, query: Query) -> Sequence[Query]:
        return self._parts


def test_the_best_of_each_part_come_first(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    bm25 = build_strategy("bm25", workspace)
    whole, suit, chief = Query("Suits and officers", terms=()), asked(SUIT), asked(CHIEF)
    strategy = build_strategy("sub-questions:bm25", workspace, models=Models(decomposer=Parts(suit, chief).parts))
    found = strategy.search(whole, depth=Depth(5, 20, 10))
    firsts = [key_of(bm25.search(each).passages[0]) for each in (whole, suit, chief)]
    assert [key_of(passage) for passage in found.passages[:3]] == list(dict.fromkeys(firsts))[:3]
    assert {"harborlight_2024_10k", "tellurond_2024_8k"} <= {filing.doc_id for filing in found.filings[:4]}
    assert len({key_of(passage) for passage in found.passages}) == len(found.passages) == 10
    assert found.kept == 6 and strategy.name == "sub-questions:bm25"
    scores = [passage.score for passage in found.passages]
    assert scores == sorted(scores, reverse=True)


def test_one_part_is_the_search_itself(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    strategy = build_strategy("sub-questions:bm25", workspace, models=Models(decomposer=Parts().parts))
    assert strategy.search(asked(SUIT)) == build_strategy("bm25", workspace).search(asked(SUIT))


def test_it_stays_in_scope(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    other = replace(asked(CHIEF), companies=())
    strategy = build_strategy("sub-questions", workspace, models=Models(decomposer=Parts(other).parts))
    found = strategy.search(asked(SUIT), Scope(doc_ids=("harborlight_2024_10k",)), Depth(2, 3, 4))
    assert {passage.stored.doc_id for passage in found.passages} == {"harborlight_2024_10k"}
    assert (len(found.pages), len(found.passages)) == (3, 4)
    assert {passage.stored.passage.page for passage in found.passages} & set(SUIT_PAGES)


def test_it_needs_one_who_takes_questions_apart(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match=r"strategy_for"):
        build_strategy("sub-questions", workspace)
