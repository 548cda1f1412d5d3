"""`fin-agent search`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategies import strategy_for
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.options import Level
from fin_agent.cli.streams import fields_of, show, show_json, warn
from fin_agent.config import Settings
from fin_agent.evidence.intent import Intent
from fin_agent.graphs.answer.question_scope import intent_in, what_cannot_be_met
from fin_agent.index.protocol import FilingIndex, FilingRecord
from fin_agent.lexicon.fiscal import FiscalPeriod, FiscalYears
from fin_agent.presentation.filings import period_of
from fin_agent.presentation.plain import cut, fixed, listing, one_line, right, settings_view
from fin_agent.retrieval.documents import FILING_FEATURES
from fin_agent.retrieval.page_features import MEANINGS as PAGE_FEATURES
from fin_agent.retrieval.query import EVERYTHING, Depth, Query, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import SCORES, Wording, expanded
from fin_agent.retrieval.strategies.protocol import Layer, is_default, parse_strategy
from fin_agent.retrieval.terms import search_terms, stems_of
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace

_WORD = re.compile(r"[^\W_]{2,}")
_WORDS_SHOWN = 60
_ODD_WORDS_TRIED = 50
_BY_WORDS = frozenset({"bm25", "hybrid"})
_MADE_UP = frozenset({"hyde", "multi-hyde"})
"""Strategies that search with passages they make up, not with the question's words."""
_CURATED = frozenset({"hirec", "self-rag", "tournament"})
"""Strategies whose analyst judges what the words found by what it understands."""


def search_index(
    question: str,
    given: Path | None,
    settings: Settings,
    *,
    level: Level,
    k: int,
    doc_ids: Sequence[str],
    explain: bool,
    as_json: bool,
) -> ExitCode:
    """List the `k` best of `level` for the question."""
    strategy = settings.strategy
    with opened(given) as workspace:
        for doc_id in doc_ids:
            workspace.index.filing(doc_id)
        searching = strategy_for(settings, workspace, notify=warn)
        analyst = RulesAnalyst(workspace)
        intent = intent_in(doc_ids, question, analyst, workspace)
        for missing in what_cannot_be_met(intent, workspace, doc_ids or None, company_needed=False):
            warn(missing)
        query = analyst.query(intent, analyst.plan(intent), None)
        for doubt in (*_periods_not_covered(intent, workspace), *_words_nowhere(intent, query, strategy, workspace)):
            warn(doubt)
        result = searching.search(
            query,
            Scope(doc_ids=tuple(dict.fromkeys(doc_ids))) if doc_ids else EVERYTHING,
            Depth(k if level is Level.DOCUMENT else settings.documents, max(k, settings.pages), k),
        )
        hits = _hits(result, level, k, workspace)
        names = {company.key: company.name for company in workspace.directory.companies}
    # What the names of the parts of scores mean; a passage is explained by its page.
    features = FILING_FEATURES if level is Level.DOCUMENT else PAGE_FEATURES
    meanings: Mapping[str, str] = features if is_default(strategy) else {**features, **SCORES}
    used = _used_of(strategy)
    query = _as_searched(query, strategy)
    if as_json:
        document: dict[str, object] = {"question": question, "level": level.value}
        if explain:
            document["query"] = {name: said for name, said in _query_fields(query, names).items() if name in used}
            said = named_in(hits)
            document["meanings"] = {name: meaning for name, meaning in meanings.items() if name in said}
            document["features_are"] = _note(strategy, level)
        show_json({**document, "results": [_hit_fields(hit, level, explain) for hit in hits]})
    else:
        view = hits_view(hits, explain=explain, meanings=meanings, note=_note(strategy, level))
        show(*([query_view(query, names, used=used, strategy=strategy)] if explain else []), view)
    return ExitCode.DONE


def _periods_not_covered(intent: Intent, workspace: Workspace) -> list[str]:
    """Periods asked about that no filing of the companies named covers, or no filing at all where none is named.

    Of figures asked of companies `what_cannot_be_met` has said it.
    """
    if not intent.periods or (intent.numeric and intent.companies) or not workspace.index.entries():
        return []
    identities = workspace.directory.identities
    said = []
    for company in intent.companies:
        filed = workspace.years[company.key]
        own = [identities[doc_id] for doc_id in workspace.directory.by_key[company.key].doc_ids]
        lacking = [period for period in intent.periods if not _covered(period, filed, own)]
        if lacking:
            verb = "are" if len(lacking) > 1 else "is"
            said.append(f"{_named(lacking)} of {company.name} {verb} not in the index, which holds {filed.described()}")
    if intent.companies:
        return said
    every = list(identities.values())
    filed = FiscalYears.of("the index", every)
    lacking = [period for period in intent.periods if not _covered(period, filed, every)]
    if not lacking:
        return []
    years = sorted({*filed.annual, *(year for year, _ in filed.quarters)})
    span = "no fiscal years" if not years else f"FY{years[0]}" + (f" to FY{years[-1]}" if len(years) > 1 else "")
    return [f"no indexed filing covers {_named(lacking)}: the index holds {span}"]


