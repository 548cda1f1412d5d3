"""An answer on a terminal: sentence, figures with their pages, program, notes, and what each step did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from rich.console import Group, RenderableType, group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Column, Table
from rich.text import Text

from fin_agent.answering.answer import Answer, PagePlace, RoleUsage, Usage
from fin_agent.evidence.evidence import JudgedPassage, TraceStep
from fin_agent.evidence.slot_ledger import Entry, Figure
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.presentation.pages import page_number_printed
from fin_agent.presentation.terminal_text import count_with_noun, cut, fixed, listing, one_line, plain, right
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.ranked_group import RankedGroup
from fin_agent.vocabulary.runs import grouped

_NEAREST = 3
_WARNINGS = 6
_MAX_LINE = 76
"""The width of a terminal, without the margin."""
_COMMENTED = re.compile(r"^(\s*)(\S.*?)  # (.*)$")
_MARKS = {"✓": ("filled", "green"), "✗": ("required and empty", "bold red"), "·": ("optional and empty", "dim")}


@group()
def answer_view(answer: Answer, index: FilingIndex | None = None) -> Iterator[RenderableType]:
    """Return the answer with its figures, citations and notes, or the refusal with what is missing.

    With an index, quotations also have the page number that their page prints.
    """
    # An answer made of quotations alone is shown as these, not twice.
    quoted = not answer.refused and answer.answer.text == " ".join(citation.text for citation in answer.citations)
    found = [entry for entry in answer.ledger if entry.figure is not None]
    if answer.ask_back:
        yield Panel(Text(plain(answer.ask_back)), title="Asked back", title_align="left", border_style="yellow")
    elif answer.refused:
        near = Text(f"Nearest pages: {_nearest(answer.retrieved.pages)}", style="dim")
        lead = "This cannot be answered from the indexed filings. What is missing:"
        yield refusal_panel(answer, lead, *([near] if answer.retrieved.pages else []))
    else:
        # The program uses the figures that are cited; the ledger may have others.
        cited = {(citation.doc_id, citation.page, citation.box) for citation in answer.citations}
        found = [
            each for each in found if each.figure and (each.figure.doc_id, each.figure.page, each.figure.box) in cited
        ]
        if not quoted:
            yield Text(plain(answer.answer.text), style="bold")
    if not quoted:
        yield Text()
    if found:
        table = _figures(found)
        table.title = "Found so far" if answer.refused else None
        yield from (table, Text())
    if answer.program:
        yield Padding(program_view(answer.program), (0, 0, 1, 2))
    elif not found:
        for citation in answer.citations:
            printed = page_number_printed(index, PageKey(citation.doc_id, citation.page)) if index else None
            shown = f" (printed as {printed})" if printed else ""
            place = Text(f"{one_line(citation.doc_id)}, page {citation.page + 1}{shown}", style="dim")
            quotation = Text(f"“{one_line(citation.text)}”", style="bold" if quoted else "")
            yield Padding(Group(quotation, place), (0, 0, 1, 0 if quoted else 2))
    yield from note_lines(answer.assumptions)
    yield from warning_lines(answer.warnings, most=_WARNINGS)
    searched = len({page.doc_id for page in answer.retrieved.pages})
    done = f"{count_with_noun(answer.rounds, 'round')} · {count_with_noun(searched, 'filing')} searched"
    yield Text(f"{done if answer.rounds else 'refused before any search'} · {answer.seconds:.2f} s", style="dim")
    if called := usage_line(answer.usage):
        roles = ", ".join(f"{one_line(role.role)} {role.calls + role.cached_calls}" for role in answer.usage.roles)
        yield Text(f"{called} ({roles})" if roles else called, style="dim")


def refusal_panel(answer: Answer, lead: str, *below: Text) -> Panel:
    """Return a panel that lists what is missing under `lead`."""
    missing = Table.grid(padding=(0, 1))
    for what in answer.missing:
        missing.add_row("-", Text(one_line(what)))
    shown = Group(Text(lead), missing, *below)
    return Panel(shown, title="Refused", title_align="left", border_style="yellow", padding=(0, 1))


def _nearest(pages: Sequence[PagePlace]) -> str:
    """Return the first pages found, each filing named once: `ACME_2022_10K p. 38, p. 150; ACME_2021_10K p. 37`."""
    of_filing = grouped((one_line(page.doc_id), f"p. {page.page + 1}") for page in pages[:_NEAREST])
    return "; ".join(f"{name} {', '.join(numbers)}" for name, numbers in of_filing.items())


@group()
def ledger_view(entries: Sequence[Entry], *, full: bool = False) -> Iterator[RenderableType]:
    """Return the slots with figure and page, then reasons; empty optional slots are only counted unless `full`."""
    marks = [_mark(entry) for entry in entries]
    told = [entry for entry, mark in zip(entries, marks, strict=True) if full or mark != "·"]
    yield from [_figures(told, ticks=True)] if told else []
    for company, of_company in groupby((entry for entry in told if entry.reason), attrgetter("slot.company_name")):
        yield Text(one_line(company), style="bold")
        for entry in of_company:
            reason = f"{one_line(entry.slot.label)}, {entry.slot.period}: {one_line(entry.reason)}"
            yield Padding(Text(reason, style="dim"), (0, 0, 0, 2))
    tally = [f"{mark} {marks.count(mark)} {word}" for mark, (word, _) in _MARKS.items() if mark in marks]
    yield Text("   ".join(tally), style="dim")


def _mark(entry: Entry) -> str:
    return "✓" if entry.figure is not None else "✗" if entry.required else "·"


def _figures(entries: Sequence[Entry], *, ticks: bool = False) -> Table:
    """Return a row for each slot, with conflicting figures below it; names are cut before figures are."""
    filing = "Filing" if ticks else fixed("Filing")
    table = listing("Figure", "Company", fixed("Period"), right("Value"), filing, right("Page"))
    for entry in entries:
        slot, mark = entry.slot, _mark(entry)
        label = Text(one_line(slot.label))
        if ticks:
            label = Text.assemble((mark, _MARKS[mark][1]), " ", label, no_wrap=True, overflow="ellipsis")
        empty = "missing" if entry.required else "none", "", ""
        cells = _figure_cells(entry.figure) if entry.figure is not None else empty
        table.add_row(label, cut(slot.company_name), slot.period, *cells)
        for other in entry.conflicts:
            # A restatement, or a line that was read wrongly: highlighted for a check by the reader.
            table.add_row("  elsewhere", cut(other.label), "", *_figure_cells(other), style="yellow")
    return table


def _figure_cells(figure: Figure) -> tuple[str, Text, str]:
    amount = amount_with_unit(figure.amount, figure.scale, figure.unit)
    return amount, cut(figure.doc_id), str(figure.page + 1)


def program_view(program: str) -> RenderableType:
    """Return a program with its syntax highlighted; comments that make a line long stand above it."""
    lines = [
        _COMMENTED.sub(r"\1# \3\n\1\2", one) if len(one) > _MAX_LINE else one for one in program.rstrip().split("\n")
    ]
    return Syntax(plain("\n".join(lines)), "python", theme="ansi_dark", background_color="default", word_wrap=True)


def usage_line(usage: Usage) -> str:
    """Return the total usage on one line; empty if no model was called.

    >>> usage_line(Usage(model_calls=2, cached_calls=1, input_tokens=4321, output_tokens=210, dollars=0.0042))
    '2 model calls, 1 cached reply, 4,321 tokens in, 210 out, $0.0042'
    >>> usage_line(Usage(cached_calls=3))
    '3 cached replies, at no cost'
    """
    kept = [count_with_noun(usage.cached_calls, "cached reply")] if usage.cached_calls else []
    if not usage.model_calls:
        return ", ".join([*kept, "at no cost"]) if kept else ""
    about = "about " if usage.approximate else ""
    tokens = (f"{about}{usage.input_tokens:,} tokens in", f"{usage.output_tokens:,} out")
    price = "price unknown" if usage.dollars is None else f"${usage.dollars:,.4f}"
    return ", ".join([count_with_noun(usage.model_calls, "model call"), *kept, *tokens, price])


@group()
def usage_view(usage: Usage, *, questions: int = 1) -> Iterator[RenderableType]:
    """Return a row per role and model with their sum, and the usage per question if there are several."""
    tokens = [right(head) for head in ("Calls", "Reused", "Tokens in", "cached", "out")]
    table = listing(fixed("Role"), Column("Model", overflow="fold"), *tokens, right("Dollars"))
    for role in usage.roles:
        table.add_row(one_line(role.role), one_line(role.model), f"{role.calls:,}", *_usage_cells(role))
    if len(usage.roles) > 1:
        table.add_row("all", "", f"{usage.model_calls:,}", *_usage_cells(usage), style="bold")
    yield table
    if questions > 1:
        each = (usage.input_tokens + usage.output_tokens) / questions
        dollars = "" if usage.dollars is None else f", ${usage.dollars / questions:,.5f}"
        told = f"Per question: {usage.model_calls / questions:.1f} calls, {each:,.0f} tokens{dollars}."
        yield Text(told, style="dim")
    if usage.dollars is None:
        yield Text("?: the price of a model is unknown. Name it in a file of prices.", style="dim")


def _usage_cells(used: RoleUsage | Usage) -> Iterator[str]:
    for count in (used.cached_calls, used.input_tokens, used.cached_input_tokens, used.output_tokens):
        yield f"{count:,}"
    yield "?" if used.dollars is None else f"{used.dollars:,.4f}"


_DETAILS, _DROPPED, _FINALISTS = 4, 3, 3
"""How many are shown of a step, unless in full."""
_MAX_LINE_LENGTH = 150
_MAX_LENGTH = 300
_NUMBER = 5


@group()
def rounds_view(
    trace: Sequence[TraceStep], seconds: Sequence[float] = (), *, searched: bool = True, full: bool = False
) -> Iterator[RenderableType]:
    """Return all steps under a heading per round, with their seconds if these are known; `full` shows long lists whole.

    `searched` is whether any search took place.
    """
    for round_number, steps in groupby(enumerate(trace), key=lambda pair: pair[1].round):
        title = Text(f"Round {round_number}" if searched else "Before any search", style="bold")
        yield Padding(Rule(title, align="left", style="dim"), (1, 0, 0, 0))
        for at, step in steps:
            number = Column(width=_NUMBER - 1, justify="right", no_wrap=True)
            head = Table.grid(number, "", padding=(0, 1))
            time = f"  {seconds[at]:.3f} s" if full and seconds else ""
            name = one_line(step.node).replace("_", " ")
            head.add_row(str(at + 1), Text.assemble((name, "cyan"), f"  {one_line(step.summary)}", (time, "dim")))
            yield head
            yield from (Padding(part, (0, 0, 0, _NUMBER)) for part in _within(step, full))


def _within(step: TraceStep, full: bool) -> Iterator[RenderableType]:
    """Yield the judged passages, details, groups, calls, flags and warnings of a step."""
    yield from (_judged(each, fields=True) for each in step.judged if each.kept)
    dropped = [_judged(each, fields=full) for each in step.judged if not each.kept]
    yield from _cut(dropped, _DROPPED, "more dropped", full)
    details = (one_line(detail, 0 if full else _MAX_LINE_LENGTH) for detail in step.details)
    yield from _cut([Text(detail, style="dim") for detail in details], _DETAILS, "more", full)
    yield from (_group(group, full) for group in step.groups)
    yield from (Text(f"called: {one_line(call, _MAX_LENGTH)}", style="dim") for call in step.calls)
    yield from (Text(f"flagged: {one_line(flag, _MAX_LENGTH)}", style="magenta") for flag in step.flags)
    yield from warning_lines(step.warnings)


def _cut(parts: Sequence[RenderableType], most: int, what: str, full: bool) -> Iterator[RenderableType]:
    """Yield the first parts and the number of others, or all parts."""
    yield from parts if full else parts[:most]
    if len(parts) > most and not full:
        yield Text(f"… {len(parts) - most} {what}", style="dim")


def _judged(judged: JudgedPassage, *, fields: bool) -> RenderableType:
    """Return a passage with a tick if it was kept, with the reason, the score and the matching fields."""
    style = "" if judged.kept else "dim"
    score = "" if judged.score is None else f"  {judged.score:.3f}"
    said = f"\n{fields_line(judged.fields)}" if fields and judged.fields else ""
    table = Table.grid(Column(no_wrap=True), Column(no_wrap=True), padding=(0, 1))
    table.add_row(
        Text("✓", style="green") if judged.kept else Text("–", style="dim"),
        Text(f"{one_line(judged.doc_id)} page {judged.page + 1}", style=style),
        Text.assemble((one_line(judged.why), style), (score, "dim"), (said, "cyan" if judged.kept else "dim")),
    )
    return table


def _group(group: RankedGroup, full: bool) -> Text:
    """Return a group of the tournament: how many met, and who came out first."""
    finalists = group.ranked[: group.finalists]
    shown = ", ".join(f"{one_line(doc_id)}:{ordinal}" for doc_id, ordinal in finalists[: None if full else _FINALISTS])
    more = "" if full or len(finalists) <= _FINALISTS else f" … {len(finalists) - _FINALISTS} more"
    again = f", attempt {group.attempt}" if group.attempt > 1 else ""
    met = f"{one_line(group.stage)} {group.number}{again}, {len(group.ranked)} met, {group.finalists} go on: "
    return Text.assemble(f"{met}{shown}{more}", (f"  {one_line(group.note)}", "dim"))


def fields_line(fields: Iterable[str]) -> str:
    """Return each field once, with everything that matches in it.

    >>> fields_line(["metrics: revenue", "time: FY2022", "time: FY2023"])
    'metrics: revenue · time: FY2022, FY2023'
    """
    parts = (one_line(field).partition(": ") for field in fields)
    matching = grouped((f"{name}{mark}", what) for name, mark, what in parts)
    return " · ".join(f"{name}{', '.join(filter(None, what))}" for name, what in matching.items())


def note_lines(notes: Iterable[str]) -> Iterator[Text]:
    """Yield one line per note."""
    yield from (Text(f"Note: {one_line(note)}", style="yellow") for note in notes)


def warning_lines(warnings: Sequence[str], *, most: int = 0) -> Iterator[Text]:
    """Yield one line per warning; with `most`, only that many and a count of the others."""
    shown = warnings[:most] if most else warnings
    yield from (Text(f"Warning: {one_line(warning, _MAX_LENGTH)}", style="yellow") for warning in shown)
    if len(shown) < len(warnings):
        yield Text(f"… {len(warnings) - len(shown)} more warnings in the trace", style="yellow")
