"""Arguments and options that several commands share."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
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
from fin_agent.evaluation import Oracle
from fin_agent.index.opening import ClusterAddress, address_of, open_index
from fin_agent.workspace import Workspace


def parse_index_option(text: str) -> Path:
    """Return the place that `--index` names. Raises BadParameter if it is empty, as by a variable that is not set."""
    if not text.strip():
        raise typer.BadParameter("it is empty, as by a variable that is not set: name a folder")
    return Path(text)


Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotation marks.")]
Docs = Annotated[list[str] | None, typer.Option("--doc", metavar="ID", help="Only this filing; can be repeated.")]
Results = Annotated[int, typer.Option("--k", "-k", min=1, max=200, help="Number of results.")]
GoldGiven = Annotated[Oracle, typer.Option("--oracle", help="Search only the right filing, or only the right pages.")]
NoRecord = Annotated[bool, typer.Option("--no-record", help="Do not record the run; FIN_AGENT_RECORD=0 records none.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed; the same seed gives the same figures.")]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples for intervals and tests.")]
Wait = Annotated[
    bool,
    typer.Option("--wait", help="Wait while another command writes to the index, instead of ending with an error."),
]


_SETTINGS = {variable.removeprefix("FIN_AGENT_").lower(): setting for setting, variable in VARIABLES.items()}
_SETTINGS["output_mode"] = "models.output"
"""Option -> its setting: an option is named as the environment variable is."""
_OF_NO_USE_ALONE = ("small_model", "role", "base_url", "preset", "output_mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options for chat models, and the settings file; None for an option that was not given.

    Attributes:
        model (--model NAME): Chat model that answers, such as openai:gpt-5.4.
        small_model (--small-model NAME): Chat model that reads questions and curates. By default the small one of the
            same family.
        role (--role ROLE=MODEL): Chat model of one role, such as curation=openai:gpt-5.4; can be repeated.
        base_url (--base-url URL): Server with OpenAI's protocol, such as http://localhost:8000/v1. Its key:
            FIN_AGENT_API_KEY.
        analyst (--analyst WHO): Who answers: rules, llm, or auto (the default): llm if a model is named.
        preset (--preset NAME): How much work the model does: fast, default or thorough.
        output_mode (--output-mode MODE): How replies are made to match their type: schema, json (described in the
            prompt), or auto: schema if the server supports it.
        max_tokens (--max-tokens N): Token limit of a question.
        max_calls (--max-calls N): Call limit of a question.
        max_seconds (--max-seconds S): Seconds after which a question makes no further call.
        max_dollars (--max-dollars USD): Cost limit of a question.
        config (--config FILE): Settings file. By default FIN_AGENT_CONFIG, else the nearest fin-agent.toml in this
            folder or above, else that of the user.
    """

    model: str | None = None
    small_model: str | None = None
    role: list[str] | None = None
    base_url: str | None = None
    analyst: Literal["auto", "rules", "llm"] | None = None
    preset: Literal["fast", "default", "thorough"] | None = None
    output_mode: Literal["auto", "schema", "json"] | None = None
    max_tokens: Annotated[int | None, typer.Option(min=0)] = None
    max_calls: Annotated[int | None, typer.Option(min=0)] = None
    max_seconds: Annotated[float | None, typer.Option(min=0)] = None
    max_dollars: Annotated[float | None, typer.Option(min=0)] = None
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
    """Options of commands that search and answer.

    Attributes:
        strategy (--strategy NAME): How to search: default, bm25, dense, hybrid, hhr, hirec ...; `rerank:hybrid`
            combines two. By default the strategy of fin-agent.toml or FIN_AGENT_STRATEGY, else default.
    """

    strategy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Options of every command for its output.

    Attributes:
        as_json (--json): Print one JSON document on one line.
        debug (--debug): Show the traceback of an error.
    """

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
    """Options of every command that uses an index.

    Attributes:
        index (--index DIR): Folder of the index, or https://host:9200/prefix. By default FIN_AGENT_INDEX, else the
            user's.
    """

    index: Annotated[Path | None, typer.Option(parser=parse_index_option)] = None

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

    The help of a parameter is its entry in the docstring, with its form on the command line in brackets: `(PATH)` for
    an argument, `(--out DIR)` for an option. A parameter whose type is a dataclass becomes one option per field, after
    all other options.
    """
    text = inspect.getdoc(function) or ""
    taken: list[inspect.Parameter] = []
    bundles: dict[str, type[Any]] = {}
    for name, each in inspect.signature(function, eval_str=True).parameters.items():
        if is_dataclass(each.annotation) and isinstance(each.annotation, type):
            bundles[name] = each.annotation
        else:
            taken.append(_parameter(name, each.annotation, each.default, text))
    for bundle in bundles.values():
        hints = get_type_hints(bundle, include_extras=True)
        told = "\n".join(inspect.getdoc(each) or "" for each in reversed(bundle.__mro__[:-1]))
        for field in fields(bundle):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            taken.append(_parameter(field.name, hints[field.name], default, told))

    @wraps(function)
    def run(**given: Any) -> ExitCode:
        for name, bundle in bundles.items():
            given[name] = bundle(**{each.name: given.pop(each.name) for each in fields(bundle)})
        return function(**given)

    run.__doc__ = text.partition("\nOn the command line:\n")[0].rstrip()
    run.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in taken} | {"return": ExitCode}
    return run_command(run)


def _parameter(name: str, annotation: Any, default: Any, text: str) -> inspect.Parameter:
    """Return a parameter for Typer, as its entry in the docstring declares it; one without an entry by its type."""
    if (entry := re.search(rf"^ {{4}}{name} \(([^)]+)\): (.+(?:\n {{8}}.+)*)", text, re.M)) is not None:
        words = [word.rstrip(",") for word in entry[1].split()]
        flags = [word for word in words if word.startswith("-")]
        kind, *declared = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
        info = copy(declared[0]) if declared else typer.Option() if flags else typer.Argument()
        info.help, info.metavar = " ".join(entry[2].split()), " ".join(words[len(flags) :]) or None
        if flags:  # within Annotated, Typer stores the first name as the default
            info.default, info.param_decls = flags[0], tuple(flags[1:])
        annotation = Annotated[kind, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
