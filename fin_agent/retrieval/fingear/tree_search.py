"""Strategies over trees: `fingear` (Items by terms, chunks by two trees each; FinGEAR 3.2) and `raptor` (one tree)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fin_agent.index.protocol import StoredPassage
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.fingear.tree_building import (
    Chunking,
    FilingTrees,
    ItemTree,
    TreeError,
    TreeNode,
    TreeStore,
    Weighting,
    budgets,
    count_clusters,
    item_weights,
    library,
    tfidf,
)
from fin_agent.retrieval.search_query import (
    DEFAULT_DEPTH,
    EVERYTHING,
    Depth,
    Query,
    RankedPassage,
    Scope,
    SearchResult,
    SearchStep,
)
from fin_agent.retrieval.strategies.one_pass import listed, passages_by_ordinal, reciprocal_ranks
from fin_agent.retrieval.strategies.protocol import Notify, PassageScorer, log_warning
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder, Matrix

EXPANDED = 3
"""Number of children of a node that are followed (b in the paper)."""
_K1, _B = 1.5, 0.75

_Scores = dict[int, float]
"""Score by node number."""
Passages = Mapping[str, Mapping[int, StoredPassage]]
"""The passages of filings by ordinal."""
ALL_PARTS = frozenset(("lexicon", "summary", "question", "reranker"))
"""The parts of FinGEAR; the ablations of its Tables 2 and 8 switch them off."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk of an Item of a filing."""

    doc_id: str
    item: str
    leaf: TreeNode
    fused: float
    """Sum of the reciprocal ranks in both trees."""


def _passages_of(held: Passages, doc_id: str, leaf: TreeNode) -> list[StoredPassage]:
    """Return the passages of a chunk, in the order of the filing."""
    return [held[doc_id][ordinal] for ordinal in leaf.passages]


def _text_of(held: Passages, doc_id: str, leaf: TreeNode) -> str:
    """Return the text of a chunk."""
    return "\n".join(stored.passage.text for stored in _passages_of(held, doc_id, leaf))


@dataclass(frozen=True)
class TreeSearch(ABC):
    """Base of strategies over trees: ranks filings, reads their trees, selects chunks, returns their passages.

    The papers take the filing as given; a scope of one filing reproduces that.
    """

    workspace: Workspace
    store: TreeStore
    chunking: Chunking = field(default_factory=Chunking)
    scorer: PassageScorer | None = None
    encoder: Encoder | None = None
    """Compares the question with those of nodes; without one, TF-IDF does."""
    documents: int = 5
    chunks: int = 5
    """Number of chunks selected (k in the papers): the budget that FinGEAR divides among Items."""
    notify: Notify = log_warning

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """See Search. Raises TreeError where none of the filings found has trees."""
        # The papers take the filings as given: those of the package's document stage are read.
        most = max(self.documents, depth.documents)
        ranked = rank_filings(query, self.workspace, within=scope.filings, limit=most)
        trees = self._trees([filing.doc_id for filing in ranked[: self.documents]])
        held = {of.doc_id: passages_by_ordinal(self.workspace.index, of.doc_id) for of in trees}
        steps: list[SearchStep] = []
        chosen = self._select_chunks(query.text, trees, held, steps)
        passages = _passages_of_chunks(query.text, chosen, scope, held)[: depth.passages]
        result = listed(passages, (each.stored.key for each in passages), (), depth)
        return replace(result, filings=tuple(ranked[: depth.documents]), steps=tuple(steps))

    @abstractmethod
    def _select_chunks(
        self, question: str, trees: Sequence[FilingTrees], held: Passages, steps: list[SearchStep]
    ) -> list[Candidate]:
        """Return at most `chunks` chunks, best first, and append the stages to `steps`."""

    def _trees(self, doc_ids: Sequence[str]) -> list[FilingTrees]:
        hashes = {doc_id: self.workspace.index.filing(doc_id).content_hash for doc_id in doc_ids}
        read = {doc_id: self.store.read(doc_id, content, self.chunking) for doc_id, content in hashes.items()}
        found = [trees for trees in read.values() if trees is not None]
        lacking = [doc_id for doc_id, trees in read.items() if trees is None]
        command = f"fin-agent trees --chunk {self.chunking}"
        if doc_ids and not found:
            raise TreeError(
                f"the filings have no trees of {self.chunking} tokens",
                subject=", ".join(doc_ids[:3]),
                remedy=f"Build them: `{command}`",
            )
        if lacking:
            self.notify(f"no trees of {', '.join(lacking)}: `{command}` builds them")
        if self.encoder is not None and (other := [one for one in found if one.encoder != self.encoder.name]):
            self.notify(
                f"the trees of {', '.join(one.doc_id for one in other)} have no vectors by {self.encoder.name}: their"
                f" questions are compared by words. `{command} --encoder {self.encoder.name} --again` builds them"
            )
        return found

    def _by_questions(
        self, question: str, vector: Matrix | None, of: FilingTrees, tree: ItemTree, texts: Mapping[int, str]
    ) -> _Scores:
        """Return the score of each node: the highest similarity of the question to one of the node's questions."""
        asked = [(node.number, each) for node in tree.nodes for each in node.questions]
        if vector is not None and self.encoder is not None and of.encoder == self.encoder.name:
            found = (tree.question_vectors(self.encoder.dimensions) @ vector).tolist()
        else:
            asked += [(node.number, texts.get(node.number, "")) for node in tree.nodes if not node.questions]
            found = tfidf_similarity(question, [text for _, text in asked])
        best: _Scores = {node.number: 0.0 for node in tree.nodes}
        for (number, _), score in zip(asked, found, strict=True):
            best[number] = max(best[number], score)
        return best


