"""Sources of settings: the environment, a file, the command line and code. Each value carries its source."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args

import platformdirs
from pydantic import BaseModel, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.models.call import Role
from fin_agent.redaction import holds_key, redact_keys

Place: TypeAlias = tuple[str, ...]
"""The path of a setting: `("models", "budget", "tokens")`."""

FILE_NAME = "fin-agent.toml"
FILE_VARIABLE = "FIN_AGENT_CONFIG"
Values = TypeVar("Values", bound=BaseModel)
_ROLES = ("models", "roles")
_FOLDERS_OF_MODELS = frozenset({("encoder",), ("sparse_encoder",), ("reranker",)})
"""Settings whose value is a model's name, or a folder if it is written as a path."""
_SECRET_NAMES = re.compile(r"(?:^|[_-])(?:key|apikey|token|secret|password|passwd)s?$", re.I)


class SettingsError(FinAgentError):
    """A setting that was given cannot be used."""


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A value for one setting, with its source."""

    place: Place
    value: object
    by: str
    """The source as errors name it: `FIN_AGENT_MODEL`, `--model`, `/home/me/fin-agent.toml`."""


def validated(schema: type[Values], values: Iterable[SettingValue]) -> tuple[Values, dict[Place, SettingValue]]:
    """Return settings from values, of which later ones override earlier ones, and the value in effect of each.

    Raises:
        SettingsError: A value cannot be used, or looks like an API key, which the message never shows.
    """
    holding = {each.place: each for each in map(_canonical_role, values)}
    tree: dict[str, object] = {}
    for place, each in holding.items():
        _check_no_key(each)
        branch: Any = tree
        for name in place[:-1]:
            if not isinstance(branch.get(name), dict):
                branch[name] = {}
            branch = branch[name]
        branch[place[-1]] = each.value
    try:
        return schema.model_validate(tree), holding
    except ValidationError as failure:
        raise _settings_error(failure, schema, {place: each.by for place, each in holding.items()}) from None


def _canonical_role(said: SettingValue) -> SettingValue:
    """Replace a role's alias by its name, so that one role is not set twice."""
    *within, name = said.place
    if tuple(within) != _ROLES:
        return said
    try:
        return replace(said, place=(*within, Role(name).value))
    except ValueError:
        return said


def environment_values(variables: Mapping[str, str]) -> Iterator[SettingValue]:
    """Yield the settings that environment variables give (`models.model` -> `FIN_AGENT_MODEL`); empty ones are skipped.

    Raises SettingsError if FIN_AGENT_ROLES is not a list of `ROLE=MODEL`.
    """
    for setting, variable in variables.items():
        value = os.environ.get(variable)
        if not value:
            continue
        place = tuple(setting.split("."))
        if place == _ROLES:
            yield from (
                SettingValue((*place, role), model, variable) for role, model in roles_in(value.split(","), variable)
            )
        else:
            yield SettingValue(place, str(Path(value).expanduser()) if value.startswith("~") else value, variable)


def roles_in(written: Iterable[str], by: str) -> Iterator[tuple[str, str]]:
    """Yield (role, model) for each `ROLE=MODEL`; errors name the source `by`. Raises SettingsError.

    >>> list(roles_in(["curation=openai:gpt-4o-mini"], "--role"))
    [('curation', 'openai:gpt-4o-mini')]
    """
    for each in written:
        role, sign, model = (part.strip() for part in each.partition("="))
        if not (role and sign and model):
            raise SettingsError(
                f"{redact_keys(each)!r} is not a role with its model",
                subject=by,
                remedy="Give ROLE=MODEL, such as curation=openai:gpt-4o-mini",
            )
        yield role, model


def keyword_values(given: Mapping[str, object]) -> Iterator[SettingValue]:
    """Yield settings by name, such as `models={"model": "openai:gpt-4o"}`; of a ModelSettings, what was set."""
    yield from (SettingValue(place, value, "settings given in code") for place, value in leaves_of(given))


def leaves_of(given: Mapping[str, object], within: Place = ()) -> Iterator[tuple[Place, object]]:
    """Yield each value inside nested mappings, with its path."""
    for name, value in given.items():
        inner = value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
        if isinstance(inner, Mapping):
            yield from leaves_of(inner, (*within, str(name)))
        else:
            yield (*within, str(name)), inner


def settings_file(named: Path | None = None) -> Path | None:
    """Return the one settings file to read, or None.

    That is the file named, that of FIN_AGENT_CONFIG, the nearest `fin-agent.toml` in the working directory or above it,
    or the one in the user's folder of settings. Raises SettingsError if a named one is missing, or the nearest is
    another user's.
    """
    if named is None and (variable := os.environ.get(FILE_VARIABLE)):
        named = Path(variable)
    if named is not None:
        named = named.expanduser()
        if not named.exists():
            remedy = f"Name an existing file, or unset {FILE_VARIABLE}"
            raise SettingsError("this settings file does not exist", subject=str(named), remedy=remedy)
        return named
    here = Path.cwd()
    for file in (folder / FILE_NAME for folder in (here, *here.parents)):
        if file.is_file():
            if hasattr(os, "getuid") and file.stat().st_uid not in (0, os.getuid()):
                raise SettingsError(
                    "this settings file belongs to another user, and is not read",
                    subject=str(file),
                    remedy=f"If you trust it, name it: {FILE_VARIABLE}={file}; else name another, such as {os.devnull}",
                )
            return file
    own = _user_settings_file()
    return own if own.is_file() else None


