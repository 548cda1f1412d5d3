"""A run for reading: question and answer, the ledger, the rounds, the evidence, the program, the time it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from fin_agent.answering.answer import Answer, Citation
from fin_agent.config import Settings
from fin_agent.presentation.ledgers import LedgerView
from fin_agent.presentation.plain import one_line, plain
from fin_agent.presentation.programs import program_view
from fin_agent.presentation.runs_fields import fields_line
from fin_agent.presentation.runs_steps import rounds_view, step_view
from fin_agent.presentation.step_notes import warning_lines
from fin_agent.presentation.usage import usage_line, usage_view
from fin_agent.runs.comparing import KeptPassage, kept_last
from fin_agent.runs.run import Run

_SHOWN_OF_A_PASSAGE = 220
_SLOWEST = 3


def run_view(run: Run, *, full: bool = False) -> RenderableType:
    """The whole run; `full` shows every line of every step and passages in full."""
    return Group(*_parts(run, full))


def step_of_run_view(run: Run, number: int) -> RenderableType:
    """One step of a run, in full; `number` counts from 1."""
    seconds = run.steps[number - 1].seconds if _timed(run) else None
    return step_view(number, run.answer.trace[number - 1], seconds, full=True)


def _parts(run: Run, full: bool) -> Iterator[RenderableType]:
    answer = run.answer
    yield _asked(run)
    yield Text()
    yield Text(plain(run.question), style="bold cyan")
    yield Text()
    yield _refusal(answer) if answer.refused else Text(plain(answer.answer.text), style="bold")
    yield from (Text(f"Note: {one_line(assumption)}", style="yellow") for assumption in answer.assumptions)
    yield from warning_lines(answer.warnings)
    if answer.ledger:
        yield _heading("Ledger")
        yield LedgerView(answer.ledger, answer.citations, full=full)
    if answer.trace:
        seconds = [step.seconds for step in run.steps] if _timed(run) else []
        yield rounds_view(answer.trace, seconds, searched=answer.rounds > 0, full=full)
    evidence = kept_last(answer)
    if evidence:
        yield _heading("Evidence")
        cited = _cited(evidence, answer.citations)
        mark = answer.program is None  # of a figure its row and column are quoted, which no passage holds as words
        yield from (_kept(kept, cited[at], full, mark=mark) for at, kept in enumerate(evidence))
    if answer.program:
        yield _heading("Program")
        yield Padding(program_view(answer.program), (0, 0, 0, 2))
    if answer.usage.roles:
        yield _heading("Calls of models")
        yield usage_view(answer.usage)
    yield _heading("Time")
    yield Text(_time(run))


def _heading(title: str) -> RenderableType:
    return Padding(Rule(Text(title, style="bold"), align="left", style="dim"), (1, 0, 0, 0))


def _asked(run: Run) -> RenderableType:
    """When and how it was asked: settings only where they are not the default."""
    lines = [
        f"Run {run.id} · {run.started:%Y-%m-%d %H:%M:%S} UTC · strategy {run.settings.strategy}",
        f"fin-agent {run.version}, analyst {run.analyst}, {run.index.filings:,} filings in {run.index.path}",
    ]
    other = list(_unusual(run.settings.model_dump(mode="json"), Settings().model_dump(mode="json")))
    if other:
        lines.append("settings: " + ", ".join(other))
    if run.doc_ids:
        lines.append(f"only filings: {', '.join(run.doc_ids)}")
    if run.pages:
        lines.append("only pages: " + ", ".join(f"{place.doc_id} page {place.page + 1}" for place in run.pages))
    if run.answer.id:
        lines.append(f"question {run.answer.id} of a batch")
    return Group(*(Text(one_line(line), style="dim") for line in lines))


def _unusual(settings: Mapping[str, object], usual: Mapping[str, object], of: str = "") -> Iterator[str]:
    """`rounds 2`, `models.small openai:x`; the strategy is named before."""
    for name, value in settings.items():
        other = usual.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            yield from _unusual(value, other, f"{of}{name}.")
        elif value != other and f"{of}{name}" != "strategy":
            yield f"{of}{name} {value}"


def _refusal(answer: Answer) -> Panel:
    missing = Table.grid(padding=(0, 1))
    for what in answer.missing:
        missing.add_row("-", Text(one_line(what)))
    return Panel(
        Group(Text("Missing:"), missing), title="Refused", title_align="left", border_style="yellow", padding=(0, 1)
    )


def _kept(kept: KeptPassage, quoted: Sequence[str], full: bool, *, mark: bool) -> RenderableType:
    """Where it stands, why it was kept, and what the answer takes from it, else how it begins."""
    place = Text.assemble((one_line(kept.doc_id), "bold"), f", page {kept.page + 1}")
    place.append(f"  passage {kept.ordinal}", style="dim")
    if mark and quoted:
        place.append("  ✓ quoted", style="green")
    lines: list[RenderableType] = [place]
    if kept.why:
        lines.append(Padding(Text(one_line(kept.why), style="green"), (0, 0, 0, 4)))
    if kept.fields:
        lines.append(Padding(Text(fields_line(kept.fields), style="cyan"), (0, 0, 0, 4)))
    lines += [Padding(Text(f"“{quote}”"), (0, 0, 0, 4)) for quote in quoted]
    if kept.text and (full or not quoted):
        shown = plain(kept.text).expandtabs(2) if full else one_line(kept.text, _SHOWN_OF_A_PASSAGE)
        lines.append(Padding(Text(shown, style="dim"), (0, 0, 0, 4)))
    return Group(*lines)


def _cited(evidence: Sequence[KeptPassage], citations: Sequence[Citation]) -> list[list[str]]:
    """What the answer cites from each passage: the first of its page that holds the words, else the first of its page.

    A figure is cited by its row and column, which no passage holds in these words.
    """
    texts = [one_line(kept.text) for kept in evidence]
    found: list[list[str]] = [[] for _ in evidence]
    for citation in citations:
        quote = one_line(citation.text)
        place = (citation.doc_id, citation.page)
        on_page = [at for at, kept in enumerate(evidence) if (kept.doc_id, kept.page) == place]
        holding = [at for at in on_page if quote in texts[at]]
        for at in (holding or on_page)[:1]:
            if quote not in found[at]:
                found[at].append(quote)
    return found


def _time(run: Run) -> str:
    answer = run.answer
    rounds = f"{answer.rounds} round{'' if answer.rounds == 1 else 's'}" if answer.rounds else "no search"
    parts = [f"{run.seconds:.2f} s", rounds]
    if called := usage_line(answer.usage):
        parts.append(called)
    if _timed(run):
        slowest = sorted(enumerate(run.steps, start=1), key=lambda numbered: (-numbered[1].seconds, numbered[0]))
        named = (f"{one_line(step.node).replace('_', ' ')} ({number}) {step.seconds:.2f} s" for number, step in slowest)
        parts.append("longest: " + ", ".join(list(named)[:_SLOWEST]))
    return " · ".join(parts)


def _timed(run: Run) -> bool:
    return bool(run.steps) and [step.node for step in run.steps] == [step.node for step in run.answer.trace]
