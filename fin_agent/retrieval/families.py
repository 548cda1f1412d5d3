"""Families: facts that differ in one part only, as the revenue of each segment, product, region or debt instrument.

Totals, subtotals and eliminations among the members are recognised by arithmetic and by tags, not by their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.facts import OF_TIME, FactHit, FactQuery, Words, find_facts, spelt, words_of
from fin_agent.retrieval.matching import is_of_part, same_part
from fin_agent.retrieval.query import EVERYTHING, Scope
from fin_agent.vocabulary.agreement import last_place
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Member:
    """One part and its figures."""

    name: str
    """As printed; of a family of companies, the company's name."""
    facts: tuple[SourcedFact, ...]
    """One for each period asked about, in their order."""

    def value(self, period: int = 0) -> Decimal:
        """Its figure of that period, in base units."""
        return self.facts[period].fact.value


@dataclass(frozen=True, slots=True)
class Family:
    """What the parts of a company have, of one measure and the same periods."""

    members: tuple[Member, ...] = ()
    """In the order in which they are printed."""
    kind: str | None = None
    """What they divide the company by: `segment`, `product`, `region` ...; None where nothing says it."""
    total: tuple[SourcedFact, ...] = ()
    """The whole, one for each period; empty where it is not stated."""
    dropped: tuple[tuple[str, str], ...] = ()
    """(name, why it is no member): totals, subtotals, eliminations, parts without a figure of every period."""

    def sums_up(self, period: int = 0) -> bool:
        """Whether the members add up to the whole; False also where the whole is not stated."""
        if not self.total:
            return False
        return _equal([member.facts[period].fact for member in self.members], self.total[period].fact)

    def ranked(self, period: int = 0, *, descending: bool = True) -> tuple[Member, ...]:
        """The members by their figures; equals in the order in which they are printed."""
        return tuple(sorted(self.members, key=lambda member: member.value(period), reverse=descending))

    def by_growth(self, before: int = 0, after: int = 1, *, descending: bool = True) -> tuple[Member, ...]:
        """The members by growth between two of the periods; those that began at zero or below have none."""
        grown = [member for member in self.members if member.value(before) > 0]
        return tuple(sorted(grown, key=lambda member: member.value(after) / member.value(before), reverse=descending))


KINDS = tuple(sorted(word_lists("part_kinds")))
"""What companies are divided by."""


def family(
    workspace: Workspace,
    query: FactQuery,
    company: str,
    *,
    kind: str | None = None,
    years: Sequence[int] = (),
    scope: Scope = EVERYTHING,
) -> Family:
    """The parts of a company that have figures for a phrase or metric; an empty family where there are none.

    Args:
        query: What is measured and when. Its `part`, where given, is a sample: the family that it belongs to is meant.
        company: Key of the company in the directory.
        kind: One of KINDS; None for any. Where several kinds divide the company, the one whose members add up to the
            whole goes first, then the one with the most members.
        years: Fiscal years that every member needs a figure of, in this order; `query.fiscal_year` alone by default.
        scope: The filings and pages that may be read.
    """
    wanted = tuple(years) or (query.fiscal_year,)
    whole = replace(query, part=None)
    totals = [_whole(workspace, replace(whole, fiscal_year=year), company, scope) for year in wanted]
    *before, last = [_groups(workspace, replace(whole, fiscal_year=year), company, scope) for year in wanted]
    said = words_of(query.phrase)
    found: list[tuple[tuple[object, ...], Family]] = []
    for key, group in last.items():
        if query.part is not None and not any(
            same_part(name, query.part) or is_of_part(hit.sourced.fact, query.part) for name, hit in group.items()
        ):
            continue
        made = _family(key, [*(_like(key, group, groups) for groups in before), group], totals)
        if len(made.members) < _FEWEST or not (key.also <= said or made.sums_up()):
            continue
        score = max(hit.score for hit in group.values())
        found.append(((not made.sums_up(), -round(score, 1), -len(made.members)), made))
    found.sort(key=lambda pair: pair[0])
    kinds = (kind, None, _MAY_BE_CALLED.get(kind)) if kind is not None else ()
    for one in kinds:
        fitting = [made for _, made in found if made.kind == one]
        if fitting:
            return fitting[0]
    if kind is None and found:
        return found[0][1]
    return Family()


