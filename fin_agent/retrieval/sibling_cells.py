"""Siblings: figures of a table whose addresses differ in one place only, be it the row, the column or a heading.

What a table divides its figures by is known by where it stands, not by its words: any rows under one heading, any
columns of one row, any headings over rows of one name are siblings, and so are the parts that tags or scopes name.
Totals among them are known by arithmetic over all periods.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from fin_agent.index.protocol import SourcedFact
from fin_agent.retrieval.fact_terms import LIGHT, OF_TIME, Words, split_tag_name, words_of
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.figure_agreement import last_place

When = tuple[int, int | None, int]
"""Fiscal year, quarter and months of a period."""


@dataclass(frozen=True, slots=True, eq=False)
class Sibling:
    """One of them: a row, a column, a heading or a part, with its figure of each period."""

    name: str
    """As printed."""
    facts: Mapping[When, SourcedFact]

    def of(self, when: When) -> Fact | None:
        """Its figure of a period."""
        sourced = self.facts.get(when)
        return sourced.fact if sourced is not None else None


@dataclass(frozen=True, slots=True)
class Siblings:
    """Figures of one table that differ in one place of their addresses."""

    doc_id: str
    place: str
    """`row`, `column 0`, `heading 1`, `part` or `axis ProductOrServiceAxis`."""
    members: tuple[Sibling, ...]
    """In the order in which they are printed, without their total."""
    total: Sibling | None
    """What they add up to, where it is printed beside them."""
    sums: tuple[Sibling, ...]
    """Sums of some of them that are printed among them."""
    shared: tuple[str, ...]
    """What the addresses of all of them say beside the caption: row, headings, column."""
    above: tuple[str, ...]
    """Caption and note."""

    @property
    def anchor(self) -> str:
        """Where to find them again: `AMD_2021_10K#76#row#3#412#7`, by the first figure of the first of seven."""
        first = next(iter(self.members[0].facts.values())).fact
        place = first.page, self.place, first.line, round(first.box.x0), len(self.members)
        return "#".join((self.doc_id, *map(str, place)))

    def is_like(self, other: Siblings) -> bool:
        """Whether both divide the same measure in the same way, whatever their periods and captions."""
        same = self.doc_id == other.doc_id and self.place == other.place and len(self.shared) == len(other.shared)
        return same and all(words_of(one) == words_of(two) for one, two in zip(self.shared, other.shared, strict=True))

    def figures(self) -> Iterator[SourcedFact]:
        """All figures of all members."""
        for one in self.members:
            yield from one.facts.values()

    def member_named(self, name: str | None) -> Sibling | None:
        """The member of that name, however it is spelt; the total for None."""
        if name is None:
            return self.total
        exact = next((one for one in self.members if one.name == name), None)
        return exact or next((one for one in self.members if words_of(one.name) == words_of(name)), None)


class _Key(NamedTuple):
    doc_id: str
    page: int
    place: str
    shared: tuple[str, ...]
    """Told apart by their words: `Operating income` of one part is `Operating income (loss)` of another."""
    above: tuple[str, ...]
    unit: str


_FEWEST = 2
_WIDEST_GAP = 10
"""Lines between rows of one table."""


def siblings_in(facts: Iterable[SourcedFact], *, parts: bool = False) -> list[Siblings]:
    """All siblings among facts of a page; of a whole filing's facts with `parts`: by captions, tags and scopes."""
    groups: dict[_Key, dict[object, tuple[str, dict[When, SourcedFact]]]] = defaultdict(dict)
    said: dict[_Key, tuple[str, ...]] = {}
    for sourced in facts:
        when = period_key(sourced.fact.period)
        for printed, identity, name in _parts(sourced) if parts else _places(sourced):
            key = printed._replace(shared=tuple(" ".join(sorted(words_of(text))) for text in printed.shared if text))
            said.setdefault(key, tuple(filter(None, printed.shared)))
            groups[key].setdefault(identity, (name, {}))[1].setdefault(when, sourced)
    found: list[Siblings] = []
    for key, named in groups.items():
        if len(named) < _FEWEST:
            continue
        if key.place == "caption" and any(len(name.split()) > _MAX_TITLE_LENGTH for name, _ in named.values()):
            continue  # one of them is no name: what is left would not be all of them
        names = [name for name, _ in named.values()]
        names = _distinguishing_titles(names) if key.place == "caption" else names
        members = [Sibling(name, figures) for name, (_, figures) in zip(names, named.values(), strict=True)]
        members = _in_one_unit(members)
        members.sort(key=_printed_at)
        for run in _runs(members) if key.place == "row" else (members,):
            found += _siblings_of_run(key._replace(shared=said[key]), _with_unique_names(run))
    return found


