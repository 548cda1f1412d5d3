"""The index on a cluster: parts of filings are written first, then made visible at once; replaced parts go later.

A cluster has no transactions over several documents. Each filing therefore has one document that names the generation
of its parts, and readers only read parts of generations that are named. Writing that one document makes the whole
filing visible, or replaces it. The journal names generations without a visible filing. It is written before the parts,
so that an interrupted write leaves a trace by which its parts are found and deleted.
"""

from __future__ import annotations

import hashlib
import logging
import math
import re
import secrets
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import islice
from time import sleep
from typing import Any, NamedTuple, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_before_delay, wait_exponential, wait_random

from fin_agent.errors import FilingIndexError, how_to_install
from fin_agent.index import rows
from fin_agent.index.opening import VARIABLES, ClusterAddress, ConnectionSettings, not_indexed
from fin_agent.index.protocol import (
    FilingEntry,
    FilingIndex,
    FilingRecord,
    FilingVectors,
    Hit,
    PageKey,
    SourcedFact,
    StoredPage,
    VectorModel,
    VectorUnit,
)
from fin_agent.index.rows import StoredRow
from fin_agent.index.stored_filing import COLUMNS, Part, StoredFiling, pack_numbers, unpack_numbers
from fin_agent.lexicon.words import load_yaml
from fin_agent.redaction import is_plaintext, redact_secrets
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.runs import grouped

try:
    import elastic_transport
    import elasticsearch
    import elasticsearch.helpers
except ImportError as error:
    raise FilingIndexError(
        "the index on a cluster needs the Elasticsearch client, which is not installed",
        remedy=f"Install it: {how_to_install('elasticsearch')}",
    ) from error

T = TypeVar("T")
ApiError = elasticsearch.ApiError
Filter = dict[str, Any]
Source = dict[str, Any]
Document = tuple[str, str, Source]
"""A document: its index, its id, and its source."""

MAX_BYTES = 8_000_000
"""Size limit of one request: between the 5 and 15 MB that Elastic recommends, far below the limit of 100 MB."""
MAX_DOCUMENTS = 2_000
FORMAT = 4
_LOG = logging.getLogger("fin_agent")
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_REPORTED_ATTEMPT = 6
"""The attempt whose failure is reported, after a few seconds: shorter waits go unnoticed."""
_BUSY_STATUSES = frozenset({429, 502, 503, 504})
"""Statuses after which a later attempt may succeed."""
_DISK_FULL = "disk full"
_MAX_LENGTH = 400
PARTS = ("pages", "passages", "figures", "vectors")
"""Indices whose documents belong to a generation of a filing."""
NO_PAGE = -1
"""Page number for tags that are not on a page."""
MAX_WORDS = 900
"""Most words of one query; a cluster accepts at least 1,024 clauses."""
MAX_FILTERED = 50_000
"""Most filings named in one query; a cluster accepts 65,536. Beyond it, all are searched and the results filtered."""
_MAX_HITS = 10_000
_SPARE = 8
"""Additional hits requested, because some may belong to a filing that has just been replaced."""
_AT_ONCE = 1_000
"""Documents per response (some contain the text of a page), and filings per request."""
_COUNTED_AT_ONCE = 500
_VECTORS_AT_ONCE = 200
"""Number of filings whose vectors are in memory at once."""
_MAX_MODELS = 1_000
_ALL = ""
"""Key of the total number of documents among counts of phrases."""
_LEAST = 1e-6
"""The lowest weight of a term in SQLite's bm25()."""
_PAGE, _METRIC, _TAG = (rows.FACT.names.index(column) for column in ("page", "metric", "tag"))
_TAG_PAGE = rows.TAG_COLUMNS.index("page")
_SEARCHED = {
    Part.PAGES: ("pages", "text", "number"),
    Part.PASSAGES: ("passages", "text", "ordinal", "page"),
    Part.DETAILS: ("filings", "summary"),
}
"""Parts with full text: their index, the field of the text, and those of the place in the filing and of the page."""
_STORED = {
    Part.PAGES: ("pages", "number", "number", COLUMNS[Part.PAGES]),
    Part.PASSAGES: ("passages", "page", "ordinal", (*COLUMNS[Part.PASSAGES], "card")),
    Part.TABLES: ("figures", "page", "page", ("page", "tables")),
    Part.FACTS: ("figures", "page", "page", ("page", "tables", "facts", "tags", "linked")),
}
"""Where parts are: their index, the fields of the page and of the order, and all fields of a row."""
_TRIES = 10
"""Attempts to write what another process writes as well."""
_LEASE = 3_600.0
"""Time limit for writing the parts of one filing in seconds, including retries."""
_MAX_ROUTES = 64
"""More routing values than this reach every shard anyway, and make requests long."""
_MARKS = 2**31
"""Upper limit of marks, which identify one write of a filing, so that their sum over all filings is exact in a
double."""


class ListedFiling(NamedTuple):
    """How the parts of a filing are found."""

    position: int
    """Among the entries."""
    generation: str
    routing: str


