"""`eval ranking` over the sample filings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Ran

pytest.importorskip("scipy", reason='needs `pip install ".[evaluation]"`')
FIGURES = ("revenue", "total_assets")


@pytest.fixture(scope="module")
def questions(sample_filings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ranked") / "questions.jsonl"
    filings: list[dict[str, Any]] = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
    lines = [
        {
            "financebench_id": f"{filing['doc_id']}-{figure['metric']}",
            "company": filing["company"],
            "doc_name": filing["doc_id"],
            "question_type": "metrics-generated",
            "question": f"What was the {figure['label']} of {filing['company']} for FY{filing['fiscal_year']}?",
            "answer": "1",
            "evidence": [{"doc_name": filing["doc_id"], "evidence_page_num": figure["page"]}],
        }
        for filing in filings
        if filing["form"] == "10-K" and filing["fiscal_year"] == 2024
        for figure in filing["figures"]
        if figure["metric"] in FIGURES and figure["statement"] in ("income", "balance")
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_one_table_with_a_line_per_stage(questions: Path, sample_index: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures"
    ran = Ran("eval", "ranking", "--questions", questions, "--index", sample_index, "--seeds", 2, "--out", out)
    assert ran.code == 0, ran.err
    for said in ("nDCG@10", "MAP@10", "MRR@10", "BM25", "stage 1", "stages 1+2", "stages 1+2+3"):
        assert said in ran.out
    assert "without time" not in ran.out
    assert f"written: {out / 'rankings.csv'}" in ran.err
    assert len((out / "rankings.csv").read_text(encoding="utf-8").splitlines()) == 1 + 4 * 6


def test_json_with_ablations_is_the_same_again(questions: Path, sample_index: Path) -> None:
    arguments = ("eval", "ranking", "--questions", questions, "--index", sample_index, "--seeds", 1, "--ablations")
    first, second = (Ran(*arguments, "--json", "--resamples", 100).document for _ in range(2))
    figures = {each["group"]: each for each in first["report"]["groups"]}
    assert "without metrics" in figures
    assert figures["stages 1+2+3"]["ndcg"]["mean"] > figures["BM25"]["ndcg"]["mean"]
    assert figures["stages 1+2+3"]["questions"] == 6
    for document in (first, second):
        del document["seconds"]
        for each in document["report"]["groups"]:
            del each["seconds"]
    assert first == second


def test_noise_is_of_the_rules_and_not_of_a_model(questions: Path, sample_index: Path, tmp_path: Path) -> None:
    arguments = (
        "eval",
        "ranking",
        "--questions",
        questions,
        "--index",
        sample_index,
        "--waver",
        0.5,
        "--out",
        tmp_path,
    )
    document = Ran(*arguments, "--seeds", 1, "--resamples", 100, "--json").document
    figures = {each["group"]: each for each in document["report"]["groups"]}
    assert figures["stages 1+2+3"]["questions"] == 6
    ran = Ran(*arguments, "--judge", "openai:gpt-5.4")
    assert ran.code == 2
    assert "without --judge" in ran.err


def test_an_index_without_the_filings_is_an_error_with_a_remedy(questions: Path, empty_index: Path) -> None:
    ran = Ran("eval", "ranking", "--questions", questions, "--index", empty_index)
    assert ran.code != 0
    assert "Ingest the filings" in ran.err
