"""Prompts by name: checked when they are loaded, replaceable by a folder of the user's own, filled in two parts.

A prompt is a Markdown file: a head with role, version, placeholders and type of the reply; what the model is told as
the system; and, below `## user`, what it is told as the user. The packaged prompt's head says what a role is given.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path

import yaml
from frontmatter.default_handlers import YAMLHandler
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.models.call import Role as ModelRole
from fin_agent.prompts.untrusted_text import (
    FENCE,
    PLACEHOLDERS,
    Fence,
    PlaceholderSource,
    Quoted,
    Report,
    singular_mark,
)

TEXT = "text"
"""The output of a role whose reply is read as it is."""
_SEE = "`fin-agent prompts show NAME` prints one that is right"
_PIECE = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|[{}]")
"""A doubled brace, a placeholder, or a brace that is neither."""
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_USER = re.compile(r"^## user[ \t]*$", re.M | re.I)

Value = str | Sequence[Quoted]


class PromptError(FinAgentError):
    """A prompt is not there, cannot be read, or is not as its role needs it."""


@dataclass(frozen=True, slots=True)
class Role:
    """What a prompt is for."""

    name: ModelRole
    """Under which a model is named for it, and calls are accounted for."""
    does: str
    placeholders: Mapping[str, PlaceholderSource]
    output: str
    """Name of the type of its reply (`fin_agent.analyst.model.replies`), or `text`."""


@dataclass(frozen=True, slots=True)
class FilledPrompt:
    """What a model is given."""

    system: str
    user: str
    name: str
    version: str
    """The version in the prompt's head and a mark of its text: another text is another version."""
    reports: tuple[Report, ...] = field(default=())
    """What was taken out of the material, and what in it speaks to the model; none where there is nothing to tell."""

    @property
    def text(self) -> str:
        """Both parts as one text, for a model that takes one."""
        return f"{self.system}\n\n{self.user}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text in two parts with placeholders, as `{question}`; a brace that is none is doubled.

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
        """Both parts with their placeholders replaced; nothing that is put in is read as a placeholder.

        Material is fenced: a text between marks of the placeholder's name, several texts each between marks of their
        own, numbered from 1. The code of the marks follows from all of the material and `seed`, that of the run: the
        same input gives the same prompt. Raises PromptError where a value is missing or unknown.
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
            # A program that a model wrote has every right to speak of `solution()`.
            for report in fence.reports(name, listed, signs=holds[name] is not PlaceholderSource.MODEL)
        )
        return FilledPrompt(_put(self.system, said), _put(self.user, said), self.name, self.version, reports)


def _put(text: str, said: Mapping[str, str]) -> str:
    return _PIECE.sub(lambda found: said[found["name"]] if found["name"] is not None else found[0][0], text).strip()


def load_prompt(name: str, *, folder: Path | None = None) -> Prompt:
    """The prompt `name`: `name.md` of `folder` where it has one, else the one that comes with the package.

    Comments (`<!-- -->`) are left out. Raises PromptError, which names file and line, for the first thing wrong.
    """
    return read_prompt(name, prompt_source(name, folder))


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A prompt's file as it stands."""

    text: str
    subject: str
    """How errors name it: its path, or its name where it comes with the package."""
    own: bool
    """Whether it is the user's."""


@lru_cache(maxsize=1)
def prompt_roles() -> Mapping[str, Role]:
    """Name of each packaged prompt -> its role, as its head declares it."""
    files = (file for file in resources.files(__package__).iterdir() if file.name.endswith(".md"))
    found = {}
    for file in sorted(files, key=lambda file: file.name):
        handler = YAMLHandler()
        head = handler.load(handler.split(file.read_text(encoding="utf-8"))[0])
        placeholders = {name: PLACEHOLDERS[name] for name in head["placeholders"]}
        found[file.name.removesuffix(".md")] = Role(ModelRole(head["role"]), head["does"], placeholders, head["output"])
    return found


def prompts() -> tuple[str, ...]:
    """Names of all prompts."""
    return tuple(prompt_roles())


def prompt_of_role(role: str) -> str | None:
    """The name of the prompt for a role, however the role is named; None where there is no such role.

    >>> prompt_of_role("listwise-ranking"), prompt_of_role("judge"), prompt_of_role("cook")
    ('judge', 'judge', None)
    """
    try:
        wanted = ModelRole(role)
    except ValueError:
        return None
    return next((name for name, each in prompt_roles().items() if each.name is wanted), None)


def prompt_source(name: str, folder: Path | None = None) -> PromptSource:
    """The file that `load_prompt` reads. Raises PromptError where there is none, or it is no text."""
    if name not in prompt_roles():
        raise PromptError(
            "there is no such prompt", subject=f"the prompt {name!r}", remedy=f"There are: {', '.join(prompts())}"
        )
    own = folder / f"{name}.md" if folder is not None else None
    if own is None or not own.is_file():
        text = resources.files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
        return PromptSource(text, f"{name}.md (packaged)", own=False)
    try:
        return PromptSource(own.read_text(encoding="utf-8"), str(own), own=True)
    except (OSError, UnicodeDecodeError) as failure:
        raise PromptError(
            f"it cannot be read ({failure})", subject=str(own), remedy="Give a Markdown file in UTF-8"
        ) from failure


