"""Which role a prompt is of: told by the caller, or recognised by the prompt's own words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path

from fin_agent.prompts.roles import prompt_of_role

_COMMENT = re.compile(r"<!--.*?-->", re.S)
_FRONT_MATTER = re.compile(r"\A\s*---\n.*?\n---\n", re.S)
_PLACEHOLDER = re.compile(r"(?<!\{)\{\w+\}(?!\})")
_SHORTEST = 25
"""Characters of a line that tells one prompt from another."""
_SHARE = 0.7
"""Of a prompt's characters that must be found again; a caller may leave parts out, or put words in between."""


def role_of(text: str, folder: Path | None = None) -> str | None:
    """The name of the prompt whose words `text` is made of; None where it is none of them.

    Prompts are those of the package, and those of `folder`, which take the place of packaged ones of the same name.

    >>> from fin_agent.prompts import load_prompt
    >>> role_of(load_prompt("hyde").filled(question="What was revenue?").text)
    'hyde'
    >>> role_of("What was revenue?") is None
    True
    """
    squeezed = _squeezed(text)
    shares = [
        (sum(len(line) for line in lines if line in squeezed) / sum(map(len, lines)), sum(map(len, lines)), name)
        for name, lines in _known(folder).items()
    ]
    found = [share for share in shares if share[0] >= _SHARE]
    return max(found)[2] if found else None


def role_told(metadata: Mapping[str, object] | None, tags: Sequence[str] | None) -> str | None:
    """The role that a caller named in the call's metadata, `{"role": "judge"}`, or among its tags, `role:judge`.

    A role of a prompt is given as the prompt's name, as `role_of` does.
    """
    told = (metadata or {}).get("role")
    if not (isinstance(told, str) and told):
        told = next((tag.removeprefix("role:") for tag in tags or () if tag.startswith("role:")), None)
    return None if told is None else prompt_named(told)


def prompt_named(role: str) -> str:
    """The name of the prompt for a role, however it is named; a role of one's own as it is.

    >>> prompt_named("listwise-ranking"), prompt_named("my own")
    ('judge', 'my own')
    """
    return prompt_of_role(role) or role


@lru_cache(maxsize=16)
def _known(folder: Path | None) -> Mapping[str, tuple[str, ...]]:
    packaged = {
        file.name.removesuffix(".md"): file.read_text(encoding="utf-8")
        for file in resources.files("fin_agent.prompts").iterdir()
        if file.name.endswith(".md")
    }
    own = {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.md"))} if folder else {}
    known = {name: _lines(text) for name, text in {**packaged, **own}.items()}
    return {name: known[name] for name in sorted(known) if known[name]}


def _lines(template: str) -> tuple[str, ...]:
    """The stretches of a template that stand in every prompt made of it."""
    text = _PLACEHOLDER.sub("\n", _FRONT_MATTER.sub("", _COMMENT.sub("", template), count=1))
    lines = (_squeezed(line).replace("{{", "{").replace("}}", "}") for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if len(line) >= _SHORTEST))


def _squeezed(text: str) -> str:
    return " ".join(text.split())
