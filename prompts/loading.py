"""Prompts by name: checked when they are loaded, and replaceable by a folder of the user's own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from fin_agent.prompts.errors import Problem, PromptError
from fin_agent.prompts.front_matter import FrontMatter, divided
from fin_agent.prompts.material import FENCE
from fin_agent.prompts.prompt import PIECE, Prompt
from fin_agent.prompts.roles import OUTPUTS, ROLES, Role, prompt_of_role


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


def prompts() -> tuple[str, ...]:
    """Names of all prompts."""
    return tuple(sorted(ROLES))


def prompt_source(name: str, folder: Path | None = None) -> PromptSource:
    """The file that `load_prompt` reads. Raises PromptError where there is none, or it is no text."""
    if name not in ROLES:
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
    file = divided(written)
    role = ROLES[name]
    if file.head is None:
        return ReadPrompt(None, file.problems)
    body = _Body.of(file.body, file.body_line)
    problems = [*_of_head(file.head, name, role), *_of_body(body, file.head, role)]
    if problems:
        return ReadPrompt(None, tuple(sorted(problems, key=lambda problem: problem.line)))
    mark = hashlib.sha256(f"{body.system}\0{body.user}".encode()).hexdigest()[:8]
    version = f"{file.head.version}-{mark}"
    return ReadPrompt(Prompt(name, role, version, body.system, body.user, file.head.source), ())


_COMMENT = re.compile(r"<!--.*?-->", re.S)
_USER = re.compile(r"^## user[ \t]*$", re.M | re.I)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A brace or a placeholder of a body."""

    text: str
    name: str | None
    """Of a placeholder."""
    line: int
    of_user: bool


@dataclass(frozen=True, slots=True)
class _Body:
    """What stands behind the head, comments left out."""

    system: str
    user: str
    pieces: tuple[_Piece, ...]
    headings: tuple[int, ...]
    """Lines that say `## user`."""
    line: int

    @classmethod
    def of(cls, text: str, line: int) -> _Body:
        # Comments leave their line ends behind, so that lines are counted as in the file.
        bare = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
        headings = list(_USER.finditer(bare))
        border = headings[0].start() if headings else len(bare)
        pieces = tuple(
            _Piece(found[0], found["name"], line + bare.count("\n", 0, found.start()), found.start() > border)
            for found in PIECE.finditer(bare)
            if found[0] not in ("{{", "}}")
        )
        system, user = bare[:border], bare[headings[0].end() :] if headings else ""
        lines = tuple(line + bare.count("\n", 0, found.start()) for found in headings)
        return cls(_tidy(system), _tidy(user), pieces, lines, line)


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _of_head(head: FrontMatter, name: str, role: Role) -> Iterator[Problem]:
    line = head.lines
    meant = prompt_of_role(head.role)
    if meant != name:
        said = "is unknown" if meant is None else f"is that of {meant}.md"
        yield Problem(line["role"], f"the role `{head.role}` {said}", f"The role of {name}.md is `{role.name}`")
    if head.output not in OUTPUTS:
        yield Problem(
            line["output"],
            f"there is no output type `{head.output}`",
            f"The reply of this role is read as `{role.output}`",
        )
    elif head.output != role.output:
        yield Problem(
            line["output"],
            f"the reply of this role is not read as `{head.output}`",
            f"Write `output: {role.output}`",
        )
    yield from _of_names(head.placeholders, role, line["placeholders"], "declared")


def _of_names(found: tuple[str, ...], role: Role, line: int, how: str) -> Iterator[Problem]:
    known = ", ".join(f"{{{name}}}" for name in role.placeholders)
    for name in dict.fromkeys(found):
        if name not in role.placeholders:
            yield Problem(line, f"the placeholder {{{name}}} is {how} and unknown", f"It has these: {known}")
    for name in role.placeholders:
        if name not in found:
            yield Problem(line, f"the placeholder {{{name}}} is not {how}", f"It must have these: {known}")


def _of_body(body: _Body, head: FrontMatter, role: Role) -> Iterator[Problem]:
    if len(body.headings) != 1:
        what = "no line `## user` parts it" if not body.headings else "`## user` stands there twice"
        remedy = "Say what the model is to do above one line `## user`, and put question and material below it"
        yield Problem(body.headings[1] if body.headings else body.line, what, remedy)
    elif not body.system or not body.user:
        part = "above" if not body.system else "below"
        yield Problem(body.headings[0], f"nothing stands {part} `## user`", "Both parts need words")
    for piece in body.pieces:
        yield from _of_piece(piece, role)
    used = {piece.name for piece in body.pieces}
    known = ", ".join(f"{{{name}}}" for name in role.placeholders)
    for name in role.placeholders:
        if name not in used:
            yield Problem(body.line, f"the placeholder {{{name}}} is missing", f"It must have these: {known}")
    if role.material and FENCE not in used:
        yield Problem(
            body.line,
            f"it does not say what the marks around its material mean: {{{FENCE}}} is missing",
            f"Put {{{FENCE}}} on a line of its own above `## user`",
        )


def _of_piece(piece: _Piece, role: Role) -> Iterator[Problem]:
    name = piece.name
    if name is None:
        yield Problem(piece.line, "a brace stands alone", "Double a brace that is no placeholder: {{ }}")
    elif name == FENCE:
        if piece.of_user:
            yield Problem(piece.line, f"{{{FENCE}}} stands below `## user`", f"Put {{{FENCE}}} above it")
    elif name not in role.placeholders:
        known = ", ".join(f"{{{each}}}" for each in role.placeholders)
        bare = re.match(r"\w+", name)
        if bare and bare[0] in role.placeholders:
            yield Problem(piece.line, f"the placeholder {piece.text} has a format", f"Write it plainly: {{{bare[0]}}}")
        else:
            yield Problem(piece.line, f"the placeholder {piece.text} is unknown", f"It has these: {known}")
    elif name in role.material and not piece.of_user:
        yield Problem(
            piece.line,
            f"{{{name}}} holds what others wrote and stands above `## user`",
            "Put it below: what stands above is taken as said by you",
        )