@dataclass(frozen=True, eq=False, slots=True)
class Listing:
    """The filings at one moment."""

    entries: tuple[FilingEntry, ...]
    of: Mapping[str, ListedFiling]
    """By doc_id."""
    shown: Mapping[str, str]
    """doc_id by generation, for visible generations."""
    state: tuple[int, int]
    """Number of filings and sum of their marks; it differs whenever a filing changes."""
    hidden: tuple[str, ...] = ()
    """Generations without a visible filing: those being written, replaced or removed."""
    counts: dict[str, dict[str, int]] = field(init=False, default_factory=dict)
    """Kind of document -> in how many visible documents phrases are; counted when they are first asked for."""

    def known(self, doc_ids: Iterable[str]) -> list[ListedFiling]:
        """Return those of `doc_ids` that exist, in the order of the entries."""
        return sorted(self.of[doc_id] for doc_id in set(doc_ids) if doc_id in self.of)


_PINNED: ContextVar[tuple[ElasticIndex, Listing] | None] = ContextVar("_PINNED", default=None)
"""The listing used by all reads inside a snapshot."""


class ElasticIndex(FilingIndex):
    """Filings on an Elasticsearch cluster, in indices named with the address's prefix. Safe to share between threads.

    >>> index = ElasticIndex("https://localhost:9200/filings")  # doctest: +SKIP
    >>> index.search_pages(["inventory turnover"])  # doctest: +SKIP
    """

    def __init__(self, address: str, reaching: ConnectionSettings | None = None, *, create: bool = False) -> None:
        """Open the index at `https://host:9200/prefix`; with `create`, create what is missing of it.

        Args:
            address: Its address.
            reaching: Connection settings; those of the environment where None.
            create: Whether to create indices where they are missing.

        Raises:
            FilingIndexError: There is no index, it cannot be reached, or it has another format.
        """
        self.address = ClusterAddress.of(address)
        """Its address, without secrets."""
        self.reaching = reaching or ConnectionSettings.from_environment()
        self.client = client_of(self.address, self.reaching)
        self._guard = threading.Lock()
        self._kept: Listing | None = None
        self._checked = float("-inf")
        try:
            if create:
                self.create_indices()
            self.open_indices()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """See FilingIndex.close."""
        self.client.close()

    # Requests

    def open_indices(self) -> None:
        """Raise FilingIndexError where there is no index with this prefix, or one of another format."""
        names = [self.alias(kind) for kind in load_yaml("indices", __package__)["indices"]]
        found = self.request(self.client.indices.get_mapping, doing="opened", index=names)
        marks = (index.get("mappings", {}).get("_meta", {}).get("fin_agent", {}) for index in found.body.values())
        other = sorted({str(mark.get("format", "unknown")) for mark in marks} - {str(FORMAT)})
        if other:
            what = f"the index has format {', '.join(other)}; this version reads format {FORMAT}"
            remedy = "Copy the filings again under another prefix with `fin-agent index copy`"
            raise FilingIndexError(what, subject=str(self.address), remedy=remedy)

    def create_indices(self) -> None:
        """Create missing indices behind their aliases. Concurrent calls are harmless."""
        indices, common = self.client.indices, {"dynamic": "strict", "_meta": {"fin_agent": {"format": FORMAT}}}
        described = load_yaml("indices", __package__)
        words = {name: described[name] for name in ("analysis", "similarity")}
        for kind, own in described["indices"].items():
            name = self.alias(kind)
            if self.request(indices.exists_alias, name=name):
                continue
            shards = self.reaching.shards if own.get("large") else 1
            with suppress(elasticsearch.BadRequestError):
                self.request(
                    indices.create,
                    expected=("resource_already_exists_exception",),
                    index=f"{name}-000001",
                    aliases={name: {}},
                    settings={"index": {**described["settings"], "number_of_shards": shards}, **words},
                    mappings={**common, "properties": own["properties"]},
                )

    def alias(self, kind: str) -> str:
        """Return the alias of `filings`, `pages` and so on, which all reads and writes use."""
        return f"{self.address.prefix}-{kind}"

    def request(
        self, ask: Callable[..., T], *, doing: str = "read", expected: Collection[int | str] = (), **arguments: object
    ) -> T:
        """Call `ask`, again after growing pauses while the cluster is busy or silent, until `patience` is exhausted.

        `doing` is what the caller does with the index (`read`, `written`, `opened`). Raises FilingIndexError where the
        request failed, but errors with the `expected` statuses (404, 409) or types unchanged.
        """
        trying = Retrying(
            retry=retry_if_exception(_is_retryable),
            wait=wait_exponential(_FIRST_PAUSE, _LONGEST_PAUSE) + wait_random(0, _FIRST_PAUSE),
            stop=stop_before_delay(self.reaching.patience),
            before_sleep=self._report_retry,
            sleep=sleep,
            reraise=True,
        )
        try:
            return trying(ask, **arguments)
        except (ApiError, elastic_transport.TransportError, elasticsearch.helpers.ScanError) as error:
            if isinstance(error, ApiError) and {error.status_code, told_error(error.body)[0]} & {*expected}:
                raise
            raise index_error(self.address, error, doing) from error

    def search(self, kind: str, **arguments: Any) -> dict[str, Any]:
        """Return the response to a search of all shards of `filings`, `pages` and so on. Raises FilingIndexError."""
        arguments |= {"index": self.alias(kind), "allow_partial_search_results": False}
        return dict(self.request(self.client.search, **arguments).body)

    def scan(self, kind: str, **query: Any) -> list[dict[str, Any]]:
        """Return the sources of documents of an index at one moment, unordered. Raises FilingIndexError."""
        asked = {"query": query, "index": self.alias(kind), "scroll": "2m", "allow_partial_search_results": False}
        return self.request(lambda: [hit["_source"] for hit in elasticsearch.helpers.scan(self.client, **asked)])

    def _report_retry(self, state: RetryCallState) -> None:
        """Report once that the request is retried."""
        if state.attempt_number == _REPORTED_ATTEMPT and state.outcome is not None:
            why = index_error(self.address, state.outcome.exception(), "read").what
            patience = f"{self.reaching.patience:.0f} s in all at most ({VARIABLES['patience']})"
            _LOG.warning(f"{self.address}: {why}; asking again, for {patience}")

    # Writing

    def put(self, stored: StoredFiling) -> None:
        """See FilingIndex.put. If two processes write the same filing, the later one wins."""
        doc_id, generation = stored.doc_id, secrets.token_hex(12)
        (filing,), ((*details, summary),) = stored.parts[Part.FILING], stored.parts[Part.DETAILS]
        own = {"summary": summary, "details": {"row": details}, "checksums": stored.checksums()}
        source = {**_source(Part.FILING, filing), "generation": generation, **_stamp(), **own}
        self._journal(generation, doc_id, _LEASE)
        routing = company_routing(source.get("cik"), source["company"])
        self._write_parts(parts_of(stored, generation), doc_id, _routing=routing)
        self._exchange(doc_id, lambda current: source)
        self._delete_where(["journal"], _any_of("generation", [generation]))
        self.sweep()

    def remove(self, doc_id: str) -> bool:
        """See FilingIndex.remove."""
        if self._exchange(doc_id, lambda current: None) is None:
            return False
        self.sweep()
        return True

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """See FilingIndex.replace_summary."""
        changed = {"summary": summary, **_stamp()}
        replaced = self._exchange(doc_id, lambda current: current and {**current, **changed})
        if replaced is None:
            return False
        of_summary = [_any_of("generation", [replaced["generation"]]), _any_of("unit", [VectorUnit.SUMMARY.value])]
        self._delete_where(["vectors"], {"bool": {"filter": of_summary}})
        return True

    def sweep(self, ahead: float = 0.0) -> None:
        """Delete parts without a visible filing that expire within `ahead` seconds."""
        due = {"range": {"due": {"lte": _now(ahead)}}}
        expired = self._generations("journal", size=1_000, query=due, sort=_ascending("due"))
        if not expired:
            return
        self._refresh(set(map(self.alias, ("filings", *PARTS))))  # what is not refreshed is not found
        # A shard that cannot be asked is an error: its filings must not count as missing.
        if gone := expired - self._generations("filings", size=1_000, query=_any_of("generation", expired)):
            self._delete_where(PARTS, _any_of("generation", gone))
        self._delete_where(["journal"], _any_of("generation", expired))

    def _generations(self, kind: str, **asked: Any) -> set[str]:
        """Return the generations of the documents that a search finds."""
        found = self.search(kind, source={"includes": ["generation"]}, **asked)
        return {hit["_source"]["generation"] for hit in found["hits"]["hits"]}

    def _exchange(self, doc_id: str, make: Callable[[Source | None], Source | None]) -> Source | None:
        """Exchange the document that makes a filing visible, and return the old one; None stands for no document.

        `make` returns the new one of the current one, again where another process was faster. The parts of the old one
        are named in the journal first, because answers may read them for a while.
        """
        for _ in range(_TRIES):
            found = self.document_of(doc_id)
            current: Source | None = found["_source"] if found else None
            new = make(current)
            if new == current:  # also where the response to the previous attempt was lost
                break
            if current and (new is None or new["generation"] != current["generation"]):
                self._journal(current["generation"], doc_id, self.reaching.grace)
            expected = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]} if found else {}
            try:
                self._write("filings", id_of(doc_id), new, **(expected or {"op_type": "create"}))
            except (elasticsearch.ConflictError, elasticsearch.NotFoundError):
                continue
            break
        else:
            raise FilingIndexError(
                "other processes keep writing this filing", subject=doc_id, remedy="Add it from one process only"
            )
        self._checked = float("-inf")  # so that the next read sees this write
        return current

    def _journal(self, generation: str, doc_id: str, kept: float) -> None:
        """Record a generation without a visible filing; it is deleted after `kept` seconds."""
        trace = {"generation": generation, "doc_id": doc_id, "due": _now(kept)}
        self._write("journal", generation, trace)

    def _write(self, kind: str, id: str, source: Source | None, **expected: Any) -> None:
        """Write a document, or delete it if `source` is None; raise ApiError where `expected` does not hold."""
        ask = self.client.delete
        if source is not None:
            ask, expected = self.client.index, {"document": source, "require_alias": True, **expected}
        asked = {"index": self.alias(kind), "id": id, "refresh": True, **expected}
        self.request(ask, doing="written", expected=(409,) if source is not None else (404, 409), **asked)

    def _write_parts(self, documents: Iterable[Document], doc_id: str, **more: str) -> None:
        """Write documents of a filing, again only those that the cluster was too busy for, so that searches find them.

        Raises FilingIndexError where one was rejected; the message names the first one.
        """
        parts = [(self.alias(kind), id, source) for kind, id, source in documents]
        actions = [{"_index": name, "_id": id, "_source": source, **more} for name, id, source in parts]
        _, errors = self.request(
            elasticsearch.helpers.bulk,
            doing="written",
            client=self.client,
            actions=actions,
            chunk_size=MAX_DOCUMENTS,
            max_chunk_bytes=MAX_BYTES,
            raise_on_error=False,
            require_alias=True,
            max_retries=int(math.log2(max(1.0, self.reaching.patience / _FIRST_PAUSE))),
            initial_backoff=_FIRST_PAUSE,
            max_backoff=_LONGEST_PAUSE,
            retry_on_status=_BUSY_STATUSES,
        )
        if refused := [item["index"] for item in errors]:
            first = next((item for item in refused if not _is_busy(item["status"], item)), refused[0])
            error = index_error(self.address, first, "written")
            others = f" ({len(refused)} of {len(actions)} documents)" if len(refused) > 1 else ""
            place = f"{first['_index'].removeprefix(self.alias(''))} {first['_id'].rpartition('-')[2]}"
            raise FilingIndexError(f"{place} was rejected{others}: {error.what}", subject=doc_id, remedy=error.remedy)
        self._refresh({name for name, *_ in parts})

    def _refresh(self, names: Collection[str]) -> None:
        refresh = self.client.indices.refresh
        self.request(refresh, doing="written", index=sorted(names), ignore_unavailable=True)

    def _delete_where(self, kinds: Collection[str], query: dict[str, Any]) -> None:
        """Delete the documents that a query finds, and refresh."""
        self.request(
            self.client.delete_by_query,
            doing="written",
            index=",".join(map(self.alias, kinds)),
            query=query,
            conflicts="proceed",
            refresh=True,
            ignore_unavailable=True,
        )

    # The list of filings

    def filings(self) -> tuple[FilingRecord, ...]:
        """See FilingIndex.filings."""
        found = {source["doc_id"]: _record(source) for source in self.scan("filings")}
        return tuple(found[entry.doc_id] for entry in self.entries() if entry.doc_id in found)

    def entries(self) -> tuple[FilingEntry, ...]:
        """See FilingIndex.entries."""
        return self.listing().entries

    def filing(self, doc_id: str) -> FilingRecord:
        """See FilingIndex.filing."""
        return _record(self._known_source(doc_id))

    def document_of(self, doc_id: str) -> dict[str, Any] | None:
        """Return a filing's own document with its sequence number, or None where there is none."""
        get, alias = self.client.get, self.alias("filings")
        try:
            return dict(self.request(get, expected=(404,), index=alias, id=id_of(doc_id)).body)
        except elasticsearch.NotFoundError as error:
            if isinstance(error.body, dict) and error.body.get("found") is False:
                return None
            raise index_error(self.address, error, "read") from error

    def _known_source(self, doc_id: str) -> Source:
        """Return the source of the same document. Raises FilingIndexError where there is none."""
        found = self.document_of(doc_id)
        if found is None:
            raise not_indexed(doc_id, (entry.doc_id for entry in self.entries()))
        return found["_source"]  # type: ignore[no-any-return]

    def listing(self) -> Listing:
        """Return the current list of filings, which may be as old as `checked_every`."""
        pinned = _PINNED.get()
        if pinned is not None and pinned[0] is self:
            return pinned[1]
        with self._guard:
            kept = self._kept
            if kept is not None and time.monotonic() - self._checked < self.reaching.checked_every:
                return kept
            self._checked = time.monotonic()
            marks = {"marks": {"sum": {"field": "mark"}}}
            filings = self.search("filings", size=0, track_total_hits=True, aggregations=marks)
            journal = self._generations("journal", size=_MAX_HITS, sort=[{"due": {"order": "desc"}}])
            state = (filings["hits"]["total"]["value"], int(filings["aggregations"]["marks"]["value"]))
            if kept is None or kept.state != state:
                kept = self._read()
            hidden = tuple(generation for generation in sorted(journal) if generation not in kept.shown)
            self._kept = kept if kept.hidden == hidden else replace(kept, hidden=hidden)
            return self._kept

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Make all reads inside see one state, also those of threads that inherit the context.

        It may last as long as replaced parts are kept (`ConnectionSettings.grace`).
        """
        token = _PINNED.set((self, self.listing()))
        try:
            yield
        finally:
            _PINNED.reset(token)

    def _read(self) -> Listing:
        fields = ["generation", "mark", *rows.ENTRY_COLUMNS]
        found = [
            (FilingEntry.of([source.get(column) for column in rows.ENTRY_COLUMNS]), source)
            for source in self.scan("filings", _source={"includes": fields})
        ]
        found.sort(key=lambda each: (each[0].content_hash, each[0].doc_id))
        entries = tuple(entry for entry, _ in found)
        if self._kept is not None and self._kept.entries == entries:
            entries = self._kept.entries
        return Listing(
            entries=entries,
            of={
                entry.doc_id: ListedFiling(
                    position, source["generation"], company_routing(entry.identity.cik, entry.identity.company)
                )
                for position, (entry, source) in enumerate(found)
            },
            shown={source["generation"]: entry.doc_id for entry, source in found},
            state=(len(found), sum(source["mark"] for _, source in found)),
        )

    # Words

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        asked = {stem: {"term": {"text": {"value": stem}}} for stem in sorted(stems)}
        return {stem: count for stem, count in self._counted("pages", asked).items() if count}

    def _search(self, part: Part, terms: Sequence[str], doc_ids: Collection[str] | None, limit: int) -> list[Hit]:
        kind, field, *places = _SEARCHED[part]
        listing = self.listing()
        generations = None if doc_ids is None else [each.generation for each in listing.known(doc_ids)]
        clauses = list(self._clauses(kind, field, terms))
        if not clauses or limit < 1 or generations == []:
            return []
        query: dict[str, Any] = {
            "should": clauses,
            "minimum_should_match": 1,
            "must_not": _any_of("generation", listing.hidden),
        }
        if generations is not None and len(generations) <= MAX_FILTERED:
            query["filter"] = [_any_of("generation", generations)]
        hits = self._paged(
            kind,
            min(limit + _SPARE, _MAX_HITS),
            query={"bool": query},
            sort=[{"_score": {"order": "desc"}}, *_ascending("content_hash", "doc_id", *places)],
            source=False,
            fields=[{"field": "generation"}],
            # Each shard has statistics of its own words only; with this search type, all score like one index.
            search_type="dfs_query_then_fetch",
            preference=self.address.prefix,  # copies of a shard may give slightly different scores
        )
        allowed = listing.shown.keys() if generations is None else frozenset(generations)
        visible = (hit["sort"] for hit in hits if hit["fields"]["generation"][0] in allowed)
        found = ((score, doc_id, place or [0]) for score, _, doc_id, *place in islice(visible, limit))
        return [Hit(doc_id, place[-1], place[0], score) for score, doc_id, place in found]

    def _paged(self, kind: str, size: int, **asked: Any) -> Iterator[dict[str, Any]]:
        """Yield all hits of a search with a total order, `size` of them per request."""
        while True:
            hits = self.search(kind, size=size, track_total_hits=False, **asked)["hits"]["hits"]
            yield from hits
            if len(hits) < size:
                return
            asked["search_after"] = hits[-1]["sort"]

    def _clauses(self, kind: str, field: str, terms: Sequence[str]) -> Iterator[Filter]:
        """Yield a query for each term that occurs, boosted to its weight in the embedded index; rarest first.

        SQLite weighs a phrase by the documents that contain it, and words in half of all documents have almost no
        weight; Lucene adds the weights of a phrase's words and gives common words some weight.
        """
        asked = _phrases(terms)
        held = self._frequencies(kind, field, {*asked, *(word for words in asked.values() for word in words)})
        total, left = held[_ALL], MAX_WORDS
        for phrase in sorted((each for each in asked if held[each]), key=lambda each: (held[each], each)):
            left -= len(asked[phrase])
            if left < 0:
                return
            lucene = sum(math.log(1 + _odds(held[word], total)) for word in asked[phrase] if held[word])
            sqlite = max(math.log(_odds(held[phrase], total)), _LEAST)
            yield {"match_phrase": {field: {"query": phrase, "boost": sqlite / lucene if lucene else 1.0}}}

    def _frequencies(self, kind: str, field: str, phrases: Collection[str]) -> Mapping[str, int]:
        """Return the number of visible documents with each phrase (_ALL: of all), cached until something changes."""
        known = self.listing().counts.setdefault(kind, {})
        new = {phrase: {"match_phrase": {field: {"query": phrase}}} for phrase in sorted(set(phrases) - known.keys())}
        if _ALL not in known:
            new[_ALL] = {"match_all": {}}
        known.update(self._counted(kind, new))
        return known

    def _counted(self, kind: str, queries: Mapping[str, Filter]) -> dict[str, int]:
        """Return the number of visible documents that match each query."""
        counted: dict[str, int] = {}
        names = list(queries)
        for start in range(0, len(names), _COUNTED_AT_ONCE):
            some = names[start : start + _COUNTED_AT_ONCE]
            answer = self._aggregated(kind, {"filters": {"filters": [queries[name] for name in some]}})
            counted |= {name: int(each["doc_count"]) for name, each in zip(some, answer["buckets"], strict=True)}
        return counted

    def _aggregated(self, kind: str, aggregation: Filter) -> dict[str, Any]:
        """Return an aggregation over the visible documents."""
        answer = self.search(
            kind,
            query={"bool": {"must_not": _any_of("generation", self.listing().hidden)}},
            size=0,
            track_total_hits=False,
            aggregations={"all": aggregation},
        )
        return answer["aggregations"]["all"]  # type: ignore[no-any-return]

    # What filings hold

    def stored(self, doc_id: str) -> StoredFiling:
        """See FilingIndex.stored."""
        filing = self._known_source(doc_id)
        read = (_STORED[part] for part in (Part.PAGES, Part.PASSAGES, Part.FACTS))
        pages, passages, figures = (
            [each for _, each in self._sources(kind, [doc_id], order, fields)] for kind, _, order, fields in read
        )
        facts = sorted((ordinal, tuple(fact)) for source in figures for ordinal, *fact in source["facts"]["all"])
        tags = [tuple(tag) for source in figures for tag in source["tags"]["all"]]
        return StoredFiling(
            {
                Part.FILING: [row_of(Part.FILING, filing)],
                Part.DETAILS: [(*filing["details"]["row"], filing["summary"])],
                Part.PAGES: [row_of(Part.PAGES, source) for source in pages],
                Part.PASSAGES: [row_of(Part.PASSAGES, source) for source in passages],
                Part.CARDS: [(source["card"],) for source in passages],
                Part.FACTS: [fact for _, fact in facts],
                Part.TAGS: sorted(tags, key=lambda tag: tag[0]),
                Part.TABLES: [(each["page"], b64decode(each["tables"])) for each in figures if each.get("tables")],
            }
        )

    def checksums(self, doc_id: str) -> dict[str, str]:
        """See FilingIndex.checksums."""
        found = self.document_of(doc_id)
        return {} if found is None else dict(found["_source"]["checksums"])

    def _on_pages(self, part: Part, keys: Sequence[PageKey], make: Callable[[PageKey, Any], T]) -> list[T]:
        kind, page, order, fields = _STORED[part]
        found: dict[PageKey, list[list[Any]]] = {}
        within = [_any_of(page, {key.page for key in keys})]
        for doc_id, source in self._sources(kind, {key.doc_id for key in keys}, order, fields, within):
            if fields[-1] in source:  # figures of a page need not be in tables
                last = b64decode(source["tables"]) if part is Part.TABLES else source[fields[-1]]
                row = [*(source.get(column) for column in fields[:-1]), last]
                found.setdefault(PageKey(doc_id, source[page]), []).append(row)
        return [make(key, row) for key in keys for row in found.get(key, ())]

    def outline(self, doc_ids: Collection[str]) -> list[StoredPage]:
        """See FilingIndex.outline."""
        columns = rows.OUTLINE.names
        pages = self._sources("pages", doc_ids, "number", columns)
        return [StoredPage(of, rows.OUTLINE.value([*map(page.get, columns)], text="")) for of, page in pages]

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        years: Collection[int] | None = None,
    ) -> list[SourcedFact]:
        """See FilingIndex.facts."""
        within: list[Filter] = []
        if metrics is not None:
            within.append(_any_of("metrics", metrics))
        if pages is not None:
            pages, doc_ids = frozenset(pages), {key.doc_id for key in pages} & set(doc_ids)
            within.append(_any_of("page", {key.page for key in pages}))
        found: dict[str, list[tuple[int, SourcedFact]]] = {}
        fields = ("page", "facts", "tags", "linked")
        for doc_id, source in self._sources("figures", doc_ids, "page", fields, within):
            if pages is not None and (doc_id, source["page"]) not in pages:
                continue
            tags = {tag[0]: rows.tag(tag) for kind in ("tags", "linked") for tag in source[kind]["all"]}
            for ordinal, *row in source["facts"]["all"]:
                fact = rows.fact(row, tags.get(row[_TAG]))
                if (metrics is None or fact.metric in metrics) and (years is None or fact.period.fiscal_year in years):
                    found.setdefault(doc_id, []).append((ordinal, SourcedFact(doc_id, fact)))
        return [fact for facts in found.values() for _, fact in sorted(facts, key=lambda each: each[0])]

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """See FilingIndex.tags."""
        if page == NO_PAGE:
            return []
        within = [] if page is None else [_any_of("page", [page])]
        sources = self._sources("figures", [doc_id], "page", ("tags",), within)
        found = [row for _, source in sources for row in source["tags"]["all"]]
        return [rows.tag(row) for row in sorted(found, key=lambda row: row[0])]

    def _sources(
        self, kind: str, doc_ids: Collection[str], place: str, fields: Sequence[str], within: Sequence[Filter] = ()
    ) -> Iterator[tuple[str, Source]]:
        """Yield (doc_id, document) of filings in the order of the entries, and within a filing by `place`."""
        listing, at_once = self.listing(), _VECTORS_AT_ONCE if kind == "vectors" else _AT_ONCE
        known = listing.known(doc_ids)
        for start in range(0, len(known), at_once):
            some = [each.generation for each in known[start : start + at_once]]
            routes = {each.routing for each in known[start : start + at_once]}
            hits = self._paged(
                kind,
                at_once,
                query={"bool": {"filter": [_any_of("generation", some), *within]}},
                routing=",".join(sorted(routes)) if len(routes) <= _MAX_ROUTES else None,
                sort=_ascending("generation", place),
                source={"includes": ["generation", *fields]},
            )
            found = ((listing.shown[hit["_source"]["generation"]], hit["_source"]) for hit in hits)
            yield from sorted(found, key=lambda each: listing.of[each[0]].position)

    # Vectors

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
        generation = self._known_source(vectors.doc_id)["generation"]
        source = {
            "doc_id": vectors.doc_id,
            "generation": generation,
            "model": model,
            "unit": unit.value,
            "written": _now(),
            "dimensions": vectors.dimensions,
            "sparse": vectors.sparse,
            "rows": len(vectors.places),
            "places": b64encode(pack_numbers(vectors.places)).decode(),
            "values": b64encode(vectors.values).decode(),
        }
        document_id = f"{generation}-{hashlib.sha256(model.encode()).hexdigest()[:16]}-{unit}"
        self._write_parts([("vectors", document_id, source)], vectors.doc_id)

    def vector_models(self) -> tuple[VectorModel, ...]:
        """See FilingIndex.vector_models."""
        counted = {"dimensions": "max", "sparse": "max", "rows": "sum", "written": "max"}
        of_unit = {field: {how: {"field": field}} for field, how in counted.items()}
        by_unit = {"terms": {"field": "unit", "size": len(VectorUnit)}, "aggregations": of_unit}
        by_model = {"terms": {"field": "model", "size": _MAX_MODELS}, "aggregations": {"units": by_unit}}
        found = []
        for model in self._aggregated("vectors", by_model)["buckets"]:
            for unit in model["units"]["buckets"]:
                dimensions, sparse, vectors, latest = (int(unit[field]["value"]) for field in counted)
                of = (str(model["key"]), VectorUnit(unit["key"]))
                found.append(VectorModel(*of, dimensions, bool(sparse), unit["doc_count"], vectors, latest))
        return tuple(sorted(found, key=lambda each: (each.model, each.unit)))

    def _filings_with_vectors(self, model: str, unit: VectorUnit) -> frozenset[str]:
        query = {"bool": {"filter": _of_unit(model, unit)}}
        found = self.scan("vectors", query=query, _source={"includes": ["generation"]})
        shown = self.listing().shown
        return frozenset(shown[each["generation"]] for each in found if each["generation"] in shown)

    def _read_vectors(self, model: str, unit: VectorUnit, doc_ids: Sequence[str]) -> Iterator[FilingVectors]:
        fields, within = ("places", "dimensions", "values", "sparse"), _of_unit(model, unit)
        for doc_id, source in self._sources("vectors", doc_ids, "unit", fields, within):
            places, values = unpack_numbers(b64decode(source["places"])), b64decode(source["values"])
            yield FilingVectors(doc_id, places, source["dimensions"], values, source["sparse"])


def _now(later: float = 0.0) -> int:
    """Return the time in microseconds, some seconds `later`."""
    return time.time_ns() // 1_000 + int(later * 1e6)


def _stamp() -> Source:
    """Return the fields that differ with every write of a filing's own document."""
    return {"mark": secrets.randbelow(_MARKS), "written": _now()}


