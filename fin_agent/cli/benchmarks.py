"""`fin-agent eval` and `compare`: benchmarks that ask questions and judge the answers, and those of search alone."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import typer

from fin_agent.analyst.model.cited_answers import model_reader
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import first_query, judge_for, strategy_for
from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.atomic_write import atomic_write
from fin_agent.cli.asking import answer_json, attempt, refusal_for
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import AnswerOptions, IndexOptions, Output, command
from fin_agent.cli.streams import Progress, say, warn
from fin_agent.config import settings_from
from fin_agent.errors import FinAgentError, QuestionError, require_extra
from fin_agent.evaluation import Family, Oracle, QuestionKind, chunk_benchmarks, judging, passage_ranking
from fin_agent.evaluation import financebench as financebench_questions
from fin_agent.evaluation import lofin as lofin_questions
from fin_agent.evaluation import tatqa as tatqa_questions
from fin_agent.evaluation.benchmark import (
    AnsweredQuestion,
    PartialResults,
    Report,
    Row,
    Run,
    report_of,
    run_benchmark,
    write_csv,
)
from fin_agent.evaluation.comparison import COMPARED, Conditions, Reader, report_on_comparison
from fin_agent.evaluation.comparison import compare as searched
from fin_agent.evaluation.financebench import FinanceBenchQuestion, duplicates_of_filings, load_questions, oracle_scope
from fin_agent.evaluation.generated import question_generators as made
from fin_agent.evaluation.generated.question_material import QuestionMaterial, read_folder
from fin_agent.evaluation.generated.truth import has_failed
from fin_agent.evaluation.generated.truth import judge as judge_made
from fin_agent.evaluation.judging import Judge
from fin_agent.evaluation.statistics import FITTING, MEASURING, overlap
from fin_agent.evidence.tournament.tournament import TournamentSettings
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.index.ingest import ingest
from fin_agent.index.protocol import StoredPassage
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.models.call import Role
from fin_agent.presentation.terminal_text import first_items, style_table
from fin_agent.retrieval.search_query import EVERYTHING, Depth, Scope
from fin_agent.workspace import Workspace

QuestionT = TypeVar("QuestionT")

OUT = Path("fin-agent-eval")
_MAX_NAMED = 10
_GIVEN = {Oracle.NONE: "", Oracle.DOCUMENT: "the right filing given", Oracle.PAGE: "the right pages given"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOptions(AnswerOptions):
    """Options of a benchmark whose questions are answered."""

    out: Path = OUT


class BenchmarkRun:
    """Runs a benchmark: asks with progress, resumes after an interruption, writes and shows the results."""

    def __init__(self, workspace: Workspace, how: BenchmarkOptions, to: Output) -> None:
        """Prepare a run that writes rows.csv, answers.jsonl and report.json to the folder of `how`."""
        self._started = time.perf_counter()
        self._settings = how.settings()
        self._context = AnswerContext.from_settings(workspace, self._settings, notify=warn)
        self._filings = sorted(record.content_hash for record in workspace.index.filings())
        self._to = to
        self._out = how.out

    def ask(self, question: str, question_id: str, scope: Scope = EVERYTHING) -> AnsweredQuestion:
        """Return the answer, or a refusal if answering fails, so that the run goes on."""
        debug = self._to.debug
        return attempt(
            question, self._context, doc_ids=scope.doc_ids, pages=scope.pages, question_id=question_id, debug=debug
        )

    def run(
        self,
        questions: Sequence[QuestionT],
        ask: Callable[[QuestionT], AnsweredQuestion],
        judge: Callable[[QuestionT, AnsweredQuestion], Row],
        describe: Callable[[Row], str],
        *asked_how: str,
    ) -> Run:
        """Ask and judge all questions.

        `describe` returns the outcome of a row for its progress line; `asked_how` are further options that answers
        depend on.
        """
        # Everything that an answer depends on besides its question: a run only resumes if it is the same.
        settings = repr((self._settings.model_dump_json(), self._filings, asked_how))
        progress = Progress(len(questions))

        def report_row(row: Row) -> None:
            progress.step(f"{row.question}: {describe(row)}, {row.seconds or 0:.2f} s")

        return run_benchmark(questions, ask, judge, settings=settings, out=self._out, on_row=report_row)

    def publish(self, run: Run, report: Report, told: Mapping[str, object], lines: Iterable[str] = ()) -> ExitCode:
        """Write and show the report; return SOME_FAILED if a question failed."""
        rows, answers = self._out / "rows.csv", self._out / "answers.jsonl"
        write_csv(run.rows, rows)
        write_lines(answers, (answer_json(each.answer) for each in run.answered))
        seconds = round(time.perf_counter() - self._started, 3)
        outcome = {"report": report.as_json(), "failed": run.failed, "cost": run.cost}
        document = {**told, **outcome, "rows": str(rows), "answers": str(answers), "seconds": seconds}
        write_lines(self._out / "report.json", [json.dumps(document, indent=2)])
        self._to.show(document, *map(style_table, report.as_tables()), *lines)
        if run.cost["model_calls"]:
            self._to.say(", ".join(f"{name.replace('_', ' ')}: {amount}" for name, amount in run.cost.items()))
        self._to.say(f"rows: {rows}, answers: {answers}")
        for each in run.failed:
            say(f"{each['question']}: failed: {each['reason']}")
        return ExitCode.SOME_FAILED if run.failed else ExitCode.DONE


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write a file of these lines. Raises WriteError."""
    atomic_write(file, "".join(f"{line}\n" for line in lines).encode())


