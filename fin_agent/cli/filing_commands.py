"""Commands that bring filings into an index, show them and take them out; what they do stands in other modules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.options import AsJson, Docs, IndexFolder, ModelOptions, Wait
from fin_agent.vocabulary.page import Statement


def ingest(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="Filings, or folders with filings in them.")
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Read again what failed or was left unread before; PATH may then be left out."
        ),
    ] = False,
    accept_repaired: Annotated[
        bool,
        typer.Option(
            "--accept-repaired", help="Read PDFs that are cut off as far as they can be mended; answers from them warn."
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Read all files again that the index knows, also one of another version; it is kept beside."
        ),
    ] = False,
    wait: Wait = False,
    workers: Annotated[
        int | None,
        typer.Option(min=0, help="Files read at once; 0 reads in this process. One per core where not given."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="ray://HOST:PORT",
            help="Read on a Ray cluster (extra `ray`); ray:// is on this machine.",
        ),
    ] = None,
    writers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes that write to an index on Elasticsearch, with `--on`.")
    ] = 1,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Bring filings into the index. Files that have not changed are left alone; a file that fails costs that file.

    Stop it at any time: the same command goes on where it was. `fin-agent index failures` lists what failed, and why.
    """
    from fin_agent.cli.ingesting import files_to_read_again, ingest_files, ingest_over_ray

    if on is not None:
        if retry_failed or not paths or not on.startswith("ray://"):
            raise typer.BadParameter("it takes ray://HOST:PORT, and files or folders beside", param_hint="--on")
        return ingest_over_ray(paths, index, on, writers=writers, as_json=as_json)
    if again:
        paths = [*(paths or ()), *files_to_read_again(index)]
    elif not paths and not retry_failed:
        raise typer.BadParameter("name files or folders, or give --retry-failed", param_hint="PATH")
    return ingest_files(
        paths or (),
        index,
        workers=workers,
        retry_failed=retry_failed,
        accept_repaired=accept_repaired,
        wait=wait,
        as_json=as_json,
    )


def fetch(
    companies: Annotated[
        list[str], typer.Argument(metavar="TICKER|CIK...", help="Companies, by ticker (AAPL) or CIK (320193).")
    ],
    form: Annotated[
        list[str] | None, typer.Option("--form", metavar="FORM", help="10-K where not given; several may be given.")
    ] = None,
    years: Annotated[
        str | None,
        typer.Option(
            metavar="YEARS",
            help="2023 or 2022-2024: years in which fiscal years end. The newest of each form where not given.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Gets the files.")] = Path("filings"),
    contact: Annotated[
        str | None,
        typer.Option(
            metavar="WHO",
            help='Your name and e-mail address: "Jane Doe jane@example.com". The SEC asks who fetches by program.'
            " FIN_AGENT_CONTACT, or `contact` under [edgar] in fin-agent.toml.",
        ),
    ] = None,
    ingested: Annotated[bool, typer.Option("--ingest", help="Also bring the files into the index.")] = False,
    index: IndexFolder = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on one line; one more of the ingest with --ingest.")
    ] = False,
) -> ExitCode:
    """Fetch filings from EDGAR, at most ten requests a second. What is there already is not fetched again."""
    from fin_agent.cli.fetching import fetch_filings

    return fetch_filings(
        companies,
        form or ("10-K",),
        index,
        years=years,
        folder=out,
        contact=contact,
        ingested=ingested,
        as_json=as_json,
    )


