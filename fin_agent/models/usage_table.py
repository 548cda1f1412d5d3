"""What calls took, by role and model (as HiREC's table 4 does for its modules)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from fin_agent.models.metering import CallRecord
from fin_agent.models.usage import NO_USAGE, Usage

_HEADS = ("role", "model", "calls", "cached calls", "input", "of it cached", "output", "dollars")


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Calls of one role by one model, those that were paid for."""

    role: str
    model: str
    calls: int
    cached_calls: int
    """Answered from kept replies, at no cost; not in the figures beside."""
    usage: Usage
    dollars: float | None
    """None where a price is not known."""


@dataclass(frozen=True, slots=True)
class UsageTable:
    """Rows by role and model, their sum, and for how many questions that is."""

    rows: tuple[UsageRow, ...]
    total: UsageRow
    questions: int

    def text(self) -> str:
        """The table in Markdown, per question: calls and tokens with one decimal, dollars with five."""
        lines = ["| " + " | ".join(_HEADS) + " |", "|---|---|" + "---:|" * (len(_HEADS) - 2)]
        lines += [self._line(row) for row in (*self.rows, self.total)]
        if self.total.dollars is None:
            lines += ["", "`?`: the price of a model is not known; a file of prices can name it."]
        if self.total.usage.approximate:
            lines += ["", "Some tokens are estimated, because the server told none."]
        return "\n".join(lines)

    def _line(self, row: UsageRow) -> str:
        counts = (row.calls, row.cached_calls, row.usage.input, row.usage.cached_input, row.usage.output)
        dollars = "?" if row.dollars is None else f"{row.dollars / self.questions:.5f}"
        return "| " + " | ".join((row.role, row.model, *(f"{n / self.questions:,.1f}" for n in counts), dollars)) + " |"


def usage_table(records: Iterable[CallRecord], questions: int = 1) -> UsageTable:
    """The table of the calls made for so many questions.

    >>> print(usage_table([]).text().splitlines()[-1])
    | all |  | 0.0 | 0.0 | 0.0 | 0.0 | 0.0 | 0.00000 |
    """
    ordered = sorted(records, key=_role_and_model)
    rows = tuple(_row(role, model, list(group)) for (role, model), group in groupby(ordered, key=_role_and_model))
    return UsageTable(rows, _row("all", "", ordered), max(1, questions))


def _role_and_model(record: CallRecord) -> tuple[str, str]:
    return record.role.value, record.model


def _row(role: str, model: str, records: list[CallRecord]) -> UsageRow:
    paid = [record for record in records if not record.from_cache]
    known = [record.dollars for record in paid if record.dollars is not None]
    unknown = any(record.dollars is None for record in paid)
    return UsageRow(
        role=role,
        model=model,
        calls=len(paid),
        cached_calls=len(records) - len(paid),
        usage=sum((record.usage for record in paid), NO_USAGE),
        dollars=None if unknown else math.fsum(known),  # the same in whatever order calls ended
    )