def warn_about_faults(faults: Iterable[str]) -> None:
    """Warn of the first faults, and of the number of others."""
    faults = list(faults)
    for fault in faults[:_MAX_NAMED]:
        warn(fault)
    if more := faults[_MAX_NAMED:]:
        warn(f"and {len(more)} more")


def _forms_held(workspace: Workspace, asked: Iterable[str]) -> tuple[dict[str, str], Mapping[str, str]]:
    """Return the forms of the filings, and those of the same content; warn of filings asked about that are missing."""
    records = workspace.index.filings()
    forms = {record.doc_id: record.identity.form.value for record in records}
    if lacking := sorted(set(asked).difference(forms)):
        warn(f"{len(lacking)} of the filings asked about are not in the index: {first_items(lacking)}")
    return forms, duplicates_of_filings(records)


def index_of(filings: Mapping[str, str], out: Path) -> SqliteIndex:
    """Build an index in `out` from a benchmark's documents in HTML, so that misses can be asked again there."""
    files = {out / "filings" / f"{doc_id}.html": html for doc_id, html in filings.items()}
    for path, html in files.items():
        if not path.exists() or path.read_text(encoding="utf-8") != html:  # an unchanged file is not read again
            atomic_write(path, html.encode())
    index = SqliteIndex.create(out / "index")
    report = ingest(list(files), index)
    warn_about_faults(f"{file.path.name}: {file.reason}" for file in report.failures)
    return index


@command
def financebench(
    questions: Path, on: IndexOptions, how: BenchmarkOptions, oracle: Oracle = Oracle.NONE, judge: str | None = None
) -> ExitCode:
    """Answer FinanceBench's questions: recall, numeric match and seconds by kind, and the reason for each miss."""
    judging = Judge.of(judge, Role.TEXT_JUDGE, how.settings(), warn)
    asked = load_questions(questions)
    with on.open_workspace() as workspace:
        asking = BenchmarkRun(workspace, how, on)
        forms, same_content = _forms_held(workspace, (question.doc_id for question in asked))

        def ask_within(question: FinanceBenchQuestion) -> AnsweredQuestion:
            scope = oracle_scope(question, oracle, forms)
            if scope is None:
                reason = "no filing with the answer is in the index"
                return AnsweredQuestion(answer=refusal_for(question.question, reason, question.id))
            return asking.ask(question.question, question.id, scope)

        score = partial(financebench_questions.score, forms=forms, same_content=same_content, judge=judging)
        run = asking.run(
            asked,
            ask_within,
            lambda question, answered: score(question, answered.answer),
            lambda row: "refused" if row.refused else "answered",
            oracle.value,
        )
    misses = []
    for question, row, each in zip(asked, run.rows, run.answered, strict=True):
        if row.figures["numeric_match_any"] is False:
            stage, detail = financebench_questions.explain(
                question, row, each.answer, failure=each.failure, same_content=same_content
            )
            misses.append({"id": row.id, "stage": stage, "detail": detail})
    told = {"oracle": oracle.value, "judge": judge, "misses": misses}
    write_csv(misses, how.out / "misses.csv")
    return asking.publish(run, financebench_questions.summarize(run.rows, _GIVEN[oracle]), told)


