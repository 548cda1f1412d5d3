"""No number without a source: trace every number of a program to a filing, the question or a known constant."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from itertools import zip_longest

from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in
from fin_agent.answering.program_syntax import ProgramError, program_tree
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.runs import grouped


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
                for numeral in numerals_in(child.value):
                    if numeral.kind is not NumeralKind.LABEL:
                        scale = Declaration(scale=numeral.scale)
                        told = Literal(numeral.value, numeral.printed, child.lineno, Role.TEXT, declared=scale)
                        yield (child.lineno, child.col_offset), told
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
                # The scale in the variable's name: 1,000,000 for `revenue_millions`.
                words = (word.removesuffix("s") for word in reversed((around.variable or "").lower().split("_")))
                named = next((scale for word in words if (scale := _SCALE_WORDS.get(word))), None)
                declared = replace(declared, scale=named)
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


def _operands(operation: ast.BinOp, around: Literal) -> Iterator[tuple[ast.AST, Literal]]:
    """Yield the operands with what surrounds them; a figure times a power of a thousand is still a figure, alone."""
    scaling = scaled_number(operation)
    if scaling is not None and around.role is Role.FIGURE:
        yield scaling[0], replace(around, multiplier=scaling[1])
        return
    behind = Role.EXPONENT if around.role is Role.EXPONENT else _ROLES_BEHIND[type(operation.op)]
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


_ROLES_BEHIND: Mapping[type[ast.operator], Role] = {
    ast.Mult: Role.FACTOR,
    ast.Div: Role.FACTOR,
    ast.Pow: Role.EXPONENT,
    ast.Add: Role.ADDED,
    ast.Sub: Role.SUBTRACTED,
}
"""The role of the right operand."""


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


class Source(StrEnum):
    """The kind of source of a number."""

    FACT = "fact"
    QUESTION = "question"
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Binding:
    """A number of a program with its source."""

    literal: str
    """As written in the program."""
    line: int
    variable: str | None
    source: Source
    fact: Fact | None = None
    scale: Decimal | None = None
    """Factor from the variable's value to base units; None if the source is not a fact."""

    @property
    def where(self) -> str:
        """The source: `page 70: Net revenues, FY2019`, `question` or `constant`; pages count from 1."""
        if self.fact is None:
            return self.source.value
        period = self.fact.period
        quarter = f"Q{period.quarter} " if period.quarter else ""
        return f"page {self.fact.page + 1}: {self.fact.label}, {quarter}FY{period.fiscal_year}"


@dataclass(frozen=True, slots=True)
class Unbound:
    """A number without a source, or an expression that makes one."""

    literal: str
    line: int
    variable: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """The sources of all numbers of a program."""

    bindings: tuple[Binding, ...]
    unbound: tuple[Unbound, ...]

    @property
    def ok(self) -> bool:
        """Whether every number has a source."""
        return not self.unbound

    def require_sources(self) -> None:
        """Raise ProgramError if a number of the program has no source."""
        if self.unbound:
            named = "; ".join(f"line {each.line}: {each.literal}: {each.reason}" for each in self.unbound)
            raise ProgramError(
                f"numbers of the program have no source: {named}",
                remedy="Use figures of the evidence as printed, one variable each with its unit, page and line",
                line=self.unbound[0].line,
            )


