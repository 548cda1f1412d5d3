"""`fin-agent facts`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Ran


def facts(index: Path, *given: str) -> Ran:
    return Ran("facts", *given, "--index", index)


def test_the_best_line_and_where_it_stands(sample_index: Path) -> None:
    found = facts(sample_index, "inventories", "--company", "Harborlight", "--period", "FY2023", "--json").document
    assert found["sure"] and found["facts"][0]["statement"] == "balance"
    shown = facts(sample_index, "inventories", "--company", "HLGT", "--period", "2023").out
    assert "The first line matches the phrase." in shown


def test_words_that_no_line_has_are_named(sample_index: Path) -> None:
    found = facts(sample_index, "consigned inventories", "--company", "HLGT", "--period", "FY2023")
    assert "consigned" in found.out and "Unsure: no line has all words of the phrase." in found.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--period", "soon"), "'soon' is not a period"),
        (("--company", "Nobody"), "'Nobody' does not clearly name an indexed company"),
        (("--months", "5"), "--months"),
        (("--each", "planet", "--company", "HLGT", "--period", "FY2023"), "'planet' is not a kind of part"),
        (("--each", "segment"), "`each` needs a company and a fiscal year"),
    ],
)
def test_what_cannot_be_read_is_said(sample_index: Path, given: tuple[str, ...], said: str) -> None:
    ran = facts(sample_index, "inventories", *given)
    assert ran.code != 0 and said in ran.err
