"""A filing is seen whole or not at all, whatever is interrupted and whoever writes at the same time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.index import ElasticIndex
from fin_agent.index.protocol import PageKey, VectorUnit
from fin_agent.vocabulary.filing import Filing
from tests.index.contract.samples import EVERYTHING
from tests.index.contract.test_vectors import dense
from tests.index.elastic_server.refusal import RefusalError
from tests.index.elastic_server.server import ElasticServer

MakeFiling = Callable[..., Filing]
MakeIndex = Callable[..., ElasticIndex]

PARTS = ("pages", "passages", "figures", "vectors")
DOWN = RefusalError(500, "internal", "the node went away")


def kept(server: ElasticServer, prefix: str = "test") -> dict[str, int]:
    """How many documents each index holds, seen or not."""
    found = {}
    for kind in (*PARTS, "journal", "filings"):
        (shelf,) = server.node.named(f"{prefix}-{kind}")
        shelf.refresh()
        found[kind] = len(shelf.view.live)
    return found


@pytest.mark.parametrize("at", ["PUT /_bulk", "_refresh", "GET /test-filings/_doc", "PUT /test-filings/_doc"])
def test_what_is_interrupted_is_not_seen_and_goes_away(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling, at: str
) -> None:
    index.add(EVERYTHING, ["{}"] * 2, "before")
    before = kept(server)
    records = index.filings()
    changed = make_filing(EVERYTHING.doc_id, "gyroscope", "gyroscope")
    with server.failing(at, DOWN, done="bulk" in at), pytest.raises(FilingIndexError, match="went away"):
        index.add(changed, ["{}"] * 2, "after")
    assert index.filings() == records
    assert index.search_pages(["gyroscope"]) == [] and index.document_frequencies(["gyroscop"]) == {}
    assert len(index.facts([EVERYTHING.doc_id])) == 2
    index.sweep(ahead=1e6)
    assert kept(server) == before


def test_an_answer_that_is_lost_is_not_a_failure(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling
) -> None:
    index.add(make_filing("a", "compass"), ["{}"], "before")
    with server.failing("PUT /test-filings/_doc", None):  # done, but the connection is cut
        index.add(make_filing("a", "gyroscope"), ["{}"], "after")
    assert index.filing("a").summary == "after"
    index.sweep(ahead=1e6)
    assert kept(server) == {"pages": 1, "passages": 1, "figures": 0, "vectors": 0, "journal": 0, "filings": 1}


def test_what_was_replaced_stays_for_those_who_read_it(make_index: MakeIndex, make_filing: MakeFiling) -> None:
    reader, writer = make_index(checked_every=1_000.0), make_index(create=False)
    writer.add(make_filing("a", "compass"), ["{}"], "before")
    assert [entry.doc_id for entry in reader.entries()] == ["a"]
    writer.add(make_filing("a", "gyroscope", "gyroscope"), ["{}"] * 2, "after")
    assert [stored.page.text for stored in reader.pages([PageKey("a", 0)])] == ["compass"]
    assert len(reader.search_pages(["compass"])) == 1 and reader.search_pages(["gyroscope"]) == []
    assert len(reader.outline(["a"])) == 1
    reader._checked = float("-inf")
    assert len(reader.outline(["a"])) == 2 == len(reader.search_pages(["gyroscope"]))


def test_what_was_replaced_goes_when_its_time_is_up(
    make_index: MakeIndex, server: ElasticServer, make_filing: MakeFiling
) -> None:
    index = make_index(grace=0.0)
    index.add(EVERYTHING, ["{}"] * 2, "")
    index.add_vectors("m", VectorUnit.PAGE, dense(EVERYTHING.doc_id, (1.0, 2.0)))
    index.add(make_filing(EVERYTHING.doc_id, "x"), ["{}"], "")  # of another company: parts stand elsewhere
    assert kept(server) == {"pages": 1, "passages": 1, "figures": 0, "vectors": 0, "journal": 0, "filings": 1}
    index.remove(EVERYTHING.doc_id)
    assert set(kept(server).values()) == {0}


def test_two_write_the_same_filing_at_once(
    make_index: MakeIndex, server: ElasticServer, make_filing: MakeFiling
) -> None:
    one, other = make_index(), make_index(create=False)
    one.add(make_filing("a", "compass"), ["{}"], "first")
    answer = server.answer
    raced: list[str] = []

    def racing(asked: object) -> object:
        # Just before the one writes what makes its parts visible, the other has written its own.
        line = f"{getattr(asked, 'method', '')} /{'/'.join(getattr(asked, 'path', ()))}"
        if line.startswith("PUT /test-filings/_doc") and not raced:
            raced.append(line)
            other.add(make_filing("a", "sextant"), ["{}"], "of the other")
        return answer(asked)  # type: ignore[arg-type]

    server.answer = racing  # type: ignore[method-assign, assignment]
    one.add(make_filing("a", "gyroscope"), ["{}"], "of the one")
    assert raced
    for index in (one, other):
        assert index.filing("a").summary == "of the one"
        assert len(index.search_pages(["gyroscope"])) == 1
        assert index.search_pages(["compass", "sextant"]) == []
    one.sweep(ahead=1e6)
    assert kept(server) == {"pages": 1, "passages": 1, "figures": 0, "vectors": 0, "journal": 0, "filings": 1}


def test_removing_what_another_is_replacing(
    make_index: MakeIndex, server: ElasticServer, make_filing: MakeFiling
) -> None:
    one = make_index()
    one.add(make_filing("a", "compass"), ["{}"], "")
    conflict = RefusalError(409, "version_conflict_engine_exception", "[a]: version conflict")
    with server.failing("DELETE /test-filings/_doc", conflict, times=2):
        assert one.remove("a")
    assert one.entries() == ()
    one.add(make_filing("a", "compass"), ["{}"], "")
    with (
        server.failing("DELETE /test-filings/_doc", conflict, times=99),
        pytest.raises(FilingIndexError, match="other processes keep writing"),
    ):
        one.remove("a")


def test_parts_of_a_company_stand_on_one_shard(make_index: MakeIndex, server: ElasticServer) -> None:
    from dataclasses import replace

    index = make_index("wide", shards=7)
    for doc_id in ("a", "b"):
        index.add(replace(EVERYTHING, doc_id=doc_id), ["{}"] * 2, "")
    (pages,) = server.node.named("wide-pages")
    assert pages.shards == 7
    assert len({stored.shard for stored in pages.view.live.values()}) == 1
    keys = [PageKey("a", 0), PageKey("b", 1)]
    assert [stored.key for stored in index.pages(keys)] == keys
    assert len(index.facts(["a", "b"])) == 4 and len(index.passages(keys)) == 2


def test_a_question_sees_one_state(make_index: MakeIndex, make_filing: MakeFiling) -> None:
    reader, writer = make_index(), make_index(create=False)
    writer.add(make_filing("a", "compass"), ["{}"], "before")
    with reader.snapshot():
        writer.add(make_filing("a", "gyroscope", "gyroscope"), ["{}"] * 2, "after")
        writer.add(make_filing("b", "compass"), ["{}"], "new")
        assert [entry.doc_id for entry in reader.entries()] == ["a"]
        assert [hit.key for hit in reader.search_pages(["compass", "gyroscope"])] == [("a", 0)]
        assert [stored.page.text for stored in reader.pages([PageKey("a", 0)])] == ["compass"]
        assert len(writer.search_pages(["compass", "gyroscope"])) == 3  # others are as they are
    assert len(reader.search_pages(["compass", "gyroscope"])) == 3


def test_content_is_read_from_the_shards_of_its_companies_and_searches_ask_all(
    index: ElasticIndex, make_filing: MakeFiling, monkeypatch: pytest.MonkeyPatch
) -> None:
    for doc_id in ("a", "b"):
        index.add(make_filing(doc_id, "gyroscope"), ["{}"], "")
    routed: list[object] = []
    search = index.search
    monkeypatch.setattr(
        index, "search", lambda name, **asked: routed.append(asked.get("routing")) or search(name, **asked)
    )
    routes = {doc_id: listed.routing for doc_id, listed in index.listing().of.items()}
    assert len(index.outline(["a"])) == 1 and routed[-1] == routes["a"]
    assert len(index.search_pages(["gyroscope"])) == 2 and routed[-1] is None
    assert len(index.outline(["a", "b"])) == 2 and routed[-1] == ",".join(sorted(set(routes.values())))
