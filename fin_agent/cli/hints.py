"""What to run next, said so that it works on the same index: with the `--index` that the command was given."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_HINT = re.compile(r"`(fin-agent (?:index (?:verify|repair|compact|failures)|ingest|embed|filings|remove)\b[^`]*)`")
_named: ContextVar[Path | None] = ContextVar("named", default=None)


@contextmanager
def naming(index: object) -> Iterator[None]:
    """Hints inside name `index`, where it is a folder that was given; what chose it otherwise chooses it again."""
    token = _named.set(index if isinstance(index, Path) and _is_folder(index) else None)
    try:
        yield
    finally:
        _named.reset(token)


def _is_folder(index: Path) -> bool:
    from fin_agent.index.opening import address_of  # `--help` does not wait for it

    return address_of(index) is None


def with_index(said: str) -> str:
    """The commands quoted in a sentence with `--index DIR`, where one was given and they name none."""
    folder = _named.get()
    if folder is None:
        return said
    option = f" --index {shlex.quote(str(folder))}"
    return _HINT.sub(lambda hint: hint[0] if "--index" in hint[1] else f"`{hint[1]}{option}`", said)
