"""Summary and Question Trees of a filing: built by clustering the chunks of each Item, kept beside the index.

FinGEAR 3.1.1: both trees have one topology; nodes of the one hold summaries, of the other questions, and their leaves
are the same chunks. Clustering is RAPTOR's (Sarthi et al. 2024): UMAP, then Gaussian mixtures with soft membership,
globally and within each global cluster.
"""

from __future__ import annotations

import gzip
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.atomic_write import atomic_write
from fin_agent.errors import FinAgentError, how_to_install
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.models.tokens import approximate_tokens
from fin_agent.retrieval.fingear.lexicon_map import term_map

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder, Matrix

NO_ITEM = "none"
"""Of chunks that stand in no Item: a filing without Items has this one alone."""
WHOLE = "filing"
"""In the place of an Item, of a tree of the whole filing."""
MIN_TO_CLUSTER = 12
"""Chunks; fewer are one cluster (RAPTOR: reduced dimension + 1)."""
_DIMENSIONS = 10
_MAX_CLUSTERS = 50
_PATIENCE = 8
"""Numbers of components in a row that are worse than the best before no more are tried."""
_LEAST_PROBABILITY = 0.1
_LEAST_VARIANCE = 1e-4
_LOCAL_NEIGHBOURS = 10
_SEED = 224
_TFIDF_DIMENSIONS = 128
QUESTIONS = 5
"""Questions a node has; the paper does not say how many."""
_SUMMARY_SENTENCES = 4
_MAX_TITLES = 12
_MAX_SENTENCES = 150
"""Of a node, that TextRank reads."""


class TreeError(FinAgentError):
    """A filing has no trees, or those it has cannot be used."""


class Chunking(BaseModel):
    """How leaves are cut: consecutive passages of an Item up to `size` tokens, the last `overlap` of them repeated."""

    model_config = ConfigDict(frozen=True)

    size: int = 512
    overlap: int = 0
    whole: bool = False
    """Whether there is one tree of the whole filing (RAPTOR), not one of each Item."""

    @classmethod
    def parsed(cls, written: str) -> Chunking:
        """`2000:100` as a Chunking. Raises TreeError.

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


class TreeNode(BaseModel):
    """A node of both trees; `children` are other nodes, or leaves where `level` is 1 (0 for a leaf)."""

    model_config = ConfigDict(frozen=True)

    number: int
    level: int
    children: tuple[int, ...] = ()
    """Several nodes may share a child: membership is soft."""
    passages: tuple[int, ...] = ()
    """Of a leaf: the ordinals of its passages."""
    title: str = ""
    summary: str = ""
    questions: tuple[str, ...] = ()


class ItemTree(BaseModel):
    """The trees of one Item; the first node is the root, and each stands at its number."""

    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    item: str
    nodes: tuple[TreeNode, ...]
    vectors: bytes = b""
    """Of the questions of all nodes in their order, in half precision; none where words are compared."""

    def question_vectors(self, dimensions: int) -> Matrix:
        """A row a question, of length 1."""
        import numpy as np

        return np.frombuffer(self.vectors, dtype=np.float16).reshape(-1, dimensions).astype(np.float32)

    def leaves_under(self, node: TreeNode) -> list[TreeNode]:
        """The chunks below a node; a chunk is its own."""
        if node.level == 0:
            return [node]
        numbers = dict.fromkeys(leaf.number for child in node.children for leaf in self.leaves_under(self.nodes[child]))
        return [self.nodes[number] for number in numbers]

    @property
    def leaves(self) -> tuple[TreeNode, ...]:
        """The chunks."""
        return tuple(node for node in self.nodes if node.level == 0)


class FilingTrees(BaseModel):
    """The trees of a filing, and how often each cluster of terms stands in each of its Items."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    content_hash: str
    chunking: Chunking
    encoder: str
    """What made the vectors that were clustered; `tf-idf` without a model."""
    written_by: str = "rules"
    """Who wrote summaries and questions."""
    trees: tuple[ItemTree, ...]
    terms: Mapping[str, Mapping[str, int]]
    """Item -> cluster of terms -> count."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A leaf before it is one: consecutive passages of an Item."""

    passages: tuple[int, ...]
    """Ordinals."""
    text: str
    rows: tuple[str, ...]
    """Labels of its rows with figures."""
    headings: tuple[str, ...]
    """Titles of its pages."""


class NodeWriter(Protocol):
    """Writes what nodes hold. Deterministic where no model is asked."""

    name: str

    def write(self, chunks: Sequence[Chunk]) -> NodeText:
        """What a node over these chunks holds."""


@dataclass(frozen=True, slots=True)
class NodeText:
    """What a node holds."""

    title: str
    summary: str
    questions: tuple[str, ...]
    """That the chunks below it answer, at most QUESTIONS."""


@dataclass(frozen=True, slots=True)
class BuiltTrees:
    """A filing's trees, and the seconds that each stage took."""

    trees: FilingTrees
    seconds: Mapping[str, float]


