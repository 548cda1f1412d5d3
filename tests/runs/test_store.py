"""Runs are kept whole, up to a bound, by several processes at once; recording never fails an answer."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.config import Recording, Settings, SettingsError, recording_from_environment
from fin_agent.runs.run import StepTime, index_state
from fin_agent.runs.store import Recorder, RunStore, RunStoreError
from fin_agent.workspace import Workspace
from tests.runs.recorded import noise, run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


class TestNamedByTheQuestion:
    def test_the_last_run_of_a_question_id(self, file: Path) -> None:
        with RunStore(file) as store:
            for at, question_id in enumerate(["a", "1", "a", "b"]):
                made = run(f"asked {at}", at=at)
                store.record(made.model_copy(update={"answer": made.answer.model_copy(update={"id": question_id})}))
            assert store.run("a").question == "asked 2"
            assert store.run(" b ").question == "asked 3"
            begin = store.listed()[0].id[0]
            assert all(line.id.startswith(begin) for line in store.listed())
            assert store.run("1").question == "asked 1"
            with pytest.raises(RunStoreError, match="no run of this name"):
                store.run("A")

    def test_the_name_of_a_run_goes_first(self, file: Path) -> None:
        with RunStore(file) as store:
            first = store.record(run("first"))
            made = run("second", at=60)
            store.record(made.model_copy(update={"answer": made.answer.model_copy(update={"id": first.id})}))
            assert store.run(first.id).question == "first"


class TestKeeping:
    def test_a_run_comes_back_as_it_was(self, file: Path) -> None:
        given = run("Who? \u2028 \N{SNOWMAN}", said=noise(3))
        with RunStore(file) as store:
            assert store.record(given) == given
        with RunStore(file) as store:
            assert store.run(given.id) == given
            (line,) = store.listed()
        assert (line.id, line.question, line.started) == (given.id, given.question, given.started)
        assert (line.refused, line.rounds, line.seconds) == (False, 1, 0.25)

    def test_the_last_one_is_listed_first(self, file: Path) -> None:
        with RunStore(file) as store:
            ids = [store.record(run(at=at)).id for at in (0, 10, 5)]
            assert [line.id for line in store.listed()] == ids[::-1]
            assert [line.id for line in store.listed(2)] == [ids[2], ids[1]]
            assert store.count() == 3

    def test_an_id_that_is_taken_is_given_only_once(self, file: Path) -> None:
        first, second = run("first"), run("second")
        second = second.model_copy(update={"id": first.id})
        with RunStore(file) as store:
            store.record(first)
            kept = store.record(second)
            assert kept.id != first.id
            assert store.run(kept.id).question == "second"
            assert store.run(first.id).question == "first"

    def test_only_the_last_ones_are_kept(self, file: Path) -> None:
        with RunStore(file, Recording(runs_kept=3)) as store:
            ids = [store.record(run(at=at)).id for at in range(7)]
            assert [line.id for line in store.listed()] == ids[:-4:-1]
            with pytest.raises(RunStoreError, match="no run of this name"):
                store.run(ids[0])

    def test_all_together_stay_under_the_size(self, file: Path) -> None:
        with RunStore(file, Recording(megabytes=1)) as store:
            for at in range(8):
                store.record(run(at=at, said=noise(300, seed=at)))
            lines = store.listed()
            assert 2 <= len(lines) <= 3
            assert sum(line.bytes for line in lines) <= 1_000_000
            assert store.run("last").answer.answer.text == noise(300, seed=7)
        assert file.stat().st_size < 2_500_000

    def test_a_run_bigger_than_all_may_be_is_not_kept(self, file: Path) -> None:
        with RunStore(file, Recording(megabytes=1)) as store:
            store.record(run("small"))
            with pytest.raises(RunStoreError, match="FIN_AGENT_RUNS_MEGABYTES"):
                store.record(run("big", said=noise(1_500)))
            assert [line.question for line in store.listed()] == ["small"]

    def test_several_processes_write_at_once(self, file: Path) -> None:
        writing = (
            "import sys; from pathlib import Path\n"
            "from fin_agent.runs.store import RunStore\n"
            "from tests.runs.recorded import run\n"
            "for at in range(20):\n"
            "    with RunStore(Path(sys.argv[1])) as store: store.record(run(sys.argv[2], at=at))\n"
        )
        root = Path(__file__).parents[2]
        writers = [
            subprocess.Popen([sys.executable, "-c", writing, str(file), name], cwd=root, stderr=subprocess.PIPE)
            for name in ("one", "other")
        ]
        for writer in writers:
            _, said = writer.communicate(timeout=60)
            assert writer.returncode == 0, said
        with RunStore(file) as store:
            questions = [line.question for line in store.listed()]
        assert sorted(questions) == ["one"] * 20 + ["other"] * 20


class TestNaming:
    def test_by_the_beginning_by_last_and_by_how_far_back(self, file: Path) -> None:
        with RunStore(file) as store:
            early, late = (store.record(run(at=at)) for at in (0, 100_000_000))
            assert early.id[:5] != late.id[:5]
            assert store.run(early.id[:5].upper()) == early
            assert store.run("last").id == late.id
            assert store.run("LAST~1").id == early.id

    def test_a_beginning_that_several_have_names_them(self, file: Path) -> None:
        with RunStore(file) as store:
            ids = [store.record(run(at=at)).id for at in range(2)]
            with pytest.raises(RunStoreError, match="several ids begin with this") as raised:
                store.run(ids[0][:4])
        assert all(each in str(raised.value) for each in ids)

    @pytest.mark.parametrize("name", ["zzzz", "", " ", "last~5", "%", "' OR 1=1 --"])
    def test_names_of_no_run(self, name: str, file: Path) -> None:
        with RunStore(file) as store:
            store.record(run())
            with pytest.raises(RunStoreError, match=r"no run of this name.*runs list"):
                store.run(name)

    def test_nothing_recorded_yet(self, file: Path) -> None:
        with RunStore(file) as store:
            assert (store.listed(), store.count(), store.forget()) == ([], 0, 0)
            for look in (store.run, lambda name: store.forget([name])):
                with pytest.raises(RunStoreError, match=r"no run is recorded yet.*fin-agent ask"):
                    look("last")
        assert not file.exists()


class TestForgetting:
    def test_one(self, file: Path) -> None:
        with RunStore(file) as store:
            first, second = (store.record(run(at=at)).id for at in range(2))
            assert store.forget([first]) == 1
            assert [line.id for line in store.listed()] == [second]

    def test_what_is_forgotten_is_gone_from_the_disk(self, file: Path) -> None:
        with RunStore(file) as store:
            for at in range(20):
                store.record(run(f"a question only asked once {at}", at=at, said=noise(20, seed=at)))
        size = file.stat().st_size
        with RunStore(file) as store:
            assert store.forget() == 20
            assert store.listed() == []
        assert b"only asked once" not in b"".join(each.read_bytes() for each in file.parent.iterdir())
        assert file.stat().st_size < size / 2


class TestFilesThatAreNoStore:
    def test_something_else(self, file: Path) -> None:
        file.write_bytes(b"no database at all, but long enough to be looked at as one" * 20)
        self._refused(file, "this file is damaged, or it is not.*Move it away")

    def test_a_database_of_something_else(self, file: Path) -> None:
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE runs (mine TEXT)")
        before = file.read_bytes()
        self._refused(file, "contains no recorded runs.*FIN_AGENT_RUNS")
        assert file.read_bytes() == before

    def test_of_another_version(self, file: Path) -> None:
        with RunStore(file) as store:
            store.record(run())
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA user_version = 99")
        self._refused(file, "format 99")

    def test_cut_off(self, file: Path) -> None:
        with RunStore(file) as store:
            for at in range(5):
                store.record(run(at=at, said=noise(30, seed=at)))
        whole = file.read_bytes()
        for length in (50, 3_000, len(whole) // 2):
            file.write_bytes(whole[:length])
            self._refused(file, "damaged|several|recorded")

    def test_a_folder(self, file: Path) -> None:
        file.mkdir()
        self._refused(file, "cannot be opened or written.*FIN_AGENT_RECORD=0")

    def test_where_nothing_can_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "plain").write_text("a file, no folder")
        with (
            RunStore(tmp_path / "plain" / "runs.sqlite") as store,
            pytest.raises(RunStoreError, match="FIN_AGENT_RUNS"),
        ):
            store.record(run())

    def test_an_empty_file_is_taken(self, file: Path) -> None:
        file.touch()
        with RunStore(file) as store:
            assert store.listed() == []
            store.record(run())
            assert store.count() == 1

    def test_one_run_that_cannot_be_read_leaves_the_others(self, file: Path) -> None:
        with RunStore(file) as store:
            broken, whole = (store.record(run(at=at)) for at in range(2))
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE contents SET packed = substr(packed, 1, 20) WHERE number = 1")
        with RunStore(file) as store:
            with pytest.raises(RunStoreError, match=f"fin-agent runs forget {broken.id}"):
                store.run(broken.id)
            assert store.run(whole.id) == whole
            store.forget([broken.id])
            assert store.count() == 1

    def _refused(self, file: Path, said: str) -> None:
        with RunStore(file) as store, pytest.raises(RunStoreError, match=said):
            store.record(run())
            for line in store.listed():
                store.run(line.id)


ANSWER = Answer(question="What?", answer=AnswerValue(text="That."), seconds=1.0)


class Recorded:
    """A recorder over the sample filings, and what it tells."""

    def __init__(self, workspace: Workspace, folder: Path, **recording: object) -> None:
        self.told: list[str] = []
        self.recorder = Recorder(
            workspace.index, folder, Settings(rounds=2), Recording.model_validate(recording), notify=self.told.append
        )

    def __call__(self, answer: Answer = ANSWER) -> str:
        steps = (StepTime(node="search", seconds=0.5),)
        return self.recorder.record(answer, started=datetime.now(UTC), doc_ids=["a"], steps=steps)


def test_records_beside_the_index_with_all_it_was_asked_with(workspace: Workspace, tmp_path: Path) -> None:
    recorded = Recorded(workspace, tmp_path)
    run_id = recorded()
    with RunStore(tmp_path / "runs.sqlite") as store:
        run = store.run("last")
    assert run.id == run_id
    assert (run.answer, run.question, run.seconds) == (ANSWER, "What?", 1.0)
    assert run.settings == Settings(rounds=2)
    assert run.doc_ids == ("a",)
    assert run.steps[0].node == "search"
    assert run.index == index_state(workspace.index, tmp_path)
    assert run.index.filings == len(workspace.index.entries())
    assert not recorded.told


def test_a_file_named_goes_before_the_folder(workspace: Workspace, tmp_path: Path) -> None:
    Recorded(workspace, tmp_path, file=tmp_path / "deep" / "mine.sqlite")()
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


def test_switched_off_leaves_no_file(workspace: Workspace, tmp_path: Path) -> None:
    assert Recorded(workspace, tmp_path, enabled=False)() == ""
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_told_once_and_left_alone(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").write_bytes(b"not ours " * 200)
    recorded = Recorded(workspace, tmp_path)
    assert [recorded(), recorded()] == ["", ""]
    (told,) = recorded.told
    assert told.startswith("runs are not recorded: ") and str(tmp_path / "runs.sqlite") in told
    assert (tmp_path / "runs.sqlite").read_bytes() == b"not ours " * 200


@pytest.mark.parametrize("question", ["half a character \ud800", "ends \x00 early"])
def test_odd_questions_fail_nothing(question: str, workspace: Workspace, tmp_path: Path) -> None:
    recorded = Recorded(workspace, tmp_path)
    recorded(ANSWER.model_copy(update={"question": question}))
    assert len(recorded.told) <= 1


def test_an_answer_over_the_bounds_is_told(workspace: Workspace, tmp_path: Path) -> None:
    recorded = Recorded(workspace, tmp_path, megabytes=1)
    recorded(ANSWER.model_copy(update={"answer": AnswerValue(text=noise(1_200))}))
    assert "FIN_AGENT_RUNS_MEGABYTES" in recorded.told[0]


class TestEnvironment:
    @pytest.fixture(autouse=True)
    def nothing_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable in ("FIN_AGENT_RECORD", "FIN_AGENT_RUNS", "FIN_AGENT_RUNS_KEPT", "FIN_AGENT_RUNS_MEGABYTES"):
            monkeypatch.delenv(variable, raising=False)

    def test_every_setting_has_a_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert recording_from_environment() == Recording()
        monkeypatch.setenv("FIN_AGENT_RECORD", "off")
        monkeypatch.setenv("FIN_AGENT_RUNS", "/else/where.sqlite")
        monkeypatch.setenv("FIN_AGENT_RUNS_KEPT", "5")
        monkeypatch.setenv("FIN_AGENT_RUNS_MEGABYTES", "7")
        assert recording_from_environment() == Recording(
            enabled=False, file=Path("/else/where.sqlite"), runs_kept=5, megabytes=7
        )

    @pytest.mark.parametrize(
        ("variable", "value"),
        [("FIN_AGENT_RECORD", "perhaps"), ("FIN_AGENT_RUNS_KEPT", "0"), ("FIN_AGENT_RUNS_KEPT", "x")],
    )
    def test_values_that_make_no_sense(self, variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(variable, value)
        with pytest.raises(SettingsError, match=f"{variable}: '{value}' cannot be used"):
            recording_from_environment()
