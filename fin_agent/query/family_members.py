"""Resolve the parts of a question to the members of a family in a table."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from fin_agent.evidence.expressions import leaves_of, parse_formula
from fin_agent.lexicon.abbreviations import COUNT_WORDS
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.query.lexer import content_stems
from fin_agent.query.tree import Combination, Kind, Move, NamedFormula, Parts, Query, share_of
from fin_agent.retrieval.fact_search import FactQuery
from fin_agent.retrieval.figure_families import (
    COMPONENT,
    Family,
    FamilySearchResult,
    Member,
    find_family,
    is_never_member,
    is_remainder,
)
from fin_agent.workspace import Workspace


class UnboundError(ValueError):
    """The query cannot be planned; the message has the reason.

    `is_final` is True if no other reading is to be tried: the question was understood, and an answer would be a guess.
    """

    def __init__(self, why: str, *, is_final: bool = False, is_ambiguous: bool = True) -> None:
        super().__init__(why)
        self.is_final = is_final
        self.is_ambiguous = is_final and is_ambiguous


@dataclass(frozen=True, slots=True)
class FamilyMembers:
    """The requested parts, and the tables with each measure's figures of them."""

    names: tuple[str, ...] = ()
    """As the table prints them, largest first in the last period."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Metric, or words of a printed line -> the table that provides its figures (`Slot.table`)."""
    totals: frozenset[str] = frozenset()
    """Metrics and words whose table also prints the total."""
    searched: frozenset[str] = frozenset()
    """Metrics that are also searched for by the question's words, since no statement has them."""
    in_formulas: bool = False
    """Whether metrics inside formulas are searched for by name as well, for quarters that only annual reports print."""

    def formula_expression(self, formula: str, lexicon: Lexicon) -> str:
        """Return the expression of a formula with its metrics pinned to tables, or searched for by name."""

        def pin_metric(name: re.Match[str]) -> str:
            inner = name.group()
            if inner in lexicon.formulas:
                return f"({self.formula_expression(inner, lexicon)})"
            if inner in self.searched and self.in_formulas:
                return f'at({inner}, words="{inner.replace("_", " ")}")'
            return f'at({inner}, table="{self.tables[inner]}")' if inner in self.tables else inner

        return re.sub(r"\b[a-z][a-z0-9_]*\b(?!\s*\()", pin_metric, lexicon.formulas[formula].expression)


NO_MEMBERS = FamilyMembers()


def resolve_members(query: Query, company: str, periods: Sequence[FiscalPeriod], workspace: Workspace) -> FamilyMembers:
    """Return the members that `query.parts` refers to, from one table for each measure.

    No members if no table has all of the names in the question. `company` is the company's key.

    Raises:
        UnboundError: No table fits, or more than one, which is ambiguous.
    """
    parts = query.parts
    measured = _measured_lines(query, workspace.lexicon)
    if parts is None or not measured or not _required_periods(query, company, periods, workspace):
        return NO_MEMBERS
    shared = query.only_measure is not None and share_of(query.only_measure) is not None
    if parts.kind and len(measured) > 1 and not shared and not all(metric for _, metric in measured):
        raise _no_family("the one measure by which the parts are compared")
    try:
        families = _families(query, parts, company, periods, workspace)
    except UnboundError as error:
        if parts.names and not parts.kind and not error.is_ambiguous:
            return NO_MEMBERS
        raise
    return _members_of(query, parts, measured, families)


def members_of_one_page(
    query: Query, company: str, periods: Sequence[FiscalPeriod], workspace: Workspace
) -> FamilyMembers:
    """Return the named parts of which one page divides all measures by segment: both lines of a margin are of it.

    A note may define the revenue of segments otherwise than a table of revenue. No members where there is no such page.
    """
    parts = query.parts
    measured = _measured_lines(query, workspace.lexicon)
    of_lines = parts is None or parts.kind or len(measured) < 2 or not all(metric for _, metric in measured)
    if parts is None or of_lines or not _required_periods(query, company, periods, workspace):
        return NO_MEMBERS
    with suppress(UnboundError):
        of_kind = parts.model_copy(update={"kind": "segment"})
        families = _families(query, of_kind, company, periods, workspace)
        if len({one.page for one in families}) == 1:
            return _members_of(query, parts, measured, families)
    return NO_MEMBERS


