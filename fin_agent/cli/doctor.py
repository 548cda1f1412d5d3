"""`fin-agent doctor`: whether settings, chat models and index can be used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from urllib.parse import urlsplit

from pydantic import BaseModel
from rich.console import RenderableType, group
from rich.text import Text

from fin_agent.analyst.model.model_client import role_models
from fin_agent.answering.answer import Usage
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, ModelOptions, command
from fin_agent.cli.streams import messages
from fin_agent.config import INDEX_VARIABLE, Configured, SettingsError, unknown_variable_message, unknown_variables
from fin_agent.config_sources import FILE_NAME
from fin_agent.errors import FilingIndexError, FinAgentError
from fin_agent.index.opening import open_index
from fin_agent.models import errors
from fin_agent.models.call import Call, Message, PromptIdentity, Role
from fin_agent.models.caller import Caller, Callers
from fin_agent.models.errors import ModelError
from fin_agent.models.loading import KEY_VARIABLE, LoadedModel, variable_with_key
from fin_agent.models.metering import Meter, PriceTable, current_meter, metered, usage_of
from fin_agent.models.settings import ModelSettings, OutputMode
from fin_agent.presentation.answers import usage_line
from fin_agent.presentation.json_fields import fields_of
from fin_agent.presentation.terminal_text import advice_view, count_with_noun, one_line
from fin_agent.redaction import is_loopback
from fin_agent.vocabulary.runs import grouped


@dataclass(frozen=True, slots=True)
class Finding:
    """One check and its result."""

    about: str
    """`settings`, `index`, or the name of a model."""
    check: str
    state: str
    """`ok`, `warning`, `failed`, or `note`: not used, not needed, or not checked."""
    found: str
    remedy: str = ""


class Ready(BaseModel):
    """A minimal structured reply."""

    ready: bool


_MESSAGES: tuple[Message, ...] = (
    ("system", "You help to find out whether requests reach you."),
    ("user", "State that you are ready."),
)
_MAX_TOKENS = 1_000
"""Token limit of the reply, with room for a model's reasoning. Only tokens that are used cost money."""
_STYLES = {"ok": "green", "note": "dim", "warning": "yellow", "failed": "bold red"}


