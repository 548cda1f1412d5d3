"""An answer on a terminal: the sentence, the figures with their pages, the program, and the assumptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Column, Table
from rich.text import Text

from fin_agent.answering.answer import Answer, Citation, PagePlace, RoleUsage, Usage
from fin_agent.evidence.slot_ledger import Entry, Figure
from fin_agent.presentation.terminal_text import count_with_noun, cut, fixed, listing, one_line, plain, right
from fin_agent.presentation.traces import warning_lines
from fin_agent.vocabulary.amount_formatting import amount_with_unit

_NEAREST = 3
_WARNINGS = 6


def answer_view(answer: Answer) -> RenderableType:
    """Return the answer with its figures, citations and notes, or the refusal with what is missing."""
    return Group(*_parts(answer))


def _parts(answer: Answer) -> Iterator[RenderableType]:
    # An answer made of quotations alone is shown as these, not twice.
    quoted = not answer.refused and answer.answer.text == " ".join(citation.text for citation in answer.citations)
    if answer.refused:
        near = Text(f"Nearest pages: {_nearest(answer.retrieved.pages)}", style="dim")
        lead = "This cannot be answered from the indexed filings. What is missing:"
        if answer.ask_back:
            yield Panel(Text(plain(answer.ask_back)), title="Asked back", title_align="left", border_style="yellow")
        else:
            yield refusal_panel(answer, lead, *([near] if answer.retrieved.pages else []))
        found = [entry for entry in answer.ledger if entry.figure is not None]
    else:
        found = _used(answer)
        if not quoted:
            yield Text(plain(answer.answer.text), style="bold")
    if not quoted:
        yield Text()
    if found:
        yield _figures(found, "Found so far" if answer.refused else "")
        yield Text()
    if answer.program:
        yield Padding(program_view(answer.program), (0, 0, 1, 2))
    elif not found:
        yield from (_quotation(citation, "bold" if quoted else "") for citation in answer.citations)
    for assumption in answer.assumptions:
        yield Text(f"Note: {one_line(assumption)}", style="yellow")
    yield from warning_lines(answer.warnings, most=_WARNINGS)
    yield Text(_footer(answer), style="dim")
    if called := usage_line(answer.usage):
        roles = _by_role(answer.usage)
        yield Text(f"{called} ({roles})" if roles else called, style="dim")


def _used(answer: Answer) -> list[Entry]:
    """Return the entries whose figures the program uses; the ledger may have others."""
    cited = {(citation.doc_id, citation.page, citation.box) for citation in answer.citations}
    return [
        entry
        for entry in answer.ledger
        if entry.figure is not None and (entry.figure.doc_id, entry.figure.page, entry.figure.box) in cited
    ]


def refusal_panel(answer: Answer, lead: str, *below: Text) -> Panel:
    """Return a panel that lists what is missing under `lead`."""
    missing = Table.grid(padding=(0, 1))
    for what in answer.missing:
        missing.add_row("-", Text(one_line(what)))
    shown = Group(Text(lead), missing, *below)
    return Panel(shown, title="Refused", title_align="left", border_style="yellow", padding=(0, 1))


def _nearest(pages: Sequence[PagePlace]) -> str:
    """Return the first pages found, each filing named once: `ACME_2022_10K p. 38, p. 150; ACME_2021_10K p. 37`."""
    of_filing: dict[str, list[str]] = {}
    for page in pages[:_NEAREST]:
        of_filing.setdefault(one_line(page.doc_id), []).append(f"p. {page.page + 1}")
    return "; ".join(f"{name} {', '.join(numbers)}" for name, numbers in of_filing.items())


def _figures(entries: Sequence[Entry], title: str = "", *, ticks: bool = False) -> Table:
    """Return a row for each slot, with conflicting figures below it; names are cut before figures are."""
    table = listing(
        "Figure", "Company", fixed("Period"), right("Value"), "Filing" if ticks else fixed("Filing"), right("Page")
    )
    table.title = title or None
    for entry in entries:
        slot, mark = entry.slot, tick(entry)
        label = cut(f"{mark} {slot.label}") if ticks else Text(one_line(slot.label))
        if ticks:
            label.stylize(_STYLES[mark], 0, len(mark))
        empty = "missing" if entry.required else "none", "", ""
        table.add_row(
            label,
            cut(slot.company_name),
            slot.period,
            *(_figure_cells(entry.figure) if entry.figure is not None else empty),
        )
        for other in entry.conflicts:
            # A restatement, or a line that was read wrongly: highlighted for a check by the reader.
            table.add_row("  elsewhere", cut(other.label), "", *_figure_cells(other), style="yellow")
    return table


def _quotation(citation: Citation, style: str) -> RenderableType:
    place = Text(f"{one_line(citation.doc_id)}, page {citation.page + 1}", style="dim")
    return Padding(Group(Text(f"“{one_line(citation.text)}”", style=style), place), (0, 0, 1, 2 if not style else 0))


def _footer(answer: Answer) -> str:
    searched = len({page.doc_id for page in answer.retrieved.pages})
    done = [count_with_noun(answer.rounds, "round"), f"{count_with_noun(searched, 'filing')} searched"]
    return " · ".join([*(done if answer.rounds else ["refused before any search"]), f"{answer.seconds:.2f} s"])


def _by_role(usage: Usage) -> str:
    """Return calls and cached replies by role: `curation 2, reasoning 1`."""
    counts: dict[str, int] = {}
    for role in usage.roles:
        counts[role.role] = counts.get(role.role, 0) + role.calls + role.cached_calls
    return ", ".join(f"{one_line(role)} {count}" for role, count in counts.items())


FILLED, EMPTY, OPTIONAL = "✓", "✗", "·"
_STYLES = {FILLED: "green", EMPTY: "bold red", OPTIONAL: "dim"}


def ledger_view(entries: Sequence[Entry], *, full: bool = False) -> RenderableType:
    """Return the slots with figure and page, then reasons; empty optional slots are only named unless `full`."""
    told = [entry for entry in entries if full or tick(entry) != OPTIONAL]
    lines: list[RenderableType] = [_figures(told, ticks=True)] if told else []
    companies = dict.fromkeys(entry.slot.company_name for entry in told if entry.reason)
    for company in companies:
        lines.append(Text(one_line(company), style="bold"))
        lines += [
            Padding(
                Text(f"{one_line(entry.slot.label)}, {entry.slot.period}: {one_line(entry.reason)}", style="dim"),
                (0, 0, 0, 2),
            )
            for entry in told
            if entry.reason and entry.slot.company_name == company
        ]
    left: dict[str, list[str]] = {}
    for entry in entries:
        if entry not in told:
            left.setdefault(one_line(entry.slot.label), []).append(entry.slot.period)
    if left:
        named = ", ".join(f"{label} ({', '.join(dict.fromkeys(periods))})" for label, periods in left.items())
        lines.append(Text(f"{OPTIONAL} {sum(map(len, left.values()))} optional and empty: {named}", style="dim"))
    marks = [tick(entry) for entry in entries]
    words = {FILLED: "filled", EMPTY: "required and empty", OPTIONAL: "optional and empty"}
    tally = "   ".join(f"{mark} {marks.count(mark)} {word}" for mark, word in words.items() if mark in marks)
    return Group(*lines, Text(tally, style="dim"))


def tick(entry: Entry) -> str:
    """Return the mark of a slot: `✓` filled, `✗` required and empty, `·` optional and empty."""
    if entry.figure is not None:
        return FILLED
    return EMPTY if entry.required else OPTIONAL


def _figure_cells(figure: Figure) -> tuple[str, Text, str]:
    amount = amount_with_unit(figure.amount, figure.scale, figure.unit)
    return amount, cut(figure.doc_id), str(figure.page + 1)


def program_view(program: str) -> RenderableType:
    """Return a program with its syntax highlighted; comments that make a line long stand above it."""
    lines = (
        _COMMENTED.sub(r"\1# \3\n\1\2", one) if len(one) > _MAX_LINE else one for one in program.rstrip().split("\n")
    )
    return Syntax(plain("\n".join(lines)), "python", theme="ansi_dark", background_color="default", word_wrap=True)


_COMMENTED = re.compile(r"^(\s*)(\S.*?)  # (.*)$")
_MAX_LINE = 76
"""The width of a terminal, without the margin."""


def usage_line(usage: Usage) -> str:
    """Return the total usage on one line; empty if no model was called.

    >>> usage_line(Usage(model_calls=2, cached_calls=1, input_tokens=4321, output_tokens=210, dollars=0.0042))
    '2 model calls, 1 cached reply, 4,321 tokens in, 210 out, $0.0042'
    >>> usage_line(Usage(cached_calls=3))
    '3 cached replies, at no cost'
    """
    kept = [f"{usage.cached_calls:,} cached {'reply' if usage.cached_calls == 1 else 'replies'}"]
    kept = kept if usage.cached_calls else []
    if not usage.model_calls:
        return ", ".join([*kept, "at no cost"]) if kept else ""
    calls = f"{usage.model_calls:,} model call{'' if usage.model_calls == 1 else 's'}"
    about = "about " if usage.approximate else ""
    tokens = (f"{about}{usage.input_tokens:,} tokens in", f"{usage.output_tokens:,} out")
    return ", ".join([calls, *kept, *tokens, "price unknown" if usage.dollars is None else f"${usage.dollars:,.4f}"])


def usage_view(usage: Usage, *, questions: int = 1) -> RenderableType:
    """Return a row per role and model with their sum, and the usage per question if there are several."""
    tokens = [right(head) for head in ("Calls", "Reused", "Tokens in", "cached", "out")]
    table = listing(fixed("Role"), Column("Model", overflow="fold"), *tokens, right("Dollars"))
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
        notes.append("Reused: calls served by cached replies, which cost nothing and are not counted otherwise.")
    if usage.dollars is None:
        notes.append("?: the price of a model is unknown. Name it in a file of prices.")
    if usage.approximate:
        notes.append("Some tokens are estimated, because the server reported none.")
    return notes
