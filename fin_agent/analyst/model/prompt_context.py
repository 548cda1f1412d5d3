"""The material of prompts: passages with their sources, the request field by field, cards."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.intent import Comparison, Intent
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.evidence.tournament.tournament import COMPANY, Brief, required_fields
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.text_normalization import bare_words
from fin_agent.prompts import Quoted
from fin_agent.retrieval.search_query import Scope
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.dates import printed_years
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.workspace import Workspace

MAX_CHARACTERS = 6_000
"""Most characters of a passage; those of the index are shorter, unless their words are very long."""
_MAX_SHOWN = 18_000
_MIN_SHOWN = 4
_MIN_NEW_SHARE = 8
"""One new word in this many is allowed in a passage that is contained in another of its page."""
_WITH_NEIGHBOURS = 3
"""Number of first passages that get the text before or after a break."""
_WHOLE_END = re.compile(r"[.!?:;)”\"]\s*\d{0,3}\s*\Z")
_MAX_NAMES = 16
_MAX_CHARACTERS = 80
_OF_A_ROW = re.compile(r"\(?[-–—$€£%(]*\s?\(?(?:\d[\d,]*(?:\.\d+)?|\.\d+|[—–-]|[$€£%])\s*[%)]*\s?(?:\(\w\))?\s?[%)]?")
"""A number or sign alone on a line, which belongs to the row whose label precedes it."""


def quoted_passages(passages: Sequence[RetrievedPassage], workspace: Workspace) -> list[Quoted]:
    """Return each passage with its source: `Acme Corp., 10-K, FY2023, ended 2023-12-31, page 4`."""
    return [
        Quoted(join_row_numbers(passage.text)[:MAX_CHARACTERS], place_of(passage, workspace)) for passage in passages
    ]


def passages_for_curation(
    passages: Sequence[RetrievedPassage], workspace: Workspace, scope: Scope, dropped: Collection[tuple[str, int]] = ()
) -> list[RetrievedPassage]:
    """Return the passages shown by one call, each page once, with text continued across page breaks."""
    return without_contained(with_neighbours(passages_in_budget(passages), workspace, scope, dropped))


def passages_in_budget(passages: Sequence[RetrievedPassage]) -> list[RetrievedPassage]:
    """Return the first passages that fit into one call, without those contained in others."""
    shown: list[RetrievedPassage] = []
    length = 0
    for passage in without_contained(passages):
        length += len(join_row_numbers(passage.text)[:MAX_CHARACTERS])
        if len(shown) >= _MIN_SHOWN and length > _MAX_SHOWN:
            break
        shown.append(passage)
    return shown


def without_contained(passages: Sequence[RetrievedPassage]) -> list[RetrievedPassage]:
    """Return the passages without those contained in another one.

    A page may occur as text and as table, a filing under two names. The fuller passage takes the place of the first.
    """
    kept: list[RetrievedPassage] = []
    for passage in passages:
        if any(is_contained(passage, one) for one in kept):
            continue
        within = [one.key for one in kept if one.on_page == passage.on_page and is_contained(one, passage)]
        kept = [passage if one.key in within[:1] else one for one in kept if one.key not in within[1:]]
        kept += [] if within else [passage]
    return kept


def is_contained(passage: RetrievedPassage, other: RetrievedPassage) -> bool:
    """Return whether a passage is contained in another; nearly all of it suffices on the same page."""
    words, said = (set(bare_words(join_row_numbers(each.text)[:MAX_CHARACTERS])) for each in (passage, other))
    return len(words - said) <= (len(words) // _MIN_NEW_SHARE if passage.on_page == other.on_page else 0)


def with_neighbours(
    passages: Sequence[RetrievedPassage], workspace: Workspace, scope: Scope, dropped: Collection[tuple[str, int]] = ()
) -> list[RetrievedPassage]:
    """Return the passages; those that continue across a page break get the adjoining text, if it was not `dropped`."""
    shown = {*dropped, *(each.key for each in passages)}
    found: list[RetrievedPassage] = []
    for each in passages[:_WITH_NEIGHBOURS]:
        around = _with_texts_around(each, workspace, scope)
        around = [one for one in around if one is each or one.key not in shown]
        shown.update(one.key for one in around)
        found += around
    return [*found, *passages[_WITH_NEIGHBOURS:]]


def _with_texts_around(passage: RetrievedPassage, workspace: Workspace, scope: Scope) -> list[RetrievedPassage]:
    """Return a passage with the text before it if it begins within a sentence, and the one after it if it ends so."""
    words = join_row_numbers(passage.text) if passage.kind is PassageKind.TEXT else ""
    begins_within, ends_within = words[:1].islower(), bool(words) and _WHOLE_END.search(words) is None
    if not (begins_within or ends_within):
        return [passage]
    keys = [PageKey(passage.doc_id, passage.page + step) for step in (-1, 0, 1) if passage.page + step >= 0]
    stored = workspace.index.passages([key for key in keys if scope.holds(key)])
    texts = [RetrievedPassage.of(one, 0.0, passage.round) for one in stored if one.passage.kind is PassageKind.TEXT]
    texts.sort(key=lambda one: one.ordinal)
    at = next((place for place, one in enumerate(texts) if one.ordinal == passage.ordinal), None)
    if at is None:
        return [passage]
    before = texts[max(0, at - 1) : at] if begins_within else []
    return [*before, passage, *(texts[at + 1 : at + 2] if ends_within else [])]


def join_row_numbers(text: str) -> str:
    r"""Return a page's text with the numbers of a row after its label, as printed, without blank lines.

    >>> join_row_numbers("Net sales\n$\n41,396 \n$\n(157)\n\nCost of sales\n12.5 %")
    'Net sales $ 41,396 $ (157)\nCost of sales 12.5 %'
    """

    def has_years_alone(line: str) -> bool:
        return bool(printed_years(line)) and all(map(str.isdecimal, line.split()))

    rows: list[str] = []
    for words in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        heads = len(words) == 4 and has_years_alone(words) and not (rows and has_years_alone(rows[-1]))
        if rows and _OF_A_ROW.fullmatch(words) and not heads:
            rows[-1] = f"{rows[-1]} {words}"
        else:
            rows.append(words)
    return "\n".join(rows)


def place_of(passage: RetrievedPassage, workspace: Workspace) -> str:
    """Return the company, form, period with its end, and page (from 1) of a passage."""
    identity = workspace.directory.identities.get(passage.doc_id)
    page = f"page {passage.page + 1}"
    if identity is None:
        return f"{passage.doc_id}, {page}"
    period = _period_label(identity.quarter, identity.fiscal_year)
    ended = f"ended {identity.period_end.isoformat()}" if period and identity.period_end else ""
    return ", ".join(filter(None, (identity.company, identity.form.value, period, ended, page)))


def _period_label(quarter: int | None, year: int | None) -> str:
    return f"{f'Q{quarter} ' if quarter else ''}FY{year}" if year else ""


def _lines(fields: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a line for each field that has values."""
    told = {name: [" ".join(each.split())[:_MAX_CHARACTERS] for each in fields[name] if each] for name in fields}
    return [f"{name}: {', '.join(values[:_MAX_NAMES])}" for name, values in told.items() if values]


