"""FinGEAR's trees: built, kept, walked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("umap")
pytest.importorskip("bm25s")

from fin_agent.config import Settings
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.fingear.tree_building import (
    NO_ITEM,
    WHOLE,
    Chunking,
    FilingTrees,
    TreeError,
    TreeStore,
    build_trees,
)
from fin_agent.retrieval.fingear.tree_search import ALL_PARTS, FinGear, Raptor
from fin_agent.retrieval.search_query import Depth, Query, Scope
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.wordy_encoders import WordyEncoder

FILING = "harborlight_2024_10k"
SMALL = Chunking(size=60)
SUIT = "Which patent suit did Harborlight settle in 2024?"


@pytest.fixture(scope="module")
def trees(workspace: Workspace) -> FilingTrees:
    return build_trees(workspace.index, FILING, workspace.lexicon, chunking=SMALL)


@pytest.fixture
def store(tmp_path: Path, trees: FilingTrees) -> TreeStore:
    kept = TreeStore(tmp_path)
    kept.write(trees)
    return kept


def gear(workspace: Workspace, store: TreeStore, **given: object) -> FinGear:
    return FinGear(workspace, store, chunking=SMALL, documents=1, **given)  # type: ignore[arg-type]


def test_every_passage_is_in_a_leaf_and_every_leaf_is_reached_from_the_root(
    workspace: Workspace, trees: FilingTrees
) -> None:
    held = {place for tree in trees.trees for leaf in tree.leaves for place in leaf.passages}
    assert held == set(range(workspace.index.filing(FILING).passage_count))
    for tree in trees.trees:
        nodes = {node.number: node for node in tree.nodes}
        seen, ahead = set(), [tree.nodes[0].number]
        while ahead:
            node = nodes[ahead.pop()]
            seen.add(node.number)
            ahead += [child for child in node.children if child not in seen]
            assert all(nodes[child].level < node.level for child in node.children)
        assert seen == nodes.keys() and tree.nodes[0].level <= 2
    assert any(tree.nodes[0].level == 2 for tree in trees.trees), "an Item of this filing is long enough for clusters"


def test_nodes_hold_summaries_and_questions_about_what_is_below_them(trees: FilingTrees) -> None:
    (statements,) = (tree for tree in trees.trees if tree.item.endswith("8"))
    assert any("Net sales" in question for leaf in statements.leaves for question in leaf.questions)
    root = statements.nodes[0]
    assert root.summary and root.questions and all(not leaf.summary for leaf in statements.leaves)


def test_building_again_gives_the_same(workspace: Workspace, trees: FilingTrees) -> None:
    again = build_trees(workspace.index, FILING, workspace.lexicon, chunking=SMALL)
    assert again.model_dump_json() == trees.model_dump_json()


def test_longer_chunks_are_fewer_and_overlap_where_they_are_told_to(workspace: Workspace, trees: FilingTrees) -> None:
    def leaves(chunking: Chunking) -> list[tuple[int, ...]]:
        made = build_trees(workspace.index, FILING, workspace.lexicon, chunking=chunking)
        return [leaf.passages for tree in made.trees for leaf in tree.leaves]

    long, overlapping = leaves(Chunking(size=2000)), leaves(Chunking(size=600, overlap=290))
    assert len(long) < sum(len(tree.leaves) for tree in trees.trees)
    assert any(one[-1] == other[0] for one, other in pairwise(overlapping))


def test_kept_trees_are_read_back_and_those_of_other_content_are_not(
    workspace: Workspace, store: TreeStore, trees: FilingTrees, tmp_path: Path
) -> None:
    record = workspace.index.filing(FILING)
    assert store.read(FILING, record.content_hash, SMALL) == trees
    assert store.read(FILING, record.content_hash, Chunking()) is None
    assert store.read(FILING, "0" * 64, SMALL) is None
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(TreeError, match=rf"cannot be read.*`fin-agent trees --doc {FILING} --chunk 60:0 --again`"):
        store.read(FILING, record.content_hash, SMALL)
    assert store.prune([]) == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("written", ["", "2000:", "20", "500:300", "x", "999999"])
def test_chunks_that_are_none_are_refused(written: str) -> None:
    with pytest.raises(TreeError, match="50 to 20,000 tokens"):
        Chunking.parsed(written)


def test_the_budget_goes_where_the_terms_are(workspace: Workspace, store: TreeStore, trees: FilingTrees) -> None:
    searching = gear(workspace, store)
    given = searching.item_budgets("What were net sales and operating income?", [trees])
    assert sum(given.values()) == searching.chunks
    assert max(given, key=lambda item: given[item])[-1] in "78"
    without = gear(workspace, store, parts=ALL_PARTS - {"lexicon"}).item_budgets("What were net sales?", [trees])
    assert sum(without.values()) == searching.chunks and max(without.values()) <= 2


@pytest.mark.parametrize(
    "left_out", [(), ("summary",), ("question",), ("lexicon",), ("lexicon", "summary", "question")]
)
def test_the_search_finds_within_the_filings_given(
    workspace: Workspace, store: TreeStore, asked: Callable[[str], Query], left_out: tuple[str, ...]
) -> None:
    searching = gear(workspace, store, parts=ALL_PARTS.difference(left_out))
    found = searching.search(asked(SUIT), Scope(doc_ids=(FILING,)))
    assert found.passages and {each.stored.doc_id for each in found.passages} == {FILING}
    again = searching.search(asked(SUIT), Scope(doc_ids=(FILING,)))
    assert [each.stored.passage.ordinal for each in again.passages] == [
        each.stored.passage.ordinal for each in found.passages
    ]
    if not left_out:
        assert "Corvane" in " ".join(each.stored.passage.text for each in found.passages)


def test_a_cross_encoder_orders_within_items_and_across_them(
    workspace: Workspace, store: TreeStore, asked: Callable[[str], Query]
) -> None:
    class Likes:
        def score(self, query: str, texts: list[str]) -> list[float]:
            return [float("Corvane" in text) for text in texts]

    found = gear(workspace, store, scorer=Likes().score, chunks=20).search(asked(SUIT), Scope(doc_ids=(FILING,)))
    assert "Corvane" in found.passages[0].stored.passage.text


def test_filings_without_trees_are_told(workspace: Workspace, tmp_path: Path, asked: Callable[[str], Query]) -> None:
    with pytest.raises(TreeError, match=r"the filings have no trees of 60:0 tokens.*`fin-agent trees --chunk 60:0`"):
        gear(workspace, TreeStore(tmp_path)).search(asked(SUIT), Scope(doc_ids=(FILING,)))


def test_of_several_filings_those_without_trees_are_left_out_and_told(
    workspace: Workspace, store: TreeStore, asked: Callable[[str], Query]
) -> None:
    told: list[str] = []
    searching = replace(gear(workspace, store, notify=told.append), documents=2)
    found = searching.search(asked(SUIT), Scope(doc_ids=(FILING, "harborlight_2023_10k")))
    assert {each.stored.doc_id for each in found.passages} == {FILING}
    assert told == ["no trees of harborlight_2023_10k: `fin-agent trees --chunk 60:0` builds them"]


@pytest.mark.parametrize(
    ("name", "off", "weighting"),
    [
        ("fingear", set(), "relative"),
        ("fingear-no-summary", {"summary"}, "relative"),
        ("fingear-no-lexicon-no-question", {"lexicon", "question"}, "relative"),
        ("fingear-log", set(), "log"),
        ("fingear-softmax", set(), "softmax"),
    ],
)
def test_the_names_switch_parts_off(workspace: Workspace, name: str, off: set[str], weighting: str) -> None:
    strategy = build_strategy(name, workspace, Settings(tree_chunks="60"))
    built = getattr(strategy.find, "__self__", None)
    assert isinstance(built, FinGear) and strategy.name == name
    assert ALL_PARTS - built.parts == off and built.weighting == weighting


@pytest.mark.parametrize("k", [2, 5, 10, 15])
def test_as_many_chunks_are_chosen_as_passages_are_asked_for(
    workspace: Workspace, store: TreeStore, trees: FilingTrees, tmp_path: Path, asked: Callable[[str], Query], k: int
) -> None:
    settings = Settings(tree_chunks="60", trees=tmp_path, passages=k, documents=1)
    built = getattr(build_strategy("fingear", workspace, settings).find, "__self__", None)
    assert isinstance(built, FinGear)
    given = built.item_budgets(SUIT, [trees])
    assert sum(given.values()) == k
    there = {tree.item: len(tree.leaves) for tree in trees.trees}
    chosen = sum(min(budget, there[item]) for item, budget in given.items())
    assert chosen > k / 2, "an Item that has fewer chunks than its budget gives those it has"
    found = built.search(asked(SUIT), Scope(doc_ids=(FILING,)), Depth(5, 20, 100))
    items, chunks, _ = found.steps
    assert sum(int(each.split()[-1]) for each in items.found.split(", ")) == k and chunks.found == f"{chosen} chunks"
    raptor = getattr(build_strategy("raptor", workspace, settings).find, "__self__", None)
    assert isinstance(raptor, Raptor) and raptor.chunks == k


def test_the_stages_are_told(workspace: Workspace, store: TreeStore, asked: Callable[[str], Query]) -> None:
    found = gear(workspace, store).search(asked("What were net sales in 2024?"), Scope(doc_ids=(FILING,)))
    items, chunks, reranking = found.steps
    assert items.how == "by terms, relative" and sum(int(each.split()[-1]) for each in items.found.split(", ")) == 5
    assert (chunks.how, reranking.how) == ("summary tree and question tree", "by words, no cross-encoder")
    without = gear(workspace, store, parts=ALL_PARTS - {"lexicon"}).search(asked(SUIT), Scope(doc_ids=(FILING,)))
    assert without.steps[0].how == "all alike" and [step.how for step in without.steps[1:]] == [
        chunks.how,
        reranking.how,
    ]


def test_raptor_finds_chunks_by_themselves_and_by_summaries_above_them(
    workspace: Workspace, tmp_path: Path, asked: Callable[[str], Query]
) -> None:
    whole = SMALL.model_copy(update={"whole": True})
    made = build_trees(workspace.index, FILING, workspace.lexicon, chunking=whole)
    (tree,) = made.trees
    assert tree.item == WHOLE and tree.leaves_under(tree.nodes[0]) and Chunking.parsed(str(whole)) == whole
    assert {leaf.number for leaf in tree.leaves_under(tree.nodes[0])} == {leaf.number for leaf in tree.leaves}
    kept = TreeStore(tmp_path)
    kept.write(made)
    raptor = Raptor(workspace, kept, whole, documents=1)
    found = raptor.search(asked(SUIT), Scope(doc_ids=(FILING,)))
    assert "Corvane" in " ".join(each.stored.passage.text for each in found.passages[:5])
    assert found == raptor.search(asked(SUIT), Scope(doc_ids=(FILING,)))


@pytest.mark.parametrize("name", ["lightrag", "graphrag"])
def test_graphs_find_passages_by_what_their_cards_speak_of(
    workspace: Workspace, asked: Callable[[str], Query], name: str
) -> None:
    search = build_strategy(name, workspace)
    found = search.search(asked("What were Harborlight's inventories in FY2024?"), Scope(doc_ids=(FILING,)))
    assert any(page.key.page in (9, 10) for page in found.pages[:5]), "balance sheet or its note"
    assert found == search.search(asked("What were Harborlight's inventories in FY2024?"), Scope(doc_ids=(FILING,)))
    only = (PageKey(FILING, 4),)
    assert {each.stored.key for each in search.search(asked(SUIT), Scope(pages=only)).passages} == set(only)


def test_an_encoder_makes_vectors_of_the_questions_and_compares_by_them(
    workspace: Workspace, tmp_path: Path, asked: Callable[[str], Query]
) -> None:
    encoder = WordyEncoder()
    made = build_trees(workspace.index, FILING, workspace.lexicon, chunking=SMALL, encoder=encoder)
    assert made.encoder == encoder.name
    for tree in made.trees:
        assert len(tree.question_vectors(encoder.dimensions)) == sum(len(node.questions) for node in tree.nodes)
    kept, told = TreeStore(tmp_path), list[str]()
    kept.write(made)
    found = gear(workspace, kept, encoder=encoder, notify=told.append).search(asked(SUIT), Scope(doc_ids=(FILING,)))
    assert found.passages and not told
    other = WordyEncoder("another")
    gear(workspace, kept, encoder=other, notify=told.append).search(asked(SUIT), Scope(doc_ids=(FILING,)))
    assert (
        "have no vectors by another" in told[0]
        and "`fin-agent trees --chunk 60:0 --encoder another --again`" in told[0]
    )


def test_a_filing_without_items_and_one_with_few_are_searched(
    workspace: Workspace, tmp_path: Path, asked: Callable[[str], Query], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = TreeStore(tmp_path)
    event = "tellurond_2024_8k"
    with monkeypatch.context() as patched:
        patched.setattr(workspace.index, "outline", lambda doc_ids: [])
        made = build_trees(workspace.index, event, workspace.lexicon, chunking=SMALL)
    assert [tree.item for tree in made.trees] == [NO_ITEM]
    kept.write(made)
    found = gear(workspace, kept).search(asked("Who was appointed chief executive officer?"), Scope(doc_ids=(event,)))
    assert found.passages and found.steps[0].found == f"{NO_ITEM} 5"


def test_with_fewer_chunks_than_items_the_lightest_items_give_none(
    workspace: Workspace, store: TreeStore, trees: FilingTrees, asked: Callable[[str], Query]
) -> None:
    searching = gear(workspace, store, chunks=2)
    given = searching.item_budgets("What were net sales and operating income?", [trees])
    assert sum(given.values()) == 2 < len(given) and list(given.values()).count(0) >= len(given) - 2
    assert searching.search(asked(SUIT), Scope(doc_ids=(FILING,))).passages


def test_an_item_without_text_has_no_tree_and_no_budget(
    workspace: Workspace, store: TreeStore, trees: FilingTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = trees.trees[1].item
    pages = {page.key for page in workspace.index.outline([FILING]) if page.page.item == empty}
    assert pages and empty in {tree.item for tree in trees.trees}
    read = workspace.index.passages
    with monkeypatch.context() as patched:
        patched.setattr(workspace.index, "passages", lambda keys: read([key for key in keys if key not in pages]))
        made = build_trees(workspace.index, FILING, workspace.lexicon, chunking=SMALL)
    assert {tree.item for tree in made.trees} == made.terms.keys() == {tree.item for tree in trees.trees} - {empty}
    counted = trees.model_copy(update={"terms": {**trees.terms, "10-K.9": {"revenue": 1000}}})
    assert "10-K.9" not in gear(workspace, store).item_budgets("What was revenue?", [counted])
