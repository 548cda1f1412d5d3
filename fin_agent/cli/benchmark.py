"""`fin-agent eval financebench`."""

from __future__ import annotations

import json
import time
from pathlib import Path

from fin_agent.analyst.model.judging import ModelTextJudge, judge_named
from fin_agent.cli.answers import AnswersFile, Attempt, attempt, refusal_for
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, show, show_json, warn
from fin_agent.config import Settings
from fin_agent.evaluation.financebench import FinanceBenchQuestion, Row, load_questions, score
from fin_agent.evaluation.given_away import allowed
from fin_agent.evaluation.judgements import Judged, judge_rows, write_judgements
from fin_agent.evaluation.miss_report import misses_as_markdown, write_misses
from fin_agent.evaluation.misses import Miss, explain
from fin_agent.evaluation.oracle import Oracle
from fin_agent.evaluation.report import summarize, write_rows
from fin_agent.evaluation.same_content import standing_for
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.models.metering import Meter, metered
from fin_agent.presentation.plain import in_our_look
from fin_agent.retrieval.query import Scope

_MOST_NAMED = 5
_GIVEN = {Oracle.NONE: "", Oracle.DOCUMENT: "the right filing given", Oracle.PAGE: "the right pages given"}


def run_financebench(
    questions: Path,
    out: Path,
    given: Path | None,
    settings: Settings,
    *,
    oracle: Oracle,
    judge: str | None = None,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Answer and score all questions; SOME_FAILED where one could not be answered at all (it counts as refused).

    `judge` names a chat model that also judges the answers.
    """
    started = time.perf_counter()
    judging = None if judge is None else ModelTextJudge(judge_named(judge, settings), settings.prompts)
    asked = load_questions(questions)
    rows: list[Row] = []
    misses: list[Miss] = []
    failures: list[tuple[str, str]] = []
    out.mkdir(parents=True, exist_ok=True)
    with opened(given) as workspace:
        context = AnswerContext.from_settings(workspace, settings, notify=warn)
        records = workspace.index.filings()
        forms = {record.doc_id: record.identity.form.value for record in records}
        same_content = standing_for(records)
        lacking = sorted({question.doc_id for question in asked} - forms.keys())
        if lacking:
            named = ", ".join(lacking[:_MOST_NAMED]) + (" ..." if len(lacking) > _MOST_NAMED else "")
            warn(f"{len(lacking)} of the filings asked about are not in the index: {named}")
        with AnswersFile(out / "answers.jsonl") as answers, Progress(len(asked), "answering", "questions") as progress:
            for question in asked:
                tried = _tried(question, allowed(question, oracle, forms), context, debug)
                written = answers.write(tried.answer)
                row = score(question, written, forms=forms, same_content=same_content)
                rows.append(row)
                if row.numeric_match_any is False:
                    misses.append(
                        explain(question, row, tried.answer, failure=tried.failure, same_content=same_content)
                    )
                if tried.failure:
                    failures.append((question.id, tried.failure))
                    progress.step(f"{question.id}: failed: {tried.failure}", problem=True)
                else:
                    progress.step(f"{question.id}: {tried.answer.seconds:.2f} s")
    report = summarize(rows)
    bench = None if judging is None else _judged(rows, judging, settings)
    written_out = {
        "oracle": oracle.value,
        "report": report.as_json(),
        **({} if bench is None else {"judge": {"model": judge, **bench.as_json()}}),
        "misses": [{"id": miss.row.id, "stage": miss.stage.name.lower(), "detail": miss.detail} for miss in misses],
        "failed": [{"id": question_id, "reason": reason} for question_id, reason in failures],
        "rows": str(out / "rows.csv"),
        "answers": str(out / "answers.jsonl"),
        "seconds": round(time.perf_counter() - started, 3),
    }
    write_rows(rows, out / "rows.csv")
    if bench is not None:
        write_judgements(bench, out / "judgements.csv")
    write_misses(misses, out / "misses.csv")
    (out / "misses.md").write_text(misses_as_markdown(misses, rows), encoding="utf-8")
    (out / "report.json").write_text(json.dumps(written_out, indent=2) + "\n", encoding="utf-8")
    if as_json:
        show_json(written_out)
    else:
        found, numbers = map(in_our_look, report.as_tables(_GIVEN[oracle]))
        show(found, numbers)
        if bench is not None:
            show(bench.text())
        say(f"rows, answers, report and {len(misses)} misses: {out}")
    return ExitCode.SOME_FAILED if failures else ExitCode.DONE


def _judged(rows: list[Row], judging: ModelTextJudge, settings: Settings) -> Judged:
    with (
        metered(Meter(settings.models.batch_budget, of="benchmark's judge")),
        Progress(len(rows), "judging", "answers") as progress,
    ):
        judged = judge_rows(rows, judging, lambda each: progress.step(f"{each.id}: {each.told}"))
    for note in judged.notes[:_MOST_NAMED]:
        warn(note)
    if more := judged.notes[_MOST_NAMED:]:
        warn(f"{len(more)} more answers were judged by rules")
    return judged


def _tried(question: FinanceBenchQuestion, scope: Scope | None, context: AnswerContext, debug: bool) -> Attempt:
    if scope is None:
        return Attempt(refusal_for(question.question, "no filing that holds the answer is in the index", question.id))
    return attempt(
        question.question, context, doc_ids=scope.doc_ids, pages=scope.pages, question_id=question.id, debug=debug
    )
