"""Expressions over metrics: parse them, bind them to a company and period, and resolve them with known figures."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fin_agent.errors import LexiconError
from fin_agent.lexicon.slots import Slot
from fin_agent.syntax_trees import expression_tree

OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}

MAX_OPERATIONS = 100
_OPERATION_MARKS = "+-*/("


@dataclass(frozen=True, slots=True)
class Constant:
    """A number in the formula."""

    value: int | float
    unit: str = ""
    """`USD` for an amount of money, in dollars whatever the scale of the figures."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric or formula by id, `shift` fiscal years from the requested period, or in `year`."""

    name: str
    shift: int = 0
    year: int | None = None
    whole: bool = False
    """For the whole company, even if a part is requested."""
    printed: bool = False
    """Whether `name` is the label of a printed line in place of an id."""
    company: str | None = None
    """Key of its own company, in place of the requested one."""
    part: str | None = None
    """Its own part, in place of the requested one."""
    quarter: int | None = None
    """The quarter of `year`."""
    words: str = ""
    """The question's words, if the metric is searched for by them as well."""
    table: str = ""
    """The table that provides its figures (`Family.table`); empty for any."""


@dataclass(frozen=True, slots=True)
class SlotReference:
    """A reference to a slot of the ledger, which one figure fills."""

    slot: Slot


