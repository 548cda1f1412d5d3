"""Recording never fails an answer: what keeps it from that is told once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.config import Recording, Settings, SettingsError, recording_from_environment
from fin_agent.runs.run import StepTime, index_state
from fin_agent.runs.store import Recorder, RunStore
from fin_agent.workspace import Workspace
from tests.runs.recorded import noise

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
