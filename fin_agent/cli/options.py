"""Arguments and options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer
from typer.core import TyperCommand

from fin_agent.cli.exits import ExitCode, reported
from fin_agent.evaluation import Oracle

if TYPE_CHECKING:
    from fin_agent.config import Configured, Settings
    from fin_agent.config_sources import Said


def index_given(text: str) -> Path:
    """The place that `--index` names. Raises BadParameter where it names none, as by a variable that is not set."""
    if not text.strip():
        raise typer.BadParameter("names no folder: it is empty, as by a variable that is not set")
    return Path(text)


class Level(StrEnum):
    """What a search lists."""

    DOCUMENT = "document"
    PAGE = "page"
    PASSAGE = "passage"


Question = Annotated[str, typer.Argument(metavar="QUESTION", help="In words, in quotation marks.")]
IndexFolder = Annotated[
    Path | None,
    typer.Option(
        "--index",
        metavar="DIR",
        parser=index_given,
        help="Folder of the index, or https://host:9200/prefix. FIN_AGENT_INDEX, else one of your own.",
    ),
]
Docs = Annotated[
    list[str] | None,
    typer.Option("--doc", metavar="ID", help="Search this filing only; may be given several times."),
]
StrategyName = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="How to search: default, bm25, dense, hybrid, hhr, hirec ...; `rerank:hybrid` puts one over another."
        " What fin-agent.toml or FIN_AGENT_STRATEGY names, else default.",
    ),
]
GoldGiven = Annotated[Oracle, typer.Option("--oracle", help="Search only the right filing, or only the right pages.")]
WithTrace = Annotated[bool, typer.Option("--trace", help="Also show each step: what it saw, kept and dropped.")]
NoRecord = Annotated[
    bool, typer.Option("--no-record", help="Keep no record of the run; FIN_AGENT_RECORD=0 keeps none of any.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on one line.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Wait = Annotated[
    bool,
    typer.Option("--wait", help="Where another command writes to the index, go on after it; else that is an error."),
]


Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        max=64,
        help="Questions at once, by rules in processes, one a core at most; not given: 1 by rules, 4 by a model.",
    ),
]
Restart = Annotated[
    bool, typer.Option("--restart", help="Ask all questions anew, also those that a stopped batch answered.")
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache", help="Keep no replies of models and use none; else `replies.sqlite` beside the index has them."
    ),
]


_PLACES = {
    "analyst": "analyst",
    "model": "models.model",
    "small_model": "models.small",
    "base_url": "models.base_url",
    "preset": "models.preset",
    "output_mode": "models.output",
    "max_tokens": "models.budget.tokens",
    "max_calls": "models.budget.calls",
    "max_seconds": "models.budget.seconds",
    "max_dollars": "models.budget.dollars",
}
"""Option -> the setting it gives."""
_OF_NO_USE_ALONE = ("small_model", "role", "base_url", "preset", "output_mode")


def _of_models(metavar: str, said: str, least: int | None = None) -> Any:
    return typer.Option(metavar=metavar, rich_help_panel="Chat models (docs/models.md)", help=said, min=least)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What the command line says of chat models, and the file of settings that it names; None says nothing."""

    model: Annotated[str | None, _of_models("NAME", "Answers, as openai:gpt-5.4.")] = None
    small_model: Annotated[
        str | None,
        _of_models("NAME", "Reads questions and curates; the small one of the same family where not given."),
    ] = None
    role: Annotated[
        list[str] | None,
        _of_models("ROLE=MODEL", "Model of one role, as program=openai:gpt-5.4; may be given several times."),
    ] = None
    base_url: Annotated[
        str | None,
        _of_models(
            "URL", "A server that speaks OpenAI's protocol, as http://localhost:8000/v1. Its key: FIN_AGENT_API_KEY."
        ),
    ] = None
    analyst: Annotated[
        Literal["auto", "rules", "llm"] | None,
        _of_models("WHO", "rules, llm, or auto: llm where a model is named, the default."),
    ] = None
    preset: Annotated[
        Literal["fast", "default", "thorough"] | None,
        _of_models("NAME", "How much is asked: fast, default or thorough."),
    ] = None
    output_mode: Annotated[
        Literal["auto", "schema", "json"] | None,
        _of_models(
            "MODE",
            "How replies are held to their form: schema, json (words only), or auto: schema where the server can.",
        ),
    ] = None
    max_tokens: Annotated[int | None, _of_models("N", "Tokens a question may take.", least=0)] = None
    max_calls: Annotated[int | None, _of_models("N", "Calls a question may take.", least=0)] = None
    max_seconds: Annotated[
        float | None, _of_models("S", "Seconds after which a question makes no further call.", least=0)
    ] = None
    max_dollars: Annotated[float | None, _of_models("USD", "What a question may cost.", least=0)] = None
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of settings. FIN_AGENT_CONFIG, else the nearest fin-agent.toml here or above, else your own.",
        ),
    ] = None

    def settings(self, *, strategy: str | None = None) -> Settings:
        """The settings to answer with. Raises SettingsError."""
        return self.configured(strategy=strategy).settings

    def configured(self, *, strategy: str | None = None) -> Configured:
        """These settings, and who gave which. Raises SettingsError."""
        from fin_agent.cli.streams import warn
        from fin_agent.config import configured

        found = configured(tuple(self._said(strategy)), file=self.config)
        given = [name for name in _OF_NO_USE_ALONE if getattr(self, name)]
        if given and not found.settings.by_model:
            named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            warn(f"no chat model answers: {named} is of no use without --model, and rules answer")
        return found

    def _said(self, strategy: str | None) -> Iterator[Said]:
        from fin_agent.config_sources import Said, roles_in

        if strategy is not None:
            yield Said(("strategy",), strategy, "--strategy")
        for name, setting in _PLACES.items():
            value = getattr(self, name)
            if value is not None:
                yield Said(tuple(setting.split(".")), value, f"--{name.replace('_', '-')}")
        for role, model in roles_in(self.role or (), "--role"):
            yield Said(("models", "roles", role), model, "--role")


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[..., ExitCode]], Callable[..., None]]:
    """Makes a function a command of `app` that ends in the exit code it returns, with the option `--debug`.

    A parameter `models` of type ModelOptions becomes one option per field of that.
    """

    def registered(function: Callable[..., ExitCode]) -> Callable[..., None]:
        return app.command(name, cls=GroupedCommand)(reported(_with_shared_options(function)))

    return registered


def _with_shared_options(function: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    own = inspect.signature(function, eval_str=True).parameters
    taken = [each for each in own.values() if each.name != "models"]
    if "debug" not in own:
        taken.append(inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug))
    hints = get_type_hints(ModelOptions, include_extras=True) if "models" in own else {}
    names = [each.name for each in fields(ModelOptions) if each.name in hints]
    taken += [
        inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[each]) for each in names
    ]

    @wraps(function)
    def run(**given: Any) -> ExitCode:
        if "debug" not in own:
            given.pop("debug", None)
        if names:
            given["models"] = ModelOptions(**{each: given.pop(each) for each in names})
        return function(**given)

    run.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in taken} | {"return": ExitCode}
    return run


class GroupedCommand(TyperCommand):
    """A command whose options with a `rich_help_panel` follow the others, under that heading, without boxes."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options, then each group."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
