"""`fin-agent runs ...`: recorded runs listed, shown and replayed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from rich.console import Group, RenderableType, group
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, command
from fin_agent.cli.streams import messages, say, warn
from fin_agent.config import Settings, recording_from_environment
from fin_agent.distribution import installed_version
from fin_agent.errors import FinAgentError
from fin_agent.evidence.evidence import JudgedPassage
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.opening import address_of
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.models.metering import Budget
from fin_agent.presentation import answers
from fin_agent.presentation.json_fields import as_plain
from fin_agent.presentation.terminal_text import count_with_noun, cut, fixed, listing, one_line, plain, right
from fin_agent.runs.run import (
    RULES,
    Difference,
    IndexState,
    Run,
    answer_differences,
    final_evidence,
    index_state,
    setting_lines,
)
from fin_agent.runs.store import RunLine, RunStore, store_file
from fin_agent.vocabulary.runs import grouped


@command
def list_(on: IndexOptions, limit: int = 20) -> ExitCode:
    """List recorded runs, newest first."""
    with _open_store(on) as store:
        lines, kept = store.listed(limit), store.count()
    listed = [{**line.model_dump(), "started": line.started.isoformat()} for line in lines]
    on.show({"runs": listed, "recorded": kept, "file": str(store.file)}, *([runs_view(lines, kept)] if lines else []))
    if not lines:
        on.say(f'no run is recorded in {store.file} yet. Ask a question with `fin-agent ask "QUESTION"`')
    return ExitCode.DONE


@command
def show(run: str, on: IndexOptions, full: bool = False) -> ExitCode:
    """Show a run: question, answer, ledger, what each round searched, found, kept and dropped, evidence, program.

    With --json it is the whole run with its trace.
    """
    with _open_store(on) as store:
        found = store.run(run)
    if on.as_json:
        print(found.model_dump_json(ensure_ascii=True))
    else:
        on.show({}, run_view(found, full=full))
    return ExitCode.DONE


@command
def forget(on: IndexOptions, names: list[str] | None = None, every: bool = False) -> ExitCode:
    """Delete recorded runs."""
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
def replay(run: str, on: IndexOptions, ask_model: bool = False) -> ExitCode:
    """Ask the question of a run again, and show what differs. Exit code 3 if anything does.

    Without --index the run's own index is asked, if it still exists. A run that a model answered is replayed from the
    cached replies; without these the model is only called with --ask-model.
    """
    with _open_store(on) as store:
        then = store.run(run)
    settings = then.settings
    if settings.by_model and not ask_model:  # only cached replies are used
        no_calls = {"budget": Budget(calls=0), "batch_budget": Budget()}
        settings = settings.model_copy(update={"models": settings.models.model_copy(update=no_calls)})
    place, reason = _place(then, on.index)
    say(f"asking the index in {address_of(place) or place} ({reason})")
    with IndexOptions(index=place).open_workspace() as workspace:
        changes = list(_changes(then, index_state(workspace.index, place)))
        for change in changes:
            warn(change)
        context = AnswerContext.from_settings(workspace, settings, notify=warn)
        pages = [PageKey(page.doc_id, page.page) for page in then.pages]
        with messages().status("asking again"):
            again = answer_question(then.question, context, doc_ids=then.doc_ids or None, pages=pages)
    lacking = len(again.usage.left_out) - len(then.answer.usage.left_out)
    if not ask_model and lacking > 0:
        model, took = then.settings.models.model or "a model", answers.usage_line(then.answer.usage)
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
    took = f"{then.seconds:.2f} s then, {again.seconds:.2f} s now"
    shown: list[RenderableType] = [f"Run {then.id} gives the same answer and the same trace again ({took})."]
    if differences:
        shown = [f"Run {then.id} gives another result: - then, + now.", differences_view(differences)]
    if then.analyst != RULES:
        shown += [
            f"{when.capitalize()}: {answers.usage_line(usage) or 'no model was called'}."
            for when, usage in usages.items()
        ]
    on.show(document, *shown)
    return ExitCode.SOME_FAILED if differences else ExitCode.DONE


class ReplayError(FinAgentError):
    """A run cannot be asked again under the same conditions."""


def _place(run: Run, given: Path | None) -> tuple[Path, str]:
    """Return the index that is named now, else the run's own, else the default, and which of these it is."""
    recorded = Path(run.index.path)
    if given is not None:
        return given, "--index"
    if address_of(recorded) is not None or (recorded / FILE_NAME).is_file():
        return recorded, "that of the run"
    chosen = IndexOptions().chosen
    return Path(chosen.place), f"{chosen.chosen_by}, since that of the run, {recorded}, no longer exists"


def _changes(run: Run, now: IndexState) -> Iterator[str]:
    """Yield what has changed since the run was recorded."""
    if now.fingerprint != run.index.fingerprint:
        other = " others" if now.filings == run.index.filings else ""
        was = f"it contained {run.index.filings:,} filings, and now contains {now.filings:,}{other}"
        yield f"the index has changed since: {was}"
    if run.version != installed_version():
        yield f"version {run.version} answered this run, and this is {installed_version()}"


