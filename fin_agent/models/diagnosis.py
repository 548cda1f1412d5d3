"""Checks whether the configured chat models can be used: key, address, structured output, prices."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlsplit

from pydantic import BaseModel

from fin_agent.models.call import Call, Message, PromptIdentity, Reply, Role
from fin_agent.models.caller import Caller
from fin_agent.models.callers_by_role import Callers
from fin_agent.models.costs import PriceTable
from fin_agent.models.errors import (
    KeyRefusedError,
    ModelError,
    ModelSetupError,
    PricesError,
    RequestRefusedError,
    UnknownModelError,
    UnusableReplyError,
)
from fin_agent.models.loading import KEY_VARIABLE, LoadedModel, load_chat_model, variable_with_key
from fin_agent.models.metering import Meter, metered
from fin_agent.models.settings import ModelSettings, OutputMode
from fin_agent.redaction import is_loopback

_PROMPT = PromptIdentity("doctor", "1")
_MESSAGES: tuple[Message, ...] = (
    ("system", "You help to find out whether requests reach you."),
    ("user", "State that you are ready."),
)
_MAX_TOKENS = 1_000
"""Token limit of the reply, with room for a model's reasoning. Only tokens that are used cost money."""


class State(StrEnum):
    """The result of one check."""

    OK = "ok"
    NOTE = "note"
    """Neither good nor bad: not used, not needed, or not checked."""
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check and its result."""

    about: str
    """`settings`, `index`, or the name of a model."""
    check: str
    state: State
    found: str
    remedy: str = ""
    """What to do; empty if nothing has to be done."""


class Ready(BaseModel):
    """A minimal structured reply."""

    ready: bool


def diagnosed_models(
    settings: ModelSettings, meter: Meter, *, offline: bool = False, asking: Callable[[str], None] = lambda name: None
) -> Iterator[Finding]:
    """Check each model that fills a role, then the file of prices. Raises nothing and shows no key.

    Args:
        settings: The models.
        meter: Records the calls: one for each distinct model, without the cache.
        offline: Whether to make no calls.
        asking: Is called with the name of each model before it is called.

    Yields:
        The findings, in the order of roles.
    """
    prices, wrong = _prices(settings)
    used = models_in_use(settings)
    for name, roles in used.items():
        yield from _model_findings(name, roles, settings, prices, meter, offline=offline, asking=asking)
    if wrong is not None:
        yield wrong


def models_in_use(settings: ModelSettings) -> dict[str, list[Role]]:
    """Return the roles that each model fills; without a main model, only roles with their own model."""
    callers = Callers(settings.model_copy(update={"prices": None, "cache": None}))
    filled: dict[str, list[Role]] = {}
    for role in Role:
        if settings.model is not None or role in settings.roles:
            filled.setdefault(callers.name(role), []).append(role)
    return filled


def _model_findings(
    name: str,
    roles: list[Role],
    settings: ModelSettings,
    prices: PriceTable,
    meter: Meter,
    *,
    offline: bool,
    asking: Callable[[str], None],
) -> Iterator[Finding]:
    try:
        loaded = load_chat_model(
            name,
            base_url=settings.base_url,
            key_variable=settings.key_variable,
            timeout=settings.timeout,
            max_retries=0,
        )
    except ModelSetupError as error:
        yield Finding(name, "set-up", State.FAILED, error.what, error.remedy)
        return
    where = f"at {loaded.base_url}" if loaded.base_url else "at the provider's own address"
    if loaded.base_url and settings.base_url is None:
        where += ", which OPENAI_BASE_URL names"
    yield Finding(name, "set-up", State.OK, f"{where}, for {_named(roles)}")
    key = _key_finding(loaded, settings)
    if offline:
        called = [Finding(name, "server", State.NOTE, "not asked")]
    else:
        asking(name)
        called = list(_call_findings(loaded, roles[0], settings, prices, meter))
    refused = next((each for each in called if each.check == key.check), None)
    yield key if refused is None else replace(refused, found=f"{key.found}: {refused.found}")
    yield from (each for each in called if each is not refused)
    yield _price_finding(loaded, settings, prices)


def _named(roles: list[Role]) -> str:
    return "all roles" if len(roles) == len(Role) else ", ".join(roles)


def _key_finding(loaded: LoadedModel, settings: ModelSettings) -> Finding:
    """Check where the key comes from, and whether it is sent where it belongs."""
    check = "key"
    variable = variable_with_key(loaded.provider, loaded.base_url, settings.key_variable)
    if variable is None:
        own = sorted(set(loaded.model.lc_secrets.values()))
        variable = next((name for name in own if os.environ.get(name)), None)
        if variable is None:
            asked = f" ({' or '.join(own)} is not set)" if own and loaded.base_url is None else ""
            return Finding(loaded.name, check, State.NOTE, f"none is sent{asked}")
    place = urlsplit(loaded.base_url or "")
    found = f"the one in {variable}"
    if variable == "OPENAI_API_KEY" and loaded.priced_at is not None:
        remedy = f"Set {KEY_VARIABLE} to the key of this server, or to any word if it needs none"
        return Finding(loaded.name, check, State.WARNING, f"{found}, for OpenAI, is sent to {place.hostname}", remedy)
    return Finding(loaded.name, check, State.OK, found)


def _call_findings(
    loaded: LoadedModel, role: Role, settings: ModelSettings, prices: PriceTable, meter: Meter
) -> Iterator[Finding]:
    """Make one call, and check that the server replies and how replies are made to match their type."""
    caller = Caller(loaded, mode=settings.output, prices=prices)
    call = Call(role, _MESSAGES, _PROMPT, output=Ready, max_output_tokens=_MAX_TOKENS, temperature=0.01)
    try:
        with metered(meter):
            _, reply = caller.value(call)
    except ModelError as error:
        yield from _failure_finding(loaded, error, caller, settings)
        return
    yield _answered(loaded, reply)
    yield _output_finding(loaded, caller, settings, reply)


def _answered(loaded: LoadedModel, reply: Reply) -> Finding:
    found = f"replies in {reply.seconds:.1f} s"
    if reply.usage.approximate:
        remedy = "See whether the server can report usage: without it, budgets and accounts are estimates"
        return Finding(loaded.name, "server", State.WARNING, f"{found}, but reports no token counts", remedy)
    return Finding(loaded.name, "server", State.OK, found)


def _output_finding(loaded: LoadedModel, caller: Caller, settings: ModelSettings, reply: Reply) -> Finding:
    check = "structured output"
    corrected = next((note for note in reply.notes if note.startswith("a correction")), "")
    if corrected:
        remedy = "Try a larger model: each correction is an additional call"
        if caller.schema_in_use:
            remedy = "Try --output-mode json, which saves the second call: the server may ignore schemas"
        return Finding(loaded.name, check, State.WARNING, corrected, remedy)
    if caller.schema_in_use:
        return Finding(loaded.name, check, State.OK, "by a schema that the server enforces")
    why = "as set" if settings.output is OutputMode.JSON else "the server accepts no schema"
    return Finding(loaded.name, check, State.OK, f"by plain JSON, checked here ({why})")


def _failure_finding(
    loaded: LoadedModel, error: ModelError, caller: Caller, settings: ModelSettings
) -> Iterator[Finding]:
    """Return the findings for a failed call, under the check that it belongs to."""
    form = "structured output"
    if isinstance(error, UnusableReplyError):
        mode, other = ("by a schema", "json") if caller.schema_in_use else ("by plain JSON", "schema")
        remedy = f"{error.remedy.rstrip('.')}; or try --output-mode {other}"
        yield Finding(loaded.name, "server", State.OK, "replies")
        yield Finding(loaded.name, form, State.FAILED, f"{mode}: {error.what}", remedy)
    elif type(error) is RequestRefusedError and settings.output is OutputMode.SCHEMA:
        remedy = f"Try --output-mode auto, which uses no schema if the server accepts none. {error.remedy}"
        yield Finding(loaded.name, "server", State.OK, "replies")
        yield Finding(loaded.name, form, State.FAILED, f"by a schema: {error.what}", remedy)
    else:
        checks = {KeyRefusedError: "key", UnknownModelError: "model"}
        yield Finding(loaded.name, checks.get(type(error), "server"), State.FAILED, error.what, error.remedy)
        yield Finding(loaded.name, form, State.NOTE, "not known")


def _price_finding(loaded: LoadedModel, settings: ModelSettings, prices: PriceTable) -> Finding:
    price = prices.price(loaded.name, loaded.priced_at)
    if price is not None:
        source = f"from {settings.prices}" if loaded.name in prices.own else "from genai-prices"
        found = f"${price.input:g} in, ${price.output:g} out per million tokens ({source})"
        return Finding(loaded.name, "price", State.OK, found)
    remedy = f"Name a file of prices (FIN_AGENT_PRICES) with models: {{'{loaded.name}': {{input: 0.5, output: 1.5}}}}"
    if settings.budget.dollars is not None or settings.batch_budget.dollars is not None:
        found = "unknown, and dollars are limited: no call would be made"
        return Finding(loaded.name, "price", State.FAILED, found, f"{remedy}, or limit tokens instead")
    state = State.NOTE if loaded.base_url and is_loopback(urlsplit(loaded.base_url).hostname or "") else State.WARNING
    return Finding(loaded.name, "price", state, "unknown: dollars are not counted", remedy)


def _prices(settings: ModelSettings) -> tuple[PriceTable, Finding | None]:
    try:
        return PriceTable.from_file(settings.prices), None
    except PricesError as error:
        return PriceTable(), Finding("prices", "file", State.FAILED, f"{error.subject}: {error.what}", error.remedy)
