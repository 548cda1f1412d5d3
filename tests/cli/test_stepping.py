"""`ask --step`: what is shown between the nodes, what may be typed, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fin_agent.cli import app
from tests.cli.running import CONTRACT, LOOKUP, UNKNOWN_COMPANY, Ran, without_seconds


def stepped(index: Path, question: str, typed: str, *options: str) -> Result:
    return CliRunner().invoke(app, ["ask", question, "--step", "--index", str(index), *options], input=typed)


def test_enter_goes_on_to_the_same_answer(sample_index: Path) -> None:
    ran = stepped(sample_index, LOOKUP, "\n" * 20)
    plain = Ran("ask", LOOKUP, "--index", sample_index)
    assert ran.exit_code == 0
    assert ran.stdout.splitlines()[:-1] == plain.out.splitlines()[:-1]
    shown = [line for line in ran.stderr.splitlines() if line.endswith("  round 1")]
    assert [line.split()[0] for line in shown][:3] == ["rewrite_query", "search_documents", "search_pages"]
    assert "harborlight_2023_10k page 9 (table): holds revenue FY2023" in ran.stderr
    assert "✓ revenue" in ran.stderr
    assert ran.stderr.index("about to run:") < ran.stderr.index("computed")


def test_nothing_more_to_read_goes_on_too(sample_index: Path) -> None:
    assert stepped(sample_index, LOOKUP, "").exit_code == 0


def test_json_is_the_contract_and_all_else_is_on_the_other_stream(sample_index: Path) -> None:
    ran = stepped(sample_index, LOOKUP, "", "--json")
    answer = json.loads(ran.stdout)
    assert list(answer) == CONTRACT
    assert without_seconds(answer) == without_seconds(Ran("ask", LOOKUP, "--index", sample_index, "--json").document)


def test_q_stops(sample_index: Path) -> None:
    ran = stepped(sample_index, LOOKUP, "\nq\n")
    assert ran.exit_code == 130
    assert not ran.stdout
    assert "search_documents" in ran.stderr


def test_words_and_passages_are_changed_and_the_answer_says_so(sample_index: Path) -> None:
    ran = stepped(sample_index, LOOKUP, "e revenue of Harborlight in 2022\n\n\n\n\nd 9\nd 1\nwhat\n")
    assert "searching for: revenue of Harborlight in 2022" in ran.stderr
    assert "there is no passage 9 here" in ran.stderr
    assert "dropped: harborlight_2022_10k page" in ran.stderr
    assert "Enter goes on" in ran.stderr.split("what", 1)[1]
    assert "edited from outside of the run: query" in ran.stdout


@pytest.mark.parametrize(("question", "code"), [(UNKNOWN_COMPANY, 4), ("  ", 1)])
def test_a_refusal_and_an_error_end_as_they_do_without_steps(sample_index: Path, question: str, code: int) -> None:
    assert stepped(sample_index, question, "").exit_code == code == Ran("ask", question, "--index", sample_index).code
