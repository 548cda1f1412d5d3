"""`fin-agent eval`: its commands with their options; what a command does stands in the module it imports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.options import (
    AsJson,
    Debug,
    GoldGiven,
    IndexFolder,
    ModelOptions,
    StrategyName,
    command,
)
from fin_agent.evaluation import Family, Oracle, QuestionKind

RunFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Gets rows.csv, answers.jsonl, report.json.")]

benchmarks = typer.Typer(
    help="Measure answers, rankings and reading: against a published benchmark, or against questions made of an index.",
    no_args_is_help=True,
)


@benchmarks.callback()
def evaluate() -> None:
    """Measure answers, rankings and reading."""


@command(benchmarks, "financebench")
def financebench(
    models: ModelOptions,
    questions: Annotated[
        Path, typer.Option("--questions", metavar="FILE", help="The published questions, JSON Lines.")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Gets rows.csv, answers.jsonl, report.json, and misses with causes."),
    ] = Path("fin-agent-eval"),
    strategy: StrategyName = None,
    oracle: GoldGiven = Oracle.NONE,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="MODEL", help="Also let this chat model judge the answers: `openai:gpt-5.4`."),
    ] = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Answer FinanceBench's questions: recall, numeric match and seconds by kind, and why what is missed is missed."""
    from fin_agent.cli.benchmark import run_financebench

    settings = models.settings(strategy=strategy)
    return run_financebench(questions, out, index, settings, oracle=oracle, judge=judge, as_json=as_json, debug=debug)


