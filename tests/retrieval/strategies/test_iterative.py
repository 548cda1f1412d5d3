"""`self-rag` and `rq-rag`: searched again in other words, as a critic or a rewriter says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fin_agent.analyst.strategy_adapters import strategy_for
from fin_agent.config import Settings
from fin_agent.retrieval.search_query import Query, RankedPassage
from fin_agent.retrieval.strategies.protocol import Models, Verdict
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import CHIEF, CHIEF_PAGE

OFF = Query("Harborlight patent suit", terms=())


class OfTellurond:
    """A critic that finds relevant what Tellurond filed, and is content once there is some."""

    def __init__(self) -> None:
        self.graded: list[int] = []

    def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
        self.graded.append(len(passages))
        kept = tuple(passage for passage in passages if passage.stored.doc_id.startswith("tellurond"))
        return Verdict(kept, bool(kept), question)


class InTurn:
    def __init__(self, *words: str) -> None:
        self._left = iter(words)

    def rewrite(self, query: Query) -> str:
        return next(self._left, query.text)


def test_self_rag_rewrites_until_a_passage_is_relevant(workspace: Workspace) -> None:
    critic = OfTellurond()
    rewriter = InTurn("Harborlight suit settled", "Tellurond appointed chief executive officer")
    found = build_strategy(
        "self-rag:bm25", workspace, models=Models(curator=critic.curate, rewriter=rewriter.rewrite)
    ).search(OFF)
    assert critic.graded[0] == 10 and found.rounds == 3 and found.curated
    assert found.kept and {each.stored.doc_id.split("_")[0] for each in found.passages[: found.kept]} == {"tellurond"}
    assert [step.stage for step in found.steps] == ["grading", "rewriting"] * 2 + ["grading"]


def test_self_rag_gives_up_after_three_tries_and_where_words_stay_the_same(workspace: Workspace) -> None:
    class Never(OfTellurond):
        def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
            return Verdict((), False, question)

    models = Models(curator=Never().curate, rewriter=InTurn("one suit", "two suits", "three suits").rewrite)
    found = build_strategy("self-rag:bm25", workspace, models=models).search(OFF)
    assert (found.rounds, found.kept) == (3, 0)
    same = Models(curator=Never().curate, rewriter=InTurn().rewrite)
    assert build_strategy("self-rag:bm25", workspace, models=same).search(OFF).rounds == 1


def test_rq_rag_searches_three_ways_twice_and_reads_three_of_each(workspace: Workspace) -> None:
    class Apart:
        def parts(self, query: Query) -> Sequence[Query]:
            return [Query(f"{query.text} counsel", terms=())]

    class Longer:
        def rewrite(self, query: Query) -> str:
            return f"{query.text} filing"

    asked = Query("Harborlight patent suit", terms=(), expansions=("litigation",))
    models = Models(rewriter=Longer().rewrite, decomposer=Apart().parts)
    found = build_strategy("rq-rag:bm25", workspace, models=models).search(asked)
    actions = [step.found for step in found.steps]
    assert len(actions) == 3 + 9 and found.rounds == len(set(actions))
    assert "Harborlight patent suit filing counsel" in actions and "Harborlight patent suit (litigation)" in actions
    assert found.kept is not None and 3 <= found.kept <= 36
    assert len(found.passages) >= found.kept


def test_by_rules_both_find_what_one_search_finds(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    for name in ("self-rag:bm25", "rq-rag:bm25"):
        search = strategy_for(Settings(strategy=name), workspace)
        found = search.search(asked(CHIEF))
        read = {each.stored.key for each in found.passages[: found.kept]}
        assert CHIEF_PAGE in read and found == search.search(asked(CHIEF))
