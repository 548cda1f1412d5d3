"""What the result of a model's program owes to each of its figures, and to rounding: found by running it otherwise."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

from fin_agent.answering.executor import ProgramExecutor, ProgramScalar, ProgramValue
from fin_agent.answering.model_syntax import selects
from fin_agent.answering.program import Program
from fin_agent.answering.program_errors import ProgramError
from fin_agent.answering.provenance import Binding, Provenance
from fin_agent.errors import SandboxError
from fin_agent.syntax_trees import module_tree

_TRIED_AT = ("7",)
_TRIED_AT_CHOICES = ("1000000", "0.000001")
"""Where values are chosen among, a figure has to become the largest or the smallest to be seen."""
_TRIED_AT_TRUTHS = (*_TRIED_AT_CHOICES, "-1")


def require_influence(
    program: Program, provenance: Provenance, result: ProgramValue, executor: ProgramExecutor
) -> None:
    """Every figure changes the result when it alone is another: else it is named for show, or cancels out."""
    factors: tuple[str, ...] = _TRIED_AT
    if selects(program.code):
        truths = isinstance(result, bool | str)
        factors = _TRIED_AT_TRUTHS if truths else _TRIED_AT_CHOICES
    same: dict[object, list[Binding]] = {}
    for binding in provenance.bindings:
        if binding.fact is not None:
            # One figure printed on two pages is one: `a + (b - same_as_b)` has no part of it.
            key = (
                abs(binding.fact.value),
                binding.fact.unit,
                binding.fact.period.fiscal_year,
                binding.fact.period.quarter,
            )
            same.setdefault(key, []).append(binding)
    for bindings in same.values():
        if not any(_differs(_multiplied(program.code, bindings, factor), result, executor) for factor in factors):
            fact = bindings[0].fact
            raise ProgramError(
                f"line {bindings[0].line}: {bindings[0].literal} ({fact.label if fact else ''}) has no part in the "
                "result: it is the same whatever that figure is",
                remedy="Compute the result from every figure, and leave out those that it does not need.",
                line=bindings[0].line,
            )


def without_rounding(code: str, result: ProgramValue, executor: ProgramExecutor) -> ProgramValue:
    """What the program returns where `round` does nothing."""
    if "round" not in code:
        return result
    try:
        again = executor.run(ast.unparse(_Unrounded().visit(module_tree(code)))).value
    except SandboxError:
        return result
    return again if len(_listed(again)) == len(_listed(result)) else result


class _Unrounded(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node.args[0] if isinstance(node.func, ast.Name) and node.func.id == "round" else node


def _differs(code: str, result: ProgramValue, executor: ProgramExecutor) -> bool:
    try:
        again = executor.run(code).value
    except SandboxError:
        return True
    one, other = _listed(result), _listed(again)
    return len(one) != len(other) or any(not _same(a, b) for a, b in zip(one, other, strict=True))


def _same(one: ProgramScalar, other: ProgramScalar) -> bool:
    if isinstance(one, bool | str) or isinstance(other, bool | str):
        return one == other
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))


def _multiplied(code: str, figures: Sequence[Binding], factor: str) -> str:
    lines = code.splitlines()
    for (place, literal), count in Counter((each.line - 1, each.literal.lstrip("-")) for each in figures).items():
        number = re.compile(rf"(?<![\w.]){re.escape(literal)}(?![\w.])")
        changed = f"({literal} * {factor})" if any(digit in literal for digit in "123456789") else factor
        lines[place] = number.sub(changed, lines[place], count=count)
    return "\n".join(lines)


def _listed(result: ProgramValue) -> list[ProgramScalar]:
    return result if isinstance(result, list) else [result]
