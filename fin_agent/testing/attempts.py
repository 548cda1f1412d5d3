"""What was tried although a guard forbids it: told at once, and once more at the end, lest somebody caught it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fin_agent.errors import FinAgentError


class Attempts(list[str]):
    """What was tried, in words. A test that tries it on purpose clears the list."""


@contextmanager
def told_at_the_end(attempts: Attempts, error: type[FinAgentError], remedy: str) -> Iterator[Attempts]:
    """Raises where attempts are left at the end and nothing else went wrong: code that falls back hides failures."""
    yield attempts
    if attempts:
        counted = f"{len(attempts)} times" if len(attempts) > 1 else "once"
        raise error(f"tried {counted} inside the guard: {'; '.join(dict.fromkeys(attempts))}", remedy=remedy)