@command
def generated(
    on: IndexOptions, how: BenchmarkOptions, kind: list[Family] | None = None, count: int | None = None, seed: int = 0
) -> ExitCode:
    """Generate questions from the index's own figures, and check answers, ledgers and refusals against them.

    By default 100 multi-filing and 60 unanswerable questions, and 120 lookups.
    """
    with on.open_workspace() as workspace:
        material = QuestionMaterial(workspace)
        return _ask_generated(material, kind or list(Family), count, seed, how, on, "Generated questions", "PATH...")


@command
def tagged_questions(
    folder: Path,
    on: IndexOptions,
    how: BenchmarkOptions,
    kind: list[QuestionKind] | None = None,
    count: int | None = None,
    seed: int = 0,
) -> ExitCode:
    """Generate questions with exact answers from tags of inline XBRL, ask them, and report accuracy by kind.

    By default 530 questions in all.
    """
    title = "Questions generated from tags (right: within 0.5 %; one tagged figure: to its last digit)"
    with on.open_workspace() as workspace:
        filings, not_indexed = read_folder(folder, workspace)
        for name in not_indexed:
            warn(f"{name} is not in the index: no questions are generated about it")
        material = QuestionMaterial(workspace, filings)
        return _ask_generated(material, kind or list(QuestionKind), count, seed, how, on, title, str(folder))


def _ask_generated(
    material: QuestionMaterial,
    kinds: Sequence[Family] | Sequence[QuestionKind],
    count: int | None,
    seed: int,
    how: BenchmarkOptions,
    to: Output,
    title: str,
    reports: str,
) -> ExitCode:
    """Generate questions, ask and judge them; `reports` are those to add if none can be generated."""
    asking = BenchmarkRun(material.workspace, how, to)
    counts = made.COUNTS if count is None else dict.fromkeys(made.COUNTS, count)
    questions = made.generated_questions(material, kinds, seed, counts=counts)
    if not questions:
        raise QuestionError(
            "the index contains no figures to generate questions from",
            remedy=f"Add annual reports with `fin-agent ingest {reports}`",
        )
    for kind in kinds:
        found = sum(question.family is kind for question in questions)
        if found < counts[kind]:
            warn(f"only {found} of {counts[kind]} {kind.value} questions can be generated")
    write_lines(how.out / "questions.jsonl", (json.dumps(asdict(each)) for each in questions))
    by_key = material.workspace.directory.by_key
    missed = has_failed if material.filings is None else (lambda row: not row.figures["right"])
    run = asking.run(
        questions,
        lambda each: asking.ask(each.text, each.id),
        lambda question, answered: judge_made(question, answered.answer, by_key),
        lambda row: "missed" if missed(row) else "right",
    )
    told = {"seed": seed, "misses": [asdict(row) for row in run.rows if missed(row)]}
    return asking.publish(run, report_of("generated", run.rows, title=title), told)


@command
def tatqa(
    file: Path,
    to: Output,
    how: BenchmarkOptions,
    answer_type: list[str] | None = None,
    count: int | None = None,
    seed: int = 0,
) -> ExitCode:
    """Ask TAT-QA's questions about its tables and paragraphs, each read as a small filing: exact match and F1.

    The filings and their index are stored in --out.
    """
    filings, every, faults = tatqa_questions.load_tatqa(file)
    warn_about_faults(faults)
    questions = tatqa_questions.drawn_questions(every, count, answer_type or (), seed)
    if not questions:
        raise QuestionError("no questions of these types", subject=str(file), remedy="Name another --type, or none")
    with index_of({each.doc_id: filings[each.doc_id] for each in questions}, how.out) as index:
        asking = BenchmarkRun(Workspace(index), how, to)
        run = asking.run(
            questions,
            lambda each: asking.ask(each.question, each.id, Scope(doc_ids=(each.doc_id,))),
            lambda question, answered: tatqa_questions.judge_tatqa(question, answered.answer),
            lambda row: "refused" if row.refused else "right" if row.figures["exact"] else "wrong",
        )
    return asking.publish(run, report_of("tatqa", run.rows), {"seed": seed, "left_out": faults})


