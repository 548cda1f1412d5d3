"""The strategies that need vectors, with encoders made of plain words."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="vectors need numpy")

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import EvidenceRoles
from fin_agent.config import Settings
from fin_agent.index.protocol import PageKey, VectorUnit
from fin_agent.retrieval.dense.store import embed
from fin_agent.retrieval.search_query import Depth, Query, Scope
from fin_agent.retrieval.strategies.protocol import Models, Strategy, StrategyError
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import CHIEF, CHIEF_PAGE, SUIT, Script, key_of
from tests.retrieval.strategies.wordy_encoders import WordyEncoder, WordySparseEncoder

NAMES = (
    "dense", "parent-child", "splade", "page-then-chunk", "query-expansion:dense", "hhr:dense",
    "hirec-no-document-reranker-no-passage-reranker:parent-child", "page-then-chunk:splade", "hybrid", "hhr",
    "hirec-no-document-reranker-no-passage-reranker",
)  # fmt: skip


@pytest.fixture(scope="module")
def embedded(sample_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the sample index with vectors of every unit."""
    folder = tmp_path_factory.mktemp("embedded") / "index"
    shutil.copytree(sample_index, folder)
    workspace = Workspace.open(folder)
    for encoder in (WordyEncoder(), WordySparseEncoder()):
        embed(workspace.index, encoder, list(VectorUnit))
    return workspace


@pytest.fixture
def models(embedded: Workspace) -> Models:
    roles = EvidenceRoles(RulesAnalyst(embedded), embedded)
    return Models(
        curator=roles.curate, rewriter=roles.rewrite, encoder=WordyEncoder(), sparse_encoder=WordySparseEncoder()
    )


@pytest.fixture(params=NAMES)
def strategy(request: pytest.FixtureRequest, embedded: Workspace, models: Models) -> Strategy:
    return build_strategy(request.param, embedded, models=models)


def test_the_right_filing_and_page_come_first(strategy: Strategy, asked: Callable[[str], Query]) -> None:
    found = strategy.search(asked(CHIEF))
    assert found.filings[0].doc_id == CHIEF_PAGE.doc_id
    assert found.pages[0].key == found.passages[0].stored.key == CHIEF_PAGE
    # without a notion of rare words, the quarter's page may come before the year's
    found = strategy.search(asked(SUIT))
    assert any(page.key.doc_id.startswith("harborlight_2024") for page in found.pages[:2])


def test_scope_and_depth_are_kept(strategy: Strategy, asked: Callable[[str], Query]) -> None:
    only = strategy.search(asked(CHIEF), Scope(doc_ids=("tellurond_2023_10k",)))
    assert {filing.doc_id for filing in only.filings} == {"tellurond_2023_10k"}
    assert {page.key.doc_id for page in only.pages} == {"tellurond_2023_10k"}
    assert {passage.stored.doc_id for passage in only.passages} == {"tellurond_2023_10k"}
    pages = (PageKey("harborlight_2024_10k", 4), PageKey("harborlight_2024_10k", 5), CHIEF_PAGE)
    few = strategy.search(asked(SUIT), Scope(pages=pages))
    assert few.pages[0].key == pages[0]
    assert {page.key for page in few.pages} <= set(pages)
    assert {passage.stored.key for passage in few.passages} <= set(pages)
    assert strategy.search(asked(CHIEF), Scope(doc_ids=())).passages == ()
    deep = strategy.search(asked("How did net sales and operating income change?"), depth=Depth(3, 12, 7))
    assert (len(deep.filings), len(deep.pages), len(deep.passages)) == (3, 12, 7)
    scores = [passage.score for passage in deep.passages]
    assert scores == sorted(scores, reverse=True)
    assert len({key_of(passage) for passage in deep.passages}) == 7


def test_the_same_is_found_again_and_by_many_at_once(strategy: Strategy, asked: Callable[[str], Query]) -> None:
    query = asked(SUIT)
    once = strategy.search(query)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == once for found in pool.map(strategy.search, [query] * 6))


@pytest.mark.parametrize("text", ["", "?!...", "revenue " * 1250])
def test_odd_questions_are_no_error(strategy: Strategy, text: str) -> None:
    strategy.search(Query(text, terms=()))


def test_companies_periods_and_figures_are_not_read(
    embedded: Workspace, models: Models, asked: Callable[[str], Query]
) -> None:
    query = asked("What was Harborlight's gross profit in 2024?")
    for name in ("dense", "parent-child", "splade", "page-then-chunk"):
        strategy = build_strategy(name, embedded, models=models)
        assert strategy.search(query) == strategy.search(Query(query.text, terms=()))


