"""Every command with its arguments and options; what a command does stands in the module it imports."""

from __future__ import annotations

import atexit
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_agent.cli.evaluations import benchmarks
from fin_agent.cli.exits import MEANINGS, ExitCode
from fin_agent.cli.filing_commands import (
    check,
    embed,
    facts,
    fetch,
    filings,
    info,
    ingest,
    remove,
    show,
    summarize,
    trees,
)
from fin_agent.cli.index_app import index_commands
from fin_agent.cli.options import (
    AsJson,
    Debug,
    Docs,
    GoldGiven,
    IndexFolder,
    Jobs,
    Level,
    ModelOptions,
    NoCache,
    NoRecord,
    Question,
    Restart,
    StrategyName,
    WithTrace,
    command,
)
from fin_agent.cli.prompts import prompts
from fin_agent.cli.runs import runs
from fin_agent.cli.serving import mcp, serve
from fin_agent.distribution import installed_version
from fin_agent.evaluation import Oracle
from fin_agent.training import Trained

if TYPE_CHECKING:
    from fin_agent.training.material import Material

STREAMS = "Results go to standard output, everything else to standard error."

app = typer.Typer(
    name="fin-agent",
    help="Answers questions over SEC filings and shows the page, the line and the program behind every number.",
    epilog=f"{STREAMS} Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in MEANINGS.items())}.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line of this process."""
    # What is loaded stays until the end: a collector that looks through it while it is loaded, and once more while the
    # process ends, takes a quarter of a first answer's time.
    gc.set_threshold(200_000, 20, 20)
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a dash of a filing shows a mark instead of failing.
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
    """Options that stand before a command."""


command(app)(ingest)
command(app)(fetch)
command(app)(summarize)
command(app)(trees)
command(app)(embed)


@command(app)
def ask(
    question: Question,
    models: ModelOptions,
    doc: Docs = None,
    strategy: StrategyName = None,
    trace: WithTrace = False,
    step: Annotated[
        bool, typer.Option("--step", help="Stop after each step: see what it left, change the search, drop a passage.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Only print how the question is read: its tree of measures, as JSON.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Also write it: .xlsx with the program as formulas (extra `excel`), .csv, or .html with its pages.",
        ),
    ] = None,
    no_record: NoRecord = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Answer a question with its figures, program and pages, or refuse it and say what is missing."""
    from fin_agent.cli.asking import ask_question

    if explain:
        from fin_agent.cli.asking import explain_question

        return explain_question(question, index)
    settings = models.settings(strategy=strategy)
    if step:
        from fin_agent.cli.asking import step_through

        return step_through(question, index, settings, doc_ids=doc or (), as_json=as_json)
    return ask_question(
        question,
        index,
        settings,
        doc_ids=doc or (),
        trace=trace,
        record=not no_record,
        as_json=as_json,
        export=export,
    )


@command(app)
def chat(
    models: ModelOptions,
    thread: Annotated[
        str | None,
        typer.Option(
            "--thread", metavar="NAME", help="Go on in this thread, or begin one of this name; else a new one."
        ),
    ] = None,
    doc: Docs = None,
    strategy: StrategyName = None,
    no_record: Annotated[bool, typer.Option("--no-record", help="Keep nothing of the chat.")] = False,
    index: IndexFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document a line for each reply.")] = False,
) -> ExitCode:
    """Talk about filings: questions may go on from those before. Through a pipe, one question a line.

    /help lists what can be typed beside questions. Threads are kept beside the index and can be taken up again.
    """
    from fin_agent.cli.chatting import chat as talk

    settings = models.settings(strategy=strategy)
    return talk(index, settings, thread=thread, doc_ids=doc or (), keep=not no_record, as_json=as_json)


@command(app)
def search(
    question: Question,
    level: Annotated[Level, typer.Option(help="What to list.")] = Level.PASSAGE,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=200, help="How many to list.")] = 10,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also show what was searched for and what each score is made of.")
    ] = False,
    doc: Docs = None,
    strategy: StrategyName = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """List the documents, pages or passages that a question finds, best first, without answering it."""
    from fin_agent.cli.searching import search_index

    settings = ModelOptions().settings(strategy=strategy)
    return search_index(
        question, index, settings, level=level, k=k, doc_ids=doc or (), explain=explain, as_json=as_json
    )


@command(app)
def batch(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS.jsonl",
            help="One JSON object a line: `question`, and where wanted `id` and `doc_ids` (search these filings only).",
        ),
    ],
    models: ModelOptions,
    out: Annotated[
        Path, typer.Option("--out", metavar="ANSWERS.jsonl", help="Gets one line of JSON per question, in order.")
    ],
    jobs: Jobs = None,
    restart: Restart = False,
    no_cache: NoCache = False,
    strategy: StrategyName = None,
    no_record: NoRecord = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Answer a file of questions. A line that cannot be answered is reported with its number and the rest goes on.

    A batch that was stopped, given again with the same --out, goes on where it was.
    """
    from fin_agent.cli.batch import HowAsked, answer_batch

    how = HowAsked(jobs=jobs, restart=restart, cache=not no_cache, record=not no_record, debug=debug)
    settings = models.settings(strategy=strategy)
    return answer_batch(questions, out, index, settings, how=how, as_json=as_json)


command(app)(facts)
command(app)(check)
command(app)(show)
command(app)(filings)
command(app)(remove)
command(app)(info)


@command(app)
def compare(
    strategies: Annotated[
        str,
        typer.Option(
            "--strategies", metavar="A,B,...", help="Names of strategies; the first is tested against the others."
        ),
    ],
    questions: Annotated[
        Path, typer.Option("--questions", metavar="FILE", help="Questions with gold pages, as FinanceBench has them.")
    ],
    oracle: GoldGiven = Oracle.NONE,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=100, help="How many results count.")] = 5,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Gets summary.csv, rows.csv, misses.csv (of the first). Stopped, it goes on.",
        ),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option("--pair", metavar="A,B", help="Test these two instead; may be given several times."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, help="For intervals and tests.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="For intervals and tests.")] = 0,
    index: IndexFolder = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Compare ways to search: recall, overlap with the evidence, seconds. Needs the extra `evaluation`."""
    from fin_agent.cli.comparing import Comparing, compare_strategies, pairs_in, strategies_in

    names = strategies_in(strategies)
    wanted = Comparing(names, pairs_in(pair or (), names), k, oracle, out, resamples, seed)
    return compare_strategies(questions, index, wanted, as_json=as_json, debug=debug)


@command(app, "fit-pages")
def fit_pages(
    questions: Annotated[
        list[Path],
        typer.Option("--questions", metavar="FILE", help="Questions with gold pages, in FinanceBench's form."),
    ],
    lookups: Annotated[
        int, typer.Option(min=0, help="Also ask for so many rows of the indexed filings' own statements.")
    ] = 0,
    encoder: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Fit with this model's vectors, which the index has to hold.")
    ] = None,
    likeness: Annotated[
        Path | None,
        typer.Option(metavar="FILE.npz", help="Also fit with the cosines that `train pages` left; what do they add?"),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE.yaml", help="Gets the weights fitted.")] = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Fit the page scorer's weights to questions, and say what they are worth on companies left out."""
    from fin_agent.cli.fitting import fit_pages as fitted

    return fitted(questions, out, index, lookups=lookups, encoder=encoder, held_out=likeness, as_json=as_json)


@command(app)
def train(
    trained: Annotated[Trained, typer.Argument(help="What to train, or `examples` to make these alone.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Gets examples, model/, training.json, and each fold.")
    ],
    questions: Annotated[
        list[Path] | None,
        typer.Option("--questions", metavar="FILE", help="Questions with gold pages, in FinanceBench's form."),
    ] = None,
    lookups: Annotated[int, typer.Option(min=0, help="Rows of statements to ask for as printed.")] = 1_000,
    tags: Annotated[int, typer.Option(min=0, help="Figures to ask for as inline XBRL tags call them.")] = 1_000,
    terms: Annotated[
        int, typer.Option(min=0, help="Names of figures beside sentences that print them or not.")
    ] = 2_000,
    examples: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl.xz", help="Train on these, without an index.")
    ] = None,
    published: Annotated[bool, typer.Option("--published", help="The paper's rates, not a small model's.")] = False,
    base: Annotated[str | None, typer.Option(metavar="MODEL", help="A folder or a name on a hub; else minilm.")] = None,
    rate: Annotated[float | None, typer.Option(min=0, help="Learning rate.")] = None,
    batch: Annotated[int | None, typer.Option(min=2, help="Examples a step.")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="How often each example is seen.")] = None,
    length: Annotated[int | None, typer.Option(min=8, help="Tokens read of a text.")] = None,
    negatives: Annotated[int | None, typer.Option(min=0, help="Wrong tables or pages beside each right one.")] = None,
    folds: Annotated[int | None, typer.Option(min=2, help="Parts that are held out in turn.")] = None,
    held_out: Annotated[str | None, typer.Option(metavar="company|filing", help="What a fold has for itself.")] = None,
    learn_from: Annotated[
        list[str] | None,
        typer.Option(metavar="SOURCE", help="lookups, tags, a file's name; may be repeated; else all."),
    ] = None,
    most: Annotated[int | None, typer.Option(min=2, help="Learn from so many questions: a small run.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same figures.")] = 0,
    folds_only: Annotated[bool, typer.Option("--folds-only", help="Measure only: no model of everything.")] = False,
    corpus: Annotated[bool, typer.Option("--corpus", help="pages: also search all filings, in each fold.")] = False,
    likeness: Annotated[
        bool, typer.Option("--likeness", help="pages: also write likeness.npz, for `fit-pages --likeness`.")
    ] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Train what ranks pages or tables, on an index's own supervision; measured with companies held out."""
    from fin_agent.cli import training

    material: Material | Path | None = examples
    if material is None:
        given = (questions or (), index)
        material = training.make_examples(out, *given, lookups=lookups, tags=tags, terms=terms)
    if trained is Trained.EXAMPLES:
        return ExitCode.DONE
    settings: dict[str, object] = {"base": base, "rate": rate, "batch": batch, "epochs": epochs, "length": length}
    settings |= {"negatives": negatives, "folds": folds, "held_out": held_out, "most": most, "seed": seed}
    said = {name: value for name, value in settings.items() if value is not None}
    said |= {"learn_from": tuple(learn_from)} if learn_from else {}
    switches = {"published": published, "folds_only": folds_only, "corpus": corpus, "likeness": likeness}
    return training.train(trained, material, out, said, **switches, as_json=as_json)


@command(app)
def doctor(
    models: ModelOptions,
    offline: Annotated[bool, typer.Option("--offline", help="Make no call; everything else is looked at.")] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Check key, server, structured output and price of each chat model, by one small call; prompts, index, extras.

    Says what to do where something is wrong. Exit code 3 where a check fails.
    """
    from fin_agent.cli.doctor import examine

    return examine(models, index, offline=offline, as_json=as_json)


command(app)(mcp)
command(app)(serve)
app.add_typer(benchmarks, name="eval")
app.add_typer(index_commands, name="index")
app.add_typer(prompts, name="prompts")
app.add_typer(runs, name="runs")
