"""Families: figures that differ in one part only, as the revenue of each segment, product, region or debt instrument.

A family is chosen among the siblings of a company's tables (`sibling_cells.py`) by the words of the question: what is
measured, the kind of parts, the members it must include, and the periods. Totals, subtotals and eliminations are not
members.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial

from fin_agent.filings.tables.column_periods import time_words
from fin_agent.index.protocol import PageKey, SourcedFact
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.fact_search import (
    FactQuery,
    facts_of_year,
    find_facts,
    is_acronym,
    kept_once,
    matches_period,
    period_fit_of,
    synonym_wordings,
)
from fin_agent.retrieval.fact_terms import (
    LIGHT,
    OF_PARTS,
    OF_TIME,
    OF_YEARS_TO_COME,
    Words,
    address_of,
    split_tag_name,
    stems,
    without_brackets,
    words_of,
)
from fin_agent.retrieval.search_query import EVERYTHING, Scope
from fin_agent.retrieval.sibling_cells import (
    LIABILITIES,
    ROWS,
    Sibling,
    Siblings,
    adds_up,
    may_span_pages,
    shared_words,
    siblings_in,
)
from fin_agent.retrieval.slot_matching import same_part
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Member:
    """One part with its figures."""

    name: str
    """As printed."""
    facts: tuple[SourcedFact, ...]
    """One for each period asked about, in that order."""

    def value(self, period: int = 0) -> Decimal:
        """Return its figure for a period, in base units.

        Args:
            period: Position in the periods asked about.
        """
        return self.facts[period].fact.value

    @property
    def last(self) -> Fact:
        """Its fact of the last period."""
        return self.facts[-1].fact


@dataclass(frozen=True, slots=True)
class Family:
    """Figures of the parts of a company, for one measure and the same periods."""

    members: tuple[Member, ...] = ()
    """In printed order."""
    kind: str | None = None
    """The kind of part: `segment`, `product`, `region` and so on; None where nothing states it."""
    total: tuple[SourcedFact, ...] = ()
    """The company's total for each period; empty where it is not stated."""
    dropped: tuple[tuple[str, str], ...] = ()
    """(name, reason) of excluded rows: totals, subtotals, eliminations, parts without a figure for every period."""
    printed_total: bool = False
    """Whether the table itself prints the total."""
    table: str = ""
    """Its place (`Siblings.anchor`). A slot with this table and a member's name is filled from here only."""

    @property
    def page(self) -> tuple[str, int]:
        """The filing and the page of the figures of its first member."""
        first = self.members[0].facts[-1]
        return first.doc_id, first.fact.page

    def sums_to_whole(self) -> bool:
        """Return whether the members add up to the total in the first period; False where the total is not stated."""
        return bool(self.total) and adds_up([member.facts[0].fact for member in self.members], self.total[0].fact)

    def has_members(self, count: int) -> bool:
        """Return whether it has that many members, with or without a remainder; any number if the count is 0."""
        named = sum(not is_remainder(member.name) for member in self.members)
        return not count or count in (named, len(self.members))

    def ranked(self) -> tuple[Member, ...]:
        """Return the members sorted by their figures of the last period, largest first; equal ones in printed order."""
        return tuple(sorted(self.members, key=lambda member: member.value(-1), reverse=True))

    def member_named(self, name: str) -> Member | None:
        """Return the member that a question calls `name`: an exact match, or the only one that shares all words."""
        same = [member for member in self.members if same_part(member.name, name)]
        words = words_of(name)
        for longer in (True, False):
            held = ((member, words_of(member.name)) for member in self.members)
            same = same or [each for each, own in held if own and (words <= own if longer else own <= words)]
        if name.isupper():
            same = same or [each for each in self.members if is_acronym(name.lower(), each.name)]
        return same[0] if words and len(same) == 1 else None


@dataclass(frozen=True, slots=True)
class FamilySearchResult:
    """The family that fits a question best."""

    best: Family | None = None
    """The best family, whether certain or not."""
    rival: Family | None = None
    """Another family that fits as well but has other members; while there is one, the best is not certain."""

    @property
    def is_sure(self) -> bool:
        """Whether the best family fits and no other fits equally well."""
        return self.best is not None and self.rival is None


