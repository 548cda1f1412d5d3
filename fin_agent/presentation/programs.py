"""A program set for reading: no line runs over, every source stays beside its figure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from rich.syntax import Syntax

from fin_agent.presentation.plain import plain

_LONGEST_LINE = 96
_ASSIGNED = re.compile(r"(\s*)(return|\w+ =) (.+)")


def program_view(program: str) -> Syntax:
    """The program with colours."""
    return Syntax(narrow(plain(program)), "python", theme="ansi_dark", background_color="default", word_wrap=True)


def narrow(program: str) -> str:
    """The same program with comments that do not fit set above their line, and long expressions broken at spaces."""
    return "\n".join(narrowed for line in program.rstrip().split("\n") for narrowed in _narrowed(line))


def _narrowed(line: str) -> Iterator[str]:
    if len(line) <= _LONGEST_LINE:
        yield line
        return
    code, mark, comment = line.partition("  # ")
    indent = code[: len(code) - len(code.lstrip())]
    if mark:
        yield from _wrapped(comment, f"{indent}# ")
    assigned = _ASSIGNED.fullmatch(code)
    # A text with spaces in it must not be broken; programs over figures hold none.
    if len(code) <= _LONGEST_LINE or assigned is None or "'" in code or '"' in code:
        yield code
        return
    yield f"{indent}{assigned[2]} ("
    yield from _wrapped(assigned[3], f"{indent}    ")
    yield f"{indent})"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        _LONGEST_LINE,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
