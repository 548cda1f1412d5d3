"""The commands of `fin-agent eval` for published benchmarks whose questions come in files of their own format."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategies import first_query, strategy_for
from fin_agent.answering.answer import Answer
from fin_agent.cli.benchmark_runs import asking, conduct, fingerprint, judgement_by, publish
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.search_benchmarks import run_ranking
from fin_agent.cli.streams import Progress, show_result, warn
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evaluation import Oracle, chunks, pages_used, tatqa
from fin_agent.evaluation.benchmark import Answered, Benchmark, write_csv
from fin_agent.evaluation.financebench import FinanceBenchQuestion, allowed
from fin_agent.evaluation.ranking import Measuring
from fin_agent.index.ingest import ingest
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.lexicon.fiscal import ANNUAL_FORMS
from fin_agent.presentation.plain import in_our_look
from fin_agent.retrieval.query import EVERYTHING, Depth, Scope
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
        run = conduct(benchmark, out, lambda row: row.figures["miss"] or "right")
    told = {"seed": seed, "left_out": read.faults}
    lines = tatqa.misses_of(run.rows)
    return publish(run, tatqa.report_on_tatqa(run.rows), out, started, told, lines, as_json=as_json)


def run_lofin(
    files: Sequence[Path],
    out: Path,
    given: Path | None,
    settings: Settings,
    *,
    oracle: Oracle,
    judge: str | None,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Ask LOFin's questions of an index: pages and answers as HiREC measures them.

    `judge` names the chat model that judges answers in words, with the text of the gold pages.
    """
    with opened(given) as workspace:
        asked = pages_used.load_lofin(files, _page_counts(workspace))
        judgement = None if judge is None else judgement_by(judge, settings)

        def right(question: FinanceBenchQuestion, answer: Answer) -> bool | None:
            by_number = pages_used.right_number(question, answer)
            if by_number is not None or judgement is None:
                return by_number
            pages = "\n\n".join(stored.page.text for stored in workspace.index.pages(question.pages))
            reference = f"{question.answer}\n\nWhat the filing says there:\n{pages}"
            return judgement(question.question, reference, answer)

        told = {"oracle": oracle.value, "judge": judge}
        return _run_pages("LOFin", asked, workspace, out, settings, right, oracle, told, as_json=as_json, debug=debug)


def run_finqa(
    file: Path, out: Path, given: Path | None, settings: Settings, *, oracle: Oracle, as_json: bool, debug: bool
) -> ExitCode:
    """Ask FinQA's questions of whole filings of an index; the pages of its contexts are found there."""
    with opened(given) as workspace:
        reports = {
            (record.identity.ticker or "", record.identity.fiscal_year): record.doc_id
            for record in workspace.index.filings()
            if record.identity.form in ANNUAL_FORMS
        }

        def texts_of(doc_id: str) -> list[str]:
            keys = [PageKey(doc_id, number) for number in range(workspace.index.filing(doc_id).page_count)]
            return [stored.page.text for stored in workspace.index.pages(keys)]

        asked = pages_used.load_finqa(file, lambda ticker, year: reports.get((ticker, year)), texts_of)
        told = {"oracle": oracle.value}
        return _run_pages(
            "FinQA",
            asked,
            workspace,
            out,
            settings,
            pages_used.right_result,
            oracle,
            told,
            as_json=as_json,
            debug=debug,
        )


def run_finagentbench(
    file: Path, out: Path, measuring: Measuring, resamples: int, *, judge: str | None, as_json: bool
) -> ExitCode:
    """Make a document of each question's chunks and their index in `out`, and rank the chunks as `eval ranking`."""
    graded = chunks.load_graded(file)
    _warn_of(graded.faults)
    questions = out / "questions.jsonl"
    write_whole(questions, graded.questions.encode())
    with _index_of(graded.documents, out):
        pass
    return run_ranking(questions, out / "index", measuring, resamples, out, judge=judge, as_json=as_json)


def run_legalbench_rag(file: Path, corpus: Path, out: Path, settings: Settings, *, k: int, as_json: bool) -> ExitCode:
    """Read the whole corpus into an index in `out`, search it with every question, and measure by characters."""
    started = time.perf_counter()
    questions, texts, faults = chunks.load_spans(file, corpus)
    _warn_of(faults)
    names = {name.removesuffix(".txt").replace("/", "__"): name for name in texts}
    rows = []
    with _index_of({doc_id: chunks.as_html([texts[name]]) for doc_id, name in names.items()}, out) as index:
        workspace = Workspace(index)
        analyst, strategy = RulesAnalyst(workspace), strategy_for(settings, workspace, notify=warn)
        depth = Depth(settings.documents, settings.pages, k)
        with Progress(len(questions), "searching", "questions") as progress:
            for question in questions:
                found = strategy.search(first_query(question.question, analyst=analyst), EVERYTHING, depth)
                used = [each.stored for each in found.passages[: k if found.kept is None else found.kept]]
                passages = [(names[each.doc_id], each.passage.text) for each in used]
                rows.append(chunks.judge_spans(question, passages, texts))
                progress.step(question.id)
    report = chunks.report_on_spans(rows)
    write_csv(rows, out / "rows.csv")
    seconds = round(time.perf_counter() - started, 3)
    document = {"report": report.as_json(), "k": k, "left_out": faults, "seconds": seconds}
    write_whole(out / "report.json", f"{json.dumps(document, indent=2)}\n".encode())
    show_result(as_json, document, in_our_look(report.as_table()))
    return ExitCode.DONE


def _page_counts(workspace: Workspace) -> dict[str, int]:
    return {record.doc_id: record.page_count for record in workspace.index.filings()}


def _run_pages(
    title: str,
    asked: pages_used.Asked,
    workspace: Workspace,
    out: Path,
    settings: Settings,
    right: pages_used.Rule,
    oracle: Oracle,
    told: Mapping[str, object],
    *,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Ask, judge by `right`, and measure the pages used; what of the files was left out is told by line."""
    started = time.perf_counter()
    _warn_of(asked.faults)
    if not asked.questions:
        raise QuestionError(
            "none of the questions can be asked", subject=title, remedy="Bring in the filings they are about"
        )
    ask, owners = asking(workspace, settings, debug), workspace.directory.owners

    def ask_within(question: FinanceBenchQuestion) -> Answered:
        return ask(question.question, question.id, allowed(question, oracle, owners) or EVERYTHING)

    benchmark = Benchmark(
        asked.questions,
        ask_within,
        lambda question, answered: pages_used.judge_pages(question, answered, owners, right),
        fingerprint(workspace, settings, oracle.value),
    )
    run = conduct(benchmark, out, lambda row: row.figures["error"] or "right page")
    measured = pages_used.told_of(run.rows, run.answered)
    report = pages_used.report_on_pages(run.rows, title)
    document = {**told, "left_out": asked.faults, **measured}
    return publish(run, report, out, started, document, pages_used.lines_of(measured), as_json=as_json)


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