def _of_unit(model: str, unit: VectorUnit) -> list[Filter]:
    """Return filters for vectors of this model and unit."""
    return [_any_of("model", [model]), _any_of("unit", [unit.value])]


def _record(source: Mapping[str, Any]) -> FilingRecord:
    """Return the filing record from a filing's own document."""
    return FilingRecord.of([*row_of(Part.FILING, source), *source["details"]["row"], source["summary"]])


def _ascending(*fields: str) -> list[dict[str, dict[str, str]]]:
    """Return a sort order by these fields, one after another."""
    return [{name: {"order": "asc"}} for name in fields]


def _any_of(field: str, values: Collection[str] | Collection[int]) -> Filter:
    """Return a filter for documents with any of these values."""
    return {"terms": {field: sorted(values)}}


def _phrases(terms: Sequence[str]) -> dict[str, list[str]]:
    """Return each distinct term with its words; terms without words are left out."""
    found: dict[str, list[str]] = {}
    for term in terms:
        words = re.findall(r"\w+", term.encode("utf-8", "replace").decode())
        if 0 < len(words) <= MAX_WORDS:
            found[" ".join(words)] = re.findall(r"[^\W_]+", " ".join(words)) or words
    return found


def _odds(holding: int, of: int) -> float:
    """Return the quotient of documents without and with a term, of which BM25 takes the logarithm."""
    return (of - holding + 0.5) / (holding + 0.5)


