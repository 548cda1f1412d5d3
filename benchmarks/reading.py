"""How well filings are read, held against FinanceBench's lists: identity, statements, gold pages, sums that close.

python -m benchmarks.reading INDEX documents.jsonl questions.jsonl
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fin_agent.errors import ReadError
from fin_agent.evaluation.financebench import METRICS_QUESTIONS, FinanceBenchQuestion, load_questions
from fin_agent.filings.facts.accounting_identities import Check, Outcome, check_facts
from fin_agent.index.protocol import FilingRecord, PageKey, StoredPage
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("documents", type=Path, help="the published list of documents")
    parser.add_argument("questions", type=Path, help="the published questions")
    given = parser.parse_args()
    labels, asked = load_labels(given.documents), load_questions(given.questions)
    index = Workspace.open(given.index).index
    outlines = {record.doc_id: index.outline([record.doc_id]) for record in index.filings()}
    filings = [
        read_filing_beside(
            record,
            labels.get(record.doc_id),
            outlines[record.doc_id],
            check_facts([sourced.fact for sourced in index.facts([record.doc_id])]),
        )
        for record in index.filings()
    ]
    report = ReadingReport(tuple(filings), *gold_pages_labelled(asked, outlines, load_lexicon().statement_of_title))
    Console().print(report.as_table(), *report.misses(), sep="\n")


PRIMARY = (Statement.INCOME, Statement.BALANCE_SHEET, Statement.CASH_FLOW)
PERIODIC = (Form.TEN_K, Form.TEN_Q, Form.ANNUAL_REPORT)


@dataclass(frozen=True, slots=True)
class Label:
    """What FinanceBench says a document is."""

    doc_id: str
    forms: tuple[Form, ...]
    """Any of these is right: its annual reports are 10-Ks in glossy covers."""
    year: int
    quarter: int | None
    """From its name (`2023Q2`); None where the name gives none."""


@dataclass(frozen=True, slots=True)
class ReadFiling:
    """One filing as read, beside its label."""

    doc_id: str
    form_right: bool | None
    """None for filings without a label."""
    year_right: bool | None
    """Year and quarter by the filer's own naming."""
    ending_year_right: bool | None
    """Year and quarter with fiscal years named after the calendar year they end in."""
    read: str
    periodic: bool
    """A 10-K, 10-Q or annual report."""
    missing: tuple[str, ...]
    """Primary statements that no page is labelled with."""
    balance: str
    """Worst outcome of the check over the columns."""
    cash: str


@dataclass(frozen=True, slots=True)
class ReadingReport:
    """All figures of one index."""

    filings: tuple[ReadFiling, ...]
    gold_pages: int
    """Gold pages of metrics questions, each once."""
    gold_labelled: int
    """Of those: labelled as a primary statement that their evidence is titled with (any, where it has no title)."""
    gold_missed: tuple[str, ...]

    def as_table(self) -> Table:
        """A line a figure."""
        labelled = [filing for filing in self.filings if filing.form_right is not None]
        periodic = [filing for filing in self.filings if filing.periodic]
        table = Table(title="Reading, held against FinanceBench's lists", title_justify="left")
        for name in ("figure", "right", "of", "%"):
            table.add_column(name, justify="left" if name == "figure" else "right")
        for name, right, whole in (
            ("form", sum(bool(filing.form_right) for filing in labelled), len(labelled)),
            ("year and quarter, filer's naming", sum(bool(filing.year_right) for filing in labelled), len(labelled)),
            (
                "year and quarter, filer's naming or year of its end",
                sum(bool(filing.year_right or filing.ending_year_right) for filing in labelled),
                len(labelled),
            ),
            (
                "income, balance sheet and cash flow located (10-K, 10-Q)",
                sum(not filing.missing for filing in periodic),
                len(periodic),
            ),
            ("gold pages of metrics questions labelled", self.gold_labelled, self.gold_pages),
            (
                "assets = liabilities and equity (10-K, 10-Q)",
                _hold(filing.balance for filing in periodic),
                len(periodic),
            ),
            ("opening cash + change = closing cash", _hold(filing.cash for filing in periodic), len(periodic)),
        ):
            table.add_row(name, str(right), str(whole), f"{100 * right / whole:.1f}" if whole else "-")
        return table

    def misses(self) -> list[str]:
        """Each miss in a line."""
        lines = []
        for filing in self.filings:
            if filing.form_right is False or filing.year_right is False:
                lines.append(f"{filing.doc_id}: read as {filing.read}")
            if filing.periodic and filing.missing:
                lines.append(f"{filing.doc_id}: not located: {', '.join(filing.missing)}")
            if filing.periodic and filing.balance != Outcome.HOLDS:
                lines.append(f"{filing.doc_id}: balance {filing.balance}")
            if filing.periodic and filing.cash != Outcome.HOLDS:
                lines.append(f"{filing.doc_id}: cash {filing.cash}")
        return [*lines, *self.gold_missed]


