"""`batch` and `ingest`: what they write, and what they say of what failed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from fin_agent.cli import asking
from tests.cli.running import CONTRACT, LOOKUP, UNKNOWN_COMPANY, Ran, asked, questions_file, without_seconds


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

    def test_processes_answer_as_one_does_wherever_the_user_stands(
        self, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "types.py").write_text("raise SystemExit('a module of the folder was loaded')")
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        monkeypatch.setattr("os.cpu_count", lambda: 2)
        lines = [asked(LOOKUP, id="a"), "not json", asked(UNKNOWN_COMPANY, id="b"), asked(LOOKUP, doc_ids=["nowhere"])]
        told = {}
        for jobs in (1, 3):
            out = tmp_path / f"{jobs}.jsonl"
            ran = Ran("batch", questions_file(tmp_path, *lines), "--out", out, "--index", sample_index, "--jobs", jobs)
            assert ran.code == 3 and ran.out.startswith("1 answered, 1 refused, 2 failed"), ran.err
            told[jobs] = [without_seconds(json.loads(line)) for line in out.read_text(encoding="utf-8").splitlines()]
        assert told[1] == told[3]

    @pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are listed by Linux alone")
    def test_processes_end_with_a_batch_that_is_killed(self, sample_index: Path, tmp_path: Path) -> None:
        questions, out = questions_file(tmp_path, *[asked(LOOKUP)] * 2_000), tmp_path / "answers.jsonl"
        program = "import os; os.cpu_count = lambda: 2; from fin_agent.cli import main; main()"
        options = ["--out", out, "--index", sample_index, "--jobs", "2", "--no-record"]
        with subprocess.Popen([sys.executable, "-c", program, "batch", questions, *options], stderr=PIPE) as batch:
            unfinished = tmp_path / "answers.jsonl.part"
            assert _soon(lambda: unfinished.exists() and unfinished.read_bytes().count(b"\n") > 1)
            below = _processes_below(batch.pid)
            batch.kill()
        assert len(below) >= 3
        assert _soon(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))

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
        assert reasons[0].startswith("the line cannot be used (Invalid JSON")
        assert reasons[1] == "field `question` cannot be used (Input should be a valid string)"
        assert reasons[2].startswith("the line cannot be used (Input should be an object")
        assert reasons[3] == "field `question` is missing"
        assert reasons[4] == "field `question` cannot be used (String should have at least 1 character)"
        assert "line 3: failed: field `question`" in ran.err
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
        whole = asking.answer_question

        def broken(question: str, *arguments: Any, **named: Any) -> Any:
            if question == "crash":
                raise ZeroDivisionError("by zero")
            return whole(question, *arguments, **named)

        monkeypatch.setattr(asking, "answer_question", broken)
        questions = questions_file(tmp_path, asked("crash"), asked(LOOKUP))
        ran = Ran("batch", questions, "--out", tmp_path / "a.jsonl", "--index", sample_index, "--json")
        assert ran.code == 3
        assert "ZeroDivisionError" in ran.document["failed"][0]["reason"]
        assert ran.document["answered"] == 1

    def test_stopped_run_leaves_no_half_file(
        self, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = asking.answer_question

        def stopped(question: str, *arguments: Any, **named: Any) -> Any:
            if question == "stop":
                raise KeyboardInterrupt
            return whole(question, *arguments, **named)

        monkeypatch.setattr(asking, "answer_question", stopped)
        out = tmp_path / "answers.jsonl"
        out.write_text("earlier\n", encoding="utf-8")
        questions = questions_file(tmp_path, asked(LOOKUP), asked("stop"), asked(LOOKUP))
        ran = Ran("batch", questions, "--out", out, "--index", sample_index)
        assert ran.code == 130
        assert out.read_text(encoding="utf-8") == "earlier\n"
        _, *kept = (tmp_path / "answers.jsonl.part").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)[1]["question"] for line in kept] == [LOOKUP]
        assert "the answers so far are in" in ran.err

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
        assert "no filing was found here" in ran.err
        assert not (tmp_path / "index").exists()


def _soon(there: Callable[[], bool]) -> bool:
    until = time.monotonic() + 120
    while not there() and time.monotonic() < until:
        time.sleep(0.05)
    return there()


def _processes_below(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [each for child in map(int, children) for each in (child, *_processes_below(child))]
