"""Find every number in a program with its role, by parsing the program without running it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
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
    """A unit of facts: `USD`, `USD per share`, `shares`, `percent`, `ratio`, `count`."""
    scale: int | None = None
    """1 if the comment names a unit without a scale; None if it names neither."""
    opposite: bool = False
    """Whether the printed sign is the opposite: a cash outflow written as a positive amount."""
    page: int | None = None
    """From 1."""
    line: int | None = None
    """From 1."""

    @property
    def ratio(self) -> bool:
        """Whether a printed 21.6% is written as 0.216."""
        return self.unit == "ratio"


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
    declared_scale: int | None = None
    """From the comment of its line (`# USD millions`) or the name of its variable (`revenue_millions`)."""
    declared: Declaration | None = None
    """The comment of its line, if it describes a figure."""
    closed_group: int | None = None
    """Shared by the numbers of an expression without variables, which counts as one number."""
    terms: int | None = None
    """For a divisor: the number of terms in the sum that it divides."""


@dataclass(frozen=True, slots=True)
class UntraceableValue:
    """An expression that yields a number that is not written in the program."""

    line: int
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProgramNumbers:
    """All sources of numbers in a program, and the use of its variables."""

    literals: tuple[Literal, ...] = ()
    untraceable_values: tuple[UntraceableValue, ...] = ()
    assignments: Mapping[str, int] = field(default_factory=dict)
    """Number of assignments per variable."""
    used: frozenset[str] = frozenset()
    """Variables whose value is read."""
    accumulators: frozenset[str] = frozenset()
    """Variables updated in place (`total += ...`), which may start from 0 or 1."""
    rescaled: frozenset[str] = frozenset()
    """Variables multiplied or divided by a power of a thousand anywhere."""


def read_numbers(code: str) -> ProgramNumbers:
    """Return the numbers of a program. Raises ProgramError for syntax that `program_syntax` does not allow."""
    tree = program_tree(code)
    reader = _Reader(code, tree)
    nodes = list(ast.walk(tree))
    named = [node for node in nodes if isinstance(node, ast.Name)]
    return ProgramNumbers(
        literals=tuple(reader.literals),
        untraceable_values=(*reader.untraceable_values, *_untraceable_values(tree, code)),
        assignments=Counter(node.id for node in named if isinstance(node.ctx, ast.Store)),
        used=frozenset(node.id for node in named if isinstance(node.ctx, ast.Load)),
        accumulators=frozenset(
            node.target.id for node in nodes if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        ),
        rescaled=frozenset(name for node in nodes for name in _rescaled_names(node)),
    )


@dataclass(slots=True)
class _Place:
    """The context of an expression, passed down the tree."""

    role: Role = Role.FIGURE
    variable: str | None = None
    group: int | None = None
    multiplier: Decimal = field(default=Decimal(1))
    terms: int | None = None
    negative: bool = False
    """Whether an odd number of minus signs precedes it."""

    def replace(self, role: Role, terms: int | None = None) -> _Place:
        return _Place(role, None, self.group, Decimal(1), terms)


class _Reader:
    """Walks a program once and records its numbers."""

    def __init__(self, code: str, tree: ast.Module) -> None:
        self.literals: list[Literal] = []
        self.untraceable_values: list[UntraceableValue] = []
        self._lines = code.splitlines()
        self._declarations = _declarations(code)
        self._groups = 0
        for statement in tree.body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef(body=body):
                for statement in body:
                    self._statement(statement)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._expression(value, _Place(variable=name))
            case ast.AugAssign(op=op, value=value):
                self._expression(value, _Place(role=_right_role(op)))
            case ast.If(test=test, body=body, orelse=orelse):
                self._expression(test, _Place(Role.COMPARED))
                for statement in (*body, *orelse):
                    self._statement(statement)
            case ast.Return(value=value) if value is not None:
                self._expression(value, _Place())

    def _expression(self, node: ast.expr, place: _Place) -> None:
        match node:
            case ast.Constant():
                self._constant(node, place)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                self._expression(operand, place)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self._expression(operand, replace(place, negative=not place.negative))
            case ast.UnaryOp(operand=operand):
                self._expression(operand, _Place(Role.COMPARED))
            case ast.BinOp():
                self._arithmetic(node, place)
            case ast.Compare(left=left, comparators=others):
                for side in (left, *others):
                    self._expression(side, _Place(Role.COMPARED))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._expression(test, _Place(Role.COMPARED))
                self._expression(body, place)
                self._expression(orelse, place)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                for number, argument in enumerate(arguments):
                    self._expression(argument, _place_of_argument(name, number, place))
            case ast.Subscript(value=value, slice=position):
                self._expression(value, _Place())
                self._expression(position, _Place(Role.POSITION))
            case ast.List(elts=members) | ast.Tuple(elts=members):
                for member in members:
                    self._expression(member, _Place(place.role, place.variable))
            case ast.BoolOp(values=values):
                for value in values:
                    self._expression(value, _Place())

    def _constant(self, node: ast.Constant, place: _Place) -> None:
        value = node.value
        if isinstance(value, str):
            number = _number_of_text(value)
            if number is not None:
                self._note(node, number, _Place())
            else:
                self._text(node, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if self._source(node)[:2].lower() in ("0x", "0o", "0b"):
                reason = "a figure is written as printed, in decimal digits"
                self.untraceable_values.append(UntraceableValue(node.lineno, self._source(node), reason))
            self._note(node, Decimal(repr(value)), place)

    def _text(self, node: ast.Constant, text: str) -> None:
        self.literals += [
            Literal(numeral.value, numeral.printed, node.lineno, Role.TEXT, declared_scale=numeral.scale)
            for numeral in numerals_in(text)
            if numeral.kind is not NumeralKind.LABEL
        ]

    def _arithmetic(self, node: ast.BinOp, place: _Place) -> None:
        scaling = scaled_number(node)
        if scaling is not None and place.role is Role.FIGURE:
            figure, multiplier = scaling
            scaled = _Place(Role.FIGURE, place.variable, place.group, multiplier, negative=place.negative)
            self._expression(figure, scaled)
            return
        power = power_of_ten(node)
        if power is not None:
            self._note(node, power, place)
            return
        if place.group is None and _holds_only_numbers(node):
            trusted = place.role in (Role.FACTOR, Role.EXPONENT) and _is_one_over(node)
            self._groups += 0 if trusted else 1
            place = place if trusted else _Place(place.role, place.variable, self._groups)
        if place.role is Role.EXPONENT:
            left = right = place.replace(Role.EXPONENT)
        else:
            left = place.replace(Role.FACTOR if isinstance(node.op, ast.Pow) else _right_role(node.op))
            right = place.replace(_right_role(node.op), _terms_of(node.left) if isinstance(node.op, ast.Div) else None)
        self._expression(node.left, left)
        self._expression(node.right, right)

    def _note(self, node: ast.expr, value: Decimal, place: _Place) -> None:
        declared = self._declarations.get(node.end_lineno or node.lineno, Declaration())
        scale = declared.scale
        if scale is None and place.variable is not None:
            scale = _scale_of_name(place.variable)
        self.literals.append(
            Literal(
                value=-value if place.negative else value,
                source=f"-{self._source(node)}" if place.negative else self._source(node),
                line=node.lineno,
                role=place.role,
                variable=place.variable,
                multiplier=place.multiplier,
                declared_scale=scale if place.role is Role.FIGURE else None,
                declared=declared if place.role is Role.FIGURE else None,
                closed_group=place.group,
                terms=place.terms,
            )
        )

    def _source(self, node: ast.expr) -> str:
        line = self._lines[node.lineno - 1].encode()
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return line[node.col_offset : end].decode(errors="replace")[:80]


def _place_of_argument(name: str, number: int, place: _Place) -> _Place:
    if name == "round":
        return _Place(Role.POSITION) if number else place.replace(place.role)
    if name == "abs":
        return place.replace(place.role)
    return _Place(Role.COMPARED) if name in ("min", "max") else _Place()


def _right_role(operator: ast.operator) -> Role:
    match operator:
        case ast.Mult() | ast.Div():
            return Role.FACTOR
        case ast.Pow():
            return Role.EXPONENT
        case ast.Add():
            return Role.ADDED
        case _:
            return Role.SUBTRACTED


def _is_one_over(node: ast.BinOp) -> bool:
    """Return whether it is a reciprocal such as `1 / 3`."""
    return isinstance(node.op, ast.Div) and signed_number(node.left) == 1 and isinstance(node.right, ast.Constant)


SCALES = frozenset(Decimal(1000) ** power for power in (1, 2, 3, 4))


def signed_number(node: ast.expr) -> Decimal | None:
    """Return the value of a numeric literal with its sign, such as `-12.5`; None for anything else."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
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
    if not isinstance(node.op, ast.Mult | ast.Div):
        return None
    for figure, scale in ((node.left, _scale(node.right)), (node.right, _scale(node.left))):
        if scale is None or signed_number(figure) is None:
            continue
        if isinstance(node.op, ast.Mult):
            return figure, scale
        if figure is node.left:
            return figure, 1 / scale
    return None


