"""What is to be computed: formulas over metrics, bound to a company and a period, resolved against what is known."""

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
    """A number of the formula itself."""

    value: int | float
    unit: str = ""
    """`USD` for an amount of money in dollars, whatever scale figures are printed in."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric or formula by its id, `shift` fiscal years from the period asked about, or in `year`."""

    name: str
    shift: int = 0
    year: int | None = None
    whole: bool = False
    """Of the whole company, whatever part of it is asked about."""
    printed: bool = False
    """Whether `name` is no id, but the words of a line as filings print it."""
    company: str | None = None
    """Key of the company that it is of, whoever else is asked about."""
    part: str | None = None
    """The part that it is of, whatever part is asked about."""
    quarter: int | None = None
    """With `year`: the quarter of that year."""
    words: str = ""
    """The question's words for a metric that is looked for by them as well."""
    table: str = ""
    """The table that its figures are taken from (`Family.table`); empty for any."""


@dataclass(frozen=True, slots=True)
class SlotReference:
    """A place for one figure: a slot of the ledger."""

    slot: Slot


@dataclass(frozen=True, slots=True)
class Operation:
    """`left operator right`, the operator one of `+ - * /`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Mean:
    """Arithmetic mean of its parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AbsoluteValue:
    """Absolute value."""

    of: Node


@dataclass(frozen=True, slots=True)
class Choice:
    """The first of `options` that can be computed."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class IfReported:
    """`reported`, or zero where the filing does not report it.

    Its field is called otherwise than that of a Magnitude: read back from JSON, nodes are told apart by their fields.
    """

    reported: Node


Node = Constant | Quantity | SlotReference | Operation | Mean | AbsoluteValue | Choice | IfReported

Definition = Callable[[str], Node | None]
"""A formula's (or a derivable metric's) own expression by id; None for a metric that can only be read."""


def parse_formula(text: str) -> Node:
    """An expression as a tree. Raises LexiconError on anything outside the grammar.

    The grammar is the lexicon's (`docs/lexicon.md`), with six additions that questions need: `revenue[2019]` is the
    figure of that fiscal year, whatever period is asked about, `mean(a, b, ...)` averages its parts,
    `whole(revenue)` is the whole company's where a part of it is asked about, `at(revenue, part="AWS", year=2024)` is
    said of that part, company or period alone, or of one table, `amount(1000000)` is money in dollars, and
    `"content obligations"` is the line that filings print under these words, which no metric of the lexicon has to be.
    An expression of more than MAX_OPERATIONS operators and parentheses is refused: its tree could be too deep to walk.
    """
    operations = sum(map(text.count, _OPERATION_MARKS))
    if operations > MAX_OPERATIONS:
        raise LexiconError(
            f"the expression has {operations:,} operators and parentheses, more than the limit of {MAX_OPERATIONS}",
            subject=text[:60],
            remedy="Ask for its parts one at a time",
        )
    try:
        return _node(expression_tree(text))
    except (SyntaxError, ValueError) as error:
        remedy = "See docs/lexicon.md for the syntax of an expression"
        raise LexiconError(f"the expression cannot be read ({error})", subject=text, remedy=remedy) from None


def quantities_of(node: Node) -> frozenset[str]:
    """Ids of the metrics and formulas that an expression names, before it is bound; printed lines have none."""
    return frozenset(one.name for one in leaves_of(node) if not one.printed)


def years_of(node: Node) -> frozenset[int]:
    """The fiscal years that an expression names, before it is bound."""
    return frozenset(one.year for one in leaves_of(node) if one.year is not None)


def companies_of(node: Node) -> frozenset[str]:
    """Keys of the companies that an expression names, before it is bound."""
    return frozenset(one.company for one in leaves_of(node) if one.company is not None)


def leaves_of(node: Node) -> Iterator[Quantity]:
    """The metrics, formulas and printed lines of an expression, before it is bound."""
    if isinstance(node, Quantity):
        yield node
    for part in parts_of(node):
        yield from leaves_of(part)


def assumes_zero(node: Node) -> bool:
    """Whether something in it is zero where it is not reported."""
    return isinstance(node, IfReported) or any(map(assumes_zero, parts_of(node)))


def bind(
    node: Node,
    *,
    slot_of: Callable[[Quantity], Slot],
    formula_of: Definition,
    derive_of: Callable[[Quantity], Node | None],
) -> Node:
    """Replace every Quantity by slots: formulas are expanded, derivable metrics become a choice.

    `slot_of` makes the slot of a metric; `formula_of` gives the expression of an id, `derive_of` that of a metric.
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
        return Choice((known, walk(_contextualize(current, derived), shift, open_ids | {name})))

    return walk(node, 0, frozenset())


def resolve(node: Node, is_filled: Callable[[Slot], bool]) -> tuple[Node | None, tuple[Slot, ...]]:
    """Settle choices with what is known: (tree of filled slots, ()) or (None, the slots it fails for)."""
    if isinstance(node, SlotReference):
        return (node, ()) if is_filled(node.slot) else (None, (node.slot,))
    settled = [resolve(part, is_filled) for part in parts_of(node)]
    trees = [tree for tree, _ in settled if tree is not None]
    match node:
        case Choice():
            return (trees[0], ()) if trees else (None, settled[0][1])
        case IfReported():
            return (trees[0] if trees else Constant(0)), ()
        case _ if len(trees) < len(settled):
            return None, tuple(slot for _, slots in settled for slot in slots)
        case _:
            in_order = iter(trees)
            return map_parts(node, lambda part: next(in_order)), ()


