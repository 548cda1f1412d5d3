"""The allowed syntax of programs: figures, plain arithmetic, comparisons, lists and a result.

It applies to every program, whether rules, a chat model or a person wrote it: syntax whose numbers cannot be accounted
for is not allowed.
"""

from __future__ import annotations

import ast
from enum import StrEnum

from fin_agent.errors import SandboxError
from fin_agent.syntax_trees import module_tree

CALLS = frozenset(("abs", "min", "max", "sum", "round", "sorted"))
MAX_PROGRAM_LENGTH = 20_000
"""In characters."""
DEFINE_SOLUTION = "Define `def solution():` without parameters, and return the answer."


class ProgramError(SandboxError):
    """A program gave no answer; the error has the reason, the line and the next step for a repair."""

    def __init__(self, what: str, *, remedy: str, line: int | None = None) -> None:
        self.line = line
        """Line of the program, from 1; None if no line is at fault."""
        super().__init__(what, remedy=remedy)


def program_tree(code: str) -> ast.Module:
    """Parse a program in the allowed syntax.

    Allowed are `def solution():` without parameters and constants above it; assignments to a name, `if`, `return`; the
    operators + - * / **, comparisons, `and`, `or`, `not`, conditional expressions; lists of values, indexed by a
    constant; calls of CALLS; strings that are returned unchanged. Not allowed is syntax that makes numbers from other
    things: lengths, remainders, bits, loops, imports, attributes.

    Raises:
        ProgramError: The program uses other syntax; the message has the line and the expression.
    """
    if not code.strip():
        raise ProgramError("the program is empty", remedy=DEFINE_SOLUTION)
    if len(code) > MAX_PROGRAM_LENGTH:
        what = f"the program has {len(code):,} characters, more than {MAX_PROGRAM_LENGTH:,}"
        raise ProgramError(what, remedy="Shorten it: one assignment per figure and the formula")
    try:
        tree = module_tree(f"{code}\n\n")
        _ProgramChecker().module(tree)
    except (SyntaxError, ValueError) as failure:
        line = getattr(failure, "lineno", None)
        said = " ".join(f"{getattr(failure, 'msg', failure)}".split())[:200]
        what = f"the program is not valid Python: {f'line {line}: ' if line else ''}{said}"
        raise ProgramError(what, remedy="Correct the syntax", line=line) from failure
    except (RecursionError, MemoryError) as failure:
        what = "the program is not valid Python: it is nested too deeply"
        raise ProgramError(what, remedy="Write one step a line") from failure
    return tree


class _Kind(StrEnum):
    NUMBER = "a number"
    TEXT = "a text"
    TRUTH = "a truth value"
    LIST = "a list"


_KIND_OF_TYPE = {bool: _Kind.TRUTH, int: _Kind.NUMBER, float: _Kind.NUMBER, str: _Kind.TEXT}