def _families(
    query: Query, parts: Parts, company: str, periods: Sequence[FiscalPeriod], workspace: Workspace
) -> list[Family]:
    """Return the family of each measure, those after the first with the same members. Raises UnboundError."""
    asked = _required_periods(query, company, periods, workspace)
    made: list[Family] = []
    names: tuple[str, ...] = ()
    for words, metric in _measured_lines(query, workspace.lexicon):
        found = _family(words, metric, parts, asked, company, workspace, names, made[0].table if made else "")
        if found.best is None:
            raise _no_family(f"a table that divides {words} by {_kind(parts)}")
        if not found.is_sure:
            raise UnboundError(_ambiguity_message(words, parts, found), is_final=True)
        if not parts.without and not found.best.has_members(parts.count):
            raise _no_family(f"a table that divides {words} by {COUNT_WORDS[parts.count]} of {_kind(parts)}")
        names = names or _selected_names(query, parts, found.best)
        made.append(found.best)
    return made


def _members_of(
    query: Query, parts: Parts, measured: Sequence[tuple[str, str]], families: Sequence[Family]
) -> FamilyMembers:
    """Return the requested members with the tables of their measures. Raises UnboundError if none is left."""
    names = _selected_names(query, parts, families[0])
    if not names:
        raise UnboundError(f"no {_kind(parts)} is left", is_final=True)
    if query.combined is Combination.TOTAL and parts.kind and not _are_all(families[0], names, parts):
        raise _no_family(f"all that a sum over every {parts.kind} needs")
    of_measures = {metric or words: one for (words, metric), one in zip(measured, families, strict=True)}
    tables = {key: one.table for key, one in of_measures.items()}
    return FamilyMembers(names, tables, frozenset(key for key, one in of_measures.items() if one.printed_total))


def _are_all(family: Family, names: Sequence[str], parts: Parts) -> bool:
    """Return whether no member lacks in a sum: as many as the question says, or those that make up the whole."""
    return len(names) == parts.count if parts.count else family.sums_to_whole() and len(names) == len(family.members)


def _no_family(why: str) -> UnboundError:
    return UnboundError(why, is_final=True, is_ambiguous=False)


def _measured_lines(query: Query, lexicon: Lexicon) -> list[tuple[str, str]]:
    """Return (words, metric or empty) of every line whose figures by part are needed."""
    found: dict[tuple[str, str], None] = {}
    for line in query.lines():
        if isinstance(line, NamedFormula):
            for metric in _inputs(line.formula, lexicon):
                found[metric.replace("_", " "), metric] = None
        elif not (line.whole and len(list(query.lines())) > 1):
            found[line.words, line.metric or ""] = None
    return list(found)


