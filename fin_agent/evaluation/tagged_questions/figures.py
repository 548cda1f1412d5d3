"""The figures that tags state, of whole companies and of their segments, products and regions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache

from fin_agent.evaluation.generated.figures import Figures, Measures, SlotOfFigure, StatedFigure, read_yaml
from fin_agent.evaluation.generated.sampling import Wordings
from fin_agent.evaluation.tagged_questions.filings import TaggedFiling, TrueTag, may_be_one
from fin_agent.lexicon.fiscal_periods import YEARS_IN_AN_ANNUAL_REPORT
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.metrics import Metric
from fin_agent.vocabulary.page import Statement

Period = tuple[int, int | None]
"""Fiscal year by the filer's own naming, and quarter."""


class TaggedFigures(Figures):
    """Figures by company, metric and period, from tags without members and from nothing that was read of tables.

    Signed as tagged: costs and payments are positive. A figure that two tags, of one filing or of two, state with
    different values is left out, also where their concepts differ and stand for one metric. So are zeros, which people
    do not ask for, what the metric's statement does not print (under its concept a note may give a part of it), and the
    end of a year that only a quarterly report gives.
    """

    def __init__(
        self,
        filings: Sequence[TaggedFiling],
        owners: Mapping[str, str],
        lexicon: Lexicon,
        stands_in: Mapping[str, str],
        in_notes: Collection[str],
    ) -> None:
        """`owners` gives the company of a doc_id; `stands_in` what a metric is taken from where no tag states it.

        The metrics of `in_notes` are asked for although no statement prints them.
        """
        stated: dict[SlotOfFigure, list[tuple[TaggedFiling, TrueTag]]] = {}
        for filing in filings:
            for tag in filing.tags:
                metric = None if tag.members else lexicon.metrics.get(lexicon.metric_of_concept(tag.concept) or "")
                if metric is None or tag.unit != metric.unit or (tag.start is None) is not (metric.period == "instant"):
                    continue
                period = period_of(tag.start, tag.end, filing)
                if period is not None:
                    stated.setdefault((owners[filing.doc_id], metric.id, *period), []).append((filing, tag))
        agreed: dict[SlotOfFigure, StatedFigure] = {}
        for key, found in stated.items():
            at_home = key[1] in in_notes or _is_printed_at_home(lexicon.metrics[key[1]], found)
            only_quarterly = key[3] is None and all(filing.quarter for filing, _ in found)
            figure = _agreed(key, found) if at_home and not only_quarterly else None
            if figure is not None:
                agreed[key] = figure
        for name, other in stands_in.items():
            for company, metric_id, year, quarter in sorted(agreed, key=str):
                slot = (company, name, year, quarter)
                if metric_id == other and slot not in stated:
                    agreed[slot] = agreed[company, metric_id, year, quarter]
        super().__init__(agreed, stated)


def _agreed(key: SlotOfFigure, found: Sequence[tuple[TaggedFiling, TrueTag]]) -> StatedFigure | None:
    first = min((tag for _, tag in found), key=lambda tag: tag.step)
    if not first.value or not all(first.agrees(tag) for _, tag in found):
        return None
    scale = max((1, *(int(tag.step) for _, tag in found if tag.table is not None)))
    doc_ids = sorted({(abs(filing.fiscal_year - key[2]), filing.doc_id) for filing, _ in found})
    return StatedFigure(*key, value=first.value, scale=scale, doc_ids=tuple(doc_id for _, doc_id in doc_ids))


def _is_printed_at_home(metric: Metric, found: Sequence[tuple[TaggedFiling, TrueTag]]) -> bool:
    if metric.statement is None:
        return True
    homes = {metric.statement, *metric.also}
    return any(tag.table in set(_tables_of(homes, filing)) for filing, tag in found)


