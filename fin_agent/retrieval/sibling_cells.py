"""Siblings: figures of a table whose addresses differ in one place only, be it the row, the column or a heading.

Siblings are found by position, not by words: any rows under one heading, any columns of one row, any headings over rows
of one name are siblings, and so are the parts that tags or scopes name. Totals among them are found by arithmetic over
all periods.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from fin_agent.index.protocol import SourcedFact
from fin_agent.retrieval.fact_terms import LIGHT, OF_TIME, Words, split_tag_name, words_of
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import last_place
from fin_agent.vocabulary.runs import grouped, runs_of

When = tuple[int, int | None, int]
"""Fiscal year, quarter and months of a period."""
LIABILITIES = "liabilities"
ROWS = ("row", "statement", LIABILITIES)
"""Places of rows below the same headings, of all rows of a statement, and of those of a balance sheet that are owed:
many print no total of them, but one with equity."""
_BOTH_SIDES, _EQUITY = words_of("liabilities and equity") - words_of("and"), words_of("equity deficit")
_FEWEST = 2
_WIDEST_GAP = 10
"""Lines between rows of one table."""
_RUNNING_HEAD = re.compile(r"^table of contents\s*", re.I)
_MAX_TITLE_LENGTH = 8
"""Most words of a caption that serves as a name: the same rows under `Europe` and under `Asia Pacific`."""
_MAX_RUN_LENGTH = 40


@dataclass(frozen=True, slots=True, eq=False)
class Sibling:
    """One row, column, heading or part of a table, with its figure for each period."""

    name: str
    """As printed."""
    facts: dict[When, SourcedFact]


@dataclass(frozen=True, slots=True)
class Siblings:
    """Figures of one table whose addresses differ in one place."""

    doc_id: str
    place: str
    """`row`, `statement`, `column 0`, `heading 1`, `part` or `axis ProductOrServiceAxis`."""
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

    @property
    def measure(self) -> tuple[Hashable, ...]:
        """What is divided, and how: equal for tables of other periods.

        Captions may differ where rows or headings name the measure.
        """
        return self.doc_id, self.place, *map(words_of, self.shared or self.above[:1])

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


_Place = tuple[str, tuple[str, ...], Hashable, str]
"""A place of a fact's address, where it may have siblings: the place, the rest of the address, which is compared by
words (`Operating income` of one part is `Operating income (loss)` of another), what is equal for one sibling, its
name."""


def siblings_in(facts: Iterable[SourcedFact], *, parts: bool = False) -> list[Siblings]:
    """Find all siblings among facts of a page, or with `parts` among those of a filing by captions, tags and scopes.

    Amounts of sentences have no siblings: a sentence is no member of a family.
    """
    groups: dict[Hashable, tuple[Siblings, dict[Hashable, Sibling]]] = {}
    for sourced in facts:
        fact, period = sourced.fact, sourced.fact.period
        if fact.source == "text":
            continue
        page, caption = (-1, "") if parts else (fact.page, fact.caption)
        # A label alone often confuses amounts and counts.
        unit = fact.unit if fact.unit not in ("USD", "count") or fact.tag is not None else "amount"
        for place, texts, identity, name in _parts(fact) if parts else _places(fact):
            shared = tuple(filter(None, texts))
            key = sourced.doc_id, page, place, tuple(map(words_of, shared)), caption, fact.note, unit
            group = groups.get(key)
            if group is None:
                address = Siblings(sourced.doc_id, place, (), None, (), shared, (caption, fact.note))
                group = groups[key] = address, {}
            member = group[1].get(identity)
            if member is None:
                member = group[1][identity] = Sibling(name, {})
            member.facts.setdefault((period.fiscal_year, period.quarter, period.months), sourced)
    found: list[Siblings] = []
    for address, named in groups.values():
        members = list(named.values())
        if len(members) < _FEWEST:
            continue
        if address.place == "caption":
            if any(len(one.name.split()) > _MAX_TITLE_LENGTH for one in members):
                continue  # one of them is no name: what is left would not be all of them
            titles = _distinguishing_titles([one.name for one in members])
            members = [replace(one, name=title) for one, title in zip(members, titles, strict=True)]
        members = sorted(_in_one_unit(members), key=_printed_at)
        if address.place == "statement":  # `Receivables, net of allowance of $9` is one row, the allowance none
            at = {_printed_at(one)[1]: one for one in sorted(members, key=lambda one: len(one.name))}
            members = [one for one in members if at[_printed_at(one)[1]] is one]
        # Rows further apart belong to the next table of the page, which may have the same headings, or none.
        runs = runs_of(members, lambda run, row: _printed_at(row)[1] - _printed_at(run[-1])[1] > _WIDEST_GAP)
        for run in runs if address.place in ROWS else (members,):
            found += _siblings_of_run(address, _with_unique_names(run))
    return found


def _in_one_unit(members: list[Sibling]) -> list[Sibling]:
    """Return untagged members in the most common unit and scale: `Convenience Stores` is not a count of stores."""
    facts = [each.fact for one in members for each in one.facts.values()]
    units = Counter((fact.unit, fact.scale) for fact in facts)
    if len(units) == 1 or any(fact.tag is not None for fact in facts):
        return members
    (unit, scale), _ = units.most_common(1)[0]

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
        if one.place == place
        and any((at.fact.page, at.fact.line, round(at.fact.box.x0)) == there for at in one.figures())
    ]
    return sorted(found, key=lambda one: abs(len(one.members) - int(size)))


def matching_siblings(siblings: Siblings, facts: Sequence[SourcedFact]) -> Iterator[Siblings]:
    """Yield the same members in other tables of the filing, such as those for another year."""
    names = {one.name for one in siblings.members}
    for _, on_page in sorted(grouped((sourced.fact.page, sourced) for sourced in facts).items()):
        for other in siblings_in(on_page):
            if other.measure == siblings.measure and names <= {one.name for one in other.members}:
                yield other


def may_span_pages(anchor: str) -> bool:
    """Return whether the siblings of an anchor may be on several pages."""
    return anchor.split("#")[2].startswith(("part", "axis", "caption"))


def _printed_at(sibling: Sibling) -> tuple[int, int, float]:
    return min((each.fact.page, each.fact.line, each.fact.box.x0) for each in sibling.facts.values())


def _places(fact: Fact) -> Iterator[_Place]:
    """Yield the places of the address at which figures of one page may be siblings."""
    label, columns, headings = _without_period(fact)
    if label:
        yield "row", (*headings, *columns), (fact.line, label), label
    if label and fact.statement is not None:  # the parts of a sum may stand below several headings: `Total assets`
        yield "statement", columns, (fact.line, label), label
    for level, heading in enumerate(headings):
        shared = *headings[:level], *headings[level + 1 :], label, *columns
        yield f"heading {level}", shared, heading, heading.rstrip(" :")
    if columns:
        yield "column", (*headings, label), columns, " ".join(columns)
    if len(columns) > 1:
        for level, column in enumerate(columns):
            shared = *headings, label, *columns[:level], *columns[level + 1 :]
            yield f"column {level}", shared, column, column


def _without_period(fact: Fact) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return (label, levels of the column header, headings) without those that only state the figure's period."""
    period = fact.period
    years = period.fiscal_year, period.end.year if period.end else period.fiscal_year
    label = "" if _is_period_label(fact.label, years) else fact.label.strip()
    return label, _not_of_period(fact.column_path or (fact.column,), years), _not_of_period(fact.section, years)


