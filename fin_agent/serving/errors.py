"""What a server cannot do, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from fin_agent.errors import FinAgentError, how_to_install


class ServingError(FinAgentError):
    """A server cannot be started as it is asked for."""


class NotThereError(FinAgentError):
    """A filing, or a page of one, is asked for that is not there."""


class BusyError(FinAgentError):
    """As much is at work as may be."""


class TooLongError(FinAgentError):
    """Work took more time than it may."""


def require_extra(extra: str, modules: Sequence[str]) -> None:
    """Raise ServingError, with what to install, where one of an extra's modules is not installed."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ServingError(
            f"this needs what is not installed: {', '.join(missing)}",
            remedy=f"Install the extra: {how_to_install(extra)}",
        )
