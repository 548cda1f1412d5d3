"""Prompts by name, validated when they are loaded, replaceable from a user's folder, and filled in two parts.

A prompt is a Markdown file. Its head declares role, version, placeholders and the type of the reply. The body is the
system message and, below `## user`, the user message. The head of the packaged prompt defines what its role receives.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

import frontmatter
import yaml
from frontmatter.default_handlers import YAMLHandler
from pydantic import BaseModel, Field, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.models.call import Role as ModelRole
from fin_agent.prompts.untrusted_text import FENCE, PLACEHOLDERS, Fence, PlaceholderSource, Quoted, singular_mark

TEXT = "text"
"""The output of a role whose reply is used as plain text."""
_SEE = "`fin-agent prompts show NAME` prints one that is right"
_PIECE = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|[{}]")
"""A doubled brace, a placeholder, or an unpaired brace."""
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_USER = re.compile(r"^## user[ \t]*$", re.M | re.I)

Value = str | Sequence[Quoted]


class PromptError(FinAgentError):
    """A prompt is missing, cannot be read, or does not match its role."""


@dataclass(frozen=True, slots=True)
class Role:
    """The purpose of a prompt: its placeholders and the type of its reply."""

    name: ModelRole
    """The role that selects a model and accounts for its calls."""
    does: str
    placeholders: Mapping[str, PlaceholderSource]
    output: str
    """Name of the reply's type in `fin_agent.analyst.model.replies`, or `text`."""


@dataclass(frozen=True, slots=True)
class FilledPrompt:
    """The two messages sent to a model."""

    system: str
    user: str
    name: str
    version: str
    """The version in the prompt's head and a hash of its text: any change of text changes the version."""
    reports: tuple[str, ...] = ()
    """Characters removed from the quoted material and signs of injection in it; empty if there are none."""

    @property
    def text(self) -> str:
        """Both parts joined, for a model that takes a single text."""
        return f"{self.system}\n\n{self.user}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text in two parts with placeholders such as `{question}`; literal braces are doubled.

    >>> from fin_agent.prompts import load_prompt
    >>> load_prompt("hyde").filled(question="What was {revenue}?").user
    '<question-b9d48f5b3f69eb2e>What was {revenue}?</question-b9d48f5b3f69eb2e>'
    """

    name: str
    role: Role
    version: str
    system: str
    user: str
    source: str = ""

    def filled(self, seed: str = "", /, **values: Value) -> FilledPrompt:
        """Replace the placeholders of both parts; braces in the values are never read as placeholders.

        Quoted material is fenced: a single text between marks named after the placeholder, several texts each between
        numbered marks, from 1. The code in the marks is derived from the material and the seed, so the same input gives
        the same prompt.

        Raises:
            PromptError: A value is missing, or a placeholder is unknown.
        """
        holds = self.role.placeholders
        if odd := sorted(holds.keys() ^ values.keys()):
            raise PromptError(
                f"no value is given for {{{odd[0]}}}" if odd[0] in holds else f"it has no placeholder {{{odd[0]}}}",
                subject=f"the prompt {self.name!r}",
                remedy=f"Fill these: {', '.join(sorted(holds))}",
            )
        quoted = {
            name: [Quoted(value)] if isinstance(value := values[name], str) else value
            for name in holds
            if holds[name].is_material
        }
        fence = Fence.around([each for listed in quoted.values() for each in listed], seed)
        said = {FENCE: fence.statement}
        for name, value in values.items():
            if name not in quoted:
                said[name] = value if isinstance(value, str) else "\n".join(each.text for each in value)
            elif isinstance(value, str):
                said[name] = fence.one(name, value)
            else:
                said[name] = fence.several(singular_mark(name), value)
        reports = tuple(
            report
            for name, listed in quoted.items()
            # A program written by a model may mention `solution()`: that is no injection.
            for report in fence.reports(name, listed, signs=holds[name] is not PlaceholderSource.MODEL)
        )
        return FilledPrompt(_put(self.system, said), _put(self.user, said), self.name, self.version, reports)


def _put(text: str, said: Mapping[str, str]) -> str:
    return _PIECE.sub(lambda found: said[found["name"]] if found["name"] is not None else found[0][0], text).strip()


@lru_cache(maxsize=1)
def prompt_roles() -> Mapping[str, Role]:
    """Return the role of each packaged prompt by name, as declared in its head."""
    files = (file for file in resources.files(__package__).iterdir() if file.name.endswith(".md"))
    found = {}
    for file in sorted(files, key=lambda file: file.name):
        head = _Head.model_validate(frontmatter.loads(file.read_text(encoding="utf-8")).metadata)
        placeholders = {name: PLACEHOLDERS[name] for name in head.placeholders}
        found[file.name.removesuffix(".md")] = Role(ModelRole(head.role), head.does, placeholders, head.output)
    return found


def prompts() -> tuple[str, ...]:
    """Return the names of all prompts."""
    return tuple(prompt_roles())


def prompt_of_role(role: str) -> str | None:
    """Return the prompt's name for a role; None if there is no such role.

    >>> prompt_of_role("listwise-ranking"), prompt_of_role("cook")
    ('judge', None)
    """
    try:
        wanted = ModelRole(role)
    except ValueError:
        return None
    return next((name for name, each in prompt_roles().items() if each.name is wanted), None)


def prompt_source(name: str, folder: Path | None = None) -> tuple[str, str]:
    """Return the text of the file that `load_prompt` reads, and how errors name the file.

    Raises PromptError if it is missing or is not text.
    """
    if name not in prompt_roles():
        raise PromptError(
            "there is no such prompt", subject=f"the prompt {name!r}", remedy=f"There are: {', '.join(prompts())}"
        )
    own = folder / f"{name}.md" if folder is not None else None
    if own is None or not own.is_file():
        text = resources.files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
        return text, f"{name}.md (packaged)"
    try:
        return own.read_text(encoding="utf-8"), str(own)
    except (OSError, UnicodeDecodeError) as failure:
        raise PromptError(
            f"it cannot be read ({failure})", subject=str(own), remedy="Give a Markdown file in UTF-8"
        ) from failure


class _Head(BaseModel, extra="forbid", strict=True):
    """The head of a prompt's file."""

    role: str
    version: int = Field(ge=1)
    placeholders: list[str]
    output: str
    source: str = ""
    does: str = ""


