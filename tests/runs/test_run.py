"""Ids that can be read out, and fingerprints of how a question was asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fin_agent.runs.run import normalize_typed_id, run_id

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
    assert normalize_typed_id(typed) == read


def test_an_id_is_read_as_itself() -> None:
    assert all(normalize_typed_id(each.upper()) == each for each in (run_id(NOW) for _ in range(50)))
