"""Find every number in a program with its role, by parsing the program without running it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from fin_agent.answering.numerals import NumeralKind, numerals_in
from fin_agent.answering.program_syntax import program_tree


class Role(StrEnum):
    """The role of a number in its expression."""

    FIGURE = "figure"
    """A figure: assigned, listed, returned."""
    FACTOR = "factor"
    """A factor or divisor."""
    EXPONENT = "exponent"
    ADDED = "added"
    SUBTRACTED = "subtracted"
    COMPARED = "compared"
    """An operand of a comparison, or a bound of `min` and `max`."""
    POSITION = "position"
    """An index or a number of digits."""
    TEXT = "text"
    """Part of a string in the program."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A figure's comment: `# USD millions, printed negative: 'Dividends', page 70 line 12`."""

    unit: str | None = None
    """A unit of facts, or `ratio` for a percentage that is written as a fraction: 0.216 for a printed 21.6%."""
    scale: int | None = None
    """1 if the comment names a unit without a scale. Without a unit, that of the variable's name:
    `revenue_millions`."""
    opposite: bool = False
    """Whether the printed sign is the opposite: a cash outflow written as a positive amount."""
    page: int | None = None
    """From 1, like the line."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """A number in a program."""

    value: Decimal
    """With its sign."""
    source: str
    line: int
    role: Role
    variable: str | None = None
    """The variable to which the number is assigned, as it is or times `multiplier`."""
    multiplier: Decimal = Decimal(1)
    """Power of a thousand by which the same expression multiplies it: `6489 * 1_000_000`."""
    declared: Declaration = Declaration()
    """What the program says of a figure, or the scale of a number in a string."""
    closed_group: int | None = None
    """Shared by the numbers of an expression without variables, which counts as one number."""
    terms: int | None = None
    """For a divisor: the number of terms in the sum that it divides."""


@dataclass(frozen=True, slots=True)
class ProgramNumbers:
    """All sources of numbers in a program, and the use of its variables."""

    literals: tuple[Literal, ...]
    untraceable_values: tuple[tuple[int, str, str], ...]
    """(line, expression, reason) of expressions that yield a number that is not written in the program."""
    assignments: Mapping[str, int]
    """Number of assignments per variable."""
    used: frozenset[str]
    """Variables whose value is read."""
    rescaled: frozenset[str]
    """Variables multiplied or divided by a power of a thousand anywhere."""


def read_numbers(code: str) -> ProgramNumbers:
    """Return the numbers of a program. Raises ProgramError for syntax that `program_syntax` does not allow."""
    tree = program_tree(code)
    nodes = list(ast.walk(tree))
    named = [node for node in nodes if isinstance(node, ast.Name)]
    literals = sorted(_Reader(code).read(tree, _surroundings(Role.FIGURE)), key=lambda placed: placed[0])
    return ProgramNumbers(
        literals=tuple(literal for _, literal in literals),
        untraceable_values=tuple(_untraceable_values(nodes, code)),
        assignments=Counter(node.id for node in named if isinstance(node.ctx, ast.Store)),
        used=frozenset(node.id for node in named if isinstance(node.ctx, ast.Load)),
        rescaled=frozenset(name for node in nodes for name in _rescaled_names(node)),
    )


Placed = tuple[tuple[int, int], Literal]
"""A number with its line and column."""
_OPEN = 0
"""Group of the numbers of an expression that is no number of its own: with variables, or a scaled figure."""


class _Reader:
    """Reads each number of a program with its surroundings, from the statements down."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._declarations = _declarations(code)

    def read(self, node: ast.AST, around: Literal, group: int | None = None) -> Iterator[Placed]:
        """Yield all numbers in a node, also those in strings; a power of ten is one number.

        `around` has the node's role and variable; its value is -1 after an odd number of minus signs, else 1. `group`
        is the largest operation without variables that the node is part of: `5 * 7`, `abs(-5) * 7`.
        """
        for child, of_child in self._children(node, around):
            inside = _group_of(child, of_child) if group is None and isinstance(child, ast.BinOp) else group
            value = signed_number(child) if isinstance(child, ast.Constant) else power_of_ten(child)
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                yield from _numbers_in_text(child, child.value)
            elif value is None or not isinstance(child, ast.expr):
                yield from self.read(child, of_child, inside)
            else:
                literal = replace(self._literal(child, value, of_child), closed_group=group or None)
                yield (child.lineno, child.col_offset), literal

    def _literal(self, node: ast.expr, value: Decimal, around: Literal) -> Literal:
        declared = Declaration()
        if around.role is Role.FIGURE:
            declared = self._declarations.get(node.end_lineno or node.lineno, declared)
            if declared.scale is None:
                declared = replace(declared, scale=_scale_of_name(around.variable or ""))
        return replace(
            around,
            value=value * around.value,
            source=f"{'-' if around.value < 0 else ''}{_source_of(self._code, node)}",
            line=node.lineno,
            declared=declared,
        )

    def _children(self, node: ast.AST, around: Literal) -> Iterator[tuple[ast.AST, Literal]]:
        """Yield the parts of a node that may have numbers, with what surrounds them."""
        match node:
            case ast.Expr():
                return  # a docstring
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield value, _surroundings(Role.FIGURE, variable=name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                yield operand, replace(around, value=-around.value)
            case ast.UnaryOp(op=ast.UAdd()) | ast.List() | ast.Tuple():
                yield from ((child, around) for child in ast.iter_child_nodes(node))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yield from ((body, around), (test, _surroundings(Role.COMPARED)), (orelse, around))
            case ast.BinOp():
                yield from _operands(node, around)
            case ast.Compare() | ast.If() | ast.UnaryOp() | ast.Call(func=ast.Name(id="min" | "max")):
                yield from ((child, _surroundings(Role.COMPARED)) for child in ast.iter_child_nodes(node))
            case ast.Call(func=ast.Name(id="abs" | "round"), args=[value, *digits]):
                yield value, _surroundings(around.role)
                yield from ((each, _surroundings(Role.POSITION)) for each in digits)
            case ast.Subscript(value=value, slice=position):
                yield from ((value, _surroundings(Role.FIGURE)), (position, _surroundings(Role.POSITION)))
            case _:
                yield from ((child, _surroundings(Role.FIGURE)) for child in ast.iter_child_nodes(node))


def _numbers_in_text(node: ast.Constant, text: str) -> Iterator[Placed]:
    for numeral in numerals_in(text):
        if numeral.kind is not NumeralKind.LABEL:
            scale = Declaration(scale=numeral.scale)
            told = Literal(numeral.value, numeral.printed, node.lineno, Role.TEXT, declared=scale)
            yield (node.lineno, node.col_offset), told


def _operands(operation: ast.BinOp, around: Literal) -> Iterator[tuple[ast.AST, Literal]]:
    """Yield the operands with what surrounds them; a figure times a power of a thousand is still a figure, alone."""
    scaling = scaled_number(operation)
    if scaling is not None and around.role is Role.FIGURE:
        yield scaling[0], replace(around, multiplier=scaling[1])
        return
    behind = Role.EXPONENT if around.role is Role.EXPONENT else _role_behind(operation.op)
    power = isinstance(operation.op, ast.Pow) and around.role is not Role.EXPONENT
    yield operation.left, _surroundings(Role.FACTOR if power else behind)
    divided = isinstance(operation.op, ast.Div) and around.role is not Role.EXPONENT
    yield operation.right, _surroundings(behind, terms=_terms_of(operation.left) if divided else None)


def _group_of(operation: ast.BinOp, around: Literal) -> int | None:
    """Return the place of an operation without variables; `_OPEN` for a reciprocal or a scaled figure."""
    if not _holds_only_numbers(operation):
        return None
    reciprocal = isinstance(operation.op, ast.Div) and signed_number(operation.left) == 1
    if reciprocal and around.role in (Role.FACTOR, Role.EXPONENT):
        return _OPEN
    if scaled_number(operation) is not None and around.role is Role.FIGURE:
        return _OPEN
    return operation.lineno * 10_000 + operation.col_offset


def _surroundings(role: Role, variable: str | None = None, terms: int | None = None) -> Literal:
    return Literal(Decimal(1), "", 0, role, variable, terms=terms)


def _source_of(code: str, node: ast.expr) -> str:
    return " ".join((ast.get_source_segment(code, node) or "").split())[:80]


def _role_behind(operator: ast.operator) -> Role:
    """Return the role of the right operand."""
    match operator:
        case ast.Mult() | ast.Div():
            return Role.FACTOR
        case ast.Pow():
            return Role.EXPONENT
        case ast.Add():
            return Role.ADDED
        case _:
            return Role.SUBTRACTED


_SCALES = frozenset(Decimal(1000) ** power for power in (1, 2, 3, 4))


def signed_number(node: ast.AST) -> Decimal | None:
    """Return the value of a numeric literal with its sign, such as `-12.5`; None for anything else."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Decimal(repr(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = signed_number(operand)
            return None if number is None else -number
        case _:
            return None


def power_of_ten(node: ast.AST) -> Decimal | None:
    """Return 1,000,000 for `10 ** 6`; None for anything else."""
    match node:
        case ast.BinOp(left=ast.Constant(value=10), op=ast.Pow(), right=ast.Constant(value=int(power))) if power <= 12:
            return Decimal(10) ** power
        case _:
            return None


def scaled_number(node: ast.BinOp) -> tuple[ast.expr, Decimal] | None:
    """Return (number, multiplier) for a number times or divided by a power of a thousand: `6489 * 1_000_000`."""
    times = isinstance(node.op, ast.Mult)
    if not (times or isinstance(node.op, ast.Div)):
        return None
    for figure, scale in ((node.left, _scale(node.right)), (node.right, _scale(node.left) if times else None)):
        if scale is not None and signed_number(figure) is not None:
            return figure, scale if times else 1 / scale
    return None


def _scale(node: ast.expr) -> Decimal | None:
    number = power_of_ten(node) or signed_number(node)
    return number if number in _SCALES else None


def _rescaled_names(node: ast.AST) -> Iterator[str]:
    """Yield the variables that a node multiplies or divides by a power of a thousand."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        for name, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(name, ast.Name) and _scale(other) is not None:
                yield name.id


def _holds_only_numbers(node: ast.AST) -> bool:
    """Return whether an expression has no variables: `5 * 7`, `abs(-5) * 7`."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _holds_only_numbers(left) and _holds_only_numbers(right)
        case ast.UnaryOp(operand=operand) | ast.Call(func=ast.Name(id="abs"), args=[operand]):
            return _holds_only_numbers(operand)
        case _:
            return isinstance(node, ast.Constant)


def _terms_of(node: ast.expr) -> int | None:
    """Return the number of terms of a sum: 3 for `a + b + c` and for `sum([a, b, c])`."""
    match node:
        case ast.Call(func=ast.Name(id="sum"), args=[ast.List(elts=terms) | ast.Tuple(elts=terms)]):
            return len(terms)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return (_terms_of(left) or 1) + (_terms_of(right) or 1)
        case _:
            return None


COMPUTED = "a number is computed from constants"
_CONSTANTS = frozenset(map(Decimal, (1, 2, 3, 4, 12, 52, 100, 360, 365, 366)))


def _untraceable_values(nodes: list[ast.AST], code: str) -> Iterator[tuple[int, str, str]]:
    """Yield expressions that make a new number of a figure: rounded, in other digits, or cancelled out."""
    for node in nodes:
        reason = ""
        match node:
            case ast.Constant(value=int()) if _source_of(code, node)[:2].lower() in ("0x", "0o", "0b"):
                reason = "a figure is written as printed, in decimal digits"
            case ast.Call(func=ast.Name(id="round"), args=[first, *_]) if signed_number(first) is not None:
                reason = "a figure is used as printed, not rounded"
            case ast.BinOp(op=ast.Sub() | ast.Div(), left=left, right=right) if ast.dump(left) == ast.dump(right):
                if signed_number(left) is None:
                    reason = "a figure less itself, or over itself, is always the same number"
            case ast.BinOp(op=ast.Mult() | ast.Add(), left=ast.BinOp(op=inner, right=first), right=second) if (
                isinstance(inner, type(node.op))
            ):
                if signed_number(first) in _CONSTANTS and signed_number(second) in _CONSTANTS:
                    reason = COMPUTED
        if reason and isinstance(node, ast.expr):
            yield node.lineno, _source_of(code, node), reason


_SCALE_WORDS = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_DECLARATION = re.compile(
    r"#\s*(?:in\s+)?(?:(?P<dollars>USD\b|US\$|\$|dollars?\b)(?P<each>\s+per\s+(?:\w+\s+)?share\b)?|"
    r"(?P<unit>(?:shares|count|ratio|percent)\b(?!\s+point)))?"
    r"\s*(?:in\s+)?(?:(?P<scale>thousand|million|billion)s?\b|x\s+(?P<times>10+)\b)?",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\bpage\s+(?P<page>\d{1,5})(?:,?\s+line\s+(?P<line>\d{1,5}))?\b", re.IGNORECASE)


def _declarations(code: str) -> dict[int, Declaration]:
    """Return the declaration in the comment of each line.

    Unit and scale start the comment (`# USD millions`, `# percent`, `# ratio`). The last page named is the place, so
    that a label that mentions pages is not mistaken for it.
    """
    found: dict[int, Declaration] = {}
    for token in tokenize.generate_tokens(io.StringIO(f"{code}\n\n").readline):
        if token.type == tokenize.COMMENT and (said := _DECLARATION.match(token.string)):
            unit = said["unit"].lower() if said["unit"] else None
            if said["dollars"]:
                unit = "USD per share" if said["each"] else "USD"
            scale = _SCALE_WORDS[said["scale"].lower()] if said["scale"] else int(said["times"] or 0)
            places = _PLACE.findall(token.string)
            page, line = places[-1] if places else ("", "")
            found[token.start[0]] = Declaration(
                unit=unit,
                scale=scale or (1 if unit else None),
                opposite="printed negative" in token.string.lower(),
                page=int(page) if page else None,
                line=int(line) if line else None,
            )
    return found


def _scale_of_name(variable: str) -> int | None:
    """Return the scale in a variable's name: 1,000,000 for `revenue_millions`."""
    words = [word.removesuffix("s") for word in reversed(variable.lower().split("_"))]
    return next((_SCALE_WORDS[word] for word in words if word in _SCALE_WORDS), None)
