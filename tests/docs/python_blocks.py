"""Python of a page, run; comments that say what a line gives are held against it."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import io
import re
import tokenize
from types import CodeType
from typing import Any

_RESULT = re.compile(r"""^(?:['"\[({\d-]|None$|True$|False$|[A-Z]\w*\()""")
"""How a comment begins that says what an expression gives."""
_CHECKER = doctest.OutputChecker()


def run_python(code: str, names: dict[str, Any], place: str) -> None:
    """Run a block. `names` stay for the next block of the page.

    `print(x)  # 544.0` has to print that, and `x.y()  # 'revenue'` to give it; `...` stands for anything.
    """
    comments = _comments(code)
    tree = ast.parse(code)
    names.setdefault("__name__", "__main__")
    if any(isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) for node in _outside_of_functions(tree)):
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        coroutine = eval(compile(tree, place, "exec", flags=flags), names)
        with contextlib.redirect_stdout(io.StringIO()):
            asyncio.run(coroutine)
        return
    for statement in tree.body:
        printed = io.StringIO()
        value = None
        with contextlib.redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                value = eval(_expression(statement, place), names)
            else:
                exec(compile(ast.Module([statement], []), place, "exec"), names)
        told = comments.get(statement.end_lineno or 0)
        if isinstance(statement, ast.Expr) and told is not None:
            _compared(statement, told, printed.getvalue(), value, place)


def run_doctest(text: str, names: dict[str, Any], place: str) -> None:
    """Run a session as the interpreter shows it. Raises AssertionError with what differs."""
    test = doctest.DocTestParser().get_doctest(text + "\n", names, place, place, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    report = io.StringIO()
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert test.examples, f"{place}: no examples"
    assert runner.summarize(verbose=False).failed == 0, report.getvalue()


def _expression(statement: ast.Expr, place: str) -> CodeType:
    return compile(ast.Expression(statement.value), place, "eval")


def _compared(statement: ast.Expr, told: str, printed: str, value: object, place: str) -> None:
    called = statement.value.func if isinstance(statement.value, ast.Call) else None
    if isinstance(called, ast.Name) and called.id == "print":
        got = printed.strip()
    elif _RESULT.match(told):
        got = repr(value)
    else:
        return
    same = _CHECKER.check_output(f"{told}\n", f"{got}\n", doctest.ELLIPSIS)
    assert same, f"{place}, line {statement.lineno}: says {told!r}, gives {got!r}"


def _comments(code: str) -> dict[int, str]:
    """Comments behind code, by line."""
    found = {}
    lines = code.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1][: token.start[1]].strip():
            found[token.start[0]] = token.string.lstrip("# ").strip()
    return found


def _outside_of_functions(tree: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += [
            each
            for each in ast.iter_child_nodes(node)
            if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        ]
    return found
