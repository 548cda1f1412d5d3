"""Malformed filings, one of each kind: none ends the run, and each is read or refused with a reason and what to do.

`benchmarks/hostile` makes and reads thousands; see docs/benchmarks.md.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.hostile.html_mutations import HTMLS
from benchmarks.hostile.mutate import htmls, pdfs
from benchmarks.hostile.pdf_mutations import PDFS
from benchmarks.hostile.read import read_all
from fin_agent.index.ingest import Outcome

SEED = 4
SMALL_PDF, SMALL_HTML = "*_8k.pdf", "ottermere*"


def test_each_kind_of_damage_costs_at_most_its_file(tmp_path: Path) -> None:
    mutated = [*pdfs(len(PDFS), SEED, SMALL_PDF), *htmls(len(HTMLS), SEED, SMALL_HTML)]
    for each in mutated:
        (tmp_path / each.name).write_bytes(each.content)
    came = {each.name: each for each in read_all(sorted(tmp_path.iterdir()), workers=1)}
    assert set(came) == {each.name for each in mutated}
    assert {each.kind for each in came.values()} == {*PDFS, *HTMLS}
    for each in came.values():
        assert each.outcome == Outcome.ADDED or (each.outcome == Outcome.FAILED and each.reason and each.remedy)
        assert "report this file" not in each.remedy, (
            each.name,
            each.reason,
        )  # it is the file's fault, not the reader's
    outcomes = [each.outcome for each in came.values()]
    assert outcomes.count(Outcome.ADDED) > 10 and outcomes.count(Outcome.FAILED) > 10


def test_the_same_seed_makes_the_same_files() -> None:
    for made in (lambda seed: pdfs(8, seed, SMALL_PDF), lambda seed: htmls(8, seed, SMALL_HTML)):
        assert list(made(7)) == list(made(7))
        assert [each.content for each in made(7)] != [each.content for each in made(8)]
