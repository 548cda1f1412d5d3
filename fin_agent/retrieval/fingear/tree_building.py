"""Build the Summary and Question Trees of a filing by clustering the chunks of each Item, and store them.

FinGEAR 3.1.1: both trees have one topology; the nodes of one contain summaries, those of the other questions, and they
share their leaves. Clustering follows RAPTOR (Sarthi et al. 2024): UMAP, then Gaussian mixtures with soft membership,
globally and within each global cluster.
"""

from __future__ import annotations

import gzip
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from fin_agent.atomic_write import atomic_write
from fin_agent.errors import FinAgentError, how_to_install
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.models.tokens import approximate_tokens
from fin_agent.retrieval.search_terms import stems_of

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder, Matrix

NO_ITEM = "none"
"""Name for chunks outside all Items; a filing without Items has only this one."""
WHOLE = "filing"
"""Name used instead of an Item for a tree of the whole filing."""
MIN_TO_CLUSTER = 12
"""Fewer chunks than this form one cluster (RAPTOR: reduced dimension + 1)."""
_DIMENSIONS = 10
_MAX_CLUSTERS = 50
_PATIENCE = 8
"""Stop after this many consecutive numbers of components that are worse than the best."""
_LEAST_PROBABILITY = 0.1
_LEAST_VARIANCE = 1e-4
_LOCAL_NEIGHBOURS = 10
_SEED = 224
_TFIDF_DIMENSIONS = 128
QUESTIONS = 5
"""Questions of a node; the paper does not give a number."""
_SUMMARY_SENTENCES = 4
_MAX_TITLES = 12
_MAX_SENTENCES = 150
"""Sentences of a node that TextRank reads."""
_MAX_TITLE_LENGTH = 14
Weighting = Literal["relative", "log", "softmax"]
WEIGHTINGS: tuple[Weighting, ...] = ("relative", "log", "softmax")
_MAX_TERM_LENGTH = 6
"""Words of a term; longer ones do not occur verbatim."""


class TreeError(FinAgentError):
    """The trees of a filing are missing or cannot be used."""


class Chunking(BaseModel, frozen=True):
    """How leaves are cut: consecutive passages of an Item up to `size` tokens, repeating the last `overlap` tokens."""

    size: int = 512
    overlap: int = 0
    whole: bool = False
    """Whether to build one tree of the whole filing (RAPTOR) instead of one for each Item."""

    @classmethod
    def parsed(cls, written: str) -> Chunking:
        """Parse a chunking such as `2000:100`. Raises TreeError for text that is not one.

        >>> Chunking.parsed("2000:100")
        Chunking(size=2000, overlap=100, whole=False)
        """
        found = re.fullmatch(r"(\d{2,5})(?::(\d{1,4}))?(:whole)?", written)
        size, overlap = (int(found[1]), int(found[2] or 0)) if found else (0, 0)
        if not 50 <= size <= 20_000 or overlap * 2 > size:
            raise TreeError(
                "chunks have 50 to 20,000 tokens and overlap by at most half of that",
                subject=f"--chunk {written}",
                remedy="Write tokens and overlap as in --chunk 2000:100, or 512:0:whole for one tree of all",
            )
        return cls(size=size, overlap=overlap, whole=bool(found and found[3]))

    def __str__(self) -> str:
        return f"{self.size}:{self.overlap}{':whole' if self.whole else ''}"


class TreeNode(BaseModel, frozen=True):
    """A node of both trees; its `children` are other nodes, or leaves where `level` is 1 (a leaf has level 0)."""

    number: int
    level: int
    children: tuple[int, ...] = ()
    """Several nodes may share a child: membership is soft."""
    passages: tuple[int, ...] = ()
    """Of a leaf, the ordinals of its passages."""
    title: str = ""
    summary: str = ""
    questions: tuple[str, ...] = ()


class ItemTree(BaseModel, frozen=True, ser_json_bytes="base64", val_json_bytes="base64"):
    """The trees of one Item; the first node is the root, and each node's position is its number."""

    item: str
    nodes: tuple[TreeNode, ...]
    vectors: bytes = b""
    """Vectors of the questions of all nodes, in order, in half precision; empty where questions are compared by
    words."""

    def question_vectors(self, dimensions: int) -> Matrix:
        """Return the vectors of the questions, shape (questions, dimensions), each of length 1."""
        import numpy as np

        return np.frombuffer(self.vectors, dtype=np.float16).reshape(-1, dimensions).astype(np.float32)

    def leaves_under(self, node: TreeNode) -> list[TreeNode]:
        """Return the chunks below a node; for a chunk, the chunk itself."""
        if node.level == 0:
            return [node]
        numbers = dict.fromkeys(leaf.number for child in node.children for leaf in self.leaves_under(self.nodes[child]))
        return [self.nodes[number] for number in numbers]

    @property
    def leaves(self) -> tuple[TreeNode, ...]:
        """The chunks."""
        return tuple(node for node in self.nodes if node.level == 0)


