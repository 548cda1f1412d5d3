"""Runs one program in a process of its own: read from stdin, limits drawn in, result written to stdout.

Started by path, isolated (`python -I -S`), so that nothing but the standard library is imported here.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import CodeType, ModuleType, TracebackType


def main() -> None:
    """Run the request that stands on stdin."""
    request = json.loads(sys.stdin.buffer.read())
    modules = {name: _public_part_of(name, request["max_sleep_seconds"]) for name in request["modules"]}
    printed = _Printed(request["max_printed_characters"])
    names = _BUILTINS | {"print": printed.write, "__import__": _importer(modules)}
    _draw_in_limits(request)
    namespace: dict[str, object] = {"__builtins__": names, "__name__": "program"}
    outcome = _outcome(request["code"], namespace, request["max_text_characters"])
    outcome["printed"] = printed.text
    outcome["printed_too_much"] = printed.full
    sys.stdout.write(json.dumps(outcome))
    sys.stdout.flush()


_BITS_OF_AN_ANSWER = 400
"""Of a whole number, beyond which it is not sent back: it is no figure."""
_LONGEST_LIST = 1_000
_BUILTINS: dict[str, object] = {
    name: getattr(builtins, name)
    for name in (
        "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "Exception", "IndexError", "KeyError",
        "KeyboardInterrupt", "LookupError", "MemoryError", "NameError", "NotImplementedError", "OverflowError",
        "RecursionError", "RuntimeError", "StopIteration", "SystemExit", "TypeError", "ValueError", "ZeroDivisionError",
        "abs", "all", "any", "ascii", "bin", "bool", "bytes", "chr", "complex", "dict", "divmod", "enumerate", "filter",
        "float", "format", "frozenset", "hex", "int", "isinstance", "iter", "len", "list", "map", "max", "min", "next",
        "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple",
        "zip",
    )
}  # fmt: skip


class _Printed:
    """What the program prints, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._parts: list[str] = []
        self.full = False

    def write(self, *values: object, sep: str = " ", end: str = "\n", **_ignored: object) -> None:
        text = sep.join(map(str, values)) + end
        self._left -= len(text)
        if self._left < 0:
            self.full = True
            raise MemoryError("printed too much")
        self._parts.append(text)

    @property
    def text(self) -> str:
        return "".join(self._parts)


def _public_part_of(name: str, max_sleep_seconds: float) -> ModuleType:
    """A module without its private names and without the modules it holds: `re` leads to `sys` otherwise."""
    part = ModuleType(name)
    if name == "time":
        part.__dict__["sleep"] = _sleeper(max_sleep_seconds)
        return part
    module = __import__(name)
    for key, value in vars(module).items():
        if not key.startswith("_") and not isinstance(value, ModuleType):
            part.__dict__[key] = value
    return part


def _sleeper(max_sleep_seconds: float) -> Callable[[float], None]:
    from time import sleep

    left = [max_sleep_seconds]

    def limited(seconds: float) -> None:
        left[0] -= seconds
        if left[0] < 0:
            raise TimeoutError("sleep limit")
        sleep(seconds)

    return limited


def _importer(modules: Mapping[str, ModuleType]) -> Callable[..., ModuleType]:
    def import_module(name: str, *_others: object, **_named: object) -> ModuleType:
        if name not in modules:
            raise ImportError(f"No module named {name!r}")
        return modules[name]

    return import_module


def _draw_in_limits(request: Mapping[str, float]) -> None:
    """From here on: no file opens, no process starts, memory and time end; the kernel sees to it."""
    import resource
    import signal

    memory = _memory_in_use() + int(request["max_memory_bytes"])
    seconds = request["max_seconds"]
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_FSIZE: int(request["max_output_bytes"]),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_NOFILE: 3,
    }
    sys.setrecursionlimit(int(request["max_recursion_depth"]) + 20)
    # Neither signal is handled: each ends the process at once, whatever the program catches.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds + request["max_sleep_seconds"] + 0.5)
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))


def _memory_in_use() -> int:
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:  # Only Linux says so; elsewhere room for the interpreter itself is added.
        return 512 * 2**20
    pages = int(os.read(statm, 100).split()[0])
    os.close(statm)
    return pages * os.sysconf("SC_PAGE_SIZE")


def _outcome(source: str, namespace: dict[str, object], longest_text: int) -> dict[str, object]:
    """Either what `solution()` returned, or the exception that came out, with its line."""
    try:
        code: CodeType = compile(source, "program.py", "exec", dont_inherit=True)
        exec(code, namespace)
        if "solution" not in namespace:
            return {"failed": "NameError", "message": "name 'solution' is not defined", "line": None}
        solution = namespace["solution"]
        wanted = getattr(getattr(solution, "__code__", None), "co_argcount", None)
        defaults = getattr(solution, "__defaults__", None) or ()
        if not callable(solution) or (wanted is not None and wanted > len(defaults)):
            return {"uncallable": "it is no function without parameters"}
        return {"value": _sent(solution(), longest_text, nested=False)}
    except BaseException as failure:
        return {
            "failed": type(failure).__name__,
            "message": _message_of(failure),
            "line": getattr(failure, "lineno", None) or _line_of(failure.__traceback__),
        }


def _message_of(failure: BaseException) -> str:
    try:
        return str(failure)[:500]
    except BaseException:
        return ""


def _line_of(trace: TracebackType | None) -> int | None:
    """The innermost line that is the program's own."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "program.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _sent(value: object, room: int, *, nested: bool) -> list[object]:
    """A value as [kind, text], [`list`, members] or [`other`, name of its type]; texts beyond `room` are cut."""
    kind = type(value)
    if value is None or kind is bool:
        return ["plain", value]
    if kind is str and isinstance(value, str):
        return ["plain", value[: room + 1]]
    if kind is int and isinstance(value, int):
        return ["int", str(value)] if value.bit_length() <= _BITS_OF_AN_ANSWER else ["huge", None]
    if kind is float or kind is Decimal:
        return ["float" if kind is float else "decimal", str(value)]
    if isinstance(value, list | tuple) and not nested:
        return _sent_list(value, room)
    return ["other", kind.__name__]


def _sent_list(members: Sequence[object], room: int) -> list[object]:
    if len(members) > _LONGEST_LIST:
        return ["long", len(members)]
    sent: list[list[object]] = []
    for member in members:
        sent.append(_sent(member, room, nested=True))
        room -= len(member) if isinstance(member, str) else 0
        if room < 0:  # What is there by now is refused as too long.
            break
    return ["list", sent]


if __name__ == "__main__":
    main()