def _scale(node: ast.expr) -> Decimal | None:
    number = power_of_ten(node) or signed_number(node)
    return number if number in SCALES else None


def _rescaled_names(node: ast.AST) -> Iterator[str]:
    """Yield the variables that a node multiplies or divides by a power of a thousand."""
    match node:
        case ast.BinOp(op=ast.Mult() | ast.Div(), left=left, right=right):
            for name, other in ((left, right), (right, left)):
                if isinstance(name, ast.Name) and _scale(other) is not None:
                    yield name.id
        case ast.AugAssign(op=ast.Mult() | ast.Div(), target=ast.Name(id=name), value=value) if (
            _scale(value) is not None
        ):
            yield name


def _holds_only_numbers(node: ast.expr) -> bool:
    """Return whether an expression has no variables: `5 * 7`, `abs(-5) * 7`."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _holds_only_numbers(left) and _holds_only_numbers(right)
        case ast.UnaryOp(operand=operand):
            return _holds_only_numbers(operand)
        case ast.Call(func=ast.Name(id="abs"), args=[argument]):
            return _holds_only_numbers(argument)
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


def _number_of_text(text: str) -> Decimal | None:
    """Return the value of a string that is only a number, ignoring dollar and percent signs and commas."""
    bare = text.strip().lstrip("$").rstrip("%").replace(",", "").replace("_", "")
    try:
        number = Decimal(bare)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


_COUNTERS = frozenset(map(Decimal, (2, 3, 4, 12, 52, 360, 365, 366)))


def _untraceable_values(tree: ast.Module, code: str) -> Iterator[UntraceableValue]:
    """Yield expressions that produce a new number from figures that cancel out or from constants alone."""
    # Terms of a larger sum or product are judged together with it.
    inner = {
        side
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and _kind(node) is not None
        for side in (node.left, node.right)
        if _kind(side) == _kind(node)
    }
    for node in ast.walk(tree):
        reasons: list[str] = []
        match node:
            case ast.Call(func=ast.Name(id="round"), args=[first, *_]) if signed_number(first) is not None:
                reasons.append("a figure is used as printed, not rounded")
            case ast.BinOp(op=op, left=left, right=right):
                if (
                    isinstance(op, ast.Sub | ast.Div)
                    and signed_number(left) is None
                    and ast.dump(left) == ast.dump(right)
                ):
                    reasons.append("a figure less itself, or over itself, is always the same number")
                if node not in inner and _is_built_from_constants(node):
                    reasons.append("a number is computed from constants")
        source = " ".join((ast.get_source_segment(code, node) or "").split())[:80] if reasons else ""
        yield from (UntraceableValue(getattr(node, "lineno", 1), source, reason) for reason in reasons)


def _is_built_from_constants(node: ast.BinOp) -> bool:
    """Return whether a product or sum builds a number: `total * 3 * 4` does, `365 * total / 2` does not."""
    parts = list(_parts(node))
    numbers = [(abs(number), above) for part, above in parts if (number := signed_number(part)) is not None]
    if isinstance(node.op, ast.Add | ast.Sub):
        return len(numbers) < len(parts) and sum(number in (1, 100) for number, _ in numbers) > 1
    counters = [above for number, above in numbers if number in _COUNTERS]
    hundreds = [above for number, above in numbers if number == 100]
    return any(each.count(above) > 1 for each in (counters, hundreds) for above in (True, False))


def _parts(node: ast.expr, above: bool = True) -> Iterator[tuple[ast.expr, bool]]:
    """Yield (term, whether it is added or multiplied, not divided by); a mean is one term."""
    kind = _kind(node)
    if kind is None or not isinstance(node, ast.BinOp):
        yield node, above
        return
    for side, place in ((node.left, above), (node.right, above is not isinstance(node.op, ast.Div))):
        if _kind(side) == kind and not _is_mean(side):
            yield from _parts(side, place)
        else:
            yield side, place


def _is_mean(node: ast.expr) -> bool:
    """Return whether a node is a mean such as `(a + b) / 2`."""
    match node:
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            terms = _terms_of(left)
            return terms is not None and signed_number(right) == terms
        case _:
            return False


def _kind(node: ast.expr) -> str | None:
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return "sum"
        case ast.BinOp(op=ast.Mult() | ast.Div()):
            return "product"
        case _:
            return None


_SCALE_WORDS = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_DECLARATION = re.compile(
    r"#\s*(?:in\s+)?(?:(?P<dollars>USD\b|US\$|\$|dollars?\b)(?P<each>\s+per\s+(?:\w+\s+)?share\b)?|"
    r"(?P<unit>(?:shares|count|ratio|percent)\b(?!\s+point)))?"
    r"\s*(?:in\s+)?(?:(?P<scale>thousand|million|billion)s?\b|x\s+(?P<times>10+)\b)?",
    re.IGNORECASE,
)
_OPPOSITE_SIGN = re.compile(r"\bprinted negative\b", re.IGNORECASE)
_PLACE = re.compile(r"\bpage\s+(?P<page>\d{1,5})(?:,?\s+line\s+(?P<line>\d{1,5}))?\b", re.IGNORECASE)


def _declarations(code: str) -> dict[int, Declaration]:
    """Return the declaration in the comment of each line.

    Unit and scale start the comment (`# USD millions`, `# percent`, `# ratio`). The last page named is the place, so
    that a label that mentions pages is not mistaken for it.
    """
    found: dict[int, Declaration] = {}
    for line, comment in _comments(code):
        declared = _DECLARATION.match(comment)
        unit, scale = (None, None) if declared is None else _unit_and_scale(declared)
        places = list(_PLACE.finditer(comment))
        place = places[-1] if places else None
        found[line] = Declaration(
            unit=unit,
            scale=scale,
            opposite=_OPPOSITE_SIGN.search(comment) is not None,
            page=int(place["page"]) if place else None,
            line=int(place["line"]) if place and place["line"] else None,
        )
    return found


def _comments(code: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, IndentationError):
        return


def _unit_and_scale(declared: re.Match[str]) -> tuple[str | None, int | None]:
    unit = declared["unit"].lower() if declared["unit"] else None
    if declared["dollars"]:
        unit = "USD per share" if declared["each"] else "USD"
    if declared["scale"]:
        return unit, _SCALE_WORDS[declared["scale"].lower()]
    if declared["times"]:
        return unit, int(declared["times"])
    return unit, None if unit is None else 1


def _scale_of_name(variable: str) -> int | None:
    """Return the scale in a variable's name: 1,000,000 for `revenue_millions`."""
    for word in reversed(variable.lower().split("_")):
        if word.removesuffix("s") in _SCALE_WORDS:
            return _SCALE_WORDS[word.removesuffix("s")]
    return None
