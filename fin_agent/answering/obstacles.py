"""Ways to make a number that is written down nowhere: from text, counting, chance, bits, or constants alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from decimal import Decimal

from fin_agent.answering.literals import Obstacle
from fin_agent.answering.syntax import (
    CONVERSIONS,
    is_text,
    name_of,
    number_of,
    number_of_text,
    prints_number,
    terms_of,
    text_variables,
)


def obstacles_in(tree: ast.Module, code: str) -> Iterator[Obstacle]:
    """Every place of a program that can bring in a number nobody can trace, in no particular order."""
    texts = text_variables(tree)
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    inner = _inner_operations(tree)
    for node in ast.walk(tree):
        for reason in _reasons(node, texts, assigned, inner):
            line, source = getattr(node, "lineno", 1), ast.get_source_segment(code, node) or ""
            yield Obstacle(line, " ".join(source.split())[:80], reason)


MODULES = frozenset(("math", "decimal", "datetime", "re", "statistics", "fractions", "typing", "__future__"))
"""What a program may import; each has names that are no arithmetic, and those are obstacles."""
_MAKES_NUMBERS = frozenset(
    (
        "eval", "exec", "compile", "literal_eval", "ord", "hash", "id", "input", "from_bytes", "fromhex", "sizeof",
        "loads", "now", "today", "utcnow", "fromordinal", "toordinal", "fromtimestamp", "time", "random", "randint",
        "uniform", "gauss", "choice", "getrandbits", "getattr", "globals", "locals", "vars", "dir", "__import__",
        "bytes", "bytearray", "memoryview", "factorial", "comb", "perm", "gamma", "lgamma", "nextafter", "ulp",
        "bit_length", "bit_count", "as_integer_ratio", "frexp", "ldexp", "groupindex", "start", "end", "span",
    )
)  # fmt: skip
_CONSTANT_NAMES = frozenset(
    ("pi", "e", "tau", "maxsize", "maxunicode", "MAX_EMAX", "MIN_EMIN", "MAX_PREC", "maxyear", "MAXYEAR", "MINYEAR")
)
_COUNTS_TEXT = frozenset(("count", "find", "index", "rfind", "rindex", "encode", "__len__"))
_COUNTERS = frozenset(map(Decimal, (2, 3, 4, 12, 52, 360, 365, 366)))
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.MatMult)


def _reasons(node: ast.AST, texts: frozenset[str], assigned: set[str], inner: frozenset[ast.BinOp]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (f"`{name.name}` is no arithmetic" for name in names if name.name not in MODULES)
        case ast.ImportFrom(module=module, names=names):
            if module not in MODULES:
                yield f"`{module}` is no arithmetic"
            banned = _MAKES_NUMBERS | _CONSTANT_NAMES | {"*"}
            yield from (f"`{name.name}` can make any number" for name in names if name.name in banned)
        case ast.Attribute(attr=name, value=ast.Name()) if name in _CONSTANT_NAMES:
            yield f"`{name}` is no figure"
        case ast.Name(id=name) if name.startswith("__") or (name in _MAKES_NUMBERS and name not in assigned):
            yield f"`{name}` can make any number"
        case ast.Attribute(attr=name) if name.startswith("__"):
            yield f"`{name}` can make any number"
        case ast.Call():
            yield from _call_reasons(node, texts)
        case ast.BinOp() | ast.AugAssign() if isinstance(node.op, _BITS):
            yield "bits are no arithmetic of a filing"
        case ast.UnaryOp(op=ast.Invert()):
            yield "bits are no arithmetic of a filing"
        case ast.BinOp():
            if isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv) and _same(node.left, node.right):
                yield "a figure less itself, or over itself, is always the same number"
            if node not in inner:
                yield from _operation_reasons(node)
        case ast.Constant(value=complex() | bytes()):
            yield "no figure of a filing is written like this"


def _call_reasons(node: ast.Call, texts: frozenset[str]) -> Iterator[str]:
    name = name_of(node.func) or ""
    first = node.args[0] if node.args else None
    if isinstance(node.func, ast.Attribute) and name in _MAKES_NUMBERS:
        yield f"`{name}` can make any number"
    if isinstance(node.func, ast.Attribute) and name in _COUNTS_TEXT and _from_text(node.func.value, texts):
        yield "a position in a text is no figure"
    if first is None:
        return
    if name in CONVERSIONS:
        yield from _conversion_reasons(node, name, first, texts)
    if name == "len" and _from_text(first, texts):
        yield "the length of a text is no figure"
    if name in ("len", "sum", "max", "min") and isinstance(first, ast.Call) and name_of(first.func) == "range":
        yield "a range is no figure"
    if name == "range" and len(node.args) == 1 and (number_of(first) or Decimal(0)) > 12:
        yield "a range is no figure"
    if name == "enumerate" and _from_text(first, texts):
        yield "a position in a text is no figure"
    if name == "round" and number_of(first) is not None:
        yield "a figure is used as printed, not rounded"


def _conversion_reasons(node: ast.Call, name: str, first: ast.expr, texts: frozenset[str]) -> Iterator[str]:
    if is_text(first, texts) and _number_in_quotes(first) is None:
        yield "a number is put together from text"
    if name in ("float", "int", "Decimal") and (len(node.args) > 1 or node.keywords):
        yield f"`{name}` with more than one argument makes another number of a text"
    if isinstance(first, ast.Tuple | ast.List):
        yield "a number is put together from digits"
    if name in ("int", "abs") and isinstance(first, ast.Compare | ast.BoolOp):
        yield "whether something holds is no figure"
    number = number_of(first)
    if name == "int" and number is not None and number != int(number):
        yield "a figure is used as printed, not cut off"


def _from_text(node: ast.expr, texts: frozenset[str]) -> bool:
    return is_text(node, texts) or prints_number(node)


def _number_in_quotes(node: ast.expr) -> Decimal | None:
    return number_of_text(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _operation_reasons(node: ast.BinOp) -> Iterator[str]:
    """Of a whole product or a whole sum: whether constants build a number in it."""
    parts = list(_parts(node))
    if any(isinstance(part, ast.Compare | ast.BoolOp) for part, _ in parts):
        yield "whether something holds is no figure"
    if any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part, _ in parts):
        return
    numbers = [(abs(number), above) for part, above in parts if (number := number_of(part)) is not None]
    if isinstance(node.op, ast.Add | ast.Sub):
        too_many = len(numbers) < len(parts) and sum(number in (1, 100) for number, _ in numbers) > 1
    else:  # `365 * total / 2` has one of each; `total * 3 * 4` builds a number.
        counters = [above for number, above in numbers if number in _COUNTERS]
        hundreds = [above for number, above in numbers if number == 100]
        too_many = any(each.count(above) > 1 for each in (counters, hundreds) for above in (True, False))
    if too_many:
        yield "a number is put together from constants"


def _same(one: ast.expr, other: ast.expr) -> bool:
    return number_of(one) is None and ast.dump(one) == ast.dump(other)


def _parts(node: ast.expr, above: bool = True) -> Iterator[tuple[ast.expr, bool]]:
    """What a sum adds up, or what a product multiplies (True) and divides by (False); a mean is one part."""
    kind = _kind(node)
    if kind is None or not isinstance(node, ast.BinOp):
        yield node, above
        return
    for side, place in ((node.left, above), (node.right, above is not isinstance(node.op, ast.Div | ast.FloorDiv))):
        if _kind(side) == kind and not _is_mean(side):
            yield from _parts(side, place)
        else:
            yield side, place


def _is_mean(node: ast.expr) -> bool:
    """`(a + b) / 2`."""
    match node:
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            terms = terms_of(left)
            return terms is not None and number_of(right) == terms
        case _:
            return False


def _inner_operations(tree: ast.Module) -> frozenset[ast.BinOp]:
    """Operations that are a piece of a larger sum or product of their kind."""
    return frozenset(
        side
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and _kind(node) is not None
        for side in (node.left, node.right)
        if isinstance(side, ast.BinOp) and _kind(side) == _kind(node)
    )


def _kind(node: ast.expr) -> str | None:
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return "sum"
        case ast.BinOp(op=ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Mod()):
            return "product"
        case _:
            return None
