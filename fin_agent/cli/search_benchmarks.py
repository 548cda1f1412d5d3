"""`fin-agent eval`: benchmarks of search, without answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from fin_agent.analyst.model.cited_answers import model_reader
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import first_query, judge_for, strategy_for
from fin_agent.answering.answer import AnswerValue
from fin_agent.cli.answer_jobs import attempt
from fin_agent.cli.benchmarks import (
    OUT,
    BenchmarkOptions,
    JudgeModel,
    QuestionsFile,
    RunFolder,
    index_of,
    warn_about_faults,
    warn_about_missing_filings,
)
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import GoldGiven, IndexOptions, Output, Resamples, Seed, command
from fin_agent.cli.streams import Progress, warn
from fin_agent.config import settings_from
from fin_agent.errors import FinAgentError, require_extra
from fin_agent.evaluation import Oracle, chunk_benchmarks, judging, passage_ranking
from fin_agent.evaluation.benchmark import PartialResults, Report, Row, write_csv
from fin_agent.evaluation.comparison import COMPARED, Conditions, Reader, report_on_comparison
from fin_agent.evaluation.comparison import compare as searched
from fin_agent.evaluation.financebench import FinanceBenchQuestion, duplicates_of_filings, load_questions
from fin_agent.evaluation.judging import Judge
from fin_agent.evaluation.statistics import FITTING, MEASURING, overlap
from fin_agent.evidence.tournament.tournament import TournamentSettings
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.index.protocol import StoredPassage
from fin_agent.models.call import Role
from fin_agent.presentation.terminal_text import first_items, style_table
from fin_agent.retrieval.search_query import EVERYTHING, Depth
from fin_agent.workspace import Workspace

Input = TypeVar("Input")
Counted = Annotated[int, typer.Option("--k", "-k", min=1, max=100, help="Number of first results that count.")]
Tournaments = Annotated[int, typer.Option(min=1, max=50, help="Tournaments per figure.")]


def _publish(
    to: Output,
    report: Report,
    told: Mapping[str, object],
    started: float,
    files: Sequence[Path],
) -> None:
    """Show a report with its tables and the files that were written."""
    seconds = round(time.perf_counter() - started, 3)
    document = {"report": report.as_json(), **told, "files": list(map(str, files)), "seconds": seconds}
    to.show(document, *(line for table in report.as_tables() for line in (style_table(table), "")))
    for file in files:
        to.say(f"written: {file}")


@command
def ranking(
    questions: QuestionsFile,
    on: IndexOptions,
    k: Counted = 10,
    ablations: bool = False,
    seeds: Tournaments = 5,
    judge: JudgeModel = None,
    waver: Annotated[float, typer.Option(min=0, max=5)] = 0,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    out: RunFolder = OUT,
) -> ExitCode:
    """Rank the passages of the right filing, stage by stage: nDCG, MAP, MRR. Needs the extra `evaluation`.

    On the command line:
        ablations (--ablations): Also without time, metrics, tables, scope, shuffling, rounds ...
        waver (--waver): Noise on the rules' scores, as a share of their range, to simulate an unreliable judge.
    """
    if judge and waver:
        raise typer.BadParameter(
            "it is noise on the scores of the rules: give it without --judge", param_hint="--waver"
        )
    settings = TournamentSettings(top_k=k, seed=seed)
    measuring = passage_ranking.RankingSettings(k, ablations, seeds, settings, waver=waver, debug=on.debug)
    return _measure_rankings(load_questions(questions), on, measuring, resamples, out, judge)


@command
def finagentbench(
    file: Path,
    to: Output,
    k: Counted = 10,
    seeds: Tournaments = 5,
    judge: JudgeModel = None,
    resamples: Resamples = 10_000,
    out: RunFolder = OUT,
) -> ExitCode:
    """Rank graded chunks by the tournament, stage by stage: graded nDCG, MAP, MRR. Needs the extra `evaluation`.

    The chunks of each question become a document of the index in --out. A stopped run resumes.

    On the command line:
        file (FILE): JSON Lines: id, question, doc, chunks, qrels.
    """
    documents, asked, faults = chunk_benchmarks.load_graded(file)
    warn_about_faults(faults)
    index_of(documents, out).close()
    on = IndexOptions(as_json=to.as_json, debug=to.debug, index=out / "index")
    settings = TournamentSettings(top_k=k)
    measuring = passage_ranking.RankingSettings(k, False, seeds, settings, debug=to.debug, first_page=1)
    return _measure_rankings(asked, on, measuring, resamples, out, judge)


def _measure_rankings(
    asked: Sequence[FinanceBenchQuestion],
    on: IndexOptions,
    measuring: passage_ranking.RankingSettings,
    resamples: int,
    out: Path,
    judge: str | None,
) -> ExitCode:
    """Measure the rankings; return SOME_FAILED if a question failed, which counts as nothing found.

    `judge` names the chat model that judges cards. Raises ModelSetupError if it cannot be set up.
    """
    require_extra("evaluation", FITTING)
    if judge is not None:
        measuring = replace(measuring, judge=judge_for(settings_from(judge_model=judge)))
    started = time.perf_counter()
    with on.open_workspace() as workspace:
        progress = Progress(len(asked))

        def report_progress(row: Row) -> None:
            failure = row.figures["failure"]
            progress.step(f"{row.id}: {f'failed: {failure}' if failure else 'ranked'}", problem=bool(failure))

        run = (judge, replace(measuring, judge=None), asked, _contents(workspace))
        kept = PartialResults(out / "rankings.unfinished.jsonl", run, list[Row])
        scores, left_out = passage_ranking.measure_rankings(
            asked, workspace, RulesAnalyst(workspace), measuring, report_progress, kept
        )
    if left_out:
        why = "no passage on their gold pages is in the index"
        warn(f"{len(left_out)} questions are left out, {why}: {first_items(left_out)}")
    report = passage_ranking.report_on_rankings(
        scores, k=measuring.k, seeds=measuring.seeds, resamples=resamples, seed=measuring.settings.seed
    )
    write_csv(scores, out / "rankings.csv")
    failed = {score.id: failure for score in scores if (failure := score.figures["failure"])}
    failures = [{"id": question_id, "reason": reason} for question_id, reason in failed.items()]
    told = {"left_out": left_out, "failed": failures}
    _publish(on, report, told, started, [out / "rankings.csv"])
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


@command
def legalbench_rag(
    file: Path,
    corpus: Annotated[Path, typer.Option(exists=True, file_okay=False)],
    to: Output,
    how: BenchmarkOptions,
    k: Counted = 5,
) -> ExitCode:
    """Search documents other than filings: precision and recall of the characters that answer.

    The whole corpus is read into the index in --out. A stopped run resumes.

    On the command line:
        file (FILE): A benchmark of LegalBench-RAG, JSON.
        corpus (--corpus DIR): Its documents, .txt.
    """
    started, settings = time.perf_counter(), how.settings()
    questions, texts, faults = chunk_benchmarks.load_spans(file, corpus)
    warn_about_faults(faults)
    names = {name.removesuffix(".txt").replace("/", "__"): name for name in texts}
    documents = {doc_id: chunk_benchmarks.as_html([texts[name]]) for doc_id, name in names.items()}
    with index_of(documents, how.out) as index:
        workspace = Workspace(index)
        analyst, searching = RulesAnalyst(workspace), strategy_for(settings, workspace, notify=warn)
        depth = Depth(settings.documents, settings.pages, k)

        def judged(asked: tuple[str, chunk_benchmarks.SpanQuestion]) -> Row:
            found = searching.search(first_query(asked[1].query, analyst=analyst), EVERYTHING, depth)
            used = [each.stored for each in found.passages[: k if found.kept is None else found.kept]]
            passages = [(names[each.doc_id], each.passage.text) for each in used]
            return chunk_benchmarks.judge_spans(*asked, passages, texts)

        run = (settings.model_dump_json(), k, questions, _contents(workspace))
        rows = _rows(PartialResults(how.out / "rows.unfinished.jsonl", run, Row), questions, judged)
    write_csv(rows, how.out / "rows.csv")
    report = chunk_benchmarks.report_on_spans(rows)
    _publish(to, report, {"k": k, "left_out": faults}, started, [how.out / "rows.csv"])
    return ExitCode.DONE


@command
def ragas(folder: Path, to: Output, k: Counted = 5, judge: JudgeModel = None) -> ExitCode:
    """Measure the answers of another benchmark with RAGAS's metrics: context precision and recall, answer relevancy.

    Without --judge the metrics are proxies by words and numbers, and are labelled so. A stopped run resumes. Writes
    ragas.csv.

    On the command line:
        folder (DIR): The --out of a benchmark that answers questions.
    """
    started = time.perf_counter()
    asked = judging.read_run(folder)
    model = Judge.of(judge, Role.PASSAGES_JUDGE, settings_from(), warn)
    measure = judging.by_words if model is None else judging.by_model(model)
    kept = PartialResults(folder / "ragas.unfinished.jsonl", (judge, k, asked), Row)
    rows = _rows(kept, asked, lambda each: judging.measured_row(*each, measure, k))
    write_csv(rows, folder / "ragas.csv")
    report = judging.report_on_measures(rows, k, judge)
    calls, tokens = (0, 0) if model is None else (model.meter.spent().calls, model.meter.spent().tokens)
    told = {"judge": judge, "proxies": judge is None, "k": k, "calls": calls, "tokens": tokens}
    _publish(to, report, told, started, [folder / "ragas.csv"])
    return ExitCode.DONE


def _rows(kept: PartialResults[Row], asked: Sequence[Input], judge: Callable[[Input], Row]) -> list[Row]:
    """Return a row for each question; those that a stopped run left are taken from there."""
    progress = Progress(len(asked))
    rows: list[Row] = []
    for row in kept.results((str(number), partial(judge, each)) for number, each in enumerate(asked)):
        rows.append(row)
        progress.step(row.id)
    return rows


def _contents(workspace: Workspace) -> list[tuple[str, str]]:
    return [(record.doc_id, record.content_hash) for record in workspace.index.filings()]


@command
def compare(
    strategies: str,
    questions: QuestionsFile,
    on: IndexOptions,
    oracle: GoldGiven = Oracle.NONE,
    k: Annotated[int, typer.Option(min=1, max=100)] = 5,
    out: Path = OUT,
    reader: str | None = None,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
) -> ExitCode:
    """Compare search strategies: recall, overlap with the evidence, seconds. Needs the extra `evaluation`.

    Exit code 3 if a strategy cannot be set up, or fails on a question.

    On the command line:
        strategies (--strategies A,B,...): Names of strategies; the first is tested against the others.
        k (--k, -k): Results that count, and passages that each strategy returns.
        out (--out DIR): Folder for summary.csv, rows.csv and misses.csv (of the first). A stopped comparison resumes.
        reader (--reader WHO): Also answer from the results of each strategy, and count right figures: a chat model such
            as openai:gpt-4o-mini, or `rules`, which read the pages of the passages.
    """
    names = tuple(dict.fromkeys(name.strip() for name in strategies.split(",") if name.strip()))
    if not names:
        raise typer.BadParameter("name at least one strategy", param_hint="--strategies")
    require_extra("evaluation", MEASURING)
    started = time.perf_counter()
    asked = load_questions(questions, answers=reader is not None)
    with on.open_workspace() as workspace:
        progress = Progress(len(asked) * len(names))
        records = workspace.index.filings()
        forms = {record.doc_id: record.identity.form.value for record in records}
        same_content = duplicates_of_filings(records)
        warn_about_missing_filings((doc_id for question in asked for doc_id in question.documents), forms)
        conditions = Conditions(k=k, oracle=oracle, forms=forms, same_content=same_content, debug=on.debug)
        held = sorted(record.content_hash for record in records)
        compared = (asked, conditions, held, settings_from().model_dump_json(), reader)

        def report_progress(score: Row) -> None:
            failure = score.figures["failure"]
            said = f"failed: {failure}" if failure else f"{score.seconds or 0:.2f} s"
            progress.step(f"{score.labels['strategy']}, {score.id}: {said}", problem=bool(failure))

        comparison = searched(
            asked,
            names,
            build=lambda name: strategy_for(settings_from(strategy=name, passages=k), workspace, notify=warn),
            understand=partial(first_query, analyst=RulesAnalyst(workspace)),
            overlap=overlap,
            conditions=conditions,
            reader=None if reader is None else _reader(reader, workspace, on.debug),
            on_score=report_progress,
            partial_results=PartialResults(out / "rows.unfinished.jsonl", compared, Row),
        )
    for name, reason in comparison.not_built.items():
        warn(f"{name} is left out: {reason}")
    if not comparison.strategies:
        raise FinAgentError("no strategy can be set up", remedy="See the warnings above")
    failures = [
        {"strategy": score.labels["strategy"], "id": score.id, "reason": score.figures["failure"]}
        for score in comparison.scores
        if score.figures["failure"]
    ]
    for strategy, failed in Counter(each["strategy"] for each in failures).items():
        warn(f"{strategy} failed on {failed} of {len(asked)} questions; they count as not found")
    tested = [(names[0], other) for other in names[1:] if {names[0], other} <= set(comparison.strategies)]
    report = report_on_comparison(comparison, tested, resamples=resamples, seed=seed)
    missed = [score for score in comparison.of(comparison.strategies[0]) if score.figures[COMPARED] < 1]
    tables = {"summary": report.as_json()["groups"], "rows": comparison.scores, "misses": missed}
    for name, rows in tables.items():
        write_csv(rows, out / f"{name}.csv")
    _publish(on, report, {"failed": failures}, started, [out / f"{name}.csv" for name in tables])
    return ExitCode.SOME_FAILED if comparison.not_built or failures else ExitCode.DONE


def _reader(who: str, workspace: Workspace, debug: bool) -> Reader:
    """Return a reader: rules over the pages of the passages, or a chat model over the passages, with checked quotes.

    Raises ModelSetupError if the chat model cannot be set up.
    """
    if who != "rules":
        return model_reader(settings_from(models={"model": who}), workspace)
    context = AnswerContext.from_settings(workspace, settings_from(strategy="default", analyst="rules"), notify=warn)

    def read(question: str, passages: Sequence[StoredPassage]) -> AnswerValue | None:
        tried = attempt(question, context, pages=tuple(dict.fromkeys(each.key for each in passages)), debug=debug)
        if tried.failure:
            warn(f"{question}: not answered, and counts as wrong: {tried.failure}")
        return None if tried.answer.refused else tried.answer.answer

    return read
