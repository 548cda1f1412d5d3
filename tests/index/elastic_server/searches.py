"""A search over views: query, order, one page of hits, aggregations."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from functools import total_ordering
from typing import Any

from tests.index.elastic_server.queries import matching, scored
from tests.index.elastic_server.refusal import RefusalError, illegal
from tests.index.elastic_server.shelf import Stored, View
from tests.index.elastic_server.text_field import as_float32

_MOST = 10_000
Found = tuple[View, Stored, float]
"""A document and its score."""
_KNOWN = frozenset(
    {"query", "size", "from", "sort", "search_after", "_source", "fields", "track_total_hits", "aggregations",
     "track_scores"}
)  # fmt: skip


def searched(
    body: Mapping[str, Any],
    views: Sequence[View],
    shards: Mapping[str, set[int]] | None,
) -> dict[str, Any]:
    """The answer to a search; `shards` of each index are looked at only, where given. Raises RefusalError."""
    unknown = set(body) - _KNOWN
    if unknown:
        raise RefusalError(400, "parsing_exception", f"unknown key for a search {sorted(unknown)}")
    size, start = body.get("size", 10), body.get("from", 0)
    if size + start > _MOST:
        raise illegal(f"Result window is too large, from + size must be less than or equal to: [{_MOST}]")
    found = [
        (view, view.live[number], score)
        for view in views
        for number, score in _found(body, view).items()
        if shards is None or view.live[number].shard in shards[view.shelf.name]
    ]
    answer: dict[str, Any] = {
        "took": 1,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"max_score": None, "hits": _page(body, found, size, start)},
    }
    if body.get("track_total_hits", True):
        answer["hits"]["total"] = {"value": len(found), "relation": "eq"}
    if "aggregations" in body:
        numbers: dict[int, tuple[View, set[int]]] = {id(view): (view, set()) for view in views}
        for view, stored, _ in found:
            numbers[id(view)][1].add(stored.number)
        answer["aggregations"] = {
            name: _aggregated(said, list(numbers.values())) for name, said in body["aggregations"].items()
        }
    return answer


def _found(body: Mapping[str, Any], view: View) -> dict[int, float]:
    query = body.get("query", {"match_all": {}})
    if _by_score(body):
        return {number: as_float32(score) for number, score in scored(query, view).items()}
    return dict.fromkeys(matching(query, view), 0.0)


def _by_score(body: Mapping[str, Any]) -> bool:
    return body.get("size", 10) > 0 and ("sort" not in body or any("_score" in each for each in body["sort"]))


def _page(body: Mapping[str, Any], found: list[Found], size: int, start: int) -> list[dict[str, Any]]:
    if size == 0:
        return []
    sort = body.get("sort", [{"_score": "desc"}])
    order = [_sorted_by(each) for each in (sort if isinstance(sort, list) else [sort])]
    for view in {id(view): view for view, _, _ in found}.values():
        for name, _ in order:
            field = view.shelf.mapping.field(name)
            if name not in ("_score", "_doc") and (field is None or not field.sortable):
                raise illegal(
                    f"Can't load fielddata on [{name}] because fielddata is unsupported on fields of its type"
                )
    after = body.get("search_after")
    if after is not None and len(after) != len(order):
        raise illegal(f"search_after has {len(after)} value(s) but sort has {len(order)}.")
    if len(order) > 1 and order[0] == ("_score", True):
        found = _promising(found, size + start, None if after is None else after[0])

    def key(hit: tuple[View, Stored, float]) -> tuple[_Key, ...]:
        return tuple(_Key(_value(name, hit[1], hit[2]), down) for name, down in order)

    keyed = [(key(hit), hit) for hit in found]
    if after is not None:
        least = tuple(_Key(value, down) for value, (_, down) in zip(after, order, strict=True))
        keyed = [each for each in keyed if least < each[0]]
    best = heapq.nsmallest(size + start, keyed, key=lambda each: (each[0], each[1][1].number))[start:]
    return [_hit(body, view, stored, score, order) for _, (view, stored, score) in best]


def _promising(found: list[Found], wanted: int, below: float | None) -> list[Found]:
    """Those that may be among the best: to look at scores alone is cheap."""
    open_ = found if below is None else [hit for hit in found if hit[2] <= below]
    scores = heapq.nlargest(wanted, (hit[2] for hit in open_ if below is None or hit[2] < below))
    if len(scores) < wanted:
        return open_
    return [hit for hit in open_ if hit[2] >= scores[-1]]


@total_ordering
class _Key:
    """A value in the order asked for; what has none comes last."""

    __slots__ = ("down", "value")

    def __init__(self, value: Any, down: bool) -> None:
        self.value = value
        self.down = down

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.value == other.value

    def __lt__(self, other: _Key) -> bool:
        if self.value is None or other.value is None:
            return self.value is not None
        return bool(self.value > other.value if self.down else self.value < other.value)


def _sorted_by(said: Any) -> tuple[str, bool]:
    if isinstance(said, str):
        return said, said == "_score"
    ((name, how),) = said.items()
    direction = how["order"] if isinstance(how, dict) else how
    return name, direction == "desc"


def _value(name: str, stored: Stored, score: float) -> Any:
    if name == "_score":
        return score
    if name == "_doc":
        return stored.number
    value = stored.source.get(name)
    return min(value) if isinstance(value, list) else value


def _hit(
    body: Mapping[str, Any], view: View, stored: Stored, score: float, order: Sequence[tuple[str, bool]]
) -> dict[str, Any]:
    told: dict[str, Any] = {"_index": view.shelf.name, "_id": stored.id, "_score": score}
    if "sort" in body:
        told["sort"] = [_value(name, stored, score) for name, _ in order]
    if stored.routing is not None:
        told["_routing"] = stored.routing
    if (source := selected(stored.source, body.get("_source", True))) is not None:
        told["_source"] = source
    if "fields" in body:
        told["fields"] = {
            name: value if isinstance(value, list) else [value]
            for name in (each["field"] for each in body["fields"])
            if (value := view.shelf.value_of(stored, name)) is not None
        }
    return told


def selected(source: dict[str, Any], wanted: Any) -> dict[str, Any] | None:
    """The fields of a source that are asked for; None where it is not asked for at all."""
    if wanted is True:
        return source
    if wanted is False:
        return None
    names = wanted.get("includes", list(source)) if isinstance(wanted, dict) else wanted
    without = wanted.get("excludes", []) if isinstance(wanted, dict) else []
    names = [names] if isinstance(names, str) else names
    return {name: value for name, value in source.items() if name in names and name not in without}


def _aggregated(said: Mapping[str, Any], found: Sequence[tuple[View, set[int]]]) -> dict[str, Any]:
    ((kind, how),) = ((kind, how) for kind, how in said.items() if kind != "aggregations")
    if kind == "filters":
        return {
            "buckets": [
                {"doc_count": sum(len(matching(query, view) & numbers) for view, numbers in found)}
                for query in how["filters"]
            ]
        }
    if kind == "terms" and "aggregations" in said:
        return {"buckets": list(_buckets(how, said["aggregations"], found))}
    values = [
        value
        for view, numbers in found
        for number in numbers
        if (value := view.shelf.value_of(view.live[number], how["field"])) is not None
    ]
    if kind == "sum":
        return {"value": float(sum(values))}
    if kind == "max":
        return {"value": float(max(values)) if values else None}
    if kind == "terms":
        counts: dict[Any, int] = {}
        for value in values:
            counts[value] = counts.get(value, 0) + 1
        ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[: how.get("size", 10)]
        return {"buckets": [{"key": value, "doc_count": count} for value, count in ranked]}
    raise RefusalError(400, "unknown_named_object_exception", f"Unknown aggregation type [{kind}]")


def _buckets(
    how: Mapping[str, Any], further: Mapping[str, Any], found: Sequence[tuple[View, set[int]]]
) -> Iterator[dict[str, Any]]:
    """One bucket a term, with what is asked of its documents."""
    of_term: dict[Any, list[tuple[View, set[int]]]] = {}
    for view, numbers in found:
        for number in numbers:
            value = view.shelf.value_of(view.live[number], how["field"])
            if value is not None:
                of_term.setdefault(value, []).append((view, {number}))
    for value, documents in sorted(of_term.items(), key=lambda each: (-len(each[1]), each[0]))[: how.get("size", 10)]:
        yield {"key": value, "doc_count": len(documents)} | {
            name: _aggregated(said, documents) for name, said in further.items()
        }
