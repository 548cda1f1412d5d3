"""Figures of segments, products and regions that tags state, under the names that their tables print."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from fin_agent.evaluation.tagged_questions.figures import Period, period_of
from fin_agent.evaluation.tagged_questions.filings import StatedTag, TaggedFiling, may_be_one
from fin_agent.evaluation.tagged_questions.words import tagged_wordings
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.vocabulary.page import Statement


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
        name = lexicon.metric_of_concept(f"{tag.taxonomy}:{tag.concept}")
        if not (member and name) or tag.table is None or name not in metrics or tag.unit != lexicon.metrics[name].unit:
            continue
        period = period_of(tag.start, tag.end, filing)
        others = revenues.get((tag.members, tag.start, tag.end), []) if name == "revenue" else []
        if period is None or not all(tag.agrees(other) for other in others):
            continue
        label = rows.get((tag.table, tag.row_number)) or _printed_name(member, filing.words[tag.table])
        if label and _is_a_part(label, lexicon):
            yield PartFigure(company, _KINDS[axis], label, name, period, tag.value, tag.step, filing.doc_id)


def _part_of(tag: StatedTag) -> tuple[str, str]:
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


def _revenues(filing: TaggedFiling) -> dict[_Span, list[StatedTag]]:
    found: dict[_Span, list[StatedTag]] = {}
    for tag in filing.tags:
        if tag.members and tag.unit == "USD" and "Revenue" in tag.concept:
            found.setdefault((tag.members, tag.start, tag.end), []).append(tag)
    return found
