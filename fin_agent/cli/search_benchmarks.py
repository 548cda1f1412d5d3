"""`fin-agent eval`: benchmarks of search, without answers."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import first_query, judge_for, strategy_for
from fin_agent.atomic_write import atomic_write
from fin_agent.cli.benchmarks import OUT, JudgeModel, MaybeFolder, QuestionsFile, RunFolder, index_of, warn_about_faults
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, ModelOptions, Output, Resamples, Seed, StrategyName, command
from fin_agent.cli.streams import Progress, warn
from fin_agent.config import settings_from
from fin_agent.evaluation import chunk_benchmarks, passage_ranking, rag_measures
from fin_agent.evaluation.benchmark import PartialResults, Row, write_csv
from fin_agent.evaluation.financebench import load_questions
from fin_agent.evaluation.llm_as_judge import JudgeCalls, judge_caller
from fin_agent.evaluation.statistics import FITTING, require_libraries
from fin_agent.evidence.tournament.judge import TournamentSettings
from fin_agent.models.call import Role
from fin_agent.models.metering import Meter
from fin_agent.presentation.terminal_text import first_items, style_table
from fin_agent.retrieval.search_query import EVERYTHING, Depth
from fin_agent.workspace import Workspace

Counted = Annotated[int, typer.Option("--k", "-k", min=1, max=100, help="Number of first results that count.")]
Tournaments = Annotated[int, typer.Option(min=1, max=50, help="Tournaments per figure.")]


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
    out: MaybeFolder = None,
) -> ExitCode:
    """Rank the passages of the right filing, stage by stage: nDCG, MAP, MRR. Needs the extra `evaluation`.

    On the command line:
        ablations (--ablations): Also without time, metrics, tables, scope, shuffling, rounds ...
        waver (--waver): Noise on the rules' scores, as a share of their range, to simulate an unreliable judge.
    """
    settings = TournamentSettings(top_k=k, seed=seed)
    measuring = passage_ranking.RankingSettings(k, ablations, seeds, settings, waver=waver, debug=on.debug)
    return _measure_rankings(questions, on, measuring, resamples, out, judge)


def _measure_rankings(
    questions: Path,
    on: IndexOptions,
    measuring: passage_ranking.RankingSettings,
    resamples: int,
    out: Path | None,
    judge: str | None,
) -> ExitCode:
    """Measure the rankings; return SOME_FAILED if a question failed, which counts as nothing found.

    `judge` names the chat model that judges cards. Raises ModelSetupError if it cannot be set up.
    """
    require_libraries(FITTING)
    if judge is not None:
        measuring = replace(measuring, judge=judge_for(settings_from(judge_model=judge)))
    started = time.perf_counter()
    asked = load_questions(questions)
    with on.open_workspace() as workspace, Progress(len(asked), "ranking", "questions") as progress:

        def report_progress(question_id: str, seconds: float, failure: str) -> None:
            line = f"failed: {failure}" if failure else f"{seconds:.2f} s"
            progress.step(f"{question_id}: {line}", problem=bool(failure))

        scores, left_out = passage_ranking.measure_rankings(
            asked, workspace, RulesAnalyst(workspace), measuring, report_progress
        )
    if left_out:
        why = "no passage on their gold pages is in the index"
        warn(f"{len(left_out)} questions are left out, {why}: {first_items(left_out)}")
    report = passage_ranking.report_on_rankings(
        scores, k=measuring.k, seeds=measuring.seeds, resamples=resamples, seed=measuring.settings.seed
    )
    files: list[Path] = []
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        files.append(out / "rankings.csv")
        write_csv(scores, files[0])
    failed = {score.id: failure for score in scores if (failure := score.figures["failure"])}
    document = {
        "report": report.as_json(),
        "left_out": left_out,
        "failed": [{"id": question_id, "reason": reason} for question_id, reason in failed.items()],
        "files": [str(file) for file in files],
        "seconds": round(time.perf_counter() - started, 3),
    }
    on.show(document, style_table(report.as_table()))
    for file in files:
        on.say(f"written: {file}")
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


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

    The chunks of each question become a document of the index in --out.

    On the command line:
        file (FILE): JSON Lines: id, question, doc, chunks, qrels.
    """
    graded = chunk_benchmarks.load_graded(file)
    warn_about_faults(graded.faults)
    questions = out / "questions.jsonl"
    atomic_write(questions, graded.questions.encode())
    with index_of(graded.documents, out):
        pass
    on = IndexOptions(as_json=to.as_json, debug=to.debug, index=out / "index")
    measuring = passage_ranking.RankingSettings(k, False, seeds, TournamentSettings(top_k=k), debug=to.debug)
    return _measure_rankings(questions, on, measuring, resamples, out, judge)


