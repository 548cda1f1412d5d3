"""The arithmetic that `expression` and `derive` are written in: a small, checked subset of Python."""

from __future__ import annotations

import ast
from functools import lru_cache

from fin_agent.syntax_trees import expression_tree

FUNCTIONS = {
    "avg": "mean of this and the prior period's end",
    "prior": "the figure one period earlier",
    "change": "x - prior(x)",
    "first": "the first alternative all of whose inputs are reported",
    "abs": "absolute value",
    "optional": "0 when not reported",
}


@lru_cache(maxsize=4096)
def parse_expression(expression: str) -> ast.expr:
    """The checked syntax tree of an expression: names, numbers, + - * /, and calls of `FUNCTIONS` by position.

    Raises ValueError that says what is not allowed.
    """
    try:
        tree = expression_tree(expression.strip())
    except SyntaxError as error:
        raise ValueError(f"`{expression}` cannot be parsed ({error.msg})") from error
    _check(tree)
    return tree


def expression_inputs(expression: str) -> tuple[str, ...]:
    """Ids of metrics and formulas that an expression names, in order of appearance, each once."""
    tree = parse_expression(expression)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    names.sort(key=lambda name: (name.lineno, name.col_offset))
    return tuple(dict.fromkeys(name.id for name in names))


def _check(node: ast.expr) -> None:
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            _check(left)
            _check(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand)
        case ast.Name():
            pass
        case ast.Constant(value=value) if type(value) in (int, float):
            pass
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS:
                raise ValueError(f"unknown function `{name}` (known: {', '.join(FUNCTIONS)})")
            if not arguments or (name != "first" and len(arguments) != 1):
                raise ValueError(f"`{name}` takes {'one or more arguments' if name == 'first' else 'one argument'}")
            for argument in arguments:
                _check(argument)
        case _:
            raise ValueError(f"`{ast.unparse(node)}` is not allowed in an expression")
