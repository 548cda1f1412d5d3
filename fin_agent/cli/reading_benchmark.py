"""`fin-agent eval reading`."""

from __future__ import annotations

from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import say, show, show_json
from fin_agent.evaluation.financebench import load_questions
from fin_agent.evaluation.reading import ReadingReport, gold_pages_labelled, load_labels, read_filing_beside
from fin_agent.filings.facts.checks import check_facts
from fin_agent.index.protocol import PageOutline
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.presentation.plain import in_our_look


def run_reading(documents: Path, questions: Path, given: Path | None, *, as_json: bool) -> ExitCode:
    """Hold every filing of the index against the lists."""
    labels = load_labels(documents)
    asked = load_questions(questions)
    outlines: dict[str, list[PageOutline]] = {}
    filings = []
    with opened(given) as workspace:
        for record in workspace.index.filings():
            outline = outlines[record.doc_id] = workspace.index.outline([record.doc_id])
            checks = check_facts([sourced.fact for sourced in workspace.index.facts([record.doc_id])])
            filings.append(read_filing_beside(record, labels.get(record.doc_id), outline, checks))
    gold = gold_pages_labelled(asked, outlines, load_lexicon().statement_of_title)
    report = ReadingReport(tuple(filings), *gold)
    if as_json:
        show_json(report.as_json())
    else:
        show(in_our_look(report.as_table()))
        for miss in report.misses():
            say(miss)
    return ExitCode.DONE
