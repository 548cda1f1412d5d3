"""`ask` and `batch` record their runs; `runs` lists, shows, replays, compares and forgets them."""

from __future__ import annotations

import shutil
import unicodedata
from pathlib import Path

import pytest

from fin_agent.config import RECORDING_VARIABLES, Settings
from fin_agent.runs.run import Run
from fin_agent.runs.store import RunStore
from tests.cli.running import LOOKUP, UNKNOWN_COMPANY, Ran, asked, questions_file


@pytest.fixture(autouse=True)
def store_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample_index: Path) -> Path:
    """An index in use, and a file of runs that is this test's own."""
    for variable in RECORDING_VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    file = tmp_path / "mine.sqlite"
    monkeypatch.setenv("FIN_AGENT_RUNS", str(file))
    monkeypatch.setenv("FIN_AGENT_INDEX", str(sample_index))
    return file


def kept(file: Path) -> list[Run]:
    with RunStore(file) as store:
        return [store.run(line.id) for line in store.listed()]


class TestRecording:
    def test_ask_records_the_whole_run(self, store_file: Path, sample_index: Path) -> None:
        answer = Ran("ask", LOOKUP, "--doc", "harborlight_2023_10k", "--json", "--trace").document
        (run,) = kept(store_file)
        assert run.answer.model_dump(mode="json") == answer
        assert run.doc_ids == ("harborlight_2023_10k",)
        assert run.settings == Settings()
        assert run.index.path == str(sample_index.resolve())
        assert [step.node for step in run.steps] == [step.node for step in run.answer.trace]
        assert 0 < sum(step.seconds for step in run.steps) <= run.seconds + 0.01

    def test_refusals_are_recorded_too(self, store_file: Path) -> None:
        assert Ran("ask", UNKNOWN_COMPANY).code == 4
        assert kept(store_file)[0].answer.refused

    def test_batch_records_each_answer_under_its_id(self, store_file: Path, tmp_path: Path) -> None:
        bad = asked(LOOKUP, id="bad", doc_ids=["nowhere"])
        lines = [asked(LOOKUP, id="a"), bad, asked(UNKNOWN_COMPANY, id="b"), "no json"]
        assert Ran("batch", questions_file(tmp_path, *lines), "--out", tmp_path / "out.jsonl").code == 3
        assert [(run.answer.id, run.answer.refused) for run in kept(store_file)] == [("b", True), ("a", False)]

    def test_not_where_it_is_not_wanted(
        self, store_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        questions = questions_file(tmp_path, asked(LOOKUP))
        assert Ran("ask", LOOKUP, "--no-record").code == 0
        assert Ran("batch", questions, "--out", tmp_path / "out.jsonl", "--no-record").code == 0
        monkeypatch.setenv("FIN_AGENT_RECORD", "0")
        assert Ran("ask", LOOKUP).code == 0
        assert not store_file.exists()

    def test_an_error_records_nothing(self, store_file: Path) -> None:
        assert Ran("ask", LOOKUP, "--doc", "nowhere").code == 1
        assert not store_file.exists()

    def test_beside_the_index_where_no_file_is_named(
        self, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("FIN_AGENT_RUNS")
        shutil.copytree(sample_index, tmp_path / "index", ignore=shutil.ignore_patterns("runs*"))
        Ran("ask", LOOKUP, "--index", tmp_path / "index")
        assert len(kept(tmp_path / "index" / "runs.sqlite")) == 1
        assert Ran("runs", "list", "--index", tmp_path / "index", "--json").document["recorded"] == 1

    @pytest.mark.parametrize("content", [b"not a database " * 99, b"SQLite format 3\x00" + b"\x10\x00\x02\x02" * 30])
    def test_a_damaged_file_costs_no_answer(self, content: bytes, store_file: Path, tmp_path: Path) -> None:
        store_file.write_bytes(content)
        ran = Ran("ask", LOOKUP)
        assert ran.code == 0 and "$3,533 million" in ran.out
        assert ran.err.startswith("warning: runs are not recorded: ") and ran.err.count("\n") == 1
        batch = Ran("batch", questions_file(tmp_path, asked(LOOKUP), asked(LOOKUP)), "--out", tmp_path / "out.jsonl")
        assert batch.code == 0 and batch.err.count("not recorded") == 1
        listing = Ran("runs", "list")
        assert (listing.code, listing.out) == (1, "")
        assert listing.err.startswith(f"error: {store_file}: ") and "Move it away" in listing.err

    def test_a_place_that_cannot_be_written_costs_no_answer(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "plain").write_text("no folder")
        monkeypatch.setenv("FIN_AGENT_RUNS", str(tmp_path / "plain" / "runs.sqlite"))
        ran = Ran("ask", LOOKUP)
        assert ran.code == 0 and "FIN_AGENT_RECORD=0" in ran.err

    def test_a_setting_that_makes_no_sense_costs_no_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FIN_AGENT_RUNS_KEPT", "many")
        ran = Ran("ask", LOOKUP)
        assert ran.code == 0 and "warning: runs are not recorded: FIN_AGENT_RUNS_KEPT: 'many'" in ran.err
        assert Ran("runs", "list").code == 1

    def test_bounds_come_from_the_environment(self, store_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FIN_AGENT_RUNS_KEPT", "2")
        for _ in range(3):
            Ran("ask", UNKNOWN_COMPANY)
        assert len(kept(store_file)) == 2


class TestList:
    def test_nothing_yet(self, store_file: Path) -> None:
        ran = Ran("runs", "list")
        assert (ran.code, ran.out) == (0, "") and "fin-agent ask" in ran.err
        assert Ran("runs", "list", "--json").document == {"runs": [], "recorded": 0, "file": str(store_file)}
        assert Ran("runs", "show", "last").err.startswith(f"error: {store_file}: no run is recorded yet")

    def test_the_last_ones_first(self, store_file: Path) -> None:
        for question in (LOOKUP, UNKNOWN_COMPANY):
            Ran("ask", question)
        listed = Ran("runs", "list", "--json").document
        assert [run["question"] for run in listed["runs"]] == [UNKNOWN_COMPANY, LOOKUP]
        assert [(run["refused"], run["value"], run["unit"]) for run in listed["runs"]] == [
            (True, None, None),
            (False, 3533.0, "USD millions"),
        ]
        printed = Ran("runs", "list", "-n", 1).out
        assert listed["runs"][0]["id"] in printed and "refused" in printed
        assert listed["runs"][1]["id"] not in printed
        assert "the last 1 of 2 runs" in printed


class TestShow:
    def test_what_was_asked_found_and_answered(self, store_file: Path) -> None:
        Ran("ask", LOOKUP)
        (run,) = kept(store_file)
        shown = Ran("runs", "show", "last").out
        for said in (run.id, LOOKUP, run.answer.answer.text, "✓ revenue", "Round 1", "def solution():", "Evidence"):
            assert said in shown
        assert shown == Ran("runs", "show", run.id[:11].upper()).out
        assert max(map(len, shown.splitlines())) <= 100
        assert len(Ran("runs", "show", "last", "--full").out) > len(shown)

    def test_a_run_of_a_batch_is_found_by_the_id_of_its_question(self, tmp_path: Path) -> None:
        questions = questions_file(tmp_path, asked(LOOKUP, id="a"), asked(UNKNOWN_COMPANY, id="b"))
        Ran("batch", questions, "--out", tmp_path / "out.jsonl")
        assert Ran("runs", "show", "a", "--json").document["question"] == LOOKUP
        assert [line.split()[3] for line in Ran("runs", "list").out.splitlines()[2:4]] == ["b", "a"]
        ran = Ran("runs", "show", "c")
        assert ran.code == 1 and "ids of questions of a batch" in ran.err

    def test_several_figures_are_listed_as_they_begin(self) -> None:
        Ran("ask", "What was the net sales of Harborlight in FY2022, FY2023 and FY2024?")
        assert "Net sales: Harb" in Ran("runs", "list").out

    def test_json_is_the_run(self, store_file: Path) -> None:
        Ran("ask", LOOKUP)
        (run,) = kept(store_file)
        assert Run.model_validate(Ran("runs", "show", "last", "--json").document) == run

    def test_hostile_questions_stay_within_the_width(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        Ran(
            "ask",
            "What\x1b[2J was\u202e the\x9b31m net sales\r of [bold]Harborlight[/bold] for FY2023?" + " really" * 40,
        )
        for arguments in (["list"], ["show", "last"], ["show", "last", "--full"]):
            out = Ran("runs", *arguments).out
            assert max(map(len, out.splitlines())) <= 80
            assert not [mark for mark in out if mark != "\n" and unicodedata.category(mark) in ("Cc", "Cf", "Cs")]
        assert "[bold]Harborlight[/bold]" in out

    @pytest.mark.parametrize(
        "arguments", [["show"], ["diff", "last", "last"], ["forget"], ["forget", "x", "--all"], ["no"]]
    )
    def test_wrong_usage_is_2(self, arguments: list[str]) -> None:
        assert Ran("runs", *arguments).code == 2


class TestReplay:
    @pytest.mark.parametrize("strategy", ["default", "bm25"])
    def test_gives_the_same_again(self, strategy: str, store_file: Path, sample_index: Path) -> None:
        Ran("ask", LOOKUP, "--strategy", strategy, "--doc", "harborlight_2023_10k")
        ran = Ran("runs", "replay", "last")
        assert (ran.code, ran.err) == (
            0,
            f"asking the index in {sample_index.resolve()} (that of the run)\n",
        )
        assert "gives the same answer and the same trace again" in ran.out
        document = Ran("runs", "replay", "last", "--json").document
        assert (document["identical"], document["changed_since"], document["differences"]) == (True, [], [])
        assert len(kept(store_file)) == 1

    def test_says_that_the_index_has_changed_and_what_differs(
        self, sample_index: Path, tmp_path: Path, store_file: Path
    ) -> None:
        from fin_agent.index.sqlite import SqliteIndex

        shutil.copytree(sample_index, tmp_path / "index")
        Ran("ask", LOOKUP, "--index", tmp_path / "index")
        with SqliteIndex(tmp_path / "index") as index:
            filings = len(index.entries())
            for doc_id in [entry.doc_id for entry in index.entries() if entry.doc_id.startswith("harborlight_2023")]:
                assert index.remove(doc_id)
        ran = Ran("runs", "replay", "last")  # over the index recorded, whatever is in use
        assert ran.code == 3
        assert ran.err == (
            f"asking the index in {tmp_path / 'index'} (that of the run)\n"
            f"warning: the index has changed since: it contained {filings} filings, and now contains {filings - 1}\n"
        )
        assert "gives another result" in ran.out
        assert "  - harborlight_2023_10k" in ran.out
        document = Ran("runs", "replay", "last", "--json").document
        parts = [difference["part"] for difference in document["differences"]]
        assert not document["identical"] and {"documents", "pages", "ledger"} <= set(parts)
        there = Ran("runs", "replay", "last", "--index", sample_index)
        assert (there.code, there.err) == (0, f"asking the index in {sample_index} (--index)\n")

    def test_says_that_the_index_of_the_run_is_gone(self, sample_index: Path, tmp_path: Path, store_file: Path) -> None:
        moved = tmp_path / "moved"
        shutil.copytree(sample_index, moved)
        Ran("ask", LOOKUP, "--index", moved)
        shutil.rmtree(moved)
        ran = Ran("runs", "replay", "last")
        assert (ran.code, ran.err) == (
            0,
            f"asking the index in {sample_index} (FIN_AGENT_INDEX, since that of the run, {moved}, no longer exists)\n",
        )
        moved.mkdir()  # a folder that holds no index is none
        assert "no longer exists" in Ran("runs", "replay", "last").err

    def test_a_run_of_another_version_says_so(self, store_file: Path) -> None:
        Ran("ask", LOOKUP)
        (run,) = kept(store_file)
        with RunStore(store_file) as store:
            store.record(run.model_copy(update={"version": "0.0.1", "id": "0" * 12}))
        ran = Ran("runs", "replay", "last")
        assert ran.code == 0 and "version 0.0.1 answered this run" in ran.err


class TestExportForget:
    def test_as_json_a_run_is_whole(self, store_file: Path) -> None:
        Ran("ask", LOOKUP)
        (run,) = kept(store_file)
        shown = Ran("runs", "show", "last", "--json").document
        assert Run.model_validate(shown) == run and shown["answer"]["trace"]

    def test_forget(self, store_file: Path) -> None:
        for _ in range(4):
            Ran("ask", UNKNOWN_COMPANY)
        before = [run.id for run in kept(store_file)]
        assert Ran("runs", "forget", "last", "last~1", before[0]).out == "2 runs deleted.\n"
        assert [run.id for run in kept(store_file)] == before[2:]
        assert Ran("runs", "forget", before[0]).code == 1
        assert Ran("runs", "forget", "--all", "--json").document == {"forgotten": 2}
        assert kept(store_file) == []
