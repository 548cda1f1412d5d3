"""The table of all commands. A command is a function whose module is imported when the command is called."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fin_agent.cli.exit_codes import MEANINGS, error_boundary
from fin_agent.distribution import installed_version

COMMANDS: Mapping[str, Any] = {
    "ingest": ("ingesting.ingest", "Add filings to the index."),
    "fetch": ("ingesting.fetch", "Fetch filings from EDGAR."),
    "summarize": ("enriching.summarize", "Let a chat model add to the summaries that filings are found by."),
    "trees": ("enriching.trees", "Build the trees for the strategy `fingear`."),
    "embed": ("enriching.embed", "Compute vectors for filings that have none."),
    "ask": ("asking.ask", "Answer a question with its figures, program and pages, or refuse it."),
    "chat": ("chatting.chat", "Ask several questions about filings, with follow-ups."),
    "search": ("searching.search", "List the documents, pages or passages that a question finds, best first."),
    "batch": ("asking.batch", "Answer a file of questions."),
    "facts": ("searching.facts", "List the figures of the lines that match a phrase, best first."),
    "check": ("listing.check", "Check the sums of statements: balance, cash, income."),
    "show": ("showing.show", "Show a filing, or a page, statement or figures of it."),
    "filings": ("listing.filings", "List the filings in the index."),
    "remove": ("listing.remove", "Remove filings from the index."),
    "info": ("listing.info", "Show the version, the index in use, and what it contains."),
    "compare": ("benchmarks.compare", "Compare search strategies: recall, overlap with the evidence, seconds."),
    "train": ("enriching.train", "Train encoders and rerankers on questions derived from an index."),
    "doctor": ("doctor.doctor", "Check key, server, structured output and price of each chat model."),
    "mcp": ("serving.mcp", "Serve the tools to an MCP client."),
    "serve": ("serving.serve", "Serve the workspace in the browser, and an API over HTTP."),
    "eval": (
        {
            "financebench": ("benchmarks.financebench", "Answer FinanceBench's questions."),
            "ranking": ("benchmarks.ranking", "Rank the passages of the right filing, stage by stage."),
            "generated": ("benchmarks.generated", "Generate questions from the index's own figures, and ask them."),
            "tagged-questions": ("benchmarks.tagged_questions", "Generate questions with exact answers from tags."),
            "tatqa": ("benchmarks.tatqa", "Ask TAT-QA's questions about its tables and paragraphs."),
            "lofin": ("benchmarks.lofin", "Ask LOFin's questions, with HiREC's measures."),
            "finqa": ("benchmarks.finqa", "Ask FinQA's questions about the indexed annual reports."),
            "finagentbench": ("benchmarks.finagentbench", "Rank graded chunks by the tournament."),
            "ragas": ("benchmarks.ragas", "Measure the answers of another benchmark with RAGAS's metrics."),
            "legalbench-rag": ("benchmarks.legalbench_rag", "Search documents other than filings."),
        },
        "Measure answers and rankings by published benchmarks, or by questions generated from an index.",
    ),
    "index": (
        {
            "copy": ("listing.copy", "Copy filings with their vectors into another index."),
            "verify": ("listing.verify", "Verify everything in the index by its checksums."),
            "repair": ("listing.repair", "Rebuild what can be rebuilt, and remove damaged filings."),
            "failures": ("listing.failures", "List files that failed, are damaged or were not read yet."),
        },
        "Maintain the index: verify, repair, copy to another folder or a cluster, list what could not be read.",
    ),
    "prompts": (
        {
            "list": ("prompts.list_", "List and check the prompts: role, version, form of the reply."),
            "show": ("prompts.show", "Print a prompt's file, as a template for your own."),
        },
        "Look at the prompts of the chat models' roles, and check your own.",
    ),
    "runs": (
        {
            "list": ("runs.list_", "List recorded runs, newest first."),
            "show": ("runs.show", "Show a run: question, answer, ledger, steps, evidence, program."),
            "replay": ("runs.replay", "Ask the question of a run again, and show what differs."),
            "forget": ("runs.forget", "Delete recorded runs."),
        },
        "Recorded runs: list, show, replay, forget.",
    ),
}
"""Name -> (`module.function`, description), or (the commands of a group, description)."""


class ListedGroup(TyperGroup):
    """A group of commands from the table. Each is imported when it is called, so that `--help` is fast."""

    listed = COMMANDS

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, in the order of the table."""
        return list(self.listed)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return the command of this name, or None."""
        if cmd_name not in self.listed:
            return None
        place, said = self.listed[cmd_name]
        if isinstance(place, Mapping):
            group = ListedGroup(name=cmd_name, help=said, no_args_is_help=True, rich_markup_mode=None)
            group.listed = place
            return group
        module, _, function = place.partition(".")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        with error_boundary():  # a library that is missing, or of another version
            single.command(cmd_name)(getattr(import_module(f"fin_agent.cli.{module}"), function))
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each name with its description, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, said) for name, (_, said) in self.listed.items()])


app = typer.Typer(
    name="fin-agent",
    cls=ListedGroup,
    help="Answers questions over SEC filings and shows the page, the line and the program behind every number.",
    epilog="Results go to standard output, everything else to standard error. Exit codes: "
    f"{', '.join(f'{code} {meaning}' for code, meaning in MEANINGS.items())}.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line of this process."""
    # Loaded modules stay until the end: collecting garbage while they load, and again at exit, takes a quarter of the
    # time of a first answer.
    gc.set_threshold(200_000, 20, 20)
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # Replace characters that the terminal cannot show, such as a dash in a filing, instead of failing.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app(prog_name="fin-agent")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(installed_version())
        raise typer.Exit


@app.callback()
def fin_agent(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Handle the options before a command."""
    if any(name.startswith("FIN_AGENT_") for name in os.environ):  # avoids the imports otherwise
        from fin_agent.cli.streams import warn
        from fin_agent.config import unknown_variable_message, unknown_variables

        for name, closest in unknown_variables().items():
            warn(". ".join(unknown_variable_message(name, closest)))
        warnings.filterwarnings("ignore", "the environment variable FIN_AGENT_", UserWarning)  # already shown
