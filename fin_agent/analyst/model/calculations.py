"""Calculations of a model over quoted figures, written as a program and run in the sandbox.

Program of Thoughts (Chen et al. 2023), as in HiREC's numeric questions: the model names figures and how they are
combined. Each figure is a number within a quote of a passage; expressions may contain no other numbers but constants
and those of the question.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from fin_agent.analyst.model.grounding import numbers_not_in, printable_line
from fin_agent.analyst.model.replies import Calculation, QuotedFigure
from fin_agent.answering.amounts import format_amount, rounded
from fin_agent.answering.numerals import NumeralKind, numerals_in
from fin_agent.answering.program_syntax import CALLS
from fin_agent.answering.sandbox import ProgramExecutor, ProgramScalar
from fin_agent.errors import SandboxError
from fin_agent.evidence.intent import OutputUnit

CONSTANTS = frozenset(map(Decimal, (0, 1, 2, 3, 4, 10, 12, 52, 53, 90, 100, 360, 365, 1_000, 10_000, 10**6, 10**9)))
_HUNDRED = Decimal(100)
_RATES = ("percent", "percentage points")
_MAX_EXPRESSION_LENGTH = 400
_MAX_NAME_LENGTH = 60
_PLACE = re.compile(r"\{\s*([A-Za-z]\w*)\s*\}", re.ASCII)
_NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Load, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.Pow, ast.USub, ast.UAdd,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one calculation."""

    name: str
    value: float
    unit: OutputUnit | None
    decimals: int | None

    @property
    def text(self) -> str:
        """The formatted value: `12.5%`."""
        return format_amount(self.value, self.unit or "count", self.decimals)


@dataclass(frozen=True, slots=True)
class CalculationResults:
    """All calculations of a reply."""

    figures: Mapping[str, tuple[QuotedFigure, Decimal]] = field(default_factory=dict)
    """The input figures by name."""
    steps: tuple[str, ...] = ()
    """The program's lines of calculation."""
    results: Mapping[str, Result] = field(default_factory=dict)
    numbers: tuple[Decimal, ...] = ()
    """Numbers of the question used as inputs."""

    def program(self, place_of: Callable[[QuotedFigure], str]) -> str:
        """Return the Python program of the results; `place_of` returns the source of a figure, for its comments."""
        given = (f"{name} = {amount:f}  # {place_of(figure)}" for name, (figure, amount) in self.figures.items())
        return _code((*given, *self.steps), tuple(self.results))

    @property
    def lines(self) -> list[str]:
        """A line for each result and each number of the question in it, which may be quoted like a passage."""
        own = [f"{name.replace('_', ' ')}: {one.text}" for name, one in self.results.items()]
        return [*own, *(f"{number:f}, {number:f}%" for number in self.numbers)]

    @property
    def texts(self) -> tuple[str, ...]:
        """Each formatted result."""
        return tuple(one.text for one in self.results.values())

    def fill_placeholders(self, words: str, figures: Mapping[str, str]) -> str:
        """Return `words` with placeholders such as `{growth}` replaced by results, or by figures as printed."""
        known = {**figures, **{name: one.text for name, one in self.results.items()}}
        return _PLACE.sub(lambda found: known.get(found[1], found[0]), words)


def quoted_name(name: str) -> str:
    """Return a name for a message to the model; names that may contain text of a filing are not repeated."""
    return f"`{name}`" if _is_name(name) else "a figure"


def _is_name(name: str) -> bool:
    return name.isidentifier() and name.isascii() and name[0] != "_" and len(name) <= _MAX_NAME_LENGTH


def placeholders_in(words: str) -> list[str]:
    """Return the names of placeholders that remain."""
    return _PLACE.findall(words)