COMPONENT = "component"
"""The kind of any rows that add up to what is measured."""
KINDS = tuple(sorted(word_lists("part_kinds")))
"""The known kinds of parts; other words for kinds are searched for as printed."""
_OF_A_TOTAL, _SUBTRACTED = words_of("gross net"), words_of("less pre-tax accumulated allowance")
_OF_A_COMPANY = ("country", "customer", "product", "region", "segment")
_REST, _BETWEEN, _REGIONS = stems("of the rest"), stems("between parts"), stems("of regions")
_NOT_DIVIDED, _PLACES = stems("not divided"), stems("of places") | _REGIONS
_HOME = words_of("united states domestic foreign abroad non-u.s.")
_WHEN = words_of(
    "due after through less more than within one two three four five ten thereafter later beyond remainder date first"
    " second third fourth half full"
)
_OF_THE_WHOLE = words_of("sales consolidated overall company wide")
_SALES = words_of("revenue sales")
_OF_ANY_KIND = words_of("products services")
_TOTAL, _OPENING = words_of("total"), words_of("beginning")
_EFFECTS, _COUNTRIES = words_of("impact effect"), words_of("country countries")
_SUMMED = words_of(" ".join(word_lists("part_words")["sums"]))
_CALLED = words_of(" ".join(word_lists("question_words")["called by tables"]))
_RATE, _CHANGE, _RESULTS = stems("rate"), stems("change") | words_of("additions"), words_of("income loss gain")
_FEWEST, _NEARLY_ALL, _HALF = 2, 0.9, 0.5
_FILINGS, _MAX_TABLES = 3, 16
"""Filings whose tables are read, that for the period and those that repeat it; sets of pages whose tables are kept."""
_SUMS_UP, _THE_WHOLE, _OWN = 0.04, 0.08, 0.1
"""Bonus where the members add up; where their total is (or is not) the whole company's figure; where the report is the
one for the period."""
_NEAR, _OWN_REPORT, _BESIDE, _COUNTED = 0.05, 0.25, 0.2, 0.15
_ABOVE, _OF_MOST = 0.92, 0.95
"""Credit for a word of the phrase found only in the caption; score where only the lexicon names the figures so."""
_EXTRA, _OF_ANOTHER_UNIT, _OF_A_CHANGE = 0.35, 0.4, 0.3
_OF_THE_KIND, _SAID_SO, _LIKE, _REGIONAL, _OF_LINES = 0.2, 0.16, -0.12, 0.05, 0.3
_LINES_ABOVE, _ROW_LINES = 10, 12
"""Lines of a page in which rows are called by a word for their kind, and most lines of one row."""
_STUB = 0.06
"""Bonus for rows rather than columns where the kind is unknown: columns mostly name what is measured."""
_ACROSS_TABLES, _OF_TOTALS = 0.03, 0.2
"""Penalties where the members are collected from several places of a filing; where one is a total of others."""
_MAY_BE_CALLED = {
    "region": ("segment", "country"),
    "product": ("segment",),
    "country": ("region",),
    "segment": ("region", "product"),
}
"""Segments may be regions or product lines; where a company has no other division, these are meant."""


