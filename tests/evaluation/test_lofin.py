"""LOFin and FinQA: their rules by hand, and small files of their form asked through the commands."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fin_agent.answering.answer import RoleUsage
from fin_agent.evaluation.lofin import aligned_page, cost_by_stage, same_number
from fin_agent.index.protocol import PageKey
from fin_agent.workspace import Workspace
from tests.cli.running import Ran

DOC = "harborlight_2023_10k"


@pytest.mark.parametrize(
    ("ours", "gold", "same"),
    [
        ("3.80", "3.8", True),
        ("3.846", "3.85", True),  # rounded half up
        ("3.849", "3.84", True),  # cut off
        ("3.86", "3.84", False),
        ("12.4", "12", True),
        ("0.14", "0.1", True),
        ("0.4", "0.04", False),  # neither has two significant digits
        ("0.14", "0", False),
        ("3215.4", "3215.00", True),  # zeros at the end are no decimals
        ("25718", "25717", False),
        ("-11043.0", "-11043", True),
    ],
)
def test_numbers_are_compared_by_rounding_and_by_cutting_off(ours: str, gold: str, same: bool) -> None:
    assert same_number(Decimal(ours), Decimal(gold)) is same


@pytest.fixture(scope="module")
def revenue(sample_filings: Path) -> dict[str, Any]:
    filings = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
    filing = next(each for each in filings if each["doc_id"] == DOC)
    found: dict[str, Any] = next(
        each for each in filing["figures"] if each["metric"] == "revenue" and each["statement"] == "income"
    )
    return {**found, "company": filing["company"], "year": filing["fiscal_year"]}


def _row(qid: str, question: str, answer: object, page: int, doc_id: str = DOC) -> str:
    evidences = [{"doc_name": doc_id, "page_num": page}]
    return json.dumps({"qid": qid, "question": question, "answer": answer, "evidences": evidences})


def test_lofin_measures_pages_answers_and_errors_and_names_what_it_leaves_out(
    revenue: dict[str, Any], sample_index: Path, tmp_path: Path
) -> None:
    asked = f"What was the {revenue['label']} of {revenue['company']} for FY{revenue['year']}?"
    answered = Ran("ask", asked, "--index", sample_index, "--json").document["answer"]["value"]
    numbers = tmp_path / "numeric_table.jsonl"
    lines = [
        _row("financebench_1", asked, f"${answered:,.1f}", revenue["page"]),
        _row("openqa_1", asked, "7", revenue["page"]),
        "{no JSON",
        _row("x", asked, "7", 900),
        _row("y", asked, "7", 1, "nobody_2023_10k"),
    ]
    numbers.write_text("\n".join(lines), encoding="utf-8")
    words = tmp_path / "textual.jsonl"
    words.write_text(
        _row("z", f"What does {revenue['company']} sell?", "Lamps and ropes.", 1, "quillmark_2023_10k"),
        encoding="utf-8",
    )
    out = tmp_path / "out"
    ran = Ran("eval", "lofin", numbers, words, "--index", sample_index, "--out", out, "--json")
    assert ran.code == 0, ran.err
    report = ran.document
    assert [fault.split(":")[0] for fault in report["left_out"]] == [f"{numbers.name}, line {at}" for at in (3, 4, 5)]
    assert "none of index 900" in report["left_out"][1] and "is not in the index" in report["left_out"][2]
    groups = {group["group"]: group for group in report["report"]["groups"]}
    assert groups["FinanceBench"]["accuracy"] == 1 and groups["SEC-QA"]["accuracy"] == 0
    assert groups["numeric_table"]["recall"] == 1 and groups["textual"]["judged"] == 0
    assert report["macro"]["over"] == ["numeric_table", "textual"] and report["macro"]["accuracy"] == 0.5
    assert report["errors"]["company"] + report["errors"]["none"] == 3
    assert report["rounds"][-1]["recall"] == pytest.approx(2 / 3)
    recalls = [each["recall"] for each in report["curve"]]
    assert recalls == sorted(recalls) and report["curve"][-1]["k"] == 50
    assert report["cost_by_stage"]["retrieval"]["calls"] == 0
    with (out / "rows.csv").open(newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ["financebench_1", "openqa_1", "z"]
    shown = Ran("eval", "lofin", numbers, "--index", sample_index, "--out", out)
    assert "after round 1: precision" in shown.out and "first passage, what is wrong:" in shown.out


def test_what_an_answers_words_cost_is_generation_and_all_before_it_retrieval() -> None:
    made = (("query-rewrite", 4), ("curation", 3), ("reasoning", 2))
    found = cost_by_stage(
        RoleUsage(role=role, model="m", calls=calls, input_tokens=100 * calls, output_tokens=7 * calls)
        for role, calls in made
    )
    assert found == {
        "retrieval": {"calls": 7, "input_tokens": 700, "output_tokens": 49},
        "generation": {"calls": 2, "input_tokens": 200, "output_tokens": 14},
    }


def test_finqa_finds_the_page_of_a_context_and_compares_results(
    revenue: dict[str, Any], workspace: Workspace, sample_index: Path, tmp_path: Path
) -> None:
    page = workspace.index.pages([PageKey(DOC, revenue["page"])])[0].page
    ticker = workspace.index.filing(DOC).identity.ticker
    lines = page.text.split("\n")
    asked = f"What was the {revenue['label']} of {revenue['company']} for FY{revenue['year']}?"
    value = Ran("ask", asked, "--index", sample_index, "--json").document["answer"]["value"]
    context = {"pre_text": lines[:5], "post_text": lines[-5:], "table": [lines]}
    entries = [
        {
            "id": f"{ticker}/{revenue['year']}/page_1.pdf-1",
            **context,
            "qa": {"question": asked, "exe_ans": value * 1.005},
        },
        {"id": f"{ticker}/{revenue['year']}/page_1.pdf-2", **context, "qa": {"question": asked, "exe_ans": "yes"}},
        {"id": f"{ticker}/1999/page_1.pdf-1", **context, "qa": {"question": asked, "exe_ans": 1}},
        {"id": "of another form"},
    ]
    path = tmp_path / "test.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    ran = Ran("eval", "finqa", path, "--index", sample_index, "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    groups = {group["group"]: group for group in ran.document["report"]["groups"]}
    assert groups["numeric"]["accuracy"] == 1 and groups["yes or no"]["accuracy"] == 0
    assert groups["numeric"]["recall"] == 1
    assert [fault.split(":")[0] for fault in ran.document["left_out"]] == ["test.json, entry 4", "test.json, entry 3"]


def test_numbers_and_words_have_to_agree_on_a_page() -> None:
    pages = ["Sales rose. 12,345 and 678", "Debt fell. 99.5 and 1,000", "Sales rose again. 5"]
    assert aligned_page(["99.5", "1,000"], ["Debt fell"], pages) == 1
    assert aligned_page(["99.5", "1,000"], ["again"], pages) is None
    assert aligned_page([], [], pages) is None