def evaluate_calculations(
    figures: Sequence[QuotedFigure],
    calculations: Sequence[Calculation],
    question: str,
    executor: ProgramExecutor,
    decimals: int | None = None,
) -> CalculationResults:
    """Compute the calculations of a reply, whose figures are known to be in their passages.

    They may use figures, earlier results and numbers of the question. Results have the usual `decimals` by default.

    Raises:
        ValueError: A calculation is invalid; the message says what to write instead.
    """
    if not calculations:
        return CalculationResults()
    values: dict[str, tuple[QuotedFigure, Decimal]] = {}
    for figure in figures:
        _require_name(figure.name, values)
        values[figure.name] = figure, quoted_amount(figure)
    own = {abs(each.value) for each in numerals_in(question)}
    rates = {each.name for each in figures if _is_rate(each)}
    known = set(values)
    used: set[str] = set()
    said: set[Decimal] = set()
    for one in calculations:
        _require_name(one.name, known)
        names, numbers = _parts_of(one.expression)
        if wrong := _inputs_fault(names, names - known, numbers - CONSTANTS - own):
            raise ValueError(f"{quoted_name(one.name)} {wrong}")
        if one.unit in _RATES and "/" in one.expression and _HUNDRED not in numbers and not names & rates:
            raise ValueError(f"{quoted_name(one.name)} is in {one.unit} and nothing in it is multiplied by 100")
        known.add(one.name)
        used |= names
        said |= numbers & own
    steps = [f"{one.name} = {printable_line(one.expression)}" for one in calculations]
    needed = {name: given for name, given in values.items() if name in used}
    lines = (*(f"{name} = {amount:f}" for name, (_, amount) in needed.items()), *steps)
    code = _code(lines, [one.name for one in calculations])
    try:
        given = executor.run(code).value
    except SandboxError as failure:
        raise ValueError(f"the calculations cannot be run: {failure.what}") from failure
    found = given if isinstance(given, list) else [given]
    values_of = zip(calculations, map(_number, found), strict=True)
    results = {one.name: Result(one.name, rounded(value, None), one.unit, decimals) for one, value in values_of}
    return CalculationResults(needed, tuple(steps), results, tuple(sorted(said)))


def _inputs_fault(names: Collection[str], unknown: Collection[str], odd: Collection[Decimal]) -> str:
    """Return what is wrong with the inputs of a calculation; empty if nothing is."""
    if unknown:
        return f"is calculated from {', '.join(map(quoted_name, sorted(unknown)))}, which `figures` does not name"
    if odd:
        told = ", ".join(f"{each:f}" for each in sorted(odd))
        return f"has {told}: neither a figure nor a constant, so quote it in `figures`"
    return "" if names else "is calculated from no figure"


def _code(lines: Iterable[str], results: Sequence[str]) -> str:
    returned = f"[{', '.join(results)}]" if len(results) > 1 else results[0]
    return "\n    ".join(("def solution():", *lines, f"return {returned}"))


def quoted_amount(figure: QuotedFigure) -> Decimal:
    """Return a figure as printed in its quote, negative if it is in brackets or after a minus there.

    Raises:
        ValueError: The quote does not contain it.
    """
    printed = next(iter(numerals_in(figure.number)), None)
    if printed is None:
        raise ValueError(f"{quoted_name(figure.name)} has no number")
    amount = -abs(printed.value) if figure.number.strip().startswith("(") else printed.value
    if numbers_not_in(printed.printed, figure.quote):
        raise ValueError(f"the quote of {quoted_name(figure.name)} does not contain its number")
    if amount < 0 and not any(each.value == amount for each in numerals_in(figure.quote)):
        raise ValueError(f"{quoted_name(figure.name)} is not printed below zero: write it as it is printed")
    return amount


def _require_name(name: str, taken: Collection[str]) -> None:
    if not _is_name(name) or keyword.iskeyword(name) or name in CALLS or name == "solution":
        raise ValueError("a figure or a result has a name that cannot be used: use small letters, digits and _")
    if name in taken:
        raise ValueError(f"{quoted_name(name)} is named twice")


def _parts_of(expression: str) -> tuple[set[str], set[Decimal]]:
    """Return names and numbers of an expression. Raises ValueError if it is more than arithmetic."""
    if len(expression) > _MAX_EXPRESSION_LENGTH:
        raise ValueError(f"an expression has {len(expression)} characters; {_MAX_EXPRESSION_LENGTH} at most are read")
    try:
        tree = ast.parse(printable_line(expression), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("an expression cannot be read: use names, + - * / ** and brackets") from None
    names: set[str] = set()
    numbers: set[Decimal] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                continue
            case ast.Call():
                raise ValueError(f"an expression calls what it may not: {', '.join(sorted(CALLS))} only")
            case ast.Name(id=name):
                names |= {name} - CALLS
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                numbers.add(Decimal(str(value)))
            case ast.Constant():
                raise ValueError("an expression has something that is not a number")
            case _ if not isinstance(node, _NODES):
                raise ValueError("an expression is more than arithmetic")
    return names, numbers


def _is_rate(figure: QuotedFigure) -> bool:
    """Return whether a figure is a percentage, of which a mean is one too."""
    size = abs(quoted_amount(figure))
    return any(abs(each.value) == size and each.kind is NumeralKind.PERCENT for each in numerals_in(figure.quote))


def _number(value: ProgramScalar) -> float:
    return float(value) if not isinstance(value, str) else 0.0