def find_family(
    workspace: Workspace,
    query: FactQuery,
    company: str,
    *,
    kind: str | None = None,
    holding: Sequence[str] = (),
    periods: Sequence[FiscalPeriod] = (),
    scope: Scope = EVERYTHING,
    beside: str = "",
    count: int = 0,
) -> FamilySearchResult:
    """Return the family of a company's tables that contains figures for a phrase or metric.

    Args:
        workspace: The index with its companies.
        query: What is measured and when. Its `part`, if given, is a member of the family that is meant.
        company: Key of the company in the directory.
        kind: The kind of member in the question's words: one of KINDS, or another word (`banner`, `tranche`) that must
            appear in the table's captions, headings or rows; None for any.
        holding: Names that must be among the members.
        periods: Those for which every member needs a figure, in this order; by default, that of the query alone.
        scope: The filings and pages that may be read.
        beside: The table of another measure of the same parts: a table on its page is preferred, as a note on segments
            may define their revenue and their income otherwise than the statements.
        count: How many members the family has, if that is known; where none has as many, the best is returned anyway.
    """
    summed = kind == COMPONENT
    kind = None if summed else kind
    bare = replace(query, part=None)
    wanted = tuple(
        replace(bare, fiscal_year=one.fiscal_year, quarter=one.quarter, months=one.months) for one in periods
    ) or (bare,)
    asked = _FamilyQuery.of(query, kind, (*holding, query.part) if query.part else tuple(holding), workspace)
    if summed:  # a line that is called `Other, net` says nothing of what adds up
        asked = replace(asked, wordings=tuple(words for words in asked.wordings if not words <= _REST))
    directory, last, within = workspace.directory, wanted[-1], scope.filings
    doc_ids = [doc_id for doc_id in directory.by_key[company].doc_ids if not within or doc_id in within]
    if last.fiscal_year is None or not doc_ids:
        return FamilySearchResult()
    fits = {doc_id: period_fit_of(last, directory.identities[doc_id]) for doc_id in doc_ids}
    rows = (each for each in facts_of_year(workspace.index, doc_ids, last.fiscal_year) if each.fact.source != "text")
    dated = (each for each in rows if scope.holds(each.key) and matches_period(each.fact, last))
    pages = {each.key for each in dated if asked.may_match_page(each.fact)}
    filings = sorted({key.doc_id for key in pages}, key=lambda doc_id: (-fits[doc_id], doc_id))[:_FILINGS]
    of_filings = tuple(sorted(key for key in pages if key.doc_id in filings))
    read = partial(_tables, workspace, of_filings)
    tables = kept_once(workspace.index, "families' tables", of_filings, read, most=_MAX_TABLES)
    if asked.kind is None and (len(asked.kind_words) > 1 or asked.kind_words & _CALLED):
        tables = [_with_line_above(siblings, asked.kind_words, workspace) for siblings in tables]
    alike = grouped((siblings.measure, siblings) for siblings in tables)
    wholes = [_whole(workspace, one, company, scope) for one in wanted]
    whole = wholes[-1]
    found: list[tuple[tuple[float, ...], Family]] = []
    for siblings in tables:
        span = time_words(" ".join(siblings.shared)).months
        if (siblings.place in ROWS[1:] and not summed) or not asked.may_match(siblings):
            continue
        if span not in (None, 0, last.months or (3 if last.quarter else 12)):
            continue
        held = _family(siblings, wanted, alike[siblings.measure], wholes)
        if held is None:
            continue
        made, proved = asked.of_places(held[0]), held[1]
        if not made.members or (summed and not asked.is_sum(siblings, made, whole, adds=proved or made.printed_total)):
            continue
        score = asked.score(siblings, made)
        if score is None or asked.divides_another_figure(made, whole) or not (proved or asked.is_named(siblings, made)):
            continue
        score += _OWN * fits[siblings.doc_id] + _SUMS_UP * proved
        if whole is not None and siblings.total is not None and made.total:
            score += _THE_WHOLE if magnitudes_agree(made.total[-1].fact, whole.fact) else -_THE_WHOLE
        score += _BESIDE * (bool(beside) and beside.startswith("{}#{}#".format(*made.page)))
        found.append(((round(score, 3), fits[siblings.doc_id], len(made.members)), made))
    found.sort(key=lambda pair: pair[0], reverse=True)
    if found and "#caption#" in found[0][1].table and not found[0][1].sums_to_whole():
        in_last = (_family(one, wanted[-1:], alike[one.measure], wholes[-1:]) for one in tables if asked.may_match(one))
        wider = [made[0] for made in in_last if made is not None and (whole is None or _make_up(made[0], whole))]
        if any(_lacks_members(found[0][1], one) for one in wider):  # as where a table goes on at another page
            found = [pair for pair in found if _lacks_members(found[0][1], pair[1])]
    # Later reports divide anew: of tables that fit about as well, those of the report for the period count alone.
    fittest = max((fit for (_, fit, _), _ in found), default=0.0)
    own = [pair for pair in found if pair[0][1] == fittest]
    found = own if own and own[0][0][0] >= found[0][0][0] - _OWN_REPORT else found
    if found and whole is not None and _make_up(found[0][1], whole):
        found = [pair for pair in found if _make_up(pair[1], whole)]  # parts of other figures are no rivals
    least = found[0][0][0] - _COUNTED if found and count else math.inf
    found = [pair for pair in found if pair[0][0] >= least and pair[1].has_members(count)] or found
    near = _NEAR if any(asked.wordings) else math.inf
    return _best_and_rival([(score, made) for (score, *_), made in found], near, of_all=asked.kind == "segment")


