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
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from fin_agent.errors import FinAgentError
from fin_agent.models.call import Role as ModelRole
from fin_agent.prompts.untrusted_text import FENCE, PLACEHOLDERS, Fence, Holds, Quoted, Report, mark_of_one

TEXT = "text"
"""The output of a role whose reply is read as it is."""
_HEAD_ENTRIES = ("role", "version", "placeholders", "output", "source", "does")
_NEEDED = _HEAD_ENTRIES[:4]
_SEE = "`fin-agent prompts show NAME` prints one that is right"
_PIECE = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|[{}]")
"""A doubled brace, a placeholder, or a brace that is neither."""
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_USER = re.compile(r"^## user[ \t]*$", re.M | re.I)

Value = str | Sequence[Quoted]


class PromptError(FinAgentError):
    """A prompt is not there, cannot be read, or is not as its role needs it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a prompt's file."""

    line: int
    """As people count; 0 where it is the whole file."""
    what: str
    remedy: str

    def error(self, subject: str) -> PromptError:
        """The same as an error: `FILE, line 3: what. remedy`."""
        where = f"{subject}, line {self.line}" if self.line else subject
        return PromptError(self.what, subject=where, remedy=self.remedy)


@dataclass(frozen=True, slots=True)
class Role:
    """What a prompt is for."""

    name: ModelRole
    """Under which a model is named for it, and calls are accounted for."""
    does: str
    placeholders: Mapping[str, Holds]
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
                said[name] = fence.several(mark_of_one(name), value)
        reports = tuple(
            report
            for name, listed in quoted.items()
            # A program that a model wrote has every right to speak of `solution()`.
            for report in fence.reports(name, listed, signs=holds[name] is not Holds.MODEL)
        )
        return FilledPrompt(_put(self.system, said), _put(self.user, said), self.name, self.version, reports)


def _put(text: str, said: Mapping[str, str]) -> str:
    return _PIECE.sub(lambda found: said[found["name"]] if found["name"] is not None else found[0][0], text).strip()


def load_prompt(name: str, *, folder: Path | None = None) -> Prompt:
    """The prompt `name`: `name.md` of `folder` where it has one, else the one that comes with the package.

    Comments (`<!-- -->`) are left out. Raises PromptError, which names file and line, for the first thing wrong.
    """
    source = prompt_source(name, folder)
    read = read_prompt(name, source.text)
    if read.prompt is None:
        raise read.problems[0].error(source.subject)
    return read.prompt


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A prompt's file as it stands."""

    text: str
    subject: str
    """How errors name it: its path, or its name where it comes with the package."""
    own: bool
    """Whether it is the user's."""


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """A prompt, or what is wrong with it."""

    prompt: Prompt | None
    problems: tuple[Problem, ...]


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


def read_prompt(name: str, written: str) -> ReadPrompt:
    """The prompt of a file's text, or everything that is wrong with it in the order of its lines."""
    written = written.removeprefix("\ufeff")
    try:
        head, body = _head(written)
    except _WrongHeadError as wrong:
        return ReadPrompt(None, (Problem(*wrong.args),))
    role = prompt_roles()[name]
    # Comments leave their line ends behind, so that lines are counted as in the file.
    bare = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), body)
    first = 1 + written.count("\n", 0, len(written) - len(body))
    problems = list(_of_values(head, written))
    if not problems:
        problems = [*_of_head(head, written, name, role), *_of_body(bare, first, role)]
    if problems:
        return ReadPrompt(None, tuple(sorted(problems, key=lambda problem: problem.line)))
    system, user = (re.sub(r"\n{3,}", "\n\n", part).strip() for part in _USER.split(bare))
    mark = hashlib.sha256(f"{system}\0{user}".encode()).hexdigest()[:8]
    return ReadPrompt(Prompt(name, role, f"{head['version']}-{mark}", system, user, head.get("source", "")), ())


class _WrongHeadError(Exception):
    """Line, what is wrong, remedy."""


def _head(written: str) -> tuple[dict[str, Any], str]:
    """The entries of a prompt's head, and what stands behind it."""
    handler = YAMLHandler()
    if not written.strip():
        raise _WrongHeadError(0, "it is empty", "Write it, or remove the file to use the packaged one")
    if not handler.detect(written):
        lines = "the lines role, version, placeholders and output"
        raise _WrongHeadError(1, "it has no head", f"Begin the file with ---, {lines}, and ---; {_SEE}")
    try:
        text, body = handler.split(written)
        head = handler.load(text)
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        said = getattr(failure, "problem", None) or "it cannot be read"
        line = (mark.line if mark else 0) + 1
        raise _WrongHeadError(
            line, f"its head is not valid YAML ({said})", "Quote values that hold a colon"
        ) from failure
    except ValueError as failure:
        raise _WrongHeadError(1, "its head has no end", "Put a line --- behind it") from failure
    if not isinstance(head, dict):
        raise _WrongHeadError(2, "its head holds no entries", f"Write `role: ...` and the like; {_SEE}")
    seen: set[str] = set()
    for line, found in enumerate(text.splitlines(), start=1):
        entry = found.partition(":")[0]
        if entry in seen:
            raise _WrongHeadError(line, f"`{entry}` is given twice", "Keep one of the two")
        if entry in head:
            seen.add(entry)
            if entry not in _HEAD_ENTRIES:
                known = ", ".join(_HEAD_ENTRIES)
                raise _WrongHeadError(line, f"`{entry}` is no entry of a head", f"It has these: {known}")
    return head, body