@dataclass(frozen=True, slots=True)
class Operation:
    """`left operator right`, with one of the operators `+ - * /`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Function:
    """A function of its parts."""

    kind: str
    """`mean`, `abs`, `first` (of the parts, the first that can be computed) or `optional` (zero if not reported).

    The field is not named like that of Quantity, because nodes read from JSON are distinguished by their fields.
    """
    parts: tuple[Node, ...]


Node = Constant | Quantity | SlotReference | Operation | Function


def parse_formula(text: str) -> Node:
    """Parse an expression into a tree.

    The grammar is the lexicon's (`docs/lexicon.md`) with six additions for questions: `revenue[2019]` is the figure of
    that fiscal year, `mean(a, b, ...)` is an average, `whole(revenue)` is the figure of the whole company where a part
    is requested, `at(revenue, part="AWS", year=2024)` sets the part, company, period or table, `amount(1000000)` is
    money in dollars, and `"content obligations"` is a line by its printed label, which need not be a metric of the
    lexicon.

    Raises:
        LexiconError: The text is outside the grammar, or has more than MAX_OPERATIONS operators and parentheses, so
            that its tree could be too deep to walk.
    """
    operations = sum(map(text.count, _OPERATION_MARKS))
    if operations > MAX_OPERATIONS:
        what = f"the expression has {operations:,} operators and parentheses, more than the limit of {MAX_OPERATIONS}"
        raise LexiconError(what, subject=text[:60], remedy="Ask for its parts one at a time")
    try:
        return _node(expression_tree(text))
    except (SyntaxError, ValueError) as error:
        remedy = "See docs/lexicon.md for the syntax of an expression"
        raise LexiconError(f"the expression cannot be read ({error})", subject=text, remedy=remedy) from None


def is_over_itself(node: Node, *, of_parts: bool) -> bool:
    """Return whether a figure is divided by itself, times a constant or not; without parts, `whole(a)` is `a`."""
    if not isinstance(node, Operation):
        return False
    above, below = node.left, node.right
    if isinstance(above, Operation) and above.operator == "*" and isinstance(above.left, Constant):
        above = above.right
    if not of_parts:
        above, below = (replace(one, whole=False) if isinstance(one, Quantity) else one for one in (above, below))
    same = node.operator == "/" and above == below
    return same or any(is_over_itself(one, of_parts=of_parts) for one in (node.left, node.right))


def quantities_of(node: Node) -> frozenset[str]:
    """Return the ids of metrics and formulas in an unbound expression; printed lines have none."""
    return frozenset(one.name for one in leaves_of(node) if not one.printed)


def years_of(node: Node) -> frozenset[int]:
    """Return the fiscal years in an unbound expression."""
    return frozenset(one.year for one in leaves_of(node) if one.year is not None)


def leaves_of(node: Node) -> Iterator[Quantity]:
    """Yield the metrics, formulas and printed lines of an unbound expression."""
    if isinstance(node, Quantity):
        yield node
    for part in parts_of(node):
        yield from leaves_of(part)


def assumes_zero(node: Node) -> bool:
    """Return whether any part of the expression counts as zero if it is not reported."""
    optional = isinstance(node, Function) and node.kind == "optional"
    return optional or any(map(assumes_zero, parts_of(node)))


def bind(
    node: Node,
    *,
    slot_of: Callable[[Quantity], Slot],
    formula_of: Callable[[str], Node | None],
    derive_of: Callable[[Quantity], Node | None],
) -> Node:
    """Return the expression over slots: formulas are expanded, derivable metrics become a choice.

    `slot_of` returns the slot of a metric, `formula_of` the expression of an id or None for a metric, `derive_of` the
    expression that derives a metric or None for one that can only be read.
    """

    def walk(current: Node, shift: int, open_ids: frozenset[str]) -> Node:
        if not isinstance(current, Quantity):
            return map_parts(current, lambda part: walk(part, shift, open_ids))
        name, shift = current.name, shift + current.shift
        if current.printed:
            return SlotReference(slot_of(replace(current, shift=shift)))
        formula = formula_of(name)
        if formula is not None:
            return walk(_contextualize(current, formula), shift, open_ids | {name})
        asked = replace(current, shift=shift)
        known = SlotReference(slot_of(asked))
        derived = derive_of(asked) if name not in open_ids and not asked.table else None
        if derived is None:
            return known
        return Function("first", (known, walk(_contextualize(current, derived), shift, open_ids | {name})))

    return walk(node, 0, frozenset())


def resolve(node: Node, is_filled: Callable[[Slot], bool]) -> tuple[Node | None, tuple[Slot, ...]]:
    """Resolve choices: return (the tree of filled slots, ()), or (None, the slots that are missing)."""
    if isinstance(node, SlotReference):
        return (node, ()) if is_filled(node.slot) else (None, (node.slot,))
    settled = [resolve(part, is_filled) for part in parts_of(node)]
    trees = [tree for tree, _ in settled if tree is not None]
    match node:
        case Function("first"):
            return (trees[0], ()) if trees else (None, settled[0][1])
        case Function("optional"):
            return (trees[0] if trees else Constant(0)), ()
        case _ if len(trees) < len(settled):
            return None, tuple(slot for _, slots in settled for slot in slots)
        case _:
            in_order = iter(trees)
            return map_parts(node, lambda part: next(in_order)), ()


def slots_assumed_zero(node: Node, is_filled: Callable[[Slot], bool]) -> Iterator[Slot]:
    """Yield the slots of optional parts without a figure; the resolved tree has 0 in their place."""
    match node:
        case Function("optional", (of,)):
            yield from resolve(of, is_filled)[1]
        case Function("first", options):
            settled = (option for option in options if resolve(option, is_filled)[0] is not None)
            if (chosen := next(settled, None)) is not None:
                yield from slots_assumed_zero(chosen, is_filled)
        case _:
            for part in parts_of(node):
                yield from slots_assumed_zero(part, is_filled)


def slots_of(node: Node, *, required: bool = True) -> Iterator[tuple[Slot, bool]]:
    """Yield (slot, whether it is required) of a bound tree; alternatives and optional parts are not required."""
    if isinstance(node, SlotReference):
        yield node.slot, required
    for position, part in enumerate(parts_of(node)):
        optional = isinstance(node, Function) and (node.kind == "optional" or (node.kind == "first" and position > 0))
        yield from slots_of(part, required=required and not optional)


def parts_of(node: Node) -> tuple[Node, ...]:
    """Return the direct children of a node; none for a leaf."""
    match node:
        case Operation(_, left, right):
            return left, right
        case Function(_, parts):
            return parts
        case _:
            return ()


def map_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the node with `change` applied to its children, left to right; a leaf is returned unchanged."""
    match node:
        case Operation(operator, left, right):
            return Operation(operator, change(left), change(right))
        case Function(kind, parts):
            return Function(kind, tuple(map(change, parts)))
        case _:
            return node


