"""Families: figures that differ in one part only, as the revenue of each segment, product, region or debt instrument.

A family is chosen among the siblings of a company's tables (`sibling_cells.py`) by the words of the question: what is
measured, what kind of parts, which members it must hold, which periods.
Totals, subtotals and eliminations are no members.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from fin_agent.index.protocol import PageKey, SourcedFact
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.fact_search import (
    FactQuery,
    facts_of_year,
    find_facts,
    matches_period,
    period_fit_of,
    synonym_wordings,
)
from fin_agent.retrieval.fact_terms import LIGHT, OF_PARTS, OF_TIME, Words, address_of, split_tag_name, stems, words_of
from fin_agent.retrieval.search_query import EVERYTHING, Scope
from fin_agent.retrieval.sibling_cells import Sibling, Siblings, adds_up, may_span_pages, shared_words, siblings_in
from fin_agent.retrieval.slot_matching import same_part
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
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
    printed_total: bool = False
    """Whether the table itself prints the whole."""
    table: str = ""
    """Where it stands (`Siblings.anchor`): a slot of this table and a member's name is filled from here alone."""

    def sums_to_whole(self, period: int = 0) -> bool:
        """Whether the members add up to the whole; False also where the whole is not stated."""
        if not self.total:
            return False
        return adds_up([member.facts[period].fact for member in self.members], self.total[period].fact)

    def ranked(self, period: int = 0, *, descending: bool = True) -> tuple[Member, ...]:
        """The members by their figures; equals in the order in which they are printed."""
        return tuple(sorted(self.members, key=lambda member: member.value(period), reverse=descending))

    def by_growth(self, before: int = 0, after: int = 1, *, descending: bool = True) -> tuple[Member, ...]:
        """The members by growth between two of the periods; those that began at zero or below have none."""
        grown = [member for member in self.members if member.value(before) > 0]
        return tuple(sorted(grown, key=lambda member: member.value(after) / member.value(before), reverse=descending))

    def member_named(self, name: str) -> Member | None:
        """The member that a question calls by `name`: printed so, or the only one whose name has all of its words."""
        same = [member for member in self.members if same_part(member.name, name)]
        words = words_of(name)
        for longer in (True, False):
            held = ((member, words_of(member.name)) for member in self.members)
            same = same or [each for each, own in held if own and (words <= own if longer else own <= words)]
        return same[0] if words and len(same) == 1 else None


@dataclass(frozen=True, slots=True)
class FamilySearchResult:
    """Families that fit a question, best first."""

    families: tuple[Family, ...] = ()
    rival: Family | None = None
    """Another family that fits as well and whose members differ from the best one's: none is taken for sure."""

    @property
    def best(self) -> Family | None:
        """The best one, whether it is sure or not."""
        return self.families[0] if self.families else None

    @property
    def is_sure(self) -> bool:
        """Whether the best one is what is asked for, and no other stands as near."""
        return bool(self.families) and self.rival is None


KINDS = tuple(sorted(word_lists("part_kinds")))
"""What companies are divided by, where it is known; other words for kinds are looked for as such."""


