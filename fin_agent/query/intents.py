"""What a whole reading of a question asks of the figures, as an Intent."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.rules.part_names import parts_named
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.query.binding import UnboundError, bound
from fin_agent.query.lexer import Named, Names
from fin_agent.query.parsing import NoReadingError
from fin_agent.query.reading import read
from fin_agent.query.tree import Line, Query
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

    None where no reading uses all of its words, or asks for figures.
    """
    query = query_of(words.question, workspace)
    if query is None or not query.asks_figures or query.unread:
        return None
    if any(isinstance(line, Line) and not line.metric for line in query.lines()):
        return None
    try:
        intent = bound(query, words, workspace)
    except UnboundError:
        return None
    return intent.model_copy(update={"query": query}) if intent.relation is not Relation.EXPLANATION else None
