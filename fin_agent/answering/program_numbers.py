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
    accumulators: frozenset[str]
    """Variables updated in place (`total += ...`), which may start from 0 or 1."""
    rescaled: frozenset[str]
    """Variables multiplied or divided by a power of a thousand anywhere."""


def read_numbers(code: str) -> ProgramNumbers:
    """Return the numbers of a program. Raises ProgramError for syntax that `program_syntax` does not allow."""
    tree = program_tree(code)
    nodes = list(ast.walk(tree))
    named = [node for node in nodes if isinstance(node, ast.Name)]
    literals = sorted(_Reader(code, tree).literals(), key=lambda placed: placed[0])
    return ProgramNumbers(
        literals=tuple(literal for _, literal in literals),
        untraceable_values=tuple(_untraceable_values(nodes, code)),
        assignments=Counter(node.id for node in named if isinstance(node.ctx, ast.Store)),
        used=frozenset(node.id for node in named if isinstance(node.ctx, ast.Load)),
        accumulators=frozenset(
            node.target.id for node in nodes if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        ),
        rescaled=frozenset(name for node in nodes for name in _rescaled_names(node)),
    )


class _Reader:
    """Reads each number of a program with its surroundings."""

    def __init__(self, code: str, tree: ast.Module) -> None:
        self._code = code
        self._tree = tree
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._declarations = _declarations(code)

    def literals(self) -> Iterator[tuple[tuple[int, int], Literal]]:
        """Yield (place, number) of all numbers, also those in strings; a power of ten is one number."""
        for node in ast.walk(self._tree):
            parent = self._parents.get(node)
            if not isinstance(node, ast.expr) or isinstance(parent, ast.Expr) or self._is_scale(node):
                continue
            place = (node.lineno, node.col_offset)
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for numeral in numerals_in(node.value):
                    if numeral.kind is not NumeralKind.LABEL:
                        scale = Declaration(scale=numeral.scale)
                        yield place, Literal(numeral.value, numeral.printed, node.lineno, Role.TEXT, declared=scale)
            elif isinstance(node, ast.Constant) and isinstance(parent, ast.expr) and power_of_ten(parent):
                continue
            elif (value := power_of_ten(node)) or (isinstance(node, ast.Constant) and type(node.value) is not bool):
                yield place, self._literal(node, value or Decimal(repr(ast.literal_eval(node))))

    def _is_scale(self, node: ast.expr) -> bool:
        """Return whether a number only scales a figure: the 1_000 of `revenue = 382456 / 1_000`."""
        parent = self._parents[node]
        scaling = scaled_number(parent) if isinstance(parent, ast.BinOp) else None
        return scaling is not None and node is not scaling[0] and self._context(parent).role is Role.FIGURE

    def _literal(self, node: ast.expr, value: Decimal) -> Literal:
        around = self._context(node)
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
            closed_group=self._closed_group(node),
        )

    def _context(self, node: ast.AST) -> Literal:
        """Return what surrounds an expression, from the statement or operation that it belongs to.

        Its value is -1 if an odd number of minus signs precedes the expression, else 1.
        """
        parent = self._parents[node]
        match parent:
            case ast.Assign(targets=[ast.Name(id=name)]):
                return _surroundings(Role.FIGURE, variable=name)
            case ast.UnaryOp(op=ast.USub()):
                around = self._context(parent)
                return replace(around, value=-around.value)
            case ast.UnaryOp(op=ast.UAdd()) | ast.List() | ast.Tuple():
                return self._context(parent)
            case ast.IfExp(test=test) if node is not test:
                return self._context(parent)
            case ast.BinOp():
                return self._operand(parent, node)
            case ast.AugAssign(op=op):
                return _surroundings(_role_behind(op))
            case ast.Compare() | ast.If() | ast.IfExp() | ast.UnaryOp() | ast.Call(func=ast.Name(id="min" | "max")):
                return _surroundings(Role.COMPARED)
            case ast.Call(func=ast.Name(id="round"), args=[_, digits]) if node is digits:
                return _surroundings(Role.POSITION)
            case ast.Call(func=ast.Name(id="abs" | "round")):
                return _surroundings(self._context(parent).role)
            case ast.Subscript(slice=position) if node is position:
                return _surroundings(Role.POSITION)
            case _:
                return _surroundings(Role.FIGURE)

    def _operand(self, operation: ast.BinOp, node: ast.AST) -> Literal:
        """Return what surrounds an operand; a figure times a power of a thousand is still a figure."""
        around = self._context(operation)
        scaling = scaled_number(operation)
        if scaling is not None and around.role is Role.FIGURE and node is scaling[0]:
            return replace(around, multiplier=scaling[1])
        if around.role is Role.EXPONENT:
            return _surroundings(Role.EXPONENT)
        if node is operation.left:
            power = isinstance(operation.op, ast.Pow)
            return _surroundings(Role.FACTOR if power else _role_behind(operation.op))
        terms = _terms_of(operation.left) if isinstance(operation.op, ast.Div) else None
        return _surroundings(_role_behind(operation.op), terms=terms)

    def _closed_group(self, node: ast.expr) -> int | None:
        """Return the place of the largest operation around a number that has no variables: `5 * 7`, `abs(-5) * 7`.

        None for a number alone, one times a power of a thousand, and a reciprocal (`1 / 3`) as factor or exponent.
        """
        largest: ast.BinOp | None = None
        inner: ast.AST = node
        while isinstance(outer := self._parents[inner], ast.BinOp | ast.UnaryOp | ast.Call):
            if not _holds_only_numbers(outer):
                break
            largest, inner = outer if isinstance(outer, ast.BinOp) else largest, outer
        if largest is None:
            return None
        role = self._context(largest).role
        reciprocal = isinstance(largest.op, ast.Div) and signed_number(largest.left) == 1
        if reciprocal and role in (Role.FACTOR, Role.EXPONENT):
            return None
        if scaled_number(largest) is not None and role is Role.FIGURE:
            return None
        return largest.lineno * 10_000 + largest.col_offset


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


def signed_number(node: ast.expr) -> Decimal | None:
    """Return the value of a numeric literal with its sign, such as `-12.5`; None for anything else."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Decimal(repr(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = signed_number(operand)
            return None if number is None else -number
        case _:
            return None


def power_of_ten(node: ast.expr) -> Decimal | None:
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
    match node:
        case ast.BinOp(op=ast.Mult() | ast.Div(), left=left, right=right):
            for name, other in ((left, right), (right, left)):
                if isinstance(name, ast.Name) and _scale(other) is not None:
                    yield name.id
        case ast.AugAssign(op=ast.Mult() | ast.Div(), target=ast.Name(id=name), value=value) if _scale(value):
            yield name


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
