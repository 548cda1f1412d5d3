"""What the environment, a file, the command line and code say of settings, and which of them holds."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, get_args

from pydantic import BaseModel, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.models.keys import holds_key, redacted
from fin_agent.models.roles import Role

Place: TypeAlias = tuple[str, ...]
"""Where a setting stands: `("models", "budget", "tokens")`."""

VARIABLES: Mapping[str, str] = {
    "documents": "FIN_AGENT_DOCUMENTS",
    "pages": "FIN_AGENT_PAGES",
    "passages": "FIN_AGENT_PASSAGES",
    "listed": "FIN_AGENT_LISTED",
    "rounds": "FIN_AGENT_ROUNDS",
    "evidence": "FIN_AGENT_EVIDENCE",
    "strategy": "FIN_AGENT_STRATEGY",
    "encoder": "FIN_AGENT_ENCODER",
    "sparse_encoder": "FIN_AGENT_SPARSE_ENCODER",
    "reranker": "FIN_AGENT_RERANKER",
    "chat_model": "FIN_AGENT_CHAT_MODEL",
    "card_model": "FIN_AGENT_CARD_MODEL",
    "judge_model": "FIN_AGENT_JUDGE_MODEL",
    "analyst": "FIN_AGENT_ANALYST",
    "prompts": "FIN_AGENT_PROMPTS",
    "edgar.contact": "FIN_AGENT_CONTACT",
    "edgar.url": "FIN_AGENT_EDGAR_URL",
    "edgar.data_url": "FIN_AGENT_EDGAR_DATA_URL",
    "edgar.cache": "FIN_AGENT_EDGAR_CACHE",
    "edgar.timeout": "FIN_AGENT_EDGAR_TIMEOUT",
    "models.model": "FIN_AGENT_MODEL",
    "models.small": "FIN_AGENT_SMALL_MODEL",
    "models.roles": "FIN_AGENT_ROLES",
    "models.base_url": "FIN_AGENT_BASE_URL",
    "models.key_variable": "FIN_AGENT_KEY_VARIABLE",
    "models.output": "FIN_AGENT_OUTPUT",
    "models.preset": "FIN_AGENT_PRESET",
    "models.budget.tokens": "FIN_AGENT_MAX_TOKENS",
    "models.budget.calls": "FIN_AGENT_MAX_CALLS",
    "models.budget.seconds": "FIN_AGENT_MAX_SECONDS",
    "models.budget.dollars": "FIN_AGENT_MAX_DOLLARS",
    "models.batch_budget.tokens": "FIN_AGENT_BATCH_MAX_TOKENS",
    "models.batch_budget.calls": "FIN_AGENT_BATCH_MAX_CALLS",
    "models.batch_budget.seconds": "FIN_AGENT_BATCH_MAX_SECONDS",
    "models.batch_budget.dollars": "FIN_AGENT_BATCH_MAX_DOLLARS",
    "models.at_once": "FIN_AGENT_AT_ONCE",
    "models.timeout": "FIN_AGENT_TIMEOUT",
    "models.attempts": "FIN_AGENT_ATTEMPTS",
    "models.cache": "FIN_AGENT_CACHE",
    "models.prices": "FIN_AGENT_PRICES",
}
"""Setting -> the environment variable that gives it."""
_ROLES = "models.roles"


class SettingsError(FinAgentError):
    """A setting that was given cannot be used."""


@dataclass(frozen=True, slots=True)
class Said:
    """A value for one setting, and who gives it."""

    place: Place
    value: object
    by: str
    """As errors name it: `FIN_AGENT_MODEL`, `--model`, `/home/me/fin-agent.toml`."""


def said_by_environment() -> Iterator[Said]:
    """What the variables say; an empty one says nothing. Raises SettingsError for FIN_AGENT_ROLES of another form."""
    for setting, variable in VARIABLES.items():
        value = os.environ.get(variable)
        if not value:
            continue
        value = str(Path(value).expanduser()) if value.startswith("~") else value
        place = tuple(setting.split("."))
        if setting == _ROLES:
            for role, model in roles_in(value.split(","), variable):
                yield Said((*place, role), model, variable)
        else:
            yield Said(place, value, variable)


def said_by_code(given: Mapping[str, object]) -> Iterator[Said]:
    """What keyword arguments say: `models={"model": "openai:gpt-4o"}`, or a ModelSettings with what was set in it."""
    yield from (Said(place, value, "settings given in code") for place, value in leaves_of(given))


def leaves_of(given: Mapping[str, object], within: Place = ()) -> Iterator[tuple[Place, object]]:
    """Each value inside a tree of mappings, with its place."""
    for name, value in given.items():
        inner = value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
        if isinstance(inner, Mapping):
            yield from leaves_of(inner, (*within, str(name)))
        else:
            yield (*within, str(name)), inner


def roles_in(written: Iterable[str], by: str) -> Iterator[tuple[str, str]]:
    """(role, model) of each `ROLE=MODEL`. Raises SettingsError where something is none.

    >>> list(roles_in(["curation=openai:gpt-4o-mini"], "--role"))
    [('curation', 'openai:gpt-4o-mini')]
    """
    for each in written:
        role, sign, model = (part.strip() for part in each.partition("="))
        if not (role and sign and model):
            raise SettingsError(
                f"{redacted(each)!r} is no role with its model",
                subject=by,
                remedy="Give ROLE=MODEL, as curation=openai:gpt-4o-mini",
            )
        yield role, model


def check_no_key(said: Said) -> None:
    """Raises SettingsError where a value holds what looks like a key: no key is ever shown with settings."""
    if isinstance(said.value, str | Path) and holds_key(str(said.value)):
        raise key_error(said.place, said.by)


def key_error(place: Place, by: str) -> SettingsError:
    """What is said where a key stands among settings."""
    return SettingsError(
        f"`{'.'.join(place)}` looks like a key or a password, which settings must not hold",
        subject=by,
        remedy="Take it out, and set it in the environment: OPENAI_API_KEY, FIN_AGENT_API_KEY for a server of your"
        " own, or any variable that `key_variable` names",
    )


def strongest(said: Iterable[Said]) -> dict[Place, Said]:
    """What holds for each setting: whoever speaks later is the stronger."""
    holding: dict[Place, Said] = {}
    for each in map(_by_one_name, said):
        beside = {place for place in holding if _nested(place, each.place)}
        holding = {place: other for place, other in holding.items() if place not in beside}
        holding[each.place] = each
    return holding


def _by_one_name(said: Said) -> Said:
    """A role has several names: one may not stand beside itself."""
    *within, name = said.place
    if tuple(within) != tuple(_ROLES.split(".")):
        return said
    try:
        return replace(said, place=(*within, Role(name).value))
    except ValueError:
        return said


def tree_of(holding: Mapping[Place, Said]) -> dict[str, object]:
    """The values as a tree of dictionaries."""
    tree: dict[str, object] = {}
    for place, each in holding.items():
        branch = tree
        for name in place[:-1]:
            below = branch.setdefault(name, {})
            assert isinstance(below, dict)
            branch = below
        branch[place[-1]] = each.value
    return tree


def settings_error(failure: ValidationError, schema: type[BaseModel], by: Mapping[Place, str]) -> SettingsError:
    """The first thing wrong: who gave it, which setting, and what is allowed. `by` names who gave what."""
    first = failure.errors(include_url=False)[0]
    place = tuple(str(part) for part in first["loc"] if part != "[key]")
    subject = next((by[place[:length]] for length in range(len(place), 0, -1) if place[:length] in by), ".".join(place))
    if first["type"] == "extra_forbidden":
        return _unknown(place, schema, subject)
    allowed = first["msg"].replace("Input should", "it should", 1)
    return SettingsError(
        f"{redacted(repr(first['input']))} cannot be used for `{'.'.join(place)}`: {allowed[:1].lower()}{allowed[1:]}",
        subject=subject,
        remedy="Give another value, or none",
    )


def fields_at(schema: type[BaseModel], place: Place) -> dict[str, type[BaseModel] | None]:
    """The settings that may stand at a place: each with the type of what stands inside it, None where nothing does."""
    for name in place:
        inner = fields_at(schema, ()).get(name)
        if inner is None:
            return {}
        schema = inner
    return {name: _inner(field.annotation) for name, field in schema.model_fields.items()}


def _inner(annotation: object) -> type[BaseModel] | None:
    kinds = (annotation, *get_args(annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _unknown(place: Place, schema: type[BaseModel], subject: str) -> SettingsError:
    allowed = sorted(fields_at(schema, place[:-1]))
    near = difflib.get_close_matches(place[-1], allowed, n=1)
    meant = f"Did you mean `{near[0]}`? " if near else ""
    return SettingsError(
        f"there is no setting `{'.'.join(place)}`", subject=subject, remedy=f"{meant}Allowed here: {', '.join(allowed)}"
    )


def _nested(one: Place, other: Place) -> bool:
    """Whether one of two different places is inside the other."""
    shorter = min(len(one), len(other))
    return one != other and one[:shorter] == other[:shorter]
