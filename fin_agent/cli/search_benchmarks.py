"""The commands of `fin-agent eval` that answer no question: reading, ixbrl, ranking and facts."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from rich.text import Text

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategies import judge_for
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import Progress, say, show_result, warn
from fin_agent.config import settings_from
from fin_agent.errors import ReadError
from fin_agent.evaluation import fact_search, ixbrl, ranking
from fin_agent.evaluation.benchmark import write_csv
from fin_agent.evaluation.financebench import load_questions
from fin_agent.evaluation.statistics import FITTING, require_libraries
from fin_agent.filings.reader import read_filing
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.presentation.plain import first_of, in_our_look, listing, right
from fin_agent.tools.narrowing import company_named


def run_ixbrl(folder: Path, out: Path | None, *, as_json: bool) -> ExitCode:
    """Read every file of the manifest in `folder`; SOME_FAILED where one cannot be read."""
    lexicon = load_lexicon()

    def unit_of(metric: str) -> str:
        return lexicon.metrics[metric].unit

    read = partial(
        read_filing, metric_of=lexicon.metric_of_label, unit_of=unit_of, concept_of=lexicon.metric_of_concept
    )
    entries = _manifest(folder)
    reports: list[ixbrl.TaggedReport] = []
    with Progress(len(entries), "reading", "files") as progress:
        for entry in entries:
            path = folder / str(entry["file"])
            try:
                reports.append(ixbrl.evaluate_tagged(path, entry, read, lexicon.metric_of_label, unit_of))
                progress.step(path.name)
            except ReadError as error:
                progress.step(f"{path.name}: failed: {error}", problem=True)
    document = ixbrl.as_json(reports)
    if out is not None:
        out.write_text(json.dumps(document, indent=1), encoding="utf-8")
    tables = [in_our_look(ixbrl.report_on_tags(reports).as_table())] if reports else []
    show_result(as_json, {"files": document}, *tables)
    if not as_json:
        for report in reports:
            for difference in report.identity_wrong:
                warn(f"{report.file}: {difference}")
        if out is not None:
            say(f"every miss: {out}")
    return ExitCode.DONE if len(reports) == len(entries) else ExitCode.SOME_FAILED


def _manifest(folder: Path) -> list[dict[str, object]]:
    try:
        return ixbrl.load_manifest(folder)
    except (OSError, ValueError) as error:
        raise ReadError(
            f"its manifest.json cannot be read ({error})",
            subject=str(folder),
            remedy="Name a folder of inline XBRL files with a manifest.json: a list of objects with `file`, `company`,"
            " `ticker`, `form`, `fiscal_year`, `fiscal_period` and `period_end`",
        ) from error


def run_ranking(
    questions: Path,
    given: Path | None,
    measuring: ranking.Measuring,
    resamples: int,
    out: Path | None,
    *,
    judge: str | None = None,
    as_json: bool,
) -> ExitCode:
    """Measure the rankings; SOME_FAILED where a question failed (it has found nothing).

    `judge` names the chat model that judges cards. Raises ModelSetupError where it cannot be set up.
    """
    require_libraries(FITTING)
    if judge is not None:
        measuring = replace(measuring, judge=judge_for(settings_from(judge_model=judge)))
    started = time.perf_counter()
    asked = load_questions(questions)
    with opened(given) as workspace, Progress(len(asked), "ranking", "questions") as progress:

        def told(question_id: str, seconds: float, failure: str) -> None:
            line = f"failed: {failure}" if failure else f"{seconds:.2f} s"
            progress.step(f"{question_id}: {line}", problem=bool(failure))

        scores, left_out = ranking.measure_rankings(asked, workspace, RulesAnalyst(workspace), measuring, told)
    if left_out:
        why = "no passage on their gold pages is in the index"
        warn(f"{len(left_out)} questions are left out, {why}: {first_of(left_out)}")
    report = ranking.report_on_rankings(
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
    show_result(as_json, document, in_our_look(report.as_table()))
    for file in () if as_json else files:
        say(f"written: {file}")
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


def run_facts(companies: Sequence[str], given: Path | None, *, count: int, seed: int, as_json: bool) -> ExitCode:
    """Search for tagged figures of an index: by wording, of wholes and of parts, with their tags and without."""
    rows: list[dict[str, object]] = []
    with opened(given) as workspace:
        keys = [company_named(name, workspace).key for name in companies]
        for tags in (True, False):
            for wording in fact_search.Wording:
                if wording is fact_search.Wording.CONCEPT and not tags:
                    continue  # without tags nothing has these words
                for of_parts in (False, True):
                    asked = fact_search.questions_from_tags(
                        workspace, wording, of_parts=of_parts, most=count, seed=seed, companies=keys
                    )
                    score = fact_search.score_search(workspace, asked, tags=tags)
                    rows.append({"tags": tags, "wording": wording.value, "of_parts": of_parts, **asdict(score)})
        families = fact_search.score_families(workspace, companies=keys)
    numbers = ("asked", "first", "in_five", "sure", "sure_and_wrong")
    table = listing("tags", "words of the", "of", *(right(name.replace("_", " ")) for name in numbers))
    for row in rows:
        told = ("seen" if row["tags"] else "hidden", str(row["wording"]), "parts" if row["of_parts"] else "companies")
        table.add_row(*told, *(str(row[name]) for name in numbers))
    said = ", ".join(f"{name} {number}" for name, number in families.items())
    show_result(as_json, {"searches": rows, "families": families}, table, Text(f"families of parts: {said}"))
    return ExitCode.DONE