def _lacks_members(family: Family, wider: Family) -> bool:
    """Return whether a family has some of the members of another, under the same names, and no others."""
    names = [{one.name.casefold() for one in each.members if not is_never_member(one.name)} for each in (family, wider)]
    return names[0] < names[1]


def _make_up(family: Family, whole: SourcedFact) -> bool:
    """Return whether the members add up to the company's figure."""
    return adds_up([member.last for member in family.members], whole.fact)


def is_remainder(name: str) -> bool:
    """Return whether a member is a remainder: `Other`, `All other countries`, but no segment called `Business`."""
    words = words_of(name)
    return bool(words & (_REST | LIGHT)) and words <= _REST | OF_PARTS | LIGHT


def is_never_member(name: str) -> bool:
    """Return whether families leave out what is called so: remainders, `Corporate`, `Eliminations`."""
    return bool(words_of(name)) and words_of(name) <= _BETWEEN | _REST | OF_PARTS | LIGHT


@dataclass(frozen=True, slots=True)
class _FamilyQuery:
    """The requirements for a family."""

    wordings: tuple[Words, ...]
    metric: str | None
    unit: str
    is_flow: bool
    """Whether the metric is of a span, so that balances at a day do not divide it."""
    kind: str | None
    """The one of KINDS that the question's word stands for; None for any other word."""
    kind_words: Words
    narrowing: Words
    """Words beside that of the kind, which the table must have, and no member alone: `brand` of `brand region`."""
    holding: tuple[str, ...]
    to_come: bool
    """Whether the members are years in which something falls due."""

    @classmethod
    def of(cls, query: FactQuery, kind: str | None, holding: tuple[str, ...], workspace: Workspace) -> _FamilyQuery:
        wordings, metric = synonym_wordings(replace(query, part=None), workspace.lexicon)
        own = words_of(kind or "")
        to_come = kind == "maturity" or (bool(holding) and all(name.isdigit() for name in holding))
        said = own | OF_PARTS | (OF_YEARS_TO_COME if to_come else frozenset())
        free = tuple(dict.fromkeys(left for words in wordings if (left := words - said - LIGHT) or not words - LIGHT))
        return cls(
            free or tuple(words - own for words in wordings),
            metric.id.removeprefix("segment_") if metric is not None else None,
            metric.unit if metric is not None else "",
            metric is not None and metric.period == "duration",
            (known := next((one for one in KINDS if words_of((kind or "").rpartition(" ")[2]) & words_of(one)), None)),
            own,
            own - words_of(known or (kind or "").rpartition(" ")[2]),
            holding,
            to_come,
        )

    def may_match_page(self, fact: Fact) -> bool:
        """Return whether the page of the fact is worth reading."""
        if self.metric is not None and _plain_metric(fact) == self.metric:
            return True
        borne = address_of(fact).borne
        return any((words or self.kind_words) <= borne for words in self.wordings)

    def may_match(self, siblings: Siblings) -> bool:
        """Return whether the metric or all words of a wording appear: an inexpensive check before members are read."""
        if self.metric is not None and any(_plain_metric(each.fact) == self.metric for each in siblings.figures()):
            return True
        said = shared_words(siblings) | words_of(" ".join(siblings.above))
        said |= _concept(each.fact for each in siblings.figures())
        return any(words <= said for words in self.wordings)

    def of_places(self, made: Family) -> Family:
        """Return the family without parts that are no places, if regions are asked for and most names are places.

        Without any, if countries are asked for and most names are none.
        """
        placed = tuple(one for one in made.members if words_of(one.name) & _PLACES or is_remainder(one.name))
        if self.kind not in ("region", "country"):
            return made
        if 2 * len(placed) <= len(made.members):
            return replace(made, members=()) if self.kind == "country" else made
        others = ((one.name, "no place") for one in made.members if one not in placed)
        return replace(made, members=placed, dropped=(*made.dropped, *others))

    def divides_another_figure(self, made: Family, whole: SourcedFact | None) -> bool:
        """Return whether the parts make up less of the company's figure than all of them do, or one has all of it.

        Of revenue, they make up nearly all; of other measures at least half, as costs of the company come off. If one
        part alone is asked for, the total of its table has to be that figure.
        """
        of_named_parts = not self.kind_words and bool(self.holding)
        if self.metric is None or not (of_named_parts or self.kind in ("country", "region", "segment")):
            return False
        if of_named_parts and len(self.holding) == 1:
            return whole is None or not made.total or not magnitudes_agree(made.total[-1].fact, whole.fact)
        if whole is None:
            return False
        if self.kind == "country" and made.total and not magnitudes_agree(made.total[-1].fact, whole.fact):
            return True  # the countries of one region
        least = _NEARLY_ALL if self.metric == "revenue" else _HALF
        lacking = abs(float(sum(member.value(-1) for member in made.members))) < least * abs(float(whole.fact.value))
        return lacking or any(magnitudes_agree(member.last, whole.fact) for member in made.members)

    def is_sum(self, siblings: Siblings, made: Family, whole: SourcedFact | None, *, adds: bool) -> bool:
        """Return whether the members are rows that add up to what is measured, and no parts of the company or years.

        A total without a name is the company's figure, `whole`, where that is known.
        """
        known = (words_of(metric.replace("_", " ")) for one in made.members if (metric := _plain_metric(one.last)))
        if self.metric == "revenue" and any(map(_SALES.isdisjoint, known)):
            return False  # costs and income add up to revenue, too
        if siblings.place == LIABILITIES:
            return any(words and words <= words_of(LIABILITIES) for words in self.wordings)
        in_percent = any(one.last.unit == "percent" for one in made.members)
        if siblings.place not in ROWS or not adds or in_percent or made.kind in _OF_A_COMPANY:
            return False
        told = words_of(siblings.total.name) if siblings.total is not None else frozenset[str]()
        told -= LIGHT | OF_PARTS | _TOTAL | _OF_A_TOTAL | _REST
        names = [words_of(one.name.partition(", net of")[0]) for one in made.members]
        times = any(all(map(str.isdigit, own - OF_TIME - _WHEN)) for own in names)
        net = any(own & (_SUBTRACTED | _TOTAL) or own - LIGHT - OF_PARTS in self.wordings for own in names)
        if times or net:
            return False
        if any(words <= _SUMMED for words in self.wordings):  # `the largest expense`: of the statement
            stated = all(one.last.statement is not None for one in made.members)
            return stated and any(words <= told <= words | _SUMMED for words in self.wordings)
        if not told and whole is not None and made.total:
            return magnitudes_agree(made.total[-1].fact, whole.fact)
        return not told or any(told == words - LIGHT - OF_PARTS - _REST for words in self.wordings)

    def score(self, siblings: Siblings, made: Family) -> float | None:
        """Return how well the family fits; None where a requirement is not met."""
        above = words_of(" ".join(siblings.above))
        called_so = self.kind_words <= words_of(siblings.above[-1])
        names = [words_of(one.name) for one in made.members]
        alone = bool(self.narrowing) and any(self.narrowing <= name for name in names)
        apart = self.kind is not None and not self.narrowing <= shared_words(siblings) | above
        if (alone and not called_so) or apart or any(made.member_named(name) is None for name in self.holding):
            return None
        own = (name - LIGHT - OF_PARTS - self.kind_words for name in names if not name <= _SALES)
        bare = (words_of(without_brackets(one.name)) for one in made.members if "(" in one.name)
        if self.kind_words and (any(words in self.wordings for words in own if words) or self._are_counted(bare)):
            return None  # what is measured itself: `Segment operating loss` in a reconciliation
        facts = [member.last for member in made.members]
        concept = _concept(facts)
        shared = shared_words(siblings) | concept
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
        counts = self.unit == "count" and units == {"USD"}  # no sign tells counts in thousands from amounts
        at_days = self.is_flow and not (self.to_come or any(fact.period.months for fact in facts))
        if not scores or at_days or (self.unit and units != {self.unit} and not counts):
            return None
        score, asked = max(scores), frozenset[str]().union(*self.wordings)
        if not self.unit and units & {"percent", "ratio", "USD per share"} and not asked & _RATE:
            score -= _OF_ANOTHER_UNIT
        if (fixed | concept) & _CHANGE and not asked & _CHANGE:
            score -= _OF_A_CHANGE
        metrics = {_plain_metric(fact) for fact in facts} - {None}
        if self.kind_words and (len(metrics) > 1 or (self.metric and metrics and self.metric not in metrics)):
            return None  # lines of a statement are no parts of a company, and those of another metric not of this one
        lines = [bool((words_of(member.name) - LIGHT - self.kind_words) & asked) for member in made.members]
        score -= _OF_LINES * max(sum(lines) / len(lines), (len(metrics) > 1) * 0.5)
        if may_span_pages(made.table):
            score -= _ACROSS_TABLES
        if any(_TOTAL & words_of(member.name) for member in made.members):
            score -= _OF_TOTALS
        if siblings.place == "row":
            # Columns of years head all contractual obligations, by wider names.
            score += _STUB * (2 * self.to_come or bool(self.kind_words and self.kind is None))
        of_kind = self._kind_score(siblings, facts)
        return score + of_kind if of_kind is not None else None

    def _are_counted(self, names: Iterable[Words]) -> bool:
        """Return whether a row is called as all members are: `Customers (average)` beside deliveries and revenues."""
        return any(words and words <= self.kind_words for words in names)

    def is_named(self, siblings: Siblings, made: Family) -> bool:
        """Return whether more than a caption names the measure, or anything the kind asked for."""
        facts = [member.last for member in made.members]
        shared = shared_words(siblings) | _concept(facts)
        named = any(words <= shared for words in self.wordings) or self.metric in map(_plain_metric, facts)
        return named or not self.kind_words or bool(self._kind_score(siblings, facts))

    def _kind_score(self, siblings: Siblings, facts: Sequence[Fact]) -> float | None:
        """Return the score for members of the kind asked for; None where they are of another kind."""
        if not self.kind_words:
            return 0.0
        # `Fiscal 2028`, `Due after five years`
        times = sum(all(map(str.isdigit, words_of(one.name) - OF_TIME - _WHEN)) for one in siblings.members)
        if 2 * times > len(siblings.members) and self.kind != "maturity" and not self.kind_words & OF_TIME:
            return None
        measures = sum(bool(words_of(one.name) & (_CHANGE | _RATE | _EFFECTS)) for one in siblings.members)
        if self.kind in _MAY_BE_CALLED and 2 * measures >= len(siblings.members):
            return None  # `% Change` and `% of sales` are columns of measures, and no regions
        near = " ".join((siblings.above[0], *siblings.shared, *(one.name for one in siblings.members)))
        if self.kind is None:
            if siblings.place.startswith("column"):  # a caption names the rows
                return _OF_THE_KIND if self.kind_words <= shared_words(siblings) else None
            called = words_of(" ".join((near, *siblings.above[1:])))
            return _OF_THE_KIND if self.kind_words <= called else None
        like = {self.kind, *_MAY_BE_CALLED.get(self.kind, ())}
        of_tags = {kind for kind in map(_kind_of_tag, facts) if kind is not None}
        said = of_tags or _kinds_mentioned(near)
        names = [words_of(one.name) for one in siblings.members]
        of_regions = sum(not name.isdisjoint(_REGIONS) for name in names) / len(names)  # single countries do not count
        regions = of_regions * ((self.kind == "region") - (self.kind in ("country", "segment")))
        if (self.kind == "region" and of_regions > 1 / 2) or (
            self.kind == "country" and "region" in said and of_regions < 1 / 4
        ):
            return _OF_THE_KIND + _REGIONAL * max(regions, 0)
        if self.kind == "region" and any(name & _COUNTRIES for name in names):
            return _LIKE  # `Other countries` says what the others are
        places = sum(not name.isdisjoint(_REGIONS | _HOME) for name in names)
        if any(name & _OPENING for name in names):
            return None  # from the beginning of a period to its end: no parts
        if self.kind == "product" and 2 * places > len(names):
            return None  # `Disaggregated revenue` may be by region, too
        if self.kind == "segment" and "region" in said and of_regions > 1 / 2:
            return _LIKE  # `Net revenues by geographic region` in the note on segments
        if self.kind in said:
            return (_OF_THE_KIND if of_tags else _SAID_SO) + _REGIONAL * regions
        if self.kind == "region" and not of_regions:
            return None  # neither the table nor a name tells a place
        if said or self.kind not in _MAY_BE_CALLED:
            return _LIKE + _REGIONAL * regions if said & like else None
        return _SAID_SO / 2 * (self.kind in _kinds_mentioned(siblings.above[1])) + _REGIONAL * regions


