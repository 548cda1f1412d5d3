"""`hirec`: filings, passages, curation, and again with what is lacking; each part can be switched off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from zlib import crc32

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import EvidenceRoles, strategy_for
from fin_agent.config import Settings
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.search_query import Depth, Query, RankedPassage, Scope, SearchResult
from fin_agent.retrieval.strategies.protocol import Models, Strategy, StrategyError, Verdict
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import CHIEF, SUIT

BARE = "hirec-no-document-reranker-no-passage-reranker:bm25"


class Scripted:
    """Never content: keeps the first two passages it is shown, and asks for one thing after the other."""

    def __init__(self, *asks: str) -> None:
        self.asks = list(asks)
        self.seen: list[tuple[str, int]] = []

    def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
        self.seen.append((question.text, len(passages)))
        asked = self.asks[(len(self.seen) - 1) % len(self.asks)]
        return Verdict(tuple(passages[:2]), False, Query(asked, terms=()))


class Shouting:
    """Rewrites a question by adding the words that filings of Tellurond are summarized with."""

    def rewrite(self, query: Query) -> str:
        return f"{query.text} Tellurond"


class Counting:
    """Scores each text by its length and the query, and remembers what it was given."""

    def __init__(self) -> None:
        self.scored: list[tuple[str, int, str]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.scored.append((query, len(texts), texts[0] if texts else ""))
        return [float(crc32(f"{query}{text}".encode()) % 997) for text in texts]


ASKS = ("Tellurond appointed chief executive officer", "Quillmark stores opened", "Harborlight patent suit settled")


def published(name: str, workspace: Workspace) -> tuple[SearchResult, Scripted, Counting]:
    curator, scorer = Scripted(*ASKS), Counting()
    models = Models(curator=curator.curate, scorer=scorer.score, rewriter=Shouting().rewrite)
    found = build_strategy(name, workspace, models=models).search(Query("Harborlight inventories", terms=()))
    return found, curator, scorer


def test_a_curator_that_is_never_content_sees_three_curations_and_four_searches(workspace: Workspace) -> None:
    found, curator, scorer = published("hirec:bm25", workspace)
    assert len(curator.seen) == 3 and found.rounds == 4
    assert [step.stage for step in found.steps].count("passages") == 4
    assert [question for question, _ in curator.seen] == ["Harborlight inventories"] * 3, "judged for the question"
    assert [count for _, count in curator.seen] == [5, 7, 7], "new passages with the two kept before"
    assert found.kept is not None and 5 < found.kept <= 15, "the last search is merged, uncurated"
    assert (found.steps[-1].stage, found.steps[-1].how) == ("curation", "none, merged") and found.curated
    documents = [text for query, _, text in scorer.scored if query.endswith("Tellurond")]
    assert len(documents) == 4 and all(text.startswith("Document title: ") for text in documents)
    passages = [(query, count) for query, count, _ in scorer.scored if not query.endswith("Tellurond")]
    assert [query for query, _ in passages] == ["Harborlight inventories", *ASKS], "rewritten for documents alone"
    assert min(count for _, count in passages) > 50, "every passage of the five filings is scored"


def ways(found: SearchResult) -> dict[str, set[str]]:
    """How each stage of a trace went, over all its searches."""
    told: dict[str, set[str]] = {}
    for step in found.steps:
        told.setdefault(step.stage, set()).add(step.how)
    return told


@pytest.mark.parametrize(
    ("part", "stage", "how"),
    [
        ("rewriting", "documents", {"as asked, by a cross-encoder"}),
        ("hierarchy", "documents", set()),
        ("document-reranker", "documents", {"rewritten, as ranked, no cross-encoder"}),
        ("passage-reranker", "passages", {"as ranked, no cross-encoder"}),
        ("curation", "curation", set()),
        ("filter", "curation", {"unfiltered", "none, merged"}),
    ],
)
def test_each_switch_changes_one_stage_of_the_trace(workspace: Workspace, part: str, stage: str, how: set[str]) -> None:
    whole, _, _ = published("hirec:bm25", workspace)
    found, curator, _ = published(f"hirec-no-{part}:bm25", workspace)
    expected = ways(whole)
    assert expected.pop(stage, set()) != how, "the stage goes another way"
    assert ways(found) == (expected | {stage: how} if how else expected), "and every other stage goes as it did"
    before = list(whole.steps[: [step.stage for step in whole.steps].index(stage)])
    assert list(found.steps[: len(before)]) == before, "what comes before it is the same to the letter"
    curations = 0 if part == "curation" else 3
    assert (found.rounds, len(curator.seen)) == (curations + 1, curations), "Algorithm 1 runs on"


class Indifferent(Counting):
    """Finds all filings alike, and passages as Counting does: filings, which are few, stay as they are ranked."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        found = super().score(query, texts)
        return [0.0] * len(texts) if len(texts) < 20 else found


@pytest.mark.parametrize("part", ["rewriting", "document-reranker"])
def test_a_switch_whose_stage_comes_to_the_same_leaves_all_the_rest_as_it_was(workspace: Workspace, part: str) -> None:
    class Repeating:
        def rewrite(self, query: Query) -> str:
            return query.text

    def searched(name: str) -> SearchResult:
        models = Models(curator=Scripted(*ASKS).curate, scorer=Indifferent().score, rewriter=Repeating().rewrite)
        return build_strategy(name, workspace, models=models).search(Query("Harborlight inventories", terms=()))

    whole, without = searched("hirec:bm25"), searched(f"hirec-no-{part}:bm25")
    assert without.steps != whole.steps
    assert [replace(step, how="") if step.stage == "documents" else step for step in without.steps] == [
        replace(step, how="") if step.stage == "documents" else step for step in whole.steps
    ]
    assert replace(without, steps=()) == replace(whole, steps=())


