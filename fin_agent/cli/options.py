"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fin_agent.evaluation import Oracle


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
