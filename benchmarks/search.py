"""Time a search (documents, pages and passages, no model) over an index that grows.

    python benchmarks/search.py FOLDER QUESTIONS [--sizes 35 70 141] [--workers N] [--rounds N] [--profile]

QUESTIONS has one question a line, as text or as JSON with a field `question`. The PDFs of FOLDER are taken in an order
that is shuffled once, so that every index holds the one before. Prints the median and the 95th percentile of reading a
question and of the search itself, in milliseconds; the processor time of the median search, which says more on a busy
machine; and how the search has grown against the smallest index. With `--profile` the functions that the search of the
largest index spends most of its time in are listed.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent import SqliteIndex, Workspace, ingest, prepare
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.strategies.one_pass import Staged

SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[35, 70, 141])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.rglob("*.pdf"))
    random.Random(SEED).shuffle(files)
    questions = read_questions(arguments.questions)
    print(f"{len(questions)} questions, {arguments.rounds} rounds; milliseconds")
    print(f"{'filings':>8} {'pages':>8} {'MB':>6}   {'reading':>16}   {'search':>24}   {'growth':>22}")
    columns = f"{'median':>8}{'p95':>8}"
    print(f"{'':>24}   {columns}   {columns}{'cpu':>8}   {'median':>7}{'p95':>7}{'cpu':>8}")

    smallest: Times | None = None
    with tempfile.TemporaryDirectory() as folder:
        for size in sorted(arguments.sizes):
            with SqliteIndex.create(Path(folder)) as index:
                ingest(files[:size], index, prepare, workers=arguments.workers)
            with SqliteIndex(Path(folder)) as index:
                workspace = Workspace(index)
                times = timed(questions, workspace, arguments.rounds)
                smallest = smallest or times
                megabytes = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
                print(
                    f"{len(index.filings()):8,} {index.page_count():8,} {megabytes:6.0f}"
                    f"   {times.reading[0]:8.1f}{times.reading[1]:8.1f}"
                    f"   {times.search[0]:8.1f}{times.search[1]:8.1f}{times.processor:8.1f}"
                    f"   {times.search[0] / smallest.search[0]:7.2f}{times.search[1] / smallest.search[1]:7.2f}"
                    f"{times.processor / smallest.processor:8.2f}"
                )
                if arguments.profile and size == max(arguments.sizes):
                    profile(questions, workspace)


@dataclass(frozen=True, slots=True)
class Times:
    """(median, 95th percentile) in milliseconds."""

    reading: tuple[float, float]
    search: tuple[float, float]
    processor: float
    """Median of the processor time of a search, in milliseconds."""


def timed(questions: Sequence[str], workspace: Workspace, rounds: int) -> Times:
    """Ask every question `rounds` times, after one round that is not counted."""
    reading: list[float] = []
    searching: list[float] = []
    processor: list[float] = []
    for number in range(rounds + 1):
        for question in questions:
            started = time.perf_counter()
            query = query_for(question, workspace)
            read, used = time.perf_counter(), time.process_time()
            Staged(workspace).search(query)
            done, used = time.perf_counter(), time.process_time() - used
            if number:
                reading.append(1_000 * (read - started))
                searching.append(1_000 * (done - read))
                processor.append(1_000 * used)
    return Times(summary(reading), summary(searching), statistics.median(processor))


def summary(times: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def query_for(question: str, workspace: Workspace) -> Query:
    """What `fin-agent search` looks for."""
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(question)
    return analyst.query(intent, analyst.plan(intent), None)


def profile(questions: Sequence[str], workspace: Workspace) -> None:
    """Print the functions in which the searches spend most of their time."""
    queries = [query_for(question, workspace) for question in questions]
    profiler = cProfile.Profile()
    profiler.enable()
    for query in queries:
        Staged(workspace).search(query)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats("fin_agent|sqlite3|loads", 30)


def read_questions(file: Path) -> list[str]:
    """The questions of a file of text lines or JSON lines; blank lines are left out."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [json.loads(line)["question"] if line.startswith("{") else line for line in lines]


if __name__ == "__main__":
    main()
