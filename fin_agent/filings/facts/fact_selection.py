"""Select facts by name: a metric, an XBRL concept, or words of a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.identity import Identity

_NOT_WORDS = re.compile(r"[\W_]+")


def facts_named(facts: Sequence[Fact], name: str, year: int | None, identity: Identity) -> list[Fact]:
    """Return the facts called `name`, the most likely one first; of fiscal year `year`, if given.

    A metric's name comes before a concept, a concept before a label, and a label that only contains `name` last.
    """
    dated = [fact for fact in facts if year is None or fact.period.fiscal_year == year]
    ranked = [(rank, fact) for fact in dated if (rank := _match_quality(fact, name)) is not None]
    ranked = [(rank, fact) for rank, fact in ranked if rank < _PARTLY] or ranked
    return [fact for _, fact in sorted(ranked, key=lambda pair: (pair[0], *_likelihood(pair[1], identity)))]


def years_of(facts: Sequence[Fact], name: str) -> list[int]:
    """Return fiscal years of the facts called `name`, latest first."""
    return sorted({fact.period.fiscal_year for fact in facts if _match_quality(fact, name) is not None}, reverse=True)


def similar_names(facts: Sequence[Fact], name: str) -> list[str]:
    """Return up to three metrics or labels of `facts` that are spelled similarly to `name`."""
    names = [each for fact in facts for each in (fact.metric, fact.label) if each]
    known = {_folded(each): each for each in reversed(names)}
    return [known[each] for each in get_close_matches(_folded(name), sorted(known), n=3, cutoff=0.6)]


_METRIC, _CONCEPT, _LABEL, _PARTLY = range(4)


def _match_quality(fact: Fact, name: str) -> int | None:
    """Return how a fact matches a name, best first; None where it does not."""
    wanted = _folded(name)
    if not wanted:
        return None
    if fact.metric and _folded(fact.metric) == wanted:
        return _METRIC
    concept = fact.tag.concept.casefold() if fact.tag else ""
    if name.casefold() in (concept, concept.rpartition(":")[2]):
        return _CONCEPT
    label = _folded(fact.label)
    if label == wanted:
        return _LABEL
    return _PARTLY if f" {wanted} " in f" {label} " else None


def _likelihood(fact: Fact, identity: Identity) -> Iterator[int]:
    period = fact.period
    yield fact.statement is None
    yield fact.scope is not None
    yield not fact.tied
    yield period.fiscal_year != identity.fiscal_year
    yield period.quarter != identity.quarter
    yield 0 if period.months in (0, 3 if identity.quarter else 12) else 1
    yield from (fact.page, fact.line)


def _folded(text: str) -> str:
    return " ".join(_NOT_WORDS.sub(" ", text.casefold()).split())
