"""What a program may be written with: plain statements and arithmetic, a few modules, no way around them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fin_agent.answering.executor import SandboxSettings
from fin_agent.answering.program_errors import (
    DEFINE_SOLUTION,
    PLAIN_ARITHMETIC,
    ProgramError,
    failed,
    not_available,
    out_of_reach,
)
from fin_agent.syntax_trees import module_tree


def check_syntax(code: str, settings: SandboxSettings) -> ast.Module:
    """The program read, before anything runs it. Raises ProgramError, which names line and piece, for what it may not.

    This stands in front of every executor. It refuses names and attributes with two underscores, frames and code
    objects, classes, generators, `eval` and its like, modules other than those of `ALLOWED_MODULES`, and texts that
    look attributes up while they are formatted.
    """
    if not code.strip():
        raise ProgramError("the program is empty", remedy=DEFINE_SOLUTION)
    if len(code) > settings.max_code_characters:
        raise ProgramError(
            f"the program has {len(code):,} characters, more than {settings.max_code_characters:,}",
            remedy="Shorten it: one assignment per figure and the formula.",
        )
    try:
        tree = module_tree(f"{code}\n\n")
        found = [(node, reason) for node in ast.walk(tree) for reason in _reasons(node)]
    except (SyntaxError, ValueError) as failure:
        message = failure.msg if isinstance(failure, SyntaxError) else str(failure)
        kind = type(failure).__name__ if isinstance(failure, SyntaxError) else "SyntaxError"
        raise failed(kind, message, getattr(failure, "lineno", None), settings) from failure
    except (RecursionError, MemoryError) as failure:
        raise failed("SyntaxError", "nested too deeply", None, settings) from failure
    if found:
        _, reason = min(found, key=lambda each: _end_of(each[0]))
        raise reason
    return tree


ALLOWED_MODULES = frozenset(
    (
        "__future__", "collections", "datetime", "decimal", "fractions", "functools", "itertools", "math", "operator",
        "re", "statistics", "time", "typing",
    )
)  # fmt: skip
_OF_THE_HOST = frozenset(
    (
        "asyncio", "fcntl", "glob", "io", "multiprocessing", "os", "pathlib", "platform", "random", "resource",
        "secrets", "shutil", "signal", "sys", "tempfile", "threading", "uuid", "zoneinfo",
    )
)  # fmt: skip
_HOST_CALLS = frozenset(("open", "input", "breakpoint", "help", "exit", "quit"))
_HOST_ATTRIBUTES = frozenset(
    ("now", "today", "utcnow", "environ", "getenv", "time_ns", "monotonic", "perf_counter", "gmtime", "localtime")
)
_INNER_NAMES = frozenset(
    (
        "eval", "exec", "compile", "getattr", "setattr", "delattr", "hasattr", "globals", "locals", "vars", "dir",
        "type", "object", "super", "classmethod", "staticmethod", "property", "memoryview", "id", "copyright",
        "credits", "license",
    )
)  # fmt: skip
_INNER_ATTRIBUTES = frozenset(
    (
        "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code", "ag_frame", "ag_code", "f_back", "f_builtins",
        "f_code", "f_globals", "f_locals", "tb_frame", "tb_next", "co_code", "co_consts", "func_globals", "mro",
        "with_traceback", "format_map", "attrgetter", "methodcaller", "get_type_hints", "ForwardRef", "namedtuple",
    )
)  # fmt: skip
_LOOKS_UP = re.compile(r"\{[^{}:!]*[.\[]")


def _reasons(node: ast.AST) -> Iterator[ProgramError]:
    line = getattr(node, "lineno", None)
    match node:
        case ast.Import(names=names):
            yield from (_import_error(name.name, line) for name in names if name.name not in ALLOWED_MODULES)
        case ast.ImportFrom(module=module, names=names):
            if module not in ALLOWED_MODULES or node.level:
                yield _import_error(module or ".", line)
            elif any(name.name == "*" for name in names):
                yield _import_error(f"{module} import *", line)
            yield from (error for name in names for error in _name_errors(name.name, line))
            yield from (error for name in names for error in _attribute_errors(name.name, line))
        case ast.Name(id=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield from _name_errors(name, line)
        case ast.Attribute(attr=name, value=value):
            yield from _attribute_errors(name, line)
            if name == "format" and not (isinstance(value, ast.Constant) and _is_plain_format(value.value)):
                yield not_available(f"line {line}: `format` of a text that may look up attributes", line)
        case ast.ClassDef():
            yield not_available(f"line {line}: a class", line)
        case ast.FunctionDef(name=name):
            yield from _name_errors(name, line)
        case ast.AsyncFunctionDef(name="solution"):
            yield ProgramError("`solution` is asynchronous", remedy=DEFINE_SOLUTION, line=line)
        case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith() | ast.Await():
            yield not_available(f"line {line}: `async` and `await`", line)
        case ast.Yield() | ast.YieldFrom():
            yield not_available(f"line {line}: `yield`", line)
        case ast.MatchClass():
            yield not_available(f"line {line}: a class in `case`", line)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from (error for name in names for error in _name_errors(name, line))


def _import_error(module: str, line: int | None) -> ProgramError:
    if module.partition(".")[0] in _OF_THE_HOST:
        return out_of_reach(f"line {line}: `import {module}`", line)
    return ProgramError(
        f"the program's import is not available: line {line}: `{module}`", remedy=PLAIN_ARITHMETIC, line=line
    )


def _name_errors(name: str, line: int | None) -> Iterator[ProgramError]:
    if name in _HOST_CALLS:
        yield out_of_reach(f"line {line}: `{name}`", line)
    elif name.startswith("__") or name in _INNER_NAMES:
        yield not_available(f"line {line}: `{name}`", line)


def _attribute_errors(name: str, line: int | None) -> Iterator[ProgramError]:
    if name in _HOST_ATTRIBUTES:
        yield out_of_reach(f"line {line}: `{name}`", line)
    elif name.startswith("_") or name in _INNER_ATTRIBUTES:
        yield not_available(f"line {line}: `{name}`", line)


def _is_plain_format(text: object) -> bool:
    return isinstance(text, str) and _LOOKS_UP.search(text) is None


def _end_of(node: ast.AST) -> tuple[int, int]:
    """The piece that ends first is the innermost and leftmost one."""
    return getattr(node, "end_lineno", None) or 1, getattr(node, "end_col_offset", None) or 0
