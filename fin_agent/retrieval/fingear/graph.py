"""`lightrag` and `graphrag`: filings as graphs of what their cards speak of.

Simulations by rules, to compare with: LightRAG (Guo et al. 2024, mode `mix`) and GraphRAG (Edge et al. 2024, local and
global search) have a model extract entities and relations and write the reports of communities. Here entities are the
metrics, periods and parts on the cards of passages, relations are that two stand on one card, and a report is the names
of a community's members with the sketches of the passages that hold most of them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fin_agent.errors import how_to_install
from fin_agent.evidence.cards.card import Card
from fin_agent.index.protocol import FilingIndex, StoredPassage
from fin_agent.retrieval.fingear.search import Passages, filings_for, tfidf_similarity
from fin_agent.retrieval.fingear.trees import TreeError
from fin_agent.retrieval.search_query import (
    EVERYTHING,
    USUAL_DEPTH,
    Depth,
    Query,
    RankedPassage,
    Scope,
    SearchResult,
    SearchStep,
)
from fin_agent.retrieval.strategies.one_pass import best_of, in_this_order, pages_of
from fin_agent.workspace import Workspace

_FUSION = 60
_NEIGHBOURS = 10
"""Of the entities asked about, that are followed one step."""
_COMMUNITIES = 3
"""Whose reports are read."""
_SKETCHES = 5
"""In a report."""
_MOST_GRAPHS = 64
_LEAST = 2
"""Passages that hold an entity; one that stands alone relates nothing."""


@dataclass(frozen=True)
class EntityGraph:
    """One filing: its passages, and the entities on the card of each."""

    passages: tuple[StoredPassage, ...]
    cards: tuple[Card, ...]

    @classmethod
    def of(cls, index: FilingIndex, doc_id: str) -> EntityGraph:
        """The graph of a filing."""
        passages = tuple(Passages(index).all_of(doc_id).values())
        return cls(passages, tuple(Card.model_validate_json(stored.card) for stored in passages))

    @cached_property
    def entities(self) -> tuple[frozenset[str], ...]:
        """Of each passage."""
        held = [{*card.metrics, *card.time.periods, *card.scope.parts} for card in self.cards]
        counts = Counter(entity for of_card in held for entity in of_card)
        return tuple(frozenset(one for one in of_card if counts[one] >= _LEAST) for of_card in held)

    @cached_property
    def rarity(self) -> Mapping[str, float]:
        """Inverse document frequency of each entity over the passages."""
        counts = Counter(entity for of_card in self.entities for entity in of_card)
        return {entity: math.log(1 + len(self.passages) / count) for entity, count in counts.items()}

    @cached_property
    def relations(self) -> Mapping[str, Counter[str]]:
        """Entity -> those on a card with it, by how many cards."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for of_card in self.entities:
            for entity in of_card:
                found[entity].update(of_card - {entity})
        return found

    @cached_property
    def communities(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """(members, report) of each, by Louvain's method with a fixed seed. Raises TreeError without networkx."""
        try:
            import networkx
        except ImportError as failure:
            raise TreeError("graphs need networkx", remedy=f"Install it: {how_to_install('fingear')}") from failure
        graph = networkx.Graph()
        for entity in sorted(self.relations):
            for other, count in sorted(self.relations[entity].items()):
                graph.add_edge(entity, other, weight=count)
        members = sorted(tuple(sorted(one)) for one in networkx.community.louvain_communities(graph, seed=0))
        return tuple((one, self._report(one)) for one in members)

    def _report(self, members: Sequence[str]) -> str:
        held = self.scored(members)
        best = sorted(range(len(held)), key=lambda place: (-held[place], place))[:_SKETCHES]
        names = ", ".join(member.replace("_", " ") for member in members)
        return ". ".join((names, *(self.cards[place].sketch for place in best)))

    def scored(self, entities: Collection[str]) -> list[float]:
        """How much of these entities each passage holds, rare ones counting more."""
        wanted = set(entities)
        return [sum(self.rarity[entity] for entity in sorted(of_card & wanted)) for of_card in self.entities]

    def asked(self, query: Query) -> list[str]:
        """The entities that a question names."""
        told = {*query.metrics, *(slot.metric for slot in query.slots if slot.metric), *map(str, query.periods)}
        text = query.text.casefold()
        return [entity for entity in self.rarity if entity in told or entity.casefold() in text]


_Lists = list[list[float]]
"""Scores of all passages of a filing, one list a way of looking."""


def _mixed(graph: EntityGraph, query: Query) -> _Lists:
    """LightRAG, mode `mix`: entities of the question, entities related to these, and the passages' own words."""
    asked = graph.asked(query)
    related: Counter[str] = Counter()
    for entity in asked:
        related.update(graph.relations.get(entity, Counter()))
    near = sorted(related, key=lambda entity: (-related[entity] * graph.rarity[entity], entity))[:_NEIGHBOURS]
    words = tfidf_similarity(query.text, [stored.passage.text for stored in graph.passages])
    return [graph.scored(asked), graph.scored(near), words]


def _local_and_global(graph: EntityGraph, query: Query) -> _Lists:
    """GraphRAG: entities of the question (local), and members of the communities whose reports are nearest (global)."""
    reports = tfidf_similarity(query.text, [report for _, report in graph.communities])
    best = sorted(range(len(reports)), key=lambda place: (-round(reports[place], 9), place))[:_COMMUNITIES]
    members = [member for place in best for member in graph.communities[place][0]]
    return [graph.scored(graph.asked(query)), graph.scored(members)]


_MODES: Mapping[str, tuple[str, Callable[[EntityGraph, Query], _Lists]]] = {
    "lightrag": ("entities, their neighbours and words", _mixed),
    "graphrag": ("entities and communities", _local_and_global),
}


@dataclass(frozen=True)
class GraphSearch:
    """Passages of the filings that the document stage finds, by their graphs; ways of looking are fused by rank."""

    name: str
    workspace: Workspace
    documents: int = 5
    _graphs: dict[str, EntityGraph] = field(default_factory=dict, repr=False, compare=False)
    """By the hash of a filing's content: made once."""

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search. Passages without anything asked for come last, in the order of their filings."""
        how, look = _MODES[self.name]
        ranked = filings_for(query, self.workspace, scope, max(self.documents, depth.documents))
        passages: list[StoredPassage] = []
        lists: _Lists = []
        for filing in ranked[: self.documents]:
            graph = self._graph(filing.doc_id)
            passages += graph.passages
            found = look(graph, query)
            lists = [[*one, *other] for one, other in zip(lists or [[] for _ in found], found, strict=True)]
        fused = _fused(lists)
        order = sorted(range(len(passages)), key=lambda place: (-fused[place], place))
        allowed = [passages[place] for place in order if scope.holds(passages[place].key)]
        listed = [
            RankedPassage(stored, score)
            for stored, (_, score) in zip(allowed, in_this_order(range(len(allowed))), strict=True)
        ]
        pages = pages_of(best_of((each.stored.key, each.score) for each in listed), "place")[: depth.pages]
        step = SearchStep("passages", how, f"{len(passages)} passages of {len(ranked[: self.documents])} graphs")
        return SearchResult(tuple(ranked[: depth.documents]), pages, tuple(listed[: depth.passages]), steps=(step,))

    def _graph(self, doc_id: str) -> EntityGraph:
        version = self.workspace.index.filing(doc_id).content_hash
        graph = self._graphs.get(version)
        if graph is None:
            graph = EntityGraph.of(self.workspace.index, doc_id)
            if len(self._graphs) >= _MOST_GRAPHS:
                self._graphs.clear()
            self._graphs[version] = graph
        return graph


def _fused(lists: _Lists) -> list[float]:
    """Reciprocal ranks added up; what a list scores 0 has no rank in it."""
    total = [0.0] * (len(lists[0]) if lists else 0)
    for scores in lists:
        ranked = sorted((place for place, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))
        for rank, place in enumerate(ranked, start=1):
            total[place] += 1 / (_FUSION + rank)
    return total
