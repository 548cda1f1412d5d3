"""What a program of a chat model may be written with: figures, plain arithmetic, comparisons, a result."""

from __future__ import annotations

import ast
from decimal import Decimal
from enum import StrEnum

from fin_agent.answering.program_errors import ProgramError
from fin_agent.answering.syntax import SCALES, name_of, number_of, scaling_of
from fin_agent.syntax_trees import module_tree

CALLS = frozenset(("abs", "min", "max", "sum", "round", "sorted"))


def check_model_syntax(code: str) -> None:
    """Raises ProgramError, with the line, for anything but assignments, `if`, `return`, the operators + - * / **,
    comparisons, lists of values, and the calls of CALLS.

    What is left out is what makes numbers of other things: texts, lengths, positions, remainders, loops. `round` cuts
    decimals only, a list is picked from only after it is sorted (a median), and a power of a thousand stands only
    behind a printed figure, where it brings it to the scale of the others.
    """
    try:
        tree = module_tree(code)
        _Writing().module(tree)
    except (SyntaxError, ValueError) as failure:
        line = getattr(failure, "lineno", None)
        what = f"the program is not valid Python: {getattr(failure, 'msg', failure)}"
        raise ProgramError(what, remedy="Correct the syntax.", line=line) from failure
    except (RecursionError, MemoryError) as failure:
        raise ProgramError("the program is nested too deeply", remedy="Write one step a line.") from failure


def selects(code: str) -> bool:
    """Whether a program chooses among values: a figure that is not chosen changes nothing while it stays so."""
    chooses = ("min", "max", "sorted")
    return any(
        isinstance(node, ast.Compare | ast.If | ast.IfExp)
        or (isinstance(node, ast.Call) and name_of(node.func) in chooses)
        for node in ast.walk(module_tree(code))
    )


class _Kind(StrEnum):
    NUMBER = "a number"
    TEXT = "a text"
    TRUTH = "a truth value"
    LIST = "a list"


_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_SIGNS = {ast.Mod: "%", ast.FloorDiv: "//"}