def _user_settings_file() -> Path:
    return platformdirs.user_config_path("fin-agent") / FILE_NAME


def is_trusted(file: Path, named: Path | None = None) -> bool:
    """Return whether the user named this settings file, or it is in the user's folder of settings.

    A file found in the working directory or above is not trusted: it may have come with an archive from somebody else.
    """
    return named is not None or bool(os.environ.get(FILE_VARIABLE)) or file == _user_settings_file()


def file_values(file: Path, schema: type[BaseModel], *, trusted: bool) -> Iterator[SettingValue]:
    """Yield the settings of a TOML file; relative paths in it start at its folder.

    Raises:
        SettingsError: A key is unknown, a value is not allowed, or the file contains an API key; or the file is not
            `trusted` and sets where questions and keys are sent, what is asked, or what is opened or written.
    """
    try:
        tree = _read(file)
        leaves = [SettingValue(place, value, str(file)) for place, value in leaves_of(tree)]
    except RecursionError:
        remedy = "Nest settings at most three levels deep"
        raise SettingsError("its tables are nested too deep", subject=str(file), remedy=remedy) from None
    known = types_of(schema)
    for each in leaves:
        if each.place not in known and any(map(_SECRET_NAMES.search, each.place)):
            raise _key_error(each)
        _check_no_key(each)
    try:
        # As JSON: strict there means TOML's own types, with words for enumerations and paths.
        schema.model_validate_json(json.dumps(tree, default=str), strict=True)
    except ValidationError as failure:
        raise _settings_error(failure, schema, {(name,): str(file) for name in tree}) from None
    # Texts and paths name servers, keys, models, folders and files; a strategy names nothing outside this program.
    words = {place for place, kinds in known.items() if {str, Path} & set(kinds)} - {("strategy",)}
    named = [".".join(each.place) for each in leaves if each.place in words or each.place[:2] == _ROLES]
    if named and not trusted:
        raise SettingsError(
            "this file was found in the working directory or above it, and sets what is sent, where it is sent, or"
            f" what is opened: {', '.join(named)}",
            subject=str(file),
            remedy=f"If you trust it, name it: {FILE_VARIABLE}={file} or --config; else keep these settings in"
            f" {_user_settings_file()}, in the environment or in options",
        )
    for each in leaves:
        yield replace(each, value=_resolve_path(each, file.parent, schema))


def _read(file: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as failure:
        wrong = f"it is not TOML ({failure})"
    except UnicodeDecodeError:
        wrong = "it is not text in UTF-8"
    except OSError as failure:
        wrong = f"it cannot be read ({failure.strerror or failure})"
    raise SettingsError(wrong, subject=str(file), remedy='Write settings as TOML: strategy = "hybrid"')


def _resolve_path(said: SettingValue, folder: Path, schema: type[BaseModel]) -> object:
    """Return the value, with a relative path resolved against the folder of its file."""
    value, place = said.value, said.place
    if not isinstance(value, str) or not value:
        return value
    if place in _FOLDERS_OF_MODELS:
        return str(folder / Path(value).expanduser()) if value.startswith((".", "~")) else value
    return folder / Path(value).expanduser() if Path in types_of(schema).get(place, ()) else value


def types_of(schema: type[BaseModel], within: Place = ()) -> dict[Place, tuple[object, ...]]:
    """Return every setting by its path, with its type and that type's members (`Path`, `None` of `Path | None`)."""
    found: dict[Place, tuple[object, ...]] = {}
    for name, field in schema.model_fields.items():
        kinds = (field.annotation, *get_args(field.annotation))
        inner = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
        found |= {(*within, name): kinds} if inner is None else types_of(inner, (*within, name))
    return found


def _settings_error(failure: ValidationError, schema: type[BaseModel], by: Mapping[Place, str]) -> SettingsError:
    """Return an error for the first failure: the source, by setting, the setting, and what is allowed."""
    first = failure.errors(include_url=False)[0]
    place = tuple(str(part) for part in first["loc"] if part != "[key]")
    subject = next((by[place[:length]] for length in range(len(place), 0, -1) if place[:length] in by), ".".join(place))
    if first["type"] == "extra_forbidden":
        depth = len(place) - 1
        allowed = sorted({other[depth] for other in types_of(schema) if other[:depth] == place[:-1]})
        near = difflib.get_close_matches(place[-1], allowed, n=1)
        remedy = f"{f'Did you mean `{near[0]}`? ' if near else ''}Allowed here: {', '.join(allowed)}"
        return SettingsError(f"there is no setting `{'.'.join(place)}`", subject=subject, remedy=remedy)
    told = first["msg"].replace("Input should", "it should", 1)
    return SettingsError(
        f"{redact_keys(repr(first['input']))} cannot be used for `{'.'.join(place)}`: {told[:1].lower()}{told[1:]}",
        subject=subject,
        remedy="Give another value, or leave the setting out",
    )


def _check_no_key(said: SettingValue) -> None:
    if isinstance(said.value, str | Path) and holds_key(str(said.value)):
        raise _key_error(said)


def _key_error(said: SettingValue) -> SettingsError:
    return SettingsError(
        f"`{'.'.join(said.place)}` looks like a key or a password, which settings must not contain",
        subject=said.by,
        remedy="Remove it, and set it in the environment: OPENAI_API_KEY, FIN_AGENT_API_KEY for your own server,"
        " or any variable that `key_variable` names",
    )
