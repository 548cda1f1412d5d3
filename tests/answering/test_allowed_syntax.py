"""Plain programs pass; what reaches around them is refused with its line."""

from __future__ import annotations

import pytest

from fin_agent.answering.allowed_syntax import check_syntax
from fin_agent.answering.executor import SandboxSettings
from fin_agent.answering.program_errors import ProgramError
from tests.answering.hostile_programs import returning

SETTINGS = SandboxSettings()


@pytest.mark.parametrize(
    "code",
    [
        returning("6489 / ((282 + 253) / 2)"),
        returning("'{:.2f} and {0}, {name!r:>{width}}'.format(1.5, name=2, width=3)"),
        returning("round(math.sqrt(2), 2)", first="import math"),
        returning("date(2020, 1, 1).year", first="from datetime import date"),
        returning("sum(x for x in [1, 2]) if all([True]) else max(1, 2)"),
        "def half(x):\n    return x / 2\n\ndef solution():\n    return half(3)",
        "from __future__ import annotations\n" + returning("[x for x in (1, 2) if x]"),
    ],
)
def test_plain_programs_pass(code: str) -> None:
    check_syntax(code, SETTINGS)


@pytest.mark.parametrize(
    ("code", "reason", "line"),
    [
        ("a = 1\nb = open('x')\n", "files.*line 2: `open`", 2),
        ("import math\nimport os, socket\n", "environment.*line 2: `import os`", 2),
        ("x = 1\nx.__class__.__base__\n", "line 2: `__class__`", 2),
        ("'{0.real}'.format(1)", "line 1: `format`", 1),
        ("def f(__a):\n    pass", "`__a`", 1),
        ("match 1:\n    case int(real=x):\n        pass", "a class in `case`", 2),
        ("from typing import get_type_hints", "get_type_hints", 1),
        ("global __builtins__", "__builtins__", 1),
        ("(", "line 1: SyntaxError", 1),
    ],
)
def test_says_the_line_and_the_piece(code: str, reason: str, line: int) -> None:
    with pytest.raises(ProgramError, match=reason) as raised:
        check_syntax(code, SETTINGS)
    assert raised.value.line == line
