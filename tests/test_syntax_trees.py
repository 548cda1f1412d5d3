"""Source is parsed the same whatever the number of threads."""

from __future__ import annotations

import ast
import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from fin_agent.syntax_trees import expression_tree, module_tree

DEEP = "(" * 40 + "a" + " + 1) * b" * 40
PROGRAM = "def solution():\n" + "".join(f"    x{number} = [{number}, ({number} + 1) / 2]\n" for number in range(60))


def test_trees_are_those_of_the_compiler() -> None:
    assert ast.dump(expression_tree("a / (b + 1)")) == ast.dump(ast.parse("a / (b + 1)", mode="eval").body)
    assert ast.dump(module_tree(PROGRAM)) == ast.dump(ast.parse(PROGRAM))
    with pytest.raises(SyntaxError):
        expression_tree("a +")


def test_many_threads_parse_at_once() -> None:
    usual, collected = sys.getswitchinterval(), gc.get_threshold()

    def looks(phase: str, details: object) -> None:
        """What a collection calls in the midst of parsing: there threads take turns."""
        sum(range(50))

    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    gc.callbacks.append(looks)
    try:
        with ThreadPoolExecutor(4) as pool:
            trees = list(pool.map(lambda turn: expression_tree(DEEP) and module_tree(PROGRAM), range(40)))
    finally:
        gc.callbacks.remove(looks)
        gc.set_threshold(*collected)
        sys.setswitchinterval(usual)
    assert len(trees) == 40
