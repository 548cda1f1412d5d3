"""Parsing Python source, one text at a time across all threads.

Before Python 3.11.9 and 3.12.3 the compiler stores its recursion depth in one place for all threads, and two threads
that parse at once can get a SystemError (CPython issue 106905). Sources here are short, so waiting costs little.
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()


def module_tree(source: str) -> ast.Module:
    """Parse a program into its syntax tree. Raises what `ast.parse` raises."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def expression_tree(source: str) -> ast.expr:
    """Parse one expression into its syntax tree. Raises what `ast.parse` raises."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval").body
