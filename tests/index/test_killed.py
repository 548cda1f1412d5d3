"""The campaigns of benchmarks/durability, small: kill, fill the disk, two writers; many readers beside an ingest."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_killed_at_random_instants(tmp_path: Path) -> None:
    from benchmarks.durability.kill import Campaign

    campaign = Campaign(tmp_path, random.Random(7), 3)
    tallies = [campaign.run(kind, 2) for kind in ("ingest", "replace", "delete", "copy", "two")]
    tallies.append(campaign.run("disk", 3))
    assert campaign.problems == []
    assert [tally.kills for tally in tallies] == [2] * 5 + [3]


def test_asked_while_an_ingest_runs(sample_index: Path, sample_html: Path, tmp_path: Path) -> None:
    import shutil

    from benchmarks.durability.concurrent_asks import (
        QUESTIONS,
        Ingests,
        ask_in_threads,
        expected_answers,
        inconsistent,
    )

    folder = Path(shutil.copytree(sample_index, tmp_path / "index"))
    one = tmp_path / "one"
    one.mkdir()
    shutil.copy(sample_html / "ottermere_2025q2_8k.htm", one)
    questions = QUESTIONS[:2]
    expected = expected_answers(folder, one, questions)
    ingests = Ingests(folder, one)
    with ingests.running():
        asked, _ = ask_in_threads(folder, questions * 6, 8)
    assert len(asked) == 12 and ingests.done() > 0
    assert inconsistent(asked, expected) == []
