"""Errors of servers and their form in responses: what happened, to what, the remedy, and the HTTP status."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.errors import FilingIndexError, FinAgentError, QuestionError, ReadError
from fin_agent.redaction import redact_secrets
from fin_agent.tools.errors import ToolInputError

if TYPE_CHECKING:
    from starlette.responses import Response

_FOLDERS = re.compile(r"(?<![\w./\\])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:'\"`]+[/\\])+")
"""Folders of a path, which callers of a server must not learn."""


class ServingError(FinAgentError):
    """A server cannot be started with these options."""


class NotThereError(FinAgentError):
    """A requested filing, or a page of it, does not exist."""


class BusyError(FinAgentError):
    """The limit of concurrent work is reached."""


class TooLongError(FinAgentError):
    """The work exceeded its time limit."""


def names_only(text: str, *paths: Path) -> str:
    """Return a text without folders and keys. Of `paths`, which may contain blanks, the file names stay.

    >>> names_only("its doc_id is that of /home/ann lee/filings/acme.pdf", Path("/home/ann lee/filings/acme.pdf"))
    'its doc_id is that of acme.pdf'
    """
    for path in paths:
        text = text.replace(str(path), path.name)
    return _FOLDERS.sub("", redact_secrets(text))


class Problem(BaseModel):
    """The reason why a call failed."""

    model_config = ConfigDict(frozen=True)

    what: str = Field(description="What happened.")
    subject: str = Field(default="", description="What it happened to: a filing, an argument.")
    remedy: str = Field(default="", description="What to do next.")

    @classmethod
    def of(cls, error: Exception) -> Problem:
        """Describe an error. Of an unexpected error only its type is given; the log has the rest."""
        if isinstance(error, FinAgentError):
            subject = Path(error.subject).name if Path(error.subject).is_absolute() else error.subject
            return cls(what=names_only(error.what), subject=names_only(subject), remedy=names_only(error.remedy))
        logging.getLogger("fin_agent").error("a call failed", exc_info=error)
        return cls(
            what=f"an internal error occurred ({type(error).__name__})",
            remedy="Try it in another way; the operator of the server finds the reason in its log",
        )


STATUSES: Mapping[type[Exception], int] = {
    NotThereError: 404,
    BusyError: 503,
    TooLongError: 504,
    ToolInputError: 422,
    QuestionError: 422,
    ReadError: 409,
    FilingIndexError: 503,
}
"""Error -> its HTTP status; any other error is 500."""


def problem_response(status: int, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as a response, with what a client needs to come back."""
    from starlette.responses import JSONResponse

    further = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "5"}}.get(status, {})
    return JSONResponse(problem.model_dump(), status_code=status, headers={**(headers or {}), **further})
