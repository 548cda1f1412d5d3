"""The implementation of each tool, from arguments to artifact; the HTTP API and MCP resources share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from fin_agent.analyst.rules.curation import cards_of
from fin_agent.answering.answer import Answer
from fin_agent.answering.provenance import Provenance, check_provenance
from fin_agent.evidence.cards.rule_based_abstraction import with_facts
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.graphs.answer.question_scope import intent_in, unmet_requirements
from fin_agent.index.protocol import FilingEntry, PageKey, SourcedFact, StoredPassage
from fin_agent.retrieval.fact_search import FactHit, FactQuery, find_facts
from fin_agent.retrieval.figure_families import KINDS, Family, find_family
from fin_agent.retrieval.search_query import Depth, Query, RankedPassage, Scope
from fin_agent.tools import arguments as take
from fin_agent.tools import artifacts as make
from fin_agent.tools.argument_resolution import filter_filings, parse_page_numbers, resolve_company, resolve_doc_id
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.page import Page, page_ranges

MAX_PAGES = 20
"""Most pages read or described in one call."""
MAX_SOURCE_PAGES = 100
_PASSAGES_A_PAGE = 4
"""Passages ranked per page, so that most pages have a passage among them."""


def list_filings(context: ToolContext, given: take.ListFilingsArguments) -> make.FilingsListed:
    """Return filings by company, then time. Raises ToolInputError."""
    doc_ids = filter_filings(context.workspace, given, context.within)
    wanted = None if doc_ids is None else frozenset(doc_ids)
    entries = context.workspace.index.entries()
    listed = [make.FilingListed.of(entry) for entry in entries if wanted is None or entry.doc_id in wanted]
    listed.sort(key=lambda one: (one.company.casefold(), one.period_end or date.min, one.form.value, one.doc_id))
    return make.FilingsListed(filings=tuple(listed[: given.k]), total=len(listed))


def find_documents(
    context: ToolContext, given: take.DocumentSearchArguments | take.PageSearchArguments
) -> make.DocumentsFound:
    """Return the best filings for a query. Raises QuestionError and ToolInputError."""
    doc_ids = filter_filings(context.workspace, given, context.within)
    understood, notes = read_query(context, given.query, doc_ids)
    result = context.strategy.search(understood, Scope(doc_ids), Depth(documents=given.k))
    entries = entries_by_id(context)
    fitting = [ranked for ranked in result.filings if ranked.score > 0] or result.filings
    found = tuple(
        make.FilingFound(**make.FilingListed.of(entries[ranked.doc_id]).model_dump(), score=round(ranked.score, 6))
        for ranked in fitting[: given.k]
    )
    return make.DocumentsFound(query=given.query, filings=found, notes=notes)


def find_pages(context: ToolContext, given: take.PageSearchArguments) -> make.PagesFound:
    """Return the best pages, each with its best passage. Raises like `find_documents`."""
    return explain_page_scores(context, given)[0]


def explain_page_scores(
    context: ToolContext, given: take.PageSearchArguments
) -> tuple[make.PagesFound, tuple[tuple[tuple[str, float], ...], ...]]:
    """Return the best pages and, for each, the terms of its score as (feature, share) pairs."""
    doc_ids = filter_filings(context.workspace, given, context.within)
    understood, notes = read_query(context, given.query, doc_ids)
    entries = entries_by_id(context)
    scope = Scope(doc_ids, _page_keys(entries, doc_ids, given.pages))
    most = max(given.k, context.settings.pages)
    depth = Depth(context.settings.documents, most, _PASSAGES_A_PAGE * most)
    result = context.strategy.search(understood, scope, depth)
    ranked_pages = result.pages[: given.k]
    keys = [ranked.key for ranked in ranked_pages]
    context.workspace.index.check_rows({key.doc_id for key in keys}, words=True)
    best = _best_passages(result.passages, keys, context)
    stored = {page.key: page.page for page in context.workspace.index.pages(keys)}
    found: list[make.PageFound] = []
    for ranked in ranked_pages:
        page, passage = stored[ranked.key], best.get(ranked.key)
        found.append(
            make.PageFound(
                page=page.number,
                filing=make.FilingListed.of(entries[ranked.key.doc_id]),
                score=round(ranked.score, 6),
                **_described(page),
                text=passage.passage.text if passage else page.text,
                kind=passage.passage.kind if passage else PassageKind.TEXT,
                box=passage.passage.box if passage else None,
            )
        )
    features = tuple(page.features for page in ranked_pages)
    return make.PagesFound(query=given.query, pages=tuple(found), notes=notes), features


def find_figures(context: ToolContext, given: take.FactSearchArguments) -> make.FactsListed:
    """Return figures that match a phrase, or each part of a company. Raises ToolInputError."""
    workspace = context.workspace
    company = resolve_company(given.company, workspace).key if given.company is not None else None
    filters = take.FilterArguments(company=given.company, doc_ids=given.doc_ids)
    scope = Scope(filter_filings(workspace, filters, context.within))
    query = FactQuery(given.phrase, given.fiscal_year, given.quarter, given.months, given.part)
    names = {doc_id: identity.company for doc_id, identity in workspace.directory.identities.items()}

    def to_artifact(hit: FactHit) -> make.FactFound:
        return make.FactFound.of(hit, names[hit.sourced.doc_id])

    if given.each is None:
        found = find_facts(workspace, query, company=company, scope=scope, limit=given.k)
        workspace.index.check_rows({hit.sourced.doc_id for hit in found.hits}, words=False)
        hits = tuple(map(to_artifact, found.hits))
        return make.FactsListed(phrase=given.phrase, facts=hits, sure=found.is_sure, rivals=len(found.rivals))
    if company is None or given.fiscal_year is None:
        raise ToolInputError(
            "`each` needs a company and a fiscal year", remedy="Give company and fiscal_year with each"
        )
    if given.each not in (*KINDS, ANY_KIND):
        raise ToolInputError(f"{given.each!r} is not a kind of part", remedy=f"Kinds: {', '.join((*KINDS, ANY_KIND))}")
    kind = None if given.each == ANY_KIND else given.each
    made = find_family(workspace, query, company, kind=kind, scope=scope).best or Family()
    workspace.index.check_rows({each.doc_id for member in made.members for each in member.facts}, words=False)
    return make.FactsListed(
        phrase=given.phrase,
        facts=tuple(to_artifact(FactHit(member.facts[-1], 1.0)) for member in made.members[: given.k]),
        sure=made.sums_to_whole(),
        kind=made.kind,
        total=to_artifact(FactHit(made.total[-1], 1.0)) if made.total else None,
        dropped=made.dropped,
    )


ANY_KIND = "any"


def read_pages(context: ToolContext, given: take.ReadPageArguments) -> make.PagesRead:
    """Return the text of the requested pages. Raises ToolInputError."""
    filing, keys = _resolve_pages(context, given.doc_id, given.pages)
    read = (
        make.PageRead(doc_id=given.doc_id, page=stored.page.number, text=stored.page.text, **_described(stored.page))
        for stored in context.workspace.index.pages(keys)
    )
    return make.PagesRead(filing=filing, pages=tuple(read))


def make_cards(context: ToolContext, given: take.CardExtractionArguments) -> make.CardsMade:
    """Return a card with figures for every passage on the requested pages. Raises ToolInputError."""
    filing, keys = _resolve_pages(context, given.doc_id, given.pages)
    index = context.workspace.index
    passages = [RetrievedPassage.of(entry, 0.0, 1) for entry in index.passages(keys)]
    cards = cards_of(passages, index)
    if (maker := context.answering.card_maker) is not None:
        cards = [maker.make(card, passage.text)[0] for card, passage in zip(cards, passages, strict=True)]
    return make.CardsMade(filing=filing, cards=tuple(with_facts(cards, index)))


def run_program(context: ToolContext, given: take.PythonExecutionArguments) -> make.ProgramRun:
    """Run a program; with sources or a question, check where each of its numbers comes from.

    Raises SandboxError and ToolInputError.
    """
    checked = given.sources is not None or given.question is not None
    facts = _facts_on(context, given.sources or ())
    provenance = check_provenance(given.code, [each.fact for each in facts], given.question or "") if checked else None
    result = context.answering.executor.run(given.code)
    numbers = _number_accounts(provenance, facts) if provenance is not None else ()
    return make.ProgramRun(value=result.value, checked=checked, numbers=numbers)


def answer_tool_question(context: ToolContext, given: take.AnswerQuestionArguments) -> Answer:
    """Return the graph's answer or refusal with its duration reset, so that equal calls give equal results.

    Raises QuestionError if the question cannot be processed.
    """
    doc_ids = filter_filings(context.workspace, given, context.within)
    answer = answer_question(given.question, context.answering, doc_ids=doc_ids)
    return answer.model_copy(update={"seconds": 0.0})


def read_query(context: ToolContext, query: str, doc_ids: Sequence[str] | None) -> tuple[Query, tuple[str, ...]]:
    """Return the query of a search request, and its requirements that no indexed filing can meet.

    If it names no company and `doc_ids` have only one, that company is meant.
    """
    analyst = context.analyst
    intent = intent_in(doc_ids, query, analyst, context.workspace)
    return analyst.query(intent, analyst.plan(intent), None), tuple(unmet_requirements(intent, context.workspace))


def entries_by_id(context: ToolContext) -> Mapping[str, FilingEntry]:
    """Return every filing of the index by its id."""
    return {entry.doc_id: entry for entry in context.workspace.index.entries()}


def _described(page: Page) -> dict[str, Any]:
    return {"title": page.title, "item": page.item, "statement": page.statement}


def _page_keys(
    entries: Mapping[str, FilingEntry], doc_ids: Sequence[str] | None, pages: str | None
) -> tuple[PageKey, ...] | None:
    if pages is None:
        return None
    if doc_ids is None:
        raise ToolInputError("`pages` needs a filing", remedy="Name filings in doc_ids, or leave pages out")
    wanted = parse_page_numbers(pages)
    keys = tuple(PageKey(doc_id, page) for doc_id in doc_ids for page in wanted if page < entries[doc_id].page_count)
    if not keys:
        raise ToolInputError(
            f"none of these filings has pages {page_ranges(sorted(wanted))}",
            remedy="Call list_filings to see how many they have",
        )
    return keys


def _best_passages(
    ranked: Sequence[RankedPassage], keys: Sequence[PageKey], context: ToolContext
) -> dict[PageKey, StoredPassage]:
    """Return the best-ranked passage of each page; for a page without one, its first passage."""
    best: dict[PageKey, StoredPassage] = {}
    for passage in ranked:
        best.setdefault(passage.stored.key, passage.stored)
    for stored in context.workspace.index.passages([key for key in keys if key not in best]):
        best.setdefault(stored.key, stored)
    return best


def _resolve_pages(context: ToolContext, doc_id: str, pages: str) -> tuple[make.FilingListed, list[PageKey]]:
    resolve_doc_id(doc_id, context.workspace, context.within)
    filing = make.FilingListed.of(context.workspace.index.filing(doc_id))
    context.workspace.index.check_rows([doc_id], words=True)
    numbers = parse_page_numbers(pages, filing.pages)
    if len(numbers) > MAX_PAGES:
        raise ToolInputError(
            f"{len(numbers)} pages are more than can be read at once", remedy=f"Name at most {MAX_PAGES} pages a call"
        )
    return filing, [PageKey(doc_id, number) for number in numbers]


def _facts_on(context: ToolContext, sources: Sequence[take.FigurePlace]) -> list[SourcedFact]:
    index = context.workspace.index
    keys: dict[PageKey, None] = {}
    for source in sources:
        doc_id = resolve_doc_id(source.doc_id, context.workspace, context.within)
        pages = parse_page_numbers(source.pages, index.filing(doc_id).page_count)
        keys.update(dict.fromkeys(PageKey(doc_id, page) for page in pages))
    if len(keys) > MAX_SOURCE_PAGES:
        raise ToolInputError(
            f"{len(keys)} pages are more than a program can be checked against",
            remedy=f"Name the pages of its figures, at most {MAX_SOURCE_PAGES}",
        )
    index.check_rows({key.doc_id for key in keys}, words=False)
    return index.facts({key.doc_id for key in keys}, pages=keys) if keys else []


def _number_accounts(provenance: Provenance, facts: Sequence[SourcedFact]) -> tuple[make.NumberAccounted, ...]:
    found = [
        make.NumberAccounted(literal=one.literal, line=one.line, variable=one.variable, source=None, said=one.reason)
        for one in provenance.unbound
    ]
    for binding in provenance.bindings:
        sourced = next((each for each in facts if each.fact == binding.fact), None)
        found.append(
            make.NumberAccounted(
                literal=binding.literal,
                line=binding.line,
                variable=binding.variable,
                source=binding.source.value,
                said=binding.where,
                doc_id=sourced.doc_id if sourced else None,
                page=sourced.fact.page if sourced else None,
            )
        )
    return tuple(sorted(found, key=lambda number: (number.line, number.literal, number.said)))
