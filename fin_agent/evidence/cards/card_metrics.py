"""The metrics of a passage: those of its figures, then those that its text names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from fin_agent.evidence.cards.card import ClaimRole, EvidenceSpan, ScopeSignature
from fin_agent.evidence.cards.passage_sources import PassageSource, cue_pattern, headings_in
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import TableKind

_PATTERNS = patterns("card_patterns")

_MAX_METRICS = 40
_MAX_LABELS = 8
_SHORT_HEADING = 3
"""Most words of a heading in which one word may be a metric: `DEBT`, not `Unregistered Sales of Securities`."""
_MAX_CHARACTERS = {
    **dict.fromkeys((ClaimRole.REPORTS, ClaimRole.EXPLAINS, ClaimRole.FORECASTS), 500),
    ClaimRole.DEFINES: 400,
    **dict.fromkeys((ClaimRole.SETS_POLICY, ClaimRole.TELLS_EVENT, ClaimRole.DESCRIBES), 250),
    **dict.fromkeys((ClaimRole.WARNS, ClaimRole.FORMAL), 0),
}
"""Characters of sentences with figures to search for metrics, by role; this search is the most expensive step."""
_BESIDE_FACTS = 250
"""The same limit for passages whose facts already name metrics."""
_BEFORE = 90
_AFTER = 40
"""Characters before and after an amount in which its metric is searched for."""


class NamedMetric(NamedTuple):
    """A metric or formula and where the text first names it near a figure."""

    id: str
    start: int
    end: int


def metrics_of(source: PassageSource, named: Sequence[NamedMetric], heading: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return metric ids: those of facts by number of rows, those of the heading, then those `named` in its text."""
    lines = dict.fromkeys((fact.metric, fact.line) for fact in source.facts if fact.metric)
    stated = [metric for metric, _ in Counter(metric for metric, _ in lines).most_common() if metric]
    titled = _named_metrics(heading, lexicon) if heading else ()
    if source.facts and not stated and not titled:
        labels = list(dict.fromkeys(fact.label for fact in source.facts))[:_MAX_LABELS]
        titled = _named_metrics("; ".join([*([] if source.is_table else headings_in(source)), *labels]), lexicon)
    return tuple(dict.fromkeys([*stated, *titled, *(metric.id for metric in named)]))[:_MAX_METRICS]


@lru_cache(maxsize=4096)
def _named_metrics(heading: str, lexicon: Lexicon) -> tuple[str, ...]:
    short = len(heading.split()) <= _SHORT_HEADING
    return tuple(mention.id for mention in lexicon.mentions(heading) if short or " " in mention.phrase)


def metrics_in_words(source: PassageSource, role: ClaimRole, lexicon: Lexicon) -> list[NamedMetric]:
    """Return metrics and formulas named close to an amount in the same sentence, at their first occurrence.

    The searched length depends on the role, since figures matter less in some.
    """
    loose = word_lists("loose_names")["loose names"]
    text = source.passage.text
    found: dict[str, NamedMetric] = {}
    room = min(_MAX_CHARACTERS[role], _BESIDE_FACTS) if source.facts else _MAX_CHARACTERS[role]
    for start, end in _around_amounts(text) if room else ():
        stretch = text[start:end]
        if source.facts and _PATTERNS["verb"].search(stretch) is None:
            continue  # a row of a table: its figures have their metrics
        for mention in lexicon.mentions(stretch):
            if mention.phrase.lower() in loose:
                continue
            found.setdefault(mention.id, NamedMetric(mention.id, start + mention.start, start + mention.end))
        room -= end - start
        if room <= 0:
            break
    return list(found.values())


def metrics_in_rows(source: PassageSource) -> list[NamedMetric]:
    """Return the metrics of the passage's facts whose printed label occurs in its text."""
    text = source.passage.text
    found: dict[str, NamedMetric] = {}
    for fact in source.facts:
        if fact.metric and fact.label and fact.metric not in found and (at := text.find(fact.label)) >= 0:
            found[fact.metric] = NamedMetric(fact.metric, at, at + len(fact.label))
    return list(found.values())


