"""What the guide says of sizes and hours follows from what was counted, and from what the indices are made with."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.lexicon.words import load_yaml

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = (DOCS / "elasticsearch.md").read_text(encoding="utf-8")
FILINGS = (1_000, 20_000, 145_897)
PAGES_A_FILING = 145.3
HOURS = {"min": 1 / 60, "h": 1.0}


def row(begin: str) -> list[str]:
    """The cells of the row whose first cell begins so."""
    (line,) = re.findall(rf"^\| {re.escape(begin)}.*$", GUIDE, re.M)
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def hours(cell: str) -> float:
    number, unit = cell.split()
    return float(number) * HOURS[unit]


def counted(pattern: str) -> float:
    """A number of the text, found by what stands around it."""
    (number,) = re.findall(pattern, GUIDE)
    return float(number)


def test_the_index_that_is_made_first() -> None:
    megabytes = counted(r"index of the 141 filings has (\d+) MB")
    assert f"| index | {megabytes:.0f} MB |" in (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for cell, filings in zip(row("before the copy: the index"), FILINGS, strict=True):
        assert float(cell.split()[0]) == pytest.approx(megabytes / 141 * filings / 1_000, rel=0.02)


def test_hours_of_ingest_and_copy() -> None:
    seconds = counted(r"([\d.]+) s of a core each")
    assert seconds == pytest.approx(124 * 2 / 127, rel=0.01)
    own = counted(r"Reading and serialising it takes ([\d.]+) s of a core")
    for begin, each in (
        ("before the copy: its", seconds / 2),
        ("the same on 16", seconds / 16),
        ("the copy's own", own),
    ):
        for cell, filings in zip(row(begin), FILINGS, strict=True):
            assert hours(cell) == pytest.approx(each * filings / 3_600, rel=0.05, abs=0.5 / 60)
    a_second = counted(r"accepts (\d+) pages/s, at which")
    assert counted(r"1,000 filings take (\d+) minutes") == round(1_000 * PAGES_A_FILING / a_second / 60)
    assert counted(r"and LOFin (\d+) hours") == round(FILINGS[-1] * PAGES_A_FILING / a_second / 3_600)


def test_disk_of_a_node_that_takes_over() -> None:
    for disk, copy, nodes in zip(row("disk of each"), row("disk, one copy"), (1, 2, 3), strict=True):
        held = float(copy.split()[0]) * min(2, nodes) / max(1, nodes - 1)  # by those that are left
        held = min(held, float(copy.split()[0])) if nodes < 3 else held  # and never two copies on one
        assert held / 0.85 <= float(disk.split()[0]) <= max(2, math.ceil(held / 0.85 * 1.2))


def test_shards_and_copies_are_those_of_settings_and_example() -> None:
    assert f"FIN_AGENT_ES_SHARDS={row('primary shards')[-1]} fin-agent index copy" in GUIDE
    copies = load_yaml("indices", "fin_agent.index.elastic")["settings"]["auto_expand_replicas"]
    assert f"`auto_expand_replicas: {copies}`" in GUIDE
