"""Which tables of a file are asked about."""

from __future__ import annotations

from enum import StrEnum


class Half(StrEnum):
    """Which of the contexts: all, or one of two random halves."""

    ALL = "all"
    FIRST = "first"
    SECOND = "second"
