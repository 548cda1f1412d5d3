"""Arguments and options that several commands share."""

from __future__ import annotations

import inspect
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import platformdirs
import typer
from rich.console import RenderableType

from fin_agent.cli import streams
from fin_agent.cli.exit_codes import ExitCode, run_command
from fin_agent.config import INDEX_VARIABLE, VARIABLES, Configured, Settings, configured, index_folder
from fin_agent.config_sources import SettingValue, roles_in
from fin_agent.errors import FilingIndexError
from fin_agent.index.opening import ClusterAddress, address_of, open_index
from fin_agent.workspace import Workspace

_LISTED = tomllib.loads(resources.files(__package__).joinpath("options.toml").read_text("utf-8"))


def parse_index_option(text: str) -> Path:
    """Return the place that `--index` names. Raises BadParameter if it is empty, as by a variable that is not set."""
    if not text.strip():
        raise typer.BadParameter("it is empty, as by a variable that is not set: name a folder")
    return Path(text)


_SETTINGS = {variable.removeprefix("FIN_AGENT_").lower(): setting for setting, variable in VARIABLES.items()}
_SETTINGS["output_mode"] = "models.output"
"""Option -> its setting: an option is named as the environment variable is."""
_OF_NO_USE_ALONE = ("small_model", "role", "base_url", "preset", "output_mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options for chat models, and the settings file; None for an option that was not given."""

    model: str | None = None
    small_model: str | None = None
    role: list[str] | None = None
    base_url: str | None = None
    analyst: Literal["auto", "rules", "llm"] | None = None
    preset: Literal["fast", "default", "thorough"] | None = None
    output_mode: Literal["auto", "schema", "json"] | None = None
    max_tokens: int | None = None
    max_calls: int | None = None
    max_seconds: float | None = None
    max_dollars: float | None = None
    config: Path | None = None

    def settings(self) -> Settings:
        """Return the settings to answer with. Raises SettingsError."""
        return self.configured().settings

    def configured(self) -> Configured:
        """Return the settings with their sources. Raises SettingsError."""
        found = configured(tuple(self._option_values()), file=self.config)
        given = [name for name in _OF_NO_USE_ALONE if getattr(self, name)]
        if given and not found.settings.by_model:
            named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            streams.warn(f"{named} has no effect without --model: rules answer")
        return found

    def _option_values(self) -> Iterator[SettingValue]:
        for name, setting in _SETTINGS.items():
            value = getattr(self, name, None)
            if value is not None:
                yield SettingValue(tuple(setting.split(".")), value, f"--{name.replace('_', '-')}")
        for role, model in roles_in(self.role or (), "--role"):
            yield SettingValue(("models", "roles", role), model, "--role")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions(ModelOptions):
    """Options of commands that search and answer."""

    strategy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Options of every command for its output."""

    as_json: bool = False
    debug: bool = False

    def show(self, document: Any, *renderables: RenderableType) -> None:
        """Print to standard output: `document` with --json, else `renderables`."""
        if self.as_json:
            streams.show_json(document)
        elif renderables:
            streams.show(*renderables)

    def say(self, line: str) -> None:
        """Print a line to standard error, unless --json prints the same in its document."""
        if not self.as_json:
            streams.say(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOptions(Output):
    """Options of every command that uses an index."""

    index: Annotated[Path | None, {"parser": parse_index_option}] = None

    @property
    def chosen(self) -> ChosenIndex:
        """The index that is given, else the one of the environment, else the user's.

        Raises FilingIndexError for an address that is invalid or contains a password, which is never shown.
        """
        chosen_by = "--index" if self.index else INDEX_VARIABLE if os.environ.get(INDEX_VARIABLE) else "default"
        place = index_folder(self.index)
        if (address := address_of(place)) is None:
            return ChosenIndex(place, chosen_by)
        ClusterAddress.of(address)
        beside = platformdirs.user_data_path("fin-agent") / "clusters" / re.sub(r"[^\w.-]+", "_", address)
        return ChosenIndex(beside, chosen_by, address)

    @property
    def folder(self) -> Path:
        """The folder of the index, for commands that need an index on this machine.

        Raises FilingIndexError if the index is on a cluster.
        """
        chosen = self.chosen
        if chosen.address is not None:
            raise FilingIndexError(
                "this command needs an index on this machine",
                subject=chosen.address,
                remedy="Add files to a folder (`fin-agent ingest PATH... --index DIR`) and from there to the"
                f" cluster: `fin-agent index copy --index DIR --to {chosen.address}`",
            )
        return chosen.folder

    @contextmanager
    def open_workspace(self) -> Iterator[Workspace]:
        """Open the workspace over the index in use; warn if it is empty. Raises FilingIndexError if there is none."""
        chosen = self.chosen
        with open_index(chosen.place) as index:
            if not index.entries():
                how = "ingest PATH...`" if chosen.address is None else f"index copy --index DIR --to {chosen.address}`"
                streams.warn(f"the index in {chosen.place} is empty. Add filings with `fin-agent {how}")
            yield Workspace(index)


@dataclass(frozen=True, slots=True)
class ChosenIndex:
    """The index in use, in a folder or at a cluster's address, and why it was chosen."""

    folder: Path
    """The folder of the index, or for an index on a cluster the local folder of its runs and cached replies."""
    chosen_by: str
    """`--index`, `FIN_AGENT_INDEX` or `default`."""
    address: str | None = None
    """The address of an index on a cluster, else None."""

    @property
    def place(self) -> Path | str:
        """The folder or address of the index."""
        return self.folder if self.address is None else self.address


def command(function: Callable[..., ExitCode]) -> Callable[..., Any]:
    """Make a command of `function`, ending with the exit code that it returns.

    `options.toml` lists what its parameters are on the command line. A parameter whose type is a dataclass becomes one
    option per field, after all other options.
    """
    listed = _LISTED["shared"] | _LISTED[function.__module__.rpartition(".")[2]].get(function.__name__, {})
    taken: list[inspect.Parameter] = []
    bundles: dict[str, type[Any]] = {}
    for name, each in inspect.signature(function, eval_str=True).parameters.items():
        if is_dataclass(each.annotation) and isinstance(each.annotation, type):
            bundles[name] = each.annotation
        else:
            taken.append(_parameter(name, each.annotation, each.default, *listed[name]))
    for bundle in bundles.values():
        types = get_type_hints(bundle, include_extras=True)
        for name, each in inspect.signature(bundle).parameters.items():
            taken.append(_parameter(name, types[name], each.default, *listed[name]))

    @wraps(function)
    def run(**given: Any) -> None:
        index, debug = given.get("index"), bool(given.get("debug"))
        for name, bundle in bundles.items():
            given[name] = bundle(**{each.name: given.pop(each.name) for each in fields(bundle)})
        run_command(partial(function, **given), index, debug=debug)

    run.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in taken}
    return run


def _parameter(
    name: str, annotation: Any, default: Any, form: str, said: str, further: Mapping[str, Any] | None = None
) -> inspect.Parameter:
    """Return a parameter for Typer, with its form on the command line (`--out DIR`, `PATH...`) and its help."""
    kind, *given = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    words = form.split()
    flags = [word.rstrip(",") for word in words if word.startswith("-")]
    described = {"help": said, "metavar": " ".join(words[len(flags) :]) or None, **(further or {}), **dict(*given)}
    info = typer.Option(*flags, **described) if flags else typer.Argument(**described)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])