def _concept(facts: Iterable[Fact]) -> Words:
    """Return the words of the concept that all facts are tagged with."""
    concepts = {fact.tag.concept if fact.tag else "" for fact in facts}
    return words_of(split_tag_name(*concepts)) if len(concepts) == 1 else frozenset()


def _kind_of_tag(fact: Fact) -> str | None:
    kinds = _kinds_mentioned(" ".join(fact.tag.axes)) if fact.tag and fact.tag.members else ()
    return min(kinds, default=None)


@lru_cache(maxsize=10_000)
def _kinds_mentioned(text: str) -> frozenset[str]:
    letters = text.casefold()
    return frozenset(kind for kind, words in word_lists("part_kinds").items() if any(word in letters for word in words))


def _plain_metric(fact: Fact) -> str | None:
    return fact.metric.removeprefix("segment_") if fact.metric else None


def _tables(workspace: Workspace, pages: Sequence[PageKey]) -> list[Siblings]:
    """Return all siblings of the pages, and those that tags and scopes form across the pages of a filing."""
    read = workspace.index.facts(sorted({key.doc_id for key in pages}), pages=pages) if pages else ()
    facts = sorted(read, key=lambda sourced: sourced.key)
    of_pages, of_filings = grouped((each.key, each) for each in facts), grouped((each.doc_id, each) for each in facts)
    found = [siblings for held in of_pages.values() for siblings in siblings_in(held)]
    return found + [siblings for held in of_filings.values() for siblings in siblings_in(held, parts=True)]


