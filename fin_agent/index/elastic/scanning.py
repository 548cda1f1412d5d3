"""All documents that match, in order, however many: read in pages at one point in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from fin_agent.index.elastic.connection import Cluster
from fin_agent.index.elastic.faults import NotFound, fault

PAGE = 5_000
"""Documents of one answer; a node gives no more than 10,000."""
_KEPT_OPEN = "2m"


def scanned(
    cluster: Cluster,
    alias: str,
    order: Sequence[str],
    *,
    query: dict[str, Any] | None = None,
    fields: Sequence[str] | None = None,
    size: int = PAGE,
) -> Iterator[dict[str, Any]]:
    """Sources of all documents behind `alias` that match `query`, ordered by the fields `order`.

    They are those of the moment at which the first is asked for: what is written meanwhile is not seen.
    """
    try:
        opened = cluster.asked(cluster.client.open_point_in_time, index=alias, keep_alive=_KEPT_OPEN)
        pit = opened["id"]
        try:
            after: list[Any] | None = None
            while True:
                pit, hits = _page(cluster, pit, order, query, fields, size, after)
                yield from (hit["_source"] for hit in hits)
                if len(hits) < size:
                    return
                after = hits[-1]["sort"]
        finally:
            with suppress(NotFound):  # it has run out meanwhile
                cluster.asked(cluster.client.close_point_in_time, id=pit)
    except NotFound as error:
        raise fault(cluster.address, error, "read") from error


def ascending(fields: Sequence[str]) -> list[dict[str, dict[str, str]]]:
    """An order by these fields, one after another."""
    return [{field: {"order": "asc"}} for field in fields]


def _page(
    cluster: Cluster,
    pit: str,
    order: Sequence[str],
    query: dict[str, Any] | None,
    fields: Sequence[str] | None,
    size: int,
    after: list[Any] | None,
) -> tuple[str, list[dict[str, Any]]]:
    asked: dict[str, Any] = {
        "size": size,
        "pit": {"id": pit, "keep_alive": _KEPT_OPEN},
        "sort": ascending(order),
        "track_total_hits": False,
        "allow_partial_search_results": False,
        "query": query or {"match_all": {}},
    }
    if fields is not None:
        asked["source"] = {"includes": list(fields)}
    if after is not None:
        asked["search_after"] = after
    answer = cluster.asked(cluster.client.search, **asked)
    # The id may change from answer to answer; the newest is the one to go on with.
    return answer.get("pit_id", pit), answer["hits"]["hits"]
