"""A prompt and what it becomes when it is filled: what is said to the model, and what is quoted to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fin_agent.prompts.errors import PromptError
from fin_agent.prompts.material import FENCE, Fence, Quoted, Report
from fin_agent.prompts.roles import Holds, Role, mark_of_one

PIECE = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|[{}]")
"""A doubled brace, a placeholder, or a brace that is neither."""

Value = str | Sequence[Quoted]


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
        wanted = set(self.role.placeholders)
        if set(values) != wanted:
            odd = sorted(wanted.symmetric_difference(values))[0]
            raise PromptError(
                f"no value is given for {{{odd}}}" if odd in wanted else f"it has no placeholder {{{odd}}}",
                subject=f"the prompt {self.name!r}",
                remedy=f"Fill these: {', '.join(sorted(wanted))}",
            )
        quoted = {name: _listed(values[name]) for name in self.role.placeholders if name in self.role.material}
        fence = Fence.around([each for listed in quoted.values() for each in listed], seed)
        said = {FENCE: fence.statement}
        for name, value in values.items():
            if name not in self.role.material:
                said[name] = value if isinstance(value, str) else "\n".join(each.text for each in value)
            elif isinstance(value, str):
                said[name] = fence.one(name, value)
            else:
                said[name] = fence.several(mark_of_one(name), value)
        reports = tuple(
            report
            for name, listed in quoted.items()
            # A program that a model wrote has every right to speak of `solution()`.
            for report in fence.reports(name, listed, signs=self.role.placeholders[name] is not Holds.MODEL)
        )
        return FilledPrompt(_put(self.system, said), _put(self.user, said), self.name, self.version, reports)


def _listed(value: Value) -> Sequence[Quoted]:
    return [Quoted(value)] if isinstance(value, str) else value


def _put(text: str, said: dict[str, str]) -> str:
    def piece(found: re.Match[str]) -> str:
        name = found["name"]
        return said[name] if name is not None else found[0][0]

    return PIECE.sub(piece, text).strip()
