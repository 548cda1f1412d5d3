"""What a whole reading of a question asks of the figures, as an Intent."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.rules.dates import with_dated_periods
from fin_agent.analyst.rules.own_years import with_own_years
from fin_agent.analyst.rules.part_names import parts_named
from fin_agent.analyst.rules.partners import partners_in
from fin_agent.analyst.rules.reports import told_apart
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.evidence.plan import plan_of
from fin_agent.query.binding import UnboundError, bound, unit_of_printed
from fin_agent.query.lexer import Named, Names
from fin_agent.query.parsing import NoReadingError
from fin_agent.query.reading import read
from fin_agent.query.tree import Kind, Line, Move, Query
from fin_agent.workspace import Workspace


def names_of(workspace: Workspace) -> Names:
    """What a workspace knows by name."""

    def parts_in(text: str, keys: Sequence[str]) -> Sequence[Named]:
        wanted = set(keys)
        filings = [doc_id for doc_id, owner in workspace.directory.owners.items() if owner in wanted]
        found = parts_named(text, workspace.index.parts(filings), workspace)
        return [Named(one.name, one.start, one.end) for one in found]

    return Names(workspace.lexicon, workspace.directory, parts_in)


def query_of(question: str, workspace: Workspace) -> Query | None:
    """The question as a Query; None where the grammar has no reading of it."""
    try:
        return read(question, names_of(workspace))
    except NoReadingError:
        return None


def figures_asked(words: Intent, workspace: Workspace) -> Intent | None:
    """`words`, the question's words as an intent, with the figures that a whole reading of it asks for.

    None where no reading uses all of its words, or asks for figures. Where `words` ask for figures although content
    words of the question name no line that is known, they are told as what is not understood: no figure is given as if
    they were not there.
    """
    query = _without_report(words, workspace)
    if query is not None and query.kind is Kind.REASON:
        why = words.model_copy(update={"query": query, "relation": Relation.EXPLANATION})
        return with_own_years(with_dated_periods(why, workspace), workspace)
    if query is None or not query.asks_figures:
        return None
    printed = tuple(line.words for line in query.lines() if isinstance(line, Line) and not line.metric)
    readings = () if query.unread else (_as_printed(query, workspace, total=True), query)
    intent = next((made for one in readings if one and (made := _bound(one, words, workspace)) is not None), None)
    if intent is None and not query.unread and query.parts is not None and query.parts.kind is not None:
        printed_only = _as_printed(query, workspace, total=False)
        intent = _bound(printed_only, words, workspace) if printed_only is not None else None
    if intent is None and words.numeric and any(" " in one for one in printed):
        if partners_in(words.core, workspace):
            return None  # the words that name no line name a company
        return words.model_copy(update={"query": query, "unsupported": (*words.unsupported, _not_understood(printed))})
    return intent


def _without_report(words: Intent, workspace: Workspace) -> Query | None:
    """The question as a Query; words that say which report is meant name neither a line nor a period."""
    told = told_apart(words.question) if words.report is not None else None
    if told is None:
        return query_of(words.question, workspace)
    query = query_of(told.rest, workspace)
    return query and query.model_copy(update={"question": words.question, "report": told.report.words})


def _as_printed(query: Query, workspace: Workspace, *, total: bool) -> Query | None:
    """The query with its only measure as a printed line, by its words; None where it has none of the lexicon's.

    With `total` only where `total` goes before a figure that stands in no statement: the metric may be a part of it.
    """
    measure = query.measures[0]
    line = measure.of if isinstance(measure, Move) else measure
    if len(query.measures) != 1 or not isinstance(line, Line) or not line.metric:
        return None
    at_home = workspace.lexicon.metrics[line.metric].statement is not None
    if total and (at_home or not line.words.lower().startswith("total ")):
        return None
    printed = line.model_copy(update={"metric": None})
    again = measure.model_copy(update={"of": printed}) if isinstance(measure, Move) else printed
    return query.model_copy(update={"measures": (again,)})


def _bound(query: Query, words: Intent, workspace: Workspace) -> Intent | None:
    """The query as an intent; None where no plan can be made of it, or fact search finds nothing for a line of it."""
    try:
        intent = bound(query, words, workspace)
    except UnboundError:
        return None
    intent = with_dated_periods(intent.model_copy(update={"query": query}), workspace)
    if not intent.companies or intent.relation is Relation.EXPLANATION:
        return intent if not any(isinstance(line, Line) and not line.metric for line in query.lines()) else None
    known = all(company.key in workspace.years for company in intent.companies)
    plan = plan_of(intent, workspace.lexicon, workspace.years) if known else None
    unit = unit_of_printed(intent, plan, workspace) if plan is not None else intent.measure_unit
    return intent.model_copy(update={"measure_unit": unit}) if unit is not None else None


def _not_understood(words: Sequence[str]) -> str:
    named = " and ".join(repr(one) for one in words)
    return (
        f"a line called {named}: ask for lines by the names that the filing prints, as in"
        " `(net income + interest expense) / total assets of Acme in 2024`"
    )
