"""Views of recorded runs: one run, a list, the differences of two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from fin_agent.config import Settings
from fin_agent.presentation.answers import ledger_view, program_view, refusal_panel, usage_line, usage_view
from fin_agent.presentation.terminal_text import count_with_noun, cut, fixed, listing, one_line, plain, right
from fin_agent.presentation.traces import fields_line, rounds_view, warning_lines
from fin_agent.runs.comparing import Difference, EvidencePassage, final_evidence
from fin_agent.runs.run import Run
from fin_agent.runs.store import RunLine

_SHOWN_OF_A_PASSAGE = 220


def run_view(run: Run, *, full: bool = False) -> RenderableType:
    """Return a whole run; `full` shows every line of every step, and passages in full."""
    return Group(*_parts(run, full))


def _parts(run: Run, full: bool) -> Iterator[RenderableType]:
    answer = run.answer
    yield _asked(run)
    yield Text()
    yield Text(plain(run.question), style="bold cyan")
    yield Text()
    yield refusal_panel(answer, "Missing:") if answer.refused else Text(plain(answer.answer.text), style="bold")
    yield from (Text(f"Note: {one_line(assumption)}", style="yellow") for assumption in answer.assumptions)
    yield from warning_lines(answer.warnings)
    if answer.ledger:
        yield _heading("Ledger")
        yield ledger_view(answer.ledger, full=full)
    if answer.trace:
        seconds = [step.seconds for step in run.steps] if _timed(run) else []
        yield rounds_view(answer.trace, seconds, searched=answer.rounds > 0, full=full)
    evidence = final_evidence(answer)
    if evidence:
        yield _heading("Evidence")
        quoted: dict[tuple[str, int], list[str]] = {}
        for citation in answer.citations:
            quoted.setdefault((citation.doc_id, citation.page), []).append(one_line(citation.text))
        # What is quoted from a page is shown once, below its first passage.
        yield from (_kept(kept, quoted.pop((kept.doc_id, kept.page), ()), full) for kept in evidence)
    if answer.program:
        yield _heading("Program")
        yield Padding(program_view(answer.program), (0, 0, 0, 2))
    if answer.usage.roles:
        yield _heading("Model calls")
        yield usage_view(answer.usage)
    yield _heading("Time")
    yield Text(_time(run))


def _heading(title: str) -> RenderableType:
    return Padding(Rule(Text(title, style="bold"), align="left", style="dim"), (1, 0, 0, 0))


def _asked(run: Run) -> RenderableType:
    """Return when and how it was asked, with settings that differ from the defaults."""
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
    """Yield settings that differ from the defaults, except the strategy: `rounds 2`, `models.small openai:x`."""
    for name, value in settings.items():
        other = usual.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            yield from _unusual(value, other, f"{of}{name}.")
        elif value != other and f"{of}{name}" != "strategy":
            yield f"{of}{name} {value}"


def _kept(kept: EvidencePassage, quoted: Sequence[str], full: bool) -> RenderableType:
    """Return a passage of the evidence: its place, why it was selected, and what is quoted, else its beginning."""
    place = Text.assemble((one_line(kept.doc_id), "bold"), f", page {kept.page + 1}")
    place.append(f"  passage {kept.ordinal}", style="dim")
    lines: list[RenderableType] = [place]
    if kept.why:
        lines.append(Padding(Text(one_line(kept.why), style="green"), (0, 0, 0, 4)))
    if kept.fields:
        lines.append(Padding(Text(fields_line(kept.fields), style="cyan"), (0, 0, 0, 4)))
    lines += [Padding(Text(f"“{quote}”"), (0, 0, 0, 4)) for quote in dict.fromkeys(quoted)]
    if kept.text and (full or not quoted):
        shown = plain(kept.text).expandtabs(2) if full else one_line(kept.text, _SHOWN_OF_A_PASSAGE)
        lines.append(Padding(Text(shown, style="dim"), (0, 0, 0, 4)))
    return Group(*lines)


def _time(run: Run) -> str:
    rounds = count_with_noun(run.answer.rounds, "round") if run.answer.rounds else "no search"
    called = usage_line(run.answer.usage)
    return " · ".join([f"{run.seconds:.2f} s", rounds, *([called] if called else [])])


def _timed(run: Run) -> bool:
    return bool(run.steps) and [step.node for step in run.steps] == [step.node for step in run.answer.trace]


_LINES_OF_A_PART = 3
_MAX_LINE_LENGTH = 240
_MAX_ID_LENGTH = 14
_MAX_VALUE_LENGTH = 22


def runs_view(lines: Sequence[RunLine], kept: int, today: date) -> RenderableType:
    """Return a row per run, newest first.

    Args:
        lines: The runs.
        kept: Number of runs in the store.
        today: The current date; the year is omitted for runs of this year.
    """
    of_a_batch = any(line.question_id for line in lines)
    own_id = [fixed("Id")] if of_a_batch else []
    table = listing(fixed("Run"), fixed("UTC"), *own_id, "Question", fixed("Answer"), right("R"), right("s"))
    for line in lines:
        written = f"{line.started:%m-%d %H:%M}" if line.started.year == today.year else f"{line.started:%Y-%m-%d}"
        named = [Text(one_line(line.question_id or "", _MAX_ID_LENGTH), style="cyan")] if of_a_batch else []
        table.add_row(
            line.id, written, *named, cut(line.question), _outcome(line), str(line.rounds or "–"), f"{line.seconds:.2f}"
        )
    more = "" if len(lines) == kept else f"the last {len(lines):,} of "
    caption = f"{more}{count_with_noun(kept, 'run')}; R: rounds of search, s: seconds"
    # Not the caption of the table, which would be folded if short questions make the table narrow.
    return Group(table, Text(caption, style="dim"))


def _outcome(line: RunLine) -> Text:
    if line.refused:
        return Text("refused", style="yellow")
    if line.value is None:
        return Text("several figures" if line.computed else "in words", style="green")
    return Text(one_line(f"{line.value:,.10g} {line.unit or ''}", _MAX_VALUE_LENGTH), style="green")


def differences_view(differences: Sequence[Difference]) -> RenderableType:
    """Return each part that differs, with the first lines that are not in both."""
    return Group(*(part for difference in differences for part in _difference(difference)))


def _difference(difference: Difference) -> Iterator[RenderableType]:
    head = Text(one_line(difference.part).capitalize(), style="bold")
    yield Padding(head.append(f"  {one_line(difference.note)}" if difference.note else "", style="dim"), (1, 0, 0, 0))
    for mark, style, lines in (("-", "red", difference.first), ("+", "green", difference.second)):
        for line in lines[:_LINES_OF_A_PART]:
            indent = " " * (len(line) - len(line.lstrip(" ")))
            yield Text(f"  {mark} {indent}{one_line(line, _MAX_LINE_LENGTH)}", style=style)
        if len(lines) > _LINES_OF_A_PART:
            yield Text(f"  {mark} … {len(lines) - _LINES_OF_A_PART} more", style=style)