# The client and its errors


def _is_retryable(error: BaseException) -> bool:
    """Return whether the same request may succeed a moment later."""
    if isinstance(error, ApiError):
        return _is_busy(error.status_code, error.body)
    lost = isinstance(error, elastic_transport.ConnectionError | elastic_transport.ConnectionTimeout)
    return lost and not isinstance(error, elastic_transport.TlsError)


def _is_busy(status: int, body: object) -> bool:
    """Return whether a response, or an item of a bulk, tells of a load that passes; a full disk is none."""
    return status in _BUSY_STATUSES and told_error(body)[0] != _DISK_FULL


def index_error(address: ClusterAddress, error: BaseException | Source | None, doing: str) -> FilingIndexError:
    """Return the error to report for the client's `error`, or an item of a bulk; `doing` is what was done."""
    status: int = 0
    body: object = {
        "type": type(error).__name__,
        "reason": getattr(error, "message", "") or str(error) or type(error).__name__,
    }
    if isinstance(error, ApiError) and not isinstance(error, elasticsearch.UnsupportedProductError):
        status, body = error.status_code, error.body
    elif isinstance(error, dict):
        status, body = int(error["status"]), error
    kind, reason = told_error(body)
    reason = " ".join(redact_secrets(reason).split())[:_MAX_LENGTH]
    for entry in load_yaml("errors", __package__)["errors"]:
        found = re.search(entry.get("reason", ""), reason)
        told = {"status": status, "type": kind, "doing": doing}
        if found and all(value in entry.get(name, (value,)) for name, value in told.items()):
            break
    words = {
        "told": ": ".join(filter(None, (kind, reason) if status else (reason,))) or f"status {status}",
        "doing": doing,
        "address": address,
        "reason": f"Elasticsearch {found[1]}" if found and found.lastindex else "another version",
        "client": elasticsearch.__version__[0],
    }
    what, remedy = entry["what"].format_map(words), entry["remedy"].format_map(words)
    return FilingIndexError(what, subject=str(address), remedy=remedy)