def period_of(start: date | None, end: date, filing: TaggedFiling) -> Period | None:
    """The full year or quarter that a tag of `filing` is of, or whose end it is of; None for any other span."""
    days = 0 if start is None else (end - start).days + 1
    ago = (filing.end - end).days
    if filing.quarter is None:
        years = round(ago / _YEAR)
        whole = start is None or abs(days - _YEAR) <= _DRIFT
        shown = 0 <= years < YEARS_IN_AN_ANNUAL_REPORT and _near(ago, years * _YEAR)
        return (filing.fiscal_year - years, None) if whole and shown else None
    if start is None:
        if ago == 0:
            return filing.fiscal_year, filing.quarter
        return (filing.fiscal_year - 1, None) if _near(ago, filing.quarter * _QUARTER) else None
    if abs(days - _QUARTER) > _DRIFT:
        return None
    if ago == 0:
        return filing.fiscal_year, filing.quarter
    return (filing.fiscal_year - 1, filing.quarter) if _near(ago, _YEAR) else None


@lru_cache(maxsize=256)
def _concepts_by_table(filing: TaggedFiling) -> Mapping[int, frozenset[str]]:
    concepts: dict[int, set[str]] = {}
    for tag in filing.tags:
        if tag.table is not None and not tag.members:
            concepts.setdefault(tag.table, set()).add(tag.name)
    return {table: frozenset(names) for table, names in concepts.items()}


def _tables_of(statements: Collection[Statement], filing: TaggedFiling) -> Iterator[int]:
    for table, names in _concepts_by_table(filing).items():
        if any(_ANCHORS[statement] <= names for statement in statements if statement in _ANCHORS):
            yield table


_ANCHORS = {
    Statement.INCOME: frozenset({"IncomeTaxExpenseBenefit", "EarningsPerShareDiluted"}),
    Statement.BALANCE_SHEET: frozenset({"Assets", "LiabilitiesAndStockholdersEquity"}),
    Statement.CASH_FLOW: frozenset(
        {"NetCashProvidedByUsedInInvestingActivities", "NetCashProvidedByUsedInFinancingActivities"}
    ),
}
"""Concepts that stand together in the table of a statement and in no other."""
_YEAR = 365.25
_QUARTER = 91.3
_DRIFT = 10
"""Days by which years and quarters of whole weeks may differ."""


def _near(days: int, wanted: float) -> bool:
    return abs(days - wanted) <= _DRIFT


class PartKind(StrEnum):
    """What a company is divided into."""

    SEGMENT = "segment"
    PRODUCT = "product"
    REGION = "region"


@dataclass(frozen=True, slots=True)
class PartFigure:
    """A figure of one part of a company and one period."""

    company: str
    kind: PartKind
    part: str
    """As its table prints it."""
    metric: str
    period: Period
    value: Decimal
    """In base units, signed as tagged: costs are positive."""
    step: Decimal
    """The value of the last digit that it is accurate to."""
    doc_id: str


def part_figures(
    filings: Sequence[TaggedFiling], owners: Mapping[str, str], lexicon: Lexicon, metrics: Sequence[str]
) -> tuple[PartFigure, ...]:
    """The figures of `metrics`, sorted.

    Left out is what has two answers: a printed name that stands for parts with different figures, figures on which
    filings disagree, zeros, and revenue that a table gives both with and without what other parts of the company paid.
    """
    stated: dict[tuple[str, str, str, Period], list[PartFigure]] = {}
    names: dict[tuple[str, str], set[str]] = {}
    for filing in filings:
        for figure in _of_filing(filing, owners[filing.doc_id], lexicon, metrics):
            key = (figure.company, figure.part.casefold(), figure.metric, figure.period)
            stated.setdefault(key, []).append(figure)
            names.setdefault((figure.company, figure.metric), set()).add(key[1])
    chosen = (
        min(found, key=lambda figure: (figure.step, figure.doc_id, figure.part))
        for _, found in sorted(stated.items(), key=lambda pair: str(pair[0]))
        if all(may_be_one(one.value, one.step, found[0].value, found[0].step) for one in found)
    )
    return tuple(
        figure
        for figure in chosen
        if figure.value and not _may_mean_another(figure.part.casefold(), names[figure.company, figure.metric], lexicon)
    )


