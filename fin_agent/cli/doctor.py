"""`fin-agent doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import RenderableType, group
from rich.text import Text

from fin_agent.analyst.model.model_client import role_models
from fin_agent.answering.answer import Usage
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, ModelOptions, command
from fin_agent.cli.streams import fields_of, messages
from fin_agent.config import INDEX_VARIABLE, Configured, SettingsError, unknown_variable_message, unknown_variables
from fin_agent.config_sources import FILE_NAME
from fin_agent.errors import FilingIndexError
from fin_agent.index.opening import open_index
from fin_agent.models.costs import usage_of
from fin_agent.models.diagnosis import Finding, State, diagnosed_models
from fin_agent.models.metering import Meter
from fin_agent.presentation.answers import usage_line
from fin_agent.presentation.terminal_text import advice_view, count_with_noun, one_line

_STYLES = {State.OK: "green", State.NOTE: "dim", State.WARNING: "yellow", State.FAILED: "bold red"}


@command
def doctor(on: IndexOptions, models: ModelOptions, offline: bool = False) -> ExitCode:
    """Check key, server, structured output and price of each chat model with one small call; also settings and index.

    Every problem is shown with its remedy. Exit code 3 if a check fails.

    On the command line:
        offline (--offline): Make no calls; check everything else.
    """
    meter = Meter()
    findings: list[Finding] = []
    with messages().status("checking") as status:
        try:
            configured = models.configured()
        except SettingsError as error:
            findings.append(_failed("settings", "values", error))
        else:
            settings = configured.settings
            findings += [*_settings_findings(configured), _analyst_finding(configured)]
            named = role_models(settings)
            # If rules answer, only models named for a role are used.
            used = named if settings.by_model else named.model_copy(update={"model": None})
            findings += diagnosed_models(
                used, meter, offline=offline, asking=lambda name: status.update(f"asking {name}")
            )
        findings.append(_index_finding(on))
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


def _failed(about: str, check: str, error: FilingIndexError | SettingsError) -> Finding:
    subject = f"{error.subject}: " if error.subject else ""
    return Finding(about, check, State.FAILED, f"{subject}{error.what}", error.remedy)


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


def _analyst_finding(configured: Configured) -> Finding:
    """Return whether rules or a chat model will answer."""
    settings, models = configured.settings, configured.settings.models
    name = f'Name one: --model openai:gpt-5.4, FIN_AGENT_MODEL, or model = "..." under [models] in {FILE_NAME}'
    if settings.by_model and models.given:
        state, found, name = State.OK, f"a chat model, with rules to fall back on; preset {models.preset.value}", ""
    elif settings.by_model:
        state, found = State.FAILED, "a chat model must answer, and none is named"
    elif settings.analyst == "rules" and models.given:
        state, found, name = State.NOTE, "rules, as set; the named chat models are not used and not checked", ""
    elif models.roles or models.small:
        state, found = State.WARNING, "rules: models are named for some roles only, and none that answers"
    else:
        state, found, name = State.OK, "rules, without any chat model", f"{name} to have one answer"
    return Finding("analyst", "who answers", state, found, name)


def _index_finding(on: IndexOptions) -> Finding:
    """Return whether the index can be opened, and the number of its filings."""
    try:
        chosen = on.chosen
        with open_index(chosen.place) as index:
            count = len(index.entries())
    except FilingIndexError as error:
        return _failed("index", "filings", error)
    why = "the default" if chosen.chosen_by == "default" else chosen.chosen_by
    found = f"{count:,} in {chosen.place} ({why})"
    remedy = "" if count else f"Add filings with `fin-agent ingest PATH...`, or name another: --index, {INDEX_VARIABLE}"
    return Finding("index", "filings", State.OK if count else State.WARNING, found, remedy)


@group()
def findings_view(findings: Sequence[Finding], took: Usage) -> Iterator[RenderableType]:
    """Return the findings by subject, the number of problems, and the usage of the calls."""
    for about, found in groupby(findings, key=lambda each: each.about):
        rows = []
        for each in found:
            state = f"  {'–' if each.state is State.NOTE else each.state.value:<9}"
            head = Text.assemble((state, _STYLES[each.state]), f"{one_line(each.check):<19}")
            rows.append((head, each.found, each.remedy))
        yield from (Text(one_line(about), style="bold"), advice_view(rows))
    failed, warnings = (sum(each.state is state for each in findings) for state in (State.FAILED, State.WARNING))
    verdict = f"{failed} failed, {count_with_noun(warnings, 'warning')}" if failed or warnings else "Nothing is wrong"
    cost = f" {usage_line(took)}." if took.model_calls else ""
    yield Text(f"{verdict}.{cost}", style="bold red" if failed else "")