def known_lines(intent: Intent, ledger: Ledger | None, searched: str = "") -> str:
    """Return lines on what is known before passages are read: company, period, figures found, earlier searches."""
    found = ledger.figures if ledger is not None else {}
    fields: dict[str, Iterable[str]] = {
        "- companies": (company.name for company in intent.companies),
        "- fiscal periods": map(str, intent.periods),
        "- figures found by rules": (
            f"{slot}: {amount_with_unit(figure.amount, figure.scale, figure.unit)}" for slot, figure in found.items()
        ),
        "- searched for already": [searched],
    }
    return "\n".join(_lines(fields)) or "- nothing beyond its words"


def request_lines(brief: Brief) -> list[str]:
    """Return lines on the request; what the question leaves open has no line."""
    intent, query = brief.intent, brief.query
    required = required_fields(query, intent.parts)
    fields: dict[str, Iterable[str]] = {
        "- companies": (company.name for company in intent.companies),
        "- periods": map(str, query.periods or intent.periods),
        "- days": (day.isoformat() for day in intent.dates),
        "- measure": [intent.measure],
        "- metrics": dict.fromkeys([*(slot.metric for slot in query.slots), *query.metrics]),
        "- figures": (str(slot) for slot, required in brief.plan.slots().items() if required),
        "- of parts": intent.parts,
        "- statements": intent.statements,
        "- documents": intent.forms,
        "- topics": intent.topics,
        "- relation": [intent.relation],
        "- comparison": [] if intent.comparison is Comparison.NONE else [intent.comparison],
        "- wanted for": [intent.use],
        "- fields to match": (field for field in required if not field.startswith(f"{COMPANY}: ")),
    }
    return _lines(fields)


def card_place(card: Card) -> str:
    """Return the source of a card's passage: `Acme Corp., 10-Q, Q2 FY2023`."""
    identity = card.identity
    company = " ".join(identity.company.split())[:_MAX_CHARACTERS]
    parts = (company, identity.form.value, _period_label(identity.quarter, identity.fiscal_year))
    return ", ".join(part for part in parts if part)


def card_lines(card: Card) -> list[str]:
    """Return a card's fields, a line each, without the text of its passage."""
    identity, table = card.identity, card.verifiability.table
    fields: dict[str, Iterable[str]] = {
        "heading": [identity.heading],
        "statement": [identity.statement] if identity.statement else [],
        "role": [card.role],
        "evidence": [card.evidence_type],
        "serves": card.answers.uses,
        "metrics": card.metrics,
        "periods": card.time.periods,
        "scope": [*(["consolidated"] if card.scope.consolidated else []), *card.scope.parts],
        "units": card.basis.units,
        "columns": table.columns if table else (),
        "care": card.risks,
    }
    # As a JSON string, a sketch has no line breaks and cannot imitate another field.
    return [*_lines(fields), f"sketch: {json.dumps(' '.join(card.sketch.split()), ensure_ascii=False)}"]
