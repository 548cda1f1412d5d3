"""Filings and their pages for those who are far from the index: nothing of where a file lies.

In JSON `page` counts from 0, as in every JSON of ours; beside it stands what people and addresses go by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import PageRun, item_runs, statement_runs
from fin_agent.presentation.terminal_text import warning_lines_by_page
from fin_agent.serving.problem_details import NotThereError
from fin_agent.tools.argument_resolution import resolve_doc_id
from fin_agent.tools.artifacts import FilingListed
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

PAGE_NUMBER = "As a viewer counts pages, from 1."
PICTURE = "Address of a picture of the page; what stands at `box` is framed on it."


class Part(BaseModel):
    """Pages of a filing in a row, counted from 1 as addresses do."""

    model_config = ConfigDict(frozen=True)

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
        items=tuple(map(Part.of, item_runs(outline, record.items))),
        statements=tuple(map(Part.of, statement_runs(outline))),
        notes=tuple(map(Part.of, notes)),
        warnings=tuple(warning_lines_by_page(record.warnings)),
    )


def record_of(context: ToolContext, doc_id: str) -> FilingRecord:
    """The filing as the index lists it: an id is looked up there, and never made part of a path.

    Raises NotThereError where it may not be read or is not there.
    """
    try:
        return context.workspace.index.filing(resolve_doc_id(doc_id, context.workspace, context.within))
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


def with_page_numbers(document: Json, *, pictures: bool = False) -> Json:
    """The document with `page_number` (from 1) beside every `page` (from 0) and, on request, the page's `picture`.

    >>> with_page_numbers({"doc_id": "acme_2023", "page": 8}, pictures=True)
    {'doc_id': 'acme_2023', 'page': 8, 'page_number': 9, 'picture': '/pages/acme_2023/9.png'}
    """
    if isinstance(document, list):
        return [with_page_numbers(each, pictures=pictures) for each in document]
    if not isinstance(document, dict):
        return document
    told = {name: with_page_numbers(value, pictures=pictures) for name, value in document.items()}
    page = document.get("page")
    if isinstance(page, int):
        told["page_number"] = page + 1
        doc_id = _doc_id(document)
        if pictures and doc_id is not None:
            told["picture"] = picture_address(doc_id, page + 1, document.get("box"))
    return told


def schemas_with_page_numbers(schemas: Mapping[str, Json], *, pictures: bool = False) -> dict[str, Json]:
    """What `with_page_numbers` does to documents, done to the schemas of their types."""
    return {name: _described(schema, pictures) for name, schema in schemas.items()}


def picture_address(doc_id: str, page_number: int, box: Json = None) -> str:
    """Where the HTTP API has the picture of a page (from 1), with a box framed where one is given.

    >>> picture_address("acme 2023", 9, [72.0, 90.5, 300.0, 101.0])
    '/pages/acme%202023/9.png?box=72,90.5,300,101'
    """
    address = f"/pages/{quote(doc_id, safe='')}/{page_number}.png"
    if not isinstance(box, list):
        return address
    return f"{address}?box={','.join(f'{side:.6g}' for side in box if isinstance(side, int | float))}"


def _doc_id(document: Mapping[str, Json]) -> str | None:
    filing = document.get("filing")
    doc_id = document.get("doc_id", filing.get("doc_id") if isinstance(filing, dict) else None)
    return doc_id if isinstance(doc_id, str) else None


def _described(schema: Json, pictures: bool) -> Json:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict) or "page" not in properties:
        return schema
    added: dict[str, Json] = {"page_number": {"type": "integer", "minimum": 1, "description": PAGE_NUMBER}}
    if pictures and ("doc_id" in properties or "filing" in properties):
        added["picture"] = {"type": "string", "description": PICTURE}
    return {**schema, "properties": {**properties, **added}}