def family_of_companies(workspace: Workspace, query: FactQuery, companies: Iterable[str]) -> Family:
    """The same measure of several companies: those whose figure is not sure are dropped, with the reason."""
    members, dropped = [], []
    for company in companies:
        name = workspace.directory.by_key[company].name
        found = find_facts(workspace, query, company=company)
        if found.sure:
            members.append(Member(name, (found.found[0].sourced,)))
        else:
            dropped.append((name, "several lines fit" if found.rivals else "no line has all of the words"))
    return Family(tuple(members), "company", (), tuple(dropped))


_FEWEST = 2
_LONGEST_RUN = 12
_MAY_BE_CALLED = {"region": "segment", "product": "segment"}
"""Segments may be regions or product lines; where a company has no other, these are meant."""


class _Key(NamedTuple):
    """What the members of one family share."""

    doc_id: str
    page: int
    axis: str
    """The tags' axis along which they differ; empty where there are no tags."""
    also: Words
    """What all of them are parts of at the same time: `Streaming` of revenue by regions."""
    line: tuple[object, ...]
    """Concept, unit, and the row or the column that they stand in."""


_Group = Mapping[str, FactHit]
"""Name of a part -> its figure, as printed from top to bottom."""


def _whole(workspace: Workspace, query: FactQuery, company: str, scope: Scope) -> SourcedFact | None:
    found = find_facts(workspace, query, company=company, scope=scope).found
    return next((hit.sourced for hit in found if hit.sourced.fact.scope is None), None)


def _groups(workspace: Workspace, query: FactQuery, company: str, scope: Scope) -> dict[_Key, _Group]:
    """The facts of parts that bear out the phrase, by what they share."""
    hits = find_facts(workspace, replace(query, any_part=True), company=company, scope=scope, limit=_MOST_FACTS).hits
    groups: dict[_Key, dict[str, FactHit]] = {}
    for hit in hits:
        if not hit.complete or hit.score < max(_LEAST, hits[0].score - _FARTHEST):
            continue
        for name, key in _places(hit.sourced):
            groups.setdefault(key, {}).setdefault(name, hit)  # the best one, where a part stands there twice
    return {
        key: dict(sorted(named.items(), key=lambda pair: (pair[1].sourced.fact.line, pair[1].sourced.fact.box.x0)))
        for key, named in groups.items()
    }


_MOST_FACTS = 400
_LEAST, _FARTHEST = 0.7, 0.25
"""A member scores no less, and so much less than the best one at most: rows of long names and short ones differ."""


def _places(sourced: SourcedFact) -> Iterator[tuple[str, _Key]]:
    """(name of the part, family it may be of) along each axis of the fact."""
    fact = sourced.fact
    axes = fact.tag.axes if fact.tag else ()
    members = dict(fact.tag.members) if fact.tag else {}
    in_row = _in_row(fact)
    if fact.scope is not None and not axes:
        line = fact.unit, fact.caption, fact.section, fact.column if in_row else fact.label
        yield fact.scope, _Key(sourced.doc_id, fact.page, "", words_of(""), line)
    for axis in axes:
        concept = fact.tag.concept if fact.tag else ""
        row = concept, fact.unit, words_of("" if in_row else fact.label) - words_of("total net")
        others = [member for other, member in members.items() if _plain(other) in axes and _plain(other) != axis]
        also = words_of(" ".join(map(spelt, others))) - words_of("member")
        along = axis.replace("Subsegments", "StatementBusinessSegments")  # some segments have parts, others none
        yield _name(fact, axis, in_row=in_row), _Key(sourced.doc_id, fact.page, along, also, row)


def _plain(name: str) -> str:
    return name.rpartition(":")[2]


def _name(fact: Fact, axis: str, *, in_row: bool) -> str:
    if fact.tag is None or len(fact.tag.axes) > 1:
        member = next(member for own, member in fact.tag.members if _plain(own) == axis) if fact.tag else ""
        return spelt(member).removesuffix(" Member").removesuffix(" Segment")
    return fact.label if in_row else fact.scope or fact.label


def _in_row(fact: Fact) -> bool:
    """Whether the row, and not a column or a heading, is what names the part."""
    label, part = words_of(fact.label), words_of(fact.scope or "")
    if fact.tag is not None and any(member.startswith("country:") for _, member in fact.tag.members):
        return all(word.isdigit() for word in words_of(fact.column) - OF_TIME)
    return bool(label) and (label <= part or part <= label)


