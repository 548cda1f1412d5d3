"""From a strategy's name to one that searches: every layer built, everything it needs looked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from typing import NoReturn, TypeVar

from fin_agent.config import VARIABLES, Settings
from fin_agent.index.protocol import VectorUnit
from fin_agent.retrieval.query import Query
from fin_agent.retrieval.strategies.combined import FusedRanker, Hierarchical, PageThenChunk, reciprocal_rank_fusion
from fin_agent.retrieval.strategies.hirec import Decomposed, HiRec, Hypothetical, Interleaved, ManyHypothetical
from fin_agent.retrieval.strategies.one_pass import Arrangement, Flat, OnePass, Ranker, Wording, WordRanker, expanded
from fin_agent.retrieval.strategies.protocol import (
    Layer,
    Models,
    NamedStrategy,
    PassageScorer,
    Strategy,
    StrategyError,
    Writer,
    parse_strategy,
    plainly,
)
from fin_agent.retrieval.strategies.reranking import ByScores, Reranked
from fin_agent.retrieval.strategies.staged import Staged
from fin_agent.retrieval.strategies.vectors import (
    PageLikeness,
    VectorRanker,
    check_vectors,
    dense_vector,
    sparse_vector,
)
from fin_agent.workspace import Workspace

Model = TypeVar("Model")

TOURNAMENT_CANDIDATES = 150
"""Passages whose cards meet: as many as FinCards' first stage lets in at most."""


def build_strategy(
    spec: str, workspace: Workspace, settings: Settings | None = None, models: Models | None = None
) -> Strategy:
    """The strategy written `spec` over the workspace's index, ready to search.

    `settings` say how far each stage looks and which models are loaded; `models` gives those that are not loaded by
    name. Raises StrategyError where `spec` is not a strategy, or where a library, a model or vectors are lacking, with
    what to do; a warning goes to `models.notify` where the vectors cover some filings only.

    >>> from fin_agent.retrieval.query import Query
    >>> bm25 = build_strategy("bm25", workspace)  # doctest: +SKIP
    >>> bm25.search(Query("What drove revenue growth?", terms=())).passages[0]  # doctest: +SKIP
    """
    layers, name = parse_strategy(spec), plainly(spec)
    return _Building(name, workspace, settings or Settings(), models or Models()).whole(layers, name)