@group()
def run_view(run: Run, *, full: bool = False) -> Iterator[RenderableType]:
    """Return a whole run; `full` shows every line of every step, and passages in full."""
    answer = run.answer
    yield from (Text(one_line(line), style="dim") for line in _asked(run))
    yield Text(f"\n{plain(run.question)}\n", style="bold cyan")
    yield answers.refusal_panel(answer, "Missing:") if answer.refused else Text(plain(answer.answer.text), style="bold")
    yield from answers.note_lines(answer.assumptions)
    yield from answers.warning_lines(answer.warnings)
    if answer.ledger:
        yield from (_heading("Ledger"), answers.ledger_view(answer.ledger, full=full))
    if answer.trace:
        timed = [step.node for step in run.steps] == [step.node for step in answer.trace]
        seconds = [step.seconds for step in run.steps] if timed else []
        yield answers.rounds_view(answer.trace, seconds, searched=answer.rounds > 0, full=full)
    if evidence := final_evidence(answer):
        yield _heading("Evidence")
        quoted = grouped(((each.doc_id, each.page), one_line(each.text)) for each in answer.citations)
        for kept, text in evidence:
            # What is quoted from a page is shown once, below its first passage.
            yield from _kept(kept, text, quoted.pop((kept.doc_id, kept.page), ()), full)
    if answer.program:
        yield from (_heading("Program"), Padding(answers.program_view(answer.program), (0, 0, 0, 2)))
    if answer.usage.roles:
        yield from (_heading("Model calls"), answers.usage_view(answer.usage))
    rounds = count_with_noun(answer.rounds, "round") if answer.rounds else "no search"
    yield _heading("Time")
    yield Text(" · ".join(filter(None, [f"{run.seconds:.2f} s", rounds, answers.usage_line(answer.usage)])))


def _heading(title: str) -> RenderableType:
    return Padding(Rule(Text(title, style="bold"), align="left", style="dim"), (1, 0, 0, 0))


def _asked(run: Run) -> Iterator[str]:
    """Yield when and how it was asked, with settings that differ from the defaults."""
    yield f"Run {run.id} · {run.started:%Y-%m-%d %H:%M:%S} UTC · strategy {run.settings.strategy}"
    yield f"fin-agent {run.version}, analyst {run.analyst}, {run.index.filings:,} filings in {run.index.path}"
    usual = set(setting_lines(Settings()))
    if other := [line for line in setting_lines(run.settings) if line not in usual and not line.startswith("strategy")]:
        yield f"settings: {', '.join(line.replace(':', '', 1) for line in other)}"
    if run.doc_ids:
        yield f"only filings: {', '.join(run.doc_ids)}"
    if run.pages:
        yield "only pages: " + ", ".join(f"{place.doc_id} page {place.page + 1}" for place in run.pages)
    if run.answer.id:
        yield f"question {run.answer.id} of a batch"


def _kept(kept: JudgedPassage, text: str, quoted: Sequence[str], full: bool) -> Iterator[RenderableType]:
    """Yield a passage of the evidence: its place, why it was selected, and what is quoted, else its beginning."""
    place = Text.assemble((one_line(kept.doc_id), "bold"), f", page {kept.page + 1}")
    yield place.append(f"  passage {kept.ordinal}", style="dim")
    told = [(one_line(kept.why), "green"), (answers.fields_line(kept.fields), "cyan")]
    told += [(f"“{quote}”", "") for quote in dict.fromkeys(quoted)]
    if full or not quoted:
        shown = plain(text).expandtabs(2) if full else one_line(text, _SHOWN_OF_A_PASSAGE)
        told.append((shown, "dim"))
    yield from (Padding(Text(line, style=style), (0, 0, 0, 4)) for line, style in told if line)


_SHOWN_OF_A_PASSAGE = 220
_LINES_OF_A_PART = 3
_MAX_LINE_LENGTH = 240
_MAX_ID_LENGTH = 14
_MAX_VALUE_LENGTH = 22


def runs_view(lines: Sequence[RunLine], kept: int) -> RenderableType:
    """Return a row per run, newest first; `kept` is the number of runs in the store."""
    own_id = [fixed("Id")] if any(line.question_id for line in lines) else []  # of a batch
    table = listing(fixed("Run"), fixed("UTC"), *own_id, "Question", fixed("Answer"), right("R"), right("s"))
    for line in lines:
        named = [Text(one_line(line.question_id or "", _MAX_ID_LENGTH), style="cyan")] if own_id else []
        said = line.said if line.value is None else f"{line.value:,.10g} {line.unit or ''}"
        answer = Text(one_line(said, _MAX_VALUE_LENGTH), style="green")
        table.add_row(
            line.id,
            f"{line.started:%Y-%m-%d %H:%M}",
            *named,
            cut(line.question),
            Text("refused", style="yellow") if line.refused else answer,
            str(line.rounds or "–"),
            f"{line.seconds:.2f}",
        )
    more = "" if len(lines) == kept else f"the last {len(lines):,} of "
    caption = f"{more}{count_with_noun(kept, 'run')}; R: rounds of search, s: seconds"
    # Not the caption of the table, which would be folded if short questions make the table narrow.
    return Group(table, Text(caption, style="dim"))


@group()
def differences_view(differences: Sequence[Difference]) -> Iterator[RenderableType]:
    """Return each part that differs, with the first lines that are not in both."""
    for difference in differences:
        note = f"  {one_line(difference.note)}" if difference.note else ""
        yield from (Text(), Text.assemble((one_line(difference.part).capitalize(), "bold"), (note, "dim")))
        for mark, style, told in (("-", "red", difference.first), ("+", "green", difference.second)):
            for line in told[:_LINES_OF_A_PART]:
                indent = " " * (len(line) - len(line.lstrip(" ")))
                yield Text(f"  {mark} {indent}{one_line(line, _MAX_LINE_LENGTH)}", style=style)
            if len(told) > _LINES_OF_A_PART:
                yield Text(f"  {mark} … {len(told) - _LINES_OF_A_PART} more", style=style)