def _parts(fact: Fact) -> Iterator[_Place]:
    """Yield the places at which figures of a filing may be siblings.

    They are the caption, the members of the fact's tag, and its scope where it has no tag.
    """
    label, columns, headings = _without_period(fact)
    printed = *headings, label, *columns
    if label and fact.caption:
        title = _RUNNING_HEAD.sub("", fact.caption).strip(" :.")
        if len(title.split()) > _MAX_TITLE_LENGTH:
            title = title.rpartition(". ")[2]  # the end of a paragraph is above it
        yield "caption", printed, title, title
    if fact.tag is None and fact.scope is not None:
        own = words_of(fact.scope)
        yield "part", tuple(text for text in printed if not words_of(text) <= own), own, fact.scope
    if fact.tag is None:
        return
    axes = fact.tag.axes
    members = {axis.rpartition(":")[2]: member for axis, member in fact.tag.members}
    for axis in axes:
        others = (split_tag_name(members[other]) for other in axes if other != axis)
        along = axis.replace("Subsegments", "StatementBusinessSegments")  # some segments have parts, others none
        name = _name_of(fact, members[axis], is_alone=len(axes) == 1)
        yield f"axis {along}", (split_tag_name(fact.tag.concept), *others), members[axis], name


def _name_of(fact: Fact, member: str, *, is_alone: bool) -> str:
    """Return the member's name as the table prints it, if the address has its words; otherwise as the tag spells it."""
    spelling = split_tag_name(member).removesuffix(" Member").removesuffix(" Segment")
    if not is_alone:
        return spelling
    words = words_of(spelling) - LIGHT
    for place in (fact.label, *reversed(fact.column_path), *reversed(fact.section)):
        own = words_of(place)
        if own and (own <= words or words <= own) and not own <= OF_TIME:
            return place.rstrip(" :")
    return fact.scope or spelling