def told_error(body: object) -> tuple[str, str]:
    """Return the type and the reason of the error in a response: those of its root cause, where shards failed."""
    told = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(told, dict):
        return "", str(told)
    if told.get("type") == "search_phase_execution_exception" and told.get("root_cause"):
        told = told["root_cause"][0]
    causes = (told, told.get("caused_by"))
    reason = ": ".join(str(cause["reason"]) for cause in causes if isinstance(cause, dict) and cause.get("reason"))
    return _DISK_FULL if "disk usage exceeded" in reason else str(told.get("type", "")), reason


def client_of(address: ClusterAddress, reaching: ConnectionSettings) -> elasticsearch.Elasticsearch:
    """Return the client, with its own retries off, because it does not pause between them."""
    basic = None
    if reaching.username and reaching.password:  # in UTF-8, which is what a cluster takes
        basic = b64encode(f"{reaching.username}:{reaching.password}".encode()).decode("ascii")
    if (reaching.api_key or basic) and is_plaintext(str(address)):
        raise FilingIndexError(
            "its key or password would be sent over plain HTTP, which anybody on the network path can read",
            subject=str(address),
            remedy="Give an address with https, or a tunnel to it on 127.0.0.1",
        )
    default_port = "" if ":" in address.host.rpartition("]")[2] else ":443" if address.scheme == "https" else ":80"
    certificates = {"ca_certs": reaching.certificates} if address.scheme == "https" and reaching.certificates else {}
    try:
        return elasticsearch.Elasticsearch(
            f"{address.scheme}://{address.host}{default_port}",
            **certificates,
            api_key=reaching.api_key,
            basic_auth=basic,
            request_timeout=reaching.timeout,
            max_retries=0,
            retry_on_timeout=False,
            http_compress=address.scheme != "http",  # on the local machine, compression costs more than it saves
        )
    except (ValueError, OSError) as error:
        raise FilingIndexError(
            f"the connection to the cluster cannot be set up ({redact_secrets(str(error))})",
            subject=str(address),
            remedy=f"Check the address, and what {VARIABLES['certificates']} is set to",
        ) from error


