"""`fin-agent eval ranking`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import Progress, say, show, show_json, warn
from fin_agent.evaluation.benchmark import write_csv
from fin_agent.evaluation.financebench import load_questions
from fin_agent.evaluation.ranking import Measuring, measure_rankings, report_on_rankings
from fin_agent.evaluation.statistics import FITTING, require_libraries
from fin_agent.evidence.tournament.judge import TournamentSettings
from fin_agent.presentation.plain import in_our_look

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class RankingWanted:
    """What is measured, and what is written of it."""

    k: int
    ablations: bool
    seeds: int
    seed: int
    resamples: int
    out: Path | None


def run_ranking(questions: Path, given: Path | None, wanted: RankingWanted, *, as_json: bool, debug: bool) -> ExitCode:
    """Measure the rankings; SOME_FAILED where a question failed (it has found nothing)."""
    require_libraries(FITTING)
    started = time.perf_counter()
    asked = load_questions(questions)
    settings = TournamentSettings(top_k=wanted.k, seed=wanted.seed)
    measuring = Measuring(wanted.k, wanted.ablations, wanted.seeds, settings, debug)
    with opened(given) as workspace, Progress(len(asked), "ranking", "questions") as progress:

        def told(question_id: str, seconds: float, failure: str) -> None:
            line = f"failed: {failure}" if failure else f"{seconds:.2f} s"
            progress.step(f"{question_id}: {line}", problem=bool(failure))

        scores, left_out = measure_rankings(asked, workspace, RulesAnalyst(workspace), measuring, told)
    if left_out:
        named = ", ".join(left_out[:_MOST_NAMED]) + (" ..." if len(left_out) > _MOST_NAMED else "")
        warn(f"{len(left_out)} questions are left out, no passage on their gold pages is in the index: {named}")
    report = report_on_rankings(scores, k=wanted.k, seeds=wanted.seeds, resamples=wanted.resamples, seed=wanted.seed)
    files: list[Path] = []
    if wanted.out is not None:
        wanted.out.mkdir(parents=True, exist_ok=True)
        files.append(wanted.out / "rankings.csv")
        write_csv(scores, files[0])
    failed = {score.id: score.failure for score in scores if score.failure}
    if as_json:
        show_json(
            {
                "report": report.as_json(),
                "left_out": left_out,
                "failed": [{"id": question_id, "reason": reason} for question_id, reason in failed.items()],
                "files": [str(file) for file in files],
                "seconds": round(time.perf_counter() - started, 3),
            }
        )
    else:
        show(in_our_look(report.as_table()))
        for file in files:
            say(f"written: {file}")
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE
