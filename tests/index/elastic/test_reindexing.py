"""Indices built anew behind their aliases, and what their templates say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.index import ElasticIndex
from fin_agent.index.elastic.layout import Layout, kinds, template
from fin_agent.vocabulary.filing import Filing
from tests.index.contract.samples import EVERYTHING
from tests.index.elastic_server.refusal import RefusalError
from tests.index.elastic_server.server import ElasticServer

MakeFiling = Callable[..., Filing]
MakeIndex = Callable[..., ElasticIndex]


def test_all_is_there_before_and_after(make_index: MakeIndex, server: ElasticServer) -> None:
    narrow = make_index()
    narrow.add(EVERYTHING, ["{}"] * 2, "zeppelin")
    records, facts = narrow.filings(), narrow.facts([EVERYTHING.doc_id])
    told: list[tuple[str, int, int]] = []
    made = make_index(create=False, shards=5).reindex(told=lambda *done: told.append(done))
    assert made == [f"test-{kind}-000002" for kind in kinds()]
    assert ("pages", 3, 3) in told
    assert server.node.shelves["test-pages-000002"].shards == 5
    assert not any(name.endswith("000001") for name in server.node.shelves)
    for index in (narrow, make_index(create=False)):
        assert index.filings() == records
        assert index.facts([EVERYTHING.doc_id]) == facts
        assert [hit.key.page for hit in index.search_pages(["assets"])] == [1]
    narrow.add(EVERYTHING, ["{}"] * 2, "airship")
    assert narrow.reindex(["pages"]) == ["test-pages-000003"]


def test_writers_are_turned_away_meanwhile_and_readers_are_not(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling
) -> None:
    index.add(make_filing("a", "compass"), ["{}"], "")
    answer = server.answer
    seen: list[object] = []

    def meanwhile(asked: object) -> object:
        if getattr(asked, "path", ())[:1] == ("_tasks",) and not seen:
            seen.append([hit.key.doc_id for hit in index.search_pages(["compass"])])
            with pytest.raises(FilingIndexError, match="the index is blocked"):
                index.add(make_filing("b", "gyroscope"), ["{}"], "")
        return answer(asked)  # type: ignore[arg-type]

    server.answer = meanwhile  # type: ignore[method-assign, assignment]
    index.reindex(["pages"])
    assert seen == [["a"]]
    index.add(make_filing("b", "gyroscope"), ["{}"], "")
    assert len(index.search_pages(["compass", "gyroscope"])) == 2


@pytest.mark.parametrize("at", ["PUT /test-pages-000002", "POST /_reindex", "POST /_aliases"])
def test_where_it_fails_all_is_as_before(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling, at: str
) -> None:
    index.add(make_filing("a", "compass"), ["{}"], "")
    with server.failing(at, RefusalError(500, "internal", "no")), pytest.raises(FilingIndexError):
        index.reindex(["pages"])
    index.add(make_filing("b", "compass"), ["{}"], "")
    assert len(index.search_pages(["compass"])) == 2
    assert "test-pages-000002" not in server.node.shelves
    with pytest.raises(FilingIndexError, match="there is no words"):
        index.reindex(["words"])


def test_templates_name_every_field_and_stand_beside_longer_prefixes(make_index: MakeIndex) -> None:
    for kind in kinds():
        said = template(Layout("x"), kind, 3)
        assert said["template"]["mappings"]["dynamic"] == "strict"
        similarity = said["template"]["settings"]["similarity"]["default"]
        assert (similarity["type"], similarity["k1"], similarity["b"]) == ("BM25", 1.2, 0.75)
    assert template(Layout("x"), "pages", 3)["template"]["settings"]["index"]["number_of_shards"] == 3
    assert template(Layout("x"), "filings", 3)["template"]["settings"]["index"]["number_of_shards"] == 1
    make_index("x")
    longer = make_index("x-pages")
    longer.add(EVERYTHING, ["{}"] * 2, "")
    assert make_index("x", create=False).entries() == ()


def test_making_it_twice_changes_nothing(make_index: MakeIndex, make_filing: MakeFiling) -> None:
    make_index().add(make_filing("a", "x"), ["{}"], "")
    assert len(make_index().entries()) == 1