@dataclass(frozen=True)
class FinGear(TreeSearch):
    """Lexicon-guided retrieval over the trees of each Item.

    Both reranking stages use the cross-encoder, TF-IDF without one, or rank fusion where that part is switched off.
    """

    parts: frozenset[str] = ALL_PARTS
    weighting: Weighting = "relative"

    def item_budgets(self, question: str, trees: Sequence[FilingTrees]) -> dict[str, int]:
        """Return the number of chunks of each Item over these filings; with few chunks, the lightest Items get none.

        Items without text have neither tree nor budget. Where no Item contains a term of the question, all have equal
        weight.
        """
        items: Counter[str] = Counter()
        asked = count_clusters(question, self.workspace.lexicon) if "lexicon" in self.parts else ()
        for of_filing in trees:
            for tree in of_filing.trees:
                counts = of_filing.terms.get(tree.item, {})
                items[tree.item] += sum(counts.get(cluster, 0) for cluster in asked)
        return budgets(item_weights(items, self.weighting if any(items.values()) else "relative"), self.chunks)

    def _select_chunks(
        self, question: str, trees: Sequence[FilingTrees], held: Passages, steps: list[SearchStep]
    ) -> list[Candidate]:
        given = self.item_budgets(question, trees)
        how = f"by terms, {self.weighting}" if "lexicon" in self.parts else "all alike"
        steps.append(SearchStep("items", how, ", ".join(f"{item} {count}" for item, count in given.items() if count)))
        vector = None if self.encoder is None else self.encoder.encode_queries([question])[0]
        chosen: list[Candidate] = []
        for item, budget in given.items():
            if budget:
                within = [
                    candidate
                    for of_filing in trees
                    for tree in of_filing.trees
                    if tree.item == item
                    for candidate in self._candidates(question, vector, of_filing, tree, budget, held)
                ]
                chosen += self._reranked(question, within, held)[:budget]
        walked = [f"{part} tree" for part in ("summary", "question") if part in self.parts]
        steps.append(SearchStep("chunks", " and ".join(walked) or "in their order", f"{len(chosen)} chunks"))
        reranked = "by a cross-encoder" if self.scorer else "by words, no cross-encoder"
        steps.append(SearchStep("reranking", reranked if "reranker" in self.parts else "by reciprocal ranks"))
        return self._reranked(question, chosen, held)

    def _reranked(self, question: str, candidates: Sequence[Candidate], held: Passages) -> list[Candidate]:
        by_ranks = sorted(candidates, key=lambda one: (-one.fused, one.doc_id, one.leaf.number))
        if "reranker" not in self.parts or not candidates:
            return by_ranks
        texts = [_text_of(held, one.doc_id, one.leaf) for one in by_ranks]
        scores = self.scorer(question, texts) if self.scorer else tfidf_similarity(question, texts)
        return [by_ranks[at] for at in sorted(range(len(texts)), key=lambda at: (-round(scores[at], 6), at))]

    def _candidates(
        self, question: str, vector: Matrix | None, of: FilingTrees, tree: ItemTree, budget: int, held: Passages
    ) -> list[Candidate]:
        """Return the chunks that a traversal of both trees reaches and, where these are too few, the next best ones."""
        texts = {leaf.number: _text_of(held, of.doc_id, leaf) for leaf in tree.leaves}
        orders: list[_Scores] = []
        if "summary" in self.parts:
            orders.append(_by_words(question, tree, texts))
        if "question" in self.parts:
            orders.append(self._by_questions(question, vector, of, tree, texts))
        if not orders:
            orders.append({node.number: 0.0 for node in tree.nodes})
        reached = {leaf for scores in orders for leaf in _descend(tree, scores)}
        numbers = [leaf.number for leaf in tree.leaves]
        fused = reciprocal_ranks(
            sorted(numbers, key=lambda number: (-round(scores[number], 9), number)) for scores in orders
        )
        by_rank = sorted(tree.leaves, key=lambda leaf: (leaf.number not in reached, -fused[leaf.number], leaf.number))
        return [
            Candidate(of.doc_id, tree.item, leaf, fused[leaf.number]) for leaf in by_rank[: max(budget, len(reached))]
        ]


