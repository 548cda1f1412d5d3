"""Errors as a program reads them: what happened, to what, what to do next, and the HTTP status that says so."""

from __future__ import annotations

import logging

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.errors import FilingIndexError, FinAgentError, QuestionError, ReadError
from fin_agent.serving.errors import BusyError, NotThereError, TooLongError
from fin_agent.tools.errors import ToolInputError


class Problem(BaseModel):
    """Why a call was not answered."""

    model_config = ConfigDict(
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "what": "this filing is not in the index",
                    "subject": "harborlight_2031_10k",
                    "remedy": "Did you mean harborlight_2021_10k?",
                }
            ]
        },
    )

    what: str = Field(description="What happened.")
    subject: str = Field(default="", description="What it happened to: a filing, an argument.")
    remedy: str = Field(default="", description="What to do next.")

    @classmethod
    def of(cls, error: Exception) -> Problem:
        """Of an error; of one that nobody meant to raise, no more than its kind: the log has the rest."""
        if isinstance(error, FinAgentError):
            return cls(what=error.what, subject=error.subject, remedy=error.remedy)
        logging.getLogger("fin_agent").error("a call failed", exc_info=error)
        return cls(
            what=f"it broke ({type(error).__name__})",
            remedy="Try it in another way; whoever runs the server finds the reason in its log",
        )


def status_of(error: Exception) -> int:
    """The HTTP status that tells this error.

    >>> status_of(QuestionError("there is no question"))
    422
    """
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return status
    return 500


_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (NotThereError, 404),
    (BusyError, 503),
    (TooLongError, 504),
    (ToolInputError, 422),
    (QuestionError, 422),
    (ReadError, 409),
    (FilingIndexError, 503),
)
