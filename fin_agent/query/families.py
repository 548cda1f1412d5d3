"""Families: the members that a company's filings divide a figure by, so that they can be set against each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from importlib import resources

import yaml

from fin_agent.evidence.plan import metric_of_parts
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.query.lexer import content_stems
from fin_agent.query.tree import Parts
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace


def members_of(
    family: Parts, metrics: Collection[str], company: str, periods: Collection[FiscalPeriod], workspace: Workspace
) -> tuple[str, ...]:
    """Members of a family with figures of all `metrics` in all `periods`, largest first by the last period's.

    Sums and eliminations are told by arithmetic: a member that all others add up to is no member, and neither is one
    that is as large as the whole company. Names that say `other` are left out where countries are asked about.
    """
    filings = [doc_id for doc_id, owner in workspace.directory.owners.items() if owner == company]
    wanted = {name for metric in metrics for name in (metric, metric_of_parts(metric, workspace.lexicon)) if name}
    facts = workspace.index.facts(filings, metrics=wanted)
    found = _by_axis(facts, periods)
    families = [
        members
        for axis in _AXES.get(family.kind or "", ("",))
        for members in (_members(values, periods, family) for (named, _), values in found.items() if named == axis)
        if members
    ]
    if family.kind == "region":
        families.sort(key=lambda members: -_geographic(members))
    return tuple(families[0]) if families else ()


_Values = dict[str, dict[FiscalPeriod, Decimal]]


def _by_axis(
    facts: Iterable[SourcedFact], periods: Collection[FiscalPeriod]
) -> dict[tuple[str, tuple[tuple[str, str], ...]], _Values]:
    """(axis, members on other axes) -> member as printed -> its figures in the periods; axis "" without tags."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], _Values] = defaultdict(lambda: defaultdict(dict))
    for sourced in facts:
        fact = sourced.fact
        period = next((one for one in periods if _is_of(fact, one)), None)
        if period is None or fact.scope is None:
            continue
        members = fact.tag.members if fact.tag is not None else ()
        axes = fact.tag.axes if fact.tag is not None else ("",)
        for axis in axes:
            rest = tuple(pair for pair in members if pair[0].rpartition(":")[2] in axes and not pair[0].endswith(axis))
            values = found[axis, rest]
            values[_plain(fact.scope, values)].setdefault(period, fact.value)
    return found


def _is_of(fact: Fact, period: FiscalPeriod) -> bool:
    own = fact.period
    if own.fiscal_year != period.fiscal_year:
        return False
    if period.months:
        return own.months == period.months and own.quarter in (None, period.quarter)
    return own.quarter == period.quarter and own.months in (0, 3 if period.quarter else 12)


def _plain(scope: str, known: Iterable[str]) -> str:
    """The name under which a member is known already, where it differs in capitals or small words only."""
    stems = content_stems(scope)
    return next((name for name in known if content_stems(name) == stems), scope)


def _members(
    values: Mapping[str, Mapping[FiscalPeriod, Decimal]], periods: Collection[FiscalPeriod], family: Parts
) -> list[str]:
    complete = {name: of for name, of in values.items() if len(of) == len(set(periods))}
    last = max(periods, key=lambda period: (period.fiscal_year, period.quarter or 5))
    amounts = {name: of[last] for name, of in complete.items()}
    words = _words()
    left = {content_stems(name) for name in family.without}
    kept = {
        name: amount
        for name, amount in amounts.items()
        if content_stems(name) not in left
        and not content_stems(name) & words["not a member"]
        and not (family.kind == "country" and content_stems(name) & words["residual"])
    }
    kept = {name: amount for name, amount in kept.items() if not _is_sum(name, amount, amounts)}
    return sorted(kept, key=lambda name: (-kept[name], name)) if len(kept) > 1 else []


def _is_sum(name: str, amount: Decimal, amounts: Mapping[str, Decimal]) -> bool:
    """Whether a member is the sum of at least two others: `Products` of phones, tablets and computers."""
    others = [value for other, value in amounts.items() if other != name and 0 < value < amount]
    if len(others) > _MOST_ADDED:
        return abs(sum(others) - amount) <= amount / 1000
    sums: list[tuple[int, Decimal]] = [(0, Decimal(0))]
    for value in others:
        sums += [(count + 1, total + value) for count, total in sums if total + value <= amount]
    return any(count > 1 and total == amount for count, total in sums)


_MOST_ADDED = 14
_AXES = {
    "segment": ("StatementBusinessSegmentsAxis", "SubsegmentsAxis", ""),
    "region": ("StatementGeographicalAxis", "StatementBusinessSegmentsAxis", ""),
    "country": ("StatementGeographicalAxis", ""),
    "product": ("ProductOrServiceAxis", "SubsegmentsAxis", ""),
}


def _geographic(members: Iterable[str]) -> float:
    """Share of the members whose names speak of large regions."""
    names = list(members)
    return sum(bool(content_stems(name) & _words()["regions"]) for name in names) / len(names)


@lru_cache(maxsize=1)
def _words() -> dict[str, frozenset[str]]:
    lists = yaml.safe_load(resources.files(__package__).joinpath("families.yaml").read_text(encoding="utf-8"))
    return {kind: frozenset(words) for kind, words in lists.items()}
