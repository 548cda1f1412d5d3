"""Benchmarks: answers, rankings, searches and reading measured against published questions, or such made of an index.

Here stands what the commands' options choose among; each benchmark is a module of its own, loaded when it runs.
"""

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


class Family(StrEnum):
    """What a generated question is meant to show."""

    MULTI_FILING = "multi-filing"
    """Its figures stand in no single filing."""
    UNANSWERABLE = "unanswerable"
    """The index does not hold it: it has to be refused, with what is missing."""
    LOOKUP = "lookup"
    """One printed figure: it must not be refused."""


class QuestionKind(StrEnum):
    """What a question made from tags is about."""

    LOOKUP = "lookup"
    """One tagged figure of a company."""
    DERIVED = "derived"
    """Growth, a margin or a ratio from two or three of them."""
    COMPARISON = "comparison"
    """Between companies."""
    PART = "part"
    """A segment, product or region under its printed name."""
    TOTAL = "total"
    """A total or an average over the years of one company."""
    FAMILY = "family"
    """All segments, products or regions at once: the highest, the second, the fastest grower, two of them."""
