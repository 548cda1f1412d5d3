"""What is found in filings as LangChain documents: the text, and where it stands as metadata that JSON can hold."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document

from fin_agent.index.protocol import FilingEntry, FilingRecord, StoredPage, StoredPassage


def filing_document(record: FilingRecord, score: float) -> Document:
    """A filing by its summary."""
    return Document(
        page_content=record.summary,
        id=record.doc_id,
        metadata={**_of_filing(record), "level": "document", "pages": record.page_count, "score": round(score, 6)},
    )


def page_document(stored: StoredPage, entry: FilingEntry, score: float) -> Document:
    """A page with its text."""
    page = stored.page
    return Document(
        page_content=page.text,
        id=f"{stored.doc_id}/{page.number + 1}",
        metadata={
            **_of_filing(entry),
            "level": "page",
            **_of_page(page.number),
            "title": page.title,
            "item": page.item,
            "statement": page.statement.value if page.statement else None,
            "score": round(score, 6),
        },
    )


def passage_document(stored: StoredPassage, entry: FilingEntry, score: float) -> Document:
    """A passage; `box` is that of a table, in points from the top left of its page."""
    passage = stored.passage
    return Document(
        page_content=passage.text,
        id=f"{stored.doc_id}/{passage.page + 1}/{passage.ordinal}",
        metadata={
            **_of_filing(entry),
            "level": "passage",
            **_of_page(passage.page),
            "ordinal": passage.ordinal,
            "kind": passage.kind.value,
            "box": list(passage.box) if passage.box else None,
            "score": round(score, 6),
        },
    )


def _of_filing(filing: FilingRecord | FilingEntry) -> dict[str, Any]:
    identity = filing.identity
    return {
        "doc_id": filing.doc_id,
        "company": identity.company,
        "ticker": identity.ticker,
        "form": identity.form.value,
        "fiscal_year": identity.fiscal_year,
        "quarter": identity.quarter,
        "period_end": identity.period_end.isoformat() if identity.period_end else None,
    }


def _of_page(number: int) -> dict[str, Any]:
    """`page` counts from 0, as in an Answer and in what LangChain's PDF loaders make; `page_number` as viewers do."""
    return {"page": number, "page_number": number + 1}
