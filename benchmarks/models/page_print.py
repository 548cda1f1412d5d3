"""What a page of a PDF prints, read anew from the file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pymupdf


@lru_cache(maxsize=4096)
def page_text(pdfs: Path, page: tuple[str, int]) -> str:
    """The text of (doc_id, 0-based page) of the PDF with that name in the folder."""
    doc_id, number = page
    with pymupdf.open(pdfs / f"{doc_id}.pdf") as document:
        return str(document[number].get_text())