def build_trees(
    index: FilingIndex,
    doc_id: str,
    lexicon: Lexicon,
    *,
    chunking: Chunking,
    writer: NodeWriter,
    encoder: Encoder | None = None,
) -> BuiltTrees:
    """The trees of one filing: the same for the same filing, chunking, encoder and writer.

    Raises FilingIndexError where it is not indexed, TreeError where a library is lacking.
    """
    record = index.filing(doc_id)
    seconds: defaultdict[str, float] = defaultdict(float)
    started = time.perf_counter()
    leaves = _leaves(index, doc_id, chunking)
    terms = {
        item: dict(term_map(lexicon).found_in("\n".join(chunk.text for chunk in chunks)))
        for item, chunks in leaves.items()
    }
    seconds["terms"] = time.perf_counter() - started
    trees = []
    for item, chunks in leaves.items():
        started = time.perf_counter()
        groups = _clusters([chunk.text for chunk in chunks], encoder)
        seconds["clusters"] += time.perf_counter() - started
        started = time.perf_counter()
        nodes = tuple(_nodes(chunks, groups, writer))
        seconds["nodes"] += time.perf_counter() - started
        started = time.perf_counter()
        vectors = b""
        if encoder is not None:
            asked = [question for node in nodes for question in node.questions]
            vectors = encoder.encode_passages(asked).astype("float16").tobytes()
            seconds["vectors"] += time.perf_counter() - started
        trees.append(ItemTree(item=item, nodes=nodes, vectors=vectors))
    return BuiltTrees(
        FilingTrees(
            doc_id=doc_id,
            content_hash=record.content_hash,
            chunking=chunking,
            encoder=encoder.name if encoder is not None else "tf-idf",
            written_by=writer.name,
            trees=tuple(trees),
            terms=terms,
        ),
        seconds,
    )


def _leaves(index: FilingIndex, doc_id: str, chunking: Chunking) -> dict[str, list[Chunk]]:
    """The chunks of each Item, Items in the order of the filing."""
    outline = {page.key: page for page in index.outline([doc_id])}
    labels: dict[PageKey, dict[str, None]] = {}
    for sourced in index.facts([doc_id]):
        labels.setdefault(sourced.key, {})[" ".join(sourced.fact.label.split())] = None
    keys = [PageKey(doc_id, number) for number in range(index.filing(doc_id).page_count)]
    by_item: dict[str, list[StoredPassage]] = {}
    for stored in index.passages(keys):
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
    run: list[tuple[StoredPassage, int]] = []
    fresh = False
    for stored in passages:
        tokens = approximate_tokens(stored.passage.text)
        if fresh and sum(size for _, size in run) + tokens > chunking.size:
            yield [one for one, _ in run]
            while run and sum(size for _, size in run) > chunking.overlap:
                del run[0]
        run.append((stored, tokens))
        fresh = True
    if fresh:
        yield [one for one, _ in run]


def _clusters(texts: Sequence[str], encoder: Encoder | None) -> list[list[int]]:
    """Positions of the texts by cluster; a text may stand in several, and stands in one at least."""
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
    """Gaussian mixtures over UMAP's projection, as many components as the Bayesian criterion favours."""
    import warnings

    import numpy as np

    umap, mixture = library("umap"), library("sklearn.mixture").GaussianMixture
    one_thread = library("threadpoolctl").threadpool_limits(1)
    count = len(vectors)
    # A pool of threads for matrices this small costs ten times what it saves, and more on a busy machine.
    with warnings.catch_warnings(), one_thread:
        warnings.simplefilter("ignore")  # seeds switch parallelism off, which umap tells each time
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
            except ValueError:  # more components than the points can tell apart
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
    """A library of the extra `fingear`, loaded when it is needed. Raises TreeError where it is not there."""
    try:
        return import_module(name)
    except ImportError as failure:
        raise TreeError(
            f"trees and graphs need {failure.name}, which is not installed",
            remedy=f"Install it: {how_to_install('fingear')}",
        ) from failure


def tfidf(texts: Sequence[str], *, sublinear: bool = True) -> Any:
    """TF-IDF, a sparse row a text; None where the texts hold nothing but stopwords."""
    vectorizer = library("sklearn.feature_extraction.text").TfidfVectorizer
    try:
        return vectorizer(stop_words="english", sublinear_tf=sublinear).fit_transform(texts)
    except ValueError:
        return None


def tfidf_vectors(texts: Sequence[str]) -> Matrix:
    """Vectors without a model: TF-IDF reduced to 128 dimensions (latent semantic analysis)."""
    weighted = tfidf(texts)
    dimensions = min(_TFIDF_DIMENSIONS, min(weighted.shape) - 1)
    reduced = library("sklearn.decomposition").TruncatedSVD(dimensions, random_state=_SEED) if dimensions > 1 else None
    found: Matrix = reduced.fit_transform(weighted) if reduced else weighted.toarray()
    return found


