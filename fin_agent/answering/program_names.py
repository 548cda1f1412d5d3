"""What a program does with its variables: gives them values, reads, counts in, rescales."""

from __future__ import annotations

import ast
from collections import Counter

from fin_agent.answering.literals import ProgramNames
from fin_agent.answering.syntax import rescaled_names


def names_in(tree: ast.Module) -> ProgramNames:
    """The variables of a program."""
    nodes = list(ast.walk(tree))
    named = [node for node in nodes if isinstance(node, ast.Name)]
    return ProgramNames(
        given=dict(Counter(name for node in nodes for name in _names_given(node))),
        used=frozenset(node.id for node in named if isinstance(node.ctx, ast.Load)),
        accumulators=frozenset(
            node.target.id for node in nodes if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        ),
        rescaled=frozenset(name for node in nodes for name in rescaled_names(node)),
    )


def _names_given(node: ast.AST) -> tuple[str, ...]:
    """The names that a piece of a program gives a value to."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) | ast.alias(asname=str(name)):
            return (name,)
        case ast.alias(name=name):
            return (name.partition(".")[0],)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return (name,)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return tuple(names)
        case _:
            return ()
