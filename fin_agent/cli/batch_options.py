"""Options of `fin-agent batch`."""

from __future__ import annotations

from typing import Annotated

import typer

Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, max=64, help="Questions at once; not given: 1 by rules, 4 by a model."),
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
