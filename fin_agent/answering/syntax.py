"""What the pieces of a program are: numbers, texts, scalings, sums, and the units that its comments declare."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from fin_agent.answering.literals import Declaration

CONVERSIONS = frozenset(("float", "int", "Decimal", "abs", "Fraction"))
"""Calls that hand on the number they are given."""
SCALES = frozenset(Decimal(1000) ** power for power in (1, 2, 3, 4))
_SCALE_WORDS = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


def name_of(node: ast.expr | None) -> str | None:
    """`x` of `x`, `y` of `x.y` and of `x["y"]`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case _:
            return None


def number_of(node: ast.expr) -> Decimal | None:
    """Of a number as written, with its sign: `-12.5`."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            return Decimal(repr(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = number_of(operand)
            return None if number is None else -number
        case _:
            return None


def number_of_text(text: str) -> Decimal | None:
    """What `float` or `Decimal` make of a text, dollar and percent signs and commas left out."""
    bare = text.strip().lstrip("$").rstrip("%").replace(",", "").replace("_", "")
    try:
        number = Decimal(bare)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def power_of_ten(node: ast.expr) -> Decimal | None:
    """1,000,000 for `10 ** 6`."""
    match node:
        case ast.BinOp(left=ast.Constant(value=10), op=ast.Pow(), right=ast.Constant(value=int(power))) if power <= 12:
            return Decimal(10) ** power
        case _:
            return None


def scaling_of(node: ast.BinOp) -> tuple[ast.expr, Decimal] | None:
    """(number, multiplier) for a number times or by a power of a thousand: `6489 * 1_000_000`."""
    if not isinstance(node.op, ast.Mult | ast.Div):
        return None
    for figure, scale in ((node.left, _scale(node.right)), (node.right, _scale(node.left))):
        if scale is None or number_of(figure) is None:
            continue
        if isinstance(node.op, ast.Mult):
            return figure, scale
        if figure is node.left:
            return figure, 1 / scale
    return None


def rescaled_names(node: ast.AST) -> Iterator[str]:
    """Variables that this piece multiplies or divides by a power of a thousand."""
    match node:
        case ast.BinOp(op=ast.Mult() | ast.Div(), left=left, right=right):
            for name, other in ((left, right), (right, left)):
                if isinstance(name, ast.Name) and _scale(other) is not None:
                    yield name.id
        case ast.AugAssign(op=ast.Mult() | ast.Div(), target=ast.Name(id=name), value=value) if (
            _scale(value) is not None
        ):
            yield name


def _scale(node: ast.expr) -> Decimal | None:
    number = power_of_ten(node) or number_of(node)
    return number if number in SCALES else None


def holds_only_numbers(node: ast.expr) -> bool:
    """An expression without a variable: `5 * 7`, `float("5") * 7`."""
    match node:
        case ast.BinOp(left=left, right=right):
            return holds_only_numbers(left) and holds_only_numbers(right)
        case ast.UnaryOp(operand=operand):
            return holds_only_numbers(operand)
        case ast.Call(func=func, args=args) if name_of(func) in CONVERSIONS:
            return all(holds_only_numbers(argument) for argument in args)
        case _:
            return isinstance(node, ast.Constant)


def terms_of(node: ast.expr) -> int | None:
    """How many terms a sum has: 3 for `a + b + c` and for `sum([a, b, c])`."""
    match node:
        case ast.Call(func=ast.Name(id="sum"), args=[ast.List(elts=terms) | ast.Tuple(elts=terms)]):
            return len(terms)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return (terms_of(left) or 1) + (terms_of(right) or 1)
        case _:
            return None


def is_text(node: ast.expr, texts: frozenset[str]) -> bool:
    """Whether an expression is a text; `texts` are the variables that hold one."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, str)
        case ast.Name(id=name):
            return name in texts
        case ast.JoinedStr(values=parts):
            # f"{margin:.2f}" alone only rounds; text around it makes another number.
            return len(parts) != 1 or isinstance(parts[0], ast.Constant)
        case ast.BinOp(left=left, right=right):
            return any(is_text(side, texts) or prints_number(side) for side in (left, right))
        case ast.Subscript(value=value):
            return is_text(value, texts) or prints_number(value)
        case ast.NamedExpr(value=value):
            return is_text(value, texts)
        case ast.IfExp(body=body, orelse=orelse):
            return is_text(body, texts) or is_text(orelse, texts)
        case ast.Call(func=ast.Attribute(value=value)):
            return is_text(value, texts) or prints_number(value)
        case ast.Call(func=ast.Name(id="str" | "repr" | "format"), args=[first, *_]):
            return is_text(first, texts)
        case ast.Call(func=ast.Name(id="chr")):
            return True
        case _:
            return False


def prints_number(node: ast.expr) -> bool:
    """A number made into text: turned back as it is, it only rounds; a piece of it is another number."""
    match node:
        case ast.Call(func=ast.Name(id="str" | "repr" | "format" | "ascii" | "bin" | "oct" | "hex")) | ast.JoinedStr():
            return True
        case _:
            return False


def text_variables(tree: ast.Module) -> frozenset[str]:
    """Variables that are given a text anywhere in a program."""
    given: list[tuple[str, ast.expr]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                given += [(target.id, value) for target in targets if isinstance(target, ast.Name)]
            case ast.AugAssign(target=ast.Name(id=name), value=value) | ast.For(target=ast.Name(id=name), iter=value):
                given.append((name, value))
    texts: frozenset[str] = frozenset()
    while True:
        more = texts | {name for name, value in given if is_text(value, texts) or prints_number(value)}
        if more == texts:
            return texts
        texts = more


_DECLARATION = re.compile(
    r"#\s*(?:in\s+)?(?:(?P<dollars>USD\b|US\$|\$|dollars?\b)(?P<each>\s+per\s+(?:\w+\s+)?share\b)?|"
    r"(?P<unit>(?:shares|count|ratio|percent)\b(?!\s+point)))?"
    r"\s*(?:in\s+)?(?:(?P<scale>thousand|million|billion)s?\b|x\s+(?P<times>10+)\b)?",
    re.IGNORECASE,
)
_OPPOSITE_SIGN = re.compile(r"\bprinted negative\b", re.IGNORECASE)
_PLACE = re.compile(r"\bpage\s+(?P<page>\d{1,5})(?:,?\s+line\s+(?P<line>\d{1,5}))?\b", re.IGNORECASE)


def declarations(code: str) -> dict[int, Declaration]:
    """Line -> what its comment says of the figure on it.

    Unit and scale begin the comment (`# USD millions`, `# percent`, `# ratio`); the place, where given, is the last
    one named, so that a label that speaks of pages is not taken for it.
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


def _unit_and_scale(declared: re.Match[str]) -> tuple[str | None, int | None]:
    unit = declared["unit"].lower() if declared["unit"] else None
    if declared["dollars"]:
        unit = "USD per share" if declared["each"] else "USD"
    if declared["scale"]:
        return unit, _SCALE_WORDS[declared["scale"].lower()]
    if declared["times"]:
        return unit, int(declared["times"])
    return unit, None if unit is None else 1


def _comments(code: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, IndentationError):
        return


def scale_of_name(variable: str) -> int | None:
    """1,000,000 for `revenue_millions`."""
    for word in reversed(variable.lower().split("_")):
        if word.removesuffix("s") in _SCALE_WORDS:
            return _SCALE_WORDS[word.removesuffix("s")]
    return None
