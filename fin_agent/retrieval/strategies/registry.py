"""Build a strategy from its name, with every layer and the models it needs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from fin_agent.config import VARIABLES, Settings
from fin_agent.index.protocol import VectorUnit
from fin_agent.prompts import load_prompt
from fin_agent.retrieval.fingear.tree_building import WEIGHTINGS
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.strategies import iterative, one_pass
from fin_agent.retrieval.strategies.one_pass import Ranker, Wording
from fin_agent.retrieval.strategies.protocol import (
    Layer,
    Models,
    PassageScorer,
    Search,
    Strategy,
    StrategyError,
    StrategyInfo,
    Writer,
    normalize_name,
    parse_strategy,
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
    return Strategy(name, _Building(name, workspace, settings or Settings(), models or Models()).search_of(layers))


class _Building:
    """One strategy under construction."""

    def __init__(self, spec: str, workspace: Workspace, settings: Settings, models: Models) -> None:
        self._spec = spec
        self._workspace = workspace
        self._settings = settings
        self._models = models

    def search_of(self, layers: Sequence[StrategyInfo]) -> Search:
        """Return the search of these layers, top first."""
        top, *below = layers
        workspace, settings, models = self._workspace, self._settings, self._models
        base = partial(self.search_of, below)
        match top.name:
            case "default":
                return one_pass.Staged(workspace, settings.documents, settings.pages).search
            case "default-dense":
                likeness = partial(one_pass.page_similarity, self._dense({VectorUnit.PAGE}))
                return one_pass.Staged(workspace, settings.documents, settings.pages, likeness).search
            case "lightrag" | "graphrag":
                from fin_agent.retrieval.strategies.entity_graph import graph_search

                return graph_search(top.name, workspace, settings.documents)
            case "rerank":
                order = iterative.score_order(self._required_scorer())
                return partial(iterative.rerank, base(), order, settings.rerank_candidates)
            case "tournament":
                return partial(iterative.rerank, base(), self._given("an arena"), TOURNAMENT_CANDIDATES)
            case "ircot":
                prompt = load_prompt("ircot", folder=settings.prompts)
                thought = partial(iterative.written_thought, self._writer, prompt, models.notify)
                return partial(iterative.search_interleaved, base(), thought, settings.passages, settings.rounds + 1)
            case "sub-questions":
                return partial(iterative.search_sub_questions, base(), self._given("a decomposer"), settings.passages)
            case "self-rag":
                return partial(iterative.self_rag, base(), self._given("a curator"), self._given("a rewriter"))
            case "rq-rag":
                return partial(iterative.rq_rag, base(), self._given("a rewriter"), self._given("a decomposer"))
            case "hirec":
                unscored = top.without.issuperset(iterative.SCORED)
                scorer = None if unscored else self._required_scorer("-no-".join((top.name, *iterative.SCORED)))
                made = partial(
                    iterative.HiRec,
                    workspace.index,
                    self._ranker(below[0], VectorUnit.SUMMARY),
                    self._given("a curator"),
                    self._given("a rewriter"),
                    scorer,
                    top.without,
                    documents=settings.documents,
                    kept=settings.evidence,
                    passages=settings.passages,
                    rounds=settings.rounds,
                )
                return lambda query, scope, depth: made(scope=scope, depth=depth).search(query)
        if top.layer is Layer.WHOLE:
            return self._over_trees(top)
        wording: Callable[[Query], Wording] = Wording.of
        if top.layer is Layer.WORDING:
            wording = one_pass.expand_question
            if top.name != "query-expansion":
                prompt_name = top.name.replace("-", "_")
                wording = iterative.hypothetical_wording(
                    self._writer, models.notify, prompt_name, folder=settings.prompts
                )
            top, *below = below
        match top.name:
            case "hhr":
                ranker = self._ranker(below[0], VectorUnit.SUMMARY)
                return partial(one_pass.search_passages, workspace.index, ranker, wording, settings.documents)
            case "page-then-chunk":
                ranker = self._ranker(below[0], VectorUnit.PAGE)
                return partial(one_pass.search_pages_first, workspace.index, ranker, wording, settings.pages)
        return partial(one_pass.search_passages, workspace.index, self._ranker(top), wording, 0)

    def _over_trees(self, named: StrategyInfo) -> Search:
        from fin_agent.retrieval.fingear.tree_building import Chunking, TreeStore, trees_folder
        from fin_agent.retrieval.fingear.tree_search import FinGear, Raptor

        workspace, settings, variant = self._workspace, self._settings, named.name.partition("-")[2]
        store = TreeStore(trees_folder(workspace.index, settings.trees))
        chunking = Chunking.parsed(settings.tree_chunks)
        documents, chunks, notify = settings.documents, settings.passages, self._models.notify
        if named.name == "raptor":
            whole = chunking.model_copy(update={"whole": True})
            return Raptor(workspace, store, whole, documents=documents, chunks=chunks, notify=notify).search
        return FinGear(
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
        ).search

    def _ranker(self, named: StrategyInfo, *stages: VectorUnit) -> Ranker:
        """Return the ranker; `stages` are the units that are ranked besides passages."""
        match named.name:
            case "bm25":
                return partial(one_pass.rank_by_words, self._workspace.index)
            case "splade":
                return self._splade(stages)
            case "hybrid":
                return partial(
                    one_pass.rank_fused, (partial(one_pass.rank_by_words, self._workspace.index), self._dense(stages))
                )
            case _:
                return self._dense(stages, windows=named.name == "parent-child")

    def _dense(self, stages: Collection[VectorUnit], *, windows: bool = False) -> Ranker:
        from fin_agent.retrieval.dense.loading import model_name, require_packages

        units = {*stages, VectorUnit.WINDOW if windows else VectorUnit.PASSAGE}
        given = self._models.encoder
        if given is None:
            require_packages()
        # What is missing is reported before a model is loaded, which takes a while.
        self._check_vectors(model_name(self._settings.encoder) if given is None else given.name, units)
        encoder = self._encoder
        return one_pass.vector_ranker(
            self._workspace.index, encoder.name, partial(one_pass.dense_vector, encoder), windows=windows
        )

    def _splade(self, stages: Collection[VectorUnit]) -> Ranker:
        encoder, named = self._models.sparse_encoder, self._settings.sparse_encoder
        if encoder is None:
            if named is None:
                self._lacking("a sparse encoder", "sparse_encoder", "/models/my-splade")
            from fin_agent.retrieval.dense.encoder import load_sparse_encoder

            encoder = _shared_model(load_sparse_encoder, named)
        self._check_vectors(encoder.name, {*stages, VectorUnit.PASSAGE}, sparse=True)
        return one_pass.vector_ranker(self._workspace.index, encoder.name, partial(one_pass.sparse_vector, encoder))

    def _check_vectors(self, model: str, units: Collection[VectorUnit], *, sparse: bool = False) -> None:
        """Raise where the index has no vectors of `model` for a unit; warn where some filings have none."""
        index, subject = self._workspace.index, f"strategy {self._spec!r}"
        if not index.entries():
            return

        def vectors_and_command(lacking: Collection[VectorUnit]) -> tuple[str, str]:
            units = [unit.plural for unit in lacking]
            command = f"fin-agent embed --model {shlex.quote(model)} --units {','.join(units)}"
            return f"vectors of {' and '.join(units)} by {model}", f"`{command}{' --sparse' if sparse else ''}`"

        made = {(held.model, held.unit) for held in index.vector_models()}
        wanted = [unit for unit in VectorUnit if unit in units]
        if lacking := [unit for unit in wanted if (model, unit) not in made]:
            vectors, command = vectors_and_command(lacking)
            what = f"it needs {vectors}, and the index contains none"
            raise StrategyError(what, subject=subject, remedy=f"Make them: {command}")
        without = {unit: doc_ids for unit in wanted if (doc_ids := index.without_vectors(model, unit))}
        if without:
            (vectors, command), count = vectors_and_command(without), len(set().union(*without.values()))
            of = f"{count} of {len(index.entries())} filings have no {vectors} yet"
            self._models.notify(f"{of}: {subject} does not find them. Run {command}")

    @property
    def _encoder(self) -> Encoder:
        from fin_agent.retrieval.dense.encoder import load_encoder

        return self._models.encoder or _shared_model(load_encoder, self._settings.encoder)

    @cached_property
    def _scorer(self) -> PassageScorer | None:
        if self._models.scorer is not None or self._settings.reranker is None:
            return self._models.scorer
        from fin_agent.retrieval.dense.encoder import PairScorer, load_pair_scorer

        loaded: PairScorer = _shared_model(load_pair_scorer, self._settings.reranker)
        return loaded.score

    def _required_scorer(self, otherwise: str = "") -> PassageScorer:
        if self._scorer is None:
            self._lacking("a cross-encoder", "reranker", "/models/my-cross-encoder", otherwise)
        return self._scorer

    @property
    def _writer(self) -> Writer:
        settings = self._settings
        if self._models.writer is None and settings.chat_model is None and settings.models.model is None:
            self._lacking("a chat model", "chat_model", "openai:gpt-4o-mini")
        return self._given("a writer")  # type: ignore[no-any-return]

    def _given(self, what: str) -> Any:
        """Return what is given in Models: `a curator`, `an arena`. Raises StrategyError where it is not."""
        if (model := getattr(self._models, what.split()[1])) is not None:
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