def check_provenance(
    code: str,
    facts: Sequence[Fact],
    question: str,
    expected: Mapping[str, Fact] | None = None,
    *,
    scale: int | None = None,
    constants: Sequence[Decimal] | None = None,
) -> Provenance:
    """Trace every number of a program to a source, by its role; a program that cannot be parsed is unbound as a whole.

    - A number that stands for a figure (assigned, listed, returned) must be a fact's amount, or an amount or percentage
      of the question: as printed, in base units, or in the unit that the line's comment (`# USD millions`) or the
      variable's name (`revenue_millions`) declares. Unit, scale, page, line, and the year in the name must be right.
      The sign is the printed one unless the comment has `printed negative`.
    - A constant is trusted only in its role (`_is_known_constant`); one of constants alone (`5 * 7`) is a number.
    - Facts of one unit must enter at one scale, unless the program rescales the variable by a power of a thousand.

    Args:
        code: The program.
        facts: Facts of the evidence.
        question: The question, whose numbers may be used.
        expected: Variable -> fact, if the figures are known: each variable must be assigned its fact as printed, once,
            and be used; no other figure may enter, and only a single figure may be rescaled.
        scale: The scale at which all expected figures enter; None for any of theirs.
        constants: All other numbers of the formula, in reading order.
    """
    try:
        numbers = read_numbers(code)
    except ProgramError as refused:
        return Provenance((), (Unbound("", refused.line or 1, None, refused.what),))
    figures = expected or {}
    sources = _NumberSources(facts, question, figures, scale or 1)
    judged = [(literal, sources.judge(literal)) for literal in numbers.literals]
    judged = _at_one_scale(_without_unsupported_groups(judged), numbers, figures, scale)
    unbound = [verdict for _, verdict in judged if isinstance(verdict, Unbound)]
    unbound += [
        Unbound(source, line, None, reason)
        for line, source, reason in numbers.untraceable_values
        if reason != COMPUTED or not sources.asks(source)
    ]
    unbound += (*_misused_variables(numbers, figures), *_other_constants(numbers, figures, constants))
    unbound.sort(key=lambda each: (each.line, each.literal, each.reason))
    return Provenance(tuple(verdict for _, verdict in judged if isinstance(verdict, Binding)), tuple(unbound))


def constants_of(code: str, figures: Collection[str]) -> tuple[Decimal, ...]:
    """Return the numbers of a program that are not assigned to these variables, in reading order: 100, then 4."""
    return tuple(literal.value for literal in _non_figure_literals(read_numbers(code), figures))


def _non_figure_literals(numbers: ProgramNumbers, figures: Collection[str]) -> list[Literal]:
    return [
        literal
        for literal in numbers.literals
        if literal.role is not Role.TEXT and not (literal.role is Role.FIGURE and literal.variable in figures)
    ]


def _misused_variables(numbers: ProgramNumbers, figures: Mapping[str, Fact]) -> Iterator[Unbound]:
    assigned = {literal.variable for literal in numbers.literals if literal.role is Role.FIGURE}
    for name, fact in sorted(figures.items(), key=lambda pair: pair[0]):
        what = f"`{name}` stands for {fact.label}"
        if name not in assigned:
            yield Unbound(name, 1, name, f"{what} but is never assigned its figure")
        elif numbers.assignments[name] > 1:
            yield Unbound(name, 1, name, f"{what} but is assigned {numbers.assignments[name]} times")
        elif name not in numbers.used:
            yield Unbound(name, 1, name, f"{what} but is not used")


def _other_constants(
    numbers: ProgramNumbers, figures: Collection[str], formula: Sequence[Decimal] | None
) -> Iterator[Unbound]:
    """Yield the first number in which the program differs from the formula, else those that it has more or less."""
    found = _non_figure_literals(numbers, figures) if formula is not None else ()
    for literal, value in zip_longest(found, formula or ()):
        if literal is None:
            yield Unbound(f"{value:f}", 1, None, f"the formula's {value:f} is left out")
        elif value is None:
            yield _unbound(literal, "the formula has no such number")
        elif literal.value != value:
            yield _unbound(literal, f"the formula has {value:f} here")
            return


_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_Verdict = Binding | Unbound
_YEAR_WORDS = frozenset(("year", "years", "fy", "period", "periods", "fiscal", "y"))
_COUNT_WORDS = frozenset(("n", "num", "number", "count", "year", "years", "period", "periods", "quarters", "months"))


