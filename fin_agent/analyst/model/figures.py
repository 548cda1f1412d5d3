"""Figures as a model is offered them: numbered, of the companies asked about, on the pages that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from fin_agent.analyst.journal import flagged
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.filling import scale_name
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Figure, Ledger, figure_of
from fin_agent.index.protocol import PageKey, SourcedFact
from fin_agent.prompts import signs_of_injection
from fin_agent.retrieval.terms import stems_of
from fin_agent.workspace import Workspace

MOST_FIGURES = 160
YEARS_BEFORE = 3
"""Fiscal years before the first one asked about whose figures are offered: for averages and growth."""


def offered_figures(
    intent: Intent, ledger: Ledger, evidence: Sequence[Evidence], workspace: Workspace
) -> tuple[SourcedFact, ...]:
    """Facts on the pages of the evidence and on those of the ledger's figures, each once, in reading order.

    Of other companies than those asked about, and of years long before or after those asked about, there are none.
    Where there are more than MOST_FIGURES, those whose labels share most words with the question.
    """
    places = [(each.passage.doc_id, each.passage.page) for each in evidence]
    places += [(figure.doc_id, figure.page) for figure in ledger.figures.values()]
    keys = list(dict.fromkeys(PageKey(doc_id, page) for doc_id, page in places))
    asked = {company.key for company in intent.companies}
    owners = workspace.directory.owners
    if not asked and (intent.unknown_companies or len({owners.get(key.doc_id) for key in keys}) > 1):
        return ()  # of which company a figure is to be is not known
    keys = [key for key in keys if not asked or owners.get(key.doc_id) in asked]
    stored = workspace.index.facts({key.doc_id for key in keys}, pages=keys)
    order = {key: place for place, key in enumerate(keys)}
    years = years_allowed(intent, workspace)
    fitting = [each for each in stored if years is None or each.fact.period.fiscal_year in years]
    fitting = _without_planted(fitting)
    distinct = {_identity(each): each for each in reversed(fitting)}
    listed = sorted(distinct.values(), key=lambda each: (order[each.key], each.fact.line, each.fact.column))
    if len(listed) > MOST_FIGURES:
        words = set(stems_of(f"{intent.core} {intent.measure}"))
        filled = {(figure.doc_id, figure.page, figure.line) for figure in ledger.figures.values()}
        ranked = sorted(
            range(len(listed)),
            key=lambda at: (
                (listed[at].doc_id, listed[at].fact.page, listed[at].fact.line) not in filled,
                -len(words & set(stems_of(f"{listed[at].fact.label} {' '.join(listed[at].fact.section)}"))),
                at,
            ),
        )
        listed = [listed[at] for at in sorted(ranked[:MOST_FIGURES])]
    return tuple(listed)


def _without_planted(facts: Sequence[SourcedFact]) -> list[SourcedFact]:
    """Facts but those whose words speak to the model: their number is none of the company's."""
    kept = []
    for each in facts:
        signs = signs_of_injection(" | ".join((*each.fact.section, each.fact.label, each.fact.column)))
        if signs:
            flagged(f"figures: {each.doc_id} page {each.fact.page + 1}: {'; '.join(map(str, signs))}")
        else:
            kept.append(each)
    return kept


def years_allowed(intent: Intent, workspace: Workspace) -> range | None:
    """Fiscal years whose figures may serve; None where the question names none."""
    if not intent.periods:
        return None
    years = {period.fiscal_year for period in intent.periods}
    for company in intent.companies:
        filed = workspace.years[company.key]
        years |= {filed.meant(period)[0].fiscal_year for period in intent.periods}
    return range(min(years) - YEARS_BEFORE, max(years) + 1)


def figure_lines(figures: Sequence[SourcedFact]) -> str:
    """A line each: number, label, column, amount as printed, unit and scale, period, filing, page and line."""
    return "\n".join(f"{number}. {_line(each)}" for number, each in enumerate(figures, start=1))


def figures_of(numbers: Sequence[int], offered: Sequence[SourcedFact], workspace: Workspace) -> dict[str, Figure]:
    """The figures of these numbers, under the names `figure_1`, `figure_2`."""
    return {f"figure_{number}": figure_of(offered[number - 1], workspace.lexicon) for number in numbers}


def unit_words(unit: str, scale: int) -> str:
    """`USD millions`, `percent`."""
    return f"{unit} {scale_name(scale)}" if scale != 1 else unit


def _line(sourced: SourcedFact) -> str:
    fact = sourced.fact
    period = fact.period
    quarter = f"Q{period.quarter} " if period.quarter else ""
    span = "at the end of " if period.months == 0 else "" if period.months in (3, 12) else f"{period.months} months of "
    label = " > ".join([*fact.section[-2:], fact.label])
    parts = (
        " ".join(label.split()),
        *([f"of {fact.scope}"] if fact.scope else []),
        *([" ".join(fact.column.split())] if fact.column else []),
        f"{fact.amount:,} {unit_words(fact.unit, fact.scale)}",
        f"{span}{quarter}FY{period.fiscal_year}",
        f"{sourced.doc_id} page {fact.page + 1} line {fact.line + 1}",
    )
    return " | ".join(parts)


def _identity(sourced: SourcedFact) -> tuple[str, int, int, str, Decimal, int]:
    fact = sourced.fact
    return sourced.doc_id, fact.page, fact.line, fact.column, fact.amount, fact.period.fiscal_year