@dataclass(frozen=True)
class Raptor(TreeSearch):
    """Searches summaries and chunks of one tree together (Sarthi et al. 2024, collapsed tree).

    A summary found contributes the chunk below it that is most similar to the question.
    """

    def _select_chunks(
        self, question: str, trees: Sequence[FilingTrees], held: Passages, steps: list[SearchStep]
    ) -> list[Candidate]:
        nodes = [(of, tree, node) for of in trees for tree in of.trees for node in tree.nodes]
        texts = [_text_of(held, of.doc_id, node) if node.level == 0 else node.summary for of, _, node in nodes]
        likeness = tfidf_similarity(question, texts)
        scores = {(of.doc_id, node.number): score for (of, _, node), score in zip(nodes, likeness, strict=True)}
        order = sorted(nodes, key=lambda one: (-round(scores[one[0].doc_id, one[2].number], 9), one[0].doc_id))
        chosen: dict[tuple[str, int], Candidate] = {}
        for of, tree, node in order:
            free = [leaf for leaf in tree.leaves_under(node) if (of.doc_id, leaf.number) not in chosen]
            if free:
                best = max(free, key=lambda leaf: (scores[of.doc_id, leaf.number], -leaf.number))
                chosen[of.doc_id, best.number] = Candidate(of.doc_id, tree.item, best, scores[of.doc_id, node.number])
            if len(chosen) == self.chunks:
                break
        summaries = sum(node.level > 0 for _, _, node in order[: self.chunks])
        steps.append(SearchStep("nodes", "collapsed tree", f"{summaries} summaries among the first {self.chunks}"))
        return list(chosen.values())


def _passages_of_chunks(
    question: str, chosen: Sequence[Candidate], scope: Scope, held: Passages
) -> list[RankedPassage]:
    """Return the passages of the chunks, chunk by chunk; within a chunk, those most similar to the question first."""
    found: dict[tuple[str, int], StoredPassage] = {}
    for one in chosen:
        stored = _passages_of(held, one.doc_id, one.leaf)
        scores = tfidf_similarity(question, [each.passage.text for each in stored]) if len(stored) > 1 else [0.0]
        for place in sorted(range(len(stored)), key=lambda at: (-round(scores[at], 9), at)):
            if scope.holds(stored[place].key):
                found.setdefault((one.doc_id, stored[place].passage.ordinal), stored[place])
    return [RankedPassage(stored, 0.0) for stored in found.values()]


def _descend(tree: ItemTree, scores: Mapping[int, float]) -> set[int]:
    """Return the leaves reached from the root when the best EXPANDED children of each node are followed."""
    nodes = {node.number: node for node in tree.nodes}
    reached: set[int] = set()
    ahead = [tree.nodes[0].number]
    while ahead:
        node = nodes[ahead.pop()]
        if node.level == 0:
            reached.add(node.number)
        ahead += sorted(node.children, key=lambda child: (-round(scores[child], 9), child))[:EXPANDED]
    return reached


def _by_words(question: str, tree: ItemTree, texts: Mapping[int, str]) -> _Scores:
    """Return the score of each node: BM25 over summaries, and for leaves over their text (Lù 2024)."""
    bm25s, stemmer = library("bm25s"), library("Stemmer").Stemmer("english")
    held = [texts[node.number] if node.level == 0 else f"{node.title} {node.summary}" for node in tree.nodes]
    tokens = bm25s.tokenize(held, stopwords="en", stemmer=stemmer, show_progress=False)
    ranker = bm25s.BM25(k1=_K1, b=_B)
    ranker.index(tokens, show_progress=False)
    asked = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)[0]
    known = [word for word in asked if word in tokens.vocab]
    scores = ranker.get_scores(known) if known else [0.0] * len(held)
    return {node.number: float(score) for node, score in zip(tree.nodes, scores, strict=True)}


def tfidf_similarity(question: str, texts: Sequence[str]) -> list[float]:
    """Return the cosine of TF-IDF vectors of the question and each text."""
    weighted = tfidf([question, *texts]) if texts else None
    if weighted is None:
        return [0.0] * len(texts)
    found: list[float] = (weighted[1:] @ weighted[0].T).toarray().ravel().tolist()
    return found