def _around_amounts(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of text around amounts, each within one sentence, without overlap."""
    place = 0
    while (amount := _PATTERNS["amount"].search(text, place)) is not None:
        begin = max(place, amount.start() - _BEFORE)
        begin = max(begin, *(text.rfind(mark, begin, amount.start()) + 1 for mark in (". ", ".\n", "; ")))
        last = min(len(text), amount.end() + _AFTER)
        ended = _PATTERNS["sentence end"].search(text, amount.end(), last)
        end = ended.start() if ended else last
        yield begin, end
        place = max(end, amount.end())


_MAX_PARTS = 16
_MAX_NAMES = 80
_MAX_NAME_LENGTH = 60
_MAX_WORDS = 7
_OFTEN_ENOUGH = 4
"""Figures that a part must have in a filing before its name is searched for in running text."""
_PART_AXES = ("segment", "productorservice", "geographical", "majorcustomers", "subsegments", "legalentity")


def scope_of(source: PassageSource, names: Sequence[str], figures: bool) -> ScopeSignature:
    """Return the parts of the company that a passage's figures or text are about.

    `names` are the filing's parts (`part_names`); `figures` is whether the passage's sentences state amounts.
    """
    parts = list(dict.fromkeys(part for fact in source.facts if (part := part_of(fact))))
    stated = bool(parts)
    if source.table is not None and not parts:
        printed = {*source.table.columns, *(row.label for row in source.table.rows)}
        parts = [name for name in names if name in printed]
    if not source.is_table:
        text = source.passage.text
        counts = {name: _count_occurrences(text, name) for name in names if name not in parts}
        # A single word not in capitals may be an ordinary word: it has to occur twice.
        often = [name for name, count in counts.items() if count >= (1 if " " in name or name.isupper() else 2)]
        parts += sorted(often, key=lambda name: (-counts[name], name))
    return ScopeSignature(
        consolidated=_is_whole(source, stated if source.facts else bool(parts), figures),
        parts=tuple(parts[:_MAX_PARTS]),
    )


def part_of(fact: Fact) -> str | None:
    """Return the segment, product or region of a figure, as printed; None for the whole company.

    Columns that state a measurement basis or a due date are not parts.
    """
    if fact.scope is None or fact.statement is not None:
        return None
    axes = [axis.lower() for axis, _ in fact.tag.members] if fact.tag else []
    if axes and not any(part in axis for axis in axes for part in _PART_AXES):
        return None
    return part_name(fact.scope)


@lru_cache(maxsize=4096)
def part_name(printed: str) -> str | None:
    """Return a part's name without footnote marks; None if the words do not name a part."""
    name = _PATTERNS["marks"].sub("", " ".join(printed.split())).strip(" ,:-–—")
    words = _PATTERNS["word of a name"].findall(name)
    if not words or len(name) > _MAX_NAME_LENGTH or len(words) > _MAX_WORDS or not name[0].isupper():
        return None
    low = {word.lower() for word in words}
    if (
        {"%", "$"} & set(name)
        or word_lists("column_words")["measuring"] & low
        or low <= word_lists("part_words")["general"]
    ):
        return None
    return name if sum(map(str.isalpha, name)) >= len(name) / 2 else None


@lru_cache(maxsize=4096)
def _names_whole(printed: str) -> bool:
    """Return whether a printed scope is the total of all parts: `Consolidated`, `Total Company`."""
    words = _PATTERNS["word of a name"].findall(printed.lower())
    return bool(words) and word_lists("column_words")["whole"].issuperset(words)


def part_names(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Return the names of parts with enough figures in a filing, by number of figures."""
    counted = Counter(part for fact in facts if fact.metric and (part := part_of(fact)))
    often = (name for name, count in counted.items() if count >= _OFTEN_ENOUGH)
    return tuple(sorted(often, key=lambda name: (-counted[name], name))[:_MAX_NAMES])


def _count_occurrences(text: str, name: str) -> int:
    """Return how often a name occurs in a text as whole words."""
    return len(re.findall(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text)) if name in text else 0


def _is_whole(source: PassageSource, parts: bool, figures: bool) -> bool:
    """Return whether the passage contains figures of the whole company."""
    page = source.page
    if page.kind is TableKind.PARENT_ONLY:
        return False
    if page.statement is not None:
        return True
    if source.table is not None and not source.facts:
        rows = source.table.rows
        return bool(rows) and (not parts or any(_names_whole(row.label) for row in rows))
    if not source.facts:
        return figures and (not parts or " consolidated " in source.flat)
    if any(fact.tied if fact.scope is None else _names_whole(fact.scope) for fact in source.facts):
        return True
    # In a table divided by parts, a figure that no statement repeats may be of any part.
    return not parts and page.kind is not TableKind.SEGMENT and any(part_of(fact) is None for fact in source.facts)


_MAX_SPANS = 12
_MAX_CUES = 5


def spans_of(text: str, role: ClaimRole, cues: Iterable[str], named: Sequence[NamedMetric]) -> tuple[EvidenceSpan, ...]:
    """Return the first occurrence of each cue phrase and of each named metric, in text order."""
    low = text.lower() if len(text.lower()) == len(text) else text  # a few letters of other scripts grow
    spans = [
        EvidenceSpan(start=found.start(), end=found.end(), shows=role.value)
        for phrase in list(cues)[:_MAX_CUES]
        if (found := cue_pattern(phrase).search(low)) is not None
    ]
    spans += [EvidenceSpan(start=one.start, end=one.end, shows=one.id) for one in named[: _MAX_SPANS - len(spans)]]
    return tuple(sorted(spans, key=lambda span: (span.start, span.end, span.shows)))
