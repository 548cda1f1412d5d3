"""Of which role a prompt is, known by its own words: a server of a test is not told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

_OF_A_HEAD = re.compile(r"<!--.*?-->|\A\s*---\n.*?\n---\n", re.S)
_PLACEHOLDER = re.compile(r"(?<!\{)\{\w+\}(?!\})")
_SHORTEST = 25
"""Characters of a line that tells one prompt from another."""
_SHARE = 0.7
"""Of a prompt's characters that must be found again; a caller may leave parts out, or put words in between."""


def role_of(text: str) -> str | None:
    """The name of the packaged prompt whose words `text` is made of; None where it is none of them."""
    squeezed = " ".join(text.split())
    shares = [
        (sum(len(line) for line in lines if line in squeezed) / sum(map(len, lines)), sum(map(len, lines)), name)
        for name, lines in _lines_by_prompt().items()
    ]
    return max((share for share in shares if share[0] >= _SHARE), default=(0, 0, None))[2]


@lru_cache(maxsize=1)
def _lines_by_prompt() -> Mapping[str, tuple[str, ...]]:
    """The stretches of each template that stand in every prompt made of it."""
    found: dict[str, tuple[str, ...]] = {}
    for file in sorted(resources.files("fin_agent.prompts").iterdir(), key=lambda each: each.name):
        if file.name.endswith(".md"):
            text = _PLACEHOLDER.sub("\n", _OF_A_HEAD.sub("", file.read_text(encoding="utf-8")))
            told = (" ".join(line.split()).replace("{{", "{").replace("}}", "}") for line in text.splitlines())
            name = file.name.removesuffix(".md")
            found[name] = tuple(dict.fromkeys(line for line in told if len(line) >= _SHORTEST))
    return {name: lines for name, lines in sorted(found.items()) if lines}
