"""Facts: figures with their meaning, period, position and, in inline XBRL, their tag."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure with its meaning and position."""

    label: str
    """The row's words as printed (lines joined, footnote marks removed)."""
    amount: Decimal
    """Signed, as printed, in units of `scale`."""
    scale: int
    """Factor from `amount` to base units: 1, 1_000, 1_000_000 or 1_000_000_000."""
    unit: str
    """`USD`, `USD per share`, `percent`, `shares`, `ratio` or `count`; in sentences also `percentage points`, `basis
    points` and other prices (`USD per ton`)."""
    period: FactPeriod
    page: int
    box: Box
    metric: str | None = None
    """Metric of the lexicon, where the label names one."""
    section: tuple[str, ...] = ()
    """Headings above the row, outermost first: `("Current assets",)`."""
    line: int = 0
    """Position of the row on its page, from 0; page, line and box together locate the figure."""
    column: str = ""
    """The column's header as printed."""
    statement: Statement | None = None
    scope: str | None = None
    """The segment, geography or product as printed. None for the consolidated company, and in tables that repeat no
    figure of the statements (`tied` is False) where nothing names a part."""
    source: str = "table"
    """`ixbrl` for a tag, `table` for a cell, `undated` for a cell whose period is assumed to be the filing's, `label`
    for a figure inside a row's label, `text` for a sentence. For `text`, the label is the clause, and the period is
    UNDATED where the sentence names none."""
    tied: bool = True
    """False for a figure outside the primary statements whose table repeats none of theirs: it may belong to a part."""
    inverted: bool = False
    """Whether the statement shows this cost as a deduction: printed negative, meant as a positive cost."""
    column_path: tuple[str, ...] = ()
    """The column's header level by level, outermost first: `("Three months ended June 30,", "Retail", "2022")`."""
    caption: str = ""
    """The title of the table as printed; empty where there is none."""
    note: str = ""
    """Title of its note to the financial statements; empty outside the notes."""
    part_kind: str | None = None
    """The kind of `scope`: `segment`, `region`, `product`, `equity component` and so on; None where unknown."""
    proved: bool = False
    """Whether a sum of its table or statement confirms it."""
    doubtful: bool = False
    """Whether a sum that is correct in other columns fails in its column, and no other sum confirms the figure."""
    tag: Tag | None = None
    """Its inline XBRL tag. The tag's value is exact, with the sign of its concept; `amount` is as printed."""

    @property
    def value(self) -> Decimal:
        """The amount in base units: dollars, shares, percent."""
        return self.amount * self.scale

    @property
    def row_path(self) -> tuple[str, ...]:
        """The headings above its row, outermost first, followed by the row's label."""
        return (*self.section, self.label)


@dataclass(frozen=True, slots=True)
class FactPeriod:
    """The period of a figure: an instant (`months` 0) or a duration that ends at `end`."""

    fiscal_year: int
    """The fiscal year as the filer names it."""
    quarter: int | None
    """For a quarter (or the end of one), 1 to 4; None for a full year, its end, or year-to-date spans."""
    months: int
    """0 for an instant, otherwise the length: 3, 6, 9 or 12 (52 and 53 weeks are 12; 13 and 14 weeks are 3)."""
    end: date | None = None


UNDATED = FactPeriod(0, None, 0)
"""The period of a figure without a stated period."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A fact as inline XBRL states it (`ix:nonFraction`, `ix:nonNumeric`)."""

    concept: str
    """With its prefix, such as `us-gaap:Assets`."""
    value: Decimal | None
    """Exact, in base units, signed; None for nil, for text, or where the printed text is not a number."""
    text: str
    """As printed; for text, the value after transformation (dates in ISO form)."""
    context: str
    """Id of its context in the file."""
    end: date | None
    """Last day of a duration, or day of an instant; None where the file does not define the context."""
    start: date | None = None
    """First day of a duration; None for an instant."""
    members: tuple[tuple[str, str], ...] = ()
    """(axis, member) pairs, sorted: `("srt:ProductOrServiceAxis", "us-gaap:ProductMember")`."""
    unit: str = ""
    """`USD`, `shares`, `USD/shares`, `pure`; empty for text."""
    decimals: int | None = None
    """Power of ten to which the value is accurate, `-6` for millions; None where exact (`INF`) or not stated."""
    nil: bool = False
    numeric: bool = True
    page: int | None = None
    """0-based; None for a tag that is not on a page (the hidden facts of the header)."""
    box: Box | None = None
    flags: tuple[str, ...] = ()
    """Its defects: `unknown context`, `unknown unit`, `unknown format`, `not a number`, `conflict`, `duplicate`."""

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes by which its members divide the company, without prefixes.

        The consolidation axis of a segment does not divide anything; a segment within a segment counts once.
        """
        named = [axis.rpartition(":")[2] for axis, _ in self.members]
        within = {_SEGMENTS} if _SUBSEGMENTS in named else set()
        return tuple(axis for axis in named if "ConsolidationItems" not in axis and axis not in within)

    @property
    def of_part(self) -> bool:
        """Whether a member is a segment, a product or a region."""
        return any(axis in _PART_AXES for axis in self.axes)


_SEGMENTS, _SUBSEGMENTS = "StatementBusinessSegmentsAxis", "SubsegmentsAxis"
_PART_AXES = (_SEGMENTS, _SUBSEGMENTS, "ProductOrServiceAxis", "StatementGeographicalAxis")
