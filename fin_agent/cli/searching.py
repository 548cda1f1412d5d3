"""`fin-agent search`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fin_agent.analyst.curating import strategy_for
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.options import Level
from fin_agent.cli.streams import show, show_json, warn
from fin_agent.config import settings_from_environment
from fin_agent.graphs.answer.refusals import what_cannot_be_met
from fin_agent.presentation.searches import Hit, hits_view, named_in, query_view, telling
from fin_agent.retrieval.documents import FILING_FEATURES
from fin_agent.retrieval.page_features import MEANINGS as PAGE_FEATURES
from fin_agent.retrieval.query import EVERYTHING, Depth, Query, Scope, SearchResult
from fin_agent.retrieval.strategies.flat import SCORES
from fin_agent.retrieval.strategies.names import is_default
from fin_agent.workspace import Workspace


def search_index(
    question: str,
    given: Path | None,
    *,
    level: Level,
    k: int,
    doc_ids: Sequence[str],
    strategy: str,
    explain: bool,
    as_json: bool,
) -> ExitCode:
    """List the `k` best of `level` for the question."""
    settings = settings_from_environment(strategy=strategy)
    with opened(given) as workspace:
        for doc_id in doc_ids:
            workspace.index.filing(doc_id)
        searching = strategy_for(settings, workspace, notify=warn)
        analyst = RulesAnalyst(workspace)
        intent = analyst.intent(question)
        for missing in what_cannot_be_met(intent, workspace):
            warn(missing)
        query = analyst.query(intent, analyst.plan(intent), None)
        result = searching.search(
            query,
            Scope(doc_ids=tuple(dict.fromkeys(doc_ids))) if doc_ids else EVERYTHING,
            Depth(k if level is Level.DOCUMENT else settings.documents, max(k, settings.pages), k),
        )
        hits = _hits(result, level, k, workspace)
        names = {company.key: company.name for company in workspace.directory.companies}
    meanings = _meanings(strategy, level)
    if as_json:
        document: dict[str, object] = {"question": question, "level": level.value}
        if explain:
            document["query"] = _query_fields(query, names)
            said = named_in(hits)
            document["meanings"] = {name: meaning for name, meaning in meanings.items() if name in said}
        show_json({**document, "results": [_hit_fields(hit, level, explain) for hit in hits]})
    else:
        view = hits_view(hits, explain=explain, meanings=meanings)
        show(*([query_view(query, names)] if explain else []), view)
    return ExitCode.DONE


def _meanings(strategy: str, level: Level) -> Mapping[str, str]:
    """What the names of the parts of scores mean; a passage is explained by its page."""
    features = FILING_FEATURES if level is Level.DOCUMENT else PAGE_FEATURES
    return features if is_default(strategy) else {**features, **SCORES}


def _hits(result: SearchResult, level: Level, k: int, workspace: Workspace) -> list[Hit]:
    records = {record.doc_id: record for record in workspace.index.filings()}
    if level is Level.DOCUMENT:
        return [
            Hit(rank, records[filing.doc_id], filing.score, features=filing.features)
            for rank, filing in enumerate(result.filings[:k], start=1)
        ]
    if level is Level.PAGE:
        stored = {page.key: page.page for page in workspace.index.pages([ranked.key for ranked in result.pages[:k]])}
        return [
            Hit(
                rank,
                records[ranked.key.doc_id],
                ranked.score,
                page=ranked.key.page,
                title=stored[ranked.key].title,
                item=stored[ranked.key].item,
                statement=stored[ranked.key].statement,
                features=ranked.features,
            )
            for rank, ranked in enumerate(result.pages[:k], start=1)
        ]
    features = {page.key: page.features for page in result.pages}
    return [
        Hit(
            rank,
            records[found.stored.doc_id],
            found.score,
            page=found.stored.passage.page,
            text=found.stored.passage.text,
            kind=found.stored.passage.kind.value,
            box=tuple(found.stored.passage.box) if found.stored.passage.box else None,
            features=features.get(found.stored.key, ()),
        )
        for rank, found in enumerate(result.passages[:k], start=1)
    ]


def _hit_fields(hit: Hit, level: Level, explain: bool) -> dict[str, object]:
    fields: dict[str, object] = {"rank": hit.rank, "doc_id": hit.record.doc_id}
    identity = hit.record.identity
    if level is Level.DOCUMENT:
        fields |= {
            "company": identity.company,
            "form": identity.form.value,
            "fiscal_year": identity.fiscal_year,
            "quarter": identity.quarter,
            "period_end": identity.period_end.isoformat() if identity.period_end else None,
        }
    elif level is Level.PAGE:
        statement = hit.statement.value if hit.statement else None
        fields |= {"page": hit.page, "title": hit.title, "item": hit.item, "statement": statement}
    else:
        fields |= {"page": hit.page, "kind": hit.kind, "text": hit.text, "box": hit.box}
    fields["score"] = round(hit.score, 6)
    if explain:
        fields["features"] = {name: round(weight, 6) for name, weight in telling(hit.features)}
    return fields


def _query_fields(query: Query, names: Mapping[str, str]) -> dict[str, object]:
    return {
        "text": query.text,
        "terms": query.terms,
        "expansions": query.expansions,
        "synonyms": query.synonyms,
        "companies": [names.get(key, key) for key in query.companies],
        "periods": [str(period) for period in query.periods],
        "dates": [day.isoformat() for day in query.dates],
        "forms": [form.value for form in query.forms],
        "statements": [statement.value for statement in query.statements],
        "items": query.items,
        "figures": [str(slot) for slot in query.slots],
    }
