"""Ids that can be read out, and fingerprints of how a question was asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fin_agent.runs.run import run_id

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


def test_later_runs_have_greater_ids_of_the_same_length() -> None:
    moments = [NOW + timedelta(milliseconds=after) for after in (0, 1, 2, 1_000, 86_400_000, 10**12)]
    ids = [run_id(moment) for moment in moments]
    assert ids == sorted(ids)
    assert {len(each) for each in ids} == {13}


def test_runs_of_one_moment_are_told_apart() -> None:
    assert len({run_id(NOW) for _ in range(20)}) > 15