class _NumberSources:
    """The facts, question and constants that can be the source of a program's numbers."""

    def __init__(self, facts: Sequence[Fact], question: str, expected: Mapping[str, Fact], scale: int) -> None:
        self._expected = expected
        known_facts = (*facts, *expected.values())
        self._by_amount = grouped((abs(fact.amount), fact) for fact in known_facts)
        self._by_value = grouped((abs(fact.value), fact) for fact in known_facts)
        asked = numerals_in(question)
        self._amounts = frozenset(_amounts(asked, scale))
        self._asked = {abs(numeral.value) for numeral in asked}
        self._spans = {abs(numeral.value) for numeral in asked if numeral.kind is NumeralKind.SPAN}
        years = {numeral.value for numeral in asked if numeral.kind is NumeralKind.YEAR}
        known = {Decimal(fact.period.fiscal_year) for fact in (expected.values() or facts)}
        dated = years if len(years) > 1 else known
        self._exponents = {Decimal(0), Decimal(1), *self._spans, *(later - year for later in dated for year in dated)}
        self._years = years | {Decimal(fact.period.fiscal_year) for fact in known_facts}
        self._years |= {Decimal(fact.period.end.year) for fact in facts if fact.period.end}

    def asks(self, source: str) -> bool:
        """Return whether all numbers of an expression are in the question: `revenue * 4 * 2`."""
        return all(Decimal(number) in self._asked for number in _NUMBER.findall(source))

    def judge(self, literal: Literal) -> _Verdict:
        stands_for = self._expected.get(literal.variable or "")
        if literal.role is Role.FIGURE and stands_for is not None:
            return self._as_expected(literal, stands_for)
        if self._is_known_constant(literal):
            return _binding(literal, Source.CONSTANT)
        if not self._expected or literal.role is Role.TEXT:
            fact = self._fact(literal)
            if fact is not None:
                return fact
        if self._is_in_question(literal):
            return _binding(literal, Source.QUESTION)
        return _unbound(literal, self._reason(literal))

    def _as_expected(self, literal: Literal, fact: Fact) -> _Verdict:
        scale = _scale_that_fits(literal, fact)
        as_printed = literal.multiplier == 1 or literal.declared.scale in (None, fact.scale)
        if scale is not None and as_printed:  # the comment has the printed unit, not that of a product
            return _binding(literal, Source.FACT, fact, scale)
        stated = f"{fact.amount} (times {fact.scale:,})" if fact.scale != 1 else f"{fact.amount}"
        return _unbound(
            literal,
            f"`{literal.variable}` stands for {fact.label} of FY{fact.period.fiscal_year} on page {fact.page + 1}, "
            f"which is {stated} {fact.unit}",
        )

    def _is_known_constant(self, literal: Literal) -> bool:
        """Return whether a number is trusted as a constant in its role."""
        value = abs(literal.value)
        if self._expected and value in _POWERS and literal.role in (Role.FIGURE, Role.FACTOR):
            return False  # only a single figure may be rescaled
        match literal.role:
            case Role.FIGURE:
                words = {word.removesuffix("s") for word in (literal.variable or "").lower().split("_")}
                named = [_NAMED_CONSTANTS.get(word) for word in words - _FILLING_WORDS]
                return bool(named) and all(each == literal.value for each in named)
            case Role.FACTOR if literal.terms is not None and value in _COUNTS_OF_TERMS:
                return value == literal.terms
            case Role.FACTOR:
                return value in _FACTORS | _POWERS or (value in _RARE_FACTORS and value in self._asked)
            case Role.EXPONENT:
                return value in self._exponents or (value != 0 and 1 / value in self._exponents)
            case role:
                return value in _CONSTANTS_BY_ROLE.get(role, ())

    def _fact(self, literal: Literal) -> Binding | None:
        value, declared = abs(literal.value), literal.declared.scale
        if literal.role is Role.TEXT:
            candidates = self._by_amount.get(value, ()) if declared is None else ()
            candidates = candidates or self._by_value.get(value * (declared or 1), ())
            return _binding(literal, Source.FACT, candidates[0]) if candidates else None
        if literal.role is Role.POSITION:
            return None
        units = (value, value * literal.multiplier, value * 100)
        seen = [fact for unit in units for fact in self._by_amount.get(unit, ())]
        seen += [fact for unit in units[:2] for fact in self._by_value.get(unit * (declared or 1), ())]
        fitting = [
            (fact, scale)
            for fact in seen
            if (scale := _scale_that_fits(literal, fact)) is not None and _year_fits(literal.variable, fact)
        ]
        if not fitting:
            return None
        named = set((literal.variable or "").lower().split("_"))

        def shared_words(pair: tuple[Fact, Decimal]) -> int:
            fact = pair[0]
            words = f"{fact.label} {fact.metric or ''} {fact.period.fiscal_year}".lower().replace("_", " ").split()
            return len(named.intersection(words))

        fact, scale = max(fitting, key=shared_words)  # only a tie-break for the citation
        return _binding(literal, Source.FACT, fact, scale)

    def _is_in_question(self, literal: Literal) -> bool:
        value = abs(literal.value)
        words = set((literal.variable or "").lower().split("_"))
        stands_for_figure = literal.role is Role.FIGURE
        if value in self._years and (not stands_for_figure or words & _YEAR_WORDS):
            return literal.role in (Role.FIGURE, Role.COMPARED, Role.TEXT)
        if value in self._spans and (not stands_for_figure or words & _COUNT_WORDS):
            return literal.role is not Role.ADDED
        return not {value, value * literal.multiplier}.isdisjoint(self._amounts)

    def _reason(self, literal: Literal) -> str:
        if literal.role is not Role.FIGURE:
            return f"{literal.source} is neither in the evidence nor in the question, nor a constant as {literal.role}"
        for fact in self._by_amount.get(abs(literal.value), ()):
            if self._expected:
                return f"no figure is expected {f'as `{literal.variable}`' if literal.variable else 'here'}"
            said = f"{fact.label} of FY{fact.period.fiscal_year}, {fact.amount} {fact.unit} times {fact.scale:,}"
            return f"{literal.source} on page {fact.page + 1} is {said}: the program states another unit, year or sign"
        return f"{literal.source} is neither in the evidence nor in the question"


