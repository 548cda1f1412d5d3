"""`docs/published-systems.md`: every row of the list has a verdict, and what it names is there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "published-systems.md").read_text(encoding="utf-8")
SHORT = dict(re.findall(r"`(\w+)` (?:is )?`([\w/]+)`", TEXT.split("\n## ", 1)[0]))
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if re.match(r"\| [HCPG]\d+b? \|", line)
]
IDS = [
    *(f"H{number}" for number in range(1, 38)),
    *(f"C{number}" for number in range(1, 37)),
    *(f"P{number}" for number in range(1, 25)),
    *(f"G{number}" for number in range(1, 12)),
    "G11b",
    *(f"G{number}" for number in range(12, 17)),
]


def place(named: str) -> Path:
    """The file of a name whose first part may be short: `S/hirec.py`."""
    first, _, rest = named.partition("/")
    return ROOT / SHORT.get(first, first) / rest


def test_every_row_is_there_once() -> None:
    assert [row[0] for row in ROWS] == IDS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_has_a_verdict_and_what_it_names_exists(row: list[str]) -> None:
    _, published, here, verdict, where, tests = row
    assert published and here and verdict in ("F", "P", "missing")
    if verdict == "missing":
        assert not where and not tests and len(here) > 20, "a reason"
        return
    files, named = re.findall(r"`([^`]+)`", where), re.findall(r"`([^`]+)`", tests)
    assert files and named
    assert all(place(file).is_file() for file in files), files
    assert all(map(is_test, named)), [each for each in named if not is_test(each)]


def is_test(named: str) -> bool:
    """Whether `file::function` is there."""
    file, _, function = named.partition("::")
    return function.startswith("test_") and f"def {function}(" in place(file).read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_bad_input_ends_as_its_tests_say() -> None:
    rows = [line for line in section("Bad input").splitlines() if "::" in line]
    named = [each for row in rows for each in re.findall(r"`([^`]+::[^`]+)`", row)]
    assert len(rows) > 8 and all(map(is_test, named)), [each for each in named if not is_test(each)]


def test_the_lines_are_no_more_than_it_says() -> None:
    counted, most = section("Lines"), 4_500
    patterns = re.findall(r"fin_agent/[\w/]+/[\w*]+\.py", counted)
    files = {file for pattern in patterns for file in ROOT.glob(pattern)}
    assert f"at most {most:,} lines" in counted and len(files) > 13
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= most


def test_the_counts_are_those_of_the_rows() -> None:
    for system, letter in (("HiREC", "H"), ("FinCards", "C"), ("Page scorer", "P"), ("FinGEAR", "G")):
        counted = Counter(row[3] for row in ROWS if row[0].startswith(letter))
        assert f"| {system} | {counted['F']} | {counted['P']} | {counted['missing']} |" in TEXT
    every = Counter(row[3] for row in ROWS)
    assert f"| all {len(ROWS)} | {every['F']} | {every['P']} | {every['missing']} |" in TEXT