class FilingTrees(BaseModel, frozen=True):
    """The trees of a filing, and how often each cluster of terms occurs in each of its Items."""

    doc_id: str
    content_hash: str
    chunking: Chunking
    encoder: str
    """The encoder whose vectors were clustered; `tf-idf` without a model."""
    trees: tuple[ItemTree, ...]
    terms: Mapping[str, Mapping[str, int]]
    """Item -> cluster of terms -> count."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The content of a leaf: consecutive passages of an Item."""

    passages: tuple[int, ...]
    """Ordinals."""
    text: str
    rows: tuple[str, ...]
    """Labels of its rows with figures."""
    headings: tuple[str, ...]
    """Titles of its pages."""


@dataclass(frozen=True, slots=True)
class NodeText:
    """The texts of a node."""

    title: str
    summary: str
    questions: tuple[str, ...]
    """Questions that the chunks below it answer, at most QUESTIONS."""


NodeWriter = Callable[[Sequence[Chunk]], NodeText]
"""Writes the texts of a node over chunks. Deterministic unless it calls a model."""


def build_trees(
    index: FilingIndex,
    doc_id: str,
    lexicon: Lexicon,
    *,
    chunking: Chunking,
    writer: NodeWriter | None = None,
    encoder: Encoder | None = None,
    seconds: dict[str, float] | None = None,
) -> FilingTrees:
    """Build the trees of one filing. The result depends only on filing, chunking, encoder and writer.

    Without `encoder`, TF-IDF is clustered; without `writer`, rules write the texts of nodes. The time of each stage is
    added to `seconds`. Raises FilingIndexError if the filing is unknown, TreeError without a library.
    """
    seconds = {} if seconds is None else seconds
    with _timed(seconds, "terms"):
        leaves = _leaves(index, doc_id, chunking)
        terms = {
            item: dict(count_clusters("\n".join(chunk.text for chunk in chunks), lexicon))
            for item, chunks in leaves.items()
        }
    trees = []
    for item, chunks in leaves.items():
        with _timed(seconds, "clusters"):
            groups = _clusters([chunk.text for chunk in chunks], encoder)
        with _timed(seconds, "nodes"):
            nodes = tuple(_nodes(chunks, groups, writer or write_by_rules))
        vectors = b""
        if encoder is not None:
            asked = [question for node in nodes for question in node.questions]
            with _timed(seconds, "vectors"):
                vectors = encoder.encode_passages(asked).astype("float16").tobytes()
        trees.append(ItemTree(item=item, nodes=nodes, vectors=vectors))
    return FilingTrees(
        doc_id=doc_id,
        content_hash=index.filing(doc_id).content_hash,
        chunking=chunking,
        encoder=encoder.name if encoder is not None else "tf-idf",
        trees=tuple(trees),
        terms=terms,
    )


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - started


def _leaves(index: FilingIndex, doc_id: str, chunking: Chunking) -> dict[str, list[Chunk]]:
    """Return the chunks of each Item, Items in the order of the filing."""
    outline = {stored.key: stored.page for stored in index.outline([doc_id])}
    labels: dict[PageKey, dict[str, None]] = {}
    for sourced in index.facts([doc_id]):
        labels.setdefault(sourced.key, {})[" ".join(sourced.fact.label.split())] = None
    by_item: dict[str, list[StoredPassage]] = {}
    for stored in index.passages(index.filing(doc_id).page_keys):
        page = outline.get(stored.key)
        item = (page and page.item) or NO_ITEM
        by_item.setdefault(WHOLE if chunking.whole else item, []).append(stored)

    def chunk(run: Sequence[StoredPassage]) -> Chunk:
        text = "\n".join(stored.passage.text for stored in run)
        plain = " ".join(text.split())
        pages = list(dict.fromkeys(stored.key for stored in run))
        rows = dict.fromkeys(label for key in pages for label in labels.get(key, ()) if label and label in plain)
        titles = dict.fromkeys(outline[key].title for key in pages if key in outline and _names(outline[key].title))
        return Chunk(tuple(stored.passage.ordinal for stored in run), text, tuple(rows), tuple(titles))

    return {item: [chunk(run) for run in _runs(passages, chunking)] for item, passages in by_item.items()}