@command(benchmarks, "ranking")
def ranking(
    questions: Annotated[
        Path, typer.Option("--questions", metavar="FILE", help="Questions with gold pages, as FinanceBench has them.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=100, help="How many of the first count.")] = 10,
    ablations: Annotated[
        bool, typer.Option("--ablations", help="Also without time, metrics, tables, scope, shuffling, rounds ...")
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, max=50, help="Tournaments held for each figure.")] = 5,
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="MODEL", help="Judges the cards: `openai:gpt-5.4`; rules if none.")
    ] = None,
    waver: Annotated[
        float, typer.Option(min=0, max=5, help="Noise on the rules' scores, as a share of their range: a shaky judge.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="The first of these seeds; also for intervals and tests.")] = 0,
    resamples: Annotated[int, typer.Option(min=100, help="For intervals and tests.")] = 10_000,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Gets rankings.csv, a line per ranking and question.")
    ] = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Rank the passages of the right filing, stage by stage: nDCG, MAP, MRR. Needs the extra `evaluation`."""
    from fin_agent.cli.search_benchmarks import run_ranking
    from fin_agent.evaluation.ranking import Measuring
    from fin_agent.evidence.tournament.judge import TournamentSettings

    measuring = Measuring(k, ablations, seeds, TournamentSettings(top_k=k, seed=seed), waver=waver, debug=debug)
    return run_ranking(questions, index, measuring, resamples, out, judge=judge, as_json=as_json)


@command(benchmarks, "ixbrl")
def ixbrl(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Inline XBRL files with a `manifest.json` that says what each is.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.json", help="Gets every miss: tag, page, what was read.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Hold the reader against inline XBRL: identity, every visible tag, and tables read as if there were no tags."""
    from fin_agent.cli.search_benchmarks import run_ixbrl

    return run_ixbrl(folder, out, as_json=as_json)


@command(benchmarks, "facts")
def facts(
    count: Annotated[int, typer.Option(min=1, help="Searches of each kind and company.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="The same index and seed give the same searches.")] = 0,
    company: Annotated[
        list[str] | None, typer.Option("--company", metavar="NAME", help="Of this company only; may be repeated.")
    ] = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Search for figures that inline XBRL tags state, with and without their tags, and for families of parts."""
    from fin_agent.cli.search_benchmarks import run_facts

    return run_facts(company or (), index, count=count, seed=seed, as_json=as_json)


@command(benchmarks, "generated")
def generated(
    models: ModelOptions,
    kind: Annotated[
        list[Family] | None, typer.Option("--kind", help="Which questions to make and ask; repeat for several.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many of each kind; 100 multi-filing, 60 unanswerable and 120 lookups where not given."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same index and seed give the same questions.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Gets rows.csv (a line per question) and answers.jsonl."),
    ] = None,
    strategy: StrategyName = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Make questions from the index's own figures and hold the answers, ledgers and refusals against them."""
    from fin_agent.cli.benchmark import run_generated

    settings = models.settings(strategy=strategy)
    kinds = tuple(kind or Family)
    return run_generated(kinds, count, index, settings, seed=seed, out=out, as_json=as_json, debug=debug)


@command(benchmarks, "tagged-questions")
def tagged_questions(
    models: ModelOptions,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="Inline XBRL files of the index.")
    ],
    kind: Annotated[
        list[QuestionKind] | None, typer.Option("--kind", help="Which questions to make and ask; repeat for several.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="How many of each kind; 530 questions in all where not given.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same filings and seed give the same questions.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Gets rows.csv (a line per question), questions and answers."),
    ] = None,
    strategy: StrategyName = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Make questions with exact answers from inline XBRL tags, ask them, and report accuracy by kind."""
    from fin_agent.cli.benchmark import run_tagged_questions

    settings = models.settings(strategy=strategy)
    kinds = tuple(kind or QuestionKind)
    return run_tagged_questions(folder, kinds, count, index, settings, seed=seed, out=out, as_json=as_json, debug=debug)


@command(benchmarks, "tatqa")
def tatqa(
    models: ModelOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TAT-QA's questions with answers, JSON or gzip.")],
    answer_type: Annotated[
        list[str] | None,
        typer.Option("--type", help="Of this answer type only: arithmetic, span ...; may be repeated."),
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, help="So many of them, drawn at random; all if none.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same file and seed give the same questions.")] = 0,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Gets rows.csv, answers.jsonl, report.json, the filings, their index."
        ),
    ] = Path("fin-agent-eval"),
    strategy: StrategyName = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Ask TAT-QA's questions of its tables and paragraphs, each read as a small filing: exact match and F1."""
    from fin_agent.cli.published_benchmarks import run_tatqa

    settings = models.settings(strategy=strategy)
    types = answer_type or ()
    return run_tatqa(file, out, settings, answer_types=types, count=count, seed=seed, as_json=as_json, debug=debug)


@command(benchmarks, "lofin")
def lofin(
    models: ModelOptions,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="LOFin's questions, JSON Lines, by type.")],
    out: RunFolder = Path("fin-agent-eval"),
    strategy: StrategyName = None,
    oracle: GoldGiven = Oracle.NONE,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="MODEL", help="Judges answers in words: `openai:gpt-5.4`."),
    ] = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Ask LOFin's questions: pages of the passages used, accuracy by HiREC's rule, errors, rounds, curve, cost."""
    from fin_agent.cli.published_benchmarks import run_lofin

    settings = models.settings(strategy=strategy)
    return run_lofin(files, out, index, settings, oracle=oracle, judge=judge, as_json=as_json, debug=debug)


@command(benchmarks, "finqa")
def finqa(
    models: ModelOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="FinQA's questions, JSON.")],
    out: RunFolder = Path("fin-agent-eval"),
    strategy: StrategyName = None,
    oracle: GoldGiven = Oracle.NONE,
    index: IndexFolder = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Ask FinQA's questions of the indexed annual reports: pages of the passages used, results within 1%."""
    from fin_agent.cli.published_benchmarks import run_finqa

    settings = models.settings(strategy=strategy)
    return run_finqa(file, out, index, settings, oracle=oracle, as_json=as_json, debug=debug)


@command(benchmarks, "finagentbench")
def finagentbench(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="JSON Lines: id, question, doc, chunks, qrels."),
    ],
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=100, help="How many of the first count.")] = 10,
    seeds: Annotated[int, typer.Option(min=1, max=50, help="Tournaments held for each figure.")] = 5,
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="MODEL", help="Judges the cards: `openai:gpt-5.4`; rules if none.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, help="For intervals and tests.")] = 10_000,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Gets rankings.csv, the chunks as documents, their index.")
    ] = Path("fin-agent-eval"),
    as_json: AsJson = False,
    debug: Debug = False,
) -> ExitCode:
    """Rank graded chunks by the tournament, stage by stage: graded nDCG, MAP, MRR. Needs the extra `evaluation`."""
    from fin_agent.cli.published_benchmarks import run_finagentbench
    from fin_agent.evaluation.ranking import Measuring
    from fin_agent.evidence.tournament.judge import TournamentSettings

    measuring = Measuring(k, False, seeds, TournamentSettings(top_k=k), debug=debug)
    return run_finagentbench(file, out, measuring, resamples, judge=judge, as_json=as_json)


@command(benchmarks, "legalbench-rag")
def legalbench_rag(
    models: ModelOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A benchmark of LegalBench-RAG, JSON.")],
    corpus: Annotated[
        Path, typer.Option("--corpus", metavar="DIR", exists=True, file_okay=False, help="Its documents, .txt.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=100, help="How many passages count.")] = 5,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Gets rows.csv, report.json, the documents, their index.")
    ] = Path("fin-agent-eval"),
    strategy: StrategyName = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Search documents that are no filings: precision and recall of the characters that answer."""
    from fin_agent.cli.published_benchmarks import run_legalbench_rag

    return run_legalbench_rag(file, corpus, out, models.settings(strategy=strategy), k=k, as_json=as_json)