def _inputs(formula: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the metrics of a formula, including those of formulas in it."""
    for leaf in leaves_of(parse_formula(lexicon.formulas[formula].expression)):
        if leaf.name in lexicon.formulas:
            yield from _inputs(leaf.name, lexicon)
        else:
            yield leaf.name


def _required_periods(
    query: Query, company: str, periods: Sequence[FiscalPeriod], workspace: Workspace
) -> tuple[FiscalPeriod, ...]:
    """Return the periods for which every member needs a figure, the last one last."""
    latest = workspace.years[company].latest()
    asked = tuple(periods) or ((latest,) if latest else ())
    moved = any(isinstance(one, Move) for one in query.measures) or query.kind is Kind.CHANGE
    if (moved or (query.claim is not None and query.claim.way in ("rose", "fell"))) and len(asked) == 1:
        before = asked[0].model_copy(update={"fiscal_year": asked[0].fiscal_year - 1})
        asked = (before, *asked)
    return asked


def _family(
    words: str,
    metric: str,
    parts: Parts,
    asked: Sequence[FiscalPeriod],
    company: str,
    workspace: Workspace,
    names: Sequence[str],
    beside: str,
) -> FamilySearchResult:
    last = asked[-1]
    left_out = () if names else tuple(name for name in parts.without if not is_never_member(name))
    holding = tuple(dict.fromkeys((*names, *parts.names, *left_out)))
    of_metric = workspace.lexicon.metrics.get(metric)
    kinds = [parts.kind]
    if parts.kind == "category":  # `which inventory category`: the lines of a balance or a cost, else products
        has_lines = of_metric is not None and (of_metric.period == "instant" or of_metric.sign == "expense")
        kinds = [COMPONENT, "product"] if has_lines else ["product"]
    elif parts.kind == "unit":  # `which unit was most profitable`: a company may have no other than its segments
        kinds = [parts.kind, "segment"]
    if parts.called:
        kinds = [parts.called, *kinds]
    found, count = FamilySearchResult(), parts.count * (not parts.without)
    for kind, sought in itertools.product(kinds, (metric, "") if metric else ("",)):
        asked_for = FactQuery(words, last.fiscal_year, last.quarter, last.months, metric=sought or None)
        found = find_family(
            workspace, asked_for, company, kind=kind, holding=holding, periods=asked, beside=beside, count=count
        )
        if found.best is not None:
            return found
    if left_out:  # what no table of the parts has, is left out anyway
        held = parts.model_copy(update={"without": ()})
        found = _family(words, metric, held, asked, company, workspace, names, beside)
    return found


def _selected_names(query: Query, parts: Parts, family: Family) -> tuple[str, ...]:
    """Return the names of the requested members, largest of the last period first."""
    if parts.names and not parts.kind:
        return tuple(_names_in(family, parts.names))
    members = _without_named(family, parts.without)
    if any(isinstance(one, Move) and one.how != "change" for one in query.measures):
        members = [one for one in members if one.value() > 0]  # growth from zero or from a loss is undefined
    named_so = [one for one in members if not is_remainder(one.name)]
    of_named = parts.kind == "country" or _selects(query)
    if len(named_so) == parts.count or (of_named and len(family.members) != parts.count):
        members = named_so
    if query.combined is Combination.LOWEST:
        members = [one for one in members if one.value(-1)]  # a dash means that it has none
    return tuple(one.name for one in members)


def _without_named(family: Family, names: Sequence[str]) -> list[Member]:
    """Return the members but those of these names, largest of the last period first."""
    named, stems = set(_names_in(family, names)), list(map(content_stems, names))
    return [one for one in family.ranked() if one.name not in named and content_stems(one.name) not in stems]


def _selects(query: Query) -> bool:
    """Return whether a query is for some members of a family, which `Other` is none of."""
    first = query.comparison is not None and query.comparison.top is not None
    return first or query.combined in (Combination.HIGHEST, Combination.LOWEST) or query.claim is not None


def _names_in(family: Family, names: Iterable[str]) -> Iterator[str]:
    """Yield the members of these names, as the family's table prints them."""
    return (member.name for name in names if (member := family.member_named(name)) is not None)


def _kind(parts: Parts) -> str:
    return parts.kind or " and ".join(parts.names)


def _ambiguity_message(words: str, parts: Parts, found: FamilySearchResult) -> str:
    both = [one for one in (found.best, found.rival) if one is not None]
    members = [", ".join(member.name for member in one.members[:4]) for one in both]
    told = [f"{some} ({one.page[0]} page {one.page[1] + 1})" for some, one in zip(members, both, strict=True)]
    return f"several tables divide {words} by {_kind(parts)}: {'; '.join(told)}"
