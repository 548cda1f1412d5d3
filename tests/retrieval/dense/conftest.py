"""Small filings in an index, and an encoder that counts words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page

MakeFiling = Callable[..., Filing]


class WordEncoder:
    """A dimension a word: what a text says is plain to see in its vector. Windows are two words long."""

    name = "words"
    words = ("revenue", "debt", "assets", "litigation")
    dimensions = len(words)

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode_passages(self, texts: Sequence[str]) -> object:
        """Counts of the known words, as rows of length 1."""
        np = pytest.importorskip("numpy", reason="vectors need the extra `dense`")
        self.seen += texts
        counts = np.array([[text.count(word) for word in self.words] for text in texts], dtype=np.float32)
        counts = counts.reshape(-1, self.dimensions)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)

    def windows(self, text: str) -> list[str]:
        """Pairs of words."""
        return re.findall(r"\w+(?: \w+)?", text)


@pytest.fixture
def encoder() -> WordEncoder:
    """Needs no model."""
    return WordEncoder()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    """An empty index."""
    with SqliteIndex.create(tmp_path / "index") as made:
        yield made


@pytest.fixture
def add(index: SqliteIndex) -> Callable[..., None]:
    """add(doc_id, passage, passage, ...): a filing with two of these on each page."""

    def put(doc_id: str, *texts: str, content_hash: str = "") -> None:
        pages = range((len(texts) + 1) // 2)
        filing = Filing(
            doc_id=doc_id,
            source=f"/filings/{doc_id}.pdf",
            content_hash=content_hash or f"hash of {doc_id}",
            identity=Identity(company=f"{doc_id} Corp", form=Form.TEN_K, fiscal_year=2023),
            pages=tuple(Page(number, " ".join(texts[2 * number : 2 * number + 2])) for number in pages),
            passages=tuple(Passage(at // 2, at, PassageKind.TEXT, text) for at, text in enumerate(texts)),
            facts=(),
        )
        index.add(filing, ["{}"] * len(texts), f"summary of {doc_id}: {texts[0]}")

    return put
