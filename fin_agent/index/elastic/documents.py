"""The indices of a cluster: create and check them, convert a stored filing to their documents and back."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fin_agent.errors import FilingIndexError
from fin_agent.index import rows
from fin_agent.index.elastic.client import ApiError, Cluster, NotFound, error_type
from fin_agent.index.rows import StoredRow
from fin_agent.index.stored_filing import COLUMNS, Part, StoredFiling
from fin_agent.lexicon.words import load_yaml

FORMAT = 4
PARTS = ("pages", "passages", "figures", "vectors")
"""Indices whose documents belong to a generation of a filing."""
_FIRST = "000001"

NO_PAGE = -1
"""Page number for tags that are not on a page."""

Source = dict[str, Any]
_PAGE, _METRIC, _TAG = (rows.FACT.names.index(column) for column in ("page", "metric", "tag"))
_TAG_PAGE = rows.TAG_COLUMNS.index("page")


Document = tuple[str, str, Source]
"""A document: its index, its id, and its source."""


def open_indices(cluster: Cluster) -> None:
    """Raise FilingIndexError where there is no index with this prefix, or one of another format."""
    address = str(cluster.address)
    names = [cluster.alias(kind) for kind in load_yaml("indices", __package__)["indices"]]
    try:
        found = cluster.request(cluster.client.indices.get_mapping, doing="opened", expected=(404,), index=names)
    except NotFound as error:
        what, remedy = "the server at this address is not Elasticsearch", "Check the address"
        if error_type(error.body) in ("index_not_found_exception", "aliases_not_found_exception"):
            what = "there is no index here"
            remedy = "Check the last part of the address, or make one: add files to an index on this machine"
            remedy += f" (`fin-agent ingest PATH...`), and from there `fin-agent index copy --to {address}`"
        raise FilingIndexError(what, subject=address, remedy=remedy) from error
    marks = (index.get("mappings", {}).get("_meta", {}).get("fin_agent", {}) for index in found.body.values())
    other = sorted({str(mark.get("format", "unknown")) for mark in marks} - {str(FORMAT)})
    if other:
        what = f"the index has format {', '.join(other)}; this version reads format {FORMAT}"
        remedy = "Copy the filings again under another prefix with `fin-agent index copy`"
        raise FilingIndexError(what, subject=address, remedy=remedy)


def create_indices(cluster: Cluster) -> None:
    """Create missing indices behind their aliases. Concurrent calls are harmless."""
    indices, common = cluster.client.indices, {"dynamic": "strict", "_meta": {"fin_agent": {"format": FORMAT}}}
    described = load_yaml("indices", __package__)
    words = {name: described[name] for name in ("analysis", "similarity")}
    for kind, own in described["indices"].items():
        name = cluster.alias(kind)
        if cluster.request(indices.exists_alias, name=name):
            continue
        shards = cluster.reaching.shards if own.get("large") else 1
        try:
            cluster.request(
                indices.create,
                doing="written",
                index=f"{name}-{_FIRST}",
                aliases={name: {}},
                settings={"index": {**described["settings"], "number_of_shards": shards}, **words},
                mappings={**common, "properties": own["properties"]},
            )
        except FilingIndexError as error:
            cause = error.__cause__
            if not (isinstance(cause, ApiError) and error_type(cause.body) == "resource_already_exists_exception"):
                raise


def columns_of(part: Part, source: Mapping[str, Any]) -> list[Any]:
    """Return the row of a part from a document, column by column."""
    return [source.get(column) for column in COLUMNS[part]]


def row_of(part: Part, source: Mapping[str, Any]) -> list[Any]:
    """Return the row of a page, of a passage with its card, or of the tables of a page."""
    if part is Part.TABLES:
        return [source["page"], b64decode(source["tables"])]
    row = columns_of(part, source)
    return [*row, source["card"]] if part is Part.PASSAGES else row


def parts_of(stored: StoredFiling, generation: str) -> Iterator[Document]:
    """Yield all documents of a filing except the one that makes it visible."""
    common: Source = {
        "doc_id": stored.doc_id,
        "content_hash": stored.value("content_hash"),
        "generation": generation,
    }
    for page in stored.parts[Part.PAGES]:
        source = common | _source(Part.PAGES, page)
        yield "pages", f"{generation}-{source['number']}", source
    for passage, (card,) in zip(stored.parts[Part.PASSAGES], stored.parts[Part.CARDS], strict=True):
        source = common | _source(Part.PASSAGES, passage) | {"card": card}
        yield "passages", f"{generation}-{source['ordinal']}", source
    for page_number, figures in _figures(stored):
        source = {"generation": generation, "page": page_number, **figures}
        yield "figures", f"{generation}-{page_number}", source


def filing_source(stored: StoredFiling, generation: str, mark: int, written: int) -> Source:
    """Return the source of the document that makes a filing visible."""
    *details, summary = stored.parts[Part.DETAILS][0]
    return {
        **_source(Part.FILING, stored.parts[Part.FILING][0]),
        "generation": generation,
        "mark": mark,
        "written": written,
        "summary": summary,
        "details": {"row": details},
        "checksums": stored.checksums(),
    }


def figures_of(source: Mapping[str, Any]) -> Iterator[tuple[int, list[Any], list[Any] | None]]:
    """Yield (position in the filing, row, row of its tag) of each fact in a document of `figures`."""
    tags = {tag[0]: tag for kind in ("tags", "linked") for tag in source[kind]["all"]}
    for ordinal, *fact in source["facts"]["all"]:
        yield ordinal, fact, tags.get(fact[_TAG])


def stored_filing(
    filing: Mapping[str, Any], pages: Sequence[Source], passages: Sequence[Source], figures: Sequence[Source]
) -> StoredFiling:
    """Return a filing from its documents, with the rows of each part in order."""
    facts = sorted((ordinal, tuple(fact)) for source in figures for ordinal, *fact in source["facts"]["all"])
    tags = [tuple(tag) for source in figures for tag in source["tags"]["all"]]
    return StoredFiling(
        {
            Part.FILING: [tuple(columns_of(Part.FILING, filing))],
            Part.DETAILS: [(*filing["details"]["row"], filing["summary"])],
            Part.PAGES: [tuple(columns_of(Part.PAGES, source)) for source in pages],
            Part.PASSAGES: [tuple(columns_of(Part.PASSAGES, source)) for source in passages],
            Part.CARDS: [(source["card"],) for source in passages],
            Part.FACTS: [fact for _, fact in facts],
            Part.TAGS: sorted(tags, key=lambda tag: tag[0]),
            Part.TABLES: [(source["page"], b64decode(source["tables"])) for source in figures if source.get("tables")],
        }
    )


def id_of(doc_id: str) -> str:
    """Return the id of a filing's own document: a hash, because a doc_id may exceed the length limit of ids."""
    return hashlib.sha256(doc_id.encode("utf-8", "surrogatepass")).hexdigest()


