"""Python execution: run a program in the sandbox, never in this process."""

from __future__ import annotations

from fin_agent.answering.sandbox import ProgramExecutor, ProgramResult


def execute_program(code: str, executor: ProgramExecutor) -> ProgramResult:
    """The value of the program's `solution()`. Raises SandboxError, which says why and what to do."""
    return executor.run(code)
