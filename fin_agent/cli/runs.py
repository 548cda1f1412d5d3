"""`fin-agent runs ...`: recorded runs listed, shown and replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from fin_agent.answering.answer import Answer, Usage
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, chosen_index, command, open_existing_index
from fin_agent.cli.streams import as_plain, messages, say, show_json_line, warn
from fin_agent.config import Settings, recording_from_environment
from fin_agent.distribution import installed_version
from fin_agent.errors import FinAgentError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.opening import address_of
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.models.metering import Budget
from fin_agent.presentation.answers import ledger_view, program_view, refusal_panel, usage_line, usage_view
from fin_agent.presentation.terminal_text import count_with_noun, cut, fixed, listing, one_line, plain, right
from fin_agent.presentation.traces import fields_line, rounds_view, warning_lines
from fin_agent.runs.comparing import Difference, EvidencePassage, answer_differences, final_evidence
from fin_agent.runs.run import RULES, IndexState, Run, index_state
from fin_agent.runs.store import RunLine, RunStore, store_file
from fin_agent.workspace import Workspace

RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, its beginning, `last`, `last~1` for the one before, or the id of its question in a batch.",
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Show everything, not only the first lines of each part.")]


@command
def list_(on: IndexOptions, limit: Annotated[int, typer.Option(min=1)] = 20) -> ExitCode:
    """List recorded runs, newest first.

    On the command line:
        limit (--k, -k, --limit, -n): Number of runs.
    """
    with _open_store(on) as store:
        lines, kept, file = store.listed(limit), store.count(), store.file
    listed = [{**line.model_dump(), "started": line.started.isoformat()} for line in lines]
    shown = [runs_view(lines, kept, datetime.now(UTC).date())] if lines else []
    on.show({"runs": listed, "recorded": kept, "file": str(file)}, *shown)
    if not lines:
        on.say(f'no run is recorded in {file} yet. Ask a question with `fin-agent ask "QUESTION"`')
    return ExitCode.DONE


@command
def show(run: RunName, on: IndexOptions, full: Full = False) -> ExitCode:
    """Show a run: question, answer, ledger, what each round searched, found, kept and dropped, evidence, program.

    With --json it is the whole run with its trace.
    """
    with _open_store(on) as store:
        found = store.run(run)
    if on.as_json:
        show_json_line(found.model_dump_json())
    else:
        on.show({}, run_view(found, full=full))
    return ExitCode.DONE


@command
def forget(on: IndexOptions, names: list[str] | None = None, every: bool = False) -> ExitCode:
    """Delete recorded runs.

    On the command line:
        names (RUN...): Runs to delete.
        every (--all): Delete all runs.
    """
    if bool(names) == every:
        raise typer.BadParameter("name runs, or give --all", param_hint="RUN")
    with _open_store(on) as store:
        gone = store.forget(names or None)
    on.show({"forgotten": gone}, f"{count_with_noun(gone, 'run')} deleted.")
    return ExitCode.DONE


def _open_store(on: IndexOptions) -> RunStore:
    """Return the store of the runs of an index, or of the file that the environment names."""
    recording = recording_from_environment()
    return RunStore(store_file(on.chosen.folder, recording), recording)


@command
def replay(run: RunName, on: IndexOptions, ask_model: bool = False) -> ExitCode:
    """Ask the question of a run again, and show what differs. Exit code 3 if anything does.

    Without --index the run's own index is asked, if it still exists. A run that a model answered is replayed from the
    cached replies; without these the model is only called with --ask-model.

    On the command line:
        ask_model (--ask-model): Call the model, and pay for it, if its replies were not cached.
    """
    with _open_store(on) as store:
        then = store.run(run)
    settings = _settings(then, ask_model=ask_model)
    folder, reason = _folder(then, on.index)
    say(f"asking the index in {address_of(folder) or folder} ({reason})")
    with open_existing_index(folder) as workspace:
        changes = _changes(then, index_state(workspace.index, folder))
        for change in changes:
            warn(change)
        again = _ask_again(then, settings, workspace)
    lacking = len(again.usage.left_out) - len(then.answer.usage.left_out)
    if not ask_model and lacking > 0:
        model, took = then.settings.models.model or "a model", usage_line(then.answer.usage)
        raise ReplayError(
            f"{model} answered it, and replies that it needs are not stored (then: {took})",
            subject=f"run {then.id}",
            remedy="Call the model again, and pay for it, with --ask-model. A batch caches replies; `ask` does if the "
            "settings name a file for them",
        )
    differences = answer_differences(then.answer, again)
    usages = {"then": then.answer.usage, "now": again.usage}
    document = {
        "run": then.id,
        "identical": not differences,
        "changed_since": changes,
        "differences": as_plain(differences),
        "seconds": {"then": then.seconds, "now": again.seconds},
        "usage": as_plain(usages),
    }
    if differences:
        told = f"Run {then.id} gives another result: - then, + now."
        on.show(document, told, differences_view(differences), *_usage_comparison(then, usages))
        return ExitCode.SOME_FAILED
    took = f"{then.seconds:.2f} s then, {again.seconds:.2f} s now"
    told = f"Run {then.id} gives the same answer and the same trace again ({took})."
    on.show(document, told, *_usage_comparison(then, usages))
    return ExitCode.DONE


def _usage_comparison(run: Run, usages: Mapping[str, Usage]) -> list[str]:
    """Return the usage of model calls then and now; empty if rules answered."""
    if run.analyst == RULES:
        return []
    return [f"{when.capitalize()}: {usage_line(usage) or 'no model was called'}." for when, usage in usages.items()]


class ReplayError(FinAgentError):
    """A run cannot be asked again under the same conditions."""


def _settings(run: Run, *, ask_model: bool) -> Settings:
    """Return the settings to ask again: those of the run, limited to cached replies if the model must not be called."""
    if not run.settings.by_model or ask_model:
        return run.settings
    models = run.settings.models
    none = models.model_copy(update={"budget": Budget(calls=0), "batch_budget": Budget()})
    return run.settings.model_copy(update={"models": none})


def _folder(run: Run, given: Path | None) -> tuple[Path, str]:
    """Return the index that is named now, else the run's own, else the default, and which of these it is."""
    if given is not None:
        return given, "--index"
    recorded = Path(run.index.path)
    if address_of(recorded) is not None or (recorded / FILE_NAME).is_file():
        return recorded, "that of the run"
    chosen = chosen_index(None)
    return Path(chosen.place), f"{chosen.chosen_by}, since that of the run, {recorded}, no longer exists"


def _changes(run: Run, now: IndexState) -> list[str]:
    """Return what has changed since the run was recorded."""
    changes: list[str] = []
    if now.fingerprint != run.index.fingerprint:
        changes.append(
            f"the index has changed since: it contained {run.index.filings:,} filings, and now contains"
            f" {now.filings:,}{' others' if now.filings == run.index.filings else ''}"
        )
    if run.version != installed_version():
        changes.append(f"version {run.version} answered this run, and this is {installed_version()}")
    return changes


def _ask_again(run: Run, settings: Settings, workspace: Workspace) -> Answer:
    context = AnswerContext.from_settings(workspace, settings, notify=warn)
    with messages().status("asking again"):
        return answer_question(
            run.question,
            context,
            doc_ids=run.doc_ids or None,
            pages=[PageKey(place.doc_id, place.page) for place in run.pages],
        )


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