def find_families(
    workspace: Workspace,
    query: FactQuery,
    company: str,
    *,
    kind: str | None = None,
    holding: Sequence[str] = (),
    years: Sequence[int] = (),
    scope: Scope = EVERYTHING,
) -> FamilySearchResult:
    """The families of a company's tables that hold figures for a phrase or metric.

    Args:
        workspace: The index, with its companies.
        query: What is measured and when. Its `part`, where given, is a member of the family that is meant.
        company: Key of the company in the directory.
        kind: What the members are, in the question's word: one of KINDS, or any other (`banner`, `tranche`), which the
            table's captions, headings or rows have to bear out; None for any.
        holding: Names that must be among the members.
        years: Fiscal years that every member needs a figure of, in this order; `query.fiscal_year` alone by default.
        scope: The filings and pages that may be read.
    """
    wanted = tuple(replace(query, part=None, fiscal_year=year) for year in years or (query.fiscal_year,))
    asked = _FamilyQuery.of(query, kind, (*holding, query.part) if query.part else tuple(holding), workspace)
    directory, last = workspace.directory, wanted[-1]
    doc_ids = [
        doc_id for doc_id in directory.by_key[company].doc_ids if scope.filings in (None, ()) or doc_id in scope.filings
    ]
    if last.fiscal_year is None or not doc_ids:
        return FamilySearchResult()
    fits = {doc_id: period_fit_of(last, directory.identities[doc_id]) for doc_id in doc_ids}
    near = [each for each in facts_of_year(workspace.index, doc_ids, last.fiscal_year) if scope.holds(each.key)]
    near = [each for each in near if matches_period(each.fact, last) and asked.may_match_page(each.fact)]
    filings = sorted({each.doc_id for each in near}, key=lambda doc_id: (-fits[doc_id], doc_id))[:_FILINGS]
    pages = sorted({each.key for each in near if each.doc_id in filings})
    tables = _tables(workspace, pages)
    wholes = [_whole(workspace, one, company, scope) for one in wanted]
    found: list[tuple[tuple[float, ...], Family]] = []
    for siblings in tables:
        if not asked.may_match(siblings) or (held := _family(siblings, wanted, tables, wholes)) is None:
            continue
        made, proved = held
        score = asked.score(siblings, made)
        if score is None:
            continue
        score += _OWN * fits[siblings.doc_id] + _SUMS_UP * proved
        whole = wholes[-1]
        if whole is not None and siblings.total is not None and made.total:
            score += _THE_WHOLE if magnitudes_agree(made.total[-1].fact, whole.fact) else -_THE_WHOLE
        found.append(((-round(score, 3), -fits[siblings.doc_id], -len(made.members)), made))
    found.sort(key=lambda pair: pair[0])
    return _deduplicate_families(found, _NEAR if any(asked.wordings) else math.inf)


def find_family(
    workspace: Workspace,
    query: FactQuery,
    company: str,
    *,
    kind: str | None = None,
    years: Sequence[int] = (),
    scope: Scope = EVERYTHING,
) -> Family:
    """The best of `families`; an empty one where there are none."""
    return find_families(workspace, query, company, kind=kind, years=years, scope=scope).best or Family()


def family_of_companies(workspace: Workspace, query: FactQuery, companies: Iterable[str]) -> Family:
    """The same measure of several companies: those whose figure is not sure are dropped, with the reason."""
    members, dropped = [], []
    for company in companies:
        name = workspace.directory.by_key[company].name
        found = find_facts(workspace, query, company=company)
        if found.is_sure:
            members.append(Member(name, (found.matches[0].sourced,)))
        else:
            dropped.append((name, "several lines fit" if found.rivals else "no line has all of the words"))
    return Family(tuple(members), "company", (), tuple(dropped))


def is_remainder(name: str) -> bool:
    """Whether a member is only what is left beside the named ones: `Other`, `All other countries`, `Rest of world`."""
    return bool(words_of(name)) and words_of(name) <= _REST | OF_PARTS | LIGHT


_REST, _BETWEEN, _REGIONS = stems("of the rest"), stems("between parts"), stems("of regions")
_WHEN = words_of(
    "due after through less more than within one two three four five ten thereafter later beyond remainder"
)
_OF_THE_WHOLE = words_of("sales consolidated overall company wide")
_RATE, _CHANGE, _RESULTS = stems("rate"), stems("change"), words_of("income loss gain")
_FEWEST = 2
_FILINGS = 3
"""Filings whose tables are looked at: the period's own report and those that repeat it."""
_SUMS_UP, _THE_WHOLE, _OWN = 0.04, 0.08, 0.1
"""What it counts that the members add up, that their total is (or is not) the whole company's figure, that the report
is the period's own."""
_NEAR = 0.05
_ABOVE, _OF_MOST = 0.92, 0.95
"""What a word of the phrase counts in the caption alone; what it counts that only the lexicon calls the figures so."""
_EXTRA, _OF_ANOTHER_UNIT, _OF_A_CHANGE = 0.35, 0.4, 0.3
_OF_THE_KIND, _SAID_SO, _LIKE, _REGIONAL, _OF_LINES = 0.2, 0.16, -0.06, 0.05, 0.3
_STUB = 0.06
"""What it counts that rows, and not columns, are of a kind that is not known: columns are mostly what is measured."""
_ACROSS_TABLES = 0.03
"""What it costs that the members are gathered from several places of a filing."""


