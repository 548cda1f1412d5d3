"""The compiled graphs that langgraph.json names, with pauses, a warning on the sample filings, and error messages.

Two of them are chains of nodes: `search`, the first steps of an answer, and `rerank`, a tournament of candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import pairwise
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import CardTournament, judge_for, strategy_for
from fin_agent.answering.program import Program
from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.evidence.evidence import FoundPassage, RetrievedPassage, TraceStep
from fin_agent.evidence.tournament.tournament import TournamentSettings
from fin_agent.graphs.answer import search_nodes
from fin_agent.graphs.answer.context import AnswerContext, overridden
from fin_agent.graphs.answer.graph import Around, Node, add_node, answer_builder
from fin_agent.graphs.answer.search_nodes import Update, end_step, with_search_words
from fin_agent.graphs.answer.state import EDITED, AnswerState, QuestionInput, ShownOutput, typed_state
from fin_agent.graphs.channels import Kept, StateError
from fin_agent.graphs.chat.graph import chat_builder
from fin_agent.graphs.exported.controls import (
    ON_SAMPLES,
    ChatControls,
    Controls,
    RerankControls,
    SearchControls,
    on_samples,
    open_chat_context,
    open_context,
)
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.retrieval.search_query import Depth, RankedFiling, RankedPage, RankedPassage
from fin_agent.vocabulary.ranked_group import RankedGroup

EDITED_PROGRAM = "the program was changed by hand before it ran"


class RunFailedError(FinAgentError, RuntimeError):
    """A run failed; the message has the reason and the remedy.

    Servers show the message of a RuntimeError to the user.
    """


def _for_studio(controls: type[SearchControls], warned: str = "warnings") -> Around[Any]:
    """Return a wrapper of nodes that warns, in `warned` of the state, where the sample filings are searched.

    It raises RunFailedError in place of any FinAgentError. Without a context, the defaults of `controls` apply.
    """

    def around(node: Node[Any]) -> Node[Any]:
        @wraps(node)
        def run(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
            given = runtime.context or controls()
            try:
                update = node(state, runtime.override(context=given))
            except FinAgentError as error:
                raise RunFailedError(error.what, subject=error.subject, remedy=error.remedy) from error
            if on_samples(given.index) and ON_SAMPLES not in (state.get(warned) or []):
                update[warned] = [ON_SAMPLES, *update.get(warned, [])]
            return update

        return run

    return around


def _with_round_interrupt(node: Node[Controls]) -> Node[Controls]:
    """Wrap the node that begins a round: it pauses if requested, shows the query, and takes other words for it."""
    if node.__name__ != "search_documents":
        return node

    @wraps(node)
    def stopping(state: AnswerState, runtime: Runtime[Controls]) -> dict[str, Any]:
        if "round" not in runtime.context.stop_before:
            return node(state, runtime)
        made, _ = typed_state(state)
        given = interrupt(_about_to_search(made))
        if not isinstance(given, Mapping):
            return node(state, runtime)
        if not isinstance(words := given.get("query"), str):
            raise StateError("there are no words to search for", remedy='Go on with true, or {"query": "other words"}')
        query = with_search_words(made["query"], words, open_context(runtime.context).workspace)
        update = node({**state, "query": query}, runtime)
        return {**update, "query": query, "warnings": [*update.get("warnings", []), f"{EDITED}query"]}

    return stopping


def _about_to_search(state: AnswerState) -> dict[str, Any]:
    query, ledger = state["query"], []
    for entry in state["ledger"].entries if "ledger" in state else ():
        figure = entry.figure
        found = f"{figure.amount:,} ({figure.doc_id} page {figure.page + 1})" if figure else "empty"
        ledger.append(f"{entry.slot}: {found}")
    return {
        "about_to": f"search, round {state['round']}",
        "query": query.text,
        "terms": [*query.terms, *query.expansions],
        "ledger": ledger,
        "missing": state.get("missing", []),
        "resume_with": 'true to go on; {"query": "other words"} to search for these',
    }


def _answering(controls: Controls) -> AnswerContext:
    context = open_context(controls)
    if "program" in controls.stop_before:
        return replace(context, analyst=with_program_review(context.analyst))
    return context


def _ranking(controls: RerankControls) -> RerankContext:
    return RerankContext(
        **vars(open_context(controls)),
        candidates=controls.candidates,
        kept=controls.kept,
        tournament=TournamentSettings(rounds=controls.tournament_rounds, seed=controls.seed),
    )


def with_program_review(analyst: RulesAnalyst) -> RulesAnalyst:
    """Return the analyst with a pause before each of its programs is checked and run."""

    def reviewed(*given: Any) -> Program:
        program = analyst.program(*given)
        figures = program.variables.items()
        answer = interrupt(
            {
                "about_to": "run this program",
                "program": program.code,
                "figures": [
                    f"{name} = {figure.amount:,}: {figure.label} ({figure.doc_id} page {figure.page + 1})"
                    for name, figure in figures
                ],
                "resume_with": 'true to run it; false to refuse it; {"program": "..."} to run another in its place,'
                " which is checked like any",
            }
        )
        if answer is False:
            raise ValueError("the program was not approved to run")
        changed = answer.get("program") if isinstance(answer, Mapping) else None
        if not isinstance(changed, str) or changed == program.code:
            return program
        record_warning(EDITED_PROGRAM)
        return replace(program, code=changed)

    return overridden(analyst, program=reviewed)


class SearchOutput(TypedDict):
    """Output of a search, each list best first."""

    documents: list[RankedFiling]
    """Filings searched."""
    pages: list[RankedPage]
    passages: list[RetrievedPassage]
    missing: list[str]
    """Requirements that no filing of the index meets: companies and periods that are not indexed."""
    warnings: list[str]
    trace: list[TraceStep]


class RerankInput(QuestionInput, total=False):
    """A question and the passages to rank; without passages, those that a search finds."""

    candidates: Annotated[list[FoundPassage], Kept]


class RankedCandidate(BaseModel):
    """A passage with its new rank."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    before: int
    """Its rank among the candidates, from 1."""
    score: float
    """Score of the tournament, 0 to 1; 0 for passages that were no finalists."""
    text: str


