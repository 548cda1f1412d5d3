"""Metrics of a passage: those its figures state, then those its words name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from fin_agent.evidence.cards.card import ClaimRole
from fin_agent.evidence.cards.headings import headings_in
from fin_agent.evidence.cards.sources import PassageSource
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import word_lists

_MOST_METRICS = 40
_MOST_LABELS = 8
_SHORT_HEADING = 3
"""Words of headings in which a single word is a metric: `DEBT`, but not `Unregistered Sales of Equity Securities`."""
_MOST_CHARACTERS = {
    ClaimRole.REPORTS: 500,
    ClaimRole.EXPLAINS: 500,
    ClaimRole.FORECASTS: 500,
    ClaimRole.DEFINES: 400,
    ClaimRole.SETS_POLICY: 250,
    ClaimRole.TELLS_EVENT: 250,
    ClaimRole.DESCRIBES: 250,
    ClaimRole.WARNS: 0,
    ClaimRole.FORMAL: 0,
}
"""Of sentences with figures that are searched for metrics in words: reading them is what costs most."""
_BESIDE_FACTS = 250
"""The same, of passages whose figures name their metrics already."""
_BEFORE = 90
_AFTER = 40
"""Characters before and after an amount within which the metric it is of is named."""
_VERB = re.compile(
    r"\b(?:was|were|is|are|had|has|have|by|increased?|decreased?|grew|declined|totall?ed|rose|fell|of)\b"
)
_SENTENCE_END = re.compile(r"[.;:!?](?=\s)")
_AMOUNT = re.compile(r"[$€£]\s?\d|%|million|billion|percent|basis points")


class NamedMetric(NamedTuple):
    """A metric or formula and where the passage's text names it first, with a figure in the same sentence."""

    id: str
    start: int
    end: int


def metrics_of(source: PassageSource, named: Sequence[NamedMetric], heading: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Ids of metrics of facts, those on more rows first; then metrics and formulas that heading and sentences name."""
    rows = Counter({fact.metric: 0 for fact in source.facts if fact.metric})
    for metric, _ in {(fact.metric, fact.line) for fact in source.facts if fact.metric}:
        rows[metric] += 1
    order = {metric: at for at, metric in enumerate(rows)}
    stated = sorted((metric for metric in rows if metric), key=lambda metric: (-rows[metric], order[metric]))
    titled = _named_by(heading, lexicon) if heading else ()
    if source.facts and not stated and not titled:
        titled = _named_by("; ".join(_titles(source)), lexicon)
    return tuple(dict.fromkeys([*stated, *titled, *(metric.id for metric in named)]))[:_MOST_METRICS]


def _titles(source: PassageSource) -> Iterator[str]:
    """What names a table without a row of a known metric: the headings in its text, and its first rows."""
    if not source.is_table:
        yield from headings_in(source)
    yield from list(dict.fromkeys(fact.label for fact in source.facts))[:_MOST_LABELS]


@lru_cache(maxsize=4096)
def _named_by(heading: str, lexicon: Lexicon) -> tuple[str, ...]:
    short = len(heading.split()) <= _SHORT_HEADING
    return tuple(mention.id for mention in lexicon.mentions(heading) if short or " " in mention.phrase)


def metrics_in_words(source: PassageSource, role: ClaimRole, lexicon: Lexicon) -> list[NamedMetric]:
    """Metrics and formulas that are named close to an amount, in the same sentence, each where it is named first.

    Read up to a length that depends on how much figures matter to passages of that role.
    """
    loose = word_lists("loose_names")["loose names"]
    text = source.passage.text
    found: dict[str, NamedMetric] = {}
    room = min(_MOST_CHARACTERS[role], _BESIDE_FACTS) if source.facts else _MOST_CHARACTERS[role]
    for start, end in _around_amounts(text) if room else ():
        stretch = text[start:end]
        if source.facts and _VERB.search(stretch) is None:  # a row of a table: its figures have their metrics
            continue
        for mention in lexicon.mentions(stretch):
            if mention.phrase.lower() in loose:
                continue
            found.setdefault(mention.id, NamedMetric(mention.id, start + mention.start, start + mention.end))
        room -= end - start
        if room <= 0:
            break
    return list(found.values())


def metrics_in_rows(source: PassageSource) -> list[NamedMetric]:
    """Metrics of the passage's facts where their label stands in its text as printed."""
    text = source.passage.text
    found: dict[str, NamedMetric] = {}
    for fact in source.facts:
        if fact.metric and fact.label and fact.metric not in found and (at := text.find(fact.label)) >= 0:
            found[fact.metric] = NamedMetric(fact.metric, at, at + len(fact.label))
    return list(found.values())


def _around_amounts(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of text close to an amount, within its sentence; none overlapping."""
    place = 0
    while (amount := _AMOUNT.search(text, place)) is not None:
        begin = max(place, amount.start() - _BEFORE)
        begin = max(begin, *(text.rfind(mark, begin, amount.start()) + 1 for mark in (". ", ".\n", "; ")))
        last = min(len(text), amount.end() + _AFTER)
        ended = _SENTENCE_END.search(text, amount.end(), last)
        end = ended.start() if ended else last
        yield begin, end
        place = max(end, amount.end())
