"""Draw amounts in sentences, or sums that tables are said to keep, at random from an index, to be judged by hand.

    python benchmarks/drawn.py INDEX sentences [--number 200] [--filings 60] [--seed 41]
    python benchmarks/drawn.py INDEX sums [--number 100] [--filings 33] [--seed 5]

Amounts are printed with what was read of them and their clause; sums with the share of tables that hold one.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence

from fin_agent.filings.tables.sum_detection import DetectedSum, column_sums, row_sums
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.vocabulary.table import Table

_FEWEST_ROWS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("what", choices=("sentences", "sums"))
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--filings", type=int, default=60)
    parser.add_argument("--seed", type=int, default=41)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    index = open_index(arguments.index)
    doc_ids = sorted(filing.doc_id for filing in index.filings())
    chosen = draw.sample(doc_ids, min(arguments.filings, len(doc_ids)))
    found = list(sentences_in(index, chosen) if arguments.what == "sentences" else sums_in(index, chosen))
    for number, line in enumerate(draw.sample(found, min(arguments.number, len(found))), 1):
        print(f"{number}. {line}")


def sentences_in(index: FilingIndex, doc_ids: Sequence[str]) -> Iterator[str]:
    """Every amount in a sentence, as it was read."""
    for doc_id in doc_ids:
        for sourced in index.facts({doc_id}):
            fact = sourced.fact
            if fact.source == "text":
                read = f"{fact.amount} x {fact.scale:,} {fact.unit} | {fact.period} | part {fact.scope}"
                yield f"{doc_id} page {fact.page + 1} | {read}\n   {fact.label}"


def sums_in(index: FilingIndex, doc_ids: Sequence[str]) -> Iterator[str]:
    """Every sum of two lines or more, as it was found; prints how many tables hold one."""
    held: list[tuple[int, bool]] = []
    for doc_id in doc_ids:
        pages = [PageKey(doc_id, number) for number in range(index.filing(doc_id).page_count)]
        for table in index.tables(pages):
            cells = [row.cells for row in table.rows]
            if not any(cell for row in cells for cell in row):
                continue
            down = [found for found in row_sums(cells) if len(found.parts) > 1]
            across = column_sums(cells)
            held.append((sum(any(row) for row in cells), bool(down or across)))
            yield from (f"{doc_id} page {table.page + 1} rows: {_said(table, found)}" for found in down)
            yield from (f"{doc_id} page {table.page + 1} columns: {_said(table, found, True)}" for found in across)
    long = [proved for rows, proved in held if rows >= _FEWEST_ROWS]
    print(f"{sum(proved for _, proved in held):,} of {len(held):,} tables hold a sum;", end=" ")
    print(f"of {len(long):,} with {_FEWEST_ROWS} rows or more {sum(long):,} ({sum(long) / len(long):.1%})")


def _said(table: Table, found: DetectedSum, across: bool = False) -> str:
    def line(position: int) -> str:
        cells = [table.rows[each].cells[position] if across else table.rows[position].cells[each] for each in closing]
        name = table.columns[position] if across else table.rows[position].label
        return f"{name[:45] or '(blank)'} {[cell.printed if cell else '' for cell in cells]}"

    closing = found.closing[:4]
    parts = "".join(f"\n     {'+' if sign > 0 else '-'} {line(part)}" for part, sign in found.parts)
    return f"{line(found.total)} closes {len(found.closing)}, fails {len(found.failing)}{parts}"


if __name__ == "__main__":
    main()