def load_labels(path: Path) -> dict[str, Label]:
    """FinanceBench's `documents.jsonl`. Raises ReadError naming file and line."""
    labels: dict[str, Label] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            doc_id, kind = str(entry["doc_name"]), str(entry["doc_type"]).lower()
            quarter = _QUARTER.search(doc_id)
            labels[doc_id] = Label(doc_id, _FORMS[kind], int(entry["doc_period"]), int(quarter[1]) if quarter else None)
        except (ValueError, KeyError, TypeError) as error:
            raise ReadError(
                f"line {number} is not a document ({error!r})",
                subject=path.name,
                remedy="Give the published documents.jsonl: objects with `doc_name`, `doc_type`, `doc_period`",
            ) from error
    return labels


def read_filing_beside(
    record: FilingRecord, label: Label | None, outline: Iterable[StoredPage], checks: Sequence[Check]
) -> ReadFiling:
    """One line of the report."""
    identity = record.identity
    shown = {name for each in outline for name in (each.page.statement, *each.page.further_statements) if name}
    quarter_right = label is None or label.quarter is None or label.quarter == identity.quarter
    return ReadFiling(
        record.doc_id,
        None if label is None else identity.form in label.forms,
        None if label is None else quarter_right and identity.fiscal_year == label.year,
        None if label is None else quarter_right and identity.ending_year == label.year,
        f"{identity.form.value}, fiscal {identity.fiscal_year}"
        + (f" Q{identity.quarter}" if identity.quarter else "")
        + (f", period end {identity.period_end}" if identity.period_end else ""),
        identity.form in PERIODIC,
        tuple(statement.value for statement in PRIMARY if statement.value not in shown),
        _worst(checks, "balance"),
        _worst(checks, "cash"),
    )


def gold_pages_labelled(
    questions: Iterable[FinanceBenchQuestion],
    outlines: Mapping[str, Sequence[StoredPage]],
    title_of: Callable[[str], Statement | None],
) -> tuple[int, int, tuple[str, ...]]:
    """(gold pages of metrics questions, those labelled, the others) for filings in `outlines`.

    `title_of` gives the statement that a line of the annotators' text titles, where it titles one.
    """
    wanted_on: dict[PageKey, set[str]] = {}
    for question in questions:
        for (doc_id, number), text in question.texts:
            if question.question_type == METRICS_QUESTIONS and doc_id in outlines:
                titles = (title_of(line.strip()) for line in text.split("\n"))
                wanted_on.setdefault(PageKey(doc_id, number), set()).update(title.value for title in titles if title)
    missed = []
    for key, wanted in sorted(wanted_on.items()):
        page = next((each.page for each in outlines[key.doc_id] if each.key == key), None)
        labels = {name for name in (page.statement, *page.further_statements) if name} if page else set()
        if not (labels & wanted if wanted else labels):
            missed.append(f"{key.doc_id} page {key.page + 1}: labelled {', '.join(sorted(labels)) or 'nothing'}")
    return len(wanted_on), len(wanted_on) - len(missed), tuple(missed)


_QUARTER = re.compile(r"_20\d\dQ([1-4])_")
_FORMS: dict[str, tuple[Form, ...]] = {
    "10k": (Form.TEN_K,),
    "10k_annualreport": (Form.TEN_K, Form.ANNUAL_REPORT),
    "10q": (Form.TEN_Q,),
    "8k": (Form.EIGHT_K,),
    "earnings": (Form.EARNINGS,),
}


def _hold(outcomes: Iterable[str]) -> int:
    return sum(outcome == Outcome.HOLDS for outcome in outcomes)


def _worst(checks: Sequence[Check], name: str) -> str:
    """`fails` before `holds` before `not checkable`: a column that fails is a warning, one that is cut off is none."""
    outcomes = {check.outcome for check in checks if check.name == name}
    order = (Outcome.FAILS, Outcome.HOLDS, Outcome.NOT_CHECKABLE)
    return next((outcome.value for outcome in order if outcome in outcomes), Outcome.NOT_CHECKABLE.value)


if __name__ == "__main__":
    main()
