"""Programs that no sandbox may let do harm, and what has to be said of each."""

from __future__ import annotations


def returning(expression: str, *, first: str = "") -> str:
    """A program that returns an expression."""
    return f"{first}\ndef solution():\n    return {expression}"


HOSTILE = {
    "read a file": (returning("open('/etc/passwd').read()"), "`open('/etc/passwd').read`"),
    "read by pathlib": (
        returning("Path('/etc/passwd').read_text()", first="from pathlib import Path"),
        "`from pathlib import Path`",
    ),
    "list a folder": (returning("os.listdir('/')", first="import os"), "`import os`"),
    "read the environment": (returning("os.environ['PATH']", first="import os"), "`import os`"),
    "read one variable": (returning("os.getenv('HOME')", first="import os"), "`import os`"),
    "start a process": (returning("os.system('id')", first="import os"), "`import os`"),
    "import subprocess": (returning("1", first="import subprocess"), "`import subprocess`"),
    "import socket": (returning("1", first="import socket"), "`import socket`"),
    "import urllib": (returning("1", first="import urllib.request"), "`import urllib.request`"),
    "import ctypes": (returning("1", first="import ctypes"), "`import ctypes`"),
    "import numpy": (returning("1", first="import numpy as np"), "`import numpy as np`"),
    "import all": (returning("1", first="from math import *"), "`from math import *`"),
    "dunder import": (returning("__import__('os').system('id')"), "`__import__('os').system`"),
    "walk to subclasses": (
        returning("().__class__.__base__.__subclasses__()"),
        "`().__class__.__base__.__subclasses__`",
    ),
    "walk to globals": (returning("solution.__globals__"), "`solution.__globals__`"),
    "walk to builtins": (returning("__builtins__"), "`__builtins__`"),
    "endless loop": ("def solution():\n    while True:\n        pass", "`while True:`"),
    "endless loop at the top": ("while True:\n    pass", "`while True:`"),
    "loop that catches all": (
        "def solution():\n    while True:\n        try:\n            1 / 0\n        except:\n            pass",
        "`while True:`",
    ),
    "long sum": (returning("sum(range(10**12))"), "`range`"),
    "one long operation": ("def solution():\n    a = 3 ** (10 ** 7)\n    return (a * a) % 7", "`a * a % 7`"),
    "memory by appending": (
        "def solution():\n    a = []\n    while True:\n        a.append('x' * 1000000)",
        "`while True:`",
    ),
    "memory at once": (returning("[0] * 10**10"), "is a list"),
    "memory that is caught": (
        "def solution():\n    try:\n        return 'x' * 10**9\n    except MemoryError:\n        return solution()",
        "`try:`",
    ),
    "giant text": (returning("'a' * 10**10"), "is a text"),
    "long text": (returning("'a' * 10**6"), "is a text"),
    "long texts in a list": (returning("['a' * 10000] * 100"), "is a text"),
    "long list": (returning("[0] * 100000"), "is a list"),
    "giant power": (returning("10 ** 10 ** 8"), ""),
    "giant shift": (returning("1 << 10 ** 10"), "`1 << 10 ** 10`"),
    "large integer": (returning("10 ** 400"), ""),
    "huge integer": (returning("10 ** 5000"), ""),
    "recursion": (returning("solution()"), "`solution`"),
    "sleep": (returning("time.sleep(60)", first="import time"), "`import time`"),
    "many short sleeps": ("import time\ndef solution():\n    while True:\n        time.sleep(0.06)", "`import time`"),
    "huge print": ("def solution():\n    print('x' * 10**7)\n    return 1", "`print('x' * 10 ** 7)`"),
    "endless print": ("def solution():\n    while True:\n        print('x' * 1000)", "`while True:`"),
    "wide format": (returning("f'{1:1000000000}'"), "`f'{1:1000000000}'`"),
    "backtracking": (returning("re.match(r'(a*)*\\1b', 'a' * 5000) is None", first="import re"), "`import re`"),
    "the clock": (
        returning("datetime.now().year", first="from datetime import datetime"),
        "`from datetime import datetime`",
    ),
    "chance": (returning("random.random()", first="import random"), "`import random`"),
    "leave": ("raise SystemExit(0)\ndef solution():\n    return 1", "`raise SystemExit(0)`"),
    "interrupt": ("def solution():\n    raise KeyboardInterrupt()", "`raise KeyboardInterrupt()`"),
    "deep nesting": (returning("(" * 5000 + "1" + ")" * 5000), "not valid Python"),
    "deeply nested result": (
        "def solution():\n    a = []\n    for i in range(50000):\n        a = [a]\n    return a",
        "`for i in range(50000):`",
    ),
    "endless result": ("def solution():\n    a = []\n    a.append(a)\n    return a", "`a.append(a)`"),
    "write a file": (returning("open('out', 'w').write('x')"), "`open('out', 'w').write`"),
    "open as another name": ("o = open\ndef solution():\n    return o('/etc/passwd').read()", "`open`"),
    "unicode name of open": (
        returning("\N{MATHEMATICAL BOLD SMALL O}pen('/etc/passwd').read()"),
        "`open('/etc/passwd').read`",
    ),
    "unicode name of eval": (returning("\N{FULLWIDTH LATIN SMALL LETTER E}val('1')"), "`eval`"),
    "evaluate": (returning("eval('__imp' + 'ort__(\"os\").getcwd()')"), "`eval`"),
    "execute": (returning("exec('import os')"), "`exec`"),
    "compile": (returning("compile('1', '', 'eval')"), "`compile`"),
    "attribute by its name": (returning("getattr(1, '__cl' + 'ass__')"), "`getattr`"),
    "format looks attributes up": (returning("'{0.__class__}'.format(1)"), "`'{0.__class__}'.format`"),
    "format that is put together": (returning("('{0._' + '_class__}').format(1)"), "`('{0._' + '_class__}').format`"),
    "format by a map": (returning("'{a.real}'.format_map({'a': 1})"), "`'{a.real}'.format_map`"),
    "class with a hook": (
        "class A:\n    def __del__(self):\n        pass\ndef solution():\n    return 1",
        "`class A:`",
    ),
    "frame of a generator": (
        returning("(x for x in [1]).gi_frame.f_back.f_globals"),
        "`(x for x in [1]).gi_frame.f_back.f_globals`",
    ),
    "frame of an exception": (
        "def solution():\n    try:\n        1 / 0\n    except Exception as e:\n        return e.__traceback__.tb_frame",
        "`try:`",
    ),
    "module of a module": (returning("re.enum.sys.modules['os'].getcwd()", first="import re"), "`import re`"),
    "private part of a module": (returning("re._compiler", first="import re"), "`import re`"),
    "import by a relative name": (returning("1", first="from . import os"), "`from . import os`"),
    "import sys": (returning("sys.modules['os'].getcwd()", first="import sys"), "`import sys`"),
    "many processes": (returning("os.fork()", first="import os"), "`import os`"),
    "signal": (returning("signal.alarm(0)", first="import signal"), "`import signal`"),
    "typing evaluates": (
        "import typing\ndef f(x: 'print(1)'): pass\ndef solution():\n    return typing.get_type_hints(f)",
        "`import typing`",
    ),
    "generator without end": (
        "def g():\n    while True:\n        yield 1\ndef solution():\n    return sum(g())",
        "`def g():`",
    ),
    "iterator without end": (returning("sum(1 for x in iter(int, 1))"), "`(1 for x in iter(int, 1))`"),
    "nested loops": (
        "def solution():\n    for a in range(10**6):\n        for b in range(10**6):\n            a * b\n    return 1",
        "`for a in range(10 ** 6):`",
    ),
    "comprehension of comprehensions": (returning("len([[b for b in range(10**5)] for a in range(10**5)])"), "`len`"),
    "nested lists that double": (
        "def solution():\n    a = [1]\n    for i in range(100):\n        a = a + a\n    return len(a)",
        "`for i in range(100):`",
    ),
    "text that doubles": (
        "def solution():\n    a = 'xx'\n    for i in range(100):\n        a = a + a\n    return len(a)",
        "`for i in range(100):`",
    ),
    "number that squares": (
        "def solution():\n    a = 3\n    while True:\n        a = a * a\n    return a",
        "`while True:`",
    ),
    "pow with a huge exponent": (returning("pow(7, 10 ** 9)"), "`pow`"),
    "factorial": (returning("math.factorial(10 ** 7)", first="import math"), "`import math`"),
    "giant decimal": (
        returning("Decimal(7) ** Decimal('1e17')", first="from decimal import Decimal"),
        "`from decimal import Decimal`",
    ),
    "mutual recursion": (
        "def f(n):\n    return g(n)\ndef g(n):\n    return f(n)\ndef solution():\n    return f(1)",
        "`def f(n):`",
    ),
    "recursion that is caught": (
        "def solution():\n    try:\n        return 1 + solution()\n    except RecursionError:\n"
        "        return solution()",
        "`try:`",
    ),
    "exceptions that loop": (
        "def solution():\n    while True:\n        try:\n            raise KeyboardInterrupt()\n"
        "        except BaseException:\n            continue",
        "`while True:`",
    ),
    "exit that is caught": (
        "def solution():\n    while True:\n        try:\n            raise SystemExit(0)\n        except SystemExit:\n"
        "            pass",
        "`while True:`",
    ),
    "deep signs": (returning("-" * 15_000 + "1"), "not valid Python"),
    "deep indexes": (returning("a" + "[0]" * 5_000), "not valid Python"),
    "deep lists": (returning("[" * 190 + "]" * 190), "is a list"),
    "deep blocks": (
        "def solution():\n" + "".join(" " * (depth + 1) + "if 1:\n" for depth in range(120)) + " " * 122 + "return 1",
        "not valid Python",
    ),
    "null byte": ("def solution():\n    return '\0'", "not valid Python"),
    "printed by pieces": (
        "def solution():\n    try:\n        while True:\n            print('x' * 99)\n    except BaseException:\n"
        "        return 1",
        "`try:`",
    ),
    "dictionary without end": (
        "def solution():\n    a = {}\n    i = 0\n    while True:\n        a[i] = 'x' * 1000 + str(i)\n        i += 1",
        "`{}`",
    ),
    "sort for long": (returning("len(sorted(range(10**8), key=str))"), "`len`"),
}
"""Name -> (program, what the check of its syntax has to name; empty where the list lets it pass)."""