def _runs(passages: Sequence[StoredPassage], chunking: Chunking) -> Iterator[list[StoredPassage]]:
    run: list[StoredPassage] = []
    for stored in passages:
        if run and _tokens(run) + _tokens([stored]) > chunking.size:
            yield list(run)
            while run and _tokens(run) > chunking.overlap:
                del run[0]
        run.append(stored)
    if run:
        yield run


def _tokens(run: Sequence[StoredPassage]) -> int:
    return sum(approximate_tokens(stored.passage.text) for stored in run)


def _clusters(texts: Sequence[str], encoder: Encoder | None) -> list[list[int]]:
    """Return positions of the texts by cluster; a text is in at least one cluster and may be in several."""
    if len(texts) < MIN_TO_CLUSTER:
        return [list(range(len(texts)))]
    vectors = encoder.encode_passages(texts) if encoder is not None else tfidf_vectors(texts)
    found: list[list[int]] = []
    for members in _soft_clusters(vectors, round((len(texts) - 1) ** 0.5)):
        if len(members) < MIN_TO_CLUSTER:
            found.append(members)
        else:
            local = _soft_clusters(vectors[members], _LOCAL_NEIGHBOURS)
            found += [[members[place] for place in places] for places in local]
    return [list(members) for members in sorted({tuple(sorted(set(members))) for members in found})]


def _soft_clusters(vectors: Matrix, neighbours: int) -> list[list[int]]:
    """Fit Gaussian mixtures to UMAP's projection, with the number of components that has the lowest BIC."""
    import warnings

    import numpy as np

    umap, mixture = library("umap"), library("sklearn.mixture").GaussianMixture
    one_thread = library("threadpoolctl").threadpool_limits(1)
    count = len(vectors)
    # For matrices this small, a thread pool costs ten times what it saves, and more on a busy machine.
    with warnings.catch_warnings(), one_thread:
        warnings.simplefilter("ignore")  # a seed switches parallelism off, and umap warns about it each time
        projected = umap.UMAP(
            n_neighbors=max(2, min(neighbours, count - 1)),
            n_components=min(_DIMENSIONS, count - 2),
            metric="cosine",
            init="random" if count <= _DIMENSIONS + 2 else "spectral",
            random_state=_SEED,
        ).fit_transform(np.asarray(vectors))
        best, lowest, since = None, float("inf"), 0
        for components in range(1, min(_MAX_CLUSTERS, count - 1) + 1):
            try:
                fitted = mixture(components, random_state=_SEED, reg_covar=_LEAST_VARIANCE).fit(projected)
            except ValueError:  # more components than distinct points
                break
            criterion = fitted.bic(projected)
            best, lowest, since = (fitted, criterion, 0) if criterion < lowest else (best, lowest, since + 1)
            if since == _PATIENCE:
                break
    assert best is not None
    probabilities = best.predict_proba(projected)
    members = [list(map(int, np.flatnonzero(column > _LEAST_PROBABILITY))) for column in probabilities.T]
    clusters = [places for places in members if places]
    lost = set(range(count)) - {place for places in clusters for place in places}
    for place in sorted(lost):
        clusters[int(np.argmax(probabilities[place])) % len(clusters)].append(place)
    return clusters


def library(name: str) -> Any:
    """Import a library of the extra `fingear` when it is needed. Raises TreeError if it is not installed."""
    try:
        return import_module(name)
    except ImportError as failure:
        raise TreeError(
            f"trees and graphs need {failure.name}, which is not installed",
            remedy=f"Install it: {how_to_install('fingear')}",
        ) from failure


def tfidf(texts: Sequence[str], *, sublinear: bool = True) -> Any:
    """Return a TF-IDF matrix with one sparse row per text; None where the texts contain only stopwords."""
    vectorizer = library("sklearn.feature_extraction.text").TfidfVectorizer
    try:
        return vectorizer(stop_words="english", sublinear_tf=sublinear).fit_transform(texts)
    except ValueError:
        return None


def tfidf_vectors(texts: Sequence[str]) -> Matrix:
    """Return vectors without a model: TF-IDF reduced to 128 dimensions (latent semantic analysis)."""
    weighted = tfidf(texts)
    dimensions = min(_TFIDF_DIMENSIONS, min(weighted.shape) - 1)
    reduced = library("sklearn.decomposition").TruncatedSVD(dimensions, random_state=_SEED) if dimensions > 1 else None
    found: Matrix = reduced.fit_transform(weighted) if reduced else weighted.toarray()
    return found


