"""`lightrag` and `graphrag`: filings as graphs of the entities on their cards.

Rule-based simulations for comparison. LightRAG (Guo et al. 2024, mode `mix`) and GraphRAG (Edge et al. 2024, local and
global search) use a model to extract entities and relations and to write community reports. Here entities are the
metrics, periods and parts on cards, related if they share a card; a report is made of the names of a community's
members and the sketches of the passages that contain most of them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain

from fin_agent.evidence.cards.card import Card
from fin_agent.index.protocol import StoredPassage
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.fingear.tree_building import library
from fin_agent.retrieval.fingear.tree_search import tfidf_similarity
from fin_agent.retrieval.search_query import Depth, Query, RankedPassage, Scope, SearchResult, SearchStep
from fin_agent.retrieval.strategies.one_pass import listed, passages_by_ordinal, reciprocal_ranks
from fin_agent.retrieval.strategies.protocol import Search
from fin_agent.workspace import Workspace

_NEIGHBOURS = 10
"""Number of related entities that are followed by one step."""
_COMMUNITIES = 3
"""Number of communities whose reports are read."""
_SKETCHES = 5
"""Number of sketches in a report."""
_MAX_GRAPHS = 64
_LEAST = 2
"""Minimum number of passages with an entity; an entity in a single one is not related to anything."""


class EntityGraph:
    """One filing: its passages, and the entities on the card of each."""

    def __init__(self, passages: Sequence[StoredPassage]) -> None:
        self.passages = passages
        self._cards = [Card.model_validate_json(stored.card) for stored in passages]
        held = [{*card.metrics, *card.time.periods, *card.scope.parts} for card in self._cards]
        counts = Counter(entity for of_card in held for entity in of_card)
        self._entities = [{one for one in of_card if counts[one] >= _LEAST} for of_card in held]
        self.rarity = {
            entity: math.log(1 + len(passages) / count) for entity, count in counts.items() if count >= _LEAST
        }
        """Inverse document frequency of each entity over the passages."""
        self.relations: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """For each entity, those on the same cards, with the number of cards."""
        for of_card in self._entities:
            for entity in of_card:
                self.relations[entity].update(of_card - {entity})

    @cached_property
    def communities(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """(members, report) of each, by Louvain's method with a fixed seed. Raises TreeError without networkx."""
        networkx = library("networkx")
        graph = networkx.Graph()
        for entity in sorted(self.relations):
            for other, count in sorted(self.relations[entity].items()):
                graph.add_edge(entity, other, weight=count)
        members = sorted(tuple(sorted(one)) for one in networkx.community.louvain_communities(graph, seed=0))
        return tuple((one, self._report(one)) for one in members)

    def _report(self, members: Sequence[str]) -> str:
        held = self.passage_scores(members)
        best = sorted(range(len(held)), key=lambda place: (-held[place], place))[:_SKETCHES]
        names = ", ".join(member.replace("_", " ") for member in members)
        return ". ".join((names, *(self._cards[place].sketch for place in best)))

    def passage_scores(self, entities: Collection[str]) -> list[float]:
        """Return, for each passage, the summed rarity of these entities in it."""
        wanted = set(entities)
        return [sum(self.rarity[entity] for entity in sorted(of_card & wanted)) for of_card in self._entities]

    def entities_in_question(self, query: Query) -> list[str]:
        """Return the entities that a question names."""
        told = {*query.metrics, *(slot.metric for slot in query.slots if slot.metric), *map(str, query.periods)}
        text = query.text.casefold()
        return [entity for entity in self.rarity if entity in told or entity.casefold() in text]


_Lists = list[list[float]]
"""Scores of all passages of a filing, one list per method."""


def _lightrag_mix(graph: EntityGraph, query: Query) -> _Lists:
    """Return scores as LightRAG's mode `mix`: by entities of the question, by related entities, and by words."""
    asked = graph.entities_in_question(query)
    related = sum((graph.relations[entity] for entity in asked), Counter[str]())
    near = sorted(related, key=lambda entity: (-related[entity] * graph.rarity[entity], entity))[:_NEIGHBOURS]
    words = tfidf_similarity(query.text, [stored.passage.text for stored in graph.passages])
    return [graph.passage_scores(asked), graph.passage_scores(near), words]


def _local_and_global(graph: EntityGraph, query: Query) -> _Lists:
    """Return scores as GraphRAG: by entities of the question (local) and members of the best communities (global)."""
    reports = tfidf_similarity(query.text, [report for _, report in graph.communities])
    best = sorted(range(len(reports)), key=lambda place: (-round(reports[place], 9), place))[:_COMMUNITIES]
    members = [member for place in best for member in graph.communities[place][0]]
    return [graph.passage_scores(graph.entities_in_question(query)), graph.passage_scores(members)]


_MODES: Mapping[str, tuple[str, Callable[[EntityGraph, Query], _Lists]]] = {
    "lightrag": ("entities, their neighbours and words", _lightrag_mix),
    "graphrag": ("entities and communities", _local_and_global),
}


def graph_search(mode: str, workspace: Workspace, documents: int) -> Search:
    """Return the search that ranks passages of the filings from the document stage, fusing the methods by rank.

    Passages without any requested entity come last, in the order of their filings.
    """
    how, look = _MODES[mode]
    index = workspace.index

    @lru_cache(_MAX_GRAPHS)
    def graph_of(doc_id: str, content_hash: str) -> EntityGraph:
        return EntityGraph(tuple(passages_by_ordinal(index, doc_id).values()))

    def search(query: Query, scope: Scope, depth: Depth) -> SearchResult:
        ranked = rank_filings(query, workspace, within=scope.filings, limit=max(documents, depth.documents))
        graphs = [graph_of(one.doc_id, index.filing(one.doc_id).content_hash) for one in ranked[:documents]]
        passages = [stored for graph in graphs for stored in graph.passages]
        # One list of scores a method, over the passages of all filings; a score of 0 has no rank.
        lists = [list(chain.from_iterable(of)) for of in zip(*(look(graph, query) for graph in graphs), strict=True)]
        fused = reciprocal_ranks(
            sorted((place for place, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))
            for scores in lists
        )
        order = sorted(range(len(passages)), key=lambda place: (-fused.get(place, 0.0), place))
        allowed = [RankedPassage(passages[at], 0.0) for at in order if scope.holds(passages[at].key)]
        step = SearchStep("passages", how, f"{len(passages)} passages of {len(graphs)} graphs")
        result = listed(allowed, (each.stored.key for each in allowed), (), depth)
        return replace(result, filings=tuple(ranked[: depth.documents]), steps=(step,))

    return search