@dataclass(frozen=True, slots=True)
class _FamilyQuery:
    """What a family has to be of."""

    wordings: tuple[Words, ...]
    metric: str | None
    unit: str
    kind: str | None
    kind_words: Words
    holding: tuple[str, ...]

    @classmethod
    def of(cls, query: FactQuery, kind: str | None, holding: tuple[str, ...], workspace: Workspace) -> _FamilyQuery:
        wordings, metric = synonym_wordings(replace(query, part=None), workspace.lexicon)
        own = words_of(kind or "")
        said = own | OF_PARTS
        free = tuple(dict.fromkeys(left for words in wordings if (left := words - said - LIGHT) or not words - LIGHT))
        return cls(
            free or tuple(words - own for words in wordings),
            metric.id if metric is not None else None,
            metric.unit if metric is not None else "",
            _kind_for_word(kind),
            own,
            holding,
        )

    def may_match_page(self, fact: Fact) -> bool:
        """Whether the page of the fact is worth looking at."""
        if self.metric is not None and _plain_metric(fact) == self.metric:
            return True
        borne = address_of(fact).borne
        return any((words or self.kind_words) <= borne for words in self.wordings)

    def may_match(self, siblings: Siblings) -> bool:
        """Whether words of the phrase are borne out at all: a cheap look before the members are."""
        if self.metric is not None:
            return True
        said = shared_words(siblings) | words_of(" ".join(siblings.above)) | _concept(siblings.figures())
        return any(words <= said for words in self.wordings)

    def score(self, siblings: Siblings, made: Family) -> float | None:
        """How far the family is what is asked for; None where something of it is not borne out."""
        if any(made.member_named(name) is None for name in self.holding):
            return None
        facts = [member.facts[-1].fact for member in made.members]
        concept = _concept(member.facts[-1] for member in made.members)
        shared, above = shared_words(siblings) | concept, words_of(" ".join(siblings.above))
        fixed = words_of(" ".join(siblings.shared)) - OF_PARTS - LIGHT - OF_TIME - self.kind_words
        fixed = frozenset(word for word in fixed if not word.isdigit())
        scores = [
            sum(1.0 if word in shared else _ABOVE for word in words) / (len(words) or 1)
            - _EXTRA * len(fixed - words - concept) / (len(fixed) or 1)
            for words in self.wordings
            if words <= shared | above
        ]
        if self.metric is not None and 2 * sum(_plain_metric(fact) == self.metric for fact in facts) > len(facts):
            others = fixed - frozenset[str]().union(*self.wordings) - concept
            scores.append(_OF_MOST - _EXTRA / 3 * len(others) / (len(fixed) or 1))
        units = {fact.unit for fact in facts}
        if not scores or (self.unit and units != {self.unit}):
            return None
        score, asked = max(scores), frozenset[str]().union(*self.wordings)
        if not self.unit and units & {"percent", "ratio", "USD per share"} and not asked & _RATE:
            score -= _OF_ANOTHER_UNIT
        if (fixed | concept) & _CHANGE and not asked & _CHANGE:
            score -= _OF_A_CHANGE
        metrics = {fact.metric for fact in facts} - {None}
        lines = [bool((words_of(member.name) - LIGHT - self.kind_words) & asked) for member in made.members]
        score -= _OF_LINES * max(sum(lines) / len(lines), (len(metrics) > 1) * 0.5)
        if may_span_pages(made.table):
            score -= _ACROSS_TABLES
        if self.kind_words and self.kind is None and siblings.place == "row":
            score += _STUB
        of_kind = self._kind_score(siblings, facts)
        return score + of_kind if of_kind is not None else None

    def _kind_score(self, siblings: Siblings, facts: Sequence[Fact]) -> float | None:
        """What it counts that the members are of the kind asked for; None where they are of another."""
        if not self.kind_words:
            return 0.0
        times = sum(_is_time(one.name) for one in siblings.members)
        if 2 * times > len(siblings.members) and self.kind != "maturity" and not self.kind_words & OF_TIME:
            return None
        near = " ".join((siblings.above[0], *siblings.shared, *(one.name for one in siblings.members)))
        if self.kind is None:
            return _OF_THE_KIND if self.kind_words <= words_of(near) | words_of(siblings.above[1]) else 0.0
        like = {self.kind, *_MAY_BE_CALLED.get(self.kind, ())}
        of_tags = {kind for kind in map(_kind_of_tag, facts) if kind is not None}
        said = of_tags or _kinds_mentioned(near)
        of_regions = _share_of_region_names(siblings)
        regions = of_regions * ((self.kind == "region") - (self.kind == "country"))
        if (self.kind == "region" and of_regions > 1 / 2) or (
            self.kind == "country" and "region" in said and of_regions < 1 / 4
        ):
            return _OF_THE_KIND + _REGIONAL * max(regions, 0)
        if self.kind in said:
            return (_OF_THE_KIND if of_tags else _SAID_SO) + _REGIONAL * regions
        if said or self.kind not in _MAY_BE_CALLED:
            return _LIKE + _REGIONAL * regions if said & like else None
        return _SAID_SO / 2 * (self.kind in _kinds_mentioned(siblings.above[1])) + _REGIONAL * regions


