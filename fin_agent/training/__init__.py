"""Training on an index's own supervision: encoders of pages, rerankers of tables, embeddings."""

from enum import StrEnum


class Trained(StrEnum):
    """What `fin-agent train` makes."""

    EXAMPLES = "examples"
    """Nothing but the examples, to be taken to another machine."""
    PAGES = "pages"
    """A bi-encoder of questions and pages (Kobeissi & Langlais 2026)."""
    RERANKER = "reranker"
    """A cross-encoder of questions and tables (HiREC)."""
    EMBEDDINGS = "embeddings"
    """An encoder whose vectors may be cut short (FinGEAR)."""
