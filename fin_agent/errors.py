"""Errors that say what happened, to what, and what to do next."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial

from fin_agent.distribution import requirements


class FinAgentError(Exception):
    """Base of every error this package raises on purpose.

    `what` happened, `subject` is the filing, question, file or index it happened to, `remedy` is the next step.
    """

    def __init__(self, what: str, *, subject: str = "", remedy: str = "") -> None:
        self.what = what
        self.subject = subject
        self.remedy = remedy
        super().__init__(self._sentence())

    def __reduce__(self) -> tuple[Callable[[], FinAgentError], tuple[()]]:
        """As it comes back from a worker process."""
        return partial(type(self), self.what, subject=self.subject, remedy=self.remedy), ()

    def _sentence(self) -> str:
        head = f"{self.subject}: {self.what}" if self.subject else self.what
        return f"{head}. {self.remedy}" if self.remedy else head


def how_to_install(extra: str) -> str:
    """The command that adds an extra: from the sources, since an index of packages may have another of this name."""
    return f'pip install ".[{extra}]" in the folder that fin-agent was installed from'


class VersionError(FinAgentError):
    """A package is installed in a version that this one does not work with."""


@cache
def require_versions(*packages: str) -> None:
    """Raise VersionError where one of `packages` is installed in a version that pyproject.toml does not allow."""
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import Requirement

    for each in (Requirement(line) for line in requirements() if line.startswith(packages)):
        with suppress(PackageNotFoundError):  # what is missing says so itself
            if each.name in packages and not each.specifier.contains(found := version(each.name), prereleases=True):
                allowed = ",".join(sorted(map(str, each.specifier), reverse=True))
                raise VersionError(
                    f"{each.name} {found} is installed, and {allowed} is needed",
                    remedy=f'pip install "{each.name}{allowed}"',
                )


class ReadError(FinAgentError):
    """A file cannot be read as a filing: broken, encrypted, empty, scanned or of an unknown kind."""


class FilingIndexError(FinAgentError):
    """The index cannot be opened or written."""


class LexiconError(FinAgentError):
    """A lexicon file is not valid."""


class QuestionError(FinAgentError):
    """A question cannot be taken as it is (empty, or far too long)."""


class SandboxError(FinAgentError):
    """A program could not be run to its end in the sandbox."""