def _sibling_key(fact: Fact) -> str:
    """What figures have to agree in to be siblings: amounts and counts may be told apart wrongly by a label alone."""
    return fact.unit if fact.unit not in ("USD", "count") or fact.tag is not None else "amount"


def _in_one_unit(members: list[Sibling]) -> list[Sibling]:
    """Untagged members in the unit and scale that most of them are in: `Convenience Stores` counts no stores."""
    units = Counter((each.fact.unit, each.fact.scale) for one in members for each in one.facts.values())
    (unit, scale), _ = units.most_common(1)[0]
    if len(units) == 1 or any(each.fact.tag is not None for one in members for each in one.facts.values()):
        return members

    def same(sourced: SourcedFact) -> SourcedFact:
        return SourcedFact(sourced.doc_id, replace(sourced.fact, unit=unit, scale=scale))

    return [Sibling(one.name, {when: same(each) for when, each in one.facts.items()}) for one in members]


def _distinguishing_titles(titles: Sequence[str]) -> list[str]:
    """Titles without the words that all of them have: `ICS` of `TABLE 14: ICS SELECTED STATISTICAL INFORMATION`."""
    words = [title.replace(":", " ").split() for title in titles]
    same = set.intersection(*map(set, words))
    told = [" ".join(word for word in title if word not in same and not word.isdigit()) for title in words]
    return told if all(told) else list(titles)


def siblings_of(anchor: str, facts: Sequence[SourcedFact]) -> list[Siblings]:
    """The siblings of an `anchor` among the facts of its page (of its filing, where tags or scopes tell them).

    Of several that have the figure it names, those of as many members go first.
    """
    _, page, place, line, left, size = anchor.split("#")
    there = int(page), int(line), int(left)
    found = [
        one
        for one in siblings_in(facts, parts=may_span_pages(anchor))
        if one.place == place and any(_position_of(sourced.fact) == there for sourced in one.figures())
    ]
    return sorted(found, key=lambda one: abs(len(one.members) - int(size)))


def matching_siblings(siblings: Siblings, facts: Sequence[SourcedFact]) -> Iterator[Siblings]:
    """The same members in other tables of the filing, as those of another year are."""
    names = {one.name for one in siblings.members}
    by_page: dict[int, list[SourcedFact]] = defaultdict(list)
    for sourced in facts:
        by_page[sourced.fact.page].append(sourced)
    for page in sorted(by_page):
        for other in siblings_in(by_page[page]):
            if other.is_like(siblings) and names <= {one.name for one in other.members}:
                yield other


def may_span_pages(anchor: str) -> bool:
    """Whether the siblings of an anchor may stand on several pages."""
    return anchor.split("#")[2].startswith(("part", "axis", "caption"))


def _position_of(fact: Fact) -> tuple[int, int, int]:
    return fact.page, fact.line, round(fact.box.x0)


def period_key(period: FactPeriod) -> When:
    """What tells periods of a table apart."""
    return period.fiscal_year, period.quarter, period.months


def _printed_at(sibling: Sibling) -> tuple[int, int, float]:
    fact = min((each.fact for each in sibling.facts.values()), key=lambda fact: (fact.page, fact.line, fact.box.x0))
    return fact.page, fact.line, fact.box.x0


