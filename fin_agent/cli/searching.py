"""`fin-agent search` and `facts`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import ValidationError
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import strategy_for
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import AnswerOptions, IndexOptions, command
from fin_agent.cli.streams import warn
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.question_scope import intent_in, unmet_requirements
from fin_agent.index.protocol import FilingRecord
from fin_agent.lexicon.periods import parse_periods
from fin_agent.presentation.filings import period_of
from fin_agent.presentation.json_fields import fields_of
from fin_agent.presentation.terminal_text import cut, fixed, listing, one_line, right, settings_view
from fin_agent.retrieval.document_ranking import FILING_FEATURES
from fin_agent.retrieval.page_ranking import MEANINGS as PAGE_FEATURES
from fin_agent.retrieval.search_query import EVERYTHING, Depth, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import SCORES
from fin_agent.tools.arguments import FactSearchArguments
from fin_agent.tools.artifacts import FactFound, FactsListed
from fin_agent.tools.context import ToolContext
from fin_agent.tools.tool_implementations import find_figures
from fin_agent.workspace import Workspace

_SHOWN = 280
Level = Literal["document", "page", "passage"]


@command
def search(
    question: str,
    on: IndexOptions,
    level: Level = "passage",
    k: int = 10,
    explain: bool = False,
    doc: list[str] | None = None,
    strategy: str | None = None,
) -> ExitCode:
    """List the documents, pages or passages that a question finds, best first, without answering it.

    With --json, each result has the parts of its score.
    """
    settings = AnswerOptions(strategy=strategy).settings()
    with on.open_workspace() as workspace:
        for doc_id in doc or ():
            workspace.index.filing(doc_id)
        searching = strategy_for(settings, workspace, notify=warn)
        analyst = RulesAnalyst(workspace)
        intent = intent_in(doc or (), question, analyst, workspace)
        for doubt in unmet_requirements(intent, workspace, doc, company_needed=False):
            warn(doubt)
        result = searching.search(
            analyst.query(intent, analyst.plan(intent), None),
            Scope(doc_ids=tuple(dict.fromkeys(doc))) if doc else EVERYTHING,
            Depth(k if level == "document" else settings.documents, max(k, settings.pages), k),
        )
        records = {record.doc_id: record for record in workspace.index.filings()}
        hits = _hits(result, level, k, workspace, records)
    document: dict[str, Any] = {"question": question, "level": level, "results": hits}
    shown = [_hits_view(hits, level, records, explain)]
    if explain:
        # A passage is explained by its page.
        known = {**SCORES, **(FILING_FEATURES if level == "document" else PAGE_FEATURES)}
        named = {name for hit in hits for name in hit["features"]}
        document["meanings"] = {name: meaning for name, meaning in known.items() if name in named}
        shown.append(Padding(settings_view([*document["meanings"].items()]), (1, 0, 0, 0)))
    on.show(document, *shown)
    return ExitCode.DONE


def _hits(
    result: SearchResult, level: Level, k: int, workspace: Workspace, records: Mapping[str, FilingRecord]
) -> list[dict[str, Any]]:
    """Return the results as JSON, best first; pages count from 0."""
    found: list[tuple[str, dict[str, Any], float, Iterable[tuple[str, float]]]] = []
    if level == "document":
        for filing in result.filings[:k]:
            told = fields_of(records[filing.doc_id].identity, "company form fiscal_year quarter period_end")
            found.append((filing.doc_id, told, filing.score, filing.features))
    elif level == "page":
        stored = {page.key: page.page for page in workspace.index.pages([page.key for page in result.pages[:k]])}
        for page in result.pages[:k]:
            told = fields_of(stored[page.key], "page=number title item statement")
            found.append((page.key.doc_id, told, page.score, page.features))
    else:
        features = {page.key: page.features for page in result.pages}
        for passage in result.passages[:k]:
            told = {**fields_of(passage.stored.passage, "page kind text"), "box": passage.stored.passage.box}
            found.append((passage.stored.doc_id, told, passage.score, features.get(passage.stored.key, ())))
    hits = []
    for rank, (doc_id, told, score, of_score) in enumerate(found, start=1):
        # The parts of the score, largest first, without those that round to zero.
        parts = sorted((each for each in of_score if round(each[1], 3)), key=lambda each: (-abs(each[1]), each[0]))
        scored = {"score": round(score, 6), "features": {name: round(weight, 6) for name, weight in parts}}
        hits.append({"rank": rank, "doc_id": doc_id, **told, **scored})
    return hits


def _hits_view(
    hits: Sequence[Mapping[str, Any]], level: Level, records: Mapping[str, FilingRecord], explain: bool
) -> RenderableType:
    """Return a row per result, a passage with its beginning; with `explain` also the parts of the scores."""
    if not hits:
        return Text("Nothing found.", style="yellow")
    if level == "passage":
        return Group(*(_passage(hit, explain) for hit in hits))
    of_pages = level == "page"
    place = (right("Page"), fixed("Part")) if of_pages else (fixed("Form"), fixed("Period"))
    last = "Made of" if explain else "Title" if of_pages else "Company"
    table = listing(right("#"), fixed("Filing"), *place, right("Score"), last)
    for hit in hits:
        identity = records[hit["doc_id"]].identity
        where: tuple[str, ...] = (identity.form.value, period_of(identity))
        if of_pages:
            where = str(hit["page"] + 1), hit["statement"] or (f"Item {hit['item']}" if hit["item"] else "")
        shown = Text(_parts(hit), style="dim") if explain else cut(hit["title"] if of_pages else identity.company)
        table.add_row(str(hit["rank"]), one_line(hit["doc_id"]), *where, f"{hit['score']:.3f}", shown)
    return table


def _parts(hit: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {weight:.3f}" for name, weight in hit["features"].items())


def _passage(hit: Mapping[str, Any], explain: bool) -> RenderableType:
    head = Text.assemble(
        f"{hit['rank']:>2}  ",
        (one_line(hit["doc_id"]), "bold"),
        f", page {hit['page'] + 1}",
        (f"  {hit['kind']}, {hit['score']:.3f}", "dim"),
    )
    parts = [Padding(Text(f"its page: {_parts(hit)}", style="dim"), (0, 0, 0, 4))] if explain else []
    return Group(head, *parts, Padding(Text(one_line(hit["text"], _SHOWN)), (0, 0, 1, 4)))


@command
def facts(
    phrase: str,
    on: IndexOptions,
    company: str | None = None,
    period: str | None = None,
    months: int | None = None,
    part: str | None = None,
    each: str | None = None,
    doc: list[str] | None = None,
    k: int = 10,
) -> ExitCode:
    """List the figures of the lines that match a phrase, best first, with words that a line lacks or has besides."""
    year, quarter = _period(period)
    asked: dict[str, object] = {
        "phrase": phrase,
        "company": company,
        "months": months,
        "part": part,
        "each": each,
        "k": k,
    }
    asked |= {"doc_ids": doc, "fiscal_year": year, "quarter": quarter}
    try:
        arguments = FactSearchArguments.model_validate(asked)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise QuestionError(
            f"--{problem['loc'][0]}: {problem['msg']}", remedy="See `fin-agent facts --help`"
        ) from error
    with on.open_workspace() as workspace:
        listed = find_figures(ToolContext.of(workspace, Settings(), answers=False), arguments)
    on.show(listed.model_dump(mode="json"), _facts_view(listed))
    return ExitCode.DONE


def _period(period: str | None) -> tuple[int | None, int | None]:
    if period is None:
        return None, None
    read = parse_periods(period)
    if len(read.quarters) == 1:
        return read.quarters[0]
    if len(read.years) == 1 and not read.quarters:
        return read.years[0], None
    raise QuestionError(f"{period!r} is not a period", remedy="Write a period such as FY2023, 2023 or Q2 FY2023")


def _facts_view(listed: FactsListed) -> Group:
    if not listed.facts:
        return Group(Text("No figure matches.", style="yellow"))
    shown = [*listed.facts, *([listed.total] if listed.total else [])]
    beside = {"lacks": [fact.missing for fact in shown], "also has": [fact.extra for fact in shown]}
    told = {header: words for header, words in beside.items() if any(words)}
    table = listing("line", "of", fixed("period"), right("amount"), fixed("unit"), "filing", right("page"), *told)
    for at, fact in enumerate(shown):
        table.add_row(*map(one_line, (*_cells(fact), *(", ".join(words[at]) for words in told.values()))))
    return Group(table, Text(_query_description(listed), style="green" if listed.sure else "yellow"))


def _cells(fact: FactFound) -> tuple[str, ...]:
    scale = {1: "", 1_000: " thousands", 1_000_000: " millions", 1_000_000_000: " billions"}.get(fact.scale, "")
    period = f"Q{fact.quarter} FY{fact.fiscal_year}" if fact.quarter else f"FY{fact.fiscal_year}"
    span = "" if fact.months in (0, 3, 12) else f", {fact.months} months"
    in_text = fact.source == "text"
    return (
        " > ".join((*fact.section, fact.label)),
        fact.part or ("not said" if in_text else "whole company"),
        f"{period}{span}" if fact.fiscal_year else "not said",
        f"{fact.amount:,}",
        f"{fact.unit}{scale}",
        fact.doc_id,
        str(fact.page_number),
    )


def _query_description(listed: FactsListed) -> str:
    if listed.kind is not None or listed.total is not None:
        left_out = "".join(f"\nLeft out: {name} ({why})" for name, why in listed.dropped)
        return ("The parts add up to the whole." if listed.sure else "The parts do not add up to a whole.") + left_out
    if listed.sure:
        return "The first line matches the phrase."
    if listed.rivals:
        return f"Unsure: the first {listed.rivals} lines match equally well and have different meanings."
    return "Unsure: no line has all words of the phrase."
