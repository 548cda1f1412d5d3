"""Siblings: figures of a table whose addresses differ in one place only, be it the row, the column or a heading.

Siblings are found by position, not by words: any rows under one heading, any columns of one row, any headings over rows
of one name are siblings, and so are the parts that tags or scopes name. Totals among them are found by arithmetic over
all periods.
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
    """One row, column, heading or part of a table, with its figure for each period."""

    name: str
    """As printed."""
    facts: Mapping[When, SourcedFact]

    def of(self, when: When) -> Fact | None:
        """Return its figure for a period, or None."""
        sourced = self.facts.get(when)
        return sourced.fact if sourced is not None else None


@dataclass(frozen=True, slots=True)
class Siblings:
    """Figures of one table whose addresses differ in one place."""

    doc_id: str
    place: str
    """`row`, `column 0`, `heading 1`, `part` or `axis ProductOrServiceAxis`."""
    members: tuple[Sibling, ...]
    """In printed order, without their total."""
    total: Sibling | None
    """Their sum, where it is printed next to them."""
    sums: tuple[Sibling, ...]
    """Subtotals of some of them, printed among them."""
    shared: tuple[str, ...]
    """The part of the address common to all members, without the caption: row, headings, column."""
    above: tuple[str, ...]
    """Caption and note."""

    @property
    def anchor(self) -> str:
        """Identifier of the siblings, such as `AMD_2021_10K#76#row#3#412#7`.

        Its fields are the filing, the page, the place, the line and left edge of the first member's first figure, and
        the number of members.
        """
        first = next(iter(self.members[0].facts.values())).fact
        place = first.page, self.place, first.line, round(first.box.x0), len(self.members)
        return "#".join((self.doc_id, *map(str, place)))

    def is_like(self, other: Siblings) -> bool:
        """Return whether both divide the same measure in the same way, whatever their periods.

        Captions may differ where rows or headings name the measure.
        """
        mine, others = self.shared or self.above[:1], other.shared or other.above[:1]
        same = self.doc_id == other.doc_id and self.place == other.place and len(mine) == len(others)
        return same and all(words_of(one) == words_of(two) for one, two in zip(mine, others, strict=True))

    def figures(self) -> Iterator[SourcedFact]:
        """Yield all figures of all members."""
        for one in self.members:
            yield from one.facts.values()

    def member_named(self, name: str | None) -> Sibling | None:
        """Return the member with that name in any spelling; the total for None."""
        if name is None:
            return self.total
        exact = next((one for one in self.members if one.name == name), None)
        return exact or next((one for one in self.members if words_of(one.name) == words_of(name)), None)


class _Key(NamedTuple):
    doc_id: str
    page: int
    place: str
    shared: tuple[str, ...]
    """Compared by words: `Operating income` of one part is `Operating income (loss)` of another."""
    above: tuple[str, ...]
    unit: str


_FEWEST = 2
_WIDEST_GAP = 10
"""Lines between rows of one table."""


def siblings_in(facts: Iterable[SourcedFact], *, parts: bool = False) -> list[Siblings]:
    """Find all siblings among facts of a page, or with `parts` among those of a filing by captions, tags and scopes.

    Amounts of sentences have no siblings: a sentence is no member of a family.
    """
    groups: dict[_Key, dict[object, tuple[str, dict[When, SourcedFact]]]] = defaultdict(dict)
    said: dict[_Key, tuple[str, ...]] = {}
    for sourced in facts:
        if sourced.fact.source == "text":
            continue
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
    """Return what figures must share to be siblings; a label alone often confuses amounts and counts."""
    return fact.unit if fact.unit not in ("USD", "count") or fact.tag is not None else "amount"


def _in_one_unit(members: list[Sibling]) -> list[Sibling]:
    """Return untagged members in the most common unit and scale: `Convenience Stores` is not a count of stores."""
    units = Counter((each.fact.unit, each.fact.scale) for one in members for each in one.facts.values())
    (unit, scale), _ = units.most_common(1)[0]
    if len(units) == 1 or any(each.fact.tag is not None for one in members for each in one.facts.values()):
        return members

    def same(sourced: SourcedFact) -> SourcedFact:
        return SourcedFact(sourced.doc_id, replace(sourced.fact, unit=unit, scale=scale))

    return [Sibling(one.name, {when: same(each) for when, each in one.facts.items()}) for one in members]


def _distinguishing_titles(titles: Sequence[str]) -> list[str]:
    """Return titles without the words common to all: `ICS` from `TABLE 14: ICS SELECTED STATISTICAL INFORMATION`."""
    words = [title.replace(":", " ").split() for title in titles]
    same = set.intersection(*map(set, words))
    told = [" ".join(word for word in title if word not in same and not word.isdigit()) for title in words]
    return told if all(told) else list(titles)


def siblings_of(anchor: str, facts: Sequence[SourcedFact]) -> list[Siblings]:
    """Return the siblings for an `anchor`; groups with as many members as it names come first.

    Args:
        anchor: A `Siblings.anchor`.
        facts: Facts of the anchor's page, or of its filing where `may_span_pages(anchor)`.
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
    """Yield the same members in other tables of the filing, such as those for another year."""
    names = {one.name for one in siblings.members}
    by_page: dict[int, list[SourcedFact]] = defaultdict(list)
    for sourced in facts:
        by_page[sourced.fact.page].append(sourced)
    for page in sorted(by_page):
        for other in siblings_in(by_page[page]):
            if other.is_like(siblings) and names <= {one.name for one in other.members}:
                yield other


