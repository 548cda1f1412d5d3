"""`fin-agent doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from fin_agent.analyst.model.models_by_role import role_models
from fin_agent.answering.answer import Usage
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, ModelOptions, command
from fin_agent.cli.streams import fields_of, messages
from fin_agent.config import (
    INDEX_VARIABLE,
    Configured,
    Settings,
    SettingsError,
    unknown_variable_message,
    unknown_variables,
)
from fin_agent.config_sources import FILE_NAME
from fin_agent.errors import FilingIndexError
from fin_agent.index.opening import open_index
from fin_agent.index.sqlite import FILE_NAME as INDEX_FILE
from fin_agent.models.costs import usage_of
from fin_agent.models.diagnosis import Finding, State, diagnosed_models
from fin_agent.models.metering import Meter
from fin_agent.models.settings import ModelSettings
from fin_agent.presentation.terminal_text import advice_view, one_line


@command
def doctor(on: IndexOptions, models: ModelOptions, offline: bool = False) -> ExitCode:
    """Check key, server, structured output and price of each chat model with one small call; also settings and index.

    Every problem is shown with its remedy. Exit code 3 if a check fails.

    On the command line:
        offline (--offline): Make no calls; check everything else.
    """
    meter = Meter()
    findings: list[Finding] = []
    configured: Configured | None = None
    try:
        configured = models.configured()
    except SettingsError as error:
        subject = f"{error.subject}: " if error.subject else ""
        findings.append(Finding("settings", "values", State.FAILED, f"{subject}{error.what}", error.remedy))
    with messages().status("checking") as status:
        if configured is not None:
            findings += _settings_findings(configured)
            findings += _analyst_finding(configured.settings)
            findings += diagnosed_models(
                _models_used(configured.settings),
                meter,
                offline=offline,
                asking=lambda name: status.update(f"asking {name}"),
            )
        findings += _index_findings(on)
    failed = sum(each.state is State.FAILED for each in findings)
    took = usage_of(meter.records)
    document = {
        "findings": [fields_of(each, "about check state found remedy?") for each in findings],
        "failed": failed,
        "warnings": sum(each.state is State.WARNING for each in findings),
        "calls": took.model_calls,
        "tokens": took.input_tokens + took.output_tokens,
        "dollars": took.dollars,
    }
    on.show(document, findings_view(findings, took))
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


def _settings_findings(configured: Configured) -> Iterator[Finding]:
    """Yield the settings file, the source of each setting, and unknown variables."""
    file = configured.file
    found = str(file) if file is not None else f"no {FILE_NAME} was found"
    yield Finding("settings", "file", State.OK if file is not None else State.NOTE, found)
    given: dict[str, list[str]] = {}
    for place, each in configured.sources.items():
        given.setdefault(FILE_NAME if each.by == str(file) else each.by, []).append(".".join(place))
    if given:
        told = "; ".join(f"{by} gives {', '.join(names)}" for by, names in given.items())
        yield Finding("settings", "given", State.OK, told)
    for name, closest in unknown_variables(configured.settings.models.key_variable).items():
        yield Finding("settings", "variable", State.WARNING, *unknown_variable_message(name, closest))


def _analyst_finding(settings: Settings) -> Iterator[Finding]:
    """Yield whether rules or a chat model will answer."""
    models = settings.models
    name = f'Name one: --model openai:gpt-5.4, FIN_AGENT_MODEL, or model = "..." under [models] in {FILE_NAME}'
    if settings.by_model and models.given:
        found = f"a chat model, with rules to fall back on; preset {models.preset.value}"
        yield Finding("analyst", "who answers", State.OK, found)
    elif settings.by_model:
        yield Finding("analyst", "who answers", State.FAILED, "a chat model must answer, and none is named", name)
    elif settings.analyst == "rules" and models.given:
        found = "rules, as set; the named chat models are not used and not checked"
        yield Finding("analyst", "who answers", State.NOTE, found)
    elif models.roles or models.small:
        found = "rules: models are named for some roles only, and none that answers"
        yield Finding("analyst", "who answers", State.WARNING, found, name)
    else:
        yield Finding("analyst", "who answers", State.OK, "rules, without any chat model", f"{name} to have one answer")


def _models_used(settings: Settings) -> ModelSettings:
    """Return the models by role; if rules answer, only those named for a role."""
    named = role_models(settings)
    return named if settings.by_model else named.model_copy(update={"model": None})


def _index_findings(on: IndexOptions) -> Iterator[Finding]:
    try:
        chosen = on.chosen
    except FilingIndexError as error:
        yield Finding("index", "filings", State.FAILED, f"{error.subject}: {error.what}", error.remedy)
        return
    why = "the default" if chosen.chosen_by == "default" else chosen.chosen_by
    where = f"{chosen.place} ({why})"
    if chosen.address is None and not (chosen.folder / INDEX_FILE).is_file():
        remedy = f"Add filings with `fin-agent ingest PATH...`, or name another index: --index, {INDEX_VARIABLE}"
        yield Finding("index", "filings", State.FAILED, f"there is none in {where}", remedy)
        return
    try:
        with open_index(chosen.place) as index:
            count = len(index.entries())
    except FilingIndexError as error:
        yield Finding("index", "filings", State.FAILED, f"{where}: {error.what}", error.remedy)
        return
    if not count:
        remedy = "Add filings with `fin-agent ingest PATH...`"
        yield Finding("index", "filings", State.WARNING, f"{where} is empty", remedy)
        return
    yield Finding("index", "filings", State.OK, f"{count:,} in {where}")


_STYLES = {State.OK: "green", State.NOTE: "dim", State.WARNING: "yellow", State.FAILED: "bold red"}
_WORDS = {State.NOTE: "–"}


def findings_view(findings: Sequence[Finding], took: Usage) -> RenderableType:
    """Return the findings by subject, the number of problems, and the usage of the calls."""
    lines: list[RenderableType] = []
    for about, group in groupby(findings, key=lambda each: each.about):
        lines.append(Text(one_line(about), style="bold"))
        lines.append(advice_view(map(_row, group)))
    failed = sum(each.state is State.FAILED for each in findings)
    warnings = sum(each.state is State.WARNING for each in findings)
    counted = f"{failed} failed, {warnings} {'warning' if warnings == 1 else 'warnings'}" if failed or warnings else ""
    lines.append(Text(f"{counted or 'Nothing is wrong'}.{_cost(took)}", style="bold red" if failed else ""))
    return Group(*lines)


def _row(each: Finding) -> tuple[Text, str, str]:
    state = f"  {_WORDS.get(each.state, each.state.value):<9}"
    return Text.assemble((state, _STYLES[each.state]), f"{one_line(each.check):<19}"), each.found, each.remedy


def _cost(took: Usage) -> str:
    """Return the usage of the calls; empty if none succeeded."""
    if not took.model_calls:
        return ""
    calls = f"{took.model_calls} {'call was' if took.model_calls == 1 else 'calls were'} made"
    price = "at an unknown price" if took.dollars is None else f"${took.dollars:.6f}"
    return f" {calls}: {took.input_tokens + took.output_tokens:,} tokens, {price}."