def kind_of(fact: Fact, axis: str = "") -> str | None:
    """What the fact's part divides the company by: by its tag's axis, else by words around it; None where none says.

    One of KINDS.
    """
    if fact.part_kind in KINDS:
        return fact.part_kind
    around = axis or " ".join((fact.caption, fact.note, *fact.section, *fact.column_path))
    letters = around.casefold()
    kinds = sorted(word_lists("part_kinds").items())
    return next((kind for kind, words in kinds if any(word in letters for word in words)), None)


def _kind(key: _Key, group: _Group) -> str | None:
    """What most of the group's facts are said to be."""
    kinds = Counter(kind_of(hit.sourced.fact, key.axis) for hit in group.values())
    return kinds.most_common(1)[0][0]


def _like(key: _Key, group: _Group, groups: Mapping[_Key, _Group]) -> _Group:
    """The group of another period that has most of the same parts, at best in the same table."""
    names = {words_of(name) for name in group}

    def likeness(other: tuple[_Key, _Group]) -> tuple[int, bool]:
        return len(names & {words_of(name) for name in other[1]}), other[0][:2] == key[:2]

    return max(groups.items(), key=likeness, default=(key, {}))[1]


def _family(key: _Key, groups: Sequence[_Group], totals: Sequence[SourcedFact | None]) -> Family:
    *before, last = groups
    dropped: list[tuple[str, str]] = []
    kept: dict[str, tuple[SourcedFact, ...]] = {}
    for name, hit in last.items():
        others = [next((each.sourced for own, each in group.items() if same_part(own, name)), None) for group in before]
        if any(other is None for other in others):
            dropped.append((name, "no figure of every period"))
        else:
            kept[name] = (*(other for other in others if other is not None), hit.sourced)
    whole = tuple(total for total in totals if total is not None) if all(totals) else ()
    latest = {name: facts[-1].fact for name, facts in kept.items()}
    for name, why in _not_members(latest, whole[-1].fact if whole else None):
        dropped.append((name, why))
        del kept[name]
    return Family(tuple(Member(name, facts) for name, facts in kept.items()), _kind(key, last), whole, tuple(dropped))


def _not_members(facts: Mapping[str, Fact], whole: Fact | None) -> list[tuple[str, str]]:
    """Names of sums and eliminations among the facts, with why."""
    left = dict(facts)
    found: list[tuple[str, str]] = []
    while whole is None or not _equal(list(left.values()), whole):
        names = list(left)
        reason = next((why for name in names if (why := _sum_in(name, left, whole))), None)
        if reason is None:
            break
        found.append(reason)
        del left[reason[0]]
    below = [name for name, fact in left.items() if fact.value < 0]
    if len(below) == 1 and whole is not None and _equal(list(left.values()), whole) and not _may_be_a_loss(whole):
        found.append((below[0], "an elimination: the others count twice what it takes off"))
    return found


def _may_be_a_loss(fact: Fact) -> bool:
    return bool(words_of(" ".join((fact.label, *fact.section))) & _RESULTS)


_RESULTS = words_of("income loss gain")


def _sum_in(name: str, facts: Mapping[str, Fact], whole: Fact | None) -> tuple[str, str] | None:
    """Why the named one is a sum of the others: all of them, or a run of them before or behind it."""
    names = list(facts)
    at = names.index(name)
    others = [facts[other] for other in names if other != name]
    if len(others) >= _FEWEST and facts[name].amount:
        if _equal(others, facts[name]):
            return name, "the total of the others"
        if whole is not None and _equal([facts[name]], whole) and _equal(others, whole):
            return name, "the total of the others"
        for length in range(_FEWEST, min(len(names), _LONGEST_RUN)):
            before, behind = names[max(0, at - length) : at], names[at + 1 : at + 1 + length]
            for run in (before, behind):
                if len(run) == length and _equal([facts[each] for each in run], facts[name]):
                    return name, f"the sum of {', '.join(run)}"
    return None


def _equal(parts: Collection[Fact], whole: Fact) -> bool:
    """Whether the parts add up to the whole, within what each may be rounded by."""
    step = sum((last_place(part) for part in parts), last_place(whole)) / 2
    return abs(sum((part.value for part in parts), Decimal(0)) - whole.value) <= step
