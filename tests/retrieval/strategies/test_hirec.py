"""`hirec`: filings, passages, curation, and again with what is lacking."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fin_agent.analyst.strategies import strategy_for
from fin_agent.config import Settings
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.query import Depth, Query, RankedPassage, Scope
from fin_agent.retrieval.strategies.one_pass import key_of
from fin_agent.retrieval.strategies.protocol import Models, StrategyError, Verdict
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import CHIEF, SUIT


class OfTellurond:
    """Keeps what Tellurond filed, is content once there is some, and asks for it by name."""

    def __init__(self, then: Query | None) -> None:
        self.then = then
        self.seen: list[tuple[str, int]] = []

    def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
        self.seen.append((question.text, len(passages)))
        kept = tuple(passage for passage in passages if passage.stored.doc_id.startswith("tellurond"))
        return Verdict(kept, bool(kept), self.then)


def test_what_is_lacking_is_searched_for_in_the_next_round(workspace: Workspace) -> None:
    curator = OfTellurond(Query("Tellurond appointed chief executive officer", terms=()))
    hirec = build_strategy("hirec:bm25", workspace, models=Models(curator=curator))
    found = hirec.search(Query("Harborlight patent suit", terms=()), depth=Depth(5, 20, 10))
    assert hirec.name == "hirec:bm25"
    assert (found.rounds, found.kept) == (2, 5)
    assert curator.seen == [("Harborlight patent suit", 5), ("Harborlight patent suit", 5)]
    assert found.passages[0].stored.key == found.pages[0].key == PageKey("tellurond_2024_8k", 1)
    assert found.filings[0].doc_id == "tellurond_2024_8k"
    assert {passage.stored.doc_id.split("_")[0] for passage in found.passages[:5]} == {"tellurond"}
    assert {passage.stored.doc_id.split("_")[0] for passage in found.passages[5:]} == {"harborlight"}


def test_earlier_passages_are_judged_again_with_new_ones(workspace: Workspace) -> None:
    class Two(OfTellurond):
        def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
            super().curate(question, passages, filings)
            return Verdict(tuple(passages[:2]), False, self.then)

    curator = Two(Query("Tellurond appointed chief executive officer", terms=()))
    found = build_strategy("hirec:bm25", workspace, models=Models(curator=curator)).search(
        Query("Harborlight patent suit", terms=())
    )
    assert [count for _, count in curator.seen] == [5, 7, 7]
    assert (found.rounds, found.kept) == (3, 2)


def test_it_ends_where_nothing_else_can_be_asked(workspace: Workspace) -> None:
    curator = OfTellurond(None)
    found = build_strategy("hirec:bm25", workspace, models=Models(curator=curator)).search(
        Query("Harborlight", terms=())
    )
    assert (found.rounds, found.kept, len(curator.seen)) == (1, 0, 1)
    assert len(found.passages) == 10


def test_a_cross_encoder_chooses_filings_by_summary_and_passages(workspace: Workspace) -> None:
    class OfNinetyNine:
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return [float("Quillmark" in text and "fiscal 2023" in text) for text in texts]

    models = Models(curator=OfTellurond(None), scorer=OfNinetyNine())
    found = build_strategy("hirec:bm25", workspace, models=models).search(Query("net sales of fiscal", terms=()))
    assert found.filings[0].doc_id == "quillmark_2023_10k"


def test_the_rules_analyst_curates(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    hirec = strategy_for(Settings(strategy="hirec:bm25"), workspace)
    found = hirec.search(asked(CHIEF))
    assert found.filings[0].doc_id == "tellurond_2024_8k" and found.pages[0].key.page == 1
    assert (found.rounds, found.kept) == (1, 1)
    figure = hirec.search(asked("What was Harborlight's inventory turnover in 2024?"))
    assert figure.rounds == 3, "the words of the question find no balance sheet"
    assert hirec.search(asked(CHIEF)) == found
    assert hirec.search(Query("?!", terms=())).passages == ()


def test_it_stays_in_scope_and_depth(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    hirec = strategy_for(Settings(strategy="hirec:bm25"), workspace)
    pages = (PageKey("harborlight_2024_10k", 4), PageKey("harborlight_2023_10k", 4))
    found = hirec.search(asked(SUIT), Scope(pages=pages), Depth(1, 1, 1))
    assert [page.key for page in found.pages] == [pages[0]]
    assert (len(found.filings), len(found.passages), found.kept) == (1, 1, 1)
    assert {key_of(passage).on for passage in hirec.search(asked(SUIT), Scope(pages=pages)).passages} <= set(pages)


def test_without_a_curator_it_says_where_one_is(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match=r"'hirec:bm25': it needs a curator.*strategy_for"):
        build_strategy("hirec:bm25", workspace)
