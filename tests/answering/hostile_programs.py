"""Programs that no sandbox may let do harm, and what has to be said of each."""

from __future__ import annotations


def returning(expression: str, *, first: str = "") -> str:
    """A program that returns an expression."""
    return f"{first}\ndef solution():\n    return {expression}"


HOSTILE = {
    "read a file": (returning("open('/etc/passwd').read()"), "files"),
    "read by pathlib": (returning("Path('/etc/passwd').read_text()", first="from pathlib import Path"), "files"),
    "list a folder": (returning("os.listdir('/')", first="import os"), "files"),
    "read the environment": (returning("os.environ['PATH']", first="import os"), "environment"),
    "read one variable": (returning("os.getenv('HOME')", first="import os"), "environment"),
    "start a process": (returning("os.system('id')", first="import os"), "environment"),
    "import subprocess": (returning("1", first="import subprocess"), "import is not available.*subprocess"),
    "import socket": (returning("1", first="import socket"), "import is not available.*socket"),
    "import urllib": (returning("1", first="import urllib.request"), "import is not available.*urllib"),
    "import ctypes": (returning("1", first="import ctypes"), "import is not available.*ctypes"),
    "import numpy": (returning("1", first="import numpy as np"), "line 1: .*numpy"),
    "import all": (returning("1", first="from math import *"), "not available.*math|not available.*[Ww]ildcard"),
    "dunder import": (returning("__import__('os').system('id')"), "__import__"),
    "walk to subclasses": (returning("().__class__.__base__.__subclasses__()"), "__class__"),
    "walk to globals": (returning("solution.__globals__"), "__globals__"),
    "walk to builtins": (returning("__builtins__"), "__builtins__"),
    "endless loop": ("def solution():\n    while True:\n        pass", "time limit of"),
    "endless loop at the top": ("while True:\n    pass", "time limit"),
    "loop that catches all": (
        "def solution():\n    while True:\n        try:\n            1 / 0\n        except:\n            pass",
        "time limit",
    ),
    "long sum": (returning("sum(range(10**12))"), "time limit"),
    "one long operation": ("def solution():\n    a = 3 ** (10 ** 7)\n    return (a * a) % 7", "time limit"),
    "memory by appending": (
        "def solution():\n    a = []\n    while True:\n        a.append('x' * 1000000)",
        "more memory than 64 MB|time limit",  # whichever a busy machine reaches first
    ),
    "memory at once": (returning("[0] * 10**10"), "more memory"),
    "memory that is caught": (
        "def solution():\n    try:\n        return 'x' * 10**9\n    except MemoryError:\n        return solution()",
        "more memory|recursion",
    ),
    "giant text": (returning("'a' * 10**10"), "more memory"),
    "long text": (returning("'a' * 10**6"), "too long"),
    "long texts in a list": (returning("['a' * 10000] * 100"), "too long"),
    "long list": (returning("[0] * 100000"), "100,000 values"),
    "giant power": (returning("10 ** 10 ** 8"), "more memory|time limit"),
    "giant shift": (returning("1 << 10 ** 10"), "more memory"),
    "large integer": (returning("10 ** 400"), "too large"),
    "huge integer": (returning("10 ** 5000"), "too large"),
    "recursion": (returning("solution()"), "recursion"),
    "sleep": (returning("time.sleep(60)", first="import time"), "sleeps longer"),
    "many short sleeps": ("import time\ndef solution():\n    while True:\n        time.sleep(0.06)", "sleeps longer"),
    "huge print": ("def solution():\n    print('x' * 10**7)\n    return 1", "printed more than 16,384"),
    "endless print": ("def solution():\n    while True:\n        print('x' * 1000)", "printed more|time limit"),
    "wide format": (returning("f'{1:1000000000}'"), "more memory"),
    "backtracking": (
        returning("re.match(r'(a*)*\\1b', 'a' * 5000) is None", first="import re"),
        "backtrack|time limit",
    ),
    "the clock": (returning("datetime.now().year", first="from datetime import datetime"), "clock"),
    "chance": (returning("random.random()", first="import random"), "chance"),
    "leave": ("raise SystemExit(0)\ndef solution():\n    return 1", "failed"),
    "interrupt": ("def solution():\n    raise KeyboardInterrupt()", "KeyboardInterrupt"),
    "deep nesting": (returning("(" * 5000 + "1" + ")" * 5000), "not valid Python"),
    "deeply nested result": (
        "def solution():\n    a = []\n    for i in range(50000):\n        a = [a]\n    return a",
        "list within a list",
    ),
    "endless result": ("def solution():\n    a = []\n    a.append(a)\n    return a", "[Rr]eturn"),
    "write a file": (returning("open('out', 'w').write('x')"), "files"),
    "open as another name": ("o = open\ndef solution():\n    return o('/etc/passwd').read()", "line 1: `open`"),
    "unicode name of open": (returning("\N{MATHEMATICAL BOLD SMALL O}pen('/etc/passwd').read()"), "`open`"),
    "unicode name of eval": (returning("\N{FULLWIDTH LATIN SMALL LETTER E}val('1')"), "`eval`"),
    "evaluate": (returning("eval('__imp' + 'ort__(\"os\").getcwd()')"), "`eval`"),
    "execute": (returning("exec('import os')"), "`exec`"),
    "compile": (returning("compile('1', '', 'eval')"), "`compile`"),
    "attribute by its name": (returning("getattr(1, '__cl' + 'ass__')"), "`getattr`"),
    "format looks attributes up": (returning("'{0.__class__}'.format(1)"), "`format`"),
    "format that is put together": (returning("('{0._' + '_class__}').format(1)"), "`format`"),
    "format by a map": (returning("'{a.real}'.format_map({'a': 1})"), "`format_map`"),
    "class with a hook": ("class A:\n    def __del__(self):\n        pass\ndef solution():\n    return 1", "a class"),
    "frame of a generator": (returning("(x for x in [1]).gi_frame.f_back.f_globals"), "gi_frame"),
    "frame of an exception": (
        "def solution():\n    try:\n        1 / 0\n    except Exception as e:\n        return e.__traceback__.tb_frame",
        "__traceback__",
    ),
    "module of a module": (returning("re.enum.sys.modules['os'].getcwd()", first="import re"), "no attribute|enum"),
    "private part of a module": (returning("re._compiler", first="import re"), "`_compiler`"),
    "import by a relative name": (returning("1", first="from . import os"), "not available"),
    "import sys": (returning("sys.modules['os'].getcwd()", first="import sys"), "environment"),
    "many processes": (returning("os.fork()", first="import os"), "environment"),
    "signal": (returning("signal.alarm(0)", first="import signal"), "environment"),
    "typing evaluates": (
        "import typing\ndef f(x: 'print(1)'): pass\ndef solution():\n    return typing.get_type_hints(f)",
        "get_type_hints",
    ),
    "generator without end": (
        "def g():\n    while True:\n        yield 1\ndef solution():\n    return sum(g())",
        "yield",
    ),
    "iterator without end": (returning("sum(1 for x in iter(int, 1))"), "time limit|more memory"),
    "nested loops": (
        "def solution():\n    for a in range(10**6):\n        for b in range(10**6):\n            a * b\n    return 1",
        "time limit",
    ),
    "comprehension of comprehensions": (
        returning("len([[b for b in range(10**5)] for a in range(10**5)])"),
        "memory|time",
    ),
    "nested lists that double": (
        "def solution():\n    a = [1]\n    for i in range(100):\n        a = a + a\n    return len(a)",
        "more memory",
    ),
    "text that doubles": (
        "def solution():\n    a = 'xx'\n    for i in range(100):\n        a = a + a\n    return len(a)",
        "more memory",
    ),
    "number that squares": (
        "def solution():\n    a = 3\n    while True:\n        a = a * a\n    return a",
        "more memory|time limit",
    ),
    "pow with a huge exponent": (returning("pow(7, 10 ** 9)"), "more memory|time limit"),
    "factorial": (
        returning("math.factorial(10 ** 7)", first="import math"),
        "memory|time limit|not available|attribute",
    ),
    "giant decimal": (
        returning("Decimal(7) ** Decimal('1e17')", first="from decimal import Decimal"),
        "failed|large|time",
    ),
    "mutual recursion": (
        "def f(n):\n    return g(n)\ndef g(n):\n    return f(n)\ndef solution():\n    return f(1)",
        "recursion",
    ),
    "recursion that is caught": (
        "def solution():\n    try:\n        return 1 + solution()\n    except RecursionError:\n"
        "        return solution()",
        "recursion|time limit",
    ),
    "exceptions that loop": (
        "def solution():\n    while True:\n        try:\n            raise KeyboardInterrupt()\n"
        "        except BaseException:\n            continue",
        "time limit",
    ),
    "exit that is caught": (
        "def solution():\n    while True:\n        try:\n            raise SystemExit(0)\n        except SystemExit:\n"
        "            pass",
        "time limit|failed",
    ),
    "deep signs": (returning("-" * 15_000 + "1"), "not valid Python|recursion|memory"),
    "deep indexes": (returning("a" + "[0]" * 5_000), "not valid Python|a|nested"),
    "deep lists": (returning("[" * 190 + "]" * 190), "list within a list|not valid|nested"),
    "deep blocks": (
        "def solution():\n" + "".join(" " * (depth + 1) + "if 1:\n" for depth in range(120)) + " " * 122 + "return 1",
        "not valid Python|failed",
    ),
    "null byte": ("def solution():\n    return '\0'", "not valid Python"),
    "printed by pieces": (
        "def solution():\n    try:\n        while True:\n            print('x' * 99)\n    except BaseException:\n"
        "        return 1",
        "printed more|time limit",
    ),
    "dictionary without end": (
        "def solution():\n    a = {}\n    i = 0\n    while True:\n        a[i] = 'x' * 1000 + str(i)\n        i += 1",
        "more memory|time limit",
    ),
    "sort for long": (returning("len(sorted(range(10**8), key=str))"), "more memory|time limit"),
}
"""Name -> (program, what the reason has to match)."""