def _covered(period: FiscalPeriod, filed: FiscalYears, filings: Iterable[Identity]) -> bool:
    """Whether a filing reports the period, or, of a year, is of an event in it."""
    if filed.covers(filed.meant(period)[0]):
        return True
    return period.quarter is None and any(
        filing.period_end is not None and filing.period_end.year == period.fiscal_year for filing in filings
    )


def _named(periods: Sequence[FiscalPeriod]) -> str:
    return ", ".join(map(str, periods))


def _words_nowhere(intent: Intent, query: Query, strategy: str, workspace: Workspace) -> list[str]:
    """A warning where search by what a question says has nothing to go by: no word of it stands in any filing.

    Where a company or a figure is named, or the lexicon knows other words for it, there is something; other strategies
    than our own find nothing, or go by more than words.
    """
    known = intent.companies or intent.unknown_companies or query.metrics or query.dates
    if known or parse_strategy(strategy)[-1].layer is not Layer.WHOLE or not workspace.index.entries():
        return []
    words = search_terms(word for word in _WORD.findall(intent.core) if not word.isdigit())
    if not words or _any_held((*words, *query.expansions, *query.synonyms), workspace.index):
        return []
    shown = one_line(", ".join(words), _WORDS_SHOWN)
    return [f"no word of the question is in any indexed filing ({shown}): what is listed has nothing to do with them"]


def _any_held(words: Sequence[str], index: FilingIndex) -> bool:
    stems = {stem for word in words if word.isascii() for stem in stems_of(word)}
    if any(index.document_frequencies(stems).values()):
        return True
    # What is not written in plain Latin letters only the index itself takes apart as it took apart the filings.
    return bool(index.search_pages([word for word in words if not word.isascii()][:_ODD_WORDS_TRIED], limit=1))


def _used_of(strategy: str) -> frozenset[str]:
    """Which fields of a query a strategy goes by: our own by all of them, others by its words."""
    layers = parse_strategy(strategy)
    names = {layer.name for layer in layers}
    if layers[-1].layer is Layer.WHOLE:
        return _EVERY_FIELD
    used = {"text"}
    if layers[-1].name in _BY_WORDS and not names & _MADE_UP:
        used.add("terms")
    if "query-expansion" in names:
        used.add("expansions")
    if names & _CURATED:
        used |= {"companies", "periods", "dates", "forms", "figures"}
    return frozenset(used)


def _as_searched(query: Query, strategy: str) -> Query:
    """With the terms that the strategy searches for: of words alone, names of companies and years are among them."""
    if parse_strategy(strategy)[-1].layer is Layer.WHOLE:
        return query
    wording = expanded(query) if "expansions" in _used_of(strategy) else Wording.of(query)
    return replace(query, terms=wording.terms(), expansions=wording.synonyms)


def _note(strategy: str, level: Level) -> str:
    """What the figures beside the names of a score's parts are."""
    if len(parse_strategy(strategy)) > 1 or parse_strategy(strategy)[0].layer is not Layer.WHOLE:
        return ""
    if level is Level.DOCUMENT:
        return "Beside each name stands its value; a score is made of the values times their weights. The values are:"
    return "Beside each name stands its value times its weight; a page's score is their sum. The values are:"


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
    named = {
        Level.DOCUMENT: " ".join(
            f"{name}=record.identity.{name}" for name in ("company", "form", "fiscal_year", "quarter", "period_end")
        ),
        Level.PAGE: "page title item statement",
        Level.PASSAGE: "page kind text",
    }
    fields = fields_of(hit, f"rank doc_id=record.doc_id {named[level]}")
    if level is Level.PASSAGE:
        fields["box"] = hit.box
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


_EVERY_FIELD = frozenset(_query_fields(Query("", terms=()), {}))


_SHOWN = 280
_FIELD_SHOWN = 240
"""How much of a field of a query is shown: a very long question has hundreds of terms."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document, page or passage found: `page` is None for a document, `text` is empty for all but passages."""

    rank: int
    record: FilingRecord
    score: float
    page: int | None = None
    """0-based."""
    title: str = ""
    item: str | None = None
    statement: Statement | None = None
    text: str = ""
    kind: str = ""
    box: tuple[float, ...] | None = None
    features: tuple[tuple[str, float], ...] = ()
    """What the score is made of; for a passage, that of its page."""


