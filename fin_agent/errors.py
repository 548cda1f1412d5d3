"""Exceptions of this package: each states what happened, to what, and how to fix it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fin_agent.distribution import requirements

if TYPE_CHECKING:
    from pydantic import ValidationError


class FinAgentError(Exception):
    """Base class of every error that this package raises on purpose.

    Args:
        what: What happened, as a clause.
        subject: The filing, question, file or index that it happened to; empty if there is none.
        remedy: What to do next, as an imperative; empty if there is no remedy.
    """

    def __init__(self, what: str, *, subject: str = "", remedy: str = "") -> None:
        self.what = what
        self.subject = subject
        self.remedy = remedy
        head = f"{subject}: {what}" if subject else what
        super().__init__(f"{head}. {remedy}" if remedy else head)

    def __reduce__(self) -> tuple[Callable[[], FinAgentError], tuple[()]]:
        """Support pickling, so that a worker process can send the error to its parent."""
        return partial(type(self), self.what, subject=self.subject, remedy=self.remedy), ()


def validation_problems(failure: ValidationError, whole: str, most: int = 1) -> str:
    """Return which fields are wrong and why, without their values; `whole` names a problem of no single field."""
    errors = failure.errors(include_url=False, include_input=False, include_context=False)[:most]
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or whole}: {each['msg']}" for each in errors)


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra from the sources.

    The package index is not used, since it may hold another project under the same name.
    """
    return f'pip install ".[{extra}]" in the folder that fin-agent was installed from'


class VersionError(FinAgentError):
    """A dependency is installed in a version that this package does not support."""


@cache
def require_versions(*packages: str) -> None:
    """Check that packages, where they are installed, have versions that pyproject.toml allows.

    Raises:
        VersionError: A package is installed in a version that is not allowed.
    """
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import Requirement

    for each in (Requirement(line) for line in requirements() if line.startswith(packages)):
        with suppress(PackageNotFoundError):  # the import of a missing package raises its own error
            if each.name in packages and not each.specifier.contains(found := version(each.name), prereleases=True):
                allowed = ",".join(sorted(map(str, each.specifier), reverse=True))
                raise VersionError(
                    f"{each.name} {found} is installed, and {allowed} is needed",
                    remedy=f'pip install "{each.name}{allowed}"',
                )


def require_extra(extra: str, modules: Sequence[str]) -> None:
    """Check that the modules of an extra are installed. Raises FinAgentError, VersionError for a wrong version."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise FinAgentError(
            f"required packages are not installed: {', '.join(missing)}",
            remedy=f"Install the extra: {how_to_install(extra)}",
        )
    require_versions(*(name.replace("_", "-") for name in modules))


class ReadError(FinAgentError):
    """A file cannot be read as a filing: broken, encrypted, empty, scanned or of an unknown kind."""


class FilingIndexError(FinAgentError):
    """The index cannot be opened or written."""


class LexiconError(FinAgentError):
    """A lexicon file is not valid."""


class QuestionError(FinAgentError):
    """A question is empty or too long to be answered."""


class SandboxError(FinAgentError):
    """A program did not run to completion in the sandbox."""
