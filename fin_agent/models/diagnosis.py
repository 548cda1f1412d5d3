"""Checks whether the configured chat models can be used: key, address, structured output, prices."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from pydantic import BaseModel

from fin_agent.models.call import Call, Message, PromptIdentity, Role
from fin_agent.models.caller import Caller
from fin_agent.models.callers_by_role import Callers, load_as_set
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
from fin_agent.models.loading import KEY_VARIABLE, LoadedModel, variable_with_key
from fin_agent.models.metering import Meter, metered
from fin_agent.models.settings import ModelSettings, OutputMode
from fin_agent.redaction import is_loopback


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


_MESSAGES: tuple[Message, ...] = (
    ("system", "You help to find out whether requests reach you."),
    ("user", "State that you are ready."),
)
_MAX_TOKENS = 1_000
"""Token limit of the reply, with room for a model's reasoning. Only tokens that are used cost money."""


def diagnosed_models(
    settings: ModelSettings, meter: Meter, *, offline: bool = False, asking: Callable[[str], None] = lambda name: None
) -> Iterator[Finding]:
    """Check each model that fills a role, then the file of prices. Raises nothing and shows no key.

    Each distinct model is called once, without the cache, unless `offline`; `asking` is called with its name before.
    """
    prices, wrong = PriceTable(), None
    try:
        prices = PriceTable.from_file(settings.prices)
    except PricesError as error:
        wrong = Finding("prices", "file", State.FAILED, f"{error.subject}: {error.what}", error.remedy)
    for name, roles in models_in_use(settings).items():
        try:
            loaded = load_as_set(name, settings.model_copy(update={"attempts": 1}))
        except ModelSetupError as error:
            yield Finding(name, "set-up", State.FAILED, error.what, error.remedy)
            continue
        where = f"at {loaded.base_url}" if loaded.base_url else "at the provider's own address"
        told = "all roles" if len(roles) == len(Role) else ", ".join(roles)
        yield Finding(name, "set-up", State.OK, f"{where}, for {told}")
        called = [Finding(name, "server", State.NOTE, "not asked")]
        if not offline:
            asking(name)
            called = list(_call_findings(Caller(loaded, mode=settings.output, prices=prices), roles[0], meter))
        if not any(found.check == "key" for found in called):
            yield _key_finding(loaded, settings)
        yield from called
        yield _price_finding(loaded, settings, prices)
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


def _key_finding(loaded: LoadedModel, settings: ModelSettings) -> Finding:
    """Check where the key comes from, and whether it is sent where it belongs."""
    state, remedy = State.OK, ""
    own = sorted(set(loaded.model.lc_secrets.values()))
    variable = variable_with_key(loaded.provider, loaded.base_url, settings.key_variable)
    variable = variable or next((name for name in own if os.environ.get(name)), None)
    found = f"the one in {variable}"
    if variable is None:
        state, found = State.NOTE, "none is sent"
        found += f" ({' or '.join(own)} is not set)" if own and loaded.base_url is None else ""
    elif variable == "OPENAI_API_KEY" and loaded.priced_at is not None:
        state, found = State.WARNING, f"{found}, for OpenAI, is sent to {urlsplit(loaded.priced_at).hostname}"
        remedy = f"Set {KEY_VARIABLE} to the key of this server, or to any word if it needs none"
    return Finding(loaded.name, "key", state, found, remedy)


def _call_findings(caller: Caller, role: Role, meter: Meter) -> Iterator[Finding]:
    """Make one call, and check that the server replies and how replies are made to match their type."""
    name, form = caller.model.name, "structured output"
    call = Call(role, _MESSAGES, PromptIdentity("doctor", "1"), output=Ready, max_output_tokens=_MAX_TOKENS)
    try:
        with metered(meter):
            _, reply = caller.value(call)
    except ModelError as error:
        mode, other = ("by a schema", "json") if caller.schema_in_use else ("by plain JSON", "schema")
        refused = isinstance(error, RequestRefusedError) and caller.mode is OutputMode.SCHEMA
        if refused or isinstance(error, UnusableReplyError):
            remedy = f"{error.remedy.rstrip('.')}; or try --output-mode {'auto' if refused else other}"
            yield Finding(name, "server", State.OK, "replies")
            yield Finding(name, form, State.FAILED, f"{mode}: {error.what}", remedy)
        else:
            check = {KeyRefusedError: "key", UnknownModelError: "model"}.get(type(error), "server")
            yield Finding(name, check, State.FAILED, error.what, error.remedy)
            yield Finding(name, form, State.NOTE, "not known")
        return
    state, found, remedy = State.OK, f"replies in {reply.seconds:.1f} s", ""
    if reply.usage.approximate:
        state, found = State.WARNING, f"{found}, but reports no token counts"
        remedy = "See whether the server can report usage: without it, budgets and accounts are estimates"
    yield Finding(name, "server", state, found, remedy)
    state, found, remedy = State.OK, "by a schema that the server enforces", ""
    if corrected := next((note for note in reply.notes if note.startswith("a correction")), ""):
        state, found = State.WARNING, corrected
        remedy = "Try a larger model, or --output-mode json if the server ignores schemas: each correction is a call"
    elif not caller.schema_in_use:
        why = "as set" if caller.mode is OutputMode.JSON else "the server accepts no schema"
        found = f"by plain JSON, checked here ({why})"
    yield Finding(name, form, state, found, remedy)


def _price_finding(loaded: LoadedModel, settings: ModelSettings, prices: PriceTable) -> Finding:
    price = prices.price(loaded.name, loaded.priced_at)
    state, found = State.WARNING, "unknown: dollars are not counted"
    remedy = f"Name a file of prices (FIN_AGENT_PRICES) with models: {{'{loaded.name}': {{input: 0.5, output: 1.5}}}}"
    if price is not None:
        source = f"from {settings.prices}" if loaded.name in prices.own else "from genai-prices"
        state, remedy = State.OK, ""
        found = f"${price.input:g} in, ${price.output:g} out per million tokens ({source})"
    elif settings.budget.dollars is not None or settings.batch_budget.dollars is not None:
        state, found = State.FAILED, "unknown, and dollars are limited: no call would be made"
        remedy += ", or limit tokens instead"
    elif loaded.base_url and is_loopback(urlsplit(loaded.base_url).hostname or ""):
        state = State.NOTE
    return Finding(loaded.name, "price", state, found, remedy)
