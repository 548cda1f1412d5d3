"""Benchmarks of answers, rankings, searches and reading, with published questions or questions generated from an index.

This module defines the choices of the commands' options. Each benchmark is a module of its own, imported when it runs.
"""

from __future__ import annotations

from enum import StrEnum


class Oracle(StrEnum):
    """What a search is restricted to, to measure the loss of each stage."""

    NONE = "none"
    """Everything in the index."""
    DOCUMENT = "document"
    """The filings of the gold pages."""
    PAGE = "page"
    """The gold pages."""


class Family(StrEnum):
    """What a generated question tests."""

    MULTI_FILING = "multi-filing"
    """Its figures are in several filings."""
    UNANSWERABLE = "unanswerable"
    """The index does not contain it: it has to be refused, with what is missing."""
    LOOKUP = "lookup"
    """One printed figure: it must not be refused."""


class QuestionKind(StrEnum):
    """The subject of a question generated from tags."""

    LOOKUP = "lookup"
    """One tagged figure of a company."""
    DERIVED = "derived"
    """Growth, a margin or a ratio of two or three tagged figures."""
    COMPARISON = "comparison"
    """A comparison of companies."""
    PART = "part"
    """A segment, product or region by its printed name."""
    TOTAL = "total"
    """A total or an average over the years of one company."""
    FAMILY = "family"
    """All segments, products or regions at once: the highest, the second, the fastest grower, two of them."""
