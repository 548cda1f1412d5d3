"""A number with its meaning, its period and, in inline XBRL, its tag."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box


@dataclass(frozen=True, slots=True)
class Fact:
    """One number with its meaning and place."""

    label: str
    """The row's words as printed (lines joined, footnote marks dropped)."""
    amount: Decimal
    """Signed, as printed: in units of `scale`."""
    scale: int
    """What `amount` is multiplied with to get base units: 1, 1_000, 1_000_000 or 1_000_000_000."""
    unit: str
    """`USD`, `USD per share`, `percent`, `shares`, `ratio` or `count`; in sentences also `percentage points`, `basis
    points` and other prices (`USD per ton`)."""
    period: FactPeriod
    page: int
    box: Box
    metric: str | None = None
    """Canonical metric of the lexicon where the label names one."""
    section: tuple[str, ...] = ()
    """Headings above the row, outermost first: `("Current assets",)`."""
    line: int = 0
    """Position of the row on its page, from 0: page, line and box say where the number stands."""
    column: str = ""
    """The column's header as printed."""
    statement: Statement | None = None
    scope: str | None = None
    """The segment, geography or product as printed; None for the consolidated company, and, in tables that repeat no
    figure of the statements (`tied` is False), where nothing names a part."""
    source: str = "table"
    """`ixbrl` where a tag states it, `table` where a cell does, `label` where it stands inside a row's label, `text`
    where a sentence does: its label is the clause, its period UNDATED where the sentence names none."""
    tied: bool = True
    """False for a figure outside the primary statements whose table repeats none of theirs: it may be of a part."""
    inverted: bool = False
    """Whether the statement shows this cost as a deduction: printed negative, meant positive."""
    column_path: tuple[str, ...] = ()
    """The column's header level by level, outermost first: `("Three months ended June 30,", "Retail", "2022")`."""
    caption: str = ""
    """The title of the table as printed; empty where none stands above it."""
    note: str = ""
    """Title of the note to the financial statements that it stands in; empty outside the notes."""
    part_kind: str | None = None
    """What kind of part `scope` is: `segment`, `region`, `product`, `equity component` ...; None where not known."""
    proved: bool = False
    """Whether a sum of its table, or of its statement, bears it out."""
    doubtful: bool = False
    """Whether a sum that holds in other columns of its table fails here, and no other bears the figure out."""
    tag: Tag | None = None
    """What inline XBRL says of this figure. Its value is exact and signed as its concept is; `amount` is as printed."""

    @property
    def value(self) -> Decimal:
        """In base units: dollars, shares, percent."""
        return self.amount * self.scale

    @property
    def row_path(self) -> tuple[str, ...]:
        """The headings above its row, outermost first, and the row's own label."""
        return (*self.section, self.label)


@dataclass(frozen=True, slots=True)
class FactPeriod:
    """The time a figure covers: an instant (`months` 0) or a duration that ends at `end`."""

    fiscal_year: int
    """By the filer's own naming."""
    quarter: int | None
    """For a quarter (or the end of one), 1 to 4; None for a full year, its end, or year-to-date spans."""
    months: int
    """0 for an instant, else the length: 3, 6, 9 or 12 (52 and 53 weeks are 12; 13 and 14 weeks are 3)."""
    end: date | None = None


UNDATED = FactPeriod(0, None, 0)
"""Of a figure whose period nothing says."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A fact as inline XBRL states it (`ix:nonFraction`, `ix:nonNumeric`)."""

    concept: str
    """With its prefix: `us-gaap:Assets`."""
    value: Decimal | None
    """Exact, in base units, signed; None where nil, where the tag holds text, or where its print is no number."""
    text: str
    """As printed; for text, the value after transformation (dates in ISO form)."""
    context: str
    """Id of the context in the file."""
    end: date | None
    """Last day of the period, the instant's day; None where the file defines no such context."""
    start: date | None = None
    """First day of a duration; None for an instant."""
    members: tuple[tuple[str, str], ...] = ()
    """(axis, member) pairs, sorted: `("srt:ProductOrServiceAxis", "us-gaap:ProductMember")`."""
    unit: str = ""
    """`USD`, `shares`, `USD/shares`, `pure`; empty for text."""
    decimals: int | None = None
    """Power of ten the value is accurate to, `-6` for millions; None where exact (`INF`) or not said."""
    nil: bool = False
    numeric: bool = True
    page: int | None = None
    """0-based; None for a tag that the reader of the page does not see (the header's hidden facts)."""
    box: Box | None = None
    flags: tuple[str, ...] = ()
    """What is wrong with it: `unknown context`, `unknown unit`, `unknown format`, `not a number`, `conflict`,
    `duplicate`."""

    @property
    def axes(self) -> tuple[str, ...]:
        """What its members divide the company by, without prefixes.

        That a segment's figure is a segment's divides nothing; a segment within a segment is that one.
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
