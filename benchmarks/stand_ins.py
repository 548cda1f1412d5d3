"""A stand-in for FinQA, whose rows are not at hand, in its own form, with answers that are exact by construction.

    python benchmarks/stand_ins.py 200 --index INDEX --tagged IXBRL > finqa.jsonl

Figures are those that tags of inline XBRL files state, read independently of the reader; the index, which holds the
same files, says on which page they are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import yaml

from fin_agent.evaluation.generated.tagged_figures import period_of
from fin_agent.evaluation.xbrl_truth import TaggedFiling, TrueTag, read_tagged, tagged_files
from fin_agent.index.protocol import PageKey
from fin_agent.workspace import Workspace

WORDS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
LONGEST_LABEL, SHORTEST_LABEL = 60, 6


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A tagged figure of a whole company, and where it is printed."""

    doc_id: str
    page: int
    table: int
    label: str
    year: int
    quarter: int | None
    text: str
    """As printed."""
    amount: Decimal
    """In units of `scale`."""
    scale: int

    @property
    def period(self) -> str:
        """As a question names it."""
        return f"fiscal year {self.year}" if self.quarter is None else f"Q{self.quarter} of fiscal year {self.year}"


class TaggedMaterial:
    """The tagged filings of a folder that an index holds, and their figures."""

    def __init__(self, folder: Path, tagged: Path) -> None:
        """Open the index and read the files."""
        self.index = Workspace.open(folder).index
        self.records = {record.doc_id: record for record in self.index.filings()}
        read = [read_tagged(path) for path in tagged_files(tagged)]
        self.filings = {each.doc_id: each for each in read if each is not None and each.doc_id in self.records}

    def company(self, doc_id: str) -> str:
        """The name of the filing's company."""
        return str(self.records[doc_id].identity.company)

    @cached_property
    def figures(self) -> tuple[PrintedFigure, ...]:
        """Positive amounts of money whose row is called so once for a period, by filing and page."""
        return tuple(figure for filing in self.filings.values() for figure in self._of(filing))

    def _of(self, filing: TaggedFiling) -> Iterator[PrintedFigure]:
        said: dict[tuple[object, ...], set[Decimal]] = {}
        true: dict[tuple[object, ...], TrueTag] = {}
        for tag in filing.tags:
            if tag.table is not None and tag.unit == "USD":
                said.setdefault((tag.row.casefold(), tag.start is None, tag.end), set()).add(tag.value)
                if not tag.members:
                    true.setdefault((tag.concept, tag.start, tag.end, tag.value, tag.row.casefold()), tag)
        seen = set()
        for sourced in self.index.facts([filing.doc_id]):
            fact, held = sourced.fact, sourced.fact.tag
            if held is None or held.members or held.end is None or held.value is None:
                continue
            key = (held.concept, held.start, held.end, held.value, fact.label.casefold())
            stated = true.get(key)
            period = None if stated is None else period_of(stated.start, stated.end, filing)
            if stated is None or stated.table is None or period is None or key in seen:
                continue
            once = len(said[stated.row.casefold(), stated.start is None, stated.end]) == 1
            exact = _number(held.text) == fact.amount > 0 and fact.value == stated.value
            plain = SHORTEST_LABEL <= len(stated.row) <= LONGEST_LABEL and not any(map(str.isdigit, stated.row))
            if once and exact and plain:
                seen.add(key)
                yield PrintedFigure(filing.doc_id, fact.page, stated.table, stated.row.rstrip(":"), *period,
                                    held.text, fact.amount, fact.scale)  # fmt: skip


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", "").replace("$", "").strip())
    except InvalidOperation:
        return None


# --- FinQA: a table with the text around it, and a program over its cells


def finqa(material: TaggedMaterial, count: int, draw: Random) -> Iterator[dict[str, object]]:
    """Questions in turn of each kind, about tables of annual reports with two or more years."""
    tables: dict[tuple[str, int, int, int], list[PrintedFigure]] = {}
    for figure in material.figures:
        if figure.quarter is None and material.filings[figure.doc_id].quarter is None:
            tables.setdefault(_table_of(figure), []).append(figure)
    made: dict[str, list[tuple[PrintedFigure, PrintedFigure]]] = {kind: [] for kind in WORDS["finqa"]}
    for held in tables.values():
        by_row = sorted(held, key=lambda each: (each.label, each.year))
        for before, figure in pairwise(by_row):
            if figure.label == before.label and figure.year == before.year + 1:
                for kind in ("change", "percentage change"):
                    made[kind].append((figure, before))
        for one, other in _pairs(held, draw):
            for kind in ("ratio", "sum", "difference"):
                made[kind].append((one, other))
    number = 0
    for kind, pairs in made.items():
        for place, (one, other) in enumerate(draw.sample(pairs, min(len(pairs), count // len(made)))):
            number += 1
            yield _finqa_row(material, kind, one, other, tables[_table_of(one)], place, number)


def _table_of(figure: PrintedFigure) -> tuple[str, int, int, int]:
    return figure.doc_id, figure.page, figure.table, figure.scale


def _pairs(held: Sequence[PrintedFigure], draw: Random) -> list[tuple[PrintedFigure, PrintedFigure]]:
    found = [(one, other) for one in held for other in held
             if one.year == other.year and one.label != other.label and one.amount > other.amount]  # fmt: skip
    return draw.sample(found, min(len(found), 10))


def _finqa_row(
    material: TaggedMaterial,
    kind: str,
    one: PrintedFigure,
    other: PrintedFigure,
    table: Sequence[PrintedFigure],
    place: int,
    number: int,
) -> dict[str, object]:
    wordings = WORDS["finqa"][kind]
    fields = {"company": material.company(one.doc_id), "one": one.label, "other": other.label,
              "year": one.year, "before": other.year}  # fmt: skip
    program, result = _PROGRAMS[kind](one.amount, other.amount)
    years = sorted({each.year for each in table}, reverse=True)
    cells = {(each.label, each.year): each.text for each in table}
    labels = dict.fromkeys(each.label for each in table)
    printed = [[label, *(cells.get((label, year), "") for year in years)] for label in labels]
    lines = material.index.pages([PageKey(one.doc_id, one.page)])[0].page.text.split("\n")
    rows = [at for at, line in enumerate(lines) if any(label.casefold() in line.casefold() for label in labels)]
    ticker = material.records[one.doc_id].identity.ticker
    return {
        "id": f"{ticker}/{material.filings[one.doc_id].fiscal_year}/page_{one.page + 1}.pdf-{number}",
        "pre_text": lines[: rows[0]] if rows else lines,
        "post_text": lines[rows[-1] + 1 :] if rows else [],
        "table": [["", *map(str, years)], *printed],
        "qa": {
            "question": wordings[place % len(wordings)].format(**fields).lower(),
            "program": program,
            "exe_ans": float(result),
        },
    }  # fmt: skip


_PROGRAMS: Mapping[str, Any] = {
    "change": lambda one, other: (f"subtract({one}, {other})", one - other),
    "percentage change": lambda one, other: (f"subtract({one}, {other}), divide(#0, {other})", (one - other) / other),
    "ratio": lambda one, other: (f"divide({one}, {other})", one / other),
    "sum": lambda one, other: (f"add({one}, {other})", one + other),
    "difference": lambda one, other: (f"subtract({one}, {other})", one - other),
}


def main() -> None:
    """Write the rows of a stand-in for FinQA."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("count", type=int)
    asked.add_argument("--index", type=Path, required=True)
    asked.add_argument("--tagged", type=Path, required=True)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    for row in finqa(TaggedMaterial(given.index, given.tagged), given.count, Random(given.seed)):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
