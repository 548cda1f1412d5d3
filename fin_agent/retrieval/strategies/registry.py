"""Build a strategy from its name, with every layer and the models it needs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NoReturn, TypeVar

from fin_agent.config import VARIABLES, Settings
from fin_agent.index.protocol import VectorUnit
from fin_agent.prompts import load_prompt
from fin_agent.retrieval.fingear.lexicon_map import WEIGHTINGS
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.strategies.hirec import SCORED, HiRec, Hypothetical
from fin_agent.retrieval.strategies.iterative import DecomposedSearch, InterleavedSearch, RqRag, SelfRag
from fin_agent.retrieval.strategies.one_pass import (
    ByPassages,
    FusedRanker,
    PageThenChunk,
    Ranker,
    Wording,
    WordRanker,
    expand_question,
)
from fin_agent.retrieval.strategies.protocol import (
    Layer,
    Models,
    PassageScorer,
    Rewriter,
    Strategy,
    StrategyError,
    StrategyInfo,
    Writer,
    normalize_name,
    parse_strategy,
)
from fin_agent.retrieval.strategies.reranking import Reranked, ScoreOrder
from fin_agent.retrieval.strategies.staged import Staged
from fin_agent.retrieval.strategies.vector_search import (
    PageSimilarity,
    VectorRanker,
    dense_vector,
    sparse_vector,
)
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder

Model = TypeVar("Model")

TOURNAMENT_CANDIDATES = 150
"""Number of passages whose cards compete: the limit of FinCards' first stage."""


def build_strategy(
    spec: str, workspace: Workspace, settings: Settings | None = None, models: Models | None = None
) -> Strategy:
    """Build the strategy `spec` over the workspace's index, ready to search.

    `settings` give the depth of each stage and name the models to load; `models` are those not loaded by name. Raises
    StrategyError where `spec` is not a strategy, or a library, a model or vectors are missing; `models.notify` gets a
    warning where only some filings have vectors.

    >>> from fin_agent.retrieval.search_query import Query
    >>> bm25 = build_strategy("bm25", workspace)  # doctest: +SKIP
    >>> bm25.search(Query("What drove revenue growth?", terms=())).passages[0]  # doctest: +SKIP
    """
    layers, name = parse_strategy(spec), normalize_name(spec)
    return _Building(name, workspace, settings or Settings(), models or Models()).whole(layers, name)


