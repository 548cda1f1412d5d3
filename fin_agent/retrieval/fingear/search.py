"""`fingear`: Items by the question's terms, chunks by both trees of each, two stages of reranking (FinGEAR 3.2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from fin_agent.errors import how_to_install
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.retrieval.documents import rank_filings
from fin_agent.retrieval.fingear.lexicon_map import Weighting, budgets, item_weights, term_map
from fin_agent.retrieval.fingear.trees import Chunking, FilingTrees, ItemTree, TreeError, TreeNode, TreeStore
from fin_agent.retrieval.query import EVERYTHING, USUAL_DEPTH, Depth, Query, RankedPassage, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import best_of, in_this_order, pages_of
from fin_agent.retrieval.strategies.protocol import Notify, PassageScorer, logged
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder, Matrix

EXPANDED = 3
"""Children of a node that are followed (b in the paper)."""
_K1, _B = 1.5, 0.75
_FUSION = 60

Similarity = Callable[[str, Sequence[str]], list[float]]
"""(question, texts) -> how alike each is; 0 and above."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts of the method take part; the ablations of Tables 2 and 8 switch them off."""

    summary: bool = True
    question: bool = True
    lexicon: bool = True


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A chunk of an Item of a filing."""

    doc_id: str
    item: str
    leaf: TreeNode
    fused: float
    """Reciprocal ranks in both trees, added up."""


class _Passages:
    """The passages of filings, each filing read once a search."""

    def __init__(self, index: FilingIndex) -> None:
        self._index = index
        self._read: dict[str, Mapping[int, StoredPassage]] = {}

    def of(self, doc_id: str, leaf: TreeNode) -> list[StoredPassage]:
        """Those of a chunk, in the order of the filing."""
        if doc_id not in self._read:
            keys = [PageKey(doc_id, number) for number in range(self._index.filing(doc_id).page_count)]
            self._read[doc_id] = {stored.passage.ordinal: stored for stored in self._index.passages(keys)}
        return [self._read[doc_id][ordinal] for ordinal in leaf.passages]

    def text(self, doc_id: str, leaf: TreeNode) -> str:
        """The text of a chunk."""
        return "\n".join(stored.passage.text for stored in self.of(doc_id, leaf))


@dataclass(frozen=True)
class FinGear:
    """Lexicon-guided retrieval over the trees of the filings that the document stage finds.

    The paper takes the filing as given: a scope of one filing does. Without a cross-encoder both stages of reranking go
    by the ranks in the two trees (reciprocal rank fusion), which the name of the score tells.
    """

    name: str
    workspace: Workspace
    store: TreeStore
    chunking: Chunking = field(default_factory=Chunking)
    parts: Parts = field(default_factory=Parts)
    weighting: Weighting = "relative"
    scorer: PassageScorer | None = None
    similarity: Similarity | None = None
    """Of questions with the question; by words (TF-IDF) where no encoder is given."""
    documents: int = 5
    chunks: int = 10
    notify: Notify = logged

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search. Raises TreeError where none of the filings found has trees."""
        directory, index = self.workspace.directory, self.workspace.index
        ranked = rank_filings(
            query,
            index,
            directory,
            self.workspace.lexicon.metrics,
            within=scope.filings,
            limit=max(self.documents, depth.documents),
        )
        trees = self._trees([filing.doc_id for filing in ranked[: self.documents]])
        held = _Passages(index)
        chosen = self._chosen(query.text, trees, held)
        passages = _ordered(query.text, chosen, scope, held)[: depth.passages]
        pages = pages_of(best_of((each.stored.key, each.score) for each in passages), "chunk")
        return SearchResult(tuple(ranked[: depth.documents]), pages[: depth.pages], tuple(passages))

    def _trees(self, doc_ids: Sequence[str]) -> list[FilingTrees]:
        found, lacking = [], []
        for doc_id in doc_ids:
            trees = self.store.read(doc_id, self.workspace.index.filing(doc_id).content_hash, self.chunking)
            if trees is None:
                lacking.append(doc_id)
            else:
                found.append(trees)
        if doc_ids and not found:
            raise TreeError(
                f"no trees of {self.chunking} tokens",
                subject=", ".join(doc_ids[:3]),
                remedy=f"Build them: fin-agent trees --chunk {self.chunking}",
            )
        if lacking:
            self.notify(f"no trees of {', '.join(lacking)}: fin-agent trees builds them")
        return found

    def item_budgets(self, question: str, trees: Sequence[FilingTrees]) -> dict[str, int]:
        """How many chunks each Item gives, over these filings; with fewer chunks than Items the lightest give none."""
        items: Counter[str] = Counter()
        asked = term_map(self.workspace.lexicon).found_in(question) if self.parts.lexicon else Counter[str]()
        for of_filing in trees:
            for tree in of_filing.trees:
                counts = of_filing.terms.get(tree.item, {})
                items[tree.item] += sum(counts.get(cluster, 0) for cluster in asked)
        return budgets(item_weights(items, self.weighting if any(items.values()) else "relative"), self.chunks)

    def _chosen(self, question: str, trees: Sequence[FilingTrees], held: _Passages) -> list[_Candidate]:
        """As many chunks as are asked for: within each Item by its budget, then across Items."""
        chosen: list[_Candidate] = []
        for item, budget in self.item_budgets(question, trees).items():
            if budget:
                within = [
                    candidate
                    for of_filing in trees
                    for tree in of_filing.trees
                    if tree.item == item
                    for candidate in self._candidates(question, of_filing.doc_id, tree, budget, held)
                ]
                chosen += self._reranked(question, within, held)[:budget]
        return self._reranked(question, chosen, held)

    def _candidates(self, question: str, doc_id: str, tree: ItemTree, budget: int, held: _Passages) -> list[_Candidate]:
        """The chunks that a walk through both trees reaches, and where they are too few, the next best ones."""
        texts = {leaf.number: held.text(doc_id, leaf) for leaf in tree.leaves}
        orders = []
        if self.parts.summary:
            orders.append(_by_words(question, tree, texts))
        if self.parts.question:
            orders.append(_by_questions(question, tree, texts, self.similarity or tfidf_similarity))
        if not orders:
            orders.append({node.number: 0.0 for node in tree.nodes})
        reached = {leaf for scores in orders for leaf in _walked(tree, scores)}
        fused: defaultdict[int, float] = defaultdict(float)
        for scores in orders:
            ranked = sorted(tree.leaves, key=lambda leaf: (-round(scores[leaf.number], 9), leaf.number))
            for rank, leaf in enumerate(ranked, start=1):
                fused[leaf.number] += 1 / (_FUSION + rank)
        by_rank = sorted(tree.leaves, key=lambda leaf: (leaf.number not in reached, -fused[leaf.number], leaf.number))
        return [
            _Candidate(doc_id, tree.item, leaf, fused[leaf.number]) for leaf in by_rank[: max(budget, len(reached))]
        ]

    def _reranked(self, question: str, candidates: Sequence[_Candidate], held: _Passages) -> list[_Candidate]:
        if self.scorer is None:
            return sorted(candidates, key=lambda one: (-one.fused, one.doc_id, one.leaf.number))
        texts = [held.text(one.doc_id, one.leaf) for one in candidates]
        scores = self.scorer.score(question, texts) if texts else []
        order = sorted(range(len(candidates)), key=lambda place: (-round(scores[place], 6), place))
        return [candidates[place] for place in order]


