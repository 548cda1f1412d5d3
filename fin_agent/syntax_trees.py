"""Python source as a syntax tree, one text at a time whatever the number of threads.

Before Python 3.11.9 and 3.12.3 the compiler keeps its depth in one place for all threads, and two that parse at once
can get a SystemError (CPython issue 106905). Expressions and programs are short: nobody waits long.
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()


def module_tree(source: str) -> ast.Module:
    """The tree of a program. Raises what `ast.parse` raises."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def expression_tree(source: str) -> ast.expr:
    """The tree of one expression. Raises what `ast.parse` raises."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval").body
