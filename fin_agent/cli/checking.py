"""`fin-agent check`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import show, show_json
from fin_agent.filings.facts.check import Check, Outcome
from fin_agent.filings.facts.checks import check_facts
from fin_agent.index.protocol import FilingIndex, FilingRecord
from fin_agent.presentation.filings import CheckedFiling, checked_view, in_reading_order
from fin_agent.vocabulary.fact import FactPeriod


def check_filings(doc_ids: Sequence[str], given: Path | None, *, every: bool, as_json: bool) -> ExitCode:
    """Check the statements of these filings, or of every one. SOME_FAILED where a check fails."""
    if bool(doc_ids) == every:
        raise typer.BadParameter("name the filings to check, or give --all for every filing in the index")
    with opened(given) as workspace:
        if every:
            records = in_reading_order(workspace.index.filings())
        else:
            records = [workspace.index.filing(doc_id) for doc_id in dict.fromkeys(doc_ids)]
        checked = list(_checked(records, workspace.index))
    if as_json:
        show_json({"filings": [_fields(filing) for filing in checked]})
    elif checked:
        show(checked_view(checked))
    failed = any(filing.count(Outcome.FAILS) for filing in checked)
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


def _checked(records: Sequence[FilingRecord], index: FilingIndex) -> Iterator[CheckedFiling]:
    """Filing by filing: the facts of all of them need not be held at once."""
    for record in records:
        facts = [sourced.fact for sourced in index.facts([record.doc_id])]
        yield CheckedFiling(record, check_facts(facts))


def _fields(filing: CheckedFiling) -> dict[str, object]:
    record = filing.record
    return {
        "doc_id": record.doc_id,
        "company": record.identity.company,
        "form": record.identity.form.value,
        "holds": filing.count(Outcome.HOLDS),
        "fails": filing.count(Outcome.FAILS),
        "not_checkable": filing.count(Outcome.NOT_CHECKABLE),
        "checks": [_check_fields(check) for check in filing.checks],
        "warnings": [{"what": warning.what, "page": warning.page} for warning in record.warnings],
        "conflicts": [
            {
                "field": taken.field,
                "taken": {"value": taken.value, "origin": taken.origin.value, "page": taken.page},
                "other": {"value": other.value, "origin": other.origin.value, "page": other.page},
            }
            for taken, other in record.identity.conflicts()
        ],
    }


def _check_fields(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "outcome": check.outcome.value,
        "period": _period_fields(check.period) if check.period is not None else None,
        "pages": list(check.pages),
        "sentence": check.sentence,
        "figures": [
            {
                "label": figure.label,
                "value": str(figure.value),
                "unit": figure.unit,
                "weight": figure.weight,
                "page": figure.page,
                "line": figure.line,
            }
            for figure in check.figures
        ],
        "difference": str(check.difference) if check.difference is not None else None,
        "tolerance": str(check.tolerance),
    }


def _period_fields(period: FactPeriod) -> dict[str, object]:
    return {
        "fiscal_year": period.fiscal_year,
        "quarter": period.quarter,
        "months": period.months,
        "end": period.end.isoformat() if period.end else None,
    }
