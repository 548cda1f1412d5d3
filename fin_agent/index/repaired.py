"""What a repair did, and what it could not save."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fin_agent.index.manifest import RETRY


@dataclass(frozen=True, slots=True)
class LostFiling:
    """A filing that was taken out, since not all of it is as it was written."""

    doc_id: str
    source: str
    why: str
    named: bool = True
    """False where `doc_id` says in words what is lost: filings of which not even the names can be read."""

    @property
    def remedy(self) -> str:
        """How it comes back."""
        if self.source and Path(self.source).is_file():
            return RETRY
        if not self.source:
            return "Ingest your folders again (what is unchanged is left alone), or import an archive of the index"
        return f"Get its file again and ingest it: it was {self.source}"


@dataclass(slots=True)
class Repaired:
    """What a repair did."""

    done: list[str] = field(default_factory=list)
    """In sentences."""
    lost: list[LostFiling] = field(default_factory=list)
    kept: int = 0
    """Filings that are in the index now."""
    damaged_copy: Path | None = None
    """The damaged database, where a new one was made of it."""

    @property
    def taken_out(self) -> int:
        """Filings that are known by name and are in the index no more."""
        return sum(lost.named for lost in self.lost)

    @property
    def names_lost(self) -> bool:
        """Whether more may be lost than is named."""
        return not all(lost.named for lost in self.lost)