def _line_of(entry: str, written: str) -> int:
    lines = enumerate(written.splitlines(), start=1)
    return next((number for number, line in lines if line.startswith(f"{entry}:")), 1)


def _of_values(head: Mapping[str, Any], written: str) -> Iterator[Problem]:
    for name in _NEEDED:
        if name not in head:
            yield Problem(1, f"its head has no `{name}`", f"Add a line `{name}: ...`; {_SEE}")
    for name, value in head.items():
        line = _line_of(name, written)
        if name in ("role", "output") and not (isinstance(value, str) and value):
            yield Problem(line, f"`{name}` is no name", f"Write one, as `{name}: text`")
        elif name in ("source", "does") and not isinstance(value, str):
            yield Problem(line, f"`{name}` is no text", "Write it in quotation marks")
        elif name == "version" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            yield Problem(line, "`version` is no whole number from 1 on", "Count it up with each change: `version: 2`")
        elif name == "placeholders" and not (
            isinstance(value, list) and all(isinstance(each, str) and each for each in value)
        ):
            yield Problem(line, "`placeholders` is no list of names", "Write `placeholders: [question, passages]`")


def _of_head(head: Mapping[str, Any], written: str, name: str, role: Role) -> Iterator[Problem]:
    meant = prompt_of_role(head["role"])
    if meant != name:
        said = "is unknown" if meant is None else f"is that of {meant}.md"
        line = _line_of("role", written)
        yield Problem(line, f"the role `{head['role']}` {said}", f"The role of {name}.md is `{role.name}`")
    output, line = head["output"], _line_of("output", written)
    if output not in {each.output for each in prompt_roles().values()}:
        yield Problem(line, f"there is no output type `{output}`", f"The reply of this role is read as `{role.output}`")
    elif output != role.output:
        yield Problem(line, f"the reply of this role is not read as `{output}`", f"Write `output: {role.output}`")
    line, known = _line_of("placeholders", written), _named(role)
    for each in dict.fromkeys(head["placeholders"]):
        if each not in role.placeholders:
            yield Problem(line, f"the placeholder {{{each}}} is declared and unknown", f"It has these: {known}")
    for each in role.placeholders:
        if each not in head["placeholders"]:
            yield Problem(line, f"the placeholder {{{each}}} is not declared", f"It must have these: {known}")


def _named(role: Role) -> str:
    return ", ".join(f"{{{name}}}" for name in role.placeholders)


def _of_body(body: str, first: int, role: Role) -> Iterator[Problem]:
    """What is wrong with a body that begins on the line `first`."""
    headings = list(_USER.finditer(body))
    border = headings[0].start() if headings else len(body)

    def line(place: int) -> int:
        return first + body.count("\n", 0, place)

    # The line behind the head's end.
    begin = first + body.startswith("\n")
    if len(headings) != 1:
        what = "no line `## user` parts it" if not headings else "`## user` stands there twice"
        remedy = "Say what the model is to do above one line `## user`, and put question and material below it"
        yield Problem(line(headings[1].start()) if headings else begin, what, remedy)
    elif not body[:border].strip() or not body[headings[0].end() :].strip():
        part = "above" if not body[:border].strip() else "below"
        yield Problem(line(border), f"nothing stands {part} `## user`", "Both parts need words")
    used = set()
    for found in _PIECE.finditer(body):
        if found[0] not in ("{{", "}}"):
            used.add(found["name"])
            if wrong := _of_piece(found, role, of_user=found.start() > border):
                yield Problem(line(found.start()), *wrong)
    for name in role.placeholders:
        if name not in used:
            yield Problem(begin, f"the placeholder {{{name}}} is missing", f"It must have these: {_named(role)}")
    if FENCE not in used and any(holds.is_material for holds in role.placeholders.values()):
        what = f"it does not say what the marks around its material mean: {{{FENCE}}} is missing"
        yield Problem(begin, what, f"Put {{{FENCE}}} on a line of its own above `## user`")


def _of_piece(found: re.Match[str], role: Role, *, of_user: bool) -> tuple[str, str] | None:
    """What is wrong with a brace or a placeholder, and what to do."""
    name = found["name"]
    if name is None:
        return "a brace stands alone", "Double a brace that is no placeholder: {{ }}"
    if name == FENCE:
        return (f"{{{FENCE}}} stands below `## user`", f"Put {{{FENCE}}} above it") if of_user else None
    if name not in role.placeholders:
        bare = re.match(r"\w+", name)
        if bare and bare[0] in role.placeholders:
            return f"the placeholder {found[0]} has a format", f"Write it plainly: {{{bare[0]}}}"
        return f"the placeholder {found[0]} is unknown", f"It has these: {_named(role)}"
    if role.placeholders[name].is_material and not of_user:
        what = f"{{{name}}} holds what others wrote and stands above `## user`"
        return what, "Put it below: what stands above is taken as said by you"
    return None
