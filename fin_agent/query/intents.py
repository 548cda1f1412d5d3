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

    None where no reading uses all of its words, or asks for figures. Where `words` ask for figures although content
    words of the question name no line that is known, they are told as what is not understood: no figure is given as if
    they were not there.
    """
    query = query_of(words.question, workspace)
    if query is None or not query.asks_figures:
        return None
    unknown = tuple(line.words for line in query.lines() if isinstance(line, Line) and not line.metric)
    if unknown and words.numeric:
        return words.model_copy(update={"query": query, "unsupported": (*words.unsupported, _not_understood(unknown))})
    if query.unread or unknown:
        return None
    try:
        intent = bound(query, words, workspace)
    except UnboundError:
        return None
    return intent.model_copy(update={"query": query}) if intent.relation is not Relation.EXPLANATION else None


def _not_understood(words: Sequence[str]) -> str:
    named = " and ".join(repr(one) for one in words)
    return (
        f"a line called {named}: ask for lines by the names that the filing prints, as in"
        " `(net income + interest expense) / total assets of Acme in 2024`"
    )
