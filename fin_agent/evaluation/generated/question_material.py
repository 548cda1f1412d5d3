"""What questions are generated from: the figures that an index's statements or its inline XBRL tags state."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path

from fin_agent.evaluation.generated.truth import (
    Computed,
    Figures,
    MeasureToAsk,
    PartKind,
    SlotKey,
    Source,
    StatedFigure,
    agreed_figures,
    compute,
    figures_of_statements,
    measures_to_ask,
    read_data,
)
from fin_agent.evaluation.xbrl_truth import TaggedFiling, TrueTag, read_tagged, tagged_files, values_agree
from fin_agent.filings.reader import doc_id_of
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.fiscal_periods import YEARS_IN_AN_ANNUAL_REPORT, FiscalYears
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace

Period = tuple[int, int | None]
"""Fiscal year as the filer names it, and quarter."""


def read_folder(folder: Path, workspace: Workspace) -> tuple[tuple[TaggedFiling, ...], list[str]]:
    """Return the tagged filings of a folder that the index holds, and the names of other files. Raises ReadError."""
    paths = tagged_files(folder)
    held = [path for path in paths if doc_id_of(path) in workspace.directory.owners]
    filings = tuple(filing for path in held if (filing := read_tagged(path)) is not None)
    return filings, [path.name for path in paths if path not in held]


def figures_of_tags(
    filings: Sequence[TaggedFiling],
    owners: Mapping[str, str],
    lexicon: Lexicon,
    stands_in: Mapping[str, str],
    in_notes: Collection[str],
) -> Figures:
    """Return figures by company, metric and period, from tags without members and not from tables.

    Signs are those of the tags: costs and payments are positive. Left out are figures on which sources disagree, those
    that the metric's statement does not print (a note may tag a part under the same concept), unless the metric is one
    of `in_notes`, and balances at a year end that only a quarterly report gives. `owners` gives the company of each
    filing, `stands_in` the metric that replaces another if no tag states it.
    """
    stated: dict[SlotKey, list[Source]] = {}
    at_home: set[SlotKey] = set()
    for filing in filings:
        for tag in filing.tags:
            metric = None if tag.members else lexicon.metrics.get(lexicon.metric_of_concept(tag.concept) or "")
            if metric is None or tag.unit != metric.unit or (tag.start is None) is not (metric.period == "instant"):
                continue
            period = period_of(tag.start, tag.end, filing)
            if period is not None:
                slot = SlotKey(owners[filing.doc_id], metric.id, *period)
                stated.setdefault(slot, []).append(Source.of(filing, tag))
                if metric.id in in_notes or _is_at_home(metric, filing, tag):
                    at_home.add(slot)
    annual = {filing.doc_id for filing in filings if filing.quarter is None}
    found = {
        slot: sources
        for slot, sources in stated.items()
        if slot in at_home and (slot.quarter or any(each.doc_id in annual for each in sources))
    }
    for name, other in stands_in.items():
        for slot in [each for each in found if each.metric == other]:
            if slot._replace(metric=name) not in stated:
                found[slot._replace(metric=name)] = found[slot]
    return Figures(agreed_figures(found), stated)


def _is_at_home(metric: Metric, filing: TaggedFiling, tag: TrueTag) -> bool:
    """Return whether the tag is in a table of one of the metric's statements."""
    if metric.statement is None:
        return True
    concepts = _concepts_by_table(filing).get(tag.table, set[str]())
    anchors: Mapping[str, list[str]] = read_data("measures_of_tags")["anchors"]
    known = [anchors[statement] for statement in (metric.statement, *metric.also) if statement in anchors]
    return any(concepts.issuperset(anchor) for anchor in known)


def period_of(start: date | None, end: date, filing: TaggedFiling) -> Period | None:
    """Return the full year or quarter of a tag, or whose end it is; None for any other span."""
    days = 0 if start is None else (end - start).days + 1
    ago = (filing.end - end).days
    if filing.quarter is None:
        years = round(ago / _YEAR)
        whole = start is None or _near(days, _YEAR)
        shown = 0 <= years < YEARS_IN_AN_ANNUAL_REPORT and _near(ago, years * _YEAR)
        return (filing.fiscal_year - years, None) if whole and shown else None
    if start is not None and not _near(days, _QUARTER):
        return None
    if ago == 0:
        return filing.fiscal_year, filing.quarter
    before, quarter = (filing.quarter * _QUARTER, None) if start is None else (_YEAR, filing.quarter)
    return (filing.fiscal_year - 1, quarter) if _near(ago, before) else None