def _places(sourced: SourcedFact) -> Iterator[tuple[_Key, object, str]]:
    """(siblings it may be of, what it is among them, its name) for each place of the address."""
    fact = sourced.fact
    label, columns, headings = _without_period(fact)
    above = fact.caption, fact.note
    unit = _sibling_key(fact)

    def key(place: str, *shared: str) -> _Key:
        return _Key(sourced.doc_id, fact.page, place, shared, above, unit)

    if label:
        yield key("row", *headings, *columns), (fact.line, label), label
    for level, heading in enumerate(headings):
        shared = *headings[:level], *headings[level + 1 :], label, *columns
        yield key(f"heading {level}", *shared), heading, heading.rstrip(" :")
    if columns:
        yield key("column", *headings, label), columns, " ".join(columns)
    if len(columns) > 1:
        for level, column in enumerate(columns):
            shared = *headings, label, *columns[:level], *columns[level + 1 :]
            yield key(f"column {level}", *shared), column, column


def _without_period(fact: Fact) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """(label, levels of the column's header, headings) without what only says which period the figure is of."""
    label = "" if _is_period_label(fact.label, fact.period) else fact.label.strip()
    columns = tuple(level for level in fact.column_path or (fact.column,) if not _is_period_label(level, fact.period))
    return label, columns, tuple(one for one in fact.section if not _is_period_label(one, fact.period))


def _parts(sourced: SourcedFact) -> Iterator[tuple[_Key, object, str]]:
    """The same by the members of its tag, or by its scope where it has no tag; wherever in the filing they stand."""
    fact = sourced.fact
    unit = _sibling_key(fact)
    label, columns, headings = _without_period(fact)
    if label and fact.caption:
        title = _RUNNING_HEAD.sub("", fact.caption).strip(" :.")
        spread = _Key(sourced.doc_id, -1, "caption", (*headings, label, *columns), ("", fact.note), unit)
        yield spread, title, title

    if fact.tag is None:
        if fact.scope is not None:
            own = words_of(fact.scope)
            shared = tuple(one for one in (*headings, label, *columns) if one and not words_of(one) <= own)
            yield _Key(sourced.doc_id, -1, "part", shared, ("", fact.note), unit), own, fact.scope
        return
    members = {axis.rpartition(":")[2]: member for axis, member in fact.tag.members}
    for axis in fact.tag.axes:
        others = tuple(split_tag_name(members[other]) for other in fact.tag.axes if other != axis)
        along = axis.replace("Subsegments", "StatementBusinessSegments")  # some segments have parts, others none
        key = _Key(
            sourced.doc_id, -1, f"axis {along}", (split_tag_name(fact.tag.concept), *others), ("", fact.note), unit
        )
        yield key, members[axis], _name_of(fact, members[axis])


def _name_of(fact: Fact, member: str) -> str:
    """The member as the table prints it, where a place of the address has its words; else as the tag spells it."""
    spelling = split_tag_name(member).removesuffix(" Member").removesuffix(" Segment")
    if len(fact.tag.axes if fact.tag else ()) == 1:
        words = words_of(spelling) - LIGHT
        for place in (fact.label, *reversed(fact.column_path), *reversed(fact.section)):
            own = words_of(place)
            if own and (own <= words or words <= own) and not own <= OF_TIME:
                return place.rstrip(" :")
        return fact.scope or spelling
    return spelling


_RUNNING_HEAD = re.compile(r"^table of contents\s*", re.I)
_MAX_TITLE_LENGTH = 8
"""Words of a caption that is a name: the same rows under `Europe` and under `Asia Pacific`."""


def _is_period_label(text: str, period: FactPeriod) -> bool:
    """Whether the words only say which period the figure is of; a year to come (`2028`) says more."""
    left = words_of(text) - OF_TIME
    return all(word.isdigit() and (len(word) < 4 or _may_belong(int(word), period)) for word in left)


def _may_belong(year: int, period: FactPeriod) -> bool:
    return year in (period.fiscal_year, period.end.year if period.end else period.fiscal_year)


