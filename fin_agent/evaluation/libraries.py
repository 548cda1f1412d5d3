"""The libraries of the extra `evaluation`, which only comparing strategies and fitting weights need."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from fin_agent.errors import FinAgentError, how_to_install

MEASURING = ("numpy", "scipy", "sacrebleu", "rouge_score")
DRAWING = ("matplotlib",)
FITTING = ("numpy", "scipy")


class MissingLibraryError(FinAgentError):
    """A library that an extra installs is not there."""


def require_libraries(names: Sequence[str]) -> None:
    """Raise MissingLibraryError, with what to install, where one of these modules is not installed."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise MissingLibraryError(
            f"this needs what is not installed: {', '.join(missing)}",
            remedy=f"Install the extra: {how_to_install('evaluation')}",
        )