def _may_mean_another(name: str, names: Collection[str], lexicon: Lexicon) -> bool:
    """`Service revenue` is a figure of its own where another part is called `Professional services`."""
    asked = f"{name} revenue"
    if not any(mention.end - mention.start == len(asked) for mention in lexicon.mentions(asked)):
        return False
    return any(other != name and name.rstrip("s") in other for other in names)


_KINDS = {
    "StatementBusinessSegmentsAxis": PartKind.SEGMENT,
    "ProductOrServiceAxis": PartKind.PRODUCT,
    "StatementGeographicalAxis": PartKind.REGION,
}
_OF_SEGMENTS = ("ConsolidationItemsAxis", "OperatingSegmentsMember")
"""Says of a segment's figure no more than that it is a segment's."""
_SHORTEST, _LONGEST = 2, 48
_FEWEST_ROWS = 2


def _of_filing(filing: TaggedFiling, company: str, lexicon: Lexicon, metrics: Sequence[str]) -> Iterator[PartFigure]:
    rows = _rows_by_part(filing)
    revenues = _revenues(filing)
    for tag in filing.tags:
        axis, member = _part_of(tag)
        name = lexicon.metric_of_concept(tag.concept)
        if not (member and name) or tag.table is None or name not in metrics or tag.unit != lexicon.metrics[name].unit:
            continue
        period = period_of(tag.start, tag.end, filing)
        others = revenues.get((tag.members, tag.start, tag.end), []) if name == "revenue" else []
        if period is None or not all(tag.agrees(other) for other in others):
            continue
        label = rows.get((tag.table, tag.row_number)) or _printed_name(member, filing.words[tag.table])
        if label and _is_a_part(label, lexicon):
            yield PartFigure(company, _KINDS[axis], label, name, period, tag.value, tag.step, filing.doc_id)


@dataclass(frozen=True, slots=True)
class PartFamily:
    """All parts of one kind of a company that have a name, with a figure of one measure and year."""

    company: str
    kind: PartKind
    metric: str
    year: int
    members: Mapping[str, PartFigure]
    whole: bool
    """Whether they are all parts; else what is left (`Other`) is less than each of them."""

    @property
    def values(self) -> list[tuple[float, str]]:
        """(value, name), largest first."""
        return sorted(((float(one.value), name) for name, one in self.members.items()), reverse=True)


def families_of(parts: Sequence[PartFigure], figures: TaggedFigures) -> list[PartFamily]:
    """Families whose revenues add up to the company's, but for less than the smallest; other figures of the same parts.

    Of a year that several filings tag, the parts are those of one filing.
    """
    groups: dict[tuple[str, PartKind, str, int, str], dict[str, PartFigure]] = defaultdict(dict)
    for figure in parts:
        rest = re.match(_THE_REST, figure.part, re.IGNORECASE)
        if figure.period[1] is None and not rest:
            key = figure.company, figure.kind, figure.metric, figure.period[0], figure.doc_id
            groups[key][figure.part] = figure
    known: dict[tuple[str, PartKind, str, frozenset[str]], bool] = {}
    for (company, kind, metric, year, doc_id), members in groups.items():
        total = figures.figure(company, metric, year)
        left = float(total.value) - sum(float(one.value) for one in members.values()) if total is not None else -1.0
        if metric == "revenue" and len(members) >= _FEWEST_MEMBERS:
            smallest = min(float(one.value) for one in members.values())
            known |= {(company, kind, doc_id, frozenset(members)): left == 0} if 0 <= left < smallest else {}
    found = [
        PartFamily(*key[:4], members, known[key[0], key[1], key[4], frozenset(members)])
        for key, members in sorted(groups.items(), key=repr)
        if (key[0], key[1], key[4], frozenset(members)) in known
    ]
    return list({(one.company, one.kind, one.metric, one.year): one for one in found}.values())


_THE_REST = r"(?:rest of (?:the )?world|all other|other)\b"
_FEWEST_MEMBERS = 3


def _part_of(tag: TrueTag) -> tuple[str, str]:
    """Axis and member (with its prefix) where the tag is of exactly one part; else empty texts."""
    members = [(axis.rpartition(":")[2], member) for axis, member in tag.members]
    found = [pair for pair in members if (pair[0], pair[1].rpartition(":")[2]) != _OF_SEGMENTS]
    return found[0] if len(found) == 1 and found[0][0] in _KINDS else ("", "")


