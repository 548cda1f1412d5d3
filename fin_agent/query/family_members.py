"""Parts of a question bound to a family: which members of which table are asked about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fin_agent.evidence.expressions import leaves_of, parse_formula
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.query.lexer import content_stems
from fin_agent.query.tree import Combination, Kind, Move, NamedFormula, Parts, Query
from fin_agent.retrieval.fact_search import FactQuery
from fin_agent.retrieval.figure_families import Family, FamilySearchResult, find_families, is_remainder
from fin_agent.workspace import Workspace


class AmbiguousFamilyError(ValueError):
    """Several tables fit a question to a family, or none does; in words that say which."""


@dataclass(frozen=True, slots=True)
class FamilyMembers:
    """The parts asked about, and where each measure's figures of them stand."""

    names: tuple[str, ...] = ()
    """As the table prints them; largest first in the last period."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Metric, or words of a printed line -> the table that its figures are taken from (`Slot.table`)."""
    totals: frozenset[str] = frozenset()
    """Metrics and words whose table prints the total as well."""
    searched: frozenset[str] = frozenset()
    """Metrics that are looked for by the question's words as well, since no statement has them."""
    in_formulas: bool = False
    """Whether that goes for metrics of formulas, by their names: in quarters that annual reports alone print."""

    def formula_expression(self, formula: str, lexicon: Lexicon) -> str:
        """The expression of a formula, its metrics taken from their tables or found by their names."""

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
    """The members that `query.parts` means, from one table for each measure. Raises AmbiguousFamilyError.

    No members where no table holds all of the names that the question gives.
    """
    parts = query.parts
    measured = _measured_lines(query, workspace.lexicon)
    asked = _required_periods(query, company, periods, workspace)
    if parts is None or not measured or not asked:
        return FamilyMembers()
    first: Family | None = None
    names: tuple[str, ...] = ()
    tables: dict[str, str] = {}
    totals = set()
    for words, metric in measured:
        found = _families(words, metric, parts, asked, company, workspace, names)
        family = found.best
        if family is None:
            if parts.names and not parts.kind:
                return FamilyMembers()
            raise AmbiguousFamilyError(f"a table that divides {words} by {_kind(parts)}")
        if not found.is_sure:
            raise AmbiguousFamilyError(_ambiguity_message(words, parts, found))
        if first is None:
            first = family
            names = _selected_names(query, parts, family)
        tables[metric or words] = family.table
        if family.printed_total:
            totals.add(metric or words)
    if not names:
        raise AmbiguousFamilyError(f"no {_kind(parts)} is left")
    return FamilyMembers(names, tables, frozenset(totals))


def _measured_lines(query: Query, lexicon: Lexicon) -> list[tuple[str, str]]:
    """(words, metric or empty) of every line that figures of the parts are wanted of."""
    found: dict[tuple[str, str], None] = {}
    for line in query.lines():
        if isinstance(line, NamedFormula):
            for metric in _inputs(line.formula, lexicon):
                found[metric.replace("_", " "), metric] = None
        elif not (line.whole and len(list(query.lines())) > 1):
            found[line.words, line.metric or ""] = None
    return list(found)


def _inputs(formula: str, lexicon: Lexicon) -> Iterator[str]:
    """Metrics of a formula, those of the formulas in it as well."""
    for leaf in leaves_of(parse_formula(lexicon.formulas[formula].expression)):
        if leaf.name in lexicon.formulas:
            yield from _inputs(leaf.name, lexicon)
        else:
            yield leaf.name


def _required_periods(
    query: Query, company: str, periods: Sequence[FiscalPeriod], workspace: Workspace
) -> tuple[FiscalPeriod, ...]:
    """The periods that every member needs a figure of, the last one last."""
    latest = workspace.years[company].latest()
    asked = tuple(periods) or ((latest,) if latest else ())
    moved = any(isinstance(one, Move) for one in query.measures) or query.kind is Kind.CHANGE
    if (moved or (query.claim is not None and query.claim.way in ("rose", "fell"))) and len(asked) == 1:
        before = asked[0].model_copy(update={"fiscal_year": asked[0].fiscal_year - 1})
        asked = (before, *asked)
    return asked


def _families(
    words: str,
    metric: str,
    parts: Parts,
    asked: Sequence[FiscalPeriod],
    company: str,
    workspace: Workspace,
    names: Sequence[str],
) -> FamilySearchResult:
    last = asked[-1]
    sought = FactQuery(words, last.fiscal_year, last.quarter, last.months, metric=metric or None)
    years = [period.fiscal_year for period in asked]
    holding = tuple(dict.fromkeys((*names, *parts.names, *(() if names else parts.without))))
    found = find_families(workspace, sought, company, kind=parts.kind, holding=holding, years=years)
    if not found.families and metric:
        printed = FactQuery(words, last.fiscal_year, last.quarter, last.months)
        found = find_families(workspace, printed, company, kind=parts.kind, holding=holding, years=years)
    return found


def _selected_names(query: Query, parts: Parts, family: Family) -> tuple[str, ...]:
    """Names of the members that are asked about, the largest of the last period first."""
    if parts.names and not parts.kind:
        return tuple(member.name for name in parts.names if (member := family.member_named(name)) is not None)
    left_out = {member.name for name in parts.without if (member := family.member_named(name)) is not None}
    left_out |= {
        member.name for member in family.members if content_stems(member.name) in map(content_stems, parts.without)
    }
    if any(isinstance(one, Move) and one.how != "change" for one in query.measures):
        # Growth from nothing, or from a loss, is none.
        left_out |= {member.name for member in family.members if member.value() <= 0}
    how = query.comparison.how if query.comparison is not None else None
    if how in (Combination.HIGHEST, Combination.LOWEST, Combination.FILTER):
        left_out |= {member.name for member in family.members if is_remainder(member.name)}
    if how is Combination.LOWEST:
        left_out |= {member.name for member in family.members if not member.value(-1)}  # a dash says that it has none
    return tuple(member.name for member in family.ranked(-1) if member.name not in left_out)


def _kind(parts: Parts) -> str:
    return parts.kind or " and ".join(parts.names)


def _ambiguity_message(words: str, parts: Parts, found: FamilySearchResult) -> str:
    both = [one for one in (found.best, found.rival) if one is not None]
    told = "; ".join(f"{', '.join(member.name for member in one.members[:_TOLD])} ({_place(one)})" for one in both)
    return f"several tables divide {words} by {_kind(parts)}: {told}"


def _place(family: Family) -> str:
    fact = family.members[0].facts[-1]
    return f"{fact.doc_id} page {fact.fact.page + 1}"


_TOLD = 4
