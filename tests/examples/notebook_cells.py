"""A notebook's cells run one after the other, as a kernel runs them, without a kernel."""

from __future__ import annotations

import ast
import contextlib
import io
from typing import Any


class Kernel:
    """Names stay from cell to cell."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, source: str) -> tuple[str, str | None]:
        """What a cell printed, and its last expression as it is shown, where it ends with one that is not None."""
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "<cell>", "exec"), self.names)
            value = None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names)
        return printed.getvalue(), None if value is None else repr(value)


def outputs_of(cell: dict[str, Any]) -> tuple[str, str | None]:
    """What a cell's outputs in the file say that it printed and showed."""
    printed = "".join("".join(each["text"]) for each in cell["outputs"] if each["output_type"] == "stream")
    shown = ["".join(each["data"]["text/plain"]) for each in cell["outputs"] if each["output_type"] == "execute_result"]
    return printed, shown[0] if shown else None
