"""Ingest filings from the documents of any LangChain document loader."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from langchain_core.documents import Document as LoadedPage

from fin_agent.errors import FilingIndexError, FinAgentError, LexiconError, ReadError
from fin_agent.evidence.filing_preparation import prepare_document
from fin_agent.filings.readers.protocol import MAX_PAGES, Document, text_pages
from fin_agent.index.ingest import IngestedFile, IngestReport, Manifest, OnFile, Outcome
from fin_agent.index.sqlite import SqliteIndex

FROM_DOCUMENTS = "documents:"
"""Prefix of the source of a filing that was loaded from documents, since no file holds its pages as they were read."""
_PAGE_END = "\f"


def ingest_documents(
    documents: Iterable[LoadedPage],
    index: SqliteIndex,
    *,
    doc_id: Callable[[str], str] | None = None,
    on_file: OnFile = lambda file: None,
) -> IngestReport:
    """Add filings from LangChain documents, each of which is one page.

    Documents with the same `source` in their metadata form one filing. `page` (from 0), else `page_number` (from 1),
    gives a page's number; without either, pages are in the order given, and a form feed ends a page. Company, form and
    period are read from the text. Pages loaded this way can be searched, read and quoted. Tables and figures are not
    read from them, since plain text does not show in which column a number is: to ask for figures, `ingest` the files
    themselves.

    Args:
        documents: The pages. Filings that are already in the index are skipped; those that cannot be read are reported.
        index: The open index.
        doc_id: Returns the name of a filing for its source; by default the source's file name without its extension.
        on_file: Is called with each filing and its outcome.

    Returns:
        The outcome of each filing.

    Raises:
        FilingIndexError: The index cannot be written.
        ReadError: A document has no source.

    >>> from pathlib import Path
    >>> from langchain_core.documents import Document
    >>> from fin_agent import SqliteIndex, ingest_documents
    >>> page = Document("FORM 10-K, year ended December 31, 2023", metadata={"source": "larkspur_2023.txt"})
    >>> with SqliteIndex.create(Path("loaded-index")) as index:
    ...     [(file.doc_id, file.outcome.value) for file in ingest_documents([page], index).files]
    [('larkspur_2023', 'added')]
    """
    report = IngestReport()
    of_source: dict[str, list[LoadedPage]] = {}
    for document in documents:
        of_source.setdefault(_source_of(document), []).append(document)
    for source, pages in of_source.items():
        name = (doc_id(source) if doc_id is not None else _name_of(source)).replace("\0", "_")
        file = _ingested(source, name, pages, index)
        report.files.append(file)
        on_file(file)
    return report


def _ingested(source: str, doc_id: str, pages: Sequence[LoadedPage], index: SqliteIndex) -> IngestedFile:
    path = Path(source)
    try:
        texts = _texts(pages, source)
        content_hash = hashlib.sha256(json.dumps(texts).encode()).hexdigest()
        held = next((entry for entry in index.filings() if entry.doc_id == doc_id), None)
        if held is not None and held.source != FROM_DOCUMENTS + source:
            what = f"its doc_id {doc_id!r} is that of another filing, from {held.source.removeprefix(FROM_DOCUMENTS)}"
            remedy = "Give it another name with `doc_id`, or remove the other filing first"
            raise ReadError(what, subject=source, remedy=remedy)
        if held is not None and Manifest(index).current.get(doc_id) == content_hash:
            return IngestedFile(path, doc_id, Outcome.UNCHANGED)
        document = Document(tuple(text_pages(texts)))
        prepared = prepare_document(document, doc_id=doc_id, source=FROM_DOCUMENTS + source, content_hash=content_hash)
        index.add(prepared.filing, prepared.cards, prepared.summary)
    except (FilingIndexError, LexiconError):
        raise
    except FinAgentError as error:
        return IngestedFile(path, doc_id, Outcome.FAILED, error.what, error.remedy)
    except Exception as error:  # one filing that breaks the reader must not end the ingest
        reason = f"the reader failed ({type(error).__name__}: {error})"
        return IngestedFile(path, doc_id, Outcome.FAILED, reason, "Ingest its file in place of its documents")
    filing = prepared.filing
    return IngestedFile(path, doc_id, Outcome.ADDED, pages=len(filing.pages), warnings=filing.warnings)


def _source_of(document: LoadedPage) -> str:
    for key in ("source", "file_path"):
        if (named := document.metadata.get(key)) and isinstance(named, str | Path):
            return str(named)
    remedy = "Give each document a `source` in its metadata: the file's name"
    raise ReadError("a document has no `source`", subject=repr(document.page_content[:40]), remedy=remedy)


def _name_of(source: str) -> str:
    """Return the file name of a path or an address, without its extension."""
    name = re.split(r"[/\\]", source.rstrip("/\\").split("?")[0])[-1]
    return re.sub(r"(?<=.)\.[A-Za-z]{2,5}(?:\.gz)?$", "", name) or source


def _texts(documents: Sequence[LoadedPage], source: str) -> list[str]:
    """Return the text of each page, in order; a missing page between others is empty."""
    numbers = [_number_of(document.metadata, source) for document in documents]
    if all(number is None for number in numbers):
        return [text for document in documents for text in document.page_content.split(_PAGE_END)]
    texts: dict[int, list[str]] = {}
    for number, document in zip(numbers, documents, strict=True):
        if number is None:
            remedy = "Give all of them a `page` in their metadata, counted from 0, or none of them"
            raise ReadError("only some of its documents have a page number", subject=source, remedy=remedy)
        texts.setdefault(number, []).append(document.page_content)
    return ["\n".join(texts.get(number, ())) for number in range(max(texts) + 1)]


def _number_of(metadata: Mapping[str, object], source: str) -> int | None:
    """Return the page number from 0, or None if the metadata give none."""
    for key, first in (("page", 0), ("page_number", 1)):
        named = metadata.get(key)
        if named is None:
            continue
        if isinstance(named, bool) or not isinstance(named, int) or not first <= named < MAX_PAGES + first:
            raise ReadError(
                f"{named!r} is not a page", subject=source, remedy=f"`{key}` in the metadata counts from {first}"
            )
        return named - first
    return None
