"""Training on supervision taken from an index: encoders of pages, rerankers of tables, embeddings."""

from enum import StrEnum


class Trained(StrEnum):
    """What `fin-agent train` produces."""

    EXAMPLES = "examples"
    """Only the examples, to train on another machine."""
    PAGES = "pages"
    """A bi-encoder of questions and pages (Kobeissi & Langlais 2026)."""
    RERANKER = "reranker"
    """A cross-encoder of questions and tables (HiREC)."""
    EMBEDDINGS = "embeddings"
    """An encoder whose vectors can be truncated (FinGEAR)."""
