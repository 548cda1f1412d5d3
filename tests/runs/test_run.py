"""Ids that can be read out, and fingerprints of how a question was asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fin_agent.config import Settings
from fin_agent.runs.run import as_typed, asking_fingerprint, question_fingerprint, run_id
from tests.runs.recorded import INDEX

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


def test_later_runs_have_greater_ids_of_the_same_length() -> None:
    moments = [NOW + timedelta(milliseconds=after) for after in (0, 1, 2, 1_000, 86_400_000, 10**12)]
    ids = [run_id(moment) for moment in moments]
    assert ids == sorted(ids)
    assert {len(each) for each in ids} == {12}


def test_runs_of_one_moment_are_told_apart() -> None:
    assert len({run_id(NOW) for _ in range(20)}) > 15


@pytest.mark.parametrize(("typed", "read"), [("1JKL", "1jk1"), (" oO1i ", "0011"), ("abc", "abc")])
def test_typed_ids_are_read_kindly(typed: str, read: str) -> None:
    assert as_typed(typed) == read


def test_an_id_is_read_as_itself() -> None:
    assert all(as_typed(each.upper()) == each for each in (run_id(NOW) for _ in range(50)))


MODEL = {"model": "openai:x"}


def by_model(**models: object) -> Settings:
    return Settings.model_validate({"models": {**MODEL, **models}})


USUAL = asking_fingerprint(by_model(), INDEX)


@pytest.mark.parametrize(
    "other",
    [
        by_model(model="openai:y"),
        by_model(small="openai:y"),
        by_model(roles={"program": "openai:y"}),
        by_model(base_url="http://localhost:8000/v1"),
        by_model(preset="thorough"),
        by_model(output="json"),
        Settings.model_validate({"models": MODEL, "strategy": "bm25"}),
        Settings.model_validate({"models": MODEL, "rounds": 2}),
        Settings.model_validate({"models": MODEL, "analyst": "rules"}),
        Settings(),
    ],
)
def test_what_decides_about_answers_counts(other: Settings) -> None:
    assert asking_fingerprint(other, INDEX) != USUAL


def test_so_does_what_the_index_holds_and_not_where_it_is() -> None:
    assert asking_fingerprint(by_model(), INDEX.model_copy(update={"fingerprint": "1" * 16})) != USUAL
    assert asking_fingerprint(by_model(), INDEX.model_copy(update={"path": "/moved"})) == USUAL


@pytest.mark.parametrize(
    "limits",
    [
        {"budget": {"calls": 3}, "batch_budget": {"dollars": 5}},
        {"cache": "replies.sqlite", "prices": "prices.yaml", "key_variable": "MY_KEY"},
        {"at_once": 2, "timeout": 5, "attempts": 1},
    ],
)
def test_how_a_model_is_reached_and_paid_does_not(limits: dict[str, object]) -> None:
    assert asking_fingerprint(by_model(**limits), INDEX) == USUAL


def test_models_that_are_not_asked_do_not() -> None:
    rules = Settings.model_validate({"analyst": "rules"})
    named = Settings.model_validate({"analyst": "rules", "models": MODEL})
    assert asking_fingerprint(rules, INDEX) == asking_fingerprint(named, INDEX)


def test_another_wording_of_a_prompt_does(tmp_path: Path) -> None:
    found = set()
    for text in ("one", "another"):
        (tmp_path / "reasoning.md").write_text(text, encoding="utf-8")
        found.add(asking_fingerprint(Settings.model_validate({"models": MODEL, "prompts": tmp_path}), INDEX))
    assert len(found) == 2


def test_a_question_and_the_filings_it_is_kept_to() -> None:
    asked = [("Why?", ()), ("Why not?", ()), ("Why?", ("a",)), ("Why?", ("a", "b"))]
    assert len({question_fingerprint(USUAL, question, doc_ids) for question, doc_ids in asked}) == len(asked)
    assert question_fingerprint(USUAL, "Why?") == question_fingerprint(USUAL, "Why?", ())
