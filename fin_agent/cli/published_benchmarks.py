"""The commands of `fin-agent eval` for published benchmarks whose questions come in files of their own format."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fin_agent.cli.benchmark_runs import asking, conduct, fingerprint, publish
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.streams import warn
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evaluation import tatqa
from fin_agent.evaluation.benchmark import Benchmark
from fin_agent.index.ingest import ingest
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.retrieval.query import Scope
from fin_agent.workspace import Workspace
from fin_agent.written_file import write_whole

_MOST_NAMED = 10


def run_tatqa(
    file: Path,
    out: Path,
    settings: Settings,
    *,
    answer_types: Sequence[str],
    count: int | None,
    seed: int,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Make the small filings and their index in `out`, ask each question of its own filing, and score the answers.

    Raises QuestionError where the file holds no such questions.
    """
    started = time.perf_counter()
    read = tatqa.load_tatqa(file)
    _warn_of(read.faults)
    questions = read.drawn(count, answer_types, seed)
    if not questions:
        raise QuestionError("no questions of these types", subject=str(file), remedy="Name others, or none")
    with _index_of({each.doc_id: read.filings[each.doc_id] for each in questions}, out) as index:
        workspace = Workspace(index)
        ask = asking(workspace, settings, debug)
        benchmark = Benchmark(
            questions,
            lambda each: ask(each.question, each.id, Scope(doc_ids=(each.doc_id,))),
            lambda question, answered: tatqa.judge_tatqa(question, answered.answer),
            fingerprint(workspace, settings),
        )
        run = conduct(benchmark, out, lambda row: f"{row.question}: {row.miss or 'right'}, {row.seconds:.2f} s")
    told = {"seed": seed, "left_out": read.faults}
    lines = tatqa.misses_of(run.rows)
    return publish(run, tatqa.report_on_tatqa(run.rows), out, started, told, lines, as_json=as_json)


def _index_of(filings: Mapping[str, str], out: Path) -> SqliteIndex:
    """An index in `out` of filings that a benchmark gives as HTML: misses can be asked again there."""
    for doc_id, html in filings.items():
        path = out / "filings" / f"{doc_id}.html"
        if not path.exists() or path.read_text(encoding="utf-8") != html:  # left alone it is not read again
            write_whole(path, html.encode())
    index = SqliteIndex.create(out / "index")
    report = ingest([out / "filings" / f"{doc_id}.html" for doc_id in filings], index)
    _warn_of(f"{file.path.name}: {file.reason}" for file in report.failures)
    return index


def _warn_of(faults: Iterable[str]) -> None:
    faults = list(faults)
    for fault in faults[:_MOST_NAMED]:
        warn(fault)
    if more := faults[_MOST_NAMED:]:
        warn(f"and {len(more)} more, all named in report.json")
