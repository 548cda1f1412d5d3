"""What a server cannot do, as an error and as a program reads it: what happened, to what, what to do, which status."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.errors import FilingIndexError, FinAgentError, QuestionError, ReadError, how_to_install, require_versions
from fin_agent.redaction import redact_secrets
from fin_agent.tools.errors import ToolInputError

_FOLDERS = re.compile(r"(?<![\w./\\])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:'\"`]+[/\\])+")
"""Of a path: where things lie on the machine of a server is nothing for its callers."""


class ServingError(FinAgentError):
    """A server cannot be started as it is asked for."""


class NotThereError(FinAgentError):
    """A filing, or a page of one, is asked for that is not there."""


class BusyError(FinAgentError):
    """As much is at work as may be."""


class TooLongError(FinAgentError):
    """Work took more time than it may."""


def require_extra(extra: str, modules: Sequence[str]) -> None:
    """Raise ServingError where one of an extra's modules is missing, VersionError where its version does not fit."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ServingError(
            f"this needs what is not installed: {', '.join(missing)}",
            remedy=f"Install the extra: {how_to_install(extra)}",
        )
    require_versions(*(name.replace("_", "-") for name in modules))


def names_only(text: str, *paths: Path) -> str:
    """A text without the folders that it tells of, and without keys; of `paths`, which may hold blanks, the names stay.

    >>> names_only("its doc_id is that of /home/ann lee/filings/acme.pdf", Path("/home/ann lee/filings/acme.pdf"))
    'its doc_id is that of acme.pdf'
    """
    for path in paths:
        text = text.replace(str(path), path.name)
    return _FOLDERS.sub("", redact_secrets(text))


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
            subject = Path(error.subject).name if Path(error.subject).is_absolute() else error.subject
            return cls(what=names_only(error.what), subject=names_only(subject), remedy=names_only(error.remedy))
        logging.getLogger("fin_agent").error("a call failed", exc_info=error)
        return cls(
            what=f"it broke ({type(error).__name__})",
            remedy="Try it in another way; whoever runs the server finds the reason in its log",
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
"""The HTTP status that tells an error of ours; 500 tells any other."""
