"""Every command: what it prints where, what it writes, and how it ends."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fin_agent.cli import answers, app
from fin_agent.cli.benchmark import standing_for
from fin_agent.cli.reference import reference
from fin_agent.index.protocol import FilingRecord
from fin_agent.workspace import Workspace

LOOKUP = "What was the net sales of Harborlight for FY2023?"
UNKNOWN_COMPANY = "What was the revenue of Apple in FY2022?"
CONTRACT = [
    "id",
    "question",
    "answer",
    "refused",
    "missing",
    "citations",
    "retrieved",
    "ledger",
    "program",
    "assumptions",
    "rounds",
    "seconds",
    "usage",
]


class Ran:
    """A finished command."""

    def __init__(self, *arguments: object) -> None:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="fin-agent")
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it has to be."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("FIN_AGENT_INDEX", "COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def empty_index(tmp_path: Path) -> Path:
    from fin_agent.index.sqlite import SqliteIndex

    SqliteIndex.create(tmp_path / "empty").close()
    return tmp_path / "empty"


def questions_file(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "questions.jsonl"
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines))
    return path


def asked(question: str, **fields: object) -> str:
    return json.dumps({"question": question, **fields})


def without_seconds(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "seconds"}


class TestAsk:
    def test_shows_the_figure_with_its_filing_and_page(self, sample_index: Path, sample_filings: Path) -> None:
        expected = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
        filing = next(each for each in expected if each["doc_id"] == "harborlight_2023_10k")
        printed = next(figure for figure in filing["figures"] if figure["metric"] == "revenue")
        ran = Ran("ask", LOOKUP, "--index", sample_index)
        assert ran.code == 0
        row = next(line for line in ran.out.splitlines() if line.startswith("revenue"))
        assert row.split()[-5:] == [
            "FY2023",
            f"${printed['values'][0]['amount']:,}",
            "million",
            "harborlight_2023_10k",
            str(printed["page"] + 1),
        ]
        assert "def solution():" in ran.out
        assert "1 round" in ran.out.splitlines()[-1]
        assert not ran.err

    def test_json_is_the_contract(self, sample_index: Path) -> None:
        answer = Ran("ask", LOOKUP, "--index", sample_index, "--json").document
        assert list(answer) == CONTRACT
        assert list(answer["answer"]) == ["value", "unit", "text"]
        assert list(answer["citations"][0]) == ["doc_id", "page", "text", "box"]
        assert list(answer["retrieved"]) == ["documents", "pages", "passages"]
        assert list(answer["retrieved"]["pages"][0]) == ["doc_id", "page"]
        assert list(answer["retrieved"]["passages"][0]) == ["doc_id", "page", "text"]
        assert answer["id"] is None

    def test_trace_is_added_only_where_asked_for(self, sample_index: Path) -> None:
        answer = Ran("ask", LOOKUP, "--index", sample_index, "--json", "--trace").document
        assert list(answer) == [*CONTRACT, "trace"]
        nodes = [step["node"] for step in answer["trace"]]
        shown = Ran("ask", LOOKUP, "--index", sample_index, "--trace").out
        places = [shown.index(f"{number}  {node}") for number, node in enumerate(nodes, start=1)]
        assert nodes[0] == "rewrite_query"
        assert places == sorted(places)

    def test_same_question_gives_the_same_but_for_the_time(self, sample_index: Path) -> None:
        first, second = (Ran("ask", LOOKUP, "--index", sample_index, "--json").document for _ in range(2))
        assert without_seconds(first) == without_seconds(second)

    def test_refusal_has_its_own_exit_code_and_says_what_is_missing(self, sample_index: Path) -> None:
        ran = Ran("ask", UNKNOWN_COMPANY, "--index", sample_index)
        assert ran.code == 4
        assert "Refused" in ran.out
        assert "'Apple' is not in the index" in ran.out
        as_json = Ran("ask", UNKNOWN_COMPANY, "--index", sample_index, "--json")
        assert as_json.code == 4
        assert as_json.document["refused"] is True

    def test_text_answer_quotes_its_source(self, sample_index: Path) -> None:
        question = "Who will retire as President and Chief Executive Officer of Tellurond?"
        ran = Ran("ask", question, "--index", sample_index)
        cited = Ran("ask", question, "--index", sample_index, "--json").document["citations"][0]
        assert f"{cited['doc_id']}, page {cited['page'] + 1}" in ran.out
        assert cited["text"][:40] in ran.out

    def test_doc_restricts_the_search(self, sample_index: Path) -> None:
        answer = Ran("ask", LOOKUP, "--doc", "harborlight_2024_10k", "--index", sample_index, "--json").document
        assert answer["retrieved"]["documents"] == ["harborlight_2024_10k"]

    def test_unknown_doc_is_an_error(self, sample_index: Path) -> None:
        ran = Ran("ask", LOOKUP, "--doc", "nowhere", "--index", sample_index, "--json")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == "error: nowhere: this filing is not in the index. `fin-agent filings` lists those that are\n"

    def test_empty_index_is_warned_about(self, empty_index: Path) -> None:
        ran = Ran("ask", UNKNOWN_COMPANY, "--index", empty_index, "--json")
        assert ran.code == 4
        assert ran.err.startswith("warning: the index in ")
        assert ran.document["refused"] is True


class TestErrors:
    def test_are_told_without_a_traceback(self, tmp_path: Path) -> None:
        ran = Ran("ask", LOOKUP, "--index", tmp_path / "none")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("error: ")
        assert "fin-agent ingest" in ran.err
        assert "Traceback" not in ran.err

    def test_debug_shows_the_traceback_too(self, tmp_path: Path) -> None:
        ran = Ran("ask", LOOKUP, "--index", tmp_path / "none", "--debug")
        assert ran.code == 1
        assert "Traceback" in ran.err
        assert ran.err.splitlines()[-1].startswith("error: ")

    def test_unexpected_ones_ask_for_a_report(self, sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*arguments: object, **named: object) -> None:
            raise KeyError("revenue")

        monkeypatch.setattr("fin_agent.cli.asking.answer_question", broken)
        ran = Ran("ask", LOOKUP, "--index", sample_index)
        assert ran.code == 1
        assert ran.err.startswith("error: unexpected KeyError")

    @pytest.mark.parametrize(
        "arguments", [["ask"], ["search", "x", "--level", "word"], ["search", "x", "--k", "0"], ["batch", "x"], ["no"]]
    )
    def test_wrong_usage_is_2(self, arguments: list[str]) -> None:
        assert Ran(*arguments).code == 2


class TestSearch:
    @pytest.mark.parametrize("level", ["document", "page", "passage"])
    def test_lists_k_results_best_first(self, level: str, sample_index: Path) -> None:
        found = Ran("search", LOOKUP, "--level", level, "--k", 3, "--index", sample_index, "--json").document
        scores = [result["score"] for result in found["results"]]
        assert [result["rank"] for result in found["results"]] == [1, 2, 3]
        assert scores == sorted(scores, reverse=True)
        assert found["results"][0]["doc_id"] == "harborlight_2023_10k"
        assert "features" not in found["results"][0]

    def test_people_see_pages_counted_from_one(self, sample_index: Path) -> None:
        arguments = ("search", LOOKUP, "--level", "page", "--k", 1, "--index", sample_index)
        best = Ran(*arguments, "--json").document["results"][0]
        row = Ran(*arguments).out.splitlines()[-1].split()
        assert row[:3] == ["1", best["doc_id"], str(best["page"] + 1)]

    def test_more_results_than_a_round_reads(self, sample_index: Path) -> None:
        found = Ran("search", "net sales", "--level", "page", "--k", 40, "--index", sample_index, "--json").document
        assert len(found["results"]) == 40

    def test_explain_shows_query_and_scores(self, sample_index: Path) -> None:
        arguments = ("search", LOOKUP, "--level", "document", "--explain", "--index", sample_index)
        found = Ran(*arguments, "--json").document
        assert found["query"]["companies"] == ["Harborlight Instruments, Inc."]
        assert found["query"]["periods"] == ["FY2023"]
        assert found["results"][0]["features"]["period"] == 1.0
        assert "period 1.000" in Ran(*arguments).out

    def test_company_that_is_not_there_is_warned_about(self, sample_index: Path) -> None:
        ran = Ran("search", UNKNOWN_COMPANY, "--index", sample_index)
        assert ran.code == 0
        assert ran.err.startswith("warning: the company 'Apple' is not in the index")


class TestBatch:
    def test_answers_in_order_as_ask_does(self, sample_index: Path, tmp_path: Path) -> None:
        questions = questions_file(tmp_path, asked(UNKNOWN_COMPANY, id="b"), "", asked(LOOKUP, id=7, other=1))
        out = tmp_path / "deep" / "answers.jsonl"
        ran = Ran("batch", questions, "--out", out, "--index", sample_index)
        assert ran.code == 0
        assert ran.out.startswith("1 answered, 1 refused, 0 failed")
        first, second = map(json.loads, out.read_text(encoding="utf-8").splitlines())
        alone = Ran("ask", LOOKUP, "--index", sample_index, "--json").document
        assert (first["id"], first["refused"]) == ("b", True)
        assert without_seconds(second) == {**without_seconds(alone), "id": "7"}
        assert [path.name for path in out.parent.iterdir()] == ["answers.jsonl"]

    def test_bad_lines_are_reported_and_the_rest_is_done(self, sample_index: Path, tmp_path: Path) -> None:
        questions = questions_file(
            tmp_path,
            b"\xef\xbb\xbf" + asked(LOOKUP).encode(),
            "not json",
            '{"question": 5}',
            "[1]",
            "{}",
            asked("  "),
            b'{"question": "\xff"}',
            asked(LOOKUP, doc_ids="harborlight_2023_10k"),
            asked(LOOKUP, id="last", doc_ids=["harborlight_2023_10k"]),
        )
        out = tmp_path / "answers.jsonl"
        ran = Ran("batch", questions, "--out", out, "--index", sample_index, "--json")
        assert ran.code == 3
        assert [failure["line"] for failure in ran.document["failed"]] == [2, 3, 4, 5, 6, 7, 8]
        reasons = [failure["reason"] for failure in ran.document["failed"]]
        assert reasons[0].startswith("not JSON (")
        assert reasons[1:5] == [
            "`question`: input should be a valid string",
            "not a JSON object with a `question`",
            "no `question`",
            "`question` is empty",
        ]
        assert "line 3: failed: `question`" in ran.err
        answered = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert [answer["id"] for answer in answered] == [None, "last"]
        assert answered[1]["retrieved"]["documents"] == ["harborlight_2023_10k"]

    def test_question_that_fails_is_refused_beside_the_others(self, sample_index: Path, tmp_path: Path) -> None:
        questions = questions_file(tmp_path, asked(LOOKUP, doc_ids=["nowhere"]), asked(LOOKUP))
        out = tmp_path / "answers.jsonl"
        ran = Ran("batch", questions, "--out", out, "--index", sample_index)
        assert ran.code == 3
        first, second = map(json.loads, out.read_text(encoding="utf-8").splitlines())
        assert list(first) == CONTRACT
        assert first["refused"] and "nowhere" in first["missing"][0]
        assert not second["refused"]

    def test_crash_of_one_question_costs_that_question(
        self, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = answers.answer_question

        def broken(question: str, *arguments: Any, **named: Any) -> Any:
            if question == "crash":
                raise ZeroDivisionError("by zero")
            return whole(question, *arguments, **named)

        monkeypatch.setattr(answers, "answer_question", broken)
        questions = questions_file(tmp_path, asked("crash"), asked(LOOKUP))
        ran = Ran("batch", questions, "--out", tmp_path / "a.jsonl", "--index", sample_index, "--json")
        assert ran.code == 3
        assert "ZeroDivisionError" in ran.document["failed"][0]["reason"]
        assert ran.document["answered"] == 1

    def test_stopped_run_leaves_no_half_file(
        self, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = answers.answer_question

        def stopped(question: str, *arguments: Any, **named: Any) -> Any:
            if question == "stop":
                raise KeyboardInterrupt
            return whole(question, *arguments, **named)

        monkeypatch.setattr(answers, "answer_question", stopped)
        out = tmp_path / "answers.jsonl"
        out.write_text("earlier\n", encoding="utf-8")
        questions = questions_file(tmp_path, asked(LOOKUP), asked("stop"), asked(LOOKUP))
        ran = Ran("batch", questions, "--out", out, "--index", sample_index)
        assert ran.code == 130
        assert out.read_text(encoding="utf-8") == "earlier\n"
        kept = (tmp_path / "answers.jsonl.part").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["question"] for line in kept] == [LOOKUP]
        assert "the 1 answers so far are in" in ran.err

    def test_questions_are_not_replaced(self, sample_index: Path, tmp_path: Path) -> None:
        questions = questions_file(tmp_path, asked(LOOKUP))
        ran = Ran("batch", questions, "--out", questions, "--index", sample_index)
        assert ran.code == 1
        assert questions.read_text(encoding="utf-8") == asked(LOOKUP)

    @pytest.mark.parametrize("content", [b"", b"\n \n"])
    def test_file_without_questions_is_an_error(self, content: bytes, sample_index: Path, tmp_path: Path) -> None:
        questions = questions_file(tmp_path, content)
        ran = Ran("batch", questions, "--out", tmp_path / "a.jsonl", "--index", sample_index)
        assert (ran.code, ran.err.startswith("error: ")) == (1, True)
        assert not (tmp_path / "a.jsonl").exists()


class TestIngest:
    def test_bad_file_is_reported_and_the_rest_is_read(self, sample_filings: Path, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        good = sample_filings / "harborlight_2024_8k.pdf"
        (tmp_path / "in" / "good.pdf").write_bytes(good.read_bytes())
        (tmp_path / "in" / "bad.pdf").write_bytes(b"no pdf")
        arguments = ("ingest", tmp_path / "in", "--index", tmp_path / "index", "--workers", 0, "--json")
        ran = Ran(*arguments)
        assert ran.code == 3
        assert (ran.document["added"], ran.document["failed"], ran.document["filings"]) == (1, 1, 1)
        assert [Path(file["path"]).name for file in ran.document["files"]] == ["bad.pdf", "good.pdf"]
        assert "[1/2]" in ran.err and "[2/2]" in ran.err
        assert "bad.pdf: failed: " in ran.err
        again = Ran(*arguments).document
        assert (again["added"], again["unchanged"], again["failed"]) == (0, 1, 1)

    def test_summary_for_people(self, sample_filings: Path, tmp_path: Path) -> None:
        ran = Ran("ingest", sample_filings / "harborlight_2024_8k.pdf", "--index", tmp_path / "i", "--workers", 0)
        assert ran.code == 0
        assert ran.out.startswith("1 added, 0 unchanged, 0 failed, in ")
        assert "harborlight_2024_8k: added, 2 pages" in ran.err

    def test_folder_without_filings_is_an_error(self, tmp_path: Path) -> None:
        ran = Ran("ingest", tmp_path, "--index", tmp_path / "index")
        assert ran.code == 1
        assert "there is no filing here" in ran.err
        assert not (tmp_path / "index").exists()


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

    def test_index_that_is_not_made_yet(self, tmp_path: Path) -> None:
        ran = Ran("info", "--index", tmp_path / "none")
        assert ran.code == 0
        assert "not made yet" in ran.out

    def test_damaged_index_fails(self, tmp_path: Path) -> None:
        (tmp_path / "filings.sqlite").write_bytes(b"no database at all")
        ran = Ran("info", "--index", tmp_path, "--json")
        assert ran.code == 1
        assert ran.document["index_state"] == "cannot be read"
        assert "damaged" in ran.err

    def test_version(self) -> None:
        from importlib.metadata import version

        assert Ran("--version").out == f"{version('fin-agent')}\n"


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
        overall = ran.document["report"]["overall"]
        assert (overall["questions"], overall["numeric_match"], overall["refusals"]) == (2, 1.0, 1)
        assert overall["retrieval"]["document_recall"] == 0.5
        with (out / "rows.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["id"], row["filing_type"]) for row in rows] == [("q1", "10-K"), ("q2", "unknown")]
        written = [json.loads(line) for line in (out / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [answer["id"] for answer in written] == ["q1", "q2"]
        assert list(written[0]) == CONTRACT
        assert "warning: 1 of the filings asked about are not in the index: APPLE_2022" in ran.err

    def test_table_names_every_group_within_100_columns(
        self, questions: Path, sample_index: Path, tmp_path: Path
    ) -> None:
        ran = Ran("eval", "financebench", "--questions", questions, "--out", tmp_path / "o", "--index", sample_index)
        for name in ("overall", "metrics-generated", "novel-generated", "10-K", "unknown", "document", "p95 s"):
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
        assert standing_for(records) == {"a": "a", "b": "a"}


def test_reference_is_up_to_date() -> None:
    written = Path(__file__).parents[1] / "docs" / "cli.md"
    assert written.read_text(encoding="utf-8") == reference()


def test_reference_holds_every_option_that_help_shows() -> None:
    for command in ("ingest", "ask", "search", "batch", "filings", "info", "eval financebench"):
        section = reference().split(f"## fin-agent {command}\n")[1].split("\n## ")[0]
        options = {word.strip(",") for word in Ran(*command.split(), "--help").out.split() if word.startswith("--")}
        assert options - {"--help"} and all(f"`{option}`" in section for option in options - {"--help"})


def test_help_does_not_wait_for_the_engine() -> None:
    program = (
        "import sys, fin_agent.cli; print(sorted({'pydantic', 'langgraph', 'pymupdf', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