class _Building:
    """One strategy while it is put together."""

    def __init__(self, spec: str, workspace: Workspace, settings: Settings, models: Models) -> None:
        self._spec = spec
        self._workspace = workspace
        self._settings = settings
        self._models = models

    def whole(self, layers: Sequence[NamedStrategy], name: str) -> Strategy:
        """The strategy of these layers, top first."""
        top, *below = layers
        settings = self._settings
        match top.name:
            case "default":
                return Staged(self._workspace, settings.documents, settings.pages)
            case "default-dense":
                likeness = PageLikeness(self._dense({VectorUnit.PAGE}))
                return Staged(self._workspace, settings.documents, settings.pages, name, likeness)
            case "rerank":
                if self._scorer is None:
                    self._lacking("a cross-encoder", "reranker", "/models/my-cross-encoder")
                return Reranked(name, self._under(name, below), ByScores(self._scorer))
            case "tournament":
                if self._models.arena is None:
                    self._needs_analyst("an arena")
                return Reranked(name, self._under(name, below), self._models.arena, TOURNAMENT_CANDIDATES)
            case "ircot":
                return Interleaved(
                    name,
                    self._under(name, below),
                    self._writer,
                    self._models.notify,
                    passages=settings.passages,
                    rounds=settings.rounds,
                    folder=settings.prompts,
                )
            case "sub-questions":
                if self._models.decomposer is None:
                    self._needs_analyst("one who takes questions apart")
                below_it = self._under(name, below)
                return Decomposed(name, below_it, self._models.decomposer, passages=settings.passages)
            case "hirec":
                if self._models.curator is None:
                    self._needs_analyst("a curator")
                return HiRec(
                    name,
                    self._workspace.index,
                    self._ranker(below[0], VectorUnit.SUMMARY),
                    self._models.curator,
                    self._scorer,
                    documents=settings.documents,
                    passages=settings.passages,
                    rounds=settings.rounds,
                )
        if top.name.startswith("fingear"):
            return self._fingear(name)
        wording: Callable[[Query], Wording] = Wording.of
        if top.layer is Layer.WORDING:
            wording = self._wording(top)
            top, *below = below
        return OnePass(name, self._arrangement(top, below), wording)

    def _under(self, name: str, below: Sequence[NamedStrategy]) -> Strategy:
        return self.whole(below, name.partition(":")[2] or below[0].name)

    def _wording(self, top: NamedStrategy) -> Callable[[Query], Wording]:
        if top.name == "query-expansion":
            return expanded
        made = Hypothetical if top.name == "hyde" else ManyHypothetical
        return made(self._writer, self._models.notify, folder=self._settings.prompts)

    def _fingear(self, name: str) -> Strategy:
        from fin_agent.retrieval.fingear.search import FinGear, Parts, dense_similarity
        from fin_agent.retrieval.fingear.trees import Chunking, TreeStore, trees_folder

        settings, left_out = self._settings, name.split("-")
        encoder = self._models.encoder
        return FinGear(
            name,
            self._workspace,
            TreeStore(trees_folder(self._workspace.index, settings.trees)),
            chunking=Chunking.parsed(settings.tree_chunks),
            parts=Parts("summary" not in left_out, "question" not in left_out, "lexicon" not in left_out),
            scorer=self._scorer,
            similarity=dense_similarity(encoder) if encoder is not None else None,
            documents=settings.documents,
            notify=self._models.notify,
        )

    def _arrangement(self, top: NamedStrategy, below: Sequence[NamedStrategy]) -> Arrangement:
        index, settings = self._workspace.index, self._settings
        match top.name:
            case "hhr":
                return Hierarchical(index, self._ranker(below[0], VectorUnit.SUMMARY), settings.documents)
            case "page-then-chunk":
                return PageThenChunk(index, self._ranker(below[0], VectorUnit.PAGE), settings.pages)
        return Flat(index, self._ranker(top))

    def _ranker(self, named: NamedStrategy, *stages: VectorUnit) -> Ranker:
        """`stages` are what is ranked beside passages."""
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
                fusion = reciprocal_rank_fusion(2)  # said to be lacking before a model is loaded
                return FusedRanker((WordRanker(self._workspace.index), self._dense(stages)), fusion)
        raise AssertionError(f"{named.name} is no ranker")

    def _dense(self, stages: Collection[VectorUnit], *, windows: bool = False) -> Ranker:
        from fin_agent.retrieval.dense.loading import name_of, require_packages

        units = {*stages, VectorUnit.WINDOW if windows else VectorUnit.PASSAGE}
        if self._models.encoder is None:  # what is lacking is said before a model is loaded, which takes a while
            require_packages()
            self._check_vectors(name_of(self._settings.encoder), units)
        from fin_agent.retrieval.dense.encoder import load_encoder

        encoder = self._models.encoder or _loaded_once(load_encoder, self._settings.encoder)
        if self._models.encoder is not None:
            self._check_vectors(encoder.name, units)
        return VectorRanker(
            self._workspace.index, encoder.name, lambda wording: dense_vector(encoder, wording), windows=windows
        )

    def _splade(self, stages: Collection[VectorUnit]) -> Ranker:
        given = self._models.sparse_encoder
        if given is None and self._settings.sparse_encoder is None:
            self._lacking("a sparse encoder", "sparse_encoder", "/models/my-splade")
        from fin_agent.retrieval.dense.encoder import load_sparse_encoder

        encoder = given or _loaded_once(load_sparse_encoder, str(self._settings.sparse_encoder))
        self._check_vectors(encoder.name, {*stages, VectorUnit.PASSAGE}, sparse=True)
        return VectorRanker(self._workspace.index, encoder.name, lambda wording: sparse_vector(encoder, wording))

    def _check_vectors(self, model: str, units: Collection[VectorUnit], *, sparse: bool = False) -> None:
        subject, notify = f"strategy {self._spec!r}", self._models.notify
        check_vectors(self._workspace.index, model, units, subject, notify, sparse=sparse)

    @cached_property
    def _scorer(self) -> PassageScorer | None:
        if self._models.scorer is not None or self._settings.reranker is None:
            return self._models.scorer
        from fin_agent.retrieval.dense.encoder import load_pair_scorer

        loaded: PassageScorer = _loaded_once(load_pair_scorer, self._settings.reranker)
        return loaded

    @cached_property
    def _writer(self) -> Writer:
        if self._models.writer is None:
            if self._settings.chat_model is None and not self._settings.models.given:
                self._lacking("a chat model", "chat_model", "openai:gpt-4o-mini")
            self._needs_analyst("a writer")
        return self._models.writer

    def _needs_analyst(self, what: str) -> NoReturn:
        raise StrategyError(
            f"it needs {what}, and none is given",
            subject=f"strategy {self._spec!r}",
            remedy="Build it with fin_agent.analyst.curating.strategy_for, or give one in Models",
        )

    def _lacking(self, what: str, setting: str, example: str) -> NoReturn:
        raise StrategyError(
            f"it needs {what}, and none is given",
            subject=f"strategy {self._spec!r}",
            remedy=f"Give one: {VARIABLES[setting]}={example}, or {setting}={example!r} in Settings",
        )


@lru_cache(maxsize=4)
def _loaded_once(load: Callable[[str], Model], model: str) -> Model:
    """A model takes seconds to load and can be shared: strategies built one after the other load it once."""
    return load(model)
