"""The embedded index: one SQLite file with FTS5, one transaction per filing."""

from __future__ import annotations

import heapq
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_agent.errors import FilingIndexError
from fin_agent.index import rows
from fin_agent.index.opening import not_indexed
from fin_agent.index.protocol import (
    FilingEntry,
    FilingRecord,
    FilingVectors,
    PageHit,
    PageKey,
    PageOutline,
    PassageHit,
    RowLabel,
    SourcedFact,
    StoredPage,
    StoredPassage,
    VectorModel,
    VectorUnit,
)
from fin_agent.index.sqlite_file import CachedRead, Database, create_database, damaged_error
from fin_agent.index.stored_filing import (
    FULL_TEXT,
    Part,
    StoredFiling,
    check_vectors,
    delete_filing,
    filing_damage,
    insert_filing,
    insert_vectors,
    is_intact,
    pack_numbers,
    read_checksums,
    read_part,
    unpack_numbers,
    update_summary,
)
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.table import Table

FILE_NAME = "filings.sqlite"
_RECORDS = (
    f"SELECT {', '.join((*rows.FILING_COLUMNS, *rows.DETAIL_COLUMNS))}"
    " FROM filings JOIN filing_details ON filing_id = id"
)
_EQUAL = 1e-8
"""Scores closer than this may be equal when rounded."""
_MIN_MERGED = 8
"""Full text is merged if at least one filing in this many is new: all merges together cost a few times the last one."""
MAX_MATCHES = 20_000
"""Most summaries that one search scores, at about a microsecond each; terms in more summaries carry little
information."""
_OF_PART = "facts.scope IS NOT NULL AND facts.metric IS NOT NULL AND coalesce(facts.statement, '') != 'equity'"
_OF_INCOME = (
    "facts.statement = 'income' AND (facts.section LIKE '%revenue%' OR facts.section LIKE '%sales%'"
    " OR facts.section LIKE '%cost of%')"
)
_Within = tuple[str, Sequence[object]]
"""A selection of rowids and its parameter."""
_TAG = ", ".join(f"tags.{column}" for column in rows.TAG_COLUMNS)