@command
def doctor(on: IndexOptions, models: ModelOptions, offline: bool = False) -> ExitCode:
    """Check key, server, structured output and price of each chat model with one small call; also settings and index.

    Every problem is shown with its remedy. Exit code 3 if a check fails.
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
            with metered(meter):
                findings += _model_findings(used, offline, lambda name: status.update(f"asking {name}"))
        findings.append(_index_finding(on))
    failed = sum(each.state == "failed" for each in findings)
    took = usage_of(meter.records)
    document = {
        "findings": [fields_of(each, "about check state found remedy?") for each in findings],
        "failed": failed,
        "warnings": sum(each.state == "warning" for each in findings),
        "calls": took.model_calls,
        "tokens": took.input_tokens + took.output_tokens,
        "dollars": took.dollars,
    }
    on.show(document, findings_view(findings, took))
    return ExitCode.SOME_FAILED if failed else ExitCode.DONE


def _failed(about: str, check: str, error: FinAgentError) -> Finding:
    subject = f"{error.subject}: " if error.subject else ""
    return Finding(about, check, "failed", f"{subject}{error.what}", error.remedy)


def _settings_findings(configured: Configured) -> Iterator[Finding]:
    """Yield the settings file, the source of each setting, and unknown variables."""
    file = configured.file
    found = str(file) if file is not None else f"no {FILE_NAME} was found"
    yield Finding("settings", "file", "ok" if file is not None else "note", found)
    sources = configured.sources.items()
    given = grouped((FILE_NAME if each.by == str(file) else each.by, ".".join(place)) for place, each in sources)
    if given:
        told = "; ".join(f"{by} gives {', '.join(names)}" for by, names in given.items())
        yield Finding("settings", "given", "ok", told)
    for name, closest in unknown_variables(configured.settings.models.key_variable).items():
        yield Finding("settings", "variable", "warning", *unknown_variable_message(name, closest))


def _analyst_finding(configured: Configured) -> Finding:
    """Return whether rules or a chat model will answer."""
    settings, models = configured.settings, configured.settings.models
    name = f'Name one: --model openai:gpt-5.4, FIN_AGENT_MODEL, or model = "..." under [models] in {FILE_NAME}'
    if settings.by_model and models.model is not None:
        state, found, name = "ok", f"a chat model, with rules to fall back on; preset {models.preset.value}", ""
    elif settings.by_model:
        state, found = "failed", "a chat model must answer, and none is named"
    elif settings.analyst == "rules" and models.model is not None:
        state, found, name = "note", "rules, as set; the named chat models are not used and not checked", ""
    elif models.roles or models.small:
        state, found = "warning", "rules: models are named for some roles only, and none that answers"
    else:
        state, found, name = "ok", "rules, without any chat model", f"{name} to have one answer"
    return Finding("analyst", "who answers", state, found, name)


def _model_findings(settings: ModelSettings, offline: bool, asking: Callable[[str], None]) -> Iterator[Finding]:
    """Check the file of prices, then each model that fills a role. Each model is called once, unless `offline`."""
    checked = settings.model_copy(update={"cache": None, "attempts": 1})
    try:
        prices = PriceTable.from_file(settings.prices)
    except errors.PricesError as error:
        yield _failed("prices", "file", error)
        prices, checked = PriceTable(), checked.model_copy(update={"prices": None})
    callers = Callers(checked)
    # Without a model for all, only roles with one of their own.
    filled = grouped(
        (callers.name(role), role) for role in Role if settings.model is not None or role in settings.roles
    )
    for name, roles in filled.items():
        try:
            caller = callers.of(roles[0])
        except errors.ModelSetupError as error:
            yield Finding(name, "set-up", "failed", error.what, error.remedy)
            continue
        loaded = caller.model
        where = f"at {loaded.base_url}" if loaded.base_url else "at the provider's own address"
        told = "all roles" if len(roles) == len(Role) else ", ".join(roles)
        yield Finding(name, "set-up", "ok", f"{where}, for {told}")
        called = [Finding(name, "server", "note", "not asked")]
        if not offline:
            asking(name)
            called = list(_call_findings(caller, roles[0]))
        if not any(found.check == "key" for found in called):
            yield _key_finding(loaded, settings)
        yield from called
        yield _price_finding(loaded, settings, prices)


def _key_finding(loaded: LoadedModel, settings: ModelSettings) -> Finding:
    """Check where the key comes from, and whether it is sent where it belongs."""
    state, remedy = "ok", ""
    own = sorted(set(loaded.model.lc_secrets.values()))
    variable = variable_with_key(loaded.provider, loaded.base_url, settings.key_variable)
    variable = variable or next((name for name in own if os.environ.get(name)), None)
    found = f"the one in {variable}"
    if variable is None:
        state, found = "note", "none is sent"
        found += f" ({' or '.join(own)} is not set)" if own and loaded.base_url is None else ""
    elif variable == "OPENAI_API_KEY" and loaded.priced_at is not None:
        state, found = "warning", f"{found}, for OpenAI, is sent to {urlsplit(loaded.priced_at).hostname}"
        remedy = f"Set {KEY_VARIABLE} to the key of this server, or to any word if it needs none"
    return Finding(loaded.name, "key", state, found, remedy)


def _call_findings(caller: Caller, role: Role) -> Iterator[Finding]:
    """Make one call, and check that the server replies and how replies are made to match their type."""
    of_server, of_form = (partial(Finding, caller.model.name, check) for check in ("server", "structured output"))
    call = Call(role, _MESSAGES, PromptIdentity("doctor", "1"), output=Ready, max_output_tokens=_MAX_TOKENS)
    made = Meter(within=current_meter())
    try:
        with metered(made):
            caller.value(call)
    except ModelError as error:
        mode, other = ("by a schema", "json") if "schema" not in caller.left_out else ("by plain JSON", "schema")
        refused = isinstance(error, errors.RequestRefusedError) and caller.mode is OutputMode.SCHEMA
        if refused or isinstance(error, errors.UnusableReplyError):
            remedy = f"{error.remedy.rstrip('.')}; or try --output-mode {'auto' if refused else other}"
            yield of_server("ok", "replies")
            yield of_form("failed", f"{mode}: {error.what}", remedy)
        else:
            check = {errors.KeyRefusedError: "key", errors.UnknownModelError: "model"}.get(type(error), "server")
            yield Finding(caller.model.name, check, "failed", error.what, error.remedy)
            yield of_form("note", "not known")
        return
    found = f"replies in {sum(record.seconds for record in made.records):.1f} s"
    if any(record.usage.approximate for record in made.records):
        remedy = "See whether the server can report usage: without it, budgets and accounts are estimates"
        yield of_server("warning", f"{found}, but reports no token counts", remedy)
    else:
        yield of_server("ok", found)
    if len(made.records) > 1:
        corrected = f"a correction was asked for: {made.records[0].note}"
        remedy = "Try a larger model, or --output-mode json if the server ignores schemas: each correction is a call"
        yield of_form("warning", corrected, remedy)
    elif "schema" not in caller.left_out:
        yield of_form("ok", "by a schema that the server enforces")
    else:
        why = "as set" if caller.mode is OutputMode.JSON else "the server accepts no schema"
        yield of_form("ok", f"by plain JSON, checked here ({why})")


def _price_finding(loaded: LoadedModel, settings: ModelSettings, prices: PriceTable) -> Finding:
    price = prices.price(loaded.name, loaded.priced_at)
    state, found = "warning", "unknown: dollars are not counted"
    remedy = f"Name a file of prices (FIN_AGENT_PRICES) with models: {{'{loaded.name}': {{input: 0.5, output: 1.5}}}}"
    if price is not None:
        source = f"from {settings.prices}" if loaded.name in prices.own else "from genai-prices"
        state, remedy = "ok", ""
        found = f"${price.input:g} in, ${price.output:g} out per million tokens ({source})"
    elif settings.budget.dollars is not None or settings.batch_budget.dollars is not None:
        state, found = "failed", "unknown, and dollars are limited: no call would be made"
        remedy += ", or limit tokens instead"
    elif loaded.base_url and is_loopback(urlsplit(loaded.base_url).hostname or ""):
        state = "note"
    return Finding(loaded.name, "price", state, found, remedy)


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
    return Finding("index", "filings", "ok" if count else "warning", found, remedy)


@group()
def findings_view(findings: Sequence[Finding], took: Usage) -> Iterator[RenderableType]:
    """Return the findings by subject, the number of problems, and the usage of the calls."""
    for about, found in groupby(findings, key=lambda each: each.about):
        rows = []
        for each in found:
            state = f"  {'–' if each.state == 'note' else each.state:<9}"
            head = Text.assemble((state, _STYLES[each.state]), f"{one_line(each.check):<19}")
            rows.append((head, each.found, each.remedy))
        yield from (Text(one_line(about), style="bold"), advice_view(rows))
    failed, warnings = (sum(each.state == state for each in findings) for state in ("failed", "warning"))
    verdict = f"{failed} failed, {count_with_noun(warnings, 'warning')}" if failed or warnings else "Nothing is wrong"
    cost = f" {usage_line(took)}." if took.model_calls else ""
    yield Text(f"{verdict}.{cost}", style="bold red" if failed else "")
