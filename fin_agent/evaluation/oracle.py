"""What a benchmark gives away before the search."""

from __future__ import annotations

from enum import StrEnum


class Oracle(StrEnum):
    """What may be retrieved, so that what is lost where can be seen."""

    NONE = "none"
    """Everything in the index."""
    DOCUMENT = "document"
    """The filings of the gold pages."""
    PAGE = "page"
    """The gold pages."""
