"""A filing at a glance, for those who are far from the index: nothing of where its file lies."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.overview import PageRun, item_runs, statement_runs
from fin_agent.presentation.page_numbers import told_warnings
from fin_agent.serving.errors import NotThereError
from fin_agent.tools.artifacts import FilingListed
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.narrowing import known_id


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Part(_Frozen):
    """Pages of a filing in a row, counted from 1 as addresses do."""

    name: str
    first_page_number: int
    last_page_number: int

    @classmethod
    def of(cls, run: PageRun) -> Part:
        """A run of pages."""
        return cls(name=run.name, first_page_number=run.first + 1, last_page_number=run.last + 1)


class FilingShown(FilingListed):
    """Who, what and when a filing is, and what stands on which pages."""

    amended: bool
    cik: str | None
    other_names: tuple[str, ...] = Field(description="Further names of the company: former, short, of subsidiaries.")
    facts: int = Field(description="How many figures were read in it.")
    items: tuple[Part, ...]
    statements: tuple[Part, ...]
    notes: tuple[Part, ...] = Field(description="Notes to the financial statements, by number and title.")
    warnings: tuple[str, ...] = Field(description="What was odd when it was read.")


def filing_shown(context: ToolContext, doc_id: str) -> FilingShown:
    """The filing of this id. Raises NotThereError where it may not be read or is not there."""
    record = record_of(context, doc_id)
    identity = record.identity
    outline = context.workspace.index.outline([doc_id])
    notes = (PageRun(f"{note.number} {note.title}".strip(), note.first_page, note.last_page) for note in record.notes)
    return FilingShown(
        **FilingListed.of(record).model_dump(),
        amended=identity.amended,
        cik=identity.cik,
        other_names=identity.other_names,
        facts=record.fact_count,
        items=_parts(item_runs(outline, record.items)),
        statements=_parts(statement_runs(outline)),
        notes=tuple(map(Part.of, notes)),
        warnings=tuple(told_warnings(record.warnings)),
    )


def record_of(context: ToolContext, doc_id: str) -> FilingRecord:
    """The filing as the index lists it: an id is looked up there, and never made part of a path.

    Raises NotThereError where it may not be read or is not there.
    """
    try:
        return context.workspace.index.filing(known_id(doc_id, context.workspace, context.within))
    except ToolInputError as error:
        raise NotThereError(error.what, subject=doc_id[:100], remedy=error.remedy) from error


def page_of(record: FilingRecord, page_number: int) -> int:
    """The page, counted from 0, that people call `page_number`. Raises NotThereError."""
    if not 1 <= page_number <= record.page_count:
        raise NotThereError(
            f"there is no page {page_number:,}",
            subject=record.doc_id,
            remedy=f"Its pages are 1 to {record.page_count:,}",
        )
    return page_number - 1


def _parts(runs: Sequence[PageRun]) -> tuple[Part, ...]:
    return tuple(map(Part.of, runs))