@command
def lofin(
    files: list[Path], on: IndexOptions, how: BenchmarkOptions, oracle: Oracle = Oracle.NONE, judge: str | None = None
) -> ExitCode:
    """Ask LOFin's questions: pages of the passages used, accuracy by HiREC's rule, errors, rounds, curve, cost."""
    judging = Judge.of(judge, Role.TEXT_JUDGE, how.settings(), warn)
    with on.open_workspace() as workspace:
        page_counts = {record.doc_id: record.page_count for record in workspace.index.filings()}
        asked, faults = lofin_questions.load_lofin(files, page_counts)

        def right(question: FinanceBenchQuestion, answer: Answer) -> bool | None:
            by_number = lofin_questions.right_number(question, answer)
            if by_number is not None or judging is None:
                return by_number
            pages = "\n\n".join(stored.page.text for stored in workspace.index.pages(question.pages))
            reference = f"{question.answer}\n\nWhat the filing says there:\n{pages}"
            return judging.is_right(question.question, reference, answer)

        return _pages_used("LOFin", asked, faults, workspace, how, on, right, oracle, judge)


@command
def finqa(file: Path, on: IndexOptions, how: BenchmarkOptions, oracle: Oracle = Oracle.NONE) -> ExitCode:
    """Ask FinQA's questions about the indexed annual reports: pages of the passages used, results within 1%."""
    with on.open_workspace() as workspace:
        asked, faults = lofin_questions.load_finqa(file, workspace.index)
        return _pages_used("FinQA", asked, faults, workspace, how, on, lofin_questions.right_result, oracle)


def _pages_used(
    title: str,
    asked: Sequence[FinanceBenchQuestion],
    faults: Sequence[str],
    workspace: Workspace,
    how: BenchmarkOptions,
    to: Output,
    right: lofin_questions.Rule,
    oracle: Oracle,
    judge: str | None = None,
) -> ExitCode:
    """Ask, judge by `right`, and measure the pages used; warn of what was left out."""
    warn_about_faults(faults)
    if not asked:
        raise QuestionError("no question can be asked", subject=title, remedy="Add the filings that they are about")
    owners, asking = workspace.directory.owners, BenchmarkRun(workspace, how, to)
    run = asking.run(
        asked,
        lambda each: asking.ask(each.question, each.id, oracle_scope(each, oracle, owners) or EVERYTHING),
        lambda question, answered: lofin_questions.judge_pages(question, answered, owners, right),
        lambda row: row.figures["error"] or "right page",
        oracle.value,
    )
    measured = lofin_questions.detailed_metrics(run.rows, run.answered)
    document = {"oracle": oracle.value, "judge": judge, "left_out": faults, **measured}
    return asking.publish(
        run, report_of("lofin", run.rows, benchmark=title), document, lofin_questions.metric_lines(measured)
    )


# --- Searches and rankings, without answers


def _publish(
    to: Output,
    report: Report,
    told: Mapping[str, object],
    started: float,
    tables: Mapping[Path, Sequence[Row | Mapping[str, object]]],
) -> None:
    """Write the tables as CSV, and show a report with its tables and these files."""
    for file, rows in tables.items():
        write_csv(rows, file)
    seconds = round(time.perf_counter() - started, 3)
    document = {"report": report.as_json(), **told, "files": list(map(str, tables)), "seconds": seconds}
    to.show(document, *(line for table in report.as_tables() for line in (style_table(table), "")))
    for file in tables:
        to.say(f"written: {file}")