@command
def legalbench_rag(
    file: Path,
    corpus: Annotated[Path, typer.Option(exists=True, file_okay=False)],
    to: Output,
    models: ModelOptions,
    k: Counted = 5,
    out: RunFolder = OUT,
    strategy: StrategyName = None,
) -> ExitCode:
    """Search documents other than filings: precision and recall of the characters that answer.

    The whole corpus is read into the index in --out.

    On the command line:
        file (FILE): A benchmark of LegalBench-RAG, JSON.
        corpus (--corpus DIR): Its documents, .txt.
    """
    settings = models.settings(strategy=strategy)
    started = time.perf_counter()
    questions, texts, faults = chunk_benchmarks.load_spans(file, corpus)
    warn_about_faults(faults)
    names = {name.removesuffix(".txt").replace("/", "__"): name for name in texts}
    rows = []
    with index_of({doc_id: chunk_benchmarks.as_html([texts[name]]) for doc_id, name in names.items()}, out) as index:
        workspace = Workspace(index)
        analyst, searching = RulesAnalyst(workspace), strategy_for(settings, workspace, notify=warn)
        depth = Depth(settings.documents, settings.pages, k)
        with Progress(len(questions), "searching", "questions") as progress:
            for question in questions:
                found = searching.search(first_query(question.question, analyst=analyst), EVERYTHING, depth)
                used = [each.stored for each in found.passages[: k if found.kept is None else found.kept]]
                passages = [(names[each.doc_id], each.passage.text) for each in used]
                rows.append(chunk_benchmarks.judge_spans(question, passages, texts))
                progress.step(question.id)
    report = chunk_benchmarks.report_on_spans(rows)
    write_csv(rows, out / "rows.csv")
    seconds = round(time.perf_counter() - started, 3)
    document = {"report": report.as_json(), "k": k, "left_out": faults, "seconds": seconds}
    atomic_write(out / "report.json", f"{json.dumps(document, indent=2)}\n".encode())
    to.show(document, style_table(report.as_table()))
    return ExitCode.DONE


@command
def ragas(folder: Path, to: Output, k: Counted = 5, judge: JudgeModel = None) -> ExitCode:
    """Measure the answers of another benchmark with RAGAS's metrics: context precision and recall, answer relevancy.

    Without --judge the metrics are proxies by words and numbers, and are labelled so. A stopped run resumes. Writes
    ragas.csv.

    On the command line:
        folder (DIR): The --out of a benchmark that answers questions.
    """
    started, settings = time.perf_counter(), settings_from()
    asked = rag_measures.read_run(folder)
    measure: rag_measures.Measure = rag_measures.by_words
    meter = Meter(settings.models.batch_budget, of="benchmark's judge")
    if judge is not None:
        caller = judge_caller(judge, settings, Role.PASSAGES_JUDGE)
        calls, similar = JudgeCalls(meter, warn), rag_measures.likeness()
        measure = rag_measures.by_model(caller, calls, similar, settings.prompts)
    kept = PartialResults(folder / "ragas.unfinished.jsonl", (judge, k, [each.answer for each in asked]), Row)
    rows: list[Row] = []
    with Progress(len(asked), "measuring", "answers") as progress:
        for number, each in enumerate(asked):
            row = kept.take(str(number)) or rag_measures.measured_row(each, measure, k)
            kept.add(str(number), row)
            rows.append(row)
            progress.step(each.id)
    kept.path.unlink(missing_ok=True)
    report = rag_measures.report_on_measures(rows, k, judge)
    write_csv(rows, folder / "ragas.csv")
    spent = meter.spent()
    document = {
        "report": report.as_json(),
        "judge": judge,
        "proxies": judge is None,
        "k": k,
        "calls": spent.calls,
        "tokens": spent.tokens,
        "seconds": round(time.perf_counter() - started, 3),
    }
    to.show(document, style_table(report.as_table()))
    to.say(f"rows: {folder / 'ragas.csv'}")
    return ExitCode.DONE
