"""What an index keeps of each filing, handed out: pages, outline, passages, facts, tables, tags."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from fin_agent.index import rows
from fin_agent.index.opened import OpenedFile
from fin_agent.index.packed_tables import unpacked_tables
from fin_agent.index.protocol import PageKey, PageOutline, RowLabel, SourcedFact, StoredPage, StoredPassage
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.table import Table


class StoredContent(OpenedFile):
    """The part of an index that hands out what filings hold."""

    def pages(self, keys: Sequence[PageKey]) -> list[StoredPage]:
        """See FilingIndex.pages."""
        found: list[StoredPage] = []
        for key in keys:
            for row in self._read(
                "SELECT pages.* FROM pages JOIN filings ON filings.id = pages.filing_id"
                " WHERE filings.doc_id = ? AND pages.number = ?",
                key,
            ):
                found.append(StoredPage(key.doc_id, rows.page(row)))
        return found

    def outline(self, doc_ids: Collection[str]) -> list[PageOutline]:
        """See FilingIndex.outline."""
        found = self._read(
            "SELECT filings.doc_id, pages.number, pages.item, pages.statement, pages.title, pages.kind, pages.note,"
            " pages.further_statements FROM pages"
            " JOIN filings ON filings.id = pages.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) ORDER BY pages.id",
            sorted(doc_ids),
        )
        return [
            PageOutline(
                key=PageKey(row["doc_id"], row["number"]),
                item=row["item"],
                statement=row["statement"],
                title=row["title"],
                kind=row["kind"],
                note=row["note"],
                further_statements=tuple(json.loads(row["further_statements"])),
            )
            for row in found
        ]

    def passages(self, keys: Sequence[PageKey]) -> list[StoredPassage]:
        """See FilingIndex.passages."""
        found: list[StoredPassage] = []
        for key in keys:
            for row in self._read(
                "SELECT passages.*, cards.card FROM passages JOIN filings ON filings.id = passages.filing_id"
                " JOIN cards ON cards.passage_id = passages.id"
                " WHERE filings.doc_id = ? AND passages.page = ? ORDER BY passages.ordinal",
                key,
            ):
                found.append(StoredPassage(key.doc_id, rows.passage(row), row["card"]))
        return found

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
    ) -> list[SourcedFact]:
        """See FilingIndex.facts."""
        where = [f"filings.doc_id IN ({_marks(doc_ids)})"]
        values: list[str | int] = sorted(doc_ids)
        if metrics is not None:
            where.append(f"facts.metric IN ({_marks(metrics)})")
            values += sorted(metrics)
        if pages is not None:
            where.append(f"facts.page IN ({_marks({key.page for key in pages})})")
            values += sorted({key.page for key in pages})
        found = self._read(
            f"SELECT filings.doc_id, facts.*, {rows.TAG_SELECTION} FROM facts"
            " JOIN filings ON filings.id = facts.filing_id"
            " LEFT JOIN tags ON tags.filing_id = facts.filing_id AND tags.ordinal = facts.tag"
            f" WHERE {' AND '.join(where)} ORDER BY filings.content_hash, filings.doc_id, facts.id",
            values,
        )
        sourced = [SourcedFact(row["doc_id"], rows.fact(row)) for row in found]
        if pages is None:
            return sourced
        wanted = set(pages)
        return [fact for fact in sourced if fact.key in wanted]

    def row_labels(self, doc_ids: Collection[str], *, holding: Collection[str]) -> list[RowLabel]:
        """See FilingIndex.row_labels."""
        found = self._read(
            "SELECT DISTINCT filings.doc_id, facts.page, facts.label, facts.statement, facts.fiscal_year, facts.quarter"
            " FROM facts JOIN filings ON filings.id = facts.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) AND facts.scope IS NULL"
            f" AND ({' OR '.join(['instr(lower(facts.label), ?)'] * len(holding)) or 'FALSE'})"
            " ORDER BY filings.content_hash, filings.doc_id, facts.page, facts.id",
            [*sorted(doc_ids), *sorted(letters.lower() for letters in holding)],
        )
        return [RowLabel(*row) for row in found]

    def parts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """See FilingIndex.parts. Scopes, rows of tagged parts, rows into which an income statement divides revenue."""
        found = self._read(
            "SELECT DISTINCT facts.scope FROM facts JOIN filings ON filings.id = facts.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) AND facts.scope IS NOT NULL AND facts.metric IS NOT NULL"
            " AND coalesce(facts.statement, '') != 'equity'",
            sorted(doc_ids),
        )
        rows_of_income = self._read(
            "SELECT DISTINCT facts.label FROM facts JOIN filings ON filings.id = facts.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) AND facts.statement = 'income'"
            " AND (facts.section LIKE '%revenue%' OR facts.section LIKE '%sales%' OR facts.section LIKE '%cost of%')",
            sorted(doc_ids),
        )
        tagged_rows = self._read(
            "SELECT DISTINCT facts.label FROM facts JOIN filings ON filings.id = facts.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) AND facts.scope IS NOT NULL AND facts.metric IS NOT NULL"
            " AND facts.tag IS NOT NULL AND coalesce(facts.statement, '') != 'equity'",
            sorted(doc_ids),
        )
        return frozenset(row[0] for row in (*found, *rows_of_income, *tagged_rows))

    def tables(self, keys: Sequence[PageKey]) -> list[Table]:
        """See FilingIndex.tables."""
        found: list[Table] = []
        for key in keys:
            for row in self._read(
                "SELECT page_tables.* FROM page_tables JOIN filings ON filings.id = page_tables.filing_id"
                " WHERE filings.doc_id = ? AND page_tables.page = ?",
                key,
            ):
                found += unpacked_tables(row["tables"], row["page"])
        return found

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """See FilingIndex.tags."""
        found = self._read(
            f"SELECT {rows.TAG_SELECTION} FROM tags JOIN filings ON filings.id = tags.filing_id"
            f" WHERE filings.doc_id = ? {'' if page is None else 'AND tags.page = ?'} ORDER BY tags.ordinal",
            (doc_id,) if page is None else (doc_id, page),
        )
        return [rows.tag(row) for row in found]


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))
