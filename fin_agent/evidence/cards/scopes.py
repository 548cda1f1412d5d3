"""Of what a passage's figures are: the whole company, or which of its parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from fin_agent.evidence.cards.card import ScopeSignature
from fin_agent.evidence.cards.sources import PassageSource
from fin_agent.lexicon.words import word_lists
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import TableKind

_MOST_PARTS = 16
_MOST_NAMES = 80
_LONGEST_NAME = 60
_MOST_WORDS = 7
_OFTEN_ENOUGH = 4
"""Figures that a part must have in a filing for its name to be looked for in running text."""
_WORD = re.compile(r"[\w&’']+")
_MARKS = re.compile(r"\s*\((?:\d{1,2}|[a-z])\)|[*†‡]+|\s+$", re.IGNORECASE)
_PART_AXES = ("segment", "productorservice", "geographical", "majorcustomers", "subsegments", "legalentity")


def scope_of(source: PassageSource, names: Sequence[str], figures: bool) -> ScopeSignature:
    """The parts that a passage's figures or words are about.

    `names` are the filing's parts (`part_names`), `figures` says whether the passage's sentences state amounts.
    """
    parts = list(dict.fromkeys(part for fact in source.facts if (part := part_of(fact))))
    stated = bool(parts)
    if source.table is not None and not parts:
        printed = {*source.table.columns, *(row.label for row in source.table.rows)}
        parts = [name for name in names if name in printed]
    if not source.is_table:
        text = source.passage.text
        named = Counter(
            {name: count for name in names if name not in parts and (count := _times(text, name)) >= _enough(name)}
        )
        parts += [name for name, _ in sorted(named.items(), key=lambda entry: (-entry[1], entry[0]))]
    return ScopeSignature(
        consolidated=_is_whole(source, stated if source.facts else bool(parts), figures),
        parts=tuple(parts[:_MOST_PARTS]),
    )


def part_of(fact: Fact) -> str | None:
    """The segment, product or region that a figure is of, as printed; None for the company.

    Columns that say how a figure is measured or when it falls due are no parts.
    """
    if fact.scope is None or fact.statement is not None:
        return None
    if fact.tag is not None and fact.tag.members:
        axes = [axis.lower() for axis, _ in fact.tag.members]
        if not any(part in axis for axis in axes for part in _PART_AXES):
            return None
    return part_name(fact.scope)


@lru_cache(maxsize=4096)
def part_name(printed: str) -> str | None:
    """The name of a part without footnote marks; None where the words name no part."""
    name = _MARKS.sub("", " ".join(printed.split())).strip(" ,:-–—")
    words = _WORD.findall(name)
    if (
        not words
        or len(name) > _LONGEST_NAME
        or len(words) > _MOST_WORDS
        or not name[0].isupper()
        or "%" in name
        or "$" in name
    ):
        return None
    low = [word.lower() for word in words]
    if not word_lists("column_words")["measuring"].isdisjoint(low) or word_lists("part_words")["general"].issuperset(
        low
    ):
        return None
    return name if sum(map(str.isalpha, name)) >= len(name) / 2 else None


@lru_cache(maxsize=4096)
def _names_whole(printed: str) -> bool:
    """Whether a scope as printed is the sum of all parts: `Consolidated`, `Total Company`."""
    words = _WORD.findall(printed.lower())
    return bool(words) and word_lists("column_words")["whole"].issuperset(words)


def part_names(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Names of parts by which a filing divides its figures often enough to be known, those of most figures first."""
    counted = Counter(part for fact in facts if fact.metric and (part := part_of(fact)))
    often = [(name, count) for name, count in counted.items() if count >= _OFTEN_ENOUGH]
    return tuple(name for name, _ in sorted(often, key=lambda entry: (-entry[1], entry[0]))[:_MOST_NAMES])


def _times(text: str, name: str) -> int:
    """How often a name stands in a text as words of their own."""
    times, place = 0, text.find(name)
    while place >= 0:
        end = place + len(name)
        if not text[place - 1 : place].isalnum() and not text[end : end + 1].isalnum():
            times += 1
        place = text.find(name, end)
    return times


def _enough(name: str) -> int:
    """A single word may be an everyday one, unless it is written in capitals: it must be said twice."""
    return 1 if " " in name or name.isupper() else 2


def _is_whole(source: PassageSource, parts: bool, figures: bool) -> bool:
    """Whether figures of the whole company stand in a passage."""
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
    # Where tables divide figures by parts, a figure that none of the statements repeats may be of any of them.
    return not parts and page.kind is not TableKind.SEGMENT and any(part_of(fact) is None for fact in source.facts)
