"""What a question asks beside its measure that no program is written for: said, and not passed over in silence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.definitions import level_of
from fin_agent.analyst.rules.measures import Measure, without_asides
from fin_agent.analyst.rules.narrowing import moves_cash
from fin_agent.evidence.intent import Comparison, Relation
from fin_agent.lexicon.expressions import expression_inputs
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention
from fin_agent.lexicon.periods import parse_periods

_CONDITION = re.compile(
    r"\b(before|after|without|excluding|including|net of|if|assuming|adjusted for|trailing|ttm|ltm|year before"
    r"|prior to|preceding|beginning of|start of|median|in dollars of)\b",
    re.I,
)
SPAN_OF_A_YEAR = re.compile(
    r"\b(?:ytd|year[- ]to[- ]date|so far (?:this|in)|half[- ]years?|semi[- ]?annual(?:ly)?"
    r"|(?:first|second|1st|2nd|last|latter)[ -](?:fiscal[ -])?half"
    r"|(?:(?:first|last|past|final|the)\s+)?(?:one|two|four|five|six|seven|eight|nine|ten|eleven|[124-9]|1[01])"
    r"[- ]months?)\b",
    re.I,
)
"""Spans that are neither a year nor a quarter, with or without a year beside them."""
_COORDINATE = re.compile(r"[A-Za-z-]+,? and $")
"""`current and long-term debt`: what stands before the metric goes with it."""
_SETTLED_BY_A_RELATION = re.compile(
    r"\b(lowest|highest|minimum|maximum|averages?|mean|difference|minus|less|sum of|combined|together)\b", re.I
)


def beyond(
    core: str,
    bare: str,
    measure: Measure | None,
    relation: Relation,
    comparison: Comparison,
    periods: Sequence[FiscalPeriod],
    companies: int,
    lexicon: Lexicon,
) -> tuple[str, ...]:
    """In words, what of `core` a computed answer would leave out; nothing where it would leave out nothing.

    `bare` is the core with companies and periods blanked.
    """
    if measure is None:
        return ()
    text = without_asides(bare)
    named = (mention for mention in lexicon.mentions(text) if not moves_cash(text, mention))
    mentions = [level_of(mention, lexicon) for mention in named]
    found = [*_parts_of_a_year(core), *_other_measures(mentions, measure, lexicon)]
    rest = _blanked(text, mentions, measure)
    first = min(place for place in (mentions[0].start, text.find(measure.words)) if place >= 0) if mentions else 0
    if _COORDINATE.search(text[:first] if not measure.stated else ""):
        found.append(f"more than {measure.words}: one measure at a time is computed")
    found += [f"figures {word.lower()!r} something: that is not computed" for word in _CONDITION.findall(rest)]
    several = len(periods) > 1 or companies > 1
    if several and relation is Relation.EACH and comparison is Comparison.NONE:
        found += [
            f"the {word.lower()!r} of several figures: how they go together was not understood"
            for word in _SETTLED_BY_A_RELATION.findall(rest)
        ]
    return tuple(dict.fromkeys(found))


def _parts_of_a_year(core: str) -> list[str]:
    """Half a year, nine months, a year to date: no slot of the ledger holds them, as one holds a year and a quarter."""
    spans = [f"{months} months" for months in sorted({one.months for one in parse_periods(core).mentions} & {6, 9})]
    spans = spans or [f"{' '.join(found.group().split())!r}" for found in SPAN_OF_A_YEAR.finditer(core)]
    return [f"figures for {span}: only full years and single quarters are looked up" for span in spans]


def _other_measures(mentions: Sequence[Mention], measure: Measure, lexicon: Lexicon) -> list[str]:
    if measure.stated:
        return []
    used = _inputs(measure.expression, lexicon)
    others = [mention.phrase for mention in mentions if mention.id not in used and mention.phrase not in measure.words]
    if not others:
        return []
    return [f"{' and '.join(dict.fromkeys(others))} beside {measure.words}: one measure at a time is computed"]


def _inputs(expression: str, lexicon: Lexicon) -> set[str]:
    """Ids that the expression names, and those its formulas and derived metrics are made of."""
    used: set[str] = set()
    waiting = [re.sub(r"\[\d+\]|\bmean\b", "", expression)]
    while waiting:
        for name in re.findall(r"[a-z][a-z0-9_]*", waiting.pop()):
            if name in used:
                continue
            used.add(name)
            entry = lexicon.formulas.get(name)
            derive = lexicon.metrics[name].derive if name in lexicon.metrics else ""
            waiting += [
                " ".join(expression_inputs(text)) for text in (entry.expression if entry else "", derive) if text
            ]
    return used


def _blanked(text: str, mentions: Sequence[Mention], measure: Measure) -> str:
    for mention in mentions:
        text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
    return text.replace(measure.words, " ")
