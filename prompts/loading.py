"""Prompts by name: checked when they are loaded, and replaceable by a folder of the user's own."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Formatter

from fin_agent.errors import FinAgentError

_COMMENT = re.compile(r"<!--.*?-->\s*", re.S)


class PromptError(FinAgentError):
    """A prompt is not there, is empty, or does not have the placeholders it must have."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with placeholders, as `{question}`; a brace that is none is doubled.

    >>> Prompt("demo", "On {topic}: {question}").filled(topic="debt", question="Is {this} {{safe}}?")
    'On debt: Is {this} {{safe}}?'
    """

    name: str
    text: str

    def filled(self, **values: str) -> str:
        """The text with its placeholders replaced. What is put in is never read as a placeholder itself."""
        return self.text.format(**values)


def load_prompt(name: str, placeholders: Collection[str], *, folder: Path | None = None) -> Prompt:
    """The prompt `name`: `name.md` of `folder` where it has one, else the one that comes with the package.

    Comments (`<!-- -->`) are left out. Raises PromptError where a placeholder is missing, unknown, or no plain name.
    """
    own = folder / f"{name}.md" if folder is not None else None
    if own is not None and own.is_file():
        subject, written = str(own), _read(own)
    else:
        subject = f"the prompt {name!r}"
        packaged = resources.files(__package__).joinpath(f"{name}.md")
        if not packaged.is_file():
            raise PromptError("there is no such prompt", subject=subject, remedy=f"There are: {', '.join(prompts())}")
        written = packaged.read_text(encoding="utf-8")
    text = _COMMENT.sub("", written).strip()
    if not text:
        raise PromptError("it is empty", subject=subject, remedy="Write it, or remove the file to use the packaged one")
    _check(text, frozenset(placeholders), subject)
    return Prompt(name, text)


def prompts() -> tuple[str, ...]:
    """Names of the prompts that come with the package."""
    return tuple(sorted(file.name[:-3] for file in resources.files(__package__).iterdir() if file.name.endswith(".md")))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise PromptError(
            f"it cannot be read ({failure})", subject=str(file), remedy="Give a Markdown file in UTF-8"
        ) from failure


def _check(text: str, wanted: frozenset[str], subject: str) -> None:
    try:
        fields = [(name, form, conversion) for _, name, form, conversion in Formatter().parse(text) if name is not None]
    except ValueError as failure:
        raise PromptError(
            f"a brace stands alone ({failure})", subject=subject, remedy="Double a brace that is no placeholder: {{ }}"
        ) from failure
    found = {name for name, _, _ in fields}
    odd = sorted(name for name, form, conversion in fields if form or conversion)
    unknown, missing = sorted(found - wanted), sorted(wanted - found)
    known = ", ".join(f"{{{name}}}" for name in sorted(wanted))
    if unknown:
        raise PromptError(
            f"the placeholder {{{unknown[0]}}} is unknown", subject=subject, remedy=f"It has these: {known}"
        )
    if missing:
        raise PromptError(
            f"the placeholder {{{missing[0]}}} is missing", subject=subject, remedy=f"It must have these: {known}"
        )
    if odd:
        raise PromptError(
            f"the placeholder {{{odd[0]}}} has a format", subject=subject, remedy=f"Write it plainly: {{{odd[0]}}}"
        )