@lru_cache(maxsize=10_000)
def _not_of_period(texts: tuple[str, ...], years: tuple[int, int]) -> tuple[str, ...]:
    return tuple(text for text in texts if not _is_period_label(text, years))


@lru_cache(maxsize=10_000)
def _is_period_label(text: str, years: tuple[int, int]) -> bool:
    """Return whether the words only state the period of a figure of these years; a future year (`2028`) does more."""
    left = words_of(text) - OF_TIME
    return all(word.isdigit() and (len(word) < 4 or int(word) in years) for word in left)


def _with_unique_names(members: Sequence[Sibling]) -> list[Sibling]:
    seen: Counter[str] = Counter()
    named = []
    for one in members:
        seen[one.name] += 1
        named.append(one if seen[one.name] == 1 else Sibling(f"{one.name} ({seen[one.name]})", one.facts))
    return named


def _siblings_of_run(address: Siblings, run: Sequence[Sibling]) -> Iterator[Siblings]:
    """Yield siblings divided by sums: addends of each total, level by level and fully expanded, then the rest."""
    left: list[Sibling] = []
    inner: dict[Sibling, list[Sibling]] = {}

    def smallest(members: Sequence[Sibling]) -> list[Sibling]:
        return [part for one in members for part in (smallest(inner[one]) if one in inner else [one])]

    def made(members: Sequence[Sibling], total: Sibling | None) -> Iterator[Siblings]:
        sums = tuple(one for one in members if one in inner)
        for parts in (smallest(members), members) if sums else (members,):
            if len(parts) >= _FEWEST:
                yield replace(address, members=tuple(parts), total=total, sums=sums)

    for one in run:
        size = _summed_members(left, one)
        if size:
            inner[one] = left[-size:]
            yield from made(left[-size:], one)
            if address.place == "statement" and words_of(one.name) >= _BOTH_SIDES:
                rest = [part for part in left[-size:] if not (part in inner and _EQUITY & words_of(part.name))]
                owed = tuple(smallest(rest))
                yield replace(address, place=LIABILITIES, members=owed, shared=(*address.shared, LIABILITIES))
            left[-size:] = [one]
        elif one.name.casefold().startswith(("total", "subtotal")):
            yield from made(left, None)  # a total that a rounded or missing figure keeps from being proved
            left = []
        else:
            left.append(one)
    above = len(left) > _FEWEST and _summed_members(left[:0:-1], left[0]) == len(left) - 1
    if above and (len(left) > _FEWEST + 1 or len(left[0].facts) > 1):
        yield from made(left[1:], left[0])  # a total above its parts; of two parts in one period it may be chance
    else:
        yield from made(left, None)


def _summed_members(before: Sequence[Sibling], total: Sibling) -> int:
    """Return how many of the preceding members add up to `total` in every period; 0 where they do not."""
    when, sourced = next(iter(total.facts.items()))
    whole = sourced.fact
    if not whole.amount:
        return 0
    added, units, found = Decimal(0), 0, 0
    for size, one in enumerate(reversed(before[-_MAX_RUN_LENGTH:]), start=1):
        part = one.facts.get(when)
        if part is not None:
            added, units = added + part.fact.value, units + part.fact.scale
        is_near = units and abs(added - whole.value) <= units + whole.scale  # spares most sums the exact comparison
        if size >= _FEWEST and is_near and _is_sum(before[-size:], total):
            found = size
    return found


def _is_sum(members: Sequence[Sibling], total: Sibling) -> bool:
    """Return whether the members add up to a total in all of its periods for which they have figures."""
    sums = [
        (sourced.fact, [one.facts[when].fact for one in members if when in one.facts])
        for when, sourced in total.facts.items()
    ]
    return any(parts for _, parts in sums) and all(
        adds_up(parts, whole) and whole.amount for whole, parts in sums if parts
    )


def adds_up(parts: Sequence[Fact], whole: Fact) -> bool:
    """Return whether the parts add up to the whole, within the rounding of each."""
    step = sum((last_place(part) for part in parts), last_place(whole)) / 2
    return abs(sum((part.value for part in parts), Decimal(0)) - whole.value) <= step


def shared_words(siblings: Siblings) -> Words:
    """Return words that describe all members: those they share, those of the total, and those of most names."""
    names: Counter[str] = Counter(word for one in siblings.members for word in words_of(one.name))
    most = {word for word, count in names.items() if count > len(siblings.members) / 2}
    total = words_of(siblings.total.name) if siblings.total is not None else frozenset()
    return words_of(" ".join(siblings.shared)) | total | most