def _amounts(asked: Sequence[Numeral], scale: int) -> Iterator[Decimal]:
    """Yield the amounts of a question in the forms that a program of this scale may write: `$400 million`, `20%`."""
    for numeral in asked:
        if numeral.kind in (NumeralKind.AMOUNT, NumeralKind.PERCENT):
            yield from (abs(numeral.value), abs(numeral.in_base_units), abs(numeral.in_base_units) / scale)
        if numeral.kind is NumeralKind.PERCENT:
            yield abs(numeral.value) / 100


def _binding(literal: Literal, source: Source, fact: Fact | None = None, scale: Decimal | None = None) -> Binding:
    return Binding(literal.source, literal.line, literal.variable, source, fact, scale)


def _unbound(literal: Literal, reason: str) -> Unbound:
    return Unbound(literal.source, literal.line, literal.variable, reason)


def _without_unsupported_groups(judged: Sequence[tuple[Literal, _Verdict]]) -> list[tuple[Literal, _Verdict]]:
    """Accept the constants of an expression of numbers only if one of its numbers is from the evidence."""
    bound = [(literal, verdict) for literal, verdict in judged if isinstance(verdict, Binding)]
    supported = {None, *(literal.closed_group for literal, verdict in bound if verdict.source is not Source.CONSTANT)}
    return [
        (literal, verdict)
        if literal.closed_group in supported or isinstance(verdict, Unbound)
        else (literal, _unbound(literal, "a number is computed from constants alone"))
        for literal, verdict in judged
    ]


def _at_one_scale(
    judged: Sequence[tuple[Literal, _Verdict]], numbers: ProgramNumbers, expected: Mapping[str, Fact], scale: int | None
) -> list[tuple[Literal, _Verdict]]:
    """Reject amounts that enter at another scale than the result, or than most amounts of their unit."""

    def is_counted(literal: Literal, fact: Fact) -> bool:
        return fact.unit in (*_SCALED, _COUNT) and literal.value != 0 and literal.variable not in numbers.rescaled

    bound = [
        (at, literal, verdict.fact, verdict.scale)
        for at, (literal, verdict) in enumerate(judged)
        if isinstance(verdict, Binding) and verdict.fact is not None and verdict.scale is not None
    ]
    usual: dict[str, Counter[Decimal]] = {}
    for _, literal, fact, enters in bound:
        if is_counted(literal, fact):
            usual.setdefault(fact.unit, Counter())[enters] += 1
    of_result = {scale} if scale else {fact.scale for fact in expected.values()}
    result = list(judged)
    for at, literal, fact, enters in bound:
        wanted = of_result if fact.unit in _SCALED else {{_COUNT: enters}.get(fact.unit, fact.scale)}
        most = usual[fact.unit].most_common(1)[0][0] if is_counted(literal, fact) else enters
        beside = f"other {fact.unit} times {most:,f}" if enters != most else ""
        if not beside and expected and literal.value and enters not in wanted:
            beside = f"but the result is times {' or '.join(f'{each:,}' for each in sorted(wanted))}"
        if beside:
            result[at] = literal, _unbound(literal, f"{literal.source} enters times {enters:,f}, {beside}")
    return result