class SqliteIndex(Database):
    """The filings in the folder `folder`. Safe to share between threads: each gets its own connection.

    >>> import tempfile, pathlib
    >>> from fin_agent import SqliteIndex
    >>> with tempfile.TemporaryDirectory() as folder, SqliteIndex.create(pathlib.Path(folder)) as index:
    ...     index.page_count()
    0
    """

    def __init__(self, folder: Path | str) -> None:
        """Open an existing index.

        Raises:
            FilingIndexError: There is none, or it is incomplete, damaged or of another version.
        """
        self.folder = Path(folder)
        super().__init__(self.folder / FILE_NAME)
        self._entries = CachedRead[tuple[FilingEntry, ...]](self, _read_entries, ())
        self._page_count = CachedRead[int](self, _read_page_count, 0)
        self._frequencies = CachedRead[dict[str, int]](self, lambda _: {}, {})
        """Stem -> on how many pages it is, of those that were asked for: counting takes time in large indexes."""
        self._positions = CachedRead[dict[int, int]](self, _read_positions, {})
        self._records = CachedRead[tuple[FilingRecord, ...]](self, _read_records, ())
        self._vector_models = CachedRead[tuple[VectorModel, ...]](self, _read_models, ())
        self._proven = CachedRead[set[tuple[str, Part]]](self, lambda _: set(), set())
        self._parts = CachedRead[dict[tuple[str, ...], frozenset[str]]](self, lambda _: {}, {})

    @classmethod
    def create(cls, folder: Path | str) -> SqliteIndex:
        """Open the index in `folder`, creating folder and index where they are missing."""
        create_database(Path(folder) / FILE_NAME)
        return cls(folder)

    def __enter__(self) -> SqliteIndex:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # Writing

    def add(self, filing: Filing, cards: Sequence[str], summary: str) -> None:
        """See FilingIndex.add."""
        self.put(StoredFiling.of(filing, cards, summary))

    def put(self, stored: StoredFiling) -> None:
        """See FilingIndex.put."""
        with self.writing() as connection:
            delete_filing(connection, stored.doc_id)
            insert_filing(connection, stored)

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """Replace the summary of a filing and delete the old one's vectors; return False if there is no such filing."""
        with self.writing() as connection:
            return update_summary(connection, doc_id, summary)

    def remove(self, doc_id: str) -> bool:
        """See FilingIndex.remove."""
        with self.writing() as connection:
            connection.execute("DELETE FROM ingested_files WHERE doc_id = ?", (doc_id,))
            return delete_filing(connection, doc_id)

    def merge_full_text(self, added: int) -> None:
        """Merge each full-text table into one piece, if the `added` filings are a good part of all."""
        if added and added * _MIN_MERGED >= len(self.entries()):
            with self.writing() as connection:
                for table in FULL_TEXT:
                    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")

    # The list of filings

    def filings(self) -> tuple[FilingRecord, ...]:
        """See FilingIndex.filings."""
        return self._records.value()

    def entries(self) -> tuple[FilingEntry, ...]:
        """See FilingIndex.entries."""
        return self._entries.value()

    def filing(self, doc_id: str) -> FilingRecord:
        """See FilingIndex.filing."""
        found = self._read_as(_record, f"{_RECORDS} WHERE doc_id = ?", (doc_id,))
        if not found:
            raise not_indexed(doc_id, (entry.doc_id for entry in self.entries()))
        return found[0]

    def page_count(self) -> int:
        """See FilingIndex.page_count."""
        return self._page_count.value()

    def stored(self, doc_id: str) -> StoredFiling:
        """See FilingIndex.stored."""
        with self.snapshot() as connection:
            number = self._number(connection, doc_id)
            return StoredFiling({part: read_part(connection, number, part) for part in Part})

    def checksums(self, doc_id: str) -> dict[str, str]:
        """See FilingIndex.checksums."""
        with self.snapshot() as connection:
            row = connection.execute("SELECT id FROM filings WHERE doc_id = ?", (doc_id,)).fetchone()
            return {} if row is None else read_checksums(connection, row[0])

    def check_rows(self, doc_ids: Collection[str], *, words: bool) -> None:
        """See FilingIndex.check_rows. Each part of a filing is checked once while the index does not change."""
        proven = self._proven.value()
        parts = (Part.FILING, Part.FACTS, *((Part.PASSAGES, Part.PAGES) if words else (Part.TAGS,)))
        for doc_id in sorted(set(doc_ids)):
            wanted = [part for part in parts if (doc_id, part) not in proven]
            if not wanted:
                continue
            with self.snapshot() as connection:
                number = self._number(connection, doc_id)
                sealed = read_checksums(connection, number)
                for part in wanted:
                    if not is_intact(connection, number, part, sealed.get(part.value)):
                        raise FilingIndexError(
                            f"its {_CHECKED[part]} in the index differ from what was written: the index is damaged",
                            subject=doc_id,
                            remedy="Run `fin-agent index repair`, then `fin-agent ingest --retry-failed`; ask again",
                        )
            proven |= {(doc_id, part) for part in wanted}

    def check_whole(self) -> None:
        """See FilingIndex.check_whole."""
        with self.snapshot() as connection:
            for number, doc_id in connection.execute("SELECT id, doc_id FROM filings").fetchall():
                for found in filing_damage(connection, number):
                    raise damaged_error(self.file, f"{doc_id}: {found}")

    def _number(self, connection: sqlite3.Connection, doc_id: str) -> int:
        row = connection.execute("SELECT id FROM filings WHERE doc_id = ?", (doc_id,)).fetchone()
        if row is None:
            raise not_indexed(doc_id, (entry.doc_id for entry in self.entries()))
        return int(row[0])

    # Words

    def search_pages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[PageHit]:
        """See FilingIndex.search_pages."""
        within = None if doc_ids is None else (_OF_FILINGS.format("pages"), sorted(doc_ids))
        found = self._search("pages", "number", terms, within, limit)
        return [PageHit(PageKey(doc_id, number), score) for score, doc_id, number, _ in found]

    def search_passages(
        self,
        terms: Sequence[str],
        *,
        doc_ids: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        limit: int = 100,
    ) -> list[PassageHit]:
        """See FilingIndex.search_passages."""
        within: _Within | None = None if doc_ids is None else (_OF_FILINGS.format("passages"), sorted(doc_ids))
        if pages is not None:
            within = _ON_PAGES, sorted({key for key in pages if doc_ids is None or key.doc_id in doc_ids})
        found = self._search("passages", "ordinal", terms, within, limit)
        return [PassageHit(doc_id, page, ordinal, score) for score, doc_id, ordinal, page in found]

    def search_summaries(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[tuple[str, float]]:
        """See FilingIndex.search_summaries."""
        if limit < 1 or (doc_ids is not None and not doc_ids):
            return []
        with self.snapshot() as connection:
            entries = self.entries()
            rare, worth_scoring = self._rare_terms(terms, connection, len(entries))
            query = match_any(rare)
            if not query:
                return []
            positions = self._positions.value()
            found = connection.cursor()
            found.row_factory = None
            # Scoring costs five times as much as matching.
            score = "-rank" if worth_scoring else "0.0"
            found.execute(f"SELECT rowid, {score} FROM filings_fts WHERE filings_fts MATCH ?", (query,))
            hits: list[tuple[int, float]] = found.fetchall()
        if doc_ids is not None:
            wanted = frozenset(doc_ids)
            hits = [hit for hit in hits if entries[positions[hit[0]]].doc_id in wanted]
        if worth_scoring:
            least = min(heapq.nlargest(limit, (hit[1] for hit in hits)), default=0.0)
            kept = [hit for hit in hits if hit[1] > least - _EQUAL]
            best = sorted((-round(score, 9), positions[row], score) for row, score in kept)[:limit]
        else:
            best = [(0.0, at, 0.0) for at in heapq.nsmallest(limit, (positions[row] for row, _ in hits))]
        return [(entries[at].doc_id, score) for _, at, score in best]

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        held = self._frequencies.value()
        if new := sorted(set(stems) - held.keys()):
            counting = "SELECT term, doc FROM pages_vocabulary WHERE term IN (SELECT value FROM json_each(?))"
            held.update(dict.fromkeys(new, 0) | dict(self._rows(counting, (json.dumps(new),))))
        return {stem: held[stem] for stem in stems if held[stem]}

    def _rare_terms(
        self, terms: Sequence[str], connection: sqlite3.Connection, summaries: int
    ) -> tuple[Sequence[str], bool]:
        """Return (the rarest of `terms` that occur in summaries, whether scoring their matches is worthwhile).

        As many terms as can be scored together, at least one; all of them where terms or summaries are few. Scoring is
        not worthwhile where even the rarest term matches too often.
        """
        asked = tuple(dict.fromkeys(terms))
        if summaries * len(asked) <= MAX_MATCHES:
            return asked, True
        counting = "SELECT count(*) FROM (SELECT 1 FROM filings_fts WHERE filings_fts MATCH ? LIMIT ?)"
        queries = ((term, match_any([term])) for term in asked)
        counts = [
            (connection.execute(counting, (query, MAX_MATCHES + 1)).fetchone()[0], term)
            for term, query in queries
            if query
        ]
        kept: list[str] = []
        matches = 0
        for count, term in sorted(each for each in counts if each[0]):
            if kept and matches + count > MAX_MATCHES:
                break
            kept.append(term)
            matches += count
        return kept, matches <= MAX_MATCHES

    def _search(
        self, table: str, place: str, terms: Sequence[str], within: _Within | None, limit: int
    ) -> list[tuple[float, str, int, int]]:
        """Return (score, doc_id, place, page) of the best `limit` rows of `table`."""
        query = match_any(terms)
        if not query or limit < 1:
            return []
        page = "number" if table == "pages" else "page"
        # Ordered by `rank`, FTS5 scores every match before it looks at conditions: within bounds it is left to SQLite.
        statement = f"SELECT rowid, -rank AS score FROM {table}_fts WHERE {table}_fts MATCH ?"
        order, condition, values = "ORDER BY rank", "", [query]
        with self.snapshot() as connection:
            if within is not None:
                inside, names = within[0], json.dumps(within[1])
                first, last = connection.execute(f"SELECT min(id), max(id) FROM ({inside})", (names,)).fetchone()
                if first is None:
                    return []
                # The plus sign prevents SQLite from searching again for each row.
                condition = f"AND rowid BETWEEN ? AND ? AND +rowid IN ({inside})"
                order, values = "ORDER BY score DESC", [query, first, last, names]
            best: list[tuple[int, float]] = []
            for row in connection.execute(f"{statement} {condition} {order}", values):
                # Ties are broken by content, so all rows that tie with the last one are read.
                if len(best) >= limit and round(row[1], 9) < round(best[limit - 1][1], 9):
                    break
                best.append((row[0], row[1]))
            scores = dict(best)
            found = connection.execute(
                f"SELECT {table}.id, filings.content_hash, filings.doc_id, {table}.{place}, {table}.{page} FROM {table}"
                f" JOIN filings ON filings.id = {table}.filing_id"
                f" WHERE {table}.id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(scores)),),
            ).fetchall()
        ranked = sorted(found, key=lambda row: (-round(scores[row[0]], 9), *row[1:]))
        return [(scores[row[0]], row[2], row[3], row[4]) for row in ranked[:limit]]

    # What filings hold

    def pages(self, keys: Sequence[PageKey]) -> list[StoredPage]:
        """See FilingIndex.pages."""
        of_page = f"{_filing_selection('pages', *rows.PAGE_COLUMNS)} WHERE filings.doc_id = ? AND pages.number = ?"
        return [StoredPage(key.doc_id, page) for key in keys for page in self._read_as(rows.page, of_page, key)]

    def outline(self, doc_ids: Collection[str]) -> list[PageOutline]:
        """See FilingIndex.outline."""
        where, values = _filing_condition(doc_ids)
        of_filings = f"{_filing_selection('pages', *rows.OUTLINE_COLUMNS, filing=True)} WHERE {where} ORDER BY pages.id"
        return self._read_as(lambda row: rows.page_outline(row[0], row[1:]), of_filings, values)

    def passages(self, keys: Sequence[PageKey]) -> list[StoredPassage]:
        """See FilingIndex.passages."""
        of_page = (
            f"{_filing_selection('passages', *rows.PASSAGE_COLUMNS, more=', cards.card')}"
            " JOIN cards ON cards.passage_id = passages.id"
            " WHERE filings.doc_id = ? AND passages.page = ? ORDER BY passages.ordinal"
        )
        return [
            StoredPassage(key.doc_id, passage, card)
            for key in keys
            for passage, card in self._read_as(lambda row: (rows.passage(row[:-1]), row[-1]), of_page, key)
        ]

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        years: Collection[int] | None = None,
    ) -> list[SourcedFact]:
        """See FilingIndex.facts."""
        where, values = _filing_condition(doc_ids)
        for column, wanted in (("metric", metrics), ("fiscal_year", years)):
            if wanted is not None:
                where += f" AND facts.{column} IN ({_marks(wanted)})"
                values += sorted(wanted)
        if pages is not None:
            where += (
                " AND (facts.filing_id, facts.page) IN (SELECT named.id, json_extract(key.value, '$[1]')"
                " FROM json_each(?) AS key JOIN filings AS named ON named.doc_id = json_extract(key.value, '$[0]'))"
            )
            values.append(json.dumps(sorted(set(pages))))
        return self._read_as(
            _sourced_fact,
            f"{_filing_selection('facts', *rows.FACT_COLUMNS, filing=True, more=f', {_TAG}')}"
            " LEFT JOIN tags ON tags.filing_id = facts.filing_id AND tags.ordinal = facts.tag"
            f" WHERE {where} ORDER BY filings.content_hash, filings.doc_id, facts.id",
            values,
        )

    def row_labels(self, doc_ids: Collection[str], *, holding: Collection[str]) -> list[RowLabel]:
        """See FilingIndex.row_labels."""
        where, values = _filing_condition(doc_ids)
        found = self._rows(
            "SELECT DISTINCT filings.doc_id, facts.page, facts.label, facts.statement, facts.fiscal_year, facts.quarter"
            f" FROM facts JOIN filings ON filings.id = facts.filing_id WHERE {where} AND facts.scope IS NULL"
            " AND facts.source != 'text'"
            f" AND ({' OR '.join(['instr(lower(facts.label), ?)'] * len(holding)) or 'FALSE'})"
            " ORDER BY filings.content_hash, filings.doc_id, facts.page, facts.id",
            [*values, *sorted(letters.lower() for letters in holding)],
        )
        return [RowLabel(*row) for row in found]

    def parts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """See FilingIndex.parts: scopes, rows of tagged parts, and rows that divide revenue in income statements."""
        known, filings = self._parts.value(), tuple(sorted(doc_ids))
        if filings not in known:
            scopes = self._fact_columns("scope", filings, _OF_PART)
            rows_of_parts = self._fact_columns("label", filings, f"{_OF_PART} AND facts.tag IS NOT NULL")
            known[filings] = scopes | rows_of_parts | self._fact_columns("label", filings, _OF_INCOME)
        return known[filings]

    def address_texts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """See FilingIndex.address_texts."""
        lists = self._fact_columns("section", doc_ids) | self._fact_columns("column_path", doc_ids)
        listed = (text for each in lists for text in json.loads(each))
        return self._fact_columns("label", doc_ids) | self._fact_columns("caption", doc_ids) | frozenset(listed)

    def _fact_columns(self, column: str, doc_ids: Collection[str], condition: str = "TRUE") -> frozenset[str]:
        """Return the distinct values of a column of these filings' facts that meet a condition."""
        where, values = _filing_condition(doc_ids)
        joined = f"facts JOIN filings ON filings.id = facts.filing_id WHERE {where} AND {condition}"
        return frozenset(row[0] for row in self._rows(f"SELECT DISTINCT facts.{column} FROM {joined}", values))

    def tables(self, keys: Sequence[PageKey]) -> list[Table]:
        """See FilingIndex.tables."""
        of_page = (
            f"{_filing_selection('page_tables', 'page', 'tables')} WHERE filings.doc_id = ? AND page_tables.page = ?"
        )
        found = (self._read_as(lambda row: rows.tables(*row), of_page, key) for key in keys)
        return [table for of_key in found for tables in of_key for table in tables]

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """See FilingIndex.tags."""
        on_page = "" if page is None else "AND tags.page = ?"
        of_filing = (
            f"{_filing_selection('tags', *rows.TAG_COLUMNS)} WHERE filings.doc_id = ? {on_page} ORDER BY tags.ordinal"
        )
        return self._read_as(rows.tag, of_filing, (doc_id,) if page is None else (doc_id, page))

    # Vectors

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
        check_vectors(model, unit, vectors)
        with self.writing() as connection:
            row = connection.execute("SELECT id FROM filings WHERE doc_id = ?", (vectors.doc_id,)).fetchone()
            if row is None:
                raise missing_filing_error(vectors.doc_id)
            of_filing = (row["id"], model, unit)
            connection.execute("DELETE FROM vectors WHERE filing_id = ? AND model = ? AND unit = ?", of_filing)
            shape = (vectors.dimensions, int(vectors.sparse), len(vectors.places))
            values = (model, unit.value, *shape, pack_numbers(vectors.places), vectors.values)
            insert_vectors(connection, row["id"], values)

    def vectors(self, model: str, unit: VectorUnit, doc_ids: Collection[str] | None = None) -> Iterator[FilingVectors]:
        """See FilingIndex.vectors. One filing at a time is read; filings removed meanwhile are left out."""
        wanted = None if doc_ids is None else frozenset(doc_ids)
        listed = self._rows(
            "SELECT vectors.id, filings.doc_id FROM vectors JOIN filings ON filings.id = vectors.filing_id"
            " WHERE vectors.model = ? AND vectors.unit = ? ORDER BY filings.content_hash, filings.doc_id",
            (model, unit),
        )
        held = "SELECT places, dimensions, numbers, sparse FROM vectors WHERE id = ?"
        for number, doc_id in listed:
            if wanted is None or doc_id in wanted:
                for places, dimensions, numbers, sparse in self._rows(held, (number,)):
                    yield FilingVectors(doc_id, unpack_numbers(places), dimensions, numbers, bool(sparse))

    def without_vectors(self, model: str, unit: VectorUnit) -> tuple[str, ...]:
        """See FilingIndex.without_vectors."""
        found = self._rows(
            "SELECT doc_id FROM filings WHERE id NOT IN"
            " (SELECT filing_id FROM vectors WHERE model = ? AND unit = ?) ORDER BY content_hash, doc_id",
            (model, unit),
        )
        return tuple(row[0] for row in found)

    def vector_models(self) -> tuple[VectorModel, ...]:
        """See FilingIndex.vector_models."""
        return self._vector_models.value()