def _with_line_above(siblings: Siblings, kind_words: Words, workspace: Workspace) -> Siblings:
    """Return rows with the line of their page above them that calls them by words for their kind, if there is one.

    It is a heading or in a sentence: `Revenue by service offering`, `organized in four customer groups: ...`.
    """
    first, second, *_ = (one.name for one in siblings.members)
    fact = next(siblings.figures()).fact
    pages = workspace.index.pages([PageKey(siblings.doc_id, fact.page)]) if siblings.place in ROWS else []
    lines = list(filter(str.strip, pages[0].page.text.split("\n"))) if pages else []
    starts = (
        place
        for place, line in enumerate(lines)
        if line.startswith(first) and any(other.startswith(second) for other in lines[place + 1 : place + _ROW_LINES])
    )
    start = next(starts, 0)
    said = (line for line in reversed(lines[max(start - _LINES_ABOVE, 0) : start]) if kind_words <= words_of(line))
    return replace(siblings, above=(*siblings.above, next(said, "")))


def _whole(workspace: Workspace, query: FactQuery, company: str, scope: Scope) -> SourcedFact | None:
    """Return the company's figure; None if several lines may be it."""
    found = find_facts(workspace, query, company=company, scope=scope)
    whole = (hit.sourced for hit in found.matches if hit.sourced.fact.scope is None)
    return None if found.rivals else next(whole, None)