def _is_time(name: str) -> bool:
    """Whether it says when something falls due, or of which year it is: `Fiscal 2028`, `Due after five years`."""
    return all(word.isdigit() for word in words_of(name) - OF_TIME - _WHEN)


def _concept(facts: Iterable[SourcedFact]) -> Words:
    """Words of the concept that all of them are tagged with."""
    concepts = {each.fact.tag.concept if each.fact.tag else "" for each in facts}
    return words_of(split_tag_name(concepts.pop())) if len(concepts) == 1 else frozenset()


def _kind_for_word(kind: str | None) -> str | None:
    """The one of KINDS that a word of a question stands for; None for any other word."""
    words = words_of(kind or "")
    return next((one for one in KINDS if words and words & words_of(one)), None)


_MAY_BE_CALLED = {
    "region": ("segment", "country"),
    "product": ("segment",),
    "country": ("region",),
    "segment": ("region", "product"),
}
"""Segments may be regions or product lines; where a company has no other, these are meant."""


def _kind_of_tag(fact: Fact) -> str | None:
    axes = " ".join(fact.tag.axes).casefold() if fact.tag else ""
    return next(iter(sorted(_kinds_mentioned(axes))), None) if axes else None


def _kinds_mentioned(text: str) -> set[str]:
    letters = text.casefold()
    return {kind for kind, words in word_lists("part_kinds").items() if any(word in letters for word in words)}


def _plain_metric(fact: Fact) -> str | None:
    return fact.metric.removeprefix("segment_") if fact.metric else None


def _share_of_region_names(siblings: Siblings) -> float:
    """Share of the names that speak of large regions; those of single countries do not."""
    names = [words_of(one.name) for one in siblings.members]
    return sum(bool(name & _REGIONS) for name in names) / len(names)


def _tables(workspace: Workspace, pages: Sequence[PageKey]) -> list[Siblings]:
    """All siblings of the pages, and those that tags and scopes tell across the pages of a filing."""
    by_page: dict[PageKey, list[SourcedFact]] = {}
    for sourced in workspace.index.facts(sorted({key.doc_id for key in pages}), pages=pages) if pages else []:
        by_page.setdefault(sourced.key, []).append(sourced)
    found = [siblings for key in sorted(by_page) for siblings in siblings_in(by_page[key])]
    by_filing: dict[str, list[SourcedFact]] = {}
    for key in sorted(by_page):
        by_filing.setdefault(key.doc_id, []).extend(by_page[key])
    return found + [siblings for facts in by_filing.values() for siblings in siblings_in(facts, parts=True)]


def _whole(workspace: Workspace, query: FactQuery, company: str, scope: Scope) -> SourcedFact | None:
    found = find_facts(workspace, query, company=company, scope=scope).matches
    return next((hit.sourced for hit in found if hit.sourced.fact.scope is None), None)


def _family(
    siblings: Siblings, wanted: Sequence[FactQuery], tables: Sequence[Siblings], wholes: Sequence[SourcedFact | None]
) -> tuple[Family, bool] | None:
    """The siblings that have a figure of every period, and whether all that is printed adds up to the whole."""
    sources = [_with_other_periods(siblings, one, tables) for one in wanted]
    totals = [_figure(source.total, query) for source, query in zip(sources, wanted, strict=True)]
    stated = [one or whole for one, whole in zip(totals, wholes, strict=True)]
    total = tuple(one for one in stated if one is not None) if all(stated) else ()
    kept: list[Member] = []
    dropped = [(one.name, "a sum of others") for one in siblings.sums if one not in siblings.members]
    for one in siblings.members:
        of_sources = [one if source is siblings else source.member_named(one.name) for source in sources]
        facts = [_figure(member, query) for member, query in zip(of_sources, wanted, strict=True)]
        figures = tuple(fact for fact in facts if fact is not None)
        if len(figures) == len(wanted):
            kept.append(Member(one.name, figures))
        else:
            dropped.append((one.name, "no figure of every period"))
    proved = bool(total) and adds_up([member.facts[-1].fact for member in kept], total[-1].fact)
    between = [member for member in kept if _is_subtotal_or_deduction(member, kept, total, proved=proved)]
    dropped += [(member.name, "no part: an elimination, or what is not divided among the parts") for member in between]
    kept = [member for member in kept if member not in between]
    if len(kept) < _FEWEST or not any(member.value(-1) for member in kept):
        return None
    return Family(
        tuple(kept), _kind_of(siblings, kept), total, tuple(dropped), siblings.total is not None, siblings.anchor
    ), proved