_CHECKED = {
    Part.FILING: "name and dates",
    Part.FACTS: "figures",
    Part.TAGS: "tags",
    Part.PASSAGES: "passages",
    Part.PAGES: "pages",
}


def missing_filing_error(doc_id: str) -> FilingIndexError:
    """Return the error for vectors of a filing that is not in the index."""
    return FilingIndexError(
        "vectors need a filing, and this one is not in the index", subject=doc_id, remedy="Ingest it first"
    )


def _read_records(connection: sqlite3.Connection) -> tuple[FilingRecord, ...]:
    return tuple(map(_record, connection.execute(f"{_RECORDS} ORDER BY content_hash, doc_id")))


def _record(row: Sequence[Any]) -> FilingRecord:
    at = len(rows.FILING_COLUMNS)
    return rows.filing_record(row[:at], row[at:])


def _sourced_fact(row: Sequence[Any]) -> SourcedFact:
    """Return a fact from the filing's doc_id, FACT_COLUMNS and TAG_COLUMNS."""
    end = 1 + len(rows.FACT_COLUMNS)
    return SourcedFact(row[0], rows.fact(row[1:end], None if row[end] is None else rows.tag(row[end:])))


def _read_models(connection: sqlite3.Connection) -> tuple[VectorModel, ...]:
    found = connection.execute(
        "SELECT model, unit, max(dimensions), max(sparse), count(*), sum(row_count), max(id) FROM vectors"
        " GROUP BY model, unit ORDER BY model, unit"
    )
    return tuple(
        VectorModel(model, VectorUnit(unit), dimensions, bool(sparse), filings, held, latest)
        for model, unit, dimensions, sparse, filings, held, latest in found
    )


