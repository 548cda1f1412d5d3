"""An answer as an analyst reads it: the sentence, the figures with their pages, the program, what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from fin_agent.answering.answer import Answer, Citation, PagePlace, Usage
from fin_agent.evidence.ledger import Entry, Figure
from fin_agent.evidence.trace import Judged, TraceStep
from fin_agent.presentation.filings import cut, listing
from fin_agent.presentation.plain import one_line, plain
from fin_agent.presentation.programs import program_view
from fin_agent.presentation.runs_groups import group_line
from fin_agent.presentation.step_notes import step_notes, warning_lines
from fin_agent.presentation.usage import usage_line

_NEAREST = 3
_WARNINGS = 6
_SCALE_WORDS = {1: "", 1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}


def answer_view(answer: Answer) -> RenderableType:
    """The answer with what stands behind it, or the refusal with what is missing."""
    return Group(*_parts(answer))


def trace_view(trace: Sequence[TraceStep]) -> RenderableType:
    """Every step in order, with what it saw, kept and dropped."""
    lines: list[RenderableType] = [Text("Trace", style="bold")]
    for number, step in enumerate(trace, start=1):
        head = Text.assemble(f"{number:>3}  ", (step.node, "cyan"), (f"  round {step.round}", "dim"))
        lines += [head, Padding(Text(one_line(step.summary)), (0, 0, 0, 5))]
        seen = (*step.details, *map(_judged_line, step.judged))
        lines += [Padding(Text(one_line(detail), style="dim"), (0, 0, 0, 7)) for detail in seen]
        lines += [Padding(cut(group_line(group)), (0, 0, 0, 7), style="dim") for group in step.groups]
        lines += [Padding(note, (0, 0, 0, 7)) for note in step_notes(step)]
    return Group(*lines)


def _judged_line(judged: Judged) -> str:
    fate = "kept" if judged.kept else "dropped"
    matched = f" [{', '.join(judged.fields)}]" if judged.fields else ""
    return f"{fate} {judged.doc_id} page {judged.page + 1} passage {judged.ordinal}: {judged.why}{matched}"


def money(figure: Figure) -> str:
    """A figure with its unit and scale: `$6,489 million`, `-$1.25 per share`, `12.5%`, `770 million shares`."""
    number = f"{abs(figure.amount):,}"
    sign = "-" if figure.amount < 0 else ""
    scale = _SCALE_WORDS.get(figure.scale, f"x {figure.scale:,}")
    match figure.unit:
        case "USD":
            words = [f"{sign}${number}", scale]
        case "USD per share":
            words = [f"{sign}${number}", "per share"]
        case "ratio" | "count":
            words = [f"{sign}{number}", scale]
        case "percent":
            words = [f"{sign}{number}%"]
        case _:
            words = [f"{sign}{number}", scale, figure.unit]
    return " ".join(word for word in words if word)


def _parts(answer: Answer) -> Iterator[RenderableType]:
    # An answer made of quotations alone is shown as these, not twice.
    quoted = not answer.refused and answer.answer.text == " ".join(citation.text for citation in answer.citations)
    if answer.refused:
        yield _refusal(answer)
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
    """Entries whose figure the program takes: the ledger may hold others, by which the same could be computed."""
    cited = {(citation.doc_id, citation.page, citation.box) for citation in answer.citations}
    return [
        entry
        for entry in answer.ledger
        if entry.figure is not None and (entry.figure.doc_id, entry.figure.page, entry.figure.box) in cited
    ]


def _refusal(answer: Answer) -> Panel:
    missing = Table.grid(padding=(0, 1))
    for what in answer.missing:
        missing.add_row("-", Text(one_line(what)))
    lead = Text("This cannot be answered from the indexed filings. What is missing:")
    near = [Text(f"Nearest pages: {_nearest(answer.retrieved.pages)}", style="dim")] if answer.retrieved.pages else []
    return Panel(
        Group(lead, missing, *near), title="Refused", title_align="left", border_style="yellow", padding=(0, 1)
    )


def _nearest(pages: Sequence[PagePlace]) -> str:
    """The first pages found, each filing named once: `ACME_2022_10K p. 38, p. 150; ACME_2021_10K p. 37`."""
    of_filing: dict[str, list[str]] = {}
    for page in pages[:_NEAREST]:
        of_filing.setdefault(one_line(page.doc_id), []).append(f"p. {page.page + 1}")
    return "; ".join(f"{name} {', '.join(numbers)}" for name, numbers in of_filing.items())


def _figures(entries: Sequence[Entry], title: str) -> Table:
    table = listing()
    table.title = title or None
    table.add_column("Figure")
    table.add_column("Company")
    table.add_column("Period", no_wrap=True)
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("Filing", no_wrap=True)
    table.add_column("Page", justify="right", no_wrap=True)
    for entry in entries:
        assert entry.figure is not None
        slot = entry.slot
        table.add_row(Text(one_line(slot.label)), cut(slot.company_name), slot.period, *_place(entry.figure))
        for other in entry.conflicts:
            # A restatement, or a line read wrongly: a person should look.
            table.add_row("  elsewhere", cut(other.label), "", *_place(other), style="yellow")
    return table


def _place(figure: Figure) -> tuple[str, str, str]:
    return money(figure), one_line(figure.doc_id), str(figure.page + 1)


def _quotation(citation: Citation, style: str) -> RenderableType:
    place = Text(f"{one_line(citation.doc_id)}, page {citation.page + 1}", style="dim")
    return Padding(Group(Text(f"“{one_line(citation.text)}”", style=style), place), (0, 0, 1, 2 if not style else 0))


def _footer(answer: Answer) -> str:
    searched = len({page.doc_id for page in answer.retrieved.pages})
    done = [_counted(answer.rounds, "round"), f"{_counted(searched, 'filing')} searched"]
    return " · ".join([*(done if answer.rounds else ["refused before any search"]), f"{answer.seconds:.2f} s"])


def _by_role(usage: Usage) -> str:
    """`curation 2, reasoning 1`: calls and kept replies."""
    counts: dict[str, int] = {}
    for role in usage.roles:
        counts[role.role] = counts.get(role.role, 0) + role.calls + role.cached_calls
    return ", ".join(f"{one_line(role)} {count}" for role, count in counts.items())


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
