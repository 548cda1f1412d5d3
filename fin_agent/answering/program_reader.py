"""Every number that a program holds, with the role it plays there. The program is read, never run."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from decimal import Decimal

from fin_agent.answering.literals import Declaration, Literal, Obstacle, ProgramNumbers, Role
from fin_agent.answering.numerals import NumeralKind, numerals_in
from fin_agent.answering.obstacles import obstacles_in
from fin_agent.answering.program_names import names_in
from fin_agent.answering.syntax import (
    CONVERSIONS,
    declarations,
    holds_only_numbers,
    is_text,
    name_of,
    number_of,
    number_of_text,
    power_of_ten,
    scale_of_name,
    scaling_of,
    terms_of,
    text_variables,
)
from fin_agent.syntax_trees import module_tree


def read_numbers(code: str) -> ProgramNumbers:
    """Every number in a program. What cannot be read is an obstacle; nothing is raised."""
    try:
        tree = module_tree(code)
        reader = _Reader(code, tree)
        for statement in tree.body:
            reader.statement(statement)
    except (SyntaxError, ValueError) as failure:
        line = getattr(failure, "lineno", None) or 1
        return ProgramNumbers(obstacles=(Obstacle(line, "", f"the program is not valid Python: {failure}"),))
    except (RecursionError, MemoryError):
        return ProgramNumbers(obstacles=(Obstacle(1, "", "the program is nested too deeply to be read"),))
    return reader.numbers()


_SUBSTITUTIONS = re.compile(r"\{[^{}]*\}|%[-+ 0-9.]*[sdefgr]")


@dataclass(slots=True)
class _Place:
    """Where an expression stands: handed down as the tree is walked."""

    role: Role = Role.FIGURE
    variable: str | None = None
    group: int | None = None
    multiplier: Decimal = field(default=Decimal(1))
    terms: int | None = None
    negative: bool = False
    """An odd number of minus signs stands in front."""

    def but(self, role: Role, terms: int | None = None) -> _Place:
        return _Place(role, None, self.group, Decimal(1), terms)


class _Reader:
    """Walks a program once and notes its numbers."""

    def __init__(self, code: str, tree: ast.Module) -> None:
        self._lines = code.splitlines()
        self._declarations = declarations(code)
        self._texts = text_variables(tree)
        self._literals: list[Literal] = []
        self._obstacles: list[Obstacle] = list(obstacles_in(tree, code))
        self._groups = 0
        self._names = names_in(tree)

    def numbers(self) -> ProgramNumbers:
        return ProgramNumbers(
            literals=tuple(self._literals),
            obstacles=tuple(self._obstacles),
            names=self._names,
        )

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Import() | ast.ImportFrom():
                return
            case ast.Raise():  # Its text explains a failure; a number could be caught again.
                for child in ast.walk(node):
                    if isinstance(child, ast.Constant) and not isinstance(child.value, str):
                        self._constant(child, _Place())
            case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)], value=ast.Tuple(elts=values)) if (
                len(names) == len(values)
            ):
                for name, value in zip(names, values, strict=True):
                    self._expression(value, _Place(variable=name_of(name)))
            case ast.Assign(targets=targets, value=value):
                self._expression(value, _Place(variable=name_of(targets[0])))
                for target in targets:
                    self._target(target)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._expression(value, _Place(variable=name_of(target)))
                self._target(target)
            case ast.AnnAssign():
                return
            case ast.AugAssign(op=op, value=value, target=target):
                self._expression(value, _Place(role=_right_role(op)))
                self._target(target)
            case ast.For(target=target, iter=iterated):
                self._expression(iterated, _Place(variable=name_of(target)))
                self._inside(node)
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                self._expression(test, _Place(Role.COMPARED))
                self._inside(node)
            case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
                self._defaults(arguments)
                self._inside(node)
            case ast.Return(value=value):
                if value is not None:
                    self._expression(value, _Place())
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._expression(child, _Place())
                self._inside(node)

    def _defaults(self, arguments: ast.arguments) -> None:
        positional = [*arguments.posonlyargs, *arguments.args]
        with_default = positional[len(positional) - len(arguments.defaults) :]
        defaults = (*arguments.defaults, *arguments.kw_defaults)
        for argument, default in zip((*with_default, *arguments.kwonlyargs), defaults, strict=True):
            if default is not None:
                self._expression(default, _Place(variable=argument.arg))

    def _inside(self, node: ast.AST) -> None:
        """The statements within a statement."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.excepthandler | ast.match_case | ast.withitem):
                if isinstance(child, ast.withitem):
                    self._expression(child.context_expr, _Place())
                self._inside(child)

    def _target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Subscript):
            self._expression(target.slice, _Place(Role.POSITION))

    def _expression(self, node: ast.expr, place: _Place) -> None:
        match node:
            case ast.Constant():
                self._constant(node, place)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                self._expression(operand, place)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self._expression(operand, replace(place, negative=not place.negative))
            case ast.UnaryOp(operand=operand):
                self._expression(operand, _Place(Role.COMPARED if isinstance(node.op, ast.Not) else Role.FIGURE))
            case ast.BinOp():
                self._arithmetic(node, place)
            case ast.Compare(left=left, comparators=others):
                for side in (left, *others):
                    self._expression(side, _Place(Role.COMPARED))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._expression(test, _Place(Role.COMPARED))
                self._expression(body, place)
                self._expression(orelse, place)
            case ast.Call():
                self._call(node, place)
            case ast.Subscript(value=value, slice=position):
                self._expression(value, _Place())
                self._expression(position, _Place(Role.POSITION))
            case ast.Slice():
                for bound in (node.lower, node.upper, node.step):
                    if bound is not None:
                        self._expression(bound, _Place(Role.POSITION))
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is not None:
                        self._expression(key, _Place(Role.POSITION))
                    self._expression(value, _Place(variable=_key_of(key) or place.variable))
            case ast.NamedExpr(target=target, value=value):
                self._expression(value, _Place(variable=target.id))
            case ast.JoinedStr(values=parts):
                for part in parts:
                    self._expression(part.value if isinstance(part, ast.FormattedValue) else part, _Place())
            case ast.List(elts=members) | ast.Tuple(elts=members) | ast.Set(elts=members):
                for member in members:
                    self._expression(member, _Place(place.role, place.variable))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                self._comprehension(node)
            case ast.Lambda(args=arguments, body=body):
                self._defaults(arguments)
                self._expression(body, _Place())
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._expression(child, _Place())

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        for member in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self._expression(member, _Place())
        for generator in node.generators:
            self._expression(generator.iter, _Place(variable=name_of(generator.target)))
            for condition in generator.ifs:
                self._expression(condition, _Place(Role.COMPARED))

    def _constant(self, node: ast.Constant, place: _Place) -> None:
        value = node.value
        if isinstance(value, bool):
            if place.role in (Role.FACTOR, Role.EXPONENT, Role.ADDED, Role.SUBTRACTED):
                self._obstacle(node, "True and False are no figures")
        elif isinstance(value, int | float):
            if self._source(node)[:2].lower() in ("0x", "0o", "0b"):
                self._obstacle(node, "a figure is written as printed, in decimal digits")
            self._note(node, Decimal(repr(value)), place)
        elif isinstance(value, str):
            number = number_of_text(value)
            if number is not None:
                self._note(node, number, _Place(Role.POSITION if place.role is Role.POSITION else Role.FIGURE))
            elif place.role is not Role.POSITION:
                self._text(node, value)

    def _text(self, node: ast.Constant, text: str) -> None:
        for numeral in numerals_in(_SUBSTITUTIONS.sub(" ", text)):
            if numeral.kind is not NumeralKind.LABEL:
                self._literals.append(
                    Literal(
                        value=numeral.value,
                        source=numeral.printed,
                        line=node.lineno,
                        role=Role.TEXT,
                        declared_scale=numeral.scale,
                        numeral=numeral.kind,
                    )
                )

    def _arithmetic(self, node: ast.BinOp, place: _Place) -> None:
        scaling = scaling_of(node)
        if scaling is not None and place.role is Role.FIGURE:
            figure, multiplier = scaling
            scaled = _Place(Role.FIGURE, place.variable, place.group, multiplier, negative=place.negative)
            self._expression(figure, scaled)
            return
        power = power_of_ten(node)
        if power is not None:
            self._note(node, power, place)
            return
        if place.group is None and holds_only_numbers(node):
            trusted = place.role in (Role.FACTOR, Role.EXPONENT) and _is_one_over(node)
            self._groups += 0 if trusted else 1
            place = place if trusted else _Place(place.role, place.variable, self._groups)
        if isinstance(node.op, ast.Mod) and is_text(node.left, self._texts):
            self._expression(node.left, _Place())
            self._expression(node.right, _Place())
            return
        if place.role is Role.EXPONENT:
            left = right = place.but(Role.EXPONENT)
        else:
            left = place.but(_left_role(node.op))
            right = place.but(_right_role(node.op), terms_of(node.left) if isinstance(node.op, ast.Div) else None)
        self._expression(node.left, left)
        self._expression(node.right, right)

    def _call(self, node: ast.Call, place: _Place) -> None:
        name = name_of(node.func) or ""
        if not isinstance(node.func, ast.Name):
            self._expression(node.func, _Place())
        for number, argument in enumerate(node.args):
            self._argument(name, number, argument, place)
        for keyword in node.keywords:
            role = Role.POSITION if keyword.arg in ("ndigits", "start") else Role.FIGURE
            self._expression(keyword.value, _Place(role, keyword.arg))

    def _argument(self, name: str, number: int, argument: ast.expr, place: _Place) -> None:
        converted = _number_in_quotes(argument) if name in CONVERSIONS else None
        if converted is not None:
            self._note(argument, converted, place)
        elif name in CONVERSIONS and name != "abs":
            self._expression(argument, place)
        elif name == "abs" or (name == "round" and number == 0):
            self._expression(argument, place.but(place.role))
        elif name == "pow":
            self._expression(argument, _Place(Role.EXPONENT if number else Role.FACTOR))
        elif name in ("round", "range"):
            self._expression(argument, _Place(Role.POSITION))
        elif name in ("min", "max") or (name == "sum" and number):
            self._expression(argument, _Place(Role.COMPARED))
        else:
            self._expression(argument, _Place())

    def _note(self, node: ast.expr, value: Decimal, place: _Place) -> None:
        declared = self._declarations.get(node.end_lineno or node.lineno, Declaration())
        scale = declared.scale
        if scale is None and place.variable is not None:
            scale = scale_of_name(place.variable)
        self._literals.append(
            Literal(
                value=-value if place.negative else value,
                source=f"-{self._source(node)}" if place.negative else self._source(node),
                line=node.lineno,
                role=place.role,
                variable=place.variable,
                multiplier=place.multiplier,
                declared_scale=scale if place.role is Role.FIGURE else None,
                declared=declared if place.role is Role.FIGURE else None,
                closed_group=place.group,
                terms=place.terms,
            )
        )

    def _obstacle(self, node: ast.expr, reason: str) -> None:
        self._obstacles.append(Obstacle(node.lineno, self._source(node), reason))

    def _source(self, node: ast.expr) -> str:
        line = self._lines[node.lineno - 1].encode()
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return line[node.col_offset : end].decode(errors="replace")[:80]


def _is_one_over(node: ast.BinOp) -> bool:
    """`1 / 3`."""
    return isinstance(node.op, ast.Div) and number_of(node.left) == 1 and isinstance(node.right, ast.Constant)


def _left_role(operator: ast.operator) -> Role:
    return Role.FACTOR if isinstance(operator, ast.Pow) else _right_role(operator)


def _right_role(operator: ast.operator) -> Role:
    match operator:
        case ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Mod():
            return Role.FACTOR
        case ast.Pow():
            return Role.EXPONENT
        case ast.Add():
            return Role.ADDED
        case ast.Sub():
            return Role.SUBTRACTED
        case _:
            return Role.FIGURE


def _key_of(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _number_in_quotes(node: ast.expr) -> Decimal | None:
    text = _key_of(node)
    return None if text is None else number_of_text(text)