def load_prompt(name: str, *, folder: Path | None = None) -> Prompt:
    """Load the prompt `name`: `name.md` in `folder` if it exists, else the packaged one, without comments (`<!-- -->`).

    Raises:
        PromptError: The prompt is invalid; the message names the file and, in the body, the line of the first problem.
    """
    written, file = prompt_source(name, folder)
    written = written.removeprefix("\ufeff")
    handler, role = YAMLHandler(), prompt_roles()[name]
    try:
        said, body = handler.split(written)
        head = _Head.model_validate(handler.load(said))
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        entry = ".".join(map(str, first["loc"])) or "the head"
        raise PromptError(f"`{entry}`: {first['msg']}", subject=file, remedy=_SEE) from failure
    except (ValueError, yaml.YAMLError) as failure:
        raise PromptError(f"it has no head that can be read ({failure})", subject=file, remedy=_SEE) from failure
    # Keep the line ends of comments, so that line numbers match the file.
    bare = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), body)
    first_line = 1 + written.count("\n", 0, len(written) - len(body))
    for place, what, remedy in (*_problems_in_head(head, name, role), *_problems_in_body(bare, role)):
        line = "" if place is None else f", line {first_line + bare.count(chr(10), 0, place)}"
        raise PromptError(what, subject=f"{file}{line}", remedy=remedy)
    system, user = (re.sub(r"\n{3,}", "\n\n", part).strip() for part in _USER.split(bare))
    mark = hashlib.sha256(f"{system}\0{user}".encode()).hexdigest()[:8]
    return Prompt(name, role, f"{head.version}-{mark}", system, user, head.source)


_Problem = tuple[int | None, str, str]
"""(offset in the body or None, what is wrong, what to do)."""


def _problems_in_head(head: _Head, name: str, role: Role) -> Iterator[_Problem]:
    if (meant := prompt_of_role(head.role)) != name:
        said = "is unknown" if meant is None else f"is that of {meant}.md"
        yield None, f"the role `{head.role}` {said}", f"The role of {name}.md is `{role.name}`"
    if head.output != role.output:
        yield None, f"the reply of this role is not of the type `{head.output}`", f"Write `output: {role.output}`"
    if odd := sorted({*head.placeholders} ^ {*role.placeholders}):
        undeclared = "not declared" if odd[0] in role.placeholders else "declared and unknown"
        yield None, f"the placeholder {{{odd[0]}}} is {undeclared}", f"It must have these: {_named(role)}"


def _named(role: Role) -> str:
    return ", ".join(f"{{{name}}}" for name in role.placeholders)


def _problems_in_body(body: str, role: Role) -> Iterator[_Problem]:
    headings = list(_USER.finditer(body))
    if len(headings) != 1:
        what = "the line `## user` is missing" if not headings else "`## user` appears twice"
        remedy = "Put instructions above a line `## user`, and question and material below it"
        yield headings[1].start() if headings else None, what, remedy
        return
    border = headings[0].start()
    if not body[:border].strip() or not body[headings[0].end() :].strip():
        yield border, "the part above or below `## user` is empty", "Write text in both parts"
    used = set()
    for found in _PIECE.finditer(body):
        name, of_user = found["name"], found.start() > border
        if found[0] in ("{{", "}}"):
            continue
        used.add(name)
        if name is None:
            yield found.start(), "a brace is unpaired", "Double a brace that is no placeholder: {{ }}"
        elif name == FENCE and of_user:
            yield found.start(), f"{{{FENCE}}} is below `## user`", f"Put {{{FENCE}}} above it"
        elif name != FENCE and name not in role.placeholders:
            remedy = f"It has these, and without a format: {_named(role)}"
            yield found.start(), f"the placeholder {found[0]} is unknown", remedy
        elif name != FENCE and role.placeholders[name].is_material and not of_user:
            what = f"{{{name}}} contains text from others and is above `## user`"
            yield found.start(), what, "Move it below: the part above is read as your instructions"
    if lacking := [name for name in role.placeholders if name not in used]:
        yield None, f"the placeholder {{{lacking[0]}}} is missing", f"It must have these: {_named(role)}"
    if FENCE not in used and any(holds.is_material for holds in role.placeholders.values()):
        what = f"the marks around its material are not explained: {{{FENCE}}} is missing"
        yield None, what, f"Put {{{FENCE}}} on a line of its own above `## user`"