def _ordered(question: str, chosen: Sequence[_Candidate], scope: Scope, held: _Passages) -> list[RankedPassage]:
    """The passages of the chunks, chunk by chunk; within one those first that have most of the question's words."""
    found: dict[tuple[str, int], StoredPassage] = {}
    for one in chosen:
        stored = held.of(one.doc_id, one.leaf)
        scores = tfidf_similarity(question, [each.passage.text for each in stored])
        for place in sorted(range(len(stored)), key=lambda at: (-round(scores[at], 9), at)):
            if scope.holds(stored[place].key):
                found.setdefault((one.doc_id, stored[place].passage.ordinal), stored[place])
    return [
        RankedPassage(stored, score) for (_, score), stored in zip(in_this_order(found), found.values(), strict=True)
    ]


def _walked(tree: ItemTree, scores: Mapping[int, float]) -> set[int]:
    """Leaves that are reached from the root where of each node the best EXPANDED children are followed."""
    nodes = {node.number: node for node in tree.nodes}
    reached: set[int] = set()
    ahead = [tree.nodes[0].number]
    while ahead:
        node = nodes[ahead.pop()]
        if node.level == 0:
            reached.add(node.number)
        ahead += sorted(node.children, key=lambda child: (-round(scores[child], 9), child))[:EXPANDED]
    return reached


def _by_words(question: str, tree: ItemTree, texts: Mapping[int, str]) -> dict[int, float]:
    """Score of each node by BM25 over summaries, of leaves over their text (Lù 2024)."""
    try:
        import bm25s
        import Stemmer
    except ImportError as failure:
        raise _lacking(failure) from failure
    stemmer = Stemmer.Stemmer("english")
    held = [texts[node.number] if node.level == 0 else f"{node.title} {node.summary}" for node in tree.nodes]
    tokens = bm25s.tokenize(held, stopwords="en", stemmer=stemmer, show_progress=False)
    ranker = bm25s.BM25(k1=_K1, b=_B)
    ranker.index(tokens, show_progress=False)
    asked = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)[0]
    known = [word for word in asked if word in tokens.vocab]
    scores = ranker.get_scores(known) if known else [0.0] * len(held)
    return {node.number: float(score) for node, score in zip(tree.nodes, scores, strict=True)}


def _by_questions(question: str, tree: ItemTree, texts: Mapping[int, str], similarity: Similarity) -> dict[int, float]:
    """Score of each node: the likeness of the question with the one of its questions that is most like it."""
    asked = [(node.number, each) for node in tree.nodes for each in node.questions or (texts.get(node.number, ""),)]
    best: dict[int, float] = {}
    for (number, _), score in zip(asked, similarity(question, [text for _, text in asked]), strict=True):
        best[number] = max(best.get(number, 0.0), score)
    return best


def tfidf_similarity(question: str, texts: Sequence[str]) -> list[float]:
    """Cosine of TF-IDF vectors: the likeness without an encoder."""
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError as failure:
        raise _lacking(failure) from failure
    if not texts:
        return []
    try:
        weighted = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit_transform([question, *texts])
    except ValueError:  # stopwords alone
        return [0.0] * len(texts)
    found: list[float] = (weighted[1:] @ weighted[0].T).toarray().ravel().tolist()
    return found


def dense_similarity(encoder: Encoder) -> Similarity:
    """Cosine of an encoder's vectors; those of the nodes' questions are made once."""

    @lru_cache(maxsize=64)
    def vectors(texts: tuple[str, ...]) -> Matrix:
        return encoder.encode_queries(texts)

    def similarity(question: str, texts: Sequence[str]) -> list[float]:
        found: list[float] = (vectors(tuple(texts)) @ vectors((question,))[0]).tolist()
        return found

    return similarity


def _lacking(failure: ImportError) -> TreeError:
    return TreeError(
        f"searching trees needs {failure.name}, which is not installed",
        remedy=f"Install it: {how_to_install('fingear')}",
    )
