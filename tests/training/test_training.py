"""Training on the sample filings with models made on the spot: held out, written, taken up, and the same again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("datasets", reason="training needs the extra `training`")
pytest.importorskip("accelerate", reason="training needs the extra `training`")
pytest.importorskip("sentence_transformers", reason="training needs the extra `dense`")

from benchmarks.fit_pages import read_likeness
from fin_agent.errors import QuestionError
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.dense.encoder import load_encoder, load_pair_scorer
from fin_agent.training.cross_validation import Recipe, folds_of, train, write_likeness
from fin_agent.training.supervision import LOOKUPS, TAGS, Material, material_of, read_material
from fin_agent.training.tasks import Embeddings, Pages, Reranker
from fin_agent.workspace import Workspace
from tests.retrieval.dense.tiny_models import WORDS, save_cross, save_static

SMALL = Recipe(rate=1e-3, batch=4, epochs=1, folds=2, length=16, most=6)


@pytest.fixture(scope="module")
def material(sample_html_index: Path, workspace: Workspace) -> Material:
    asked = [_question("right", 2), _question("beyond", 900)]
    targets = {"lookups": 20, "tags": 20, "terms": 40}
    made, left_out = material_of(Workspace.open(sample_html_index), {"file": asked}, **targets)
    assert left_out == ["beyond: there is no page 901 of harborlight_2025_10k"]
    more, _ = material_of(workspace, {}, **targets)
    return Material(made.filings + more.filings, made.asked + more.asked, made.terms + more.terms)


def _question(name: str, page: int) -> FinanceBenchQuestion:
    doc_id = "harborlight_2025_10k"
    pages = (PageKey(doc_id, page),)
    return FinanceBenchQuestion(name, "Harborlight", doc_id, "made", "", f"What is {name}?", "1", pages)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_cross(tmp_path_factory.mktemp("base")))


def test_supervision_comes_from_files_statements_and_tags(material: Material, tmp_path: Path) -> None:
    by_source = {each.source: each for each in material.asked}
    assert by_source.keys() == {"file", LOOKUPS, TAGS}
    tagged, filings = by_source[TAGS], material.by_id
    assert tagged.question.lower() == tagged.question or "Harborlight" in tagged.question or "Inc" in tagged.question
    assert all(place.page < len(filings[place.doc_id].pages) for each in material.asked for place in each.pages)
    assert {each.present for each in material.terms} == {True, False}
    material.write(tmp_path / "examples.jsonl.xz")
    assert read_material(tmp_path / "examples.jsonl.xz") == material
    (tmp_path / "other.xz").write_bytes(b"nothing")
    with pytest.raises(QuestionError, match="contains no training examples"):
        read_material(tmp_path / "other.xz")


def test_companies_are_held_out_whole(material: Material) -> None:
    folds = folds_of(material, SMALL)
    companies = [{material.company_of(each) for each in fold} for fold in folds]
    assert companies[0].isdisjoint(companies[1]) and sum(map(len, folds)) == len(material.asked)
    with pytest.raises(QuestionError, match="cannot be held out"):
        folds_of(material, replace(SMALL, folds=50))


def test_a_page_scorer_is_trained_measured_taken_up_and_the_same_again(
    material: Material, base: str, tmp_path: Path
) -> None:
    task, recipe = Pages(corpus=True), replace(SMALL, base=base, negatives=1)
    first = train(task, material, recipe, tmp_path / "one")
    assert {each["figure"] for each in first["figures"]} == {
        "page recall@5, right filing",
        "page recall@5, all filings",
    }
    assert first["losses"] and first["data"]["sha256"] == material.digest
    assert load_encoder(str(tmp_path / "one" / "model")).dimensions == 16
    lines: list[str] = []
    (tmp_path / "one" / "fold-1.json").unlink()
    (tmp_path / "one" / "fold-0.json").write_text(
        (tmp_path / "one" / "fold-0.json").read_text().replace('"seconds": ', '"seconds": 9')
    )
    again = train(task, material, recipe, tmp_path / "one", final=False, on_progress=lines.append)
    assert lines[0].startswith("fold 1 of 2: 9") and not lines[1].startswith("fold 2 of 2: 9")
    assert again["figures"] == first["figures"]
    assert train(task, material, recipe, tmp_path / "two")["losses"] == first["losses"]
    assert train(task, material, replace(recipe, seed=1), tmp_path / "three")["losses"] != first["losses"]
    path = write_likeness(material, recipe, tmp_path / "one")
    cosines = read_likeness(path)
    of_one = {name: cosines[name]("What is right?", None, ["harborlight_2025_10k"]) for name in cosines}  # type: ignore[arg-type]
    assert of_one["before"].keys() == of_one["after"].keys()
    assert len(of_one["after"]) == len(material.by_id["harborlight_2025_10k"].pages)
    with pytest.raises(QuestionError, match="no cosines of pages"):
        read_likeness(tmp_path / "one" / "training.json")


def test_a_reranker_and_embeddings_are_loaded_by_the_strategies(material: Material, base: str, tmp_path: Path) -> None:
    reranked = train(Reranker(), material, replace(SMALL, base=base, negatives=3), tmp_path / "reranker")
    assert {each["figure"] for each in reranked["figures"]} == {"table recall@5"}
    assert len(load_pair_scorer(str(tmp_path / "reranker" / "model")).score("revenue", ["debt", "assets"])) == 2
    task = Embeddings()
    task.dimensions = (16, 8)
    embedded = train(task, material, replace(SMALL, base=base), tmp_path / "embeddings")
    assert {each["figure"] for each in embedded["figures"]} == {"nDCG@10, 16", "nDCG@10, 8"}
    assert embedded["folds"][0]["after"].keys() == {"Spearman, 16", "Spearman, 8"}
    assert json.loads((tmp_path / "embeddings" / "training.json").read_text())["recipe"]["rate"] == 1e-3


def test_static_vectors_are_trained_and_taken_up(material: Material, tmp_path: Path) -> None:
    recipe = replace(SMALL, base=str(save_static(tmp_path)), length=8)
    document = train(Embeddings(), material, recipe, tmp_path / "embeddings")
    assert {each["figure"] for each in document["figures"]} == {f"nDCG@10, {len(WORDS) + 1}"}
    assert load_encoder(str(tmp_path / "embeddings" / "model")).dimensions == len(WORDS) + 1