def _family(
    siblings: Siblings, wanted: Sequence[FactQuery], alike: Sequence[Siblings], wholes: Sequence[SourcedFact | None]
) -> tuple[Family, bool] | None:
    """Return the siblings with a figure for every period, and whether all printed figures add up to the total."""
    sources = [_with_other_periods(siblings, one, alike) for one in wanted]
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
    proved = bool(total) and adds_up([member.last for member in kept], total[-1].fact)
    between = [member for member in kept if _is_subtotal_or_deduction(member, kept, total, proved=proved)]
    dropped += [(member.name, "an elimination, or an amount not allocated to the parts") for member in between]
    kept = [member for member in kept if member not in between]
    if len(kept) < _FEWEST or not any(member.value(-1) for member in kept):
        return None
    return Family(
        tuple(kept), _kind_of(siblings, kept), total, tuple(dropped), siblings.total is not None, siblings.anchor
    ), proved


def _is_subtotal_or_deduction(
    member: Member, members: Sequence[Member], total: Sequence[SourcedFact], *, proved: bool
) -> bool:
    """Return whether a row is not a part, by its name or because it deducts what the others count twice."""
    words = words_of(member.name)
    if words & _BETWEEN and words <= _BETWEEN | _REST | OF_PARTS | LIGHT:
        return True
    apart = [one for one in members if words_of(one.name) & (_NOT_DIVIDED | _EFFECTS)]
    if member in apart and 2 * len(apart) < len(members):
        return True
    if not words - _CHANGE - _RATE - LIGHT - _OF_THE_WHOLE:
        return not words & _SALES or member.value(-1) >= max(one.value(-1) for one in members)  # a part called `Sales`
    below = [one for one in members if one.value(-1) < 0]
    if not proved or below != [member] or len(members) <= _FEWEST:
        return False
    whole = total[-1].fact
    return words_of(" ".join((*whole.row_path, *whole.column_path))).isdisjoint(_RESULTS)  # else it may be a loss


