"""Questions that filings give by themselves: rows of their own statements, asked for as they are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.index.protocol import FilingEntry, PageKey, SourcedFact
from fin_agent.lexicon.fiscal import ANNUAL_FORMS
from fin_agent.workspace import Workspace

QUESTION_TYPE = "lookup"
WORDINGS = (
    "What was {company}'s {label} in FY{year}?",
    "What was the {label} of {company} for fiscal {year}?",
    "How much was {label} at {company} in fiscal year {year}?",
)
_LONGEST_LABEL = 70
_WORD = re.compile(r"[a-z]{3}")


def lookup_questions(workspace: Workspace, count: int) -> list[FinanceBenchQuestion]:
    """`count` lookups, as many from each annual report, for rows of its primary statements in its own year.

    The gold page is the metric's own statement; for rows that name no metric, the first statement page that prints the
    label, and others that do hold the same. Which rows are taken depends on their words alone: the same filings always
    give the same questions.
    """
    rows = [_rows(entry, workspace) for entry in workspace.index.entries() if entry.identity.form in ANNUAL_FORMS]
    taken: list[FinanceBenchQuestion] = []
    for turn in range(max(map(len, rows), default=0)):
        taken += [of_filing[turn] for of_filing in rows if turn < len(of_filing)]
    return sorted(taken[:count], key=lambda question: question.id)


def _rows(entry: FilingEntry, workspace: Workspace) -> list[FinanceBenchQuestion]:
    reported = entry.identity.reported
    if reported is None or reported.quarter is not None:
        return []
    pages: dict[str, set[int]] = {}
    at_home: dict[str, set[int]] = {}
    for sourced in workspace.index.facts([entry.doc_id]):
        if _is_own_row(sourced, reported.fiscal_year):
            label = " ".join(sourced.fact.label.split())
            pages.setdefault(label, set()).add(sourced.fact.page)
            metric = workspace.lexicon.metrics.get(sourced.fact.metric or "")
            if metric is not None and metric.statement is sourced.fact.statement:
                at_home.setdefault(label, set()).add(sourced.fact.page)
    pages |= at_home
    labels = sorted(filter(_may_be_asked, pages), key=lambda label: _shuffled(f"{entry.content_hash} {label}"))
    company = workspace.directory.by_key[workspace.directory.owners[entry.doc_id]].name
    return list(_asked(entry.doc_id, company, reported.fiscal_year, labels, pages))


def _asked(
    doc_id: str, company: str, year: int, labels: list[str], pages: dict[str, set[int]]
) -> Iterator[FinanceBenchQuestion]:
    for number, label in enumerate(labels):
        first, *others = sorted(pages[label])
        wording = WORDINGS[number % len(WORDINGS)]
        yield FinanceBenchQuestion(
            id=f"{doc_id} {label}",
            company=company,
            doc_id=doc_id,
            question_type=QUESTION_TYPE,
            reasoning="",
            question=wording.format(company=company, label=label[0].lower() + label[1:], year=year),
            answer=label,
            pages=(PageKey(doc_id, first),),
            also=tuple(PageKey(doc_id, page) for page in others),
        )


def _is_own_row(sourced: SourcedFact, year: int) -> bool:
    fact = sourced.fact
    own = fact.period.fiscal_year == year and fact.period.quarter is None and fact.period.months in (0, 12)
    return own and fact.statement is not None and fact.tied and fact.scope is None


def _may_be_asked(label: str) -> bool:
    """Whether people would ask for it by this label: not a single word such as `Diluted`, not a paragraph."""
    return " " in label and len(label) <= _LONGEST_LABEL and _WORD.search(label) is not None and ":" not in label


def _shuffled(text: str) -> str:
    return sha256(text.encode()).hexdigest()