# Documents of filings


def row_of(part: Part, source: Mapping[str, Any]) -> StoredRow:
    """Return the row of a part from a document, column by column."""
    return tuple(source.get(column) for column in COLUMNS[part])


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
    yield from _figures(stored, generation)


def id_of(doc_id: str) -> str:
    """Return the id of a filing's own document: a hash, because a doc_id may exceed the length limit of ids."""
    return hashlib.sha256(doc_id.encode("utf-8", "surrogatepass")).hexdigest()


def company_routing(cik: str | None, company: str) -> str:
    """Return the routing value of a company's filings, which puts all their parts on one shard."""
    name = cik.lstrip("0") if cik else company.casefold()
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _source(part: Part, row: StoredRow) -> Source:
    """Return the source of a row, without empty fields."""
    return {column: value for column, value in zip(COLUMNS[part], row, strict=True) if value is not None}


def _figures(stored: StoredFiling, generation: str) -> Iterator[Document]:
    """Yield a document for each page with its facts, tags and tables, by page."""
    tags = {tag[0]: tag for tag in stored.parts[Part.TAGS]}
    facts_of = grouped((fact[_PAGE], (ordinal, fact)) for ordinal, fact in enumerate(stored.parts[Part.FACTS]))
    tags_of = grouped((NO_PAGE if tag[_TAG_PAGE] is None else tag[_TAG_PAGE], tag) for tag in tags.values())
    tables_of: dict[Any, Any] = dict(stored.parts[Part.TABLES])
    for page in sorted({*facts_of, *tags_of, *tables_of}):
        facts, own = facts_of.get(page, []), tags_of.get(page, [])
        linked = sorted({fact[_TAG] for _, fact in facts if fact[_TAG] is not None} - {tag[0] for tag in own})
        source = {
            "generation": generation,
            "page": page,
            "metrics": sorted({fact[_METRIC] for _, fact in facts if fact[_METRIC] is not None}),
            "facts": {"all": [(ordinal, *fact) for ordinal, fact in facts]},
            "tags": {"all": own},
            "linked": {"all": [tags[ordinal] for ordinal in linked]},
            **({"tables": b64encode(tables_of[page]).decode()} if page in tables_of else {}),
        }
        yield "figures", f"{generation}-{page}", source