class _ProgramChecker:
    """Checks the statements of a program in order, and records the kind of each variable's value."""

    def __init__(self) -> None:
        self._held: dict[str, _Kind] = {}

    def module(self, tree: ast.Module) -> None:
        defined = False
        for statement in tree.body:
            match statement:
                case ast.FunctionDef(name="solution", args=arguments, body=body, decorator_list=[]) if not defined:
                    if ast.unparse(arguments):
                        what = "`solution` cannot be called: it takes arguments"
                        raise ProgramError(what, remedy=DEFINE_SOLUTION, line=statement.lineno)
                    defined = True
                    for inner in body:
                        self._statement(inner)
                case ast.Assign() | ast.Expr(value=ast.Constant(value=str())):
                    self._statement(statement)
                case _:
                    raise _syntax_not_allowed(statement, "is outside `def solution():`")
        if not defined:
            raise ProgramError("the program does not define `solution`", remedy=DEFINE_SOLUTION)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                kind = self._kind(value)
                if self._held.setdefault(name, kind) is not kind:
                    raise _syntax_not_allowed(node, f"assigns {kind} after {self._held[name]}")
            case ast.If(test=test, body=body, orelse=orelse):
                self._test(test)
                for statement in (*body, *orelse):
                    self._statement(statement)
            case ast.Return(value=value) if value is not None:
                self._kind(value)
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                return
            case _:
                raise _syntax_not_allowed(node, "is not an assignment to one name, `if` or `return`")

    def _kind(self, node: ast.expr) -> _Kind:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as literal):
                return _KIND_OF_TYPE[type(literal)]
            case ast.Name(id=name) if name in self._held:
                return self._held[name]
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right=right):
                self._number(left)
                return self._number(right)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._number(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._test(operand)
            case ast.BoolOp(values=values):
                for value in values:
                    self._test(value, truth=True)
                return _Kind.TRUTH
            case ast.Compare(left=left, ops=ops, comparators=others) if not any(
                isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops
            ):
                for side in (left, *others):
                    self._number(side)
                return _Kind.TRUTH
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._test(test)
                kind = self._kind(body)
                if self._kind(orelse) is not kind:
                    raise _syntax_not_allowed(node, f"is {kind} in one branch and another kind in the other")
                return kind
            case ast.List(elts=members) | ast.Tuple(elts=members):
                for member in members:
                    if self._kind(member) is _Kind.LIST:
                        raise _syntax_not_allowed(member, "is a list in a list")
                return _Kind.LIST
            case ast.Subscript(value=ast.Name() | ast.Call() as listed, slice=position) if _is_position(position):
                self._list(listed)
                return _Kind.NUMBER  # of a variable or a sorted list, such as a median
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in CALLS:
                return self._call(node, name, arguments)
            case ast.Call():
                raise _syntax_not_allowed(node.func, "is not an available function")
            case ast.Name():
                raise _syntax_not_allowed(node, "has no value yet")
            case _:
                raise _syntax_not_allowed(node, "is no arithmetic on numbers")

    def _call(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> _Kind:
        match name, arguments:
            case ("round" | "abs", [value]) | ("round", [value, ast.Constant(value=int())]):
                return self._number(value)
            case "sorted" | "sum" | "min" | "max", [value]:
                self._list(value)
                return _Kind.LIST if name == "sorted" else _Kind.NUMBER
            case "min" | "max", [_, _, *_]:
                for value in arguments:
                    self._number(value)
                return _Kind.NUMBER
            case _:
                raise _syntax_not_allowed(node, f"calls `{name}` with the wrong arguments")

    def _list(self, node: ast.expr) -> None:
        if self._kind(node) is not _Kind.LIST:
            raise _syntax_not_allowed(node, "is not the list that is required here")
        if isinstance(node, ast.List | ast.Tuple):
            for member in node.elts:
                self._number(member)

    def _number(self, node: ast.expr) -> _Kind:
        kind = self._kind(node)
        if kind is not _Kind.NUMBER:
            raise _syntax_not_allowed(node, f"is {kind}, and arithmetic needs a number")
        return kind

    def _test(self, node: ast.expr, *, truth: bool = False) -> _Kind:
        kind = self._kind(node)
        if kind is not _Kind.TRUTH and (truth or kind is not _Kind.NUMBER):
            raise _syntax_not_allowed(node, f"is {kind}, which is no condition")
        return _Kind.TRUTH


def _is_position(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(node, ast.Constant) and type(node.value) is int


def _syntax_not_allowed(node: ast.stmt | ast.expr, what: str) -> ProgramError:
    written = ast.unparse(node).strip().partition("\n")[0]
    return ProgramError(
        f"line {node.lineno}: `{written[:80]}` {what}",
        remedy="Write `def solution():` with one assignment per figure, the operators + - * / **, comparisons, `if`, "
        f"`return`, lists of values, and {', '.join(sorted(CALLS))} (with decimals from 0 on); nothing else",
        line=node.lineno,
    )
