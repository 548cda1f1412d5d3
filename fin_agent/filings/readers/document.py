"""What every reader makes of a file."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.page import PageContent

MAX_PAGES = 10_000
"""A longer file is not a filing; reading stops with a message instead of filling the memory."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's pages, and what its markup says beside them."""

    pages: tuple[PageContent, ...]
    tags: tuple[Tag, ...] = ()
    warnings: tuple[ReadWarning, ...] = ()
