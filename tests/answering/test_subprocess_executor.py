"""The second executor: same values, same reasons, and limits that hold even where the checks in front are left out."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from fin_agent.answering import subprocess_executor
from fin_agent.answering.allowed_syntax import check_syntax
from fin_agent.answering.executor import ProgramExecutor, SandboxSettings
from fin_agent.answering.program_errors import ProgramError
from fin_agent.answering.sandbox import MontySandbox
from fin_agent.answering.subprocess_executor import SubprocessSandbox
from tests.answering.children import workers
from tests.answering.hostile_programs import HOSTILE, returning

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are kept by Linux")
SETTINGS = SandboxSettings(max_seconds=0.15, max_sleep_seconds=0.1)


def reaches_the_process(code: str) -> bool:
    try:
        check_syntax(code, SETTINGS)
    except ProgramError:
        return False
    return True


RUN = [name for name, (code, _) in HOSTILE.items() if reaches_the_process(code)]


@pytest.fixture(scope="module")
def sandbox() -> SubprocessSandbox:
    return SubprocessSandbox(SETTINGS)


class TestValues:
    @pytest.mark.parametrize(
        ("expression", "value"),
        [
            ("6489 / ((282 + 253) / 2)", 6489 / 267.5),
            ("11588", 11588),
            ("-10**18", -(10**18)),
            ("2 > 1", True),
            ("[1, 2.5, 'a', False]", [1, 2.5, "a", False]),
            ("(1, 2)", [1, 2]),
            ("'\\u00fc \\ud800'", "\u00fc \ud800"),
            ("Decimal('1.25')", 1.25),
            ("'{:.1f}'.format(2.25)", "2.2"),
            ("round(sqrt(2), 3)", 1.414),
        ],
    )
    def test_value_and_its_type_come_back(self, sandbox: SubprocessSandbox, expression: str, value: object) -> None:
        result = sandbox.run(returning(expression, first="from decimal import Decimal\nfrom math import sqrt")).value
        assert result == value
        assert type(result) is type(value)

    def test_what_is_printed_is_kept(self, sandbox: SubprocessSandbox) -> None:
        assert sandbox.run("def solution():\n    print('margin', 0.5)\n    return 1").printed == "margin 0.5\n"

    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            ("", "empty"),
            ("x = 1", "does not define `solution`"),
            ("solution = 3", "cannot be called"),
            ("def solution(x):\n    return x", "cannot be called"),
            ("def solution():\n    x = 1", "returned None"),
            (returning("float('nan')"), "nan, which is no figure"),
            (returning("1e19"), "too large"),
            (returning("{'a': 1}"), "a dict"),
            (returning("[[1]]"), "list within a list"),
            (returning("1 / 0"), "divides by zero: line 3"),
            (returning("revenue_2019"), "line 3: NameError.*revenue_2019"),
        ],
    )
    def test_says_what_monty_says(self, sandbox: SubprocessSandbox, code: str, reason: str) -> None:
        executors: tuple[ProgramExecutor, ...] = (sandbox, MontySandbox())
        for executor in executors:
            with pytest.raises(ProgramError, match=reason):
                executor.run(code)


class TestHostilePrograms:
    @pytest.mark.parametrize("name", RUN)
    def test_says_why(self, sandbox: SubprocessSandbox, name: str) -> None:
        code, reason = HOSTILE[name]
        with pytest.raises(ProgramError, match=f"{reason}|time limit") as raised:
            sandbox.run(code)
        assert raised.value.remedy

    def test_many_of_them_are_run_at_all(self) -> None:
        assert len(RUN) >= 40


WALK = """
def solution():
    for kind in ().__class__.__base__.__subclasses__():
        if kind.__name__ == "_wrap_close":
            os = kind.__init__.__globals__
            return {}
    return "no way out"
"""


class TestWithoutTheChecksInFront:
    """A program that got around them finds a process that can do little."""

    @pytest.fixture(autouse=True)
    def _no_checks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(subprocess_executor, "check_syntax", lambda code, settings: ast.parse(code))

    def test_no_file_opens(self, sandbox: SubprocessSandbox, tmp_path: Path) -> None:
        target = tmp_path / "written"
        for opening in (f"os['open']({str(target)!r}, 65)", "os['open']('/etc/passwd', 0)", "os['pipe']()"):
            with pytest.raises(ProgramError, match="Too many open files"):
                sandbox.run(WALK.format(opening))
        assert not target.exists()

    def test_the_environment_is_empty(self, sandbox: SubprocessSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SECRET_OF_A_TEST", "1")
        assert "SECRET" not in str(sandbox.run(WALK.format("str(os['environ'])")).value)

    def test_the_folder_is_its_own_and_goes(self, sandbox: SubprocessSandbox) -> None:
        folder = sandbox.run(WALK.format("os['getcwd']()")).value
        assert isinstance(folder, str)
        assert Path(folder) != Path.cwd()
        assert not Path(folder).exists()

    def test_builtins_and_modules_lack_what_reaches_out(self, sandbox: SubprocessSandbox) -> None:
        for expression in ("open", "eval", "getattr", "type"):
            with pytest.raises(ProgramError, match="NameError"):
                sandbox.run(returning(expression))
        with pytest.raises(ProgramError, match="import"):
            sandbox.run(returning("__import__('os').getcwd()"))
        with pytest.raises(ProgramError, match="AttributeError"):
            sandbox.run(returning("re.enum", first="import re"))

    def test_output_without_end_is_cut_off(self, sandbox: SubprocessSandbox) -> None:
        with pytest.raises(ProgramError):
            sandbox.run(WALK.format("[os['write'](1, b'x' * 10**5) for i in range(10**5)]"))


@pytest.mark.skipif(sys.platform == "win32", reason="sessions are POSIX")
def test_nothing_is_left_of_a_process_that_is_stopped(sandbox: SubprocessSandbox) -> None:
    before = workers()
    with pytest.raises(ProgramError, match="time limit"):
        sandbox.run("def solution():\n    while True:\n        pass")
    assert workers() <= before