class _Writing:
    """Walks a program in the order of its statements, and knows of each variable what kind of value it holds."""

    def __init__(self) -> None:
        self._held: dict[str, _Kind] = {}

    def module(self, tree: ast.Module) -> None:
        for statement in tree.body:
            match statement:
                case ast.FunctionDef(name="solution", args=arguments, decorator_list=[]) if not _any(arguments):
                    self._block(statement.body)
                case ast.Assign() | ast.Expr(value=ast.Constant(value=str())):
                    self._statement(statement)
                case _:
                    raise _left_out(statement, "there is something beside `def solution():`")

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                kind = self._kind(value)
                if self._held.setdefault(name, kind) is not kind:
                    raise _left_out(node, f"`{name}` is given {kind} where it held {self._held[name]}")
            case ast.AugAssign(
                target=ast.Name(id=name), op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), value=value
            ):
                self._number(ast.Name(id=name, ctx=ast.Load(), lineno=node.lineno, col_offset=0))
                self._number(value)
            case ast.If(test=test, body=body, orelse=orelse):
                self._test(test)
                self._block(body)
                self._block(orelse)
            case ast.Return(value=value) if value is not None:
                self._kind(value)
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                return
            case _:
                raise _left_out(node, f"`{type(node).__name__.lower()}` is no assignment, `if` or `return`")

    def _kind(self, node: ast.expr) -> _Kind:
        match node:
            case ast.Constant(value=bool()):
                return _Kind.TRUTH
            case ast.Constant(value=int() | float() as value):
                if Decimal(repr(value)) in SCALES:
                    raise scales_elsewhere(node.lineno)
                return _Kind.NUMBER
            case ast.Constant(value=str()):
                return _Kind.TEXT
            case ast.Name(id=name) if name in self._held:
                return self._held[name]
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(node, left, op, right)
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
                    raise _left_out(node, f"it is {kind} in one case and something else in the other")
                return kind
            case ast.List(elts=members) | ast.Tuple(elts=members):
                for member in members:
                    if self._kind(member) is _Kind.LIST:
                        raise _left_out(member, "a list stands in a list")
                return _Kind.LIST
            case ast.Subscript(value=value, slice=position):
                return self._picked(node, value, position)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in CALLS:
                return self._call(node, name, arguments)
            case ast.Name(id=name):
                raise _left_out(node, f"`{name}` is given no value before")
            case ast.Call(func=func):
                raise _left_out(node, f"`{name_of(func) or 'this'}` is none of the calls there are")
            case _:
                raise _left_out(node, f"`{type(node).__name__.lower()}` is no arithmetic")

    def _operation(self, node: ast.BinOp, left: ast.expr, op: ast.operator, right: ast.expr) -> _Kind:
        if not isinstance(op, _OPERATORS):
            raise _left_out(node, f"`{_SIGNS.get(type(op), type(op).__name__)}` makes another number of a figure")
        scaling = scaling_of(node)
        if scaling is not None and number_of(scaling[0]) not in SCALES:
            return _Kind.NUMBER
        if isinstance(op, ast.Pow):
            if number_of(left) is not None:
                raise _left_out(node, "a power of a bare number")
            if number_of(right) == 0:
                raise _left_out(node, "`** 0` is 1 whatever the figure")
        self._number(left)
        return self._number(right)

    def _picked(self, node: ast.expr, value: ast.expr, position: ast.expr) -> _Kind:
        number = number_of(position)
        match value:
            case ast.Call(func=ast.Name(id="sorted")) if number is not None and number == int(number):
                self._kind(value)
                return _Kind.NUMBER
            case ast.Name(id=name) if self._held.get(name) is _Kind.LIST and number is not None:
                return _Kind.NUMBER
            case _:
                raise _left_out(node, "a piece is taken out of something")

    def _call(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> _Kind:
        match name, arguments:
            case "round", [value] | [value, ast.Constant(value=0)]:
                return self._number(value)
            case "round", [value, ast.Constant(value=int(digits))] if digits > 0:
                return self._number(value)
            case "round", _:
                raise _left_out(node, "`round` cuts decimals, and no other digits")
            case "abs", [value]:
                return self._number(value)
            case "sorted" | "sum" | "min" | "max", [value]:
                self._list(value)
                return _Kind.LIST if name == "sorted" else _Kind.NUMBER
            case "min" | "max", [_, _, *_]:
                for value in arguments:
                    self._number(value)
                return _Kind.NUMBER
            case _:
                raise _left_out(node, f"`{name}` is called with something else than its values")

    def _list(self, node: ast.expr) -> None:
        if self._kind(node) is not _Kind.LIST:
            raise _left_out(node, "a list of values is wanted here")
        if isinstance(node, ast.List | ast.Tuple):
            for member in node.elts:
                self._number(member)

    def _number(self, node: ast.expr) -> _Kind:
        kind = self._kind(node)
        if kind is not _Kind.NUMBER:
            raise _left_out(node, f"{kind} stands where a number is computed with")
        return kind

    def _test(self, node: ast.expr, *, truth: bool = False) -> _Kind:
        kind = self._kind(node)
        if kind is not _Kind.TRUTH and (truth or kind is not _Kind.NUMBER):
            raise _left_out(node, f"{kind} stands where something is compared")
        return _Kind.TRUTH


def scales_elsewhere(line: int | None) -> ProgramError:
    """A power of a thousand that brings no figure to the scale of the others."""
    return ProgramError(
        f"line {line}: a power of a thousand stands elsewhere than behind a printed figure",
        remedy="Leave scaling to the unit: return the result in the scale of the figures, and bring figures of another "
        "scale to it where they are assigned (`debt = 1.2 * 1000`).",
        line=line,
    )


def _any(arguments: ast.arguments) -> bool:
    return bool(arguments.args or arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg)


def _left_out(node: ast.AST, what: str) -> ProgramError:
    line = getattr(node, "lineno", None)
    return ProgramError(
        f"line {line}: {what}",
        remedy="Write `def solution():` with one assignment per figure, the operators + - * / **, comparisons, `if`, "
        f"`return`, lists of values, and {', '.join(sorted(CALLS))} (with decimals from 0 on); nothing else.",
        line=line,
    )
