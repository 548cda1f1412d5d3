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
from fin_agent.answering.sandbox import ProgramExecutor
from fin_agent.errors import SandboxError
from fin_agent.evidence.intent import OutputUnit

CONSTANTS = frozenset(map(Decimal, (0, 1, 2, 3, 4, 10, 12, 52, 53, 90, 100, 360, 365, 1_000, 10_000, 10**6, 10**9)))
_HUNDRED = Decimal(100)
_RATES = ("percent", "percentage points")
_MAX_EXPRESSION_LENGTH = 400
_MAX_NAME_LENGTH = 60
PLACEHOLDER = re.compile(r"\{\s*([A-Za-z]\w*)\s*\}", re.ASCII)
_NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Load, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.Pow, ast.USub, ast.UAdd,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one calculation."""

    value: float
    unit: OutputUnit | None
    text: str
    """The formatted value: `12.5%`."""


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
        """Return the Python program of the results, with the source of each figure (`place_of`) in a comment."""
        given = (f"{name} = {amount:f}  # {place_of(figure)}" for name, (figure, amount) in self.figures.items())
        return _code((*given, *self.steps), tuple(self.results))

    @property
    def lines(self) -> list[str]:
        """A line for each result and each number of the question in it, which may be quoted like a passage."""
        own = [f"{name.replace('_', ' ')}: {one.text}" for name, one in self.results.items()]
        return [*own, *(f"{number:f}, {number:f}%" for number in self.numbers)]

    def fill_placeholders(self, words: str, figures: Mapping[str, str]) -> str:
        """Return `words` with placeholders such as `{growth}` replaced by results, or by figures as printed."""
        known = {**figures, **{name: one.text for name, one in self.results.items()}}
        return PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), words)


def quoted_name(name: str) -> str:
    """Return a name for a message to the model; names that may contain text of a filing are not repeated."""
    return f"`{name}`" if _is_name(name) else "a figure"


def _is_name(name: str) -> bool:
    return name.isidentifier() and name.isascii() and name[0] != "_" and len(name) <= _MAX_NAME_LENGTH


def evaluate_calculations(
    figures: Sequence[QuotedFigure],
    calculations: Sequence[Calculation],
    question: str,
    executor: ProgramExecutor,
    decimals: int | None = None,
) -> CalculationResults:
    """Compute the calculations of a reply from figures of passages, earlier results and numbers of the question.

    Raises ValueError if one is invalid; the message says what to write instead.
    """
    if not calculations:
        return CalculationResults()
    values: dict[str, tuple[QuotedFigure, Decimal]] = {}
    for figure in figures:
        _require_name(figure.name, values)
        values[figure.name] = figure, quoted_amount(figure)
    own = {abs(each.value) for each in numerals_in(question)}
    rates = {each.name for each in figures if _is_rate(each)}
    used = _inputs_of(calculations, set(values), rates, own)
    needed = {name: given for name, given in values.items() if name in used}
    steps = tuple(f"{one.name} = {printable_line(one.expression)}" for one in calculations)
    lines = (*(f"{name} = {amount:f}" for name, (_, amount) in needed.items()), *steps)
    try:
        given = executor.run(_code(lines, [one.name for one in calculations])).value
    except SandboxError as failure:
        raise ValueError(f"the calculations cannot be run: {failure.what}") from failure
    results: dict[str, Result] = {}
    for one, amount in zip(calculations, given if isinstance(given, list) else [given], strict=True):
        value = rounded(float(amount), None)
        results[one.name] = Result(value, one.unit, format_amount(value, one.unit or "count", decimals))
    return CalculationResults(needed, steps, results, tuple(sorted(own & used)))


def _inputs_of(
    calculations: Sequence[Calculation], known: set[str], rates: set[str], own: set[Decimal]
) -> set[str | Decimal]:
    """Return the names and numbers in calculations over `known` names. Raises ValueError if one is not allowed."""
    used: set[str | Decimal] = set()
    for one in calculations:
        _require_name(one.name, known)
        names, numbers = _parts_of(one.expression)
        wrong = ""
        if unknown := names - known:
            wrong = f"is calculated from {', '.join(map(quoted_name, sorted(unknown)))}, which `figures` does not name"
        elif odd := numbers - CONSTANTS - own:
            told = ", ".join(f"{each:f}" for each in sorted(odd))
            wrong = f"has {told}: neither a figure nor a constant, so quote it in `figures`"
        elif not names:
            wrong = "is calculated from no figure"
        elif one.unit in _RATES and "/" in one.expression and _HUNDRED not in numbers and not names & rates:
            wrong = f"is in {one.unit} and nothing in it is multiplied by 100"
        if wrong:
            raise ValueError(f"{quoted_name(one.name)} {wrong}")
        known.add(one.name)
        used.update(names, numbers)
    return used


def _code(lines: Iterable[str], results: Sequence[str]) -> str:
    returned = f"[{', '.join(results)}]" if len(results) > 1 else results[0]
    return "\n    ".join(("def solution():", *lines, f"return {returned}"))


def quoted_amount(figure: QuotedFigure) -> Decimal:
    """Return a figure as its quote prints it, negative in brackets or after a minus; ValueError if it does not."""
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
    nodes = list(ast.walk(tree))
    if not all(isinstance(node, _NODES) for node in nodes):
        raise ValueError("an expression is more than arithmetic")
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    if not all(isinstance(each, ast.Name) and each.id in CALLS for each in called):
        raise ValueError(f"an expression calls what it may not: {', '.join(sorted(CALLS))} only")
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    if not all(type(value) in (int, float) for value in values):
        raise ValueError("an expression has something that is not a number")
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - CALLS
    return names, {Decimal(str(value)) for value in values}


def _is_rate(figure: QuotedFigure) -> bool:
    """Return whether a figure is a percentage, of which a mean is one too."""
    size = abs(quoted_amount(figure))
    return any(abs(each.value) == size and each.kind is NumeralKind.PERCENT for each in numerals_in(figure.quote))