@lru_cache(maxsize=256)
def _concepts_by_table(filing: TaggedFiling) -> Mapping[int | None, set[str]]:
    tagged = grouped((tag.table, tag.name) for tag in filing.tags if tag.table is not None and not tag.members)
    return {table: set(names) for table, names in tagged.items()}


_YEAR = 365.25
_QUARTER = 91.3
_DRIFT = 10
"""Days by which years and quarters of whole weeks can differ."""


def _near(days: int, wanted: float) -> bool:
    return abs(days - wanted) <= _DRIFT


# --- Segments, products and regions


def part_figures(
    filings: Sequence[TaggedFiling], owners: Mapping[str, str], lexicon: Lexicon, metrics: Sequence[str]
) -> tuple[StatedFigure, ...]:
    """Return the figures of `metrics` for parts under their printed names, sorted.

    Left out are figures on which filings disagree, printed names that stand for parts with different figures, and
    revenue that a table gives both with and without intersegment revenue.
    """
    found = (each for filing in filings for each in _of_filing(filing, owners[filing.doc_id], lexicon, metrics))
    stated = grouped(found)
    names = grouped(((slot.company, slot.metric), slot.part) for slot in stated)
    clear = {
        slot: stated[slot]
        for slot in sorted(stated, key=str)
        if not _may_mean_another(slot.part, names[slot.company, slot.metric], lexicon)
    }
    return tuple(agreed_figures(clear))


def _may_mean_another(name: str, names: Collection[str], lexicon: Lexicon) -> bool:
    """Return whether a name is ambiguous: `Service revenue`, if another part is `Professional services`."""
    asked = f"{name} revenue"
    if not any(mention.end - mention.start == len(asked) for mention in lexicon.mentions(asked)):
        return False
    return any(other != name and name.rstrip("s") in other for other in names)


_KINDS = {axis: PartKind(kind) for axis, kind in read_data("measures_of_tags")["axes"].items()}
_OF_SEGMENTS = ("ConsolidationItemsAxis", "OperatingSegmentsMember")
"""A member that only marks a figure as a segment's."""
_SUBTOTAL = re.compile(r"^total\s+", re.IGNORECASE)
"""`Total Americas` is the Americas; families with both it and the United States would exceed the whole."""
_SHORTEST, _LONGEST = 2, 48
_MIN_ROWS = 2


def _of_filing(
    filing: TaggedFiling, company: str, lexicon: Lexicon, metrics: Sequence[str]
) -> Iterator[tuple[SlotKey, Source]]:
    rows = _rows_by_part(filing)
    of_revenue = (tag for tag in filing.tags if tag.members and tag.unit == "USD" and "Revenue" in tag.name)
    revenues = grouped(((tag.members, tag.start, tag.end), tag) for tag in of_revenue)
    for tag in filing.tags:
        axis, member = _part_of(tag)
        name = lexicon.metric_of_concept(tag.concept)
        if not (member and name) or tag.table is None or name not in metrics or tag.unit != lexicon.metrics[name].unit:
            continue
        period = period_of(tag.start, tag.end, filing)
        others = revenues.get((tag.members, tag.start, tag.end), ()) if name == "revenue" else ()
        if period is None or not all(values_agree(tag.value, tag.step, other.value, other.step) for other in others):
            continue
        label = rows.get((tag.table, tag.row_number)) or _printed_name(member, filing.words[tag.table])
        bare = _SUBTOTAL.sub("", label)
        label = label if lexicon.mentions(bare) else bare  # `Total revenues from services` does not name a part
        if label and _is_a_part(label, lexicon):
            yield SlotKey(company, name, *period, label.casefold()), Source.of(filing, tag, label, _KINDS[axis])