def _runs(rows: Sequence[Sibling]) -> Iterator[Sequence[Sibling]]:
    """Rows that stand together: the next table of the page may have the same headings, or none."""
    start = 0
    for at in range(1, len(rows)):
        if _printed_at(rows[at])[1] - _printed_at(rows[at - 1])[1] > _WIDEST_GAP:
            yield rows[start:at]
            start = at
    yield rows[start:]


def _with_unique_names(members: Sequence[Sibling]) -> list[Sibling]:
    seen: Counter[str] = Counter()
    named = []
    for one in members:
        seen[one.name] += 1
        named.append(one if seen[one.name] == 1 else Sibling(f"{one.name} ({seen[one.name]})", one.facts))
    return named


def _siblings_of_run(key: _Key, run: Sequence[Sibling]) -> Iterator[Siblings]:
    """Siblings as sums divide them: what adds up to a total, level by level and in its smallest parts, and the rest."""
    left: list[Sibling] = []
    inner: dict[Sibling, list[Sibling]] = {}

    def smallest(members: Sequence[Sibling]) -> list[Sibling]:
        return [part for one in members for part in (smallest(inner[one]) if one in inner else [one])]

    def made(members: Sequence[Sibling], total: Sibling | None) -> Iterator[Siblings]:
        sums = tuple(one for one in members if one in inner)
        for parts in (smallest(members), members) if sums else (members,):
            yield Siblings(key.doc_id, key.place, tuple(parts), total, sums, key.shared, key.above)

    found: list[Siblings] = []
    for one in run:
        size = _summed_members(left, one)
        if size:
            inner[one] = left[-size:]
            found += made(left[-size:], one)
            left[-size:] = [one]
        elif one.name.casefold().startswith(("total", "subtotal")):
            found += made(left, None)  # a total that a rounded or missing figure keeps from being proved
            left = []
        else:
            left.append(one)
    above = len(left) > _FEWEST and _summed_members(left[:0:-1], left[0]) == len(left) - 1
    if above and (len(left) > _FEWEST + 1 or len(left[0].facts) > 1):
        found += made(left[1:], left[0])  # a total above its parts; of two parts in one period it may be chance
    else:
        found += made(left, None)
    yield from (one for one in found if len(one.members) >= _FEWEST)


def _summed_members(before: Sequence[Sibling], total: Sibling) -> int:
    """How many of the last ones before add up to it in every period; 0 where they do not."""
    when, sourced = next(iter(total.facts.items()))
    whole = sourced.fact
    if not whole.amount:
        return 0
    added, step, found = Decimal(0), last_place(whole), 0
    for size, one in enumerate(reversed(before[-_MAX_RUN_LENGTH:]), start=1):
        fact = one.of(when)
        if fact is not None:
            added, step = added + fact.value, step + last_place(fact)
        if size >= _FEWEST and abs(added - whole.value) <= step / 2 and _is_sum(before[-size:], total):
            found = size
    return found


_MAX_RUN_LENGTH = 40


def _is_sum(members: Sequence[Sibling], total: Sibling) -> bool:
    held = 0
    for when, sourced in total.facts.items():
        facts = [fact for one in members if (fact := one.of(when)) is not None]
        if not facts:
            continue
        if not adds_up(facts, sourced.fact) or not sourced.fact.amount:
            return False
        held += 1
    return held > 0


def adds_up(parts: Sequence[Fact], whole: Fact) -> bool:
    """Whether the parts add up to the whole, within what each may be rounded by."""
    step = sum((last_place(part) for part in parts), last_place(whole)) / 2
    return abs(sum((part.value for part in parts), Decimal(0)) - whole.value) <= step


def shared_words(siblings: Siblings) -> Words:
    """Words that say what all of them are figures of: what they share, their total, and most of their names."""
    names: Counter[str] = Counter(word for one in siblings.members for word in words_of(one.name))
    most = {word for word, count in names.items() if count > len(siblings.members) / 2}
    total = words_of(siblings.total.name) if siblings.total is not None else frozenset()
    return frozenset(words_of(" ".join(siblings.shared)) | total | most)
