"""What is listed, checked and taken out."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.cli import get_docs_for_click

from fin_agent.cli.app import COMMANDS, app
from fin_agent.evaluation.financebench import duplicates_of_filings
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.index.protocol import FilingRecord, FilingVectors, VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.workspace import Workspace
from tests.cli.running import CONTRACT, LOOKUP, UNKNOWN_COMPANY, Ran, questions_file


class TestFilings:
    def test_lists_what_is_indexed_by_company_and_time(self, sample_index: Path, sample_filings: Path) -> None:
        expected = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
        listed = Ran("filings", "--index", sample_index, "--json").document["filings"]
        fields = ("doc_id", "company", "form", "period_end", "pages")
        wanted = {tuple(each[name] for name in fields) for each in expected}
        assert {tuple(each[name] for name in fields) for each in listed} == wanted
        keys = [(each["company"], each["period_end"]) for each in listed]
        assert keys == sorted(keys)

    def test_table_is_right_aligned_where_it_counts(self, sample_index: Path) -> None:
        lines = Ran("filings", "--index", sample_index).out.splitlines()
        rows = [line for line in lines if line.startswith(("harborlight", "quillmark", "tellurond"))]
        assert len(rows) == 15
        assert len({len(row) for row in [lines[0], *rows]}) == 1
        assert "Q3 FY2024" in next(row for row in rows if row.startswith("harborlight_2024q3"))


class TestInfo:
    def test_says_why_this_index(self, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        named = Ran("info", "--index", sample_index, "--json").document
        assert (named["index"], named["index_chosen_by"]) == (str(sample_index), "--index")
        assert (named["filings"], named["companies"]) == (15, 3)
        assert named["index_bytes"] > 100_000 and named["pages"] > 100 and named["facts"] > 1000
        monkeypatch.setenv("FIN_AGENT_INDEX", str(sample_index))
        assert Ran("info", "--json").document["index_chosen_by"] == "FIN_AGENT_INDEX"
        monkeypatch.setenv("FIN_AGENT_INDEX", "")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        assert Ran("info", "--json").document["index_chosen_by"] == "default"

    def test_lists_the_vectors(self, sample_index: Path, tmp_path: Path) -> None:
        assert "none; `fin-agent embed` computes them" in Ran("info", "--index", sample_index).out
        assert Ran("info", "--index", sample_index, "--json").document["vectors"] == []
        shutil.copytree(sample_index, tmp_path / "index")
        with SqliteIndex(tmp_path / "index") as index:
            for record in index.filings()[:2]:
                index.add_vectors("small", VectorUnit.SUMMARY, FilingVectors(record.doc_id, (0,), 2, b"\0" * 4))
            index.add_vectors("small", VectorUnit.PAGE, FilingVectors(record.doc_id, (0, 1, 2), 2, b"\0" * 12))
        held = Ran("info", "--index", tmp_path / "index", "--json").document["vectors"]
        told = [(each["model"], each["unit"], each["kind"], each["filings"], each["vectors"]) for each in held]
        assert told == [("small", "page", "dense", 1, 3), ("small", "summary", "dense", 2, 2)]
        assert "small, by summary: 2 of 15 filings, 2 vectors" in Ran("info", "--index", tmp_path / "index").out

    def test_index_that_is_not_made_yet(self, tmp_path: Path) -> None:
        ran = Ran("info", "--index", tmp_path / "none")
        assert ran.code == 0
        assert "does not exist yet" in ran.out

    def test_damaged_index_fails(self, tmp_path: Path) -> None:
        (tmp_path / "filings.sqlite").write_bytes(b"no database at all")
        ran = Ran("info", "--index", tmp_path, "--json")
        assert ran.code == 1
        assert ran.document["index_state"] == "cannot be read"
        assert "damaged" in ran.err

    def test_version(self) -> None:
        from importlib.metadata import version

        assert Ran("--version").out == f"{version('langgraph-fin-agent')}\n"


class TestFinanceBench:
    @pytest.fixture
    def questions(self, tmp_path: Path) -> Path:
        def line(number: int, kind: str, doc_id: str, page: int, question: str, answer: str) -> str:
            evidence = [{"doc_name": doc_id, "evidence_page_num": page}]
            fields = {"financebench_id": f"q{number}", "company": "x", "doc_name": doc_id, "question_type": kind}
            return json.dumps({**fields, "question": question, "answer": answer, "evidence": evidence})

        return questions_file(
            tmp_path,
            line(1, "metrics-generated", "harborlight_2023_10k", 8, LOOKUP, "$3533.00"),
            line(2, "novel-generated", "APPLE_2022", 3, UNKNOWN_COMPANY, "a lot"),
        )

    def test_writes_rows_and_answers_and_reports(self, questions: Path, sample_index: Path, tmp_path: Path) -> None:
        out = tmp_path / "report"
        ran = Ran("eval", "financebench", "--questions", questions, "--out", out, "--index", sample_index, "--json")
        assert ran.code == 0
        overall = ran.document["report"]["groups"][0]
        assert (overall["questions"], overall["numeric_match"], overall["refusals"]) == (2, 1.0, 1)
        assert overall["document_recall"] == 0.5
        with (out / "rows.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["id"], row["filing_type"]) for row in rows] == [("q1", "10-K"), ("q2", "unknown")]
        written = [json.loads(line) for line in (out / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [answer["id"] for answer in written] == ["q1", "q2"]
        assert list(written[0]) == CONTRACT
        assert json.loads((out / "report.json").read_text(encoding="utf-8")) == ran.document
        assert "warning: 1 of the filings asked about are not in the index: APPLE_2022" in ran.err

    def test_tells_why_what_is_missed_is_missed(self, sample_index: Path, tmp_path: Path) -> None:
        cases = [
            ("right", LOOKUP, "It was $3,533 million."),
            ("other", LOOKUP, "It was $9,533 million."),
            ("nobody", UNKNOWN_COMPANY, "$5 million"),
            ("dropped", "What drives the business of Harborlight?", "It made up 77.7% of net sales."),
        ]
        evidence = [{"doc_name": "harborlight_2023_10k", "evidence_page_num": 8}]
        lines = [
            {"financebench_id": name, "question": question, "answer": gold, "evidence": evidence}
            for name, question, gold in cases
        ]
        more = {"company": "x", "doc_name": "harborlight_2023_10k", "question_type": "novel-generated"}
        questions = questions_file(tmp_path, *(json.dumps({**line, **more}) for line in lines))
        options = ("--out", tmp_path / "out", "--index", sample_index)
        ran = Ran("eval", "financebench", "--questions", questions, *options, "--oracle", "page", "--json")
        overall = ran.document["report"]["groups"][0]
        assert (overall["figure_questions"], overall["numeric_match_any"], overall["stated_match"]) == (4, 0.25, 0.25)
        stages = {miss["id"]: miss["stage"] for miss in ran.document["misses"]}
        assert stages == {"other": "computed", "nobody": "refused_at_once", "dropped": "passage"}
        with (tmp_path / "out" / "misses.csv").open(encoding="utf-8", newline="") as file:
            told = list(csv.DictReader(file))
        assert [line["id"] for line in told] == list(stages)
        assert [line["stage"] for line in told] == list(stages.values()) and "3,533" in told[0]["detail"]

    @pytest.mark.parametrize("oracle", ["document", "page"])
    def test_what_is_given_away_is_all_that_is_retrieved(
        self, questions: Path, sample_index: Path, tmp_path: Path, oracle: str
    ) -> None:
        options = ("--out", tmp_path, "--index", sample_index, "--oracle", oracle, "--json")
        ran = Ran("eval", "financebench", "--questions", questions, *options)
        assert (ran.code, ran.document["oracle"]) == (0, oracle)
        first, second = map(json.loads, (tmp_path / "answers.jsonl").read_text(encoding="utf-8").splitlines())
        assert first["retrieved"]["documents"] == ["harborlight_2023_10k"] and not first["refused"]
        retrieved = {page["page"] for page in first["retrieved"]["pages"]}
        assert retrieved == {8} if oracle == "page" else retrieved > {8}
        assert second["refused"] and second["retrieved"]["pages"] == []

    def test_table_names_every_group_within_100_columns(
        self, questions: Path, sample_index: Path, tmp_path: Path
    ) -> None:
        ran = Ran("eval", "financebench", "--questions", questions, "--out", tmp_path / "o", "--index", sample_index)
        for name in (
            "overall",
            "metrics-generated",
            "novel-generated",
            "10-K",
            "unknown",
            "document",
            "p95 s",
            "stated",
        ):
            assert name in ran.out
        assert "…" not in ran.out
        assert max(map(len, ran.out.splitlines())) <= 100

    def test_filings_with_the_same_bytes_stand_for_each_other(self, sample_index: Path) -> None:
        workspace = Workspace.open(sample_index)
        first, second, third = workspace.index.filings()[:3]

        def named(doc_id: str, record: FilingRecord) -> FilingRecord:
            import dataclasses

            return dataclasses.replace(record, doc_id=doc_id)

        records = [named("b", first), named("c", second), named("a", first), named("d", third)]
        assert duplicates_of_filings(records) == {"a": "a", "b": "a"}


def test_reference_is_up_to_date() -> None:
    written = Path(__file__).parents[2] / "docs" / "cli.md"
    command = typer.main.get_command(app)
    reference = get_docs_for_click(obj=command, ctx=typer.Context(command), name="fin-agent", title="Command line")
    assert written.read_text(encoding="utf-8").strip() == reference.strip(), (
        "python -m typer fin_agent.cli.app utils docs --name fin-agent --title 'Command line' --output docs/cli.md"
    )


def test_the_list_says_of_each_command_what_its_help_begins_with() -> None:
    def listed(commands: Mapping[str, Any], *above: str) -> None:
        for name, (place, said) in commands.items():
            told = " ".join(Ran(*above, name, "--help").out.split())
            first, _, _ = said.removesuffix(".").partition(",")
            assert first in told, name
            if isinstance(place, Mapping):
                listed(place, *above, name)

    listed(COMMANDS)


def test_help_does_not_wait_for_the_engine() -> None:
    program = (
        "import sys, fin_agent.cli; print(sorted({'pydantic', 'langgraph', 'pymupdf', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


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
    assert ran.out.splitlines()[-1].endswith("1 failed, 0 could not be made")
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


FILING = Path(__file__).parents[2] / "examples" / "filings" / "harborlight_2024_8k.pdf"


@pytest.fixture
def index(tmp_path: Path, sample_index: Path) -> Path:
    return Path(shutil.copytree(sample_index, tmp_path / "index"))


def doc_ids(index: Path) -> list[str]:
    return [filing["doc_id"] for filing in Ran("filings", "--index", index, "--json").document["filings"]]


def test_what_is_removed_is_found_no_more(index: Path) -> None:
    before = doc_ids(index)
    ran = Ran("remove", "harborlight_2023_10k", "quillmark_2024_8k", "--index", index)
    assert (ran.code, ran.err) == (0, "")
    said = f"2 removed, 0 unknown. The index in {index} contains {len(before) - 2} filings."
    assert " ".join(ran.out.split()) == said
    assert set(before) - set(doc_ids(index)) == {"harborlight_2023_10k", "quillmark_2024_8k"}
    answer = Ran("ask", LOOKUP, "--index", index, "--no-record", "--json").document
    assert "harborlight_2023_10k" not in answer["retrieved"]["documents"]


def test_unknown_ones_are_told_and_the_others_removed(index: Path) -> None:
    before = len(doc_ids(index))
    ran = Ran("remove", "nowhere", "harborlight_2024_8k", "harborlight_2024_8k", "--index", index, "--json")
    assert ran.code == 3
    assert ran.document == {"removed": ["harborlight_2024_8k"], "unknown": ["nowhere"], "filings": before - 1}
    assert (
        ran.err.startswith("error: nowhere: ")
        and f"`fin-agent filings --index {index}`" in ran.err
        and ran.err.count("\n") == 1
    )


def test_ingesting_the_same_file_again_adds_it(tmp_path: Path) -> None:
    index = tmp_path / "own"
    for expected in ({"added": 1, "unchanged": 0}, {"added": 0, "unchanged": 1}):
        ran = Ran("ingest", FILING, "--workers", 0, "--index", index, "--json")
        assert {name: ran.document[name] for name in expected} == expected
    assert Ran("remove", FILING.stem, "--index", index).code == 0
    assert doc_ids(index) == []
    assert Ran("ingest", FILING, "--workers", 0, "--index", index, "--json").document["added"] == 1
    assert doc_ids(index) == [FILING.stem]


@pytest.mark.parametrize("arguments", [[], ["x"]])
def test_without_a_name_or_an_index(arguments: list[str], tmp_path: Path) -> None:
    ran = Ran("remove", *arguments, "--index", tmp_path / "none")
    assert ran.code == (1 if arguments else 2) and ran.out == ""
