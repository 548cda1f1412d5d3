"""What calls of models took, as an answer states it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fin_agent.answering.answer import RoleUsage, Usage
from fin_agent.models.metering import CallRecord
from fin_agent.models.usage_table import UsageRow, usage_table


def usage_of(records: Sequence[CallRecord], left_out: Iterable[str] = ()) -> Usage:
    """The calls by role and model, and together; `left_out` names those that a budget did not allow (`Meter.left_out`).

    Calls answered from kept replies are only counted. Dollars are None where the price of one that was paid is unknown.

    >>> usage_of([]) == Usage()
    True
    """
    table = usage_table(records)
    total = table.total
    return Usage(
        model_calls=total.calls,
        cached_calls=total.cached_calls,
        input_tokens=total.usage.input,
        cached_input_tokens=total.usage.cached_input,
        output_tokens=total.usage.output,
        dollars=_stated(total.dollars),
        approximate=total.usage.approximate,
        roles=tuple(map(_role, table.rows)),
        left_out=tuple(left_out),
    )


def _role(row: UsageRow) -> RoleUsage:
    return RoleUsage(
        role=row.role,
        model=row.model,
        calls=row.calls,
        cached_calls=row.cached_calls,
        input_tokens=row.usage.input,
        cached_input_tokens=row.usage.cached_input,
        output_tokens=row.usage.output,
        dollars=_stated(row.dollars),
    )


def _stated(dollars: float | None) -> float | None:
    """To the billionth: what sums of binary fractions carry beyond that is no money."""
    return None if dollars is None else round(dollars, 9)
