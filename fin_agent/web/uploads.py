"""Adding filings in the browser, by upload or from EDGAR."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Body, FastAPI, Request
from fastapi import Path as InPath
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from fin_agent.atomic_write import atomic_write
from fin_agent.errors import FinAgentError, require_extra
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.filings.reader import READABLE, is_doc_id, is_readable
from fin_agent.index.ingest import IngestedFile, Outcome, ingest
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.presentation.terminal_text import warning_lines_by_page
from fin_agent.serving.filing_resources import Json
from fin_agent.serving.problem_details import names_only
from fin_agent.tools.errors import ToolInputError
from fin_agent.web.server_options import ServedWorkspace, Storage
from fin_agent.web.static_files import plain_name

UPLOAD_FOLDER = "uploads"


class FetchRequest(BaseModel):
    """A request to fetch filings of a company from EDGAR."""

    company: Annotated[str, Field(min_length=1, max_length=100, description="Ticker or CIK.")]
    form: Annotated[str, Field(max_length=20)] = "10-K"
    years: Annotated[str, Field(max_length=20, description="`2023` or `2022-2024`; the newest where empty.")] = ""


def add_uploads(app: FastAPI, served: ServedWorkspace) -> None:
    """Add the routes `/uploads` and `/fetched`."""
    calls, storage = served.calls, served.storage

    @app.put("/uploads/{name}", include_in_schema=False)
    async def upload(request: Request, name: Annotated[str, InPath(max_length=300)]) -> Response:
        _refuse_filings(storage)
        sent = await request.body()
        async with calls.place():  # reading a filing has its own time limit, which is longer than that of an answer
            return JSONResponse(await run_sync(_added, served, name, sent))

    @app.post("/fetched", include_in_schema=False)
    async def fetch(request: Request, asked: Annotated[FetchRequest, Body()]) -> Response:
        _refuse_filings(storage)
        async with calls.place():
            return JSONResponse(await run_sync(_fetched, served, asked))


def _refuse_filings(storage: Storage) -> None:
    if not storage.uploads:
        raise ToolInputError(
            "this server does not accept filings",
            remedy="Ask its operator to start it without --read-only and --doc",
        )


def _added(served: ServedWorkspace, name: str, sent: bytes) -> Json:
    """Store and ingest an uploaded filing. Raises ToolInputError for an unusable name, and what ingest raises."""
    folder = served.storage.folder
    assert folder is not None, "uploads need a folder"
    plain = plain_name(Path(name.replace("\\", "/")).name).strip(". ")[-200:]
    if not is_readable(Path(plain)) or not is_doc_id(plain):
        raise ToolInputError(
            "the name of this file is not that of a filing", remedy=f"Give files that end in {', '.join(READABLE)}"
        )
    file = folder / UPLOAD_FOLDER / plain
    file.parent.mkdir(exist_ok=True)
    here = file.read_bytes() if file.is_file() else None
    if here is not None and here != sent:
        raise ToolInputError(
            "the index already has another filing of this name",
            subject=plain,
            remedy="Give yours another name, and add it again",
        )
    atomic_write(file, sent)
    became = _ingested(folder, [file])[0]
    if here is None and isinstance(became, dict) and became["failed"]:
        file.unlink(missing_ok=True)  # a file that cannot be read must not occupy its name
    return became


def _fetched(served: ServedWorkspace, asked: FetchRequest) -> Json:
    """Fetch and ingest filings from EDGAR. Raises ToolInputError if they cannot be fetched."""
    folder = served.storage.folder
    assert folder is not None, "uploads need a folder"
    try:
        require_extra("edgar", ["httpx", "tenacity"])
        from fin_agent.downloads.connection import EdgarConnection
        from fin_agent.downloads.fetching import Edgar
        from fin_agent.downloads.filing_selection import years_in

        settings = served.context.settings.edgar
        with EdgarConnection(settings) as connection:
            edgar = Edgar(connection, settings)
            found = edgar.find(asked.company, (asked.form,), years_in(asked.years) if asked.years else None)
            files = edgar.fetch(found, folder / UPLOAD_FOLDER)
    except FinAgentError as error:
        raise ToolInputError(error.what, subject=asked.company, remedy=error.remedy) from error
    lost: list[Json] = [
        _shown(IngestedFile(Path(each.name), each.name, Outcome.FAILED, reason=each.reason, remedy=each.remedy))
        for each in files
        if each.path is None
    ]
    return {"files": [*lost, *_ingested(folder, [each.path for each in files if each.path is not None])]}


def _ingested(folder: Path, files: Sequence[Path]) -> list[Json]:
    with SqliteIndex(folder) as index:
        report = ingest(files, index, prepare, workers=1, wait=30)
        sources = {each.doc_id: Path(index.filing(each.doc_id).source) for each in index.entries()}
    return [_shown(each, sources.get(each.doc_id)) for each in report.files]


def _shown(became: IngestedFile, other: Path | None = None) -> Json:
    # The message may name the file of another filing, whose folder must not be revealed.
    paths = (became.path, *([other] if other is not None else ()))

    def plain(text: str) -> str:
        return names_only(text, *paths)

    return {
        "name": became.path.name,
        "doc_id": became.doc_id,
        "outcome": became.outcome.value,
        "reason": plain(became.reason),
        "remedy": plain(became.remedy),
        "pages": became.pages,
        "warnings": [plain(each) for each in warning_lines_by_page(became.warnings)],
        "failed": became.outcome is Outcome.FAILED,
    }