def may_span_pages(anchor: str) -> bool:
    """Return whether the siblings of an anchor may be on several pages."""
    return anchor.split("#")[2].startswith(("part", "axis", "caption"))


def _position_of(fact: Fact) -> tuple[int, int, int]:
    return fact.page, fact.line, round(fact.box.x0)


def period_key(period: FactPeriod) -> When:
    """Return the parts of a period that distinguish the periods of a table."""
    return period.fiscal_year, period.quarter, period.months


def _printed_at(sibling: Sibling) -> tuple[int, int, float]:
    fact = min((each.fact for each in sibling.facts.values()), key=lambda fact: (fact.page, fact.line, fact.box.x0))
    return fact.page, fact.line, fact.box.x0


def _places(sourced: SourcedFact) -> Iterator[tuple[_Key, object, str]]:
    """Yield (siblings it may belong to, its identity among them, its name) for each place of the address."""
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
    """Return (label, levels of the column header, headings) without those that only state the figure's period."""
    label = "" if _is_period_label(fact.label, fact.period) else fact.label.strip()
    columns = tuple(level for level in fact.column_path or (fact.column,) if not _is_period_label(level, fact.period))
    return label, columns, tuple(one for one in fact.section if not _is_period_label(one, fact.period))


def _parts(sourced: SourcedFact) -> Iterator[tuple[_Key, object, str]]:
    """Yield the same by the members of the fact's tag, or by its scope where it has no tag, across the filing."""
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
    """Return the member's name as the table prints it, if the address has its words; otherwise as the tag spells it."""
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
"""Most words of a caption that serves as a name: the same rows under `Europe` and under `Asia Pacific`."""


def _is_period_label(text: str, period: FactPeriod) -> bool:
    """Return whether the words only state the figure's period; a future year (`2028`) does more."""
    left = words_of(text) - OF_TIME
    return all(word.isdigit() and (len(word) < 4 or _may_belong(int(word), period)) for word in left)


def _may_belong(year: int, period: FactPeriod) -> bool:
    return year in (period.fiscal_year, period.end.year if period.end else period.fiscal_year)


def _runs(rows: Sequence[Sibling]) -> Iterator[Sequence[Sibling]]:
    """Yield groups of adjacent rows: the next table of the page may have the same headings, or none."""
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
    """Yield siblings divided by sums: addends of each total, level by level and fully expanded, then the rest."""
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
    """Return how many of the preceding members add up to `total` in every period; 0 where they do not."""
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
    """Return whether the parts add up to the whole, within the rounding of each."""
    step = sum((last_place(part) for part in parts), last_place(whole)) / 2
    return abs(sum((part.value for part in parts), Decimal(0)) - whole.value) <= step


def shared_words(siblings: Siblings) -> Words:
    """Return words that describe all members: those they share, those of the total, and those of most names."""
    names: Counter[str] = Counter(word for one in siblings.members for word in words_of(one.name))
    most = {word for word, count in names.items() if count > len(siblings.members) / 2}
    total = words_of(siblings.total.name) if siblings.total is not None else frozenset()
    return frozenset(words_of(" ".join(siblings.shared)) | total | most)
