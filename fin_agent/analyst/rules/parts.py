"""Questions about a part of a company (a segment, a product, a region): its own figures, never those of the whole."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from fin_agent.analyst.rules.intents import intent_of
from fin_agent.evidence.expressions import parse_formula, quantities_of
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.evidence.plan import metric_of_parts
from fin_agent.lexicon.company_names import company_words
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.matching import is_of_part
from fin_agent.workspace import Workspace

_KIND = (
    r"(?:\s+(?:(?:reportable|operating|business|product)\s+)?(?:segments?|divisions?|business(?:es)?|units?|categor(?:y|ies)|regions?"
    r"|lines?|products?|services?|geograph\w+))?"
)
_LEADING = r"(?:\b(?:in|from|for|within|of|by|at)\s+)?(?:\b(?:the|its|their)\s+)?"


def of_a_part(intent: Intent, workspace: Workspace) -> Intent:
    """`intent` as asked of the part that the question names, where a filing of its company divides figures by it.

    Where filings state the measure of that part, its slots are the part's; else it is answered in words: the company's
    own figure would be a wrong answer to `gross margin for Services`.
    """
    if not intent.companies or not (intent.numeric or _may_be_narrowed(intent)):
        return intent
    doc_ids = _filings_of(intent, workspace)
    part = part_named(intent.core, workspace.index.parts(doc_ids), workspace)
    if part is None:
        return intent
    if len(intent.companies) == 1 and (asked := _asked_of(part, intent, workspace)) is not None:
        return asked
    if not intent.numeric:
        return intent
    note = f"figures of {part!r} alone are quoted, not computed"
    return intent.model_copy(
        update={
            "expression": "",
            "measure": "",
            "measure_unit": "",
            "parts": (part,),
            "assumed": (*intent.assumed, note),
        }
    )


def _may_be_narrowed(intent: Intent) -> bool:
    return intent.names_metric and intent.relation is not Relation.EXPLANATION and not intent.expression


def _filings_of(intent: Intent, workspace: Workspace) -> list[str]:
    asked = {company.key for company in intent.companies}
    return [doc_id for doc_id, owner in workspace.directory.owners.items() if owner in asked]


def _asked_of(part: str, intent: Intent, workspace: Workspace) -> Intent | None:
    """The intent with the part's own figures as its measure; None where no filing states every one of them."""
    named = re.compile(rf"{_LEADING}(?<!\w){re.escape(part)}(?:['’]s)?{_KIND}(?:['’]s)?(?!\w)", re.I)
    question, found = named.subn(" ", " ".join(intent.question.split()))
    if not found:
        return None
    whole = intent_of(question, workspace.directory, workspace.lexicon)
    if not whole.numeric or whole.unsupported:
        return None
    metrics = _metrics_in(whole.expression, workspace.lexicon)
    named_so = {metric: {metric, metric_of_parts(metric, workspace.lexicon) or metric} for metric in metrics}
    facts = workspace.index.facts(_filings_of(intent, workspace), metrics=frozenset().union(*named_so.values()))
    stated = {sourced.fact.metric for sourced in facts if is_of_part(sourced.fact, part)}
    if not all(stated & names for names in named_so.values()):
        return None
    return whole.model_copy(
        update={
            "question": intent.question,
            "core": intent.core,
            "measure": f"{part} {whole.measure}",
            "parts": (part,),
            "companies": intent.companies,
            "periods": intent.periods or whole.periods,
            "topics": intent.topics,
            "keywords": intent.keywords,
            "expansions": tuple(dict.fromkeys((*intent.expansions, *whole.expansions))),
            "assumed": intent.assumed,
        }
    )


def _metrics_in(expression: str, lexicon: Lexicon) -> frozenset[str]:
    """The metrics an expression comes down to, formulas opened."""
    found: set[str] = set()
    waiting = list(quantities_of(parse_formula(expression)))
    while waiting:
        name = waiting.pop()
        formula = lexicon.formulas.get(name)
        if formula is None:
            found.add(name)
        else:
            waiting += quantities_of(parse_formula(formula.expression)) - found
    return frozenset(found)


def part_named(core: str, parts: Collection[str], workspace: Workspace) -> str | None:
    """The longest of `parts` that `core` names; a name inside a metric's or a period's, or at a company's, is none."""
    text = " ".join(core.split())
    taken = [(mention.start, mention.end) for mention in workspace.lexicon.mentions(text)]
    for mention in workspace.directory.mentions(text):
        text = text[: mention.start] + "\0" * (mention.end - mention.start) + text[mention.end :]
    parsed = parse_periods(text)
    taken += [(mention.start, mention.end) for mention in parsed.mentions]
    taken += [(mention.start, mention.end) for mention in parsed.dates]
    named = [
        name
        for printed in sorted(parts)
        for name in (printed, *(piece.strip() for piece in printed.split(",")))
        if _tells_something(name, workspace.lexicon) and _stands_in(text, name, taken)
    ]
    return max(named, key=lambda name: (len(name), name), default=None)


_SHORTEST = 4
_OF_TIME = re.compile(
    r"\b(?:ended|ending|balances?|beginning|end of|as of|years?|quarters?|months?|weeks?|(?:19|20)\d\d|january|february"
    r"|march|april|june|july|august|september|october|november|december)\b",
    re.I,
)
"""Heads of columns and rows that say when, and not what of."""


def _stands_in(text: str, name: str, taken: Sequence[tuple[int, int]]) -> bool:
    """Whether `name` stands in the text outside every span of `taken`; short names only with the same capitals."""
    exact = len(name) < _SHORTEST
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", 0 if exact else re.I)
    return any(
        not any(start <= found.start() and found.end() <= end for start, end in taken)
        for found in pattern.finditer(text)
    )


def _tells_something(name: str, lexicon: Lexicon) -> bool:
    words = re.findall(r"[a-z]+", name.lower())
    general = word_lists("part_words")["general"]
    if not words or general.issuperset(words) or company_words().legal_forms.issuperset(words) or _OF_TIME.search(name):
        return False
    if len(name) < _SHORTEST and not (len(name) > 1 and any(mark.isupper() for mark in name)):
        return False
    return not any(mention.start == 0 and mention.end == len(name) for mention in lexicon.mentions(name))