def vectors_id(generation: str, model: str, unit: str) -> str:
    """Return the id of the document of a filing's vectors."""
    return f"{generation}-{hashlib.sha256(model.encode()).hexdigest()[:16]}-{unit}"


def company_routing(cik: str | None, company: str) -> str:
    """Return the routing value of a company's filings, which puts all their parts on one shard."""
    name = cik.lstrip("0") if cik else company.casefold()
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _source(part: Part, row: StoredRow) -> Source:
    """Return the source of a row, without empty fields."""
    return {column: value for column, value in zip(COLUMNS[part], row, strict=True) if value is not None}


def _figures(stored: StoredFiling) -> Iterator[tuple[int, Source]]:
    """Yield (page, its facts, tags and tables), by page."""
    tags = {tag[0]: tag for tag in stored.parts[Part.TAGS]}
    facts_of: dict[Any, list[tuple[int, StoredRow]]] = {}
    for ordinal, fact in enumerate(stored.parts[Part.FACTS]):
        facts_of.setdefault(fact[_PAGE], []).append((ordinal, fact))
    tags_of: dict[Any, list[StoredRow]] = {}
    for tag in tags.values():
        tags_of.setdefault(NO_PAGE if tag[_TAG_PAGE] is None else tag[_TAG_PAGE], []).append(tag)
    tables_of: dict[Any, Any] = dict(stored.parts[Part.TABLES])
    for page in sorted({*facts_of, *tags_of, *tables_of}):
        facts, own = facts_of.get(page, []), tags_of.get(page, [])
        linked = sorted({fact[_TAG] for _, fact in facts if fact[_TAG] is not None} - {tag[0] for tag in own})
        yield (
            page,
            {
                "metrics": sorted({fact[_METRIC] for _, fact in facts if fact[_METRIC] is not None}),
                "facts": {"all": [(ordinal, *fact) for ordinal, fact in facts]},
                "tags": {"all": own},
                "linked": {"all": [tags[ordinal] for ordinal in linked]},
                **({"tables": b64encode(tables_of[page]).decode()} if page in tables_of else {}),
            },
        )