def map_quantities(node: Node, change: Callable[[Quantity], Quantity]) -> Node:
    """Return an unbound expression with `change` applied to its metrics, formulas and printed lines."""
    return change(node) if isinstance(node, Quantity) else map_parts(node, lambda part: map_quantities(part, change))


def shift_years(node: Node, years: int) -> Node:
    """Return the expression moved by `years` fiscal years, later if positive."""

    def moved(one: Quantity) -> Quantity:
        return replace(one, year=one.year + years) if one.year else replace(one, shift=one.shift + years)

    return map_quantities(node, moved)


def _contextualize(asked: Quantity, node: Node) -> Node:
    """Return the definition of a quantity in the quantity's year, company and part, with shifts turned into years."""

    def of_asked(one: Quantity) -> Quantity:
        if asked.year is not None and not one.year:
            one = replace(one, shift=0, year=asked.year + one.shift, quarter=asked.quarter)
        company, part = one.company or asked.company, one.part or asked.part
        return replace(one, company=company, part=part, whole=one.whole or asked.whole)

    return map_quantities(node, of_asked)


def _node(tree: ast.expr) -> Node:
    match tree:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Constant(value)
        case ast.Name(id=name):
            return Quantity(name)
        case ast.Constant(value=str() as words) if words.strip():
            return Quantity(" ".join(words.split()), printed=True)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() as year)):
            return Quantity(name, 0, year)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Operation("-", Constant(0), _node(operand))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            return Operation(OPERATORS[type(operator)], _node(left), _node(right))
        case ast.Call(func=ast.Name(id="at"), args=[of], keywords=pins) if pins:
            said, made = _keyword_context(pins), _node(of)
            if isinstance(made, Quantity):
                made = replace(made, table=said.table, words=said.words)
            return _contextualize(said, made)
        case ast.Call(func=ast.Name(id="amount"), args=[ast.Constant(value=int() | float() as value)], keywords=[]):
            return Constant(value, "USD")
        case ast.Call(func=ast.Name(id=name), args=args) if args and not tree.keywords:
            return _call(name, [_node(argument) for argument in args])
        case _:
            raise ValueError(f"{ast.unparse(tree)} is not part of the grammar")


def _keyword_context(pins: Sequence[ast.keyword]) -> Quantity:
    """Return the company, part and period given by `at(revenue, part="AWS", year=2024, quarter=2)`."""
    said = {pin.arg: pin.value.value for pin in pins if isinstance(pin.value, ast.Constant)}
    if not said.keys() <= {"company", "part", "year", "quarter", "table", "words"} or len(said) < len(pins):
        raise ValueError("at() takes company, part, year, quarter, table and words")
    if any(isinstance(value, int) != (name in ("year", "quarter")) for name, value in said.items()):
        raise ValueError("at() takes years and quarters as numbers, and the others as text")
    return replace(Quantity(""), **said)  # type: ignore[arg-type]


def _call(name: str, arguments: list[Node]) -> Node:
    if name in ("first", "mean"):
        return Function(name, tuple(arguments))
    if len(arguments) != 1:
        raise ValueError(f"{name}() takes one argument")
    (of,) = arguments
    match name:
        case "abs" | "optional":
            return Function(name, (of,))
        case "prior":
            return shift_years(of, -1)
        case "avg":
            return Function("mean", (of, shift_years(of, -1)))
        case "change":
            return Operation("-", of, shift_years(of, -1))
        case "whole":
            return map_quantities(of, lambda one: replace(one, whole=True))
        case _:
            raise ValueError(f"there is no function {name}()")