def trees(
    docs: Annotated[
        list[str] | None, typer.Option("--doc", metavar="ID", help="This filing only; may be given several times.")
    ] = None,
    chunk: Annotated[
        str | None,
        typer.Option("--chunk", metavar="TOKENS:OVERLAP", help="How leaves are cut: 2000:100. Usually 512:0."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option("--encoder", metavar="MODEL", help="Cluster by vectors of this model: `minilm`, or its folder."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Build those that are there once more.")] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Build the trees that the strategy `fingear` walks: of each Item the topics of its chunks, by rules."""
    from fin_agent.cli.enriching import grow_trees

    return grow_trees(chunk, encoder, docs or (), index, again=again, as_json=as_json)


def summarize(
    models: ModelOptions,
    doc: Annotated[
        list[str] | None, typer.Option("--doc", metavar="ID", help="This filing only; may be given several times.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also filings that have such a summary.")] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Let a chat model add to the summaries that filings are found by. What the first pages do not say is left out.

    Stop it at any time: the next run goes on from there.
    """
    from fin_agent.cli.enriching import summarize_filings

    return summarize_filings(models.settings(), doc or (), index, again=again, as_json=as_json)


def embed(
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="`minilm` (packaged, no network), the folder of a sentence-transformers model, or its name on a hub.",
        ),
    ] = "minilm",
    units: Annotated[
        str,
        typer.Option(
            metavar="UNITS",
            help="What a vector is made of, with commas between: summaries, passages, pages, windows"
            " (stretches of passages as long as the model reads).",
        ),
    ] = "summaries,passages,pages",
    sparse: Annotated[bool, typer.Option("--sparse", help="The model weighs terms, as SPLADE does.")] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Make vectors for the filings that have none yet. Stop it at any time: the next run goes on from there."""
    from fin_agent.cli.enriching import embed_filings

    return embed_filings(model, units, index, sparse=sparse, as_json=as_json)


def facts(
    phrase: Annotated[
        str, typer.Argument(metavar="PHRASE", help='What a line is called, in quotation marks: "long-lived assets".')
    ],
    company: Annotated[
        str | None, typer.Option("--company", metavar="NAME", help="Of this company only: its name or ticker.")
    ] = None,
    period: Annotated[
        str | None,
        typer.Option("--period", metavar="PERIOD", help="As FY2023, Q2 FY2023 or 2023: the period of the figure."),
    ] = None,
    months: Annotated[
        int | None,
        typer.Option("--months", metavar="N", help="0 for a balance, 3, 6, 9 or 12 for a span: 9 for the year to Q3."),
    ] = None,
    part: Annotated[
        str | None, typer.Option("--part", metavar="NAME", help="Of this segment, product, region or customer only.")
    ] = None,
    each: Annotated[
        str | None,
        typer.Option(
            "--each",
            metavar="KIND",
            help="Every part of a kind, without totals and eliminations: segment, product, region, customer, any ...",
        ),
    ] = None,
    doc: Docs = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=50, help="How many to list.")] = 10,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """List the figures whose line a phrase names, best first, with the words that a line lacks or has beside."""
    from fin_agent.cli.figures import list_facts

    asked = {"phrase": phrase, "company": company, "months": months, "part": part, "each": each, "k": k}
    return list_facts({**asked, "doc_ids": doc}, period, index, as_json=as_json)


def check(
    doc_ids: Annotated[list[str] | None, typer.Argument(metavar="DOC_ID...", help="Filings to check.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every filing in the index.")] = False,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Check that statements agree with themselves: balance, cash, income. Exit code 3 where a check fails."""
    from fin_agent.cli.listing import check_filings

    return check_filings(doc_ids or (), index, every=every, as_json=as_json)


def show(
    doc_id: Annotated[str, typer.Argument(metavar="DOC_ID", help="A filing, as `fin-agent filings` lists it.")],
    page: Annotated[int | None, typer.Option(min=1, help="Show this page: its text, with its tables in place.")] = None,
    statement: Annotated[
        Statement | None,
        typer.Option(
            metavar="NAME",
            help="Show this primary statement: income, comprehensive-income, balance, cash-flow or equity.",
        ),
    ] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="List the figures that were read there (else in the whole filing).")
    ] = False,
    fact: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only the figures called so: a metric or a name for it, an XBRL concept, a label."
        ),
    ] = None,
    year: Annotated[int | None, typer.Option(help="Fiscal year of the --fact, by the filer's own naming.")] = None,
    image: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="Draw the page instead, its tables and the --fact framed; several pages become FILE-1.png and so on.",
        ),
    ] = None,
    dpi: Annotated[int, typer.Option(min=36, max=300, help="Dots an inch of the picture.")] = 110,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE.xlsx", help="Write the --statement as a workbook (`excel`)."),
    ] = None,
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Show a filing, or a page, statement or figures of it. `--json` counts pages and lines from 0."""
    from fin_agent.cli.showing import Wanted, show_filing

    wanted = Wanted(
        page=page, statement=statement, facts=facts, fact=fact, year=year, image=image, dpi=dpi, export=export
    )
    return show_filing(doc_id, index, wanted, as_json=as_json)


def filings(index: IndexFolder = None, as_json: AsJson = False) -> ExitCode:
    """List the filings in the index."""
    from fin_agent.cli.listing import list_filings

    return list_filings(index, as_json=as_json)


def remove(
    doc_ids: Annotated[
        list[str], typer.Argument(metavar="DOC_ID...", help="Filings, as `fin-agent filings` lists them.")
    ],
    index: IndexFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Take filings out of the index. Their files are left alone: `fin-agent ingest` adds them again."""
    from fin_agent.cli.listing import remove_filings

    return remove_filings(doc_ids, index, as_json=as_json)


def info(index: IndexFolder = None, as_json: AsJson = False) -> ExitCode:
    """Say which version and which index are in use, why that one, and what it holds."""
    from fin_agent.cli.listing import describe_index

    return describe_index(index, as_json=as_json)