def hits_view(
    hits: Sequence[Hit], *, explain: bool = False, meanings: Mapping[str, str] | None = None, note: str = ""
) -> RenderableType:
    """A line per hit; a passage with its beginning. `meanings` are told below of the names that `explain` shows.

    `note` stands before the meanings: what the figures beside the names are.
    """
    listed = _listed(hits, explain)
    told = [(name, said) for name, said in (meanings or {}).items() if name in named_in(hits)]
    if not explain or not told:
        return listed
    noted = [Padding(Text(note), (1, 0, 0, 0))] if note else []
    return Group(listed, *noted, Padding(settings_view(told), (1, 0, 0, 0)))


def telling(features: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """What a score is made of, the biggest first, without what adds nothing that would show."""
    return sorted(
        ((name, weight) for name, weight in features if round(weight, 3)), key=lambda named: (-abs(named[1]), named[0])
    )


def named_in(hits: Sequence[Hit]) -> set[str]:
    """The names of all that their scores are made of."""
    return {name for hit in hits for name, _ in telling(hit.features)}


def _listed(hits: Sequence[Hit], explain: bool) -> RenderableType:
    if not hits:
        return Text("Nothing found.", style="yellow")
    if hits[0].text:
        return Group(*(_passage(hit, explain) for hit in hits))
    return _table(hits, explain)


def query_view(
    query: Query, companies: Mapping[str, str], *, used: Collection[str] | None = None, strategy: str = ""
) -> RenderableType:
    """What was searched for, field by field, without those that are empty; `companies` gives names by key.

    Of a `strategy` that uses only some fields of the query (`used`, by the names that `--json` gives them), these are
    shown, and of the others that they were understood.
    """
    fields = [
        ("text", "searched for", query.text),
        ("terms", "terms", ", ".join(query.terms)),
        ("expansions", "also", ", ".join(query.expansions)),
        ("synonyms", "synonyms", ", ".join(query.synonyms)),
        ("companies", "companies", "; ".join(companies.get(key, key) for key in query.companies)),
        ("periods", "periods", ", ".join(map(str, query.periods))),
        ("dates", "dates", ", ".join(day.isoformat() for day in query.dates)),
        ("forms", "forms", ", ".join(form.value for form in query.forms)),
        ("statements", "statements", ", ".join(statement.value for statement in query.statements)),
        ("items", "items", ", ".join(query.items)),
        ("figures", "figures", "; ".join(map(str, query.slots))),
    ]
    told = [(name, heading, said) for name, heading, said in fields if said]
    shown = [(heading, one_line(said, _FIELD_SHOWN)) for name, heading, said in told if used is None or name in used]
    understood = [heading for name, heading, _ in told if used is not None and name not in used and name in _UNDERSTOOD]
    if understood:
        shown.append(("not used", f"{', '.join(understood)}: understood, but not used by {strategy}"))
    return Padding(settings_view(shown), (0, 0, 1, 0))


_UNDERSTOOD = ("companies", "periods", "dates", "forms", "statements", "items", "figures")
"""Fields that are no words, and which are missed where a strategy goes by words."""


def _table(hits: Sequence[Hit], explain: bool) -> Table:
    """With `explain`, what the scores are made of takes the place of the widest column."""
    pages = hits[0].page is not None
    table = listing(right("#"), fixed("Filing"))
    if pages:
        table.add_column("Page", justify="right", no_wrap=True)
        table.add_column("Part", no_wrap=True)
    else:
        table.add_column("Form", no_wrap=True)
        table.add_column("Period", no_wrap=True)
    table.add_column("Score", justify="right", no_wrap=True)
    table.add_column("Made of" if explain else "Title" if pages else "Company")
    for hit in hits:
        identity = hit.record.identity
        place = (str((hit.page or 0) + 1), _part(hit)) if pages else (identity.form.value, period_of(identity))
        last = Text(_features(hit), style="dim") if explain else cut(hit.title if pages else identity.company)
        table.add_row(str(hit.rank), one_line(hit.record.doc_id), *place, f"{hit.score:.3f}", last)
    return table


def _passage(hit: Hit, explain: bool) -> RenderableType:
    head = Text.assemble(
        f"{hit.rank:>2}  ",
        (one_line(hit.record.doc_id), "bold"),
        f", page {(hit.page or 0) + 1}",
        (f"  {hit.kind}, {hit.score:.3f}", "dim"),
    )
    lines: list[RenderableType] = [head]
    if explain and hit.features:
        lines.append(Padding(Text(f"its page: {_features(hit)}", style="dim"), (0, 0, 0, 4)))
    lines.append(Padding(Text(one_line(hit.text, _SHOWN)), (0, 0, 1, 4)))
    return Group(*lines)


def _part(hit: Hit) -> str:
    return hit.statement.value if hit.statement else f"Item {hit.item}" if hit.item else ""


def _features(hit: Hit) -> str:
    return ", ".join(f"{name} {weight:.3f}" for name, weight in telling(hit.features))
