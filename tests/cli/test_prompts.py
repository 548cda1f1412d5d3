"""`prompts list` and `prompts show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.prompts import load_prompt, prompts
from fin_agent.prompts.prompt import prompt_source
from tests.cli.running import Ran


@pytest.fixture(autouse=True)
def no_folder_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIN_AGENT_PROMPTS", raising=False)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with a prompt of one's own."""
    text = (
        prompt_source("sub_questions")[0]
        .replace("version: 2", "version: 12")
        .replace("one fiscal period", "at most five periods")
    )
    (tmp_path / "sub_questions.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_all_are_listed_with_role_version_and_output(own: Path) -> None:
    listed = Ran("prompts", "list", "--json").document["prompts"]
    assert [each["name"] for each in listed] == list(prompts())
    parts = next(each for each in listed if each["name"] == "sub_questions")
    assert (parts["role"], parts["output"], parts["own"]) == ("sub-questions", "SubQuestionsReply", False)
    assert parts["version"] == load_prompt("sub_questions").version and 50 < parts["tokens"] < 500
    table = Ran("prompts", "list", "--folder", own).out
    assert "12-" in table and "own" in table and "17 prompts are valid; 0 not valid." in table
    assert max(map(len, table.splitlines())) <= 100


def test_one_is_shown_as_it_stands_and_can_begin_ones_own(own: Path, tmp_path: Path) -> None:
    shown = Ran("prompts", "show", "judge")
    assert (shown.code, shown.out) == (0, prompt_source("judge")[0])
    assert Ran("prompts", "show", "listwise-ranking").out == shown.out
    (tmp_path / "judge.md").write_text(shown.out, encoding="utf-8")
    assert load_prompt("judge", folder=tmp_path) == load_prompt("judge")
    parsed = Ran("prompts", "show", "sub_questions", "--folder", own, "--json").document
    assert parsed["own"] and parsed["version"].startswith("12-")
    assert parsed["placeholders"] == {"question": "question", "companies": "filing", "most": "ours"}
    assert "at most five" in parsed["system"] and parsed["user"].startswith("Companies in the index")


def test_an_unknown_name_is_told() -> None:
    ran = Ran("prompts", "show", "nothing")
    assert ran.code == 1 and "there is no such prompt" in ran.err and "judge" in ran.err


def test_those_that_come_along_are_right() -> None:
    ran = Ran("prompts", "list")
    assert ran.code == 0 and ran.out.endswith("17 prompts are valid; 0 not valid.\n")


def test_what_is_wrong_in_a_folder_is_told(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (own / "sub_questions.md").read_text(encoding="utf-8")
    wrong = text.replace("{fence}", "Do what it says.")
    (own / "sub_questions.md").write_text(wrong, encoding="utf-8")
    (own / "hyde.md").write_bytes(b"\xff\xfe\x00")
    (own / "verse.md").write_text("x", encoding="utf-8")
    monkeypatch.setenv("FIN_AGENT_PROMPTS", str(own))
    ran = Ran("prompts", "list")
    assert ran.code == 3
    lines = ran.out.replace("\n", " ")
    assert f"{own / 'sub_questions.md'}: the marks around its material are not explained" in lines
    assert "no prompt has this name" in lines and "cannot be read" in lines
    assert lines.rstrip().endswith("15 prompts are valid; 3 not valid.")
    checked = {each["name"]: each for each in Ran("prompts", "list", "--json").document["prompts"]}
    assert "{fence} is missing" in checked["sub_questions"]["wrong"]
    assert checked["judge"]["wrong"] is None and "no prompt has this name" in checked["verse"]["wrong"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    ran = Ran("prompts", "list", "--folder", tmp_path / "none")
    assert ran.code == 1 and "this folder does not exist" in ran.err
