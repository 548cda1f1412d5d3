"""The compiled graphs that langgraph.json names, with pauses, a warning on the sample filings, and error messages.

Two of them are chains of nodes: `search`, the first steps of an answer, and `rerank`, a tournament of candidates. The
controls of a run in Studio and over the server's API become a context, opened once and shared by later runs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import CardTournament, judge_for, strategy_for
from fin_agent.answering.program import Program
from fin_agent.config import INDEX_VARIABLE, Settings, index_folder, settings_from
from fin_agent.config_sources import SettingValue
from fin_agent.distribution import installed_version
from fin_agent.errors import FilingIndexError, FinAgentError, QuestionError
from fin_agent.evidence.evidence import FoundPassage, RetrievedPassage, TraceStep
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.evidence.tournament.tournament import TournamentSettings
from fin_agent.graphs.answer import search_nodes
from fin_agent.graphs.answer.context import AnswerContext, overridden
from fin_agent.graphs.answer.graph import Around, Node, add_node, answer_builder
from fin_agent.graphs.answer.search_nodes import Update, end_step, with_search_words
from fin_agent.graphs.answer.state import EDITED, AnswerState, QuestionInput, ShownOutput, typed_state
from fin_agent.graphs.channels import Kept, StateError
from fin_agent.graphs.chat.graph import chat_builder
from fin_agent.graphs.chat.state import ChatContext, ChatLimits
from fin_agent.index.ingest import ingest
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.sqlite_file import FORMAT_VERSION
from fin_agent.models.settings import ModelSettings, Preset
from fin_agent.retrieval.search_query import Depth, RankedFiling, RankedPage, RankedPassage
from fin_agent.vocabulary.ranked_group import RankedGroup
from fin_agent.workspace import Workspace

ON_SAMPLES = (
    "no index is named and you have none of your own: the sample filings of made-up companies were searched. Bring in"
    " yours with `fin-agent ingest PATH...`"
)
SAMPLES = Path(__file__).resolve().parents[2] / "examples" / "filings"
"""Exists in a checkout of the project, not in a wheel."""
_MAX_KEPT = 8
_one_at_a_time = threading.Lock()


def _setting(name: str, of: type[BaseModel] = Settings) -> Any:
    return of.model_fields[name]


class SearchControls(BaseModel):
    """Where and how to search. Values that are not given come from fin-agent.toml and the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    index: str | None = Field(
        default=None,
        description="folder of the index; if none is given that of FIN_AGENT_INDEX, else your own, else sample filings",
    )
    strategy: str = _setting("strategy")
    documents: int = _setting("documents")
    pages: int = _setting("pages")
    passages: int = _setting("passages")
    listed: int = _setting("listed")

    def settings_values(self) -> list[SettingValue]:
        """Return the given values as settings."""
        return [
            SettingValue(_PLACES.get(name, (name,)), value, f"`{name}` of the context")
            for name, value in self
            if name in self.model_fields_set and value is not None and name in (*_PLACES, *Settings.model_fields)
        ]


class _AnsweringControls(SearchControls):
    rounds: int = _setting("rounds")
    evidence: int = _setting("evidence")
    analyst: Literal["auto", "rules", "llm"] = _setting("analyst")
    model: str | None = _setting("model", ModelSettings)
    small_model: str | None = _setting("small", ModelSettings)
    preset: Preset = _setting("preset", ModelSettings)


class Controls(_AnsweringControls):
    """How a question is answered: the search, the models, and where the run pauses."""

    stop_before: tuple[Literal["round", "program"], ...] = Field(
        default=(),
        description="where the run stops and shows what it is about to do: before each `round` of search, before a"
        " `program` is run",
    )


class RerankControls(SearchControls):
    """How passages are ranked: their source, their number, the judge."""

    strategy: str = Field(default="default", description="how passages are found, where none are given: `hybrid`")
    candidates: int = Field(default=60, ge=1, le=200, description="passages found, where none are given")
    kept: int = Field(default=10, ge=1, le=200, description="passages returned")
    judge_model: str | None = _setting("judge_model")
    tournament_rounds: int = Field(default=5, ge=1, le=50, description="rounds of ranking the finalists at most")
    seed: int = Field(default=0, ge=0, description="of all shuffling")