def _nodes(chunks: Sequence[Chunk], groups: Sequence[Sequence[int]], writer: NodeWriter) -> Iterator[TreeNode]:
    """Yield root, clusters and leaves (depth 2); with one cluster, the leaves are directly below the root."""
    clusters = len(groups) if len(groups) > 1 else 0
    first_leaf = 1 + clusters

    def node(number: int, level: int, children: Sequence[int], below: Sequence[Chunk]) -> TreeNode:
        held = writer(below)
        return TreeNode(
            number=number,
            level=level,
            children=tuple(children),
            passages=() if level else below[0].passages,
            title=held.title,
            summary=held.summary if level else "",
            questions=held.questions,
        )

    below_root = range(1, first_leaf) if clusters else range(first_leaf, first_leaf + len(chunks))
    yield node(0, 2 if clusters else 1, below_root, chunks)
    if clusters:
        for number, places in enumerate(groups, start=1):
            yield node(number, 1, [first_leaf + place for place in places], [chunks[place] for place in places])
    for place, chunk in enumerate(chunks):
        yield node(first_leaf + place, 0, (), [chunk])


def write_by_rules(chunks: Sequence[Chunk]) -> NodeText:
    """Write a summary by TextRank (Mihalcea and Tarau 2004) and questions about rows and titles, without a model."""
    rows = [row for chunk in chunks for row in chunk.rows]
    titles = list(dict.fromkeys(title for chunk in chunks for title in chunk.headings))
    asked = [f"What was {row}?" for row in rows[:: max(1, len(rows) // QUESTIONS)]]
    asked += [f"What does the report say about {title}?" for title in titles]
    title, questions = next(iter(titles), ""), tuple(dict.fromkeys(asked))[:QUESTIONS]
    if len(chunks) == 1:
        return NodeText(title, "", questions)
    sentences = [sentence for chunk in chunks for sentence in _sentences(chunk.text)]
    spread = sentences[:: max(1, len(sentences) // _MAX_SENTENCES)][:_MAX_SENTENCES]
    summary = "; ".join((*titles[:_MAX_TITLES], *_central_sentences(spread)))
    return NodeText(title, summary, questions)


def _names(title: str) -> bool:
    """Return whether a page's title is one rather than a line of running text."""
    short = 0 < len(title.split()) <= _MAX_TITLE_LENGTH
    return short and title[:1].isupper() and not title.endswith((".", ",", ";", ":"))


def _sentences(text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(text.split())):
        if 6 <= len(sentence.split()) <= 60 and sentence.endswith((".", "!", "?")):
            yield sentence


def _central_sentences(sentences: Sequence[str]) -> list[str]:
    """Return the sentences with the highest PageRank in the graph of their similarity, in the order of the text."""
    if len(sentences) <= _SUMMARY_SENTENCES:
        return list(sentences)
    networkx, weighted = library("networkx"), tfidf(sentences, sublinear=False)
    if weighted is None:
        return list(sentences[:_SUMMARY_SENTENCES])
    likeness = (weighted @ weighted.T).tolil()
    likeness.setdiag(0.0)
    ranks = networkx.pagerank(networkx.from_numpy_array(likeness.toarray()), max_iter=200, tol=1e-4)
    best = sorted(ranks, key=lambda place: (-round(ranks[place], 9), place))[:_SUMMARY_SENTENCES]
    return [sentences[place] for place in sorted(best)]


def trees_folder(index: FilingIndex, chosen: Path | None = None) -> Path:
    """Return `chosen`, otherwise `trees` in the index folder. Raises TreeError for a cluster without a given folder."""
    folder = chosen or (own / "trees" if isinstance(own := getattr(index, "folder", None), Path) else None)
    if folder is None:
        raise TreeError("trees of a cluster's filings need a folder", remedy="Name one: FIN_AGENT_TREES=my-trees")
    return folder


class TreeStore:
    """Trees in a folder next to the index, one file per filing and chunking. Trees of changed filings are ignored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, trees: FilingTrees) -> int:
        """Store the trees of a filing, replacing those with the same chunking, and return the file's size in bytes."""
        content = gzip.compress(trees.model_dump_json(exclude_defaults=True).encode(), mtime=0)
        atomic_write(self._place(trees.content_hash, trees.chunking), content)
        return len(content)

    def read(self, doc_id: str, content_hash: str, chunking: Chunking) -> FilingTrees | None:
        """Return the trees of a filing; None where there are none. Raises TreeError if the file cannot be read."""
        place = self._place(content_hash, chunking)
        try:
            return FilingTrees.model_validate_json(gzip.decompress(place.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError) as failure:
            remedy = f"Build them again: `fin-agent trees --doc {doc_id} --chunk {chunking} --again`"
            raise TreeError("the trees of this filing cannot be read", subject=doc_id, remedy=remedy) from failure

    def prune(self, kept: Sequence[str]) -> int:
        """Delete the trees of filings whose content hash is not in `kept`, and return the number of files deleted."""
        gone = [file for file in self._folder.glob("*.json.gz") if file.name.split("-")[0] not in kept]
        for file in gone:
            file.unlink(missing_ok=True)
        return len(gone)

    def _place(self, content_hash: str, chunking: Chunking) -> Path:
        return self._folder / f"{content_hash}-{str(chunking).replace(':', '-')}.json.gz"


def count_clusters(text: str, lexicon: Lexicon) -> Counter[str]:
    """Return how often terms of each cluster of synonyms occur in a text; of overlapping terms, the longest counts.

    >>> from fin_agent.lexicon.lexicon import load_lexicon
    >>> found = count_clusters("Net income rose; operating income fell.", load_lexicon())
    >>> found["net_income"], found["operating_income"]
    (1, 1)
    """
    clusters_of, stems = _term_clusters(lexicon), stems_of(text)
    counts: Counter[str] = Counter()
    place = 0
    while place < len(stems):
        for length in range(min(_MAX_TERM_LENGTH, len(stems) - place), 0, -1):
            if clusters := clusters_of.get(tuple(stems[place : place + length])):
                counts.update(list(clusters))
                place += length
                break
        else:
            place += 1
    return counts


@lru_cache(maxsize=2)
def _term_clusters(lexicon: Lexicon) -> dict[tuple[str, ...], dict[str, None]]:
    """Return the clusters of the stems of each name of a metric or formula; the names of one entry form a cluster."""
    clusters: dict[tuple[str, ...], dict[str, None]] = {}
    for name in (*lexicon.metrics, *lexicon.formulas):
        entry = lexicon.definition(name)
        labels = (label.rpartition(">")[2] for label in getattr(entry, "labels", ()))
        for phrase in (name.replace("_", " "), *entry.words, *labels):
            stems = tuple(stems_of(phrase))
            if 0 < len(stems) <= _MAX_TERM_LENGTH:
                clusters.setdefault(stems, {})[name] = None
    return clusters


def item_weights(counts: Mapping[str, float], how: Weighting = "relative") -> dict[str, float]:
    """Return weights of Items that sum to 1, from the counts of a question's terms; equal where no term occurs.

    `relative` is the paper's default; `log` and `softmax` are the variants of its Table 4.

    >>> item_weights({"10-K.7": 6, "10-K.1": 2, "10-K.1A": 2})["10-K.7"]
    0.6
    """
    if not counts:
        return {}
    if how == "softmax":
        highest = max(counts.values())
        scaled = {item: math.exp(count - highest) for item, count in counts.items()}
    else:
        scaled = {item: math.log1p(count) if how == "log" else float(count) for item, count in counts.items()}
    total = sum(scaled.values())
    return {item: value / total if total else 1 / len(counts) for item, value in scaled.items()}


def budgets(weights: Mapping[str, float], k: int) -> dict[str, int]:
    """Return the number of chunks of each Item: round(k * weight), adjusted by largest remainder to sum to k.

    Of equal remainders, the larger weight comes first. With too few chunks, the Items with the lowest weights get none.

    >>> budgets({"7": 0.6, "1": 0.2, "1A": 0.2}, 10)
    {'7': 6, '1': 2, '1A': 2}
    """
    if not weights or k < 1:
        return dict.fromkeys(weights, 0)
    given = {item: math.floor(k * weight + 0.5) for item, weight in weights.items()}
    order = {item: place for place, item in enumerate(weights)}

    def lacks(item: str) -> tuple[float, float, int]:
        return k * weights[item] - given[item], weights[item], -order[item]

    while (lacking := k - sum(given.values())) != 0:
        if lacking > 0:
            given[max(given, key=lacks)] += 1
        else:
            given[min((item for item in given if given[item]), key=lacks)] -= 1
    return given