def _nodes(chunks: Sequence[Chunk], groups: Sequence[Sequence[int]], writer: NodeWriter) -> Iterator[TreeNode]:
    """Root, clusters, leaves: depth 2; with one cluster the leaves stand under the root."""
    clusters = len(groups) if len(groups) > 1 else 0
    first_leaf = 1 + clusters

    def node(number: int, level: int, children: Sequence[int], below: Sequence[Chunk]) -> TreeNode:
        held = writer.write(below)
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


class RuleWriter:
    """Summaries by TextRank (Mihalcea and Tarau 2004), questions about rows and titles: without a model."""

    name = "rules"

    def write(self, chunks: Sequence[Chunk]) -> NodeText:
        """See NodeWriter.write."""
        rows = [row for chunk in chunks for row in chunk.rows]
        titles = list(dict.fromkeys(title for chunk in chunks for title in chunk.headings))
        asked = [f"What was {row}?" for row in rows[:: max(1, len(rows) // QUESTIONS)]]
        asked += [f"What does the report say about {title}?" for title in titles]
        if len(chunks) == 1:
            return NodeText(titles[0] if titles else "", "", tuple(dict.fromkeys(asked))[:QUESTIONS])
        sentences = [sentence for chunk in chunks for sentence in _sentences(chunk.text)]
        spread = sentences[:: max(1, len(sentences) // _MAX_SENTENCES)][:_MAX_SENTENCES]
        summary = "; ".join((*titles[:_MAX_TITLES], *_central_sentences(spread)))
        return NodeText(titles[0] if titles else "", summary, tuple(dict.fromkeys(asked))[:QUESTIONS])


def _names(title: str) -> bool:
    """Whether a page's title is one, and no line of running text."""
    return (
        0 < len(title.split()) <= _MAX_TITLE_LENGTH and title[:1].isupper() and not title.endswith((".", ",", ";", ":"))
    )


_MAX_TITLE_LENGTH = 14


def _sentences(text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(text.split())):
        if 6 <= len(sentence.split()) <= 60 and sentence.endswith((".", "!", "?")):
            yield sentence


def _central_sentences(sentences: Sequence[str]) -> list[str]:
    """The sentences with the highest PageRank in the graph of their likeness, in the order of the text."""
    if len(sentences) <= _SUMMARY_SENTENCES:
        return list(sentences)
    networkx, weighted = library("networkx"), tfidf(sentences, sublinear=False)
    if weighted is None:
        return list(sentences[:_SUMMARY_SENTENCES])
    likeness = (weighted @ weighted.T).toarray()
    for place in range(len(sentences)):
        likeness[place, place] = 0.0
    ranks = networkx.pagerank(networkx.from_numpy_array(likeness), max_iter=200, tol=1e-4)
    best = sorted(ranks, key=lambda place: (-round(ranks[place], 9), place))[:_SUMMARY_SENTENCES]
    return [sentences[place] for place in sorted(best)]


def trees_folder(index: FilingIndex, chosen: Path | None = None) -> Path:
    """Where the trees of an index are kept: `chosen`, else `trees` in its folder. Raises TreeError for a cluster."""
    folder = chosen or (own / "trees" if isinstance(own := getattr(index, "folder", None), Path) else None)
    if folder is None:
        raise TreeError("trees of a cluster's filings need a folder", remedy="Name one: FIN_AGENT_TREES=my-trees")
    return folder


class TreeStore:
    """Trees in a folder beside the index, a file a filing and chunking; those of a filing that changed are not read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, trees: FilingTrees) -> int:
        """Keep the trees of a filing, in place of those of the same chunking. Returns bytes."""
        content = gzip.compress(trees.model_dump_json(exclude_defaults=True).encode(), mtime=0)
        atomic_write(self._place(trees.content_hash, trees.chunking), content)
        return len(content)

    def read(self, doc_id: str, content_hash: str, chunking: Chunking) -> FilingTrees | None:
        """The trees of a filing; None where there are none. Raises TreeError where they cannot be read."""
        place = self._place(content_hash, chunking)
        try:
            found = FilingTrees.model_validate_json(gzip.decompress(place.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, ValidationError) as failure:
            raise TreeError(
                "the trees of this filing cannot be read",
                subject=doc_id,
                remedy="Build them again: fin-agent trees --again",
            ) from failure
        return found

    def prune(self, kept: Sequence[str]) -> int:
        """Take out the trees of filings whose content is none of `kept`. Returns how many files went."""
        gone = [file for file in self._folder.glob("*.json.gz") if file.name.split("-")[0] not in kept]
        for file in gone:
            file.unlink(missing_ok=True)
        return len(gone)

    def _place(self, content_hash: str, chunking: Chunking) -> Path:
        return self._folder / f"{content_hash}-{str(chunking).replace(':', '-')}.json.gz"
