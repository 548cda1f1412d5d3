"""Programs run in the sandbox, and their numbers held against the pages that they are said to come from."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.answering.provenance import Binding, Provenance, Unbound, check_provenance
from fin_agent.index.protocol import PageKey, SourcedFact
from fin_agent.tools.arguments import FigurePlace
from fin_agent.tools.artifacts import NumberAccounted, ProgramRun
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.narrowing import known_id
from fin_agent.tools.page_ranges import pages_in
from fin_agent.tools.python_execution import execute_program

MOST_SOURCE_PAGES = 100


def program_run(
    context: ToolContext, code: str, sources: Sequence[FigurePlace] | None = None, question: str | None = None
) -> ProgramRun:
    """What the program returns and, where `sources` or `question` are given, where each of its numbers comes from.

    Raises SandboxError where it cannot be run to its end, ToolInputError where a source is not there.
    """
    checked = sources is not None or question is not None
    facts = _facts_on(context, sources or ())
    numbers = (
        _accounted(check_provenance(code, [each.fact for each in facts], question or ""), facts) if checked else ()
    )
    result = execute_program(code, context.answering.executor)
    return ProgramRun(value=result.value, printed=result.printed, checked=checked, numbers=numbers)


def _facts_on(context: ToolContext, sources: Sequence[FigurePlace]) -> list[SourcedFact]:
    index = context.workspace.index
    keys: dict[PageKey, None] = {}
    for source in sources:
        doc_id = known_id(source.doc_id, context.workspace, context.within)
        pages = pages_in(source.pages, index.filing(doc_id).page_count)
        keys.update(dict.fromkeys(PageKey(doc_id, page) for page in pages))
    if len(keys) > MOST_SOURCE_PAGES:
        raise ToolInputError(
            f"{len(keys)} pages are more than a program is held against",
            remedy=f"Name the pages that its figures stand on, at most {MOST_SOURCE_PAGES}.",
        )
    return index.facts({key.doc_id for key in keys}, pages=keys) if keys else []


def _accounted(provenance: Provenance, facts: Sequence[SourcedFact]) -> tuple[NumberAccounted, ...]:
    found = [_bound(binding, facts) for binding in provenance.bindings]
    found += [_unbound(each) for each in provenance.unbound]
    return tuple(sorted(found, key=lambda number: (number.line, number.literal, number.said)))


def _bound(binding: Binding, facts: Sequence[SourcedFact]) -> NumberAccounted:
    sourced = next((each for each in facts if each.fact == binding.fact), None)
    return NumberAccounted(
        literal=binding.literal,
        line=binding.line,
        variable=binding.variable,
        source=binding.source.value,
        said=binding.where,
        doc_id=sourced.doc_id if sourced else None,
        page=sourced.fact.page if sourced else None,
    )


def _unbound(each: Unbound) -> NumberAccounted:
    return NumberAccounted(literal=each.literal, line=each.line, variable=each.variable, source=None, said=each.reason)