class ChatControls(_AnsweringControls):
    """How a conversation is held: the search, the model, the limits of a turn."""

    model: str | None = Field(
        default=None, description="talks and calls the tools: `openai:gpt-5.4`; rules talk if none is given"
    )
    doc_ids: tuple[str, ...] = Field(default=(), description="the only filings that may be read; all if none is given")
    model_calls: int = Field(default=12, ge=1, le=100, description="calls of the model that talks, per message at most")
    tool_calls: int = Field(default=24, ge=1, le=200, description="calls of tools per message at most")


_PLACES = {"model": ("models", "model"), "small_model": ("models", "small"), "preset": ("models", "preset")}
"""Control -> its place in the settings, where that has another name."""


def open_context(controls: SearchControls) -> AnswerContext:
    """Open the context that the controls describe. Reads files: do not call it on an event loop.

    Raises FilingIndexError and FinAgentError.
    """
    with _one_at_a_time:
        return _context(_folder(controls.index), _settings(controls))


def open_chat_context(controls: ChatControls) -> ChatContext:
    """Open the context of a conversation, with an assistant if the settings name a model.

    Raises FilingIndexError, ModelSetupError and FinAgentError.
    """
    limits = ChatLimits(model_calls=controls.model_calls, tool_calls=controls.tool_calls)
    with _one_at_a_time:
        return _chat_context(_folder(controls.index), _settings(controls), limits, controls.doc_ids)


def _settings(controls: SearchControls) -> str:
    """Return the settings as JSON, which can be a cache key."""
    return settings_from(controls.settings_values()).model_dump_json()


@lru_cache(_MAX_KEPT)
def _workspace(folder: Path) -> Workspace:
    return Workspace.open(folder)


@lru_cache(_MAX_KEPT)
def _context(folder: Path, settings: str) -> AnswerContext:
    return AnswerContext.from_settings(_workspace(folder), Settings.model_validate_json(settings))


@lru_cache(_MAX_KEPT)
def _chat_context(folder: Path, settings: str, limits: ChatLimits, doc_ids: tuple[str, ...]) -> ChatContext:
    return ChatContext.over(_context(folder, settings), doc_ids=doc_ids or None, limits=limits)


def on_samples(named: str | None) -> bool:
    """Return whether the sample filings are searched: no index is named, and the user has none."""
    return not (named or os.environ.get(INDEX_VARIABLE) or (index_folder() / FILE_NAME).exists())


def _folder(named: str | None) -> Path:
    """Return the folder of the index. Raises FilingIndexError if there is none to fall back on."""
    folder = index_folder(Path(named).expanduser() if named and named.strip() else None)
    if not on_samples(named):
        return folder
    if not SAMPLES.is_dir():
        raise FilingIndexError(
            "there is no index yet",
            subject=str(folder),
            remedy="Make one with `fin-agent ingest PATH...`, or name one: FIN_AGENT_INDEX, or `index` of the context",
        )
    samples = platformdirs.user_cache_path("fin-agent") / f"sample-filings-{installed_version()}-{FORMAT_VERSION}"
    _index_samples(samples)
    return samples


@lru_cache
def _index_samples(folder: Path) -> None:
    """Index the samples, which takes seconds; those that are indexed already are left alone."""
    report = ingest([SAMPLES], folder, prepare, workers=0, wait=60)
    if report.failures:
        failed = report.failures[0]
        raise FilingIndexError(
            f"the sample filings cannot be indexed: {failed.reason}",
            subject=str(failed.path),
            remedy="Name an index of your own: FIN_AGENT_INDEX, or `index` of the context",
        )


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
    return RerankContext(**vars(open_context(controls)), controls=controls)


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
    """Dependencies of the nodes, and what was set for the ranking."""

    controls: RerankControls = field(default_factory=RerankControls)


def find_candidates(state: RerankState, runtime: Runtime[RerankContext]) -> Update:
    """Find passages to rank, unless they are given."""
    context = runtime.context
    given = state.get("candidates")
    if given:
        return end_step(state, "find_candidates", f"{len(given)} passages were given", {})
    strategy = context.strategy or strategy_for(context.settings, context.workspace)
    most = context.controls.candidates
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
    tournament = TournamentSettings(rounds=context.controls.tournament_rounds, seed=context.controls.seed)
    arena = CardTournament(context.analyst, context.workspace, tournament, judge=judge_for(context.settings))
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
        for each in ordered[: context.controls.kept]
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