def _filing_selection(table: str, *columns: str, filing: bool = False, more: str = "") -> str:
    """Return a SELECT of columns of a table joined with the filings; with `filing`, the doc_id comes first."""
    selected = ", ".join([*["filings.doc_id"] * filing, *(f"{table}.{column}" for column in columns)])
    return f"SELECT {selected}{more} FROM {table} JOIN filings ON filings.id = {table}.filing_id"


def _filing_condition(doc_ids: Collection[str]) -> tuple[str, list[str | int]]:
    """Return a condition for rows of these filings, and its parameters."""
    return f"filings.doc_id IN ({_marks(doc_ids)})", sorted(doc_ids)


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))


_OF_FILINGS = (
    "SELECT inside.id FROM filings JOIN {} AS inside ON inside.filing_id = filings.id"
    " WHERE filings.doc_id IN (SELECT value FROM json_each(?))"
)
_ON_PAGES = (
    "SELECT inside.id FROM json_each(?) AS wanted"
    " JOIN filings ON filings.doc_id = json_extract(wanted.value, '$[0]')"
    " JOIN passages AS inside ON inside.filing_id = filings.id AND inside.page = json_extract(wanted.value, '$[1]')"
)
"""Selections of rowids, of filings and of passages on pages, whose parameter is a JSON list."""


def match_any(terms: Iterable[str]) -> str:
    """Return an FTS5 query for any of `terms`, where several words form a phrase; empty where nothing can match."""
    phrases = (" ".join(re.findall(r"\w+", term)) for term in terms)
    return " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases) if phrase)


def _read_entries(connection: sqlite3.Connection) -> tuple[FilingEntry, ...]:
    # Read in table order and sorted here: reading by an index takes twice the time.
    found = connection.execute(f"SELECT {', '.join(rows.ENTRY_COLUMNS)} FROM filings NOT INDEXED")
    return tuple(sorted(map(rows.filing_entry, found), key=lambda entry: (entry.content_hash, entry.doc_id)))


def _read_page_count(connection: sqlite3.Connection) -> int:
    count: int = connection.execute("SELECT coalesce(sum(page_count), 0) FROM filings").fetchone()[0]
    return count


def _read_positions(connection: sqlite3.Connection) -> dict[int, int]:
    """Return the position among the entries by row id."""
    found = connection.execute("SELECT id FROM filings ORDER BY content_hash, doc_id")
    return {row[0]: at for at, row in enumerate(found)}