def test_a_passage_counts_by_its_nearest_window(embedded: Workspace, models: Models) -> None:
    dense = build_strategy("dense", embedded, models=models)
    windows = build_strategy("parent-child", embedded, models=models)
    long = max(embedded.index.passages([PageKey("harborlight_2024_10k", n) for n in range(19)]),
               key=lambda stored: len(stored.passage.text))  # fmt: skip
    end = Query(" ".join(long.passage.text.split()[-40:]), terms=())
    nearest = windows.search(end).passages[0]
    assert nearest.stored.passage == long.passage
    assert nearest.score > dense.search(end).passages[0].score
    deep = windows.search(end, depth=Depth(5, 20, 100)).passages
    assert len({key_of(passage) for passage in deep}) == len(deep) == 100


def test_what_is_made_up_is_encoded_as_a_passage(embedded: Workspace, script: type[Script], notes: list[str]) -> None:
    encoder = WordyEncoder()
    replies = ["On June 18 the board appointed a chief executive officer"] * 3 + [""]
    models = Models(writer=script(*replies).write, encoder=encoder, notify=notes.append)
    found = build_strategy("multi-hyde", embedded, models=models).search(Query("Who leads it?", terms=()))
    assert found.passages[0].stored.key == CHIEF_PAGE
    assert encoder.made_up == replies[:3] and encoder.queries == []
    assert len(notes) == 1
    models = Models(writer=script("").write, encoder=encoder, notify=notes.append)
    build_strategy("hyde", embedded, models=models).search(Query("Who leads it?", terms=()))
    assert encoder.queries == ["Who leads it?"]


def test_several_texts_search_with_their_mean() -> None:
    from fin_agent.retrieval.strategies.one_pass import Wording, dense_vector, sparse_vector

    two = Wording(("revenue", "goodwill"))
    one, other = WordyEncoder().encode_queries(["revenue", "goodwill"])
    assert dense_vector(WordyEncoder(), two).tolist() == ((one + other) / 2).tolist()
    mean = sparse_vector(WordySparseEncoder(), Wording(("revenue", "goodwill revenue")))
    assert sorted(mean.weights.tolist()) == pytest.approx([0.5**0.5 / 2, (1 + 0.5**0.5) / 2])
    assert mean.terms.tolist() == sorted(mean.terms.tolist())


def test_a_question_is_encoded_once_for_all_stages(embedded: Workspace, asked: Callable[[str], Query]) -> None:
    encoder = WordyEncoder()
    build_strategy("hhr:dense", embedded, models=Models(encoder=encoder)).search(asked(SUIT))
    assert encoder.queries == [asked(SUIT).text]


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("dense", "passages"),
        ("parent-child", "windows"),
        ("page-then-chunk", "pages,passages"),
        ("hhr:parent-child", "summaries,windows"),
        ("hyde:page-then-chunk", "pages,passages"),
    ],
)
def test_without_vectors_it_says_what_to_run(workspace: Workspace, script: type[Script], name: str, units: str) -> None:
    models = Models(encoder=WordyEncoder(), writer=script("x").write)
    with pytest.raises(
        StrategyError, match=f"'{name}': it needs vectors.*fin-agent embed --model wordy --units {units}`"
    ):
        build_strategy(name, workspace, models=models)


@pytest.mark.parametrize("name", ["dense", "parent-child", "page-then-chunk", "default-dense"])
def test_vectors_of_another_model_are_not_taken(embedded: Workspace, name: str) -> None:
    with pytest.raises(StrategyError, match=rf"'{name}': it needs vectors.* by another, .* embed --model another "):
        build_strategy(name, embedded, models=Models(encoder=WordyEncoder("another")))


def test_without_vectors_of_the_sparse_model_it_says_what_to_run(workspace: Workspace) -> None:
    with pytest.raises(StrategyError, match=r"fin-agent embed .*wordy-sparse --units passages --sparse`"):
        build_strategy("splade", workspace, models=Models(sparse_encoder=WordySparseEncoder()))


def test_vectors_of_some_filings_only_are_warned_of(
    sample_index: Path, tmp_path: Path, notes: list[str], asked: Callable[[str], Query]
) -> None:
    shutil.copytree(sample_index, tmp_path / "index")
    workspace = Workspace.open(tmp_path / "index")

    class StoppedError(Exception):
        pass

    def first_two(filing: object) -> None:
        done.append(filing)
        if len(done) == 2:
            raise StoppedError

    done: list[object] = []
    with pytest.raises(StoppedError):
        embed(workspace.index, WordyEncoder(), [VectorUnit.PASSAGE], first_two)
    dense = build_strategy("dense", workspace, models=Models(encoder=WordyEncoder(), notify=notes.append))
    assert notes == [
        "13 of 15 filings have no vectors of passages by wordy yet: strategy 'dense' does not find them."
        " Run `fin-agent embed --model wordy --units passages`"
    ]
    assert len(dense.search(asked(CHIEF)).filings) == 2


def test_twenty_pages_are_looked_into(embedded: Workspace, models: Models, asked: Callable[[str], Query]) -> None:
    found = build_strategy("page-then-chunk", embedded, Settings(pages=2), models).search(asked(SUIT))
    assert {passage.stored.key for passage in found.passages} <= {page.key for page in found.pages[:2]}