_SCALED, _COUNT = ("USD", "shares"), "count"


def _scale_that_fits(literal: Literal, fact: Fact) -> Decimal | None:
    """Return the factor from the literal's variable to base units if the literal is this fact, else None.

    All declarations must be true of the fact: unit, scale, page and line of the comment, and the sign, which is the
    printed one unless the comment has `printed negative`.
    """
    declared, ratio = literal.declared, literal.declared.unit == "ratio"
    if declared.unit not in (None, fact.unit) and not (ratio and fact.unit == "percent"):
        return None
    if declared.page not in (None, fact.page + 1) or (fact.line and declared.line not in (None, fact.line + 1)):
        return None
    as_printed = (literal.value < 0) == (fact.amount < 0)
    if literal.value and literal.role not in _ANY_SIGN and as_printed == declared.opposite:
        return None
    value, amount = abs(literal.value), abs(fact.amount)
    if ratio:
        of_percent = Decimal(100 if fact.unit == "percent" else 1)
        return 1 / of_percent if value * of_percent == amount else None
    if declared.scale is not None:
        scale = Decimal(declared.scale)
        if value * literal.multiplier * scale == abs(fact.value):  # the comment has the product's unit
            return scale
        # else the comment has the literal's unit
        return scale / literal.multiplier if value * scale == abs(fact.value) else None
    if value == amount:
        return Decimal(fact.scale) / literal.multiplier
    return Decimal(1) / literal.multiplier if value == abs(fact.value) else None


def _year_fits(variable: str | None, fact: Fact) -> bool:
    """Return False if the variable's name has a year (`revenue_2019`, `revenue_fy19`) that is not the fact's."""
    named = {int(match["year"] or f"20{match['short']}") for match in _YEAR.finditer((variable or "").lower())}
    end = fact.period.end
    return not named or not named.isdisjoint({fact.period.fiscal_year, *([end.year] if end else ())})


_YEAR = re.compile(r"(?<![a-z0-9])(?:(?:fy|cy|y)?(?P<year>(?:19|20)\d\d)|(?:fy|cy)_?(?P<short>\d\d))(?![0-9a-z])")
_ANY_SIGN = frozenset((Role.SUBTRACTED, Role.COMPARED))
"""In `6489 - 116` the subtrahend may be a printed (116)."""
_FACTORS = frozenset(map(Decimal, (1, 2, 3, 4, 12, 52, 100, 365)))
_POWERS = frozenset(map(Decimal, (10**3, 10**6, 10**9)))
_RARE_FACTORS = frozenset(map(Decimal, (53, 360, 366)))
"""Trusted only if the question has them: a year has 365 days unless stated otherwise."""
_COUNTS_OF_TERMS = frozenset(map(Decimal, range(1, 13)))
"""Divisors of a sum: its number of terms."""
_CONSTANTS_BY_ROLE: Mapping[Role, frozenset[Decimal]] = {
    Role.ADDED: frozenset(map(Decimal, (0, 1))),
    Role.SUBTRACTED: frozenset(map(Decimal, (0, 1, 100))),
    Role.COMPARED: frozenset(map(Decimal, (0, 1))),
    Role.POSITION: frozenset(map(Decimal, range(13))),
}
_NAMED_CONSTANTS = {
    "day": 365, "week": 52, "month": 12, "quarter": 4, "percent": 100,
    "thousand": 10**3, "million": 10**6, "billion": 10**9,
}  # fmt: skip
_FILLING_WORDS = frozenset(("a", "in", "per", "of", "year", "number", "factor", "scale"))
