"""Many documents: as much at once as the cluster takes, and what it does not take is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic import index as elastic
from fin_agent.index.elastic.index import ElasticIndex
from fin_agent.vocabulary.filing import Filing
from tests.index.elastic_server.refusal import RefusalError
from tests.index.elastic_server.server import ElasticServer

MakeFiling = Callable[..., Filing]

BUSY = RefusalError(429, "es_rejected_execution_exception", "rejected execution of primary operation")


def bulks(server: ElasticServer) -> int:
    return server.requests.count("PUT /_bulk")


def test_items_that_it_was_too_busy_for_are_sent_again_and_only_these(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling
) -> None:
    server.items_refused.append(("test-pages/.*-[37]$", BUSY, 5))
    index.add(make_filing("a", *["gyroscope"] * 10), ["{}"] * 10, "")
    assert bulks(server) == 4  # all; both; both; the second one
    assert len(index.search_pages(["gyroscope"])) == 10
    versions = {stored.version for stored in server.node.named("test-pages")[0].view.live.values()}
    assert versions == {1}  # none was written twice


def test_requests_hold_so_many_bytes(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elastic, "MAX_BYTES", 2_000)
    index.add(make_filing("a", *["word " * 150] * 6), ["{}"] * 6, "")
    assert bulks(server) == 6
    assert len(index.outline(["a"])) == 6


def test_an_item_that_is_refused_for_good_is_named_and_nothing_is_seen(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling, pauses: list[float]
) -> None:
    index.add(make_filing("a", "compass"), ["{}"], "before")
    wrong = RefusalError(400, "document_parsing_exception", "failed to parse field [box]")
    server.items_refused.append(("test-passages/.*-1$", wrong, 99))
    with pytest.raises(FilingIndexError, match=r"passages 1 was rejected.*failed to parse field \[box\]") as caught:
        index.add(make_filing("a", "gyroscope", "gyroscope"), ["{}"] * 2, "after")
    assert caught.value.subject == "a"
    assert pauses == []
    assert index.filing("a").summary == "before"
    assert index.search_pages(["gyroscope"]) == [] and len(index.search_pages(["compass"])) == 1


def test_a_disk_that_fills_meanwhile_is_told_and_not_the_load(
    make_index: Callable[..., ElasticIndex], server: ElasticServer, make_filing: MakeFiling
) -> None:
    index = make_index(patience=0.5)
    full = RefusalError(
        429, "cluster_block_exception", "index [x] blocked by: [disk usage exceeded flood-stage watermark]"
    )
    server.items_refused += [("test-pages/.*-0$", BUSY, 9), ("test-pages/.*-1$", full, 9)]
    with pytest.raises(FilingIndexError, match=r"pages 1 was rejected .*flood-stage watermark"):
        index.add(make_filing("a", "x", "y"), ["{}"] * 2, "")


def test_a_cluster_that_stays_busy(
    make_index: Callable[..., ElasticIndex], server: ElasticServer, make_filing: MakeFiling
) -> None:
    index = make_index("busy", patience=0.05)
    server.items_refused.append(("busy-pages", BUSY, 10_000))
    with pytest.raises(FilingIndexError, match=r"pages 0 was rejected \(2 of 4 documents\): the cluster is too busy"):
        index.add(make_filing("a", "x", "y"), ["{}"] * 2, "")
    assert index.entries() == ()