def _is_subtotal_or_deduction(
    member: Member, members: Sequence[Member], total: Sequence[SourcedFact], *, proved: bool
) -> bool:
    """Whether it is no part, by its name or because it takes off what the others count twice."""
    words = words_of(member.name)
    if words & _BETWEEN and words <= _BETWEEN | _REST | OF_PARTS | LIGHT:
        return True
    if not words - _CHANGE - _RATE - LIGHT - _OF_THE_WHOLE:
        return True
    below = [one for one in members if one.value(-1) < 0]
    return proved and below == [member] and len(members) > _FEWEST and not _may_be_a_loss(total[-1].fact)


def _may_be_a_loss(fact: Fact) -> bool:
    return bool(words_of(" ".join((fact.label, *fact.section, *fact.column_path))) & _RESULTS)


def _kind_of(siblings: Siblings, members: Sequence[Member]) -> str | None:
    kinds = {_kind_of_tag(member.facts[-1].fact) for member in members} - {None}
    if kinds:
        return sorted(kind for kind in kinds if kind)[0]
    said = _kinds_mentioned(" ".join((*siblings.shared, *siblings.above)))
    return (
        sorted(said)[0]
        if said
        else next((each.part_kind for one in members if (each := one.facts[-1].fact).part_kind), None)
    )


def _figure(sibling: Sibling | None, query: FactQuery) -> SourcedFact | None:
    if sibling is None:
        return None
    return next((sourced for sourced in sibling.facts.values() if matches_period(sourced.fact, query)), None)


def _with_other_periods(siblings: Siblings, query: FactQuery, tables: Sequence[Siblings]) -> Siblings:
    """The siblings themselves where they have the period; else the like ones of the filing's table of that period."""
    if any(_figure(one, query) is not None for one in siblings.members):
        return siblings
    names = {one.name for one in siblings.members}
    for other in tables:
        if (
            other.is_like(siblings)
            and names <= {one.name for one in other.members}
            and _figure(other.members[0], query) is not None
        ):
            return other
    return siblings


def _deduplicate_families(found: Sequence[tuple[tuple[float, ...], Family]], near: float) -> FamilySearchResult:
    """The families that say something else each, and the first that stands as near as the best and contradicts it."""
    kept: list[tuple[float, Family]] = []
    for (below, *_), made in found:
        if not any(_have_same_figures(made, other) for _, other in kept):
            kept.append((-below, made))
    if not kept:
        return FamilySearchResult()
    best = kept[0][0]
    first = kept[0][1]
    rival = next((other for score, other in kept[1:] if score > best - near and not _is_same_table(other, first)), None)
    return FamilySearchResult(tuple(made for _, made in kept), rival)


def _is_same_table(other: Family, first: Family) -> bool:
    """Whether one of them holds sums, or parts, of the other's members: they are one table's, and do not differ."""
    shared = [(member, same) for member in other.members if (same := _of_name(first, member.name)) is not None]
    if any(not magnitudes_agree(member.facts[-1].fact, same.facts[-1].fact) for member, same in shared):
        return may_span_pages(other.table) and not may_span_pages(first.table)  # a table goes before what tags gather
    names = [{member.name for member in one.members} for one in (other, first)]
    every = [held | {name for name, _ in one.dropped} for held, one in zip(names, (other, first), strict=True)]
    return names[0] <= every[1] or names[1] <= every[0]


def _of_name(family: Family, name: str) -> Member | None:
    return next((member for member in family.members if member.name == name), None)


def _have_same_figures(one: Family, other: Family) -> bool:
    """Whether all figures of the smaller family are in the other, however their parts are called."""
    small, large = sorted((one, other), key=lambda family: len(family.members))
    figures = [member.facts[-1].fact for member in large.members]
    return all(any(magnitudes_agree(member.facts[-1].fact, other) for other in figures) for member in small.members)