def _rows_by_part(filing: TaggedFiling) -> dict[tuple[int, int], str]:
    """What rows are called whose tags are all of one part, in tables that give each part one such row."""
    members: dict[tuple[int, int], set[str]] = {}
    labels: dict[tuple[int, int], str] = {}
    for tag in filing.tags:
        if tag.table is not None:
            members.setdefault((tag.table, tag.row_number), set()).add(_part_of(tag)[1])
            labels[tag.table, tag.row_number] = tag.row
    pairs: dict[int, list[tuple[int, str, str]]] = {}
    for (table, row), held in sorted(members.items()):
        member = next(iter(held)) if len(held) == 1 else ""
        if member and labels[table, row]:
            pairs.setdefault(table, []).append((row, labels[table, row], member))
    named: dict[tuple[int, int], str] = {}
    for table, found in pairs.items():
        distinct = {(label, member) for _, label, member in found}
        one_to_one = len({label for label, _ in distinct}) == len(distinct) == len({each for _, each in distinct})
        if one_to_one and len(distinct) >= _FEWEST_ROWS:
            named |= {(table, row): label for row, label, _ in found}
    return named


def _printed_name(member: str, words: Sequence[str]) -> str:
    """The text of the table that a member's name spells: `aapl:GreaterChinaSegmentMember` is `Greater China`."""
    taxonomy, _, name = member.rpartition(":")
    if taxonomy == "country":
        return next((text for text in words if text in tagged_wordings().countries.get(name, ())), "")
    name = re.sub(r"(Segments?)?Member$", "", name)
    initials = "".join(re.findall(r"[A-Z]", name))
    spelt = _letters(name)
    for text in words:
        bare = re.sub(r"\s+segment$", "", text, flags=re.IGNORECASE)
        if _letters(bare) in (spelt, f"{spelt}s") or (len(bare) > _FEWEST_ROWS and bare == initials):
            return bare
    return ""


def _letters(text: str) -> str:
    return re.sub(r"and", "", re.sub(r"[^a-z0-9]", "", text.casefold()))


def _is_a_part(label: str, lexicon: Lexicon) -> bool:
    """Whether it is a name for a part, not for the rest of the company or (`Net product sales`) for the figure."""
    begins = re.sub(r"[^a-z ]", "", label.casefold())
    words = "|".join(tagged_wordings().no_parts)
    named = lexicon.metric_of_label(label, None) or lexicon.metric_of_label(label, Statement.INCOME)
    if named or any(mention.end - mention.start == len(label) for mention in lexicon.mentions(label)):
        return False
    return _SHORTEST <= len(label) <= _LONGEST and re.match(rf"(?:{words})\b", begins) is None


_Span = tuple[tuple[tuple[str, str], ...], object, object]


def _revenues(filing: TaggedFiling) -> dict[_Span, list[TrueTag]]:
    found: dict[_Span, list[TrueTag]] = {}
    for tag in filing.tags:
        if tag.members and tag.unit == "USD" and "Revenue" in tag.name:
            found.setdefault((tag.members, tag.start, tag.end), []).append(tag)
    return found


class FurtherMeasures(Measures):
    """Measures beside those of generated questions."""

    stands_in: dict[str, str]
    in_notes: tuple[str, ...]
    of_parts: tuple[str, ...]


class TaggedWordings(Wordings):
    """Wordings beside those of generated questions, and words for parts."""

    kinds: dict[PartKind, tuple[str, ...]]
    no_parts: tuple[str, ...]
    with_the: tuple[str, ...]
    countries: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def further_measures() -> FurtherMeasures:
    """measures.yaml. Raises LexiconError that names the field."""
    return read_yaml("measures", FurtherMeasures, __package__)


@lru_cache(maxsize=1)
def tagged_wordings() -> TaggedWordings:
    """wordings.yaml. Raises LexiconError that names the field."""
    return read_yaml("wordings", TaggedWordings, __package__)
