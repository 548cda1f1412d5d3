"""Small filings, made on the fly: as PDFs, and as values."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pymupdf
import pytest

from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page

WritePdf = Callable[..., Path]
MakeFiling = Callable[..., Filing]

QUICK_READERS = '''
"""Readers for tests of ingest: importable by name in worker processes, and quick."""

import os
import re
import time
from pathlib import Path

from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page
from fin_agent.filings.reader import content_hash, doc_id_of
from fin_agent.index.ingest import PreparedFiling


def plain(path: Path, pages: int = 3) -> PreparedFiling:
    text = path.read_bytes().decode("latin-1")
    filing = Filing(
        doc_id=doc_id_of(path),
        source=str(path),
        content_hash=content_hash(path),
        identity=Identity(company="Quick " + doc_id_of(path), form=Form.TEN_K),
        pages=tuple(Page(number, f"{text} page {number}") for number in range(pages)),
        passages=tuple(Passage(number, number, PassageKind.TEXT, text) for number in range(pages)),
        facts=(),
    )
    return PreparedFiling(filing, ("{}",) * pages, "summary " + text)


def many_pages(path: Path) -> PreparedFiling:
    return plain(path, 150)


def slow(path: Path) -> PreparedFiling:
    time.sleep(0.2)
    return plain(path)


def crashing(path: Path) -> PreparedFiling:
    if path.name.startswith("crash"):
        os._exit(9)
    time.sleep(0.05)
    return plain(path)


def kill_this_process(*given: object) -> None:
    os.kill(os.getpid(), 9)


def killed(path: Path) -> PreparedFiling:
    kill_this_process()
    return plain(path)


def stuck_in_an_expression(path: Path) -> PreparedFiling:
    if path.name.startswith("stuck"):
        re.match("(a*)*b", "a" * 99)
    return plain(path)


def failing(path: Path) -> PreparedFiling:
    if path.name.startswith("bad"):
        raise ZeroDivisionError("a column without a width")
    return plain(path)


def half_a_character(path: Path) -> PreparedFiling:
    prepared = plain(path)
    if not path.name.startswith("bad"):
        return prepared
    return PreparedFiling(prepared.filing, prepared.cards, "summary \\ud835")
'''


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    """An empty index."""
    with SqliteIndex.create(tmp_path / "index") as made:
        yield made


@pytest.fixture
def write_pdf(tmp_path: Path) -> WritePdf:
    """write_pdf(name, page, page, ...): a PDF in tmp_path/"filings" with these texts."""

    def write(name: str, *pages: str) -> Path:
        path = tmp_path / "filings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with pymupdf.open() as document:
            for text in pages:
                document.new_page().insert_text((50, 72), textwrap.wrap(text, 80))
            document.save(path)
        return path

    return write


@pytest.fixture
def make_filing() -> MakeFiling:
    """make_filing(doc_id, page, page, ...): a filing with these texts, a passage a page."""

    def make(doc_id: str, *pages: str, content_hash: str = "", company: str = "Acme Corp") -> Filing:
        return Filing(
            doc_id=doc_id,
            source=f"/filings/{doc_id}.pdf",
            content_hash=content_hash or f"hash of {doc_id}",
            identity=Identity(company=company, form=Form.TEN_K, fiscal_year=2023),
            pages=tuple(Page(number, text) for number, text in enumerate(pages)),
            passages=tuple(Passage(number, number, PassageKind.TEXT, text) for number, text in enumerate(pages)),
            facts=(),
        )

    return make


@pytest.fixture
def quick_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module of readers that worker processes can import."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "quick_readers.py").write_text(QUICK_READERS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    return "quick_readers"


def consistent(index: SqliteIndex) -> None:
    """Every filing has exactly the rows it says it has, nothing is left over, and the full-text indexes agree."""
    with index.writing() as connection:
        connection.execute("INSERT INTO pages_fts (pages_fts, rank) VALUES ('integrity-check', 1)")
        connection.execute("INSERT INTO passages_fts (passages_fts, rank) VALUES ('integrity-check', 1)")
        connection.execute("INSERT INTO filings_fts (filings_fts, rank) VALUES ('integrity-check', 1)")
        assert [row[0] for row in connection.execute("PRAGMA integrity_check")] == ["ok"]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        filings = connection.execute("SELECT * FROM filings")
        columns = [column for column, *_ in filings.description]
        for row in (dict(zip(columns, values, strict=True)) for values in filings.fetchall()):
            for table, expected in (
                ("pages", row["page_count"]),
                ("passages", row["passage_count"]),
                ("cards", row["passage_count"]),
                ("facts", row["fact_count"]),
                ("filing_details", 1),
            ):
                found = connection.execute(f"SELECT count(*) FROM {table} WHERE filing_id = ?", (row["id"],))
                assert found.fetchone()[0] == expected, (row["doc_id"], table)
            for unit in ("page", "passage"):
                bounds = f"SELECT min(id), max(id) FROM {unit}s WHERE filing_id = ?"
                first, last = connection.execute(bounds, (row["id"],)).fetchone()
                if row[f"{unit}_count"]:
                    assert (first, last) == (row[f"first_{unit}"], row[f"last_{unit}"])
                assert row[f"last_{unit}"] - row[f"first_{unit}"] + 1 == row[f"{unit}_count"]
        for table in ("pages", "passages", "cards", "facts", "filing_details", "vectors"):
            orphans = f"SELECT count(*) FROM {table} WHERE filing_id NOT IN (SELECT id FROM filings)"
            assert connection.execute(orphans).fetchone()[0] == 0, table


@pytest.fixture
def check_consistent() -> Callable[[SqliteIndex], None]:
    """Fails where an index contradicts itself."""
    return consistent
