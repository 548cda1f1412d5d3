"""The query language, as far as it is asked of this server: which documents, and their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.index.elastic_server.mapping import Field
from tests.index.elastic_server.refusal import RefusalError, illegal
from tests.index.elastic_server.shelf import View

MOST_CLAUSES = 1_024
MOST_TERMS = 65_536

Scores = dict[int, float]
Query = Mapping[str, Any]


def matching(query: Query, view: View) -> set[int]:
    """Numbers of the documents of `view` that meet `query`."""
    return _Query(view).filter(query) & view.live.keys()


def scored(query: Query, view: View, within: set[int] | None = None) -> Scores:
    """Documents of `view` that meet `query`, and their scores; of those in `within` only, where given."""
    found = _Query(view).score(query, within)
    return {number: score for number, score in found.items() if number in view.live}


class _Query:
    def __init__(self, view: View) -> None:
        self._view = view
        self._shelf = view.shelf

    def filter(self, query: Query) -> set[int]:
        """Documents that meet it, where scores do not matter; deleted ones may be among them."""
        name, said = _only(query)
        if name == "match_all":
            return set(self._view.live)
        if name == "match_none":
            return set()
        if name == "term":
            field, value = self._of_field(said)
            value = value["value"] if isinstance(value, dict) else value
            if field.kind == "text":
                text = self._shelf.text(field.name)
                return set(text.holding(value)) if text else set()
            return set(self._shelf.holding(field.name).get(field.as_term(value), ()))
        if name == "terms":
            field, values = self._of_field({key: value for key, value in said.items() if key != "boost"})
            if len(values) > MOST_TERMS:
                raise illegal(f"The number of terms [{len(values)}] used in the Terms Query request has exceeded the"
                              f" allowed maximum of [{MOST_TERMS}].")  # fmt: skip
            held = self._shelf.holding(field.name)
            return set().union(*(held.get(field.as_term(value), ()) for value in values))
        if name == "range":
            return self._range(said)
        if name == "exists":
            held = self._shelf.holding(said["field"])
            return set().union(*held.values()) if held else set()
        if name == "bool":
            return set(self._bool(said, None, scoring=False))
        return set(self.score(query, None))

    def score(self, query: Query, within: set[int] | None) -> Scores:
        """Scores of documents that meet it; of those in `within` only, where given."""
        name, said = _only(query)
        if name in ("match", "match_phrase"):
            field, asked = self._of_field(said)
            text = asked["query"] if isinstance(asked, dict) else asked
            if field.kind != "text":
                raise illegal(f"[{name}] on [{field.name}], which is no text, is more than this server knows")
            postings = self._shelf.text(field.name)
            if postings is None:
                return {}
            words = len(postings.analyzer(text))
            if words > MOST_CLAUSES:
                raise _too_many(words)
            boost = asked.get("boost", 1.0) if isinstance(asked, dict) else 1.0
            scores = (postings.scores_of_any if name == "match" else postings.scores_of_phrase)(text, within)
            return scores if boost == 1.0 else {number: boost * score for number, score in scores.items()}
        if name == "bool":
            return self._bool(said, within, scoring=True)
        found = self.filter(query)
        return dict.fromkeys(found if within is None else found & within, 1.0)

    def _bool(self, said: Mapping[str, Any], within: set[int] | None, *, scoring: bool) -> Scores:
        unknown = set(said) - {"must", "should", "filter", "must_not", "minimum_should_match", "boost"}
        if unknown:
            raise _unknown(", ".join(sorted(unknown)))
        clauses = {kind: _several(said.get(kind, [])) for kind in ("must", "should", "filter", "must_not")}
        count = sum(map(len, clauses.values()))
        if count > MOST_CLAUSES:
            raise _too_many(count)
        allowed = within
        for each in clauses["filter"]:
            found = self.filter(each)
            allowed = found if allowed is None else allowed & found
        least = said.get("minimum_should_match", 0 if clauses["must"] or clauses["filter"] else 1)
        scores: Scores | None = None
        for each in clauses["must"]:
            found_scores = self.score(each, allowed) if scoring else dict.fromkeys(self.filter(each), 0.0)
            if scores is None:
                scores = found_scores
            else:
                scores = {at: scores[at] + score for at, score in found_scores.items() if at in scores}
        optional: Scores = {}
        met: dict[int, int] = {}
        for each in clauses["should"]:
            found_scores = self.score(each, allowed) if scoring else dict.fromkeys(self.filter(each), 0.0)
            for at, score in found_scores.items():
                optional[at] = optional.get(at, 0.0) + score
                met[at] = met.get(at, 0) + 1
        if scores is None:
            if clauses["should"] and least:
                scores = {at: score for at, score in optional.items() if met[at] >= least}
            else:
                base = allowed if allowed is not None else set(self._view.live)
                scores = {at: optional.get(at, 0.0) for at in base}
        else:
            scores = {at: score + optional.get(at, 0.0) for at, score in scores.items() if met.get(at, 0) >= least}
        if allowed is not None:
            scores = {at: score for at, score in scores.items() if at in allowed}
        for each in clauses["must_not"]:
            away = self.filter(each)
            scores = {at: score for at, score in scores.items() if at not in away}
        return scores

    def _range(self, said: Mapping[str, Any]) -> set[int]:
        field, bounds = self._of_field(said)
        unknown = set(bounds) - {"gt", "gte", "lt", "lte"}
        if unknown:
            raise _unknown(", ".join(sorted(unknown)))
        found: set[int] = set()
        for value, numbers in self._shelf.holding(field.name).items():
            if (
                ("gt" not in bounds or value > bounds["gt"])
                and ("gte" not in bounds or value >= bounds["gte"])
                and ("lt" not in bounds or value < bounds["lt"])
                and ("lte" not in bounds or value <= bounds["lte"])
            ):
                found |= numbers
        return found

    def _of_field(self, said: Mapping[str, Any]) -> tuple[Field, Any]:
        name, value = _only(said)
        field = self._shelf.mapping.field(name)
        if field is None or not field.indexed:
            raise illegal(f"Cannot search on field [{name}] since it is not indexed.")
        return field, value


def _only(said: Mapping[str, Any]) -> tuple[str, Any]:
    if len(said) != 1:
        raise RefusalError(400, "parsing_exception", f"one name was expected, but found {sorted(said)}")
    return next(iter(said.items()))


def _several(clauses: object) -> list[Any]:
    return clauses if isinstance(clauses, list) else [clauses]


def _too_many(count: int) -> RefusalError:
    reason = f"Query contains too many nested clauses; maxClauseCount is set to {MOST_CLAUSES}, and {count} were given"
    return RefusalError(400, "too_many_nested_clauses", reason)


def _unknown(name: str) -> RefusalError:
    return RefusalError(400, "parsing_exception", f"unknown query [{name}]")