class _Head(BaseModel):
    """What stands above a prompt."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: str = Field(min_length=1)
    version: int = Field(ge=1)
    placeholders: list[str]
    output: str
    source: str = ""
    does: str = ""


def read_prompt(name: str, source: PromptSource) -> Prompt:
    """The prompt of a file. Raises PromptError for the first thing wrong, with its line where it stands in the text."""
    written = source.text.removeprefix("\ufeff")
    if not written.strip():
        raise PromptError(
            "it is empty", subject=source.subject, remedy="Write it, or remove the file to use the packaged one"
        )
    handler, role = YAMLHandler(), prompt_roles()[name]
    try:
        said, body = handler.split(written)
        head = _Head.model_validate(handler.load(said))
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        entry = ".".join(map(str, first["loc"])) or "the head"
        raise PromptError(f"`{entry}`: {first['msg']}", subject=source.subject, remedy=_SEE) from failure
    except (ValueError, yaml.YAMLError) as failure:
        what = f"it has no head that can be read ({failure})"
        raise PromptError(what, subject=source.subject, remedy=_SEE) from failure
    # Comments leave their line ends behind, so that lines are counted as in the file.
    bare = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), body)
    first_line = 1 + written.count("\n", 0, len(written) - len(body))
    for place, what, remedy in (*_of_head(head, name, role), *_of_body(bare, role)):
        line = "" if place is None else f", line {first_line + bare.count(chr(10), 0, place)}"
        raise PromptError(what, subject=f"{source.subject}{line}", remedy=remedy)
    system, user = (re.sub(r"\n{3,}", "\n\n", part).strip() for part in _USER.split(bare))
    mark = hashlib.sha256(f"{system}\0{user}".encode()).hexdigest()[:8]
    return Prompt(name, role, f"{head.version}-{mark}", system, user, head.source)


_Wrong = tuple[int | None, str, str]
"""Where in the text something is wrong, what, and what to do."""


def _of_head(head: _Head, name: str, role: Role) -> Iterator[_Wrong]:
    if (meant := prompt_of_role(head.role)) != name:
        said = "is unknown" if meant is None else f"is that of {meant}.md"
        yield None, f"the role `{head.role}` {said}", f"The role of {name}.md is `{role.name}`"
    if head.output != role.output:
        yield None, f"the reply of this role is not read as `{head.output}`", f"Write `output: {role.output}`"
    if odd := sorted({*head.placeholders} ^ {*role.placeholders}):
        undeclared = "not declared" if odd[0] in role.placeholders else "declared and unknown"
        yield None, f"the placeholder {{{odd[0]}}} is {undeclared}", f"It must have these: {_named(role)}"


def _named(role: Role) -> str:
    return ", ".join(f"{{{name}}}" for name in role.placeholders)


def _of_body(body: str, role: Role) -> Iterator[_Wrong]:
    headings = list(_USER.finditer(body))
    if len(headings) != 1:
        what = "no line `## user` parts it" if not headings else "`## user` appears twice"
        remedy = "Say what the model is to do above one line `## user`, and put question and material below it"
        yield headings[1].start() if headings else None, what, remedy
        return
    border = headings[0].start()
    if not body[:border].strip() or not body[headings[0].end() :].strip():
        yield border, "the part above or below `## user` is empty", "Both parts need words"
    used = set()
    for found in _PIECE.finditer(body):
        name, of_user = found["name"], found.start() > border
        if found[0] in ("{{", "}}"):
            continue
        used.add(name)
        if name is None:
            yield found.start(), "a brace is unpaired", "Double a brace that is no placeholder: {{ }}"
        elif name == FENCE and of_user:
            yield found.start(), f"{{{FENCE}}} stands below `## user`", f"Put {{{FENCE}}} above it"
        elif name != FENCE and name not in role.placeholders:
            remedy = f"It has these, and without a format: {_named(role)}"
            yield found.start(), f"the placeholder {found[0]} is unknown", remedy
        elif name != FENCE and role.placeholders[name].is_material and not of_user:
            what = f"{{{name}}} contains text from others and is above `## user`"
            yield found.start(), what, "Move it below: the part above is read as your instructions"
    if lacking := [name for name in role.placeholders if name not in used]:
        yield None, f"the placeholder {{{lacking[0]}}} is missing", f"It must have these: {_named(role)}"
    if FENCE not in used and any(holds.is_material for holds in role.placeholders.values()):
        what = f"it does not say what the marks around its material mean: {{{FENCE}}} is missing"
        yield None, what, f"Put {{{FENCE}}} on a line of its own above `## user`"
