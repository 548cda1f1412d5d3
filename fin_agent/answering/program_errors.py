"""Why a program gives no answer: what happened, on which line, with which numbers, and what to change."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.answering.executor import SandboxSettings
from fin_agent.answering.provenance import Provenance, Unbound
from fin_agent.errors import SandboxError

DEFINE_SOLUTION = "Define `def solution():` without parameters, and return the answer."
PLAIN_ARITHMETIC = "Use the figures given, plain arithmetic and the modules math, decimal, datetime and re."


class ProgramError(SandboxError):
    """A program gave no answer. It carries what a repair needs: the reason, the line, the next step."""

    def __init__(self, what: str, *, remedy: str, line: int | None = None) -> None:
        self.line = line
        """Of the program, from 1; None where no line is to blame."""
        super().__init__(what, remedy=remedy)


class UnsourcedNumberError(ProgramError):
    """Numbers of a program that nothing accounts for."""

    def __init__(self, unbound: Sequence[Unbound]) -> None:
        self.unbound = tuple(unbound)
        named = "; ".join(f"line {each.line}: {each.literal}: {each.reason}" for each in self.unbound)
        super().__init__(
            f"numbers of the program have no source: {named}",
            remedy="Use figures of the evidence as printed, one variable each with its unit, page and line.",
            line=self.unbound[0].line if self.unbound else None,
        )


def require_sources(provenance: Provenance) -> None:
    """Raises UnsourcedNumberError where a number of the program has no source."""
    if not provenance.ok:
        raise UnsourcedNumberError(provenance.unbound)


def one_line(text: str) -> str:
    """An exception's text is the program's, so it is kept short and on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:199]}…"


def failed(kind: str, message: str, line: int | None, settings: SandboxSettings) -> ProgramError:
    """What an exception of the program says, as a reason and a next step; `kind` is the exception's class."""
    said = one_line(f"{kind}: {message}" if message else kind)
    located = f"line {line}: {said}" if line else said
    match kind:
        case "MemoryError":
            return needs_memory(settings)
        case "RecursionError":
            return ProgramError(
                f"the program calls itself more than {settings.max_recursion_depth:,} times deep (recursion)",
                remedy="Write it without recursion.",
                line=line,
            )
        case "SyntaxError" | "IndentationError" | "TabError" | "UnicodeEncodeError":
            return ProgramError(f"the program is not valid Python: {located}", remedy="Correct the syntax.", line=line)
        case "ImportError" | "ModuleNotFoundError":
            return ProgramError(f"the program's import is not available: {located}", remedy=PLAIN_ARITHMETIC, line=line)
        case "PermissionError":
            return out_of_reach(located, line)
        case "NameError" if "'solution'" in message:
            return ProgramError("the program does not define `solution`", remedy=DEFINE_SOLUTION)
        case "ZeroDivisionError" | "DivisionByZero":
            return ProgramError(
                f"the program divides by zero: {located}", remedy="Check the figure it divides by.", line=line
            )
        case "NotImplementedError":
            return not_available(located, line)
        case _:
            return ProgramError(f"the program failed: {located}", remedy="Correct that line.", line=line)


def out_of_reach(located: str, line: int | None) -> ProgramError:
    """It reaches for something of the host."""
    return ProgramError(
        f"the program reaches for files, the clock, chance or the environment, which are not available: {located}",
        remedy=PLAIN_ARITHMETIC,
        line=line,
    )


def not_available(located: str, line: int | None) -> ProgramError:
    """It uses a part of Python that is left out."""
    return ProgramError(f"the program uses Python that is not available: {located}", remedy=PLAIN_ARITHMETIC, line=line)


def cannot_be_called(message: str) -> ProgramError:
    """`solution` is no function without parameters."""
    return ProgramError(f"`solution` cannot be called: {one_line(message)}", remedy=DEFINE_SOLUTION)


def needs_memory(settings: SandboxSettings) -> ProgramError:
    """It goes beyond its memory."""
    megabytes = settings.max_memory_bytes / 2**20
    return ProgramError(
        f"the program needs more memory than {megabytes:,.0f} MB", remedy="Keep numbers and lists small."
    )


def out_of_time(settings: SandboxSettings) -> ProgramError:
    """It goes beyond its time."""
    return ProgramError(
        f"the program ran longer than its time limit of {settings.max_seconds:g} s",
        remedy="Remove endless loops and very large numbers.",
    )


def slept_too_long(settings: SandboxSettings) -> ProgramError:
    """It waits."""
    return ProgramError(
        f"the program sleeps longer than {settings.max_sleep_seconds:g} s", remedy="A program need not wait: remove it."
    )


def printed_too_much(settings: SandboxSettings) -> ProgramError:
    """It prints more than is kept."""
    return ProgramError(
        f"the program printed more than {settings.max_printed_characters:,} characters",
        remedy="Return the answer instead of printing it.",
    )
