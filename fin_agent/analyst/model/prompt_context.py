"""What a model is shown: passages with their places, what is asked field by field, cards."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.field_alignment import COMPANY, required_fields
from fin_agent.evidence.intent import Comparison, Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Figure, Ledger
from fin_agent.evidence.tournament.judge import Brief
from fin_agent.index.protocol import PageKey
from fin_agent.prompts import Quoted
from fin_agent.retrieval.search_query import Scope
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace

MAX_CHARACTERS = 6_000
"""Of a passage; those of the index are shorter, unless their words are very long."""


_MAX_SHOWN = 18_000
_MIN_SHOWN = 4
_OF_A_ROW = re.compile(r"\(?[-–—$€£%(]*\s?\(?(?:\d[\d,]*(?:\.\d+)?|\.\d+|[—–-]|[$€£%])\s*[%)]*\s?(?:\(\w\))?\s?[%)]?")
"""What stands alone on a line of a page and belongs to the row whose label stands before it: a number, a sign."""


_YEAR = re.compile(r"(?:19|20)\d\d")
_YEARS = re.compile(rf"(?:{_YEAR.pattern}\s?)+")


def quoted_passages(passages: Sequence[RetrievedPassage], workspace: Workspace) -> list[Quoted]:
    """Each passage, and where it stands: `Acme Corp., 10-K, FY2023, ended 2023-12-31, page 4`."""
    return [
        Quoted(join_row_numbers(passage.text)[:MAX_CHARACTERS], place_of(passage, workspace)) for passage in passages
    ]


def passages_for_curation(
    passages: Sequence[RetrievedPassage],
    workspace: Workspace,
    scope: Scope,
    dropped: Collection[tuple[str, int]] = (),
) -> list[RetrievedPassage]:
    """What one call shows of these passages, each page once, with what goes on over the edge of a page.

    Nothing that was `dropped` before comes back as the neighbour of another.
    """
    return without_contained(with_neighbours(passages_in_budget(passages), workspace, scope, dropped))


def passages_in_budget(passages: Sequence[RetrievedPassage]) -> list[RetrievedPassage]:
    """As many of the first passages as one call shows, without those that say what another says."""
    shown: list[RetrievedPassage] = []
    length = 0
    for passage in without_contained(passages):
        length += len(join_row_numbers(passage.text)[:MAX_CHARACTERS])
        if len(shown) >= _MIN_SHOWN and length > _MAX_SHOWN:
            break
        shown.append(passage)
    return shown


def without_contained(passages: Sequence[RetrievedPassage]) -> list[RetrievedPassage]:
    """Return the passages without those that say what another one says.

    A page may be there as text and as table, a filing under two names. Of such passages the fuller one stands where the
    first stood.
    """
    kept: list[RetrievedPassage] = []
    for passage in passages:
        if any(is_contained(passage, one) for one in kept):
            continue
        within = [one.key for one in kept if one.on_page == passage.on_page and is_contained(one, passage)]
        if within:
            kept = [passage if one.key == within[0] else one for one in kept if one.key not in within[1:]]
        else:
            kept.append(passage)
    return kept


def is_contained(passage: RetrievedPassage, other: RetrievedPassage) -> bool:
    """Whether all that a passage says stands in another; in one of its own page, nearly all."""
    words, said = (set(_WORDS.findall(join_row_numbers(each.text)[:MAX_CHARACTERS])) for each in (passage, other))
    return len(words - said) <= (len(words) // _MIN_NEW_SHARE if passage.on_page == other.on_page else 0)


_MIN_NEW_SHARE = 8
"""One word of so many may be new."""
_WORDS = re.compile(r"\w[\w.,]*\w|\w")


_WITH_NEIGHBOURS = 3
"""Of so many first passages those that break off bring the text before or behind them."""
_WHOLE_END = re.compile(r"[.!?:;)”\"]\s*\d{0,3}\s*\Z")


def with_neighbours(
    passages: Sequence[RetrievedPassage],
    workspace: Workspace,
    scope: Scope,
    dropped: Collection[tuple[str, int]] = (),
) -> list[RetrievedPassage]:
    """The passages; what goes on over the edge of a page has the text before it, or behind it, beside it."""
    shown = {*dropped, *(each.key for each in passages)}
    found: list[RetrievedPassage] = []
    for place, each in enumerate(passages):
        words = join_row_numbers(each.text)
        whole = place >= _WITH_NEIGHBOURS or each.kind is not PassageKind.TEXT or not words
        begins, ends = whole or not words[0].islower(), whole or _WHOLE_END.search(words) is not None
        beside: dict[int, RetrievedPassage] = {}
        if not (begins and ends):
            keys = [PageKey(each.doc_id, each.page + step) for step in (-1, 0, 1) if each.page + step >= 0]
            stored = workspace.index.passages([key for key in keys if scope.holds(key)])
            texts = sorted(
                (one for one in stored if one.passage.kind is PassageKind.TEXT), key=lambda one: one.passage.ordinal
            )
            at = next((number for number, one in enumerate(texts) if one.passage.ordinal == each.ordinal), None)
            for step in () if at is None else (*(() if begins else (-1,)), *(() if ends else (1,))):
                if 0 <= at + step < len(texts):
                    one = RetrievedPassage.of(texts[at + step], 0.0, each.round)
                    if one.key not in shown:
                        shown.add(one.key)
                        beside[step] = one
        found += [one for one in (beside.get(-1), each, beside.get(1)) if one is not None]
    return found


def join_row_numbers(text: str) -> str:
    r"""A page's text with the numbers of a row behind its label, as they are printed, and no blank lines.

    >>> in_rows("Net sales\\n$\\n41,396 \\n$\\n(157)\\n\\nCost of sales\\n12.5 %")
    'Net sales $ 41,396 $ (157)\\nCost of sales 12.5 %'
    """
    rows: list[str] = []
    for line in text.splitlines():
        words = " ".join(line.split())
        heads = _YEAR.fullmatch(words) is not None and not (rows and _YEARS.fullmatch(rows[-1]))
        if rows and words and _OF_A_ROW.fullmatch(words) and not heads:
            rows[-1] = f"{rows[-1]} {words}"
        elif words:
            rows.append(words)
    return "\n".join(rows)


def place_of(passage: RetrievedPassage, workspace: Workspace) -> str:
    """Whose report a passage is from, of which period, and its page as people count them."""
    identity = workspace.directory.identities.get(passage.doc_id)
    if identity is None:
        return f"{passage.doc_id}, page {passage.page + 1}"
    parts = (identity.company, identity.form.value, _period_end_label(identity), f"page {passage.page + 1}")
    return ", ".join(part for part in parts if part)


def _period(identity: Identity) -> str:
    quarter = f"Q{identity.quarter} " if identity.quarter else ""
    return f"{quarter}FY{identity.fiscal_year}" if identity.fiscal_year else ""


def _period_end_label(identity: Identity) -> str:
    """`FY2022, ended 2023-01-28`: the year that a period is called by is not always the one it ends in."""
    period = _period(identity)
    return f"{period}, ended {identity.period_end.isoformat()}" if period and identity.period_end else period


_MOST = 16


def intent_lines(intent: Intent, plan: Plan, ledger: Ledger | None = None) -> str:
    """Companies, periods, measure, relation, unit and figures wanted; what is left open has no line."""
    asked: tuple[tuple[str, Iterable[str]], ...] = (
        ("companies", (company.name for company in intent.companies)),
        ("periods", map(str, intent.periods)),
        ("days", (day.isoformat() for day in intent.dates)),
        ("measure", [intent.measure] if intent.measure else []),
        ("formula", [intent.expression] if intent.expression and not intent.beyond_rules else []),
        ("relation", [intent.relation.value] if not intent.beyond_rules else []),
        ("comparison", [] if intent.comparison is Comparison.NONE else [intent.comparison.value]),
        ("of parts", intent.parts),
        ("documents", (form.value for form in intent.forms)),
        ("unit", [intent.unit] if intent.unit else []),
        ("decimals", [] if intent.decimals is None else [str(intent.decimals)]),
        ("to be minded", intent.beyond_rules),
        ("figures", (str(slot) for slot, required in plan.slots().items() if required)),
        ("found already", (str(slot) for slot in (ledger.figures if ledger is not None else ()))),
    )
    lines = [f"- {name}: {told}" for name, values in asked if (told := _listed(values))]
    return "\n".join(lines) or "- nothing beyond its words"


def _listed(values: Iterable[str]) -> str:
    return "; ".join(" ".join(value.split()) for value in list(values)[:_MOST])


def known_lines(intent: Intent, ledger: Ledger | None, searched: str = "") -> str:
    """What is settled of a question before its passages are read: whose and when, figures found, what was searched."""
    found = ledger.figures if ledger is not None else {}
    asked: tuple[tuple[str, Iterable[str]], ...] = (
        ("companies", (company.name for company in intent.companies)),
        ("fiscal periods", map(str, intent.periods)),
        ("figures found by rules", (f"{slot}: {_amount(found[slot])}" for slot in found)),
        ("searched for already", [searched] if searched else []),
    )
    lines = [f"- {name}: {told}" for name, values in asked if (told := _listed(values))]
    return "\n".join(lines) or "- nothing beyond its words"


def _amount(figure: Figure) -> str:
    scale = {1_000: " thousands", 1_000_000: " millions", 1_000_000_000: " billions"}.get(figure.scale, "")
    return f"{figure.amount:,} {figure.unit}{scale}"


_MAX_NAMES = 12
_MAX_CHARACTERS = 80


def request_lines(brief: Brief) -> list[str]:
    """What is asked, a line each; what the question leaves open has no line."""
    intent, query = brief.intent, brief.query
    fields = required_fields(query, intent.parts)
    asked = (
        ("companies", [company.name for company in intent.companies]),
        ("periods", map(str, query.periods or intent.periods)),
        ("days", (day.isoformat() for day in intent.dates)),
        ("measure", [intent.measure] if intent.measure else []),
        ("metrics", dict.fromkeys([*(slot.metric for slot in query.slots), *query.metrics])),
        ("figures", (str(slot) for slot, required in brief.plan.slots().items() if required)),
        ("of parts", intent.parts),
        ("statements", (statement.value for statement in intent.statements)),
        ("documents", (form.value for form in intent.forms)),
        ("topics", intent.topics),
        ("relation", [intent.relation.value]),
        ("comparison", [] if intent.comparison is Comparison.NONE else [intent.comparison.value]),
        ("wanted for", [intent.use.value]),
        ("fields to match", (field for field in fields if not field.startswith(f"{COMPANY}: "))),
    )
    return [f"- {name}: {told}" for name, values in asked if (told := _joined_names(values))]


def card_place(card: Card) -> str:
    """Whose passage it is: `Acme Corp., 10-Q, Q2 FY2023`."""
    identity = card.identity
    quarter = f"Q{identity.quarter} " if identity.quarter else ""
    period = f"{quarter}FY{identity.fiscal_year}" if identity.fiscal_year else ""
    return ", ".join(part for part in (_line(identity.company), identity.form.value, period) if part)


def card_lines(card: Card) -> Iterator[str]:
    """A card's fields, a line each; the text of its passage is not among them."""
    identity, table = card.identity, card.verifiability.table
    shown = (
        ("heading", [identity.heading]),
        ("statement", [identity.statement.value] if identity.statement else []),
        ("role", [card.role.value]),
        ("evidence", [card.evidence_type.value]),
        ("serves", (use.value for use in card.answers.uses)),
        ("metrics", card.metrics),
        ("periods", card.time.periods),
        ("scope", [*(["consolidated"] if card.scope.consolidated else []), *card.scope.parts]),
        ("units", card.basis.units),
        ("columns", table.columns if table else ()),
        ("care", (risk.value for risk in card.risks)),
    )
    yield from (f"{name}: {told}" for name, values in shown if (told := _joined_names(values)))
    # A string of JSON has no line of its own: a sketch cannot pass for another field.
    yield f"sketch: {json.dumps(' '.join(card.sketch.split()), ensure_ascii=False)}"


def _joined_names(values: Iterable[str]) -> str:
    return ", ".join([line for value in values if (line := _line(value))][:_MAX_NAMES])


def _line(text: str) -> str:
    return " ".join(text.split())[:_MAX_CHARACTERS]
