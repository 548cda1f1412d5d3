"""The options that say which chat models answer, declared once for every command that answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_type_hints

import typer

from fin_agent.cli.exits import ExitCode

if TYPE_CHECKING:
    from fin_agent.config import Configured, Settings
    from fin_agent.config_sources import Said

_PANEL = "Chat models (docs/models.md)"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What the command line says of chat models, and the file of settings that it names; None says nothing."""

    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", rich_help_panel=_PANEL, help="Answers, as openai:gpt-5.4."),
    ] = None
    small_model: Annotated[
        str | None,
        typer.Option(
            "--small-model",
            metavar="NAME",
            rich_help_panel=_PANEL,
            help="Reads questions and curates; the small one of the same family where not given.",
        ),
    ] = None
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            metavar="ROLE=MODEL",
            rich_help_panel=_PANEL,
            help="Model of one role, as program=openai:gpt-5.4; may be given several times.",
        ),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            rich_help_panel=_PANEL,
            help="A server that speaks OpenAI's protocol, as http://localhost:8000/v1. Its key: FIN_AGENT_API_KEY.",
        ),
    ] = None
    analyst: Annotated[
        Literal["auto", "rules", "llm"] | None,
        typer.Option(
            "--analyst",
            metavar="WHO",
            rich_help_panel=_PANEL,
            help="rules, llm, or auto: llm where a model is named, the default.",
        ),
    ] = None
    preset: Annotated[
        Literal["fast", "default", "thorough"] | None,
        typer.Option(
            "--preset", metavar="NAME", rich_help_panel=_PANEL, help="How much is asked: fast, default or thorough."
        ),
    ] = None
    output_mode: Annotated[
        Literal["auto", "schema", "json"] | None,
        typer.Option(
            "--output-mode",
            metavar="MODE",
            rich_help_panel=_PANEL,
            help="How replies are held to their form: schema, json (words only), or auto: schema where the server can.",
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", min=0, rich_help_panel=_PANEL, help="Tokens a question may take."),
    ] = None
    max_calls: Annotated[
        int | None,
        typer.Option("--max-calls", metavar="N", min=0, rich_help_panel=_PANEL, help="Calls a question may take."),
    ] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-seconds",
            metavar="S",
            min=0,
            rich_help_panel=_PANEL,
            help="Seconds after which a question makes no further call.",
        ),
    ] = None
    max_dollars: Annotated[
        float | None,
        typer.Option("--max-dollars", metavar="USD", min=0, rich_help_panel=_PANEL, help="What a question may cost."),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
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


def with_model_options(command: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """`command`, whose parameter `models` of type ModelOptions is made of one option per field."""
    hints = get_type_hints(ModelOptions, include_extras=True)
    options = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[each.name])
        for each in fields(ModelOptions)
    ]

    @wraps(command)
    def run(**given: object) -> ExitCode:
        made = ModelOptions(**{each.name: given.pop(each.name) for each in options})  # type: ignore[arg-type]
        return command(**given, models=made)

    own = inspect.signature(command, eval_str=True)
    kept = [each for name, each in own.parameters.items() if name != "models"]
    run.__signature__ = own.replace(parameters=[*kept, *options])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (*kept, *options)} | {"return": ExitCode}
    return run