class RerankState(AnswerState, total=False):
    """State passed between the nodes."""

    candidates: Annotated[list[FoundPassage], Kept]
    ranked: Annotated[list[RankedCandidate], Kept]
    groups: Annotated[list[RankedGroup], Kept]


class RerankOutput(TypedDict):
    """Output of a reranking."""

    ranked: list[RankedCandidate]
    """Best first."""
    groups: list[RankedGroup]
    """The groups of the tournament, in order."""
    warnings: list[str]
    trace: list[TraceStep]


@dataclass(frozen=True)
class RerankContext(AnswerContext):
    """Dependencies and limits of the nodes."""

    candidates: int = 60
    """Number of passages to find, if none are given."""
    kept: int = 10
    """Number of passages returned."""
    tournament: TournamentSettings = field(default_factory=TournamentSettings)


def find_candidates(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Find passages to rank, unless they are given."""
    context = runtime.context
    given = state.get("candidates")
    if given:
        return end_step(state, "find_candidates", f"{len(given)} passages were given", {})
    strategy = context.strategy or strategy_for(context.settings, context.workspace)
    most = context.candidates
    depth = Depth(context.settings.documents, max(most, context.settings.pages), most)
    found = strategy.search(state["query"], state["asked"].scope, depth)
    places = [
        FoundPassage(each.stored.doc_id, each.stored.passage.page, each.stored.passage.ordinal)
        for each in found.passages
    ]
    summary = f"{len(places)} passages by {strategy.name}"
    return end_step(state, "find_candidates", summary, {"candidates": places})


def hold_tournament(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Rank the passages by their cards in a tournament: groups select finalists, rounds settle the order."""
    context = runtime.context
    places = list(dict.fromkeys(state["candidates"]))
    stored = _stored(places, context.workspace.index)
    judge = judge_for(context.settings)
    arena = CardTournament(context.analyst, context.workspace, context.tournament, judge=judge)
    ordered, groups = arena.order(state["query"], [RankedPassage(passage, 0.0) for passage in stored])
    before = {(place.doc_id, place.ordinal): rank for rank, place in enumerate(places, start=1)}
    ranked = [
        RankedCandidate(
            doc_id=each.stored.doc_id,
            page=each.stored.passage.page,
            ordinal=each.stored.passage.ordinal,
            before=before[each.stored.doc_id, each.stored.passage.ordinal],
            score=round(each.score, 6),
            text=each.stored.passage.text,
        )
        for each in ordered[: context.kept]
    ]
    summary = f"the first {len(ranked)} of {len(stored)} passages, {len(groups)} lists ranked"
    # Reset, so that the thread's next question finds its own candidates.
    update: Update = {"ranked": ranked, "groups": list(groups), "candidates": None}
    return end_step(state, "hold_tournament", summary, update)


def _stored(places: Sequence[FoundPassage], index: FilingIndex) -> list[StoredPassage]:
    pages = list(dict.fromkeys(PageKey(place.doc_id, place.page) for place in places))
    stored = {(each.doc_id, each.passage.page, each.passage.ordinal): each for each in index.passages(pages)}
    for place in places:
        if place not in stored:
            raise QuestionError(
                f"passage {place.ordinal} on page {place.page + 1} is not in the index",
                subject=place.doc_id,
                remedy="Give passages as a search returns them, or none",
            )
    return [stored[place] for place in places]


def _chain(
    name: str,
    nodes: Sequence[Callable[[Any, Runtime[Any]], Update]],
    schemas: tuple[type[Any], type[Any], type[Any]],
    controls: type[SearchControls],
    context_of: Callable[[Any], AnswerContext],
) -> Any:
    """Compile a graph of nodes that follow each other; `schemas` are the types of state, input and output."""
    state, given, output = schemas
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        state, context_schema=controls, input_schema=given, output_schema=output
    )
    for node in nodes:
        add_node(builder, node, context_of, _for_studio(controls), state)
    for before, after in pairwise((START, *(node.__name__ for node in nodes), END)):
        builder.add_edge(before, after)
    return builder.compile(name=name)


_SEARCH = (
    search_nodes.rewrite_query,
    search_nodes.search_documents,
    search_nodes.search_pages,
    search_nodes.search_passages,
)
_RERANK = (search_nodes.rewrite_query, find_candidates, hold_tournament)

answer = answer_builder(
    Controls, _answering, lambda node: _for_studio(Controls)(_with_round_interrupt(node)), ShownOutput
).compile(name="answer")
search = _chain("search", _SEARCH, (AnswerState, QuestionInput, SearchOutput), SearchControls, open_context)
rerank = _chain("rerank", _RERANK, (RerankState, RerankInput, RerankOutput), RerankControls, _ranking)
chat = chat_builder(ChatControls, open_chat_context, _for_studio(ChatControls, "notes")).compile(name="chat")
