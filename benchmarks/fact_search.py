"""Fact search held against inline XBRL: whether words of a tagged line lead to its value, and to the right parts.

python -m benchmarks.fact_search INDEX [--count 60] [--seed 0] [--company NAME]
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fin_agent.index.protocol import SourcedFact
from fin_agent.retrieval.fact_search import FactQuery, search_facts, with_own_unit
from fin_agent.retrieval.fact_terms import split_tag_name, words_of
from fin_agent.retrieval.figure_families import find_family
from fin_agent.tools.argument_resolution import resolve_company
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.workspace import Workspace


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path, help="of inline XBRL files")
    parser.add_argument("--count", type=int, default=60, help="searches of each kind and company")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--company", action="append", default=[], help="of this company only; may be repeated")
    given = parser.parse_args()
    workspace = Workspace.open(given.index)
    companies = [resolve_company(name, workspace).key for name in given.company]
    table = Table("tags", "words of the", "of", *(each.name for each in fields(Score)))
    for tags in (True, False):
        for wording in Wording:
            if wording is Wording.CONCEPT and not tags:
                continue  # without tags nothing has these words
            for of_parts in (False, True):
                asked = questions_from_tags(
                    workspace, wording, of_parts=of_parts, most=given.count, seed=given.seed, companies=companies
                )
                counts = astuple(score_search(workspace, asked, tags=tags))
                told = ("seen" if tags else "hidden", wording, "parts" if of_parts else "companies")
                table.add_row(*told, *map(str, counts))
    Console().print(table, f"families of parts: {score_families(workspace, companies=companies)}", sep="\n")


_SPANS = (0, 3, 6, 9, 12)
_FEWEST_MEMBERS = 3
_TOP = 5


class Wording(StrEnum):
    """Where the words of a question are from."""

    LABEL = "label"
    """The printed row."""
    CONCEPT = "concept"
    """The name of the tag's concept, as words."""
    METRIC = "metric"
    """Another name of the lexicon's metric that the concept stands for, one of those that filings or people use."""


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A search with one right value."""

    company: str
    query: FactQuery
    truth: SourcedFact

    def is_right(self, found: SourcedFact) -> bool:
        """Whether a fact states the tagged value, whatever its sign."""
        tag = self.truth.fact.tag
        assert tag is not None
        exact = tag.value is not None and abs(found.fact.value) == abs(tag.value)
        return exact or magnitudes_agree(found.fact, self.truth.fact)


@dataclass(slots=True)
class Score:
    """Of one set of searches: how many were asked, right at rank one, right in five, sure, sure and wrong."""

    asked: int = 0
    first: int = 0
    in_five: int = 0
    sure: int = 0
    sure_and_wrong: int = 0


def questions_from_tags(
    workspace: Workspace, wording: Wording, *, of_parts: bool, most: int, seed: int, companies: Sequence[str] = ()
) -> list[FactQuestion]:
    """At most `most` questions of each company (of `companies` only, where given) about facts that tags state.

    Left out is what has two answers: one phrase, part and period with two tagged values.
    """
    chosen: list[FactQuestion] = []
    for company in sorted(companies or workspace.directory.by_key):
        made: dict[FactQuery, list[SourcedFact]] = defaultdict(list)
        for sourced in workspace.index.facts(workspace.directory.by_key[company].doc_ids):
            query = _query(sourced, wording, workspace)
            if query is not None and (query.part is not None) is of_parts:
                made[query].append(sourced)
        by_words: dict[object, set[Decimal]] = defaultdict(set)
        for query, facts in made.items():
            by_words[_key(query)] |= {abs(_tag(fact).value or Decimal(0)) for fact in facts}
        clear = [
            FactQuestion(company, query, facts[0])
            for query, facts in sorted(made.items(), key=lambda pair: repr(pair[0]))
            if len(by_words[_key(query)]) == 1
        ]
        random.Random(f"{seed}{company}").shuffle(clear)
        chosen += clear[:most]
    return chosen


def score_search(workspace: Workspace, questions: Sequence[FactQuestion], *, tags: bool) -> Score:
    """Search for each among the facts of its company; without `tags`, as if nothing were tagged."""
    score = Score()
    held: dict[str, list[SourcedFact]] = {}
    for question in questions:
        if question.company not in held:
            stored = workspace.index.facts(workspace.directory.by_key[question.company].doc_ids)
            facts = list(map(with_own_unit, stored))
            held[question.company] = facts if tags else [_untagged(sourced) for sourced in facts]
        found = search_facts(held[question.company], question.query, workspace.lexicon, _TOP)
        right = [question.is_right(hit.sourced) for hit in found.hits]
        first = bool(right) and right[0]
        score.asked += 1
        score.first += first
        score.in_five += any(right)
        score.sure += found.is_sure
        score.sure_and_wrong += found.is_sure and not first
    return score


def score_families(workspace: Workspace, *, companies: Sequence[str] = ()) -> dict[str, int]:
    """Families that tags divide without rest: how many are found, with the right members and the right highest one."""
    counts = dict.fromkeys(("asked", "found", "highest", "members"), 0)
    for company in sorted(companies or workspace.directory.by_key):
        for query, values in _families(workspace, company):
            made = find_family(workspace, query, company).best
            found = {member.value() for member in made.members} if made is not None else set()
            counts["asked"] += 1
            counts["found"] += bool(found)
            counts["highest"] += bool(found) and max(found) == max(values)
            counts["members"] += found == values
    return counts


def _query(sourced: SourcedFact, wording: Wording, workspace: Workspace) -> FactQuery | None:
    fact = sourced.fact
    period, tag = fact.period, fact.tag
    if tag is None or not tag.value or period.months not in _SPANS:
        return None
    members = [member for axis, member in tag.members if "ConsolidationItems" not in axis]
    part = None
    if members:
        if len(members) > 1 or any("Equity" in axis or "FairValueBy" in axis for axis, _ in tag.members):
            return None
        part = fact.scope or split_tag_name(members[0]).removesuffix(" Member")
    phrase = _phrase(sourced, wording, workspace, part)
    if not words_of(phrase) - words_of(part or "") - words_of("total"):
        return None
    quarter = period.quarter or {6: 2, 9: 3}.get(period.months)
    return FactQuery(phrase, period.fiscal_year, quarter, period.months, part)


def _phrase(sourced: SourcedFact, wording: Wording, workspace: Workspace, part: str | None) -> str:
    fact, lexicon = sourced.fact, workspace.lexicon
    concept = fact.tag.concept if fact.tag else ""
    if wording is Wording.LABEL:
        return fact.label
    if wording is Wording.CONCEPT:
        return split_tag_name(concept)
    metric = lexicon.metrics.get(lexicon.metric_of_concept(concept) or "")
    if metric is None or (part is None and fact.statement is not metric.statement):
        return ""
    names = [*(label.rpartition(">")[2].strip() for label in metric.labels), *metric.words]
    mentioned = {name: lexicon.mentions(name) for name in names}
    plain = [name for name, found in mentioned.items() if [each.id for each in found] == [metric.id]]
    return plain[(7 * len(fact.label) + fact.period.fiscal_year) % len(plain)] if plain else ""


def _families(workspace: Workspace, company: str) -> Iterator[tuple[FactQuery, set[Decimal]]]:
    """(search for a member, values of all) of each table's concept that tags divide along one axis, up to its whole."""
    groups: dict[tuple[object, ...], dict[str, SourcedFact]] = defaultdict(dict)
    wholes: dict[tuple[object, ...], Decimal] = {}
    for sourced in workspace.index.facts(workspace.directory.by_key[company].doc_ids):
        fact, tag = sourced.fact, sourced.fact.tag
        if tag is None or tag.value is None or fact.period.months != 12 or fact.unit != "USD":
            continue
        if not tag.members:
            wholes[tag.concept, fact.period.fiscal_year] = abs(tag.value)
        elif tag.of_part and len(tag.axes) == 1 and fact.scope is not None:
            groups[sourced.doc_id, fact.page, tag.axes, tag.concept, fact.period][tag.members[-1][1]] = sourced
    for key, members in sorted(groups.items(), key=repr):
        values = {sourced.fact.value for sourced in members.values()}
        one = next(iter(members.values())).fact
        whole = wholes.get((_tag(SourcedFact("", one)).concept, one.period.fiscal_year))
        metric = workspace.lexicon.metric_of_concept(str(key[3]))
        if len(values) == len(members) >= _FEWEST_MEMBERS and whole == sum(values) and metric is not None:
            name = workspace.lexicon.metrics[metric].labels[0].rpartition(">")[2].strip()
            yield FactQuery(name, one.period.fiscal_year, months=12, part=one.scope), values


def _tag(sourced: SourcedFact) -> Tag:
    assert sourced.fact.tag is not None
    return sourced.fact.tag


def _untagged(sourced: SourcedFact) -> SourcedFact:
    return SourcedFact(sourced.doc_id, replace(sourced.fact, tag=None))


def _key(query: FactQuery) -> object:
    return replace(query, phrase=""), words_of(query.phrase)


if __name__ == "__main__":
    main()
