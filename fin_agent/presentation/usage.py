"""What calls of chat models took: on one line, and by role."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fin_agent.answering.answer import RoleUsage, Usage
from fin_agent.presentation.filings import listing
from fin_agent.presentation.plain import one_line


def usage_line(usage: Usage) -> str:
    """The whole on a line; empty where no model was called.

    >>> usage_line(Usage(model_calls=2, cached_calls=1, input_tokens=4321, output_tokens=210, dollars=0.0042))
    '2 model calls, 1 kept reply, 4,321 tokens in, 210 out, $0.0042'
    >>> usage_line(Usage(cached_calls=3))
    '3 kept replies, at no cost'
    """
    kept = [f"{usage.cached_calls:,} kept {'reply' if usage.cached_calls == 1 else 'replies'}"]
    kept = kept if usage.cached_calls else []
    if not usage.model_calls:
        return ", ".join([*kept, "at no cost"]) if kept else ""
    calls = f"{usage.model_calls:,} model call{'' if usage.model_calls == 1 else 's'}"
    about = "about " if usage.approximate else ""
    tokens = (f"{about}{usage.input_tokens:,} tokens in", f"{usage.output_tokens:,} out")
    return ", ".join([calls, *kept, *tokens, _price(usage.dollars)])


def usage_view(usage: Usage, *, questions: int = 1) -> RenderableType:
    """A row per role and model, and their sum; below it what that is per question, where they are several."""
    table = listing()
    table.add_column("Role", no_wrap=True)
    table.add_column("Model", overflow="fold")
    for head in ("Calls", "Kept", "Tokens in", "cached", "out"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("Dollars", justify="right", no_wrap=True)
    for role in usage.roles:
        _row(table, role)
    if len(usage.roles) > 1:
        _row(table, _all(usage), style="bold")
    return Group(table, *(Text(line, style="dim") for line in _notes(usage, questions)))


def _row(table: Table, role: RoleUsage, style: str = "") -> None:
    tokens = (role.input_tokens, role.cached_input_tokens, role.output_tokens)
    counts = (f"{count:,}" for count in (role.calls, role.cached_calls, *tokens))
    dollars = "?" if role.dollars is None else f"{role.dollars:,.4f}"
    table.add_row(one_line(role.role), one_line(role.model), *counts, dollars, style=style)


def _all(usage: Usage) -> RoleUsage:
    return RoleUsage(
        role="all",
        model="",
        calls=usage.model_calls,
        cached_calls=usage.cached_calls,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        dollars=usage.dollars,
    )


def _notes(usage: Usage, questions: int) -> list[str]:
    notes: list[str] = []
    if questions > 1:
        tokens = (usage.input_tokens + usage.output_tokens) / questions
        dollars = "" if usage.dollars is None else f", ${usage.dollars / questions:,.5f}"
        notes.append(f"Per question: {usage.model_calls / questions:.1f} calls, {tokens:,.0f} tokens{dollars}.")
    if usage.cached_calls:
        notes.append("Kept: answered by replies kept from before, which cost nothing and are not counted beside.")
    if usage.dollars is None:
        notes.append("?: the price of a model is not known; a file of prices can name it.")
    if usage.approximate:
        notes.append("Some tokens are estimated, because the server told none.")
    return notes


def _price(dollars: float | None) -> str:
    return "price unknown" if dollars is None else f"${dollars:,.4f}"