@command
def ranking(
    questions: Path,
    on: IndexOptions,
    k: int = 10,
    ablations: bool = False,
    seeds: int = 5,
    judge: str | None = None,
    waver: float = 0,
    seed: int = 0,
    resamples: int = 10_000,
    out: Path = OUT,
) -> ExitCode:
    """Rank the passages of the right filing, stage by stage: nDCG, MAP, MRR. Needs the extra `evaluation`."""
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
    k: int = 10,
    seeds: int = 5,
    judge: str | None = None,
    resamples: int = 10_000,
    out: Path = OUT,
) -> ExitCode:
    """Rank graded chunks by the tournament, stage by stage: graded nDCG, MAP, MRR. Needs the extra `evaluation`.

    The chunks of each question become a document of the index in --out. A stopped run resumes.
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
    failed = [{"id": row.id, "reason": row.figures["failure"]} for row in scores if row.figures["failure"]]
    _publish(on, report, {"left_out": left_out, "failed": failed}, started, {out / "rankings.csv": scores})
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


@command
def legalbench_rag(file: Path, corpus: Path, to: Output, how: BenchmarkOptions, k: int = 5) -> ExitCode:
    """Search documents other than filings: precision and recall of the characters that answer.

    The whole corpus is read into the index in --out. A stopped run resumes.
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
    _publish(to, report_of("legalbench_rag", rows), {"k": k, "left_out": faults}, started, {how.out / "rows.csv": rows})
    return ExitCode.DONE


@command
def ragas(folder: Path, to: Output, k: int = 5, judge: str | None = None) -> ExitCode:
    """Measure the answers of another benchmark with RAGAS's metrics: context precision and recall, answer relevancy.

    Without --judge the metrics are proxies by words and numbers, and are labelled so. A stopped run resumes. Writes
    ragas.csv.
    """
    started = time.perf_counter()
    asked = judging.read_run(folder)
    model = Judge.of(judge, Role.PASSAGES_JUDGE, settings_from(), warn)
    measure = judging.by_words if model is None else judging.by_model(model)
    kept = PartialResults(folder / "ragas.unfinished.jsonl", (judge, k, asked), Row)
    rows = _rows(kept, asked, lambda each: replace(each[0], figures=measure(each[0], each[1].retrieved.passages[:k])))
    by, proxy = (f"judged by {judge}", "") if judge else ("proxies, by words and numbers", " (proxy)")
    report = report_of("ragas", rows, by=by, k=k, proxy=proxy)
    calls, tokens = (0, 0) if model is None else (model.meter.spent().calls, model.meter.spent().tokens)
    told = {"judge": judge, "proxies": judge is None, "k": k, "calls": calls, "tokens": tokens}
    _publish(to, report, told, started, {folder / "ragas.csv": rows})
    return ExitCode.DONE


def _rows(kept: PartialResults[Row], asked: Sequence[QuestionT], judge: Callable[[QuestionT], Row]) -> list[Row]:
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
    questions: Path,
    on: IndexOptions,
    oracle: Oracle = Oracle.NONE,
    k: int = 5,
    out: Path = OUT,
    reader: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> ExitCode:
    """Compare search strategies: recall, overlap with the evidence, seconds. Needs the extra `evaluation`.

    Exit code 3 if a strategy cannot be set up, or fails on a question.
    """
    names = tuple(dict.fromkeys(name.strip() for name in strategies.split(",") if name.strip()))
    if not names:
        raise typer.BadParameter("name at least one strategy", param_hint="--strategies")
    require_extra("evaluation", MEASURING)
    started = time.perf_counter()
    asked = load_questions(questions, answers=reader is not None)
    with on.open_workspace() as workspace:
        progress = Progress(len(asked) * len(names))
        forms, same_content = _forms_held(workspace, (doc_id for each in asked for doc_id in each.documents))
        conditions = Conditions(k=k, oracle=oracle, forms=forms, same_content=same_content, debug=on.debug)
        compared = (asked, conditions, _contents(workspace), settings_from().model_dump_json(), reader)

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
    tables = {"summary.csv": report.as_json()["groups"], "rows.csv": comparison.scores, "misses.csv": missed}
    _publish(on, report, {"failed": failures}, started, {out / name: rows for name, rows in tables.items()})
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
