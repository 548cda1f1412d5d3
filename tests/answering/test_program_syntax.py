"""Plain programs pass; whatever is not on the list is refused with its line and the piece."""

from __future__ import annotations

import pytest

from fin_agent.answering.program_syntax import MAX_PROGRAM_LENGTH, ProgramError, program_tree
from tests.answering.hostile_programs import HOSTILE, returning


@pytest.mark.parametrize(
    "code",
    [
        returning("6489 / ((282 + 253) / 2)"),
        returning("round(sum([1, 2]) / 2, 1) if 1 < 2 and not 3 == 4 else max(1, 2)"),
        returning("sorted([3, 1, 2])[1] - min([1, 2]) + abs(-3) ** 2"),
        returning("[1, 'Net sales', True, -0.5]"),
        "SALES = 6489  # USD millions\n\ndef solution() -> float:\n    '''What it is.'''\n    half = SALES / 2\n"
        "    half = half + 1\n    values = [half, SALES]\n    if half > 3:\n        return values[-1]\n    return half",
    ],
)
def test_plain_programs_pass(code: str) -> None:
    program_tree(code)


@pytest.mark.parametrize(
    ("code", "reason", "line"),
    [
        ("", "empty", None),
        ("#" * (MAX_PROGRAM_LENGTH + 1), "20,001 characters", None),
        ("x = 1", "does not define `solution`", None),
        ("def solution(x):\n    return x", "cannot be called: it takes arguments", 1),
        ("solution = 3", "does not define `solution`", None),
        ("async def solution():\n    return 1", "`async def solution\\(\\):` is outside", 1),
        ("def solution(:", "not valid Python: line 1", 1),
        (returning("'\ud800'"), "not valid Python", None),
        ("import math\n" + returning("1"), "line 1: `import math`", 1),
        (returning("len('x')"), "line 3: `len` is not an available function", 3),
        (returning("other"), "line 3: `other` has no value yet", 3),
        (returning("(1).real"), "line 3: `1 .real` is no arithmetic", 3),
        (returning("[x for x in [1]]"), "`\\[x for x in \\[1\\]\\]` is no arithmetic", 3),
        (returning("7 // 2"), "`7 // 2` is no arithmetic", 3),
        (returning("'a' + 'b'"), "`'a'` is a text", 3),
        (returning("[[1]]"), "is a list in a list", 3),
        (returning("[1, 2][0]"), "`\\[1, 2\\]\\[0\\]` is no arithmetic", 3),
        (returning("round(1849, -2)"), "calls `round` with the wrong arguments", 3),
        (returning("1 if 2 > 1 else 'a'"), "in one branch and another kind", 3),
        ("def solution():\n    a = 1\n    a = 'b'\n    return a", "line 3: `a = 'b'` assigns a text after a number", 3),
        ("def solution():\n    a = b = 1\n    return a", "`a = b = 1` is not an assignment", 2),
        ("def solution():\n    1 + 1\n    return 1", "`1 \\+ 1` is not an assignment", 2),
    ],
)
def test_says_the_line_and_the_piece(code: str, reason: str, line: int | None) -> None:
    with pytest.raises(ProgramError, match=reason) as raised:
        program_tree(code)
    assert raised.value.line == line
    assert raised.value.remedy


@pytest.mark.parametrize("name", [name for name, (_, piece) in HOSTILE.items() if piece])
def test_hostile_programs_are_refused_before_they_run(name: str) -> None:
    code, piece = HOSTILE[name]
    with pytest.raises(ProgramError) as raised:
        program_tree(code)
    assert piece in str(raised.value)
    assert "\n" not in str(raised.value)
