"""`fin-agent check`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fin_agent.evidence.preparing import prepare
from fin_agent.index.sqlite import SqliteIndex
from tests.cli.running import Ran

DOC = "harborlight_2023_10k"


@pytest.fixture(scope="module")
def misread_index(tmp_path_factory: pytest.TempPathFactory, sample_filings: Path) -> Path:
    """An index of one filing whose total assets of a year were misread."""
    prepared = prepare(sample_filings / f"{DOC}.pdf")
    facts = tuple(
        replace(fact, amount=fact.amount * 10)
        if fact.metric == "total_assets" and fact.statement and fact.period.fiscal_year == 2022
        else fact
        for fact in prepared.filing.facts
    )
    folder = tmp_path_factory.mktemp("misread")
    with SqliteIndex.create(folder) as index:
        index.add(replace(prepared.filing, facts=facts), prepared.cards, prepared.summary)
    return folder


def test_sample_filings_agree_with_themselves(sample_index: Path) -> None:
    ran = Ran("check", "--all", "--index", sample_index, "--json")
    assert ran.code == 0
    for filing in ran.document["filings"]:
        held = {check["name"] for check in filing["checks"] if check["outcome"] == "holds"}
        assert filing["fails"] == 0
        assert filing["form"] == "8-K" or {"balance", "cash", "cash flows", "net income"} <= held


def test_a_failed_check_is_told_with_its_page_and_code(misread_index: Path) -> None:
    ran = Ran("check", DOC, "--index", misread_index)
    assert ran.code == 3
    assert "warning: balance, end of FY2022, page 11: Total assets should be" in ran.out
    assert "$46,910 million" in ran.out
    assert ran.out.splitlines()[-1].endswith("1 failed (in 1 filing), 0 could not be made")
    assert ran.err == ""


def test_json_counts_pages_from_0_and_keeps_figures_exact(misread_index: Path) -> None:
    ran = Ran("check", DOC, "--index", misread_index, "--json")
    assert ran.code == 3
    (filing,) = ran.document["filings"]
    assert (filing["doc_id"], filing["fails"]) == (DOC, 1)
    (failed,) = [check for check in filing["checks"] if check["outcome"] == "fails"]
    assert (failed["name"], failed["pages"], failed["difference"]) == ("balance", [10], "42219000000")
    assert failed["period"] == {"fiscal_year": 2022, "quarter": None, "months": 0, "end": "2022-12-31"}
    assert [(figure["value"], figure["weight"]) for figure in failed["figures"]] == [
        ("46910000000", 1),
        ("4691000000", 0),
    ]


def test_only_the_filings_named(sample_index: Path) -> None:
    ran = Ran("check", "quillmark_2024_8k", DOC, DOC, "--index", sample_index, "--json")
    assert [filing["doc_id"] for filing in ran.document["filings"]] == ["quillmark_2024_8k", DOC]


def test_filings_are_named_or_all_are_meant(sample_index: Path) -> None:
    assert Ran("check", "--index", sample_index).code == 2
    assert Ran("check", DOC, "--all", "--index", sample_index).code == 2


def test_unknown_filing(sample_index: Path) -> None:
    ran = Ran("check", "nope", "--index", sample_index)
    assert ran.code == 1
    assert "nope" in ran.err and ran.out == ""
