"""A program set for reading: no line runs over, every source stays beside its figure, and it is still Python."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.syntax import Syntax

from fin_agent.presentation.plain import plain

LONGEST_LINE = 96
_ASSIGNED = re.compile(r"(\s*)(return|\w+ =) (.+)", re.S)
_TEXT_BEGINS, _TEXT_ENDS = (getattr(tokenize, name, -1) for name in ("FSTRING_START", "FSTRING_END"))
"""From Python 3.12 on a text with expressions in it is several tokens."""
_HELD = "\x00"
"""Stands for a blank inside a text, where no line may be broken."""


def program_view(program: str, longest: int = LONGEST_LINE) -> ProgramView:
    """The program with colours, in lines of at most `longest` characters and never wider than there is room."""
    return ProgramView(program, longest)


class ProgramView:
    """A program that is set anew for the width it is shown in: a line folded by the terminal is no Python."""

    def __init__(self, program: str, longest: int = LONGEST_LINE) -> None:
        self._program = plain(program)
        self._longest = longest

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = narrow(self._program, min(self._longest, options.max_width))
        yield Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)


def narrow(program: str, longest: int = LONGEST_LINE) -> str:
    """The same program with comments that do not fit set above their line, and long expressions broken at blanks.

    A name or a text longer than `longest` stays whole.
    """
    return "\n".join(narrowed for line in program.rstrip().split("\n") for narrowed in _narrowed(line, longest))


def _narrowed(line: str, longest: int) -> Iterator[str]:
    if len(line) <= longest:
        yield line
        return
    indent = line[: len(line) - len(line.lstrip())]
    code, comment = _parted(line)
    if comment:
        yield from _wrapped(comment, f"{indent}# ", longest, break_words=True)
    if not code.strip():
        return
    assigned = _ASSIGNED.fullmatch(code)
    if len(code) <= longest or assigned is None:
        yield code.replace(_HELD, " ")
        return
    yield f"{indent}{assigned[2]} ("
    yield from (part.replace(_HELD, " ") for part in _wrapped(assigned[3], f"{indent}    ", longest))
    yield f"{indent})"


def _parted(line: str) -> tuple[str, str]:
    """Code, its texts without blanks that could be taken for a place to break, and the comment behind it."""
    code, left = line, len(line) - len(line.lstrip())
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            begins, ends = left + token.start[1], left + token.end[1]
            if token.type == tokenize.COMMENT:
                return code[:begins].rstrip(), token.string.lstrip("#").strip()
            if token.type == _TEXT_BEGINS:
                opened.append(begins)
            elif token.type in (tokenize.STRING, _TEXT_ENDS):
                begins = opened.pop() if token.type == _TEXT_ENDS else begins
                code = code[:begins] + code[begins:ends].replace(" ", _HELD) + code[ends:]
    except (tokenize.TokenError, SyntaxError):
        return line.replace(" ", _HELD), ""
    return code, ""


def _wrapped(text: str, indent: str, longest: int, *, break_words: bool = False) -> list[str]:
    return textwrap.wrap(
        text,
        max(longest, len(indent) + 1),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=break_words,
        break_on_hyphens=False,
    )