class _Building:
    """One strategy under construction."""

    def __init__(self, spec: str, workspace: Workspace, settings: Settings, models: Models) -> None:
        self._spec = spec
        self._workspace = workspace
        self._settings = settings
        self._models = models

    def whole(self, layers: Sequence[StrategyInfo], name: str) -> Strategy:
        """Return the strategy of these layers, top first."""
        top, *below = layers
        settings = self._settings
        match top.name:
            case "default":
                return Staged(self._workspace, settings.documents, settings.pages)
            case "default-dense":
                likeness = PageSimilarity(self._dense({VectorUnit.PAGE}))
                return Staged(self._workspace, settings.documents, settings.pages, name, likeness)
            case "rerank":
                if self._scorer is None:
                    self._lacking("a cross-encoder", "reranker", "/models/my-cross-encoder")
                return Reranked(name, self._under(name, below), ScoreOrder(self._scorer), settings.rerank_candidates)
            case "tournament":
                arena = self._given("an arena", self._models.arena)
                return Reranked(name, self._under(name, below), arena, TOURNAMENT_CANDIDATES)
            case "ircot":
                return InterleavedSearch(
                    name,
                    self._under(name, below),
                    self._writer,
                    load_prompt("ircot", folder=settings.prompts),
                    self._models.notify,
                    passages=settings.passages,
                    searches=settings.rounds + 1,
                )
            case "sub-questions":
                parts = self._given("a decomposer", self._models.decomposer)
                return DecomposedSearch(name, self._under(name, below), parts, passages=settings.passages)
            case "self-rag":
                critic = self._given("a curator", self._models.curator)
                return SelfRag(name, self._under(name, below), critic, self._rewriter)
            case "rq-rag":
                parts = self._given("a decomposer", self._models.decomposer)
                return RqRag(name, self._under(name, below), self._rewriter, parts)
            case "hirec":
                scored = not top.without.issuperset(SCORED)
                if scored and self._scorer is None:
                    otherwise = "-no-".join((top.name, *SCORED))
                    self._lacking("a cross-encoder", "reranker", "/models/my-cross-encoder", otherwise)
                return HiRec(
                    name,
                    self._workspace.index,
                    self._ranker(below[0], VectorUnit.SUMMARY),
                    self._given("a curator", self._models.curator),
                    self._rewriter,
                    self._scorer if scored else None,
                    top.without,
                    documents=settings.documents,
                    kept=settings.evidence,
                    passages=settings.passages,
                    rounds=settings.rounds,
                )
        if top.layer is Layer.WHOLE:
            return self._structured(name, top)
        wording: Callable[[Query], Wording] = Wording.of
        if top.layer is Layer.WORDING:
            wording = self._wording(top)
            top, *below = below
        index = self._workspace.index
        match top.name:
            case "hhr":
                return ByPassages(name, index, self._ranker(below[0], VectorUnit.SUMMARY), wording, settings.documents)
            case "page-then-chunk":
                return PageThenChunk(name, index, self._ranker(below[0], VectorUnit.PAGE), wording, settings.pages)
        return ByPassages(name, index, self._ranker(top), wording)

    def _under(self, name: str, below: Sequence[StrategyInfo]) -> Strategy:
        return self.whole(below, name.partition(":")[2] or below[0].name)

    def _wording(self, top: StrategyInfo) -> Callable[[Query], Wording]:
        if top.name == "query-expansion":
            return expand_question
        prompt = top.name.replace("-", "_")
        return Hypothetical(self._writer, self._models.notify, prompt, folder=self._settings.prompts)

    def _structured(self, name: str, named: StrategyInfo) -> Strategy:
        from fin_agent.retrieval.fingear.tree_building import Chunking, TreeStore, trees_folder
        from fin_agent.retrieval.fingear.tree_search import FinGear, Raptor
        from fin_agent.retrieval.strategies.entity_graph import GraphSearch

        workspace, settings, variant = self._workspace, self._settings, named.name.partition("-")[2]
        if named.name in ("lightrag", "graphrag"):
            return GraphSearch(name, workspace, settings.documents)
        store = TreeStore(trees_folder(workspace.index, settings.trees))
        chunking = Chunking.parsed(settings.tree_chunks)
        documents, chunks, notify = settings.documents, settings.passages, self._models.notify
        if named.name == "raptor":
            whole = chunking.model_copy(update={"whole": True})
            return Raptor(name, workspace, store, whole, documents=documents, chunks=chunks, notify=notify)
        return FinGear(
            name,
            workspace,
            store,
            chunking,
            scorer=self._scorer,
            encoder=self._encoder if variant == "dense" else None,
            parts=frozenset(named.parts) - named.without,
            weighting=next((how for how in WEIGHTINGS if how == variant), "relative"),
            documents=documents,
            chunks=chunks,
            notify=notify,
        )

    def _ranker(self, named: StrategyInfo, *stages: VectorUnit) -> Ranker:
        """Return the ranker; `stages` are the units that are ranked besides passages."""
        match named.name:
            case "bm25":
                return WordRanker(self._workspace.index)
            case "dense":
                return self._dense(stages)
            case "parent-child":
                return self._dense(stages, windows=True)
            case "splade":
                return self._splade(stages)
            case "hybrid":
                return FusedRanker((WordRanker(self._workspace.index), self._dense(stages)))
        raise AssertionError(f"{named.name} is not a ranker")

    def _dense(self, stages: Collection[VectorUnit], *, windows: bool = False) -> Ranker:
        from fin_agent.retrieval.dense.loading import model_name, require_packages

        units = {*stages, VectorUnit.WINDOW if windows else VectorUnit.PASSAGE}
        given = self._models.encoder
        if given is None:
            require_packages()
        # What is missing is reported before a model is loaded, which takes a while.
        self._check_vectors(model_name(self._settings.encoder) if given is None else given.name, units)
        encoder = self._encoder
        return VectorRanker(
            self._workspace.index, encoder.name, lambda wording: dense_vector(encoder, wording), windows=windows
        )

    def _splade(self, stages: Collection[VectorUnit]) -> Ranker:
        given = self._models.sparse_encoder
        if given is None and self._settings.sparse_encoder is None:
            self._lacking("a sparse encoder", "sparse_encoder", "/models/my-splade")
        from fin_agent.retrieval.dense.encoder import load_sparse_encoder

        encoder = given or _shared_model(load_sparse_encoder, str(self._settings.sparse_encoder))
        self._check_vectors(encoder.name, {*stages, VectorUnit.PASSAGE}, sparse=True)
        return VectorRanker(self._workspace.index, encoder.name, lambda wording: sparse_vector(encoder, wording))

    def _check_vectors(self, model: str, units: Collection[VectorUnit], *, sparse: bool = False) -> None:
        """Raise where the index has no vectors of `model` for a unit; warn where some filings have none."""
        index, subject = self._workspace.index, f"strategy {self._spec!r}"
        if not index.entries():
            return

        def told(lacking: Sequence[VectorUnit]) -> tuple[str, str]:
            plural = [unit.plural for unit in lacking]
            kind = " --sparse" if sparse else ""
            command = f"`fin-agent embed --model {shlex.quote(model)} --units {','.join(plural)}{kind}`"
            return f"vectors of {' and '.join(plural)} by {model}", command

        made = {(held.model, held.unit) for held in index.vector_models()}
        wanted = [unit for unit in VectorUnit if unit in units]
        if lacking := [unit for unit in wanted if (model, unit) not in made]:
            vectors, command = told(lacking)
            raise StrategyError(
                f"it needs {vectors}, and the index contains none", subject=subject, remedy=f"Make them: {command}"
            )
        without = {unit: doc_ids for unit in wanted if (doc_ids := index.without_vectors(model, unit))}
        if without:
            vectors, command = told(list(without))
            count = len({doc_id for doc_ids in without.values() for doc_id in doc_ids})
            self._models.notify(
                f"{count} of {len(index.entries())} filings have no {vectors} yet: {subject} does not find them."
                f" Run {command}"
            )

    @property
    def _encoder(self) -> Encoder:
        from fin_agent.retrieval.dense.encoder import load_encoder

        return self._models.encoder or _shared_model(load_encoder, self._settings.encoder)

    @property
    def _rewriter(self) -> Rewriter:
        return self._given("a rewriter", self._models.rewriter)

    @cached_property
    def _scorer(self) -> PassageScorer | None:
        if self._models.scorer is not None or self._settings.reranker is None:
            return self._models.scorer
        from fin_agent.retrieval.dense.encoder import load_pair_scorer

        loaded: PassageScorer = _shared_model(load_pair_scorer, self._settings.reranker)
        return loaded

    @cached_property
    def _writer(self) -> Writer:
        settings = self._settings
        if self._models.writer is None and settings.chat_model is None and not settings.models.given:
            self._lacking("a chat model", "chat_model", "openai:gpt-4o-mini")
        return self._given("a writer", self._models.writer)

    def _given(self, what: str, model: Model | None) -> Model:
        if model is not None:
            return model
        raise StrategyError(
            f"it needs {what}, and none is given",
            subject=f"strategy {self._spec!r}",
            remedy="Build it with fin_agent.analyst.strategy_adapters.strategy_for, or give one in Models",
        )

    def _lacking(self, what: str, setting: str, example: str, otherwise: str = "") -> NoReturn:
        without = f"; or use {otherwise}, which needs none" if otherwise else ""
        raise StrategyError(
            f"it needs {what}, and none is given",
            subject=f"strategy {self._spec!r}",
            remedy=f"Give one: {VARIABLES[setting]}={example}, or {setting}={example!r} in Settings{without}",
        )


@lru_cache(maxsize=4)
def _shared_model(load: Callable[[str], Model], model: str) -> Model:
    """Load a model once and share it between strategies, because loading takes seconds."""
    return load(model)