@dataclass(frozen=True, slots=True)
class PartFamily:
    """All named parts of one kind of a company, with their figures of one measure and year."""

    company: str
    kind: PartKind
    metric: str
    year: int
    members: Mapping[str, StatedFigure]
    whole: bool
    """Whether they are all parts; otherwise the rest (`Other`) is less than each of them."""

    @property
    def values(self) -> list[float]:
        """The figures, largest first."""
        return sorted((float(one.value) for one in self.members.values()), reverse=True)


def families_of(parts: Sequence[StatedFigure], figures: Figures) -> list[PartFamily]:
    """Return families whose revenues add up to the company's but for less than the smallest, with other figures.

    If several filings tag a year, the parts are those of one filing.
    """
    groups: dict[tuple[str, PartKind, str, int, str], dict[str, StatedFigure]] = defaultdict(dict)
    for figure in parts:
        slot, rest = figure.slot, re.match(_THE_REST, figure.slot.part, re.IGNORECASE)
        if slot.quarter is None and figure.kind is not None and not rest:
            groups[slot.company, figure.kind, slot.metric, slot.fiscal_year, figure.doc_ids[0]][slot.part] = figure
    wholes: dict[tuple[object, ...], bool] = {}
    for (company, kind, metric, year, doc_id), members in groups.items():
        total, values = figures.figure(company, metric, year), [one.value for one in members.values()]
        left = total.value - sum(values) if total is not None else -1
        if metric == "revenue" and len(members) >= _MIN_MEMBERS and 0 <= left < min(values):
            wholes[company, kind, doc_id, frozenset(members)] = left == 0
    found: dict[tuple[object, ...], PartFamily] = {}
    for (company, kind, metric, year, doc_id), members in sorted(groups.items(), key=repr):
        whole = wholes.get((company, kind, doc_id, frozenset(members)))
        if whole is not None:
            found[company, kind, metric, year] = PartFamily(company, kind, metric, year, members, whole)
    return list(found.values())


_THE_REST = r"(?:rest of (?:the )?world|all other|other)\b"
_MIN_MEMBERS = 3


def _part_of(tag: TrueTag) -> tuple[str, str]:
    """Return axis and member (with its prefix) if the tag is of exactly one part; else empty texts."""
    members = [(axis.rpartition(":")[2], member) for axis, member in tag.members]
    found = [pair for pair in members if (pair[0], pair[1].rpartition(":")[2]) != _OF_SEGMENTS]
    return found[0] if len(found) == 1 and found[0][0] in _KINDS else ("", "")


def _rows_by_part(filing: TaggedFiling) -> dict[tuple[int, int], str]:
    """Return the labels of rows whose tags are all of one part, in tables with one such row per part."""
    rows = grouped(((tag.table, tag.row_number), tag) for tag in filing.tags if tag.table is not None)
    members = {place: {_part_of(tag)[1] for tag in tags} for place, tags in sorted(rows.items())}
    single = ((place, rows[place][-1].row, min(held)) for place, held in members.items() if len(held) == 1)
    pairs = grouped((table, (row, label, member)) for (table, row), label, member in single if label and member)
    named: dict[tuple[int, int], str] = {}
    for table, found in pairs.items():
        distinct = {(label, member) for _, label, member in found}
        one_to_one = len({label for label, _ in distinct}) == len(distinct) == len({each for _, each in distinct})
        if one_to_one and len(distinct) >= _MIN_ROWS:
            named |= {(table, row): label for row, label, _ in found}
    return named


def _printed_name(member: str, words: Sequence[str]) -> str:
    """Return the table's text for a member: `Greater China` for `aapl:GreaterChinaSegmentMember`."""
    taxonomy, _, name = member.rpartition(":")
    if taxonomy == "country":
        return next((text for text in words if text in read_data("wordings")["countries"].get(name, ())), "")
    name = re.sub(r"(Segments?)?Member$", "", name)
    initials = "".join(re.findall(r"[A-Z]", name))
    spelt = _letters(name)
    for text in words:
        bare = re.sub(r"\s+segment$", "", text, flags=re.IGNORECASE)
        if _letters(bare) in (spelt, f"{spelt}s") or (len(bare) > _MIN_ROWS and bare == initials):
            return bare
    return ""


def _letters(text: str) -> str:
    return re.sub(r"and", "", re.sub(r"[^a-z0-9]", "", text.casefold()))