def _kind_of(siblings: Siblings, members: Sequence[Member]) -> str | None:
    kinds = {kind for member in members if (kind := _kind_of_tag(member.last)) is not None}
    said = kinds or _kinds_mentioned(" ".join((*siblings.shared, *siblings.above)))
    return min(said) if said else next(filter(None, (member.last.part_kind for member in members)), None)


def _figure(sibling: Sibling | None, query: FactQuery) -> SourcedFact | None:
    held = sibling.facts.values() if sibling is not None else ()
    return next((sourced for sourced in held if matches_period(sourced.fact, query)), None)


def _with_other_periods(siblings: Siblings, query: FactQuery, alike: Sequence[Siblings]) -> Siblings:
    """Return the siblings if they have the period, otherwise matching ones of the filing's table for that period."""
    if any(_figure(one, query) is not None for one in siblings.members):
        return siblings
    names = {one.name for one in siblings.members}
    dated = (other for other in alike if _figure(other.members[0], query) is not None)
    return next((other for other in dated if names <= {one.name for one in other.members}), siblings)


def _best_and_rival(found: Sequence[tuple[float, Family]], near: float, *, of_all: bool) -> FamilySearchResult:
    """Return the first family, and the first other that scores close to it but contradicts it.

    Of members that another family close to it has too, with more beside them, the first is only a piece; if it is
    `of_all` parts of a company, also where it adds up to a printed total, as that of one brand.
    """
    # `Products` and `Services` divide more coarsely than the products beside them.
    coarse = _OF_ANY_KIND | OF_PARTS | LIGHT
    found = [pair for pair in found if any(words_of(one.name) - coarse for one in pair[1].members)] or found
    if not found:
        return FamilySearchResult()
    best, first = found[0]
    if of_all or not first.sums_to_whole():
        first = next((made for score, made in found[1:] if score > best - near and _is_piece_of(first, made)), first)
    distinct = [first]
    for score, made in found[1:]:
        if score <= best - near:
            break
        if not any(_have_same_figures(made, other) for other in distinct):
            if not _is_same_table(made, first) and not _is_detail_of_statement(made, first):
                return FamilySearchResult(first, made)
            distinct.append(made)
    return FamilySearchResult(first)


def _is_piece_of(one: Family, other: Family) -> bool:
    """Return whether another family has all members of one, with their figures, and more."""
    figures = {member.name.casefold(): member.last for member in other.members}
    held = [(member.last, figures.get(member.name.casefold())) for member in one.members]
    return len(figures) > len(held) and all(fact is not None and magnitudes_agree(own, fact) for own, fact in held)


def _is_same_table(other: Family, first: Family) -> bool:
    """Return whether one has sums or parts of the other's members; both then come from one table without conflict."""
    figures = {member.name.casefold(): member.last for member in reversed(first.members)}
    shared = [(member.last, figures.get(member.name.casefold())) for member in other.members]
    if any(fact is not None and not magnitudes_agree(own, fact) for own, fact in shared):
        return may_span_pages(other.table) and not may_span_pages(first.table)  # a table takes precedence over tags
    names = [{one.name.casefold() for one in family.members} for family in (other, first)]
    dropped = [{name.casefold() for name, _ in family.dropped} for family in (other, first)]
    return names[0] <= names[1] | dropped[1] or names[1] <= names[0] | dropped[0]


def _is_detail_of_statement(other: Family, first: Family) -> bool:
    """Return whether the first is of a statement and the other splits some of its lines: both make up the whole."""
    stated = all(member.last.statement is not None for member in first.members)
    shared = sum(any(magnitudes_agree(member.last, one.last) for one in other.members) for member in first.members)
    return stated and first.sums_to_whole() and other.sums_to_whole() and 2 * shared > len(first.members)


def _have_same_figures(one: Family, other: Family) -> bool:
    """Return whether all figures of the smaller family are in the other, whatever the names of their parts."""
    small, large = sorted((one, other), key=lambda family: len(family.members))
    return all(any(magnitudes_agree(member.last, other.last) for other in large.members) for member in small.members)
