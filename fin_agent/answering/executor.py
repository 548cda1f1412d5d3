"""What runs a program, within which limits, and what comes back of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

ProgramScalar = float | int | str | bool
ProgramValue = ProgramScalar | list[ProgramScalar]


class ProgramExecutor(Protocol):
    """Whatever can run a program that defines `solution()`."""

    def run(self, code: str) -> ProgramResult:
        """The value of `solution()`; SandboxError when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """What a program returned and printed. Two runs of one program are equal, however long each took."""

    value: ProgramValue
    printed: str
    seconds: float = field(compare=False)


class SandboxSettings(BaseModel):
    """What a program may use up before it is stopped."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_seconds: float = Field(default=1.0, gt=0, le=60)
    """Time at work, sleeping not counted."""
    max_sleep_seconds: float = Field(default=0.2, ge=0, le=60)
    """All sleeps together; a sleep that would go beyond it is refused before it begins."""
    max_memory_bytes: int = Field(default=64 * 2**20, ge=2**20)
    max_recursion_depth: int = Field(default=200, ge=10, le=1_000)
    max_code_characters: int = Field(default=20_000, ge=1)
    max_printed_characters: int = Field(default=16_384, ge=0)
    max_text_characters: int = Field(default=16_384, ge=1)
    """Of a returned text, or of all texts of a returned list."""
    workers: int = Field(default=2, ge=1)
    """Programs that can run at the same time; more wait for a free worker."""
