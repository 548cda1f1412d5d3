"""`fin-agent eval ixbrl`."""

from __future__ import annotations

import json
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.streams import Progress, say, show, show_json, warn
from fin_agent.errors import ReadError
from fin_agent.evaluation.ixbrl import TaggedReport, as_json, evaluate_tagged, load_manifest, report_on_tags
from fin_agent.filings.reader import read_filing
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.presentation.plain import in_our_look
from fin_agent.vocabulary.filing import Filing


def run_tagged(folder: Path, out: Path | None, *, as_json_text: bool) -> ExitCode:
    """Read every file of the manifest in `folder`; SOME_FAILED where one cannot be read."""
    lexicon = load_lexicon()

    def unit_of(metric: str) -> str:
        return lexicon.metrics[metric].unit

    def read(path: Path) -> Filing:
        return read_filing(path, lexicon.metric_of_label, unit_of, lexicon.metric_of_concept)

    entries = _manifest(folder)
    reports: list[TaggedReport] = []
    failed = False
    with Progress(len(entries), "reading", "files") as progress:
        for entry in entries:
            path = folder / str(entry["file"])
            try:
                reports.append(evaluate_tagged(path, entry, read, lexicon.metric_of_label, unit_of))
                progress.step(path.name)
            except ReadError as error:
                failed = True
                progress.step(f"{path.name}: failed: {error}", problem=True)
    if out is not None:
        out.write_text(json.dumps(as_json(reports), indent=1), encoding="utf-8")
    if as_json_text:
        show_json({"files": as_json(reports)})
    else:
        if reports:
            show(in_our_look(report_on_tags(reports).as_table()))
        for report in reports:
            for difference in report.identity_wrong:
                warn(f"{report.file}: {difference}")
        if out is not None:
            say(f"every miss: {out}")
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


def _manifest(folder: Path) -> list[dict[str, object]]:
    try:
        return load_manifest(folder)
    except (OSError, ValueError) as error:
        raise ReadError(
            f"its manifest.json cannot be read ({error})",
            subject=str(folder),
            remedy="Name a folder of inline XBRL files with a manifest.json: a list of objects with `file`, `company`,"
            " `ticker`, `form`, `fiscal_year`, `fiscal_period` and `period_end`",
        ) from error