def _is_a_part(label: str, lexicon: Lexicon) -> bool:
    """Return whether it names a part, not the rest of the company or (`Net product sales`) the figure itself."""
    begins = re.sub(r"[^a-z ]", "", label.casefold())
    words = "|".join(read_data("wordings")["no_parts"])
    named = lexicon.metric_of_label(label, None) or lexicon.metric_of_label(label, Statement.INCOME)
    if named or any(mention.end - mention.start == len(label) for mention in lexicon.mentions(label)):
        return False
    return _SHORTEST <= len(label) <= _LONGEST and re.match(rf"(?:{words})\b", begins) is None


_A_YEAR = timedelta(350), timedelta(380)


@dataclass(frozen=True)
class QuestionMaterial:
    """The figures that questions are generated from."""

    workspace: Workspace
    filings: tuple[TaggedFiling, ...] | None = None
    """Filings of the index whose tags are the truth; None if its statements are."""

    @cached_property
    def figures(self) -> Figures:
        """The stated figures of whole companies."""
        if self.filings is None:
            return figures_of_statements(self.workspace)
        owners, also = self.workspace.directory.owners, read_data("measures_of_tags")
        return figures_of_tags(self.filings, owners, self.workspace.lexicon, also["stands_in"], also["in_notes"])

    @cached_property
    def parts(self) -> tuple[StatedFigure, ...]:
        """The tagged figures of segments, products and regions."""
        owners, lexicon = self.workspace.directory.owners, self.workspace.lexicon
        return part_figures(self.filings or (), owners, lexicon, read_data("measures_of_tags")["of_parts"])

    @cached_property
    def families(self) -> list[PartFamily]:
        """Complete sets of the parts of one kind."""
        return families_of(self.parts, self.figures)

    @cached_property
    def measures(self) -> tuple[MeasureToAsk, ...]:
        """The measures that can be asked for."""
        listed = ["measures", *([] if self.filings is None else ["measures_of_tags"])]
        return tuple(chain.from_iterable(measures_to_ask(self.workspace.lexicon, read_data(name)) for name in listed))

    @property
    def spans(self) -> tuple[int, ...]:
        """Numbers of years that questions cover; with tags, at most those that one report shows."""
        return (2, 3, 4, 5, 6) if self.filings is None else (2, 3, 3)

    @cached_property
    def companies(self) -> tuple[Company, ...]:
        """Companies with figures of a year, by key."""
        return tuple(company for company in self.workspace.directory.companies if self.years(company))

    @cached_property
    def quarterly(self) -> tuple[Company, ...]:
        """Companies with figures of a quarter, by key."""
        return tuple(
            company
            for company in self.workspace.directory.companies
            if any(self.figures.quarters(company.key, measure.id) for measure in self.measures)
        )

    def years(self, company: Company) -> range:
        """Return the range of fiscal years for which annual reports state total assets or net income."""
        years = {year for name in ("net_income", "total_assets") for year in self.figures.years(company.key, name)}
        return range(min(years), max(years) + 1) if years else range(0)

    def filed(self, company: str) -> FiscalYears:
        """Return the fiscal years of a company, by its key."""
        return self.workspace.years[company]

    @cached_property
    def last_days(self) -> Mapping[FiscalYears, Mapping[int, date]]:
        """Fiscal years of a company -> the last day of each year that its tags cover."""
        days: dict[FiscalYears, dict[int, date]] = {}
        for filing in self.filings or ():
            if filing.quarter is None:
                known = days.setdefault(self.filed(self.workspace.directory.owners[filing.doc_id]), {})
                ends = {tag.end for tag in filing.tags if tag.start and _A_YEAR[0] <= tag.end - tag.start <= _A_YEAR[1]}
                for end in sorted(ends):
                    known[filing.fiscal_year - round((filing.end - end).days / 365.25)] = end
        return days

    def computed(self, measure: MeasureToAsk, company: Company, years: Iterable[int]) -> tuple[Computed, ...]:
        """Compute the measure of each of these years from stated figures; empty if one is missing."""
        lexicon = self.workspace.lexicon
        found = [compute(measure, company.key, year, self.figures, lexicon) for year in years]
        return tuple(each for each in found if each is not None) if None not in found else ()
