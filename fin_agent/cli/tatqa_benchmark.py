"""`fin-agent eval tatqa`."""

from __future__ import annotations

import time
from pathlib import Path

from fin_agent.analyst.rules.context_answers.answering import answer_in_context
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, show, show_json
from fin_agent.evaluation.tatqa.asking import Outcome, ask_tatqa
from fin_agent.evaluation.tatqa.benchmark import half_of, load_contexts
from fin_agent.evaluation.tatqa.half import Half
from fin_agent.evaluation.tatqa.report import report_on, write_outcomes
from fin_agent.presentation.filings import in_our_look


def run_tatqa(path: Path, limit: int | None, out: Path | None, *, half: Half, seed: int, as_json: bool) -> ExitCode:
    """Answer by rules and score the questions of a published file, the first `limit` where given."""
    started = time.perf_counter()
    contexts = half_of(load_contexts(path), half, seed)
    total = sum(len(context.questions) for context in contexts)
    total = total if limit is None else min(limit, total)
    outcomes: list[Outcome] = []
    with Progress(total, "answering", "questions") as progress:
        for context in contexts:
            for outcome in ask_tatqa(context, answer_in_context)[: total - len(outcomes)]:
                outcomes.append(outcome)
                progress.step(f"{outcome.id}: {outcome.miss.value or 'right'}")
    report = report_on(outcomes)
    if out is not None:
        write_outcomes(outcomes, out)
    if as_json:
        show_json(
            {
                "file": str(path),
                "half": half.value,
                "seed": seed,
                "report": report.as_json(),
                "seconds": round(time.perf_counter() - started, 3),
            }
        )
    else:
        show(in_our_look(report.as_table()))
        if out is not None:
            say(f"rows: {out / 'rows.csv'}, predictions: {out / 'predictions.json'}")
    return ExitCode.DONE