def slots_assumed_zero(node: Node, is_filled: Callable[[Slot], bool]) -> Iterator[Slot]:
    """Slots of optional parts that nothing fills: the resolved tree has 0 in their place."""
    match node:
        case IfReported(of):
            yield from resolve(of, is_filled)[1]
        case Choice(options):
            settled = (option for option in options if resolve(option, is_filled)[0] is not None)
            if (chosen := next(settled, None)) is not None:
                yield from slots_assumed_zero(chosen, is_filled)
        case _:
            for part in parts_of(node):
                yield from slots_assumed_zero(part, is_filled)


def slots_of(node: Node, *, required: bool = True) -> Iterator[tuple[Slot, bool]]:
    """(slot, whether it is required) of a bound tree: alternatives and optional parts are not required."""
    if isinstance(node, SlotReference):
        yield node.slot, required
    for position, part in enumerate(parts_of(node)):
        optional = isinstance(node, IfReported) or (isinstance(node, Choice) and position > 0)
        yield from slots_of(part, required=required and not optional)


def parts_of(node: Node) -> tuple[Node, ...]:
    """The nodes that stand right below; none for a leaf."""
    match node:
        case Operation(_, left, right):
            return left, right
        case Mean(parts) | Choice(parts):
            return parts
        case AbsoluteValue(of) | IfReported(of):
            return (of,)
        case _:
            return ()


def map_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same node with `change` applied to its parts, left to right; a leaf stays as it is."""
    match node:
        case Operation(operator, left, right):
            return Operation(operator, change(left), change(right))
        case Mean(parts):
            return Mean(tuple(map(change, parts)))
        case Choice(options):
            return Choice(tuple(map(change, options)))
        case AbsoluteValue(of):
            return AbsoluteValue(change(of))
        case IfReported(of):
            return IfReported(change(of))
        case _:
            return node


def shift_years(node: Node, years: int) -> Node:
    """The same expression `years` fiscal years later (earlier where negative)."""
    if not isinstance(node, Quantity):
        return map_parts(node, lambda part: shift_years(part, years))
    if node.year:
        return replace(node, year=node.year + years)
    return replace(node, shift=node.shift + years)


def _contextualize(asked: Quantity, node: Node) -> Node:
    """`node`, which stands for what is asked, of the same year, company, part and whole."""
    pinned = _pin_to_year(node, asked.year, asked.quarter)
    if asked.company or asked.part:
        pinned = _for_company(pinned, asked)
    return _for_whole_company(pinned) if asked.whole else pinned


def _for_company(node: Node, asked: Quantity) -> Node:
    if isinstance(node, Quantity):
        return replace(node, company=node.company or asked.company, part=node.part or asked.part)
    return map_parts(node, lambda part: _for_company(part, asked))


def _for_whole_company(node: Node) -> Node:
    return replace(node, whole=True) if isinstance(node, Quantity) else map_parts(node, _for_whole_company)


def _pin_to_year(node: Node, year: int | None, quarter: int | None = None) -> Node:
    """The same expression as of fiscal `year`: shifts become years counted from it. Unchanged where `year` is None."""
    if year is None:
        return node
    if not isinstance(node, Quantity):
        return map_parts(node, lambda part: _pin_to_year(part, year, quarter))
    return node if node.year else replace(node, shift=0, year=year + node.shift, quarter=quarter)


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
    """The company, part and period that `at(revenue, part="AWS", year=2024, quarter=2)` says its measure is of."""
    said = {pin.arg: pin.value.value for pin in pins if isinstance(pin.value, ast.Constant)}
    if not said.keys() <= {"company", "part", "year", "quarter", "table", "words"} or len(said) < len(pins):
        raise ValueError("at() takes company, part, year, quarter, table and words")
    year, quarter = said.get("year"), said.get("quarter")
    return Quantity(
        "",
        year=year if isinstance(year, int) else None,
        quarter=quarter if isinstance(quarter, int) else None,
        company=str(said["company"]) if "company" in said else None,
        part=str(said["part"]) if "part" in said else None,
        table=str(said.get("table", "")),
        words=str(said.get("words", "")),
    )


def _call(name: str, arguments: list[Node]) -> Node:
    if name == "first":
        return Choice(tuple(arguments))
    if name == "mean":
        return Mean(tuple(arguments))
    if len(arguments) != 1:
        raise ValueError(f"{name}() takes one argument")
    (of,) = arguments
    match name:
        case "prior":
            return shift_years(of, -1)
        case "avg":
            return Mean((of, shift_years(of, -1)))
        case "change":
            return Operation("-", of, shift_years(of, -1))
        case "abs":
            return AbsoluteValue(of)
        case "whole":
            return _for_whole_company(of)
        case "optional":
            return IfReported(of)
        case _:
            raise ValueError(f"there is no function {name}()")
