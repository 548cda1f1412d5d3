"""Settings from a file, `fin-agent.toml`: which file, and what it says."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

import platformdirs
from pydantic import BaseModel, ValidationError

from fin_agent.config_sources import (
    Place,
    Said,
    SettingsError,
    check_no_key,
    fields_at,
    key_error,
    leaves_of,
    settings_error,
)

FILE_NAME = "fin-agent.toml"
FILE_VARIABLE = "FIN_AGENT_CONFIG"
_FOLDERS_OF_MODELS = frozenset({("encoder",), ("sparse_encoder",), ("reranker",)})
"""A model's folder, or its name: a folder only where it is written as a path."""
_KEY_NAMES = re.compile(r"(?:^|[_-])(?:key|apikey|token|secret|password|passwd)s?$", re.I)
_NOT_KEYS = frozenset({"key_variable", "tokens"})


def settings_file(named: Path | None = None) -> Path | None:
    """The file to read: the one named, else that of FIN_AGENT_CONFIG, else the nearest `fin-agent.toml` in the working
    directory or above it, else the one in the user's own folder of settings; None where there is none of these.

    One file is read, never several. Raises SettingsError where the one named is not there, or where the nearest belongs
    to neither this user nor the owner of the working directory: it may send questions and keys to another server.
    """
    if named is None and (variable := os.environ.get(FILE_VARIABLE)):
        named = Path(variable)
    if named is not None:
        named = named.expanduser()
        if not named.exists():
            raise SettingsError(
                "no such file of settings",
                subject=str(named),
                remedy=f"Name one that is there, or unset {FILE_VARIABLE}",
            )
        return named
    here = Path.cwd()
    for folder in (here, *here.parents):
        file = folder / FILE_NAME
        if file.is_file():
            _check_owner(file, here)
            return file
    own = platformdirs.user_config_path("fin-agent") / FILE_NAME
    return own if own.is_file() else None


def said_by_file(file: Path, schema: type[BaseModel]) -> Iterator[Said]:
    """What a file says, paths in it taken from its folder. Raises SettingsError that names file, key and what is
    allowed: also for a key of an API, which belongs in the environment."""
    tree = _read(file)
    leaves = list(leaves_of(tree))
    for place, value in leaves:
        _check_no_key(file, place)
        check_no_key(Said(place, value, str(file)))
    by: dict[Place, str] = {(name,): str(file) for name in tree}
    try:
        # As JSON: strict there means TOML's own types, with words for enumerations and paths.
        schema.model_validate_json(json.dumps(tree, default=str), strict=True)
    except ValidationError as failure:
        raise settings_error(failure, schema, by) from None
    for place, value in leaves:
        yield Said(place, _from_folder(place, value, file.parent, schema), str(file))


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


def _check_owner(file: Path, here: Path) -> None:
    if not hasattr(os, "getuid"):
        return
    owner = file.stat().st_uid
    if owner not in (0, os.getuid(), here.stat().st_uid):
        raise SettingsError(
            "this file of settings belongs to another user, and is not read",
            subject=str(file),
            remedy=f"If you trust it, name it: {FILE_VARIABLE}={file}; otherwise name another, as {os.devnull}",
        )


def _check_no_key(file: Path, place: Place) -> None:
    if any(_KEY_NAMES.search(name) and name not in _NOT_KEYS for name in place):
        raise key_error(place, str(file))


def _from_folder(place: Place, value: object, folder: Path, schema: type[BaseModel]) -> object:
    if not isinstance(value, str) or not value:
        return value
    if place in _FOLDERS_OF_MODELS:
        return str(folder / Path(value).expanduser()) if value.startswith((".", "~")) else value
    return folder / Path(value).expanduser() if _is_path(place, schema) else value


def _is_path(place: Place, schema: type[BaseModel]) -> bool:
    for name in place[:-1]:
        inner = fields_at(schema, ()).get(name)
        if inner is None:
            return False
        schema = inner
    field = schema.model_fields.get(place[-1])
    return field is not None and Path in (field.annotation, *get_args(field.annotation))