def test_without_curation_ten_passages_are_read_of_one_search(workspace: Workspace) -> None:
    found, curator, _ = published("hirec-no-curation:bm25", workspace)
    assert (found.rounds, found.kept, curator.seen) == (1, 10, [])


def test_without_the_filter_what_was_found_stays(workspace: Workspace) -> None:
    found, curator, _ = published("hirec-no-filter:bm25", workspace)
    assert [count for _, count in curator.seen] == sorted(count for _, count in curator.seen)
    assert found.kept is not None and found.kept > 10


def test_as_many_passages_as_may_be_kept_are_enough(workspace: Workspace) -> None:
    class Greedy(Scripted):
        def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
            return replace(super().curate(question, passages, filings), kept=tuple(passages))

    curator = Greedy(*ASKS)
    models = Models(curator=curator.curate, rewriter=Shouting().rewrite)
    found = build_strategy(BARE, workspace, Settings(evidence=5), models).search(Query("Harborlight", terms=()))
    assert (found.rounds, found.kept, len(curator.seen)) == (1, 5, 1)


def test_a_part_that_it_does_not_have_is_told(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match=r"hirec has no part 'lexicon'.*rewriting, hierarchy, document-reranker"):
        build_strategy("hirec-no-lexicon", workspace)


def test_without_a_cross_encoder_it_says_how_to_do_without(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match=r"needs a cross-encoder.*FIN_AGENT_RERANKER=.*; or use hirec-no-document"):
        build_strategy("hirec:bm25", workspace)
    with pytest.raises(StrategyError, match="needs a cross-encoder"):
        build_strategy("hirec-no-passage-reranker:bm25", workspace)


def test_rules_rewrite_to_company_period_and_figure(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    rules = EvidenceRoles(RulesAnalyst(workspace), workspace)
    words = rules.rewrite(asked("What was Harborlight's inventory turnover in FY2024?"))
    assert "Harborlight Instruments" in words and "FY2024" in words and "turnover" not in words
    assert rules.rewrite(Query("What is it?", terms=())) == "What is it?"


class OfTellurond:
    """Keeps what Tellurond filed, is content once there is some, and asks for it by name."""

    def __init__(self, then: Query | None) -> None:
        self.then = then
        self.seen: list[tuple[str, int]] = []

    def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
        self.seen.append((question.text, len(passages)))
        kept = tuple(passage for passage in passages if passage.stored.doc_id.startswith("tellurond"))
        return Verdict(kept, bool(kept), self.then)


def built(workspace: Workspace, curator: OfTellurond) -> Strategy:
    rewriter = EvidenceRoles(RulesAnalyst(workspace), workspace)
    return build_strategy(BARE, workspace, models=Models(curator=curator.curate, rewriter=rewriter.rewrite))


def test_what_is_lacking_is_searched_for_in_the_next_round(workspace: Workspace) -> None:
    curator = OfTellurond(Query("Tellurond appointed chief executive officer", terms=()))
    hirec = built(workspace, curator)
    found = hirec.search(Query("Harborlight patent suit", terms=()), depth=Depth(5, 20, 10))
    assert hirec.name == BARE
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
    found = built(workspace, curator).search(Query("Harborlight patent suit", terms=()))
    assert [count for _, count in curator.seen] == [5, 7, 7]
    assert (found.rounds, found.kept) == (4, 7)


def test_it_ends_where_nothing_else_can_be_asked(workspace: Workspace) -> None:
    curator = OfTellurond(None)
    found = built(workspace, curator).search(Query("Harborlight", terms=()))
    assert (found.rounds, found.kept, len(curator.seen)) == (1, 0, 1)
    assert len(found.passages) == 10


def test_a_cross_encoder_chooses_filings_by_summary_and_passages(workspace: Workspace) -> None:
    class OfTheYear:
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return [float("Document title: Quillmark Stores, Inc. 2023" in text) for text in texts]

    rewriter = EvidenceRoles(RulesAnalyst(workspace), workspace)
    models = Models(curator=OfTellurond(None).curate, scorer=OfTheYear().score, rewriter=rewriter.rewrite)
    found = build_strategy("hirec:bm25", workspace, models=models).search(Query("net sales of fiscal", terms=()))
    assert found.filings[0].doc_id == "quillmark_2023_10k"


def test_the_rules_analyst_curates(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    hirec = strategy_for(Settings(strategy=BARE), workspace)
    found = hirec.search(asked(CHIEF))
    assert found.filings[0].doc_id == "tellurond_2024_8k" and found.pages[0].key.page == 1
    assert (found.rounds, found.kept) == (1, 1)
    figure = hirec.search(asked("What was Harborlight's inventory turnover in 2024?"))
    assert figure.rounds == 4, "the words of the question find no balance sheet"
    assert hirec.search(asked(CHIEF)) == found
    assert hirec.search(Query("?!", terms=())).passages == ()


def test_it_stays_in_scope_and_depth(workspace: Workspace, asked: Callable[[str], Query]) -> None:
    hirec = strategy_for(Settings(strategy=BARE), workspace)
    pages = (PageKey("harborlight_2024_10k", 4), PageKey("harborlight_2023_10k", 4))
    found = hirec.search(asked(SUIT), Scope(pages=pages), Depth(1, 1, 1))
    assert [page.key for page in found.pages] == [pages[0]]
    assert (len(found.filings), len(found.pages), len(found.passages)) == (1, 1, found.kept), "what is read is listed"
    assert {passage.stored.key for passage in hirec.search(asked(SUIT), Scope(pages=pages)).passages} <= set(pages)


def test_without_a_curator_it_says_where_one_is(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match=r"it needs a curator.*strategy_for"):
        build_strategy(BARE, workspace)
