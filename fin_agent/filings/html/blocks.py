"""Blocks of an HTML filing: paragraphs and grids of cells, with their styles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from lxml import etree

from fin_agent.lexicon.words import patterns, word_lists

_PATTERNS = patterns("html_patterns")


Kind = Enum("Kind", "INLINE BLOCK ITEM TABLE ROW CELL LINE_BREAK RULE RAISED TAGGED UNSEEN")
"""The effect of an element on the text inside it; TAGGED is a fact of inline XBRL, printed like any text."""


@lru_cache(maxsize=4_096)
def kind_of(tag: str) -> Kind:
    """Return the kind of an element by its tag from lxml: `{namespace}name` for XML, `prefix:name` for HTML."""
    namespace, _, name = tag.rpartition("}")
    prefix, _, local = name.lower().rpartition(":")
    if "inlinexbrl" in namespace.lower() or prefix.startswith("ix"):
        if local in _TAGGED:
            return Kind.TAGGED
        return Kind.UNSEEN if local in _UNSEEN_TAGS else Kind.INLINE
    return _KINDS.get(local, Kind.INLINE)


_TAGGED = frozenset({"nonfraction", "nonnumeric", "fraction"})
_UNSEEN_TAGS = frozenset({"header", "hidden", "references", "resources"})
_KINDS = {tag: Kind[kind.upper()] for kind, tags in word_lists("html_elements").items() for tag in tags}


class Style(NamedTuple):
    """The declarations of one element; lengths in points."""

    hidden: bool = False
    break_before: bool = False
    break_after: bool = False
    block: bool | None = None
    """True or False where `display` overrides whether it is a block or inline."""
    indent: float = 0.0
    align: str = ""
    raised: bool = False
    """Superscript."""
    white: bool = False
    """Text in white."""
    ground: str = ""
    """WHITE, COLOURED, or empty where no background is given."""


PLAIN = Style()
WHITE, COLOURED = "white", "coloured"


@lru_cache(maxsize=16_384)
def style_of(declarations: str) -> Style:
    """Parse the value of a `style` attribute. Unknown and broken declarations are ignored; never raises."""
    parts = (part.partition(":") for part in declarations.lower().split(";"))
    found = {name.strip(): value.replace("!important", "").strip() for name, colon, value in parts if colon}
    if not found:
        return PLAIN
    display = found.get("display", "")
    padding, margin = found.get("padding", ""), found.get("margin", "")
    indent = (
        _length(found.get("padding-left") or _left_of(padding))
        + _length(found.get("margin-left") or _left_of(margin))
        + _length(found.get("text-indent", ""))
    )
    invisible = any(of and _PATTERNS["zero"].fullmatch(of) for of in (found.get("font-size"), found.get("opacity")))
    breaks = _PATTERNS["page break"].match
    return Style(
        hidden=display == "none" or found.get("visibility") in ("hidden", "collapse") or invisible,
        break_before=bool(breaks(found.get("page-break-before") or found.get("break-before", ""))),
        break_after=bool(breaks(found.get("page-break-after") or found.get("break-after", ""))),
        block=True if display in ("block", "list-item", "flex", "grid") else False if display == "inline" else None,
        indent=max(0.0, min(indent, _DEEPEST_INDENT)),
        align=found.get("text-align", ""),
        white=background_of(found.get("color")) == WHITE,
        ground=background_of(found.get("background-color") or found.get("background")),
        raised=found.get("vertical-align") in ("super", "text-top") and "inline" not in display,
    )


def background_of(colour: str | None) -> str:
    """Return WHITE or COLOURED; empty for no color or a transparent one."""
    plain = "".join((colour or "").lower().split())
    if not plain or plain in ("transparent", "inherit", "none", "initial", "unset"):
        return ""
    return WHITE if _PATTERNS["white"].match(plain) else COLOURED


_DEEPEST_INDENT = 180.0
_MAX_SHEET_LENGTH = 200_000
_UNITS = {"pt": 1.0, "px": 0.75, "em": 10.0, "rem": 10.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "%": 5.0}
_LEFT = {1: 0, 2: 1, 3: 1, 4: 3}
"""Index of the left side, by the number of lengths given."""


def _length(text: str) -> float:
    found = _PATTERNS["length"].match(text)
    return float(found[1]) * _UNITS.get(found[2] or "px", 0.75) if found else 0.0


def _left_of(shorthand: str) -> str:
    """Return the left side of `padding` or `margin` with one to four lengths."""
    sides = shorthand.split()
    return sides[_LEFT[len(sides)]] if len(sides) in _LEFT else ""


LINE_BREAK = "\n"
"""Marks the end of a line among the words of a text."""


@dataclass(slots=True, eq=False)
class Text:
    """Words that belong together: a paragraph, or the content of one table cell."""

    words: list[str] = field(default_factory=list)
    """LINE_BREAK marks line breaks of the file."""
    marks: list[Mark] = field(default_factory=list)
    indent: float = 0.0
    """In points."""
    align: str = ""
    spaced: bool = True
    """Whether a space separates the next words from the previous ones."""

    def append(self, text: str) -> int:
        """Add `text`, joining its first word to the last one if no space separates them; return where it begins."""
        words = text.split()
        if not words:
            self.spaced = self.spaced or bool(text)
            return len(self.words)
        begin = len(self.words)
        if not self.spaced and not text[0].isspace() and self.words and self.words[-1] != LINE_BREAK:
            begin -= 1
            words[0] = self.words.pop() + words[0]
        self.words += words
        self.spaced = text[-1].isspace()
        return begin

    def end_line(self) -> None:
        """Begin a new line, unless one has just begun."""
        if self.words and self.words[-1] != LINE_BREAK:
            self.words.append(LINE_BREAK)
        self.spaced = True

    @property
    def is_blank(self) -> bool:
        """Whether it contains only line breaks."""
        return not self.words or all(word == LINE_BREAK for word in self.words)


@dataclass(slots=True)
class Mark:
    """The position of a tagged element in a text: words `first` to `last`, inclusive."""

    tag: int
    """Position among the tagged elements."""
    first: int
    last: int


@dataclass(slots=True, eq=False)
class GridCell:
    """A cell of a table with the columns and rows it spans."""

    text: Text
    column: int
    span: int
    rows: int = 1


@dataclass(slots=True, eq=False)
class Grid:
    """A table: rows of cells over common columns."""

    rows: list[list[GridCell]] = field(default_factory=list)
    hanging: dict[int, int] = field(default_factory=dict)
    """Number of rows that a cell above still spans, by column."""

    def begin_row(self) -> None:
        """Begin the next row; cells above that span rows extend into it."""
        self.rows.append([])
        if len(self.rows) > 1:
            self.hanging = {column: left - 1 for column, left in self.hanging.items() if left > 1}

    def add(self, span: int, rows: int) -> GridCell:
        """Add a cell of `span` columns and `rows` rows at the next free column of the row."""
        if not self.rows:
            self.begin_row()
        row = self.rows[-1]
        column = row[-1].column + row[-1].span if row else 0
        while column in self.hanging:
            column += 1
        cell = GridCell(Text(), column, max(1, min(span, _WIDEST - column)), rows)
        row.append(cell)
        if rows > 1:
            # Decremented at the beginning of each row, including this one.
            self.hanging.update(dict.fromkeys(range(column, column + cell.span), rows))
        return cell


class Break:
    """The end of a page."""


Block = Text | Grid | Break

_WIDEST = 1_000
"""Most columns of a table; further cells share the last one."""
_MAX_ROWS_SPANNED = 1_000


def blocks_of(root: etree._Element, tagged: Sequence[etree._Element] = (), first_tag: int = 0) -> list[Block]:
    """Return the blocks of a document in reading order.

    Invisible content is left out: `display: none`, the header of inline XBRL, scripts, text of size zero or white on
    white. `tagged` elements are marked in their texts by their position in that sequence, counted from `first_tag`.
    """
    tags = {element: position for position, element in enumerate(tagged, first_tag)}
    return _TreeWalk(_sheet(root), tags).through(root)


def _sheet(root: etree._Element) -> dict[str, str]:
    """Return the declarations of plain class rules in style sheets by class name (`.hide { display: none }`)."""
    sheet: dict[str, str] = {}
    for element in root.iter("{*}style"):
        sheet.update(_PATTERNS["rule of a class"].findall("".join(element.itertext())[:_MAX_SHEET_LENGTH]))
    return sheet


@dataclass(slots=True)
class _OpenElement:
    """An element being traversed, with its effect on the elements inside."""

    kind: Kind = Kind.BLOCK
    style: Style = PLAIN
    block: bool = True
    tag: int | None = None
    indent: float = 0.0
    align: str = ""
    raised: bool = False
    dark: bool = False
    """Whether the background is colored, so that white text is visible."""


class _TreeWalk:
    def __init__(self, sheet: Mapping[str, str], tags: Mapping[etree._Element, int]) -> None:
        self._sheet = sheet
        self._tags = tags
        self._blocks: list[Block] = []
        self._text = Text()
        self._grids: list[tuple[Grid, Text]] = []
        """Tables being read, with the text that each interrupted."""
        self._cell: GridCell | None = None
        self._pending: list[int] = []
        """Tags that have begun and hold no words so far."""
        self._begun: dict[int, tuple[Text, int]] = {}

    def through(self, root: etree._Element) -> list[Block]:
        outer = _OpenElement()
        stack: list[_OpenElement | None] = []
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                stack.append(self._enter(element, stack[-1] or outer if stack else outer))
                if stack[-1] is None:
                    walk.skip_subtree()
                continue
            if event == "end" and (closed := stack.pop()) is not None:
                self._leave(closed)
            if element.tail and stack and stack[-1] is not None:
                self._add_text(element.tail, stack[-1])
        self._end_paragraph()
        return self._blocks

    def _enter(self, element: etree._Element, outer: _OpenElement) -> _OpenElement | None:
        """Open an element inside `outer`; return None for one that holds nothing to read."""
        kind = kind_of(str(element.tag))
        if kind is Kind.UNSEEN:
            return None
        style = self._style(element)
        if style.hidden or element.get("hidden") is not None:
            return None
        ground = style.ground or background_of(element.get("bgcolor"))
        dark = ground == COLOURED or (not ground and outer.dark)
        if not dark and (style.white or background_of(element.get("color")) == WHITE):
            return None
        if kind is Kind.LINE_BREAK:
            self._text.end_line()
            return None
        inside_table = bool(self._grids)
        if style.break_before and not inside_table:
            self._break_page()
        if kind is Kind.RULE:
            if not inside_table:
                self._end_paragraph()
                self._blocks += [Break()] * style.break_after
            return None
        block = style.block if style.block is not None else kind not in (Kind.INLINE, Kind.TAGGED, Kind.RAISED)
        tag = self._tags.get(element) if kind is Kind.TAGGED else None
        raised = style.raised or kind is Kind.RAISED or outer.raised
        opened = _OpenElement(kind, style, block, tag, outer.indent, outer.align, raised, dark)
        if kind is Kind.TABLE:
            opened.kind = self._begin_table(element)
        elif kind in (Kind.ROW, Kind.CELL) and not inside_table:
            opened.kind = Kind.BLOCK
        elif kind is Kind.ROW:
            self._grids[-1][0].begin_row()
            self._cell = None
        elif kind is Kind.CELL:
            self._begin_cell(element, opened)
        if opened.kind in (Kind.BLOCK, Kind.ITEM) and opened.block:
            opened.indent += style.indent
            opened.align = style.align or opened.align or str(element.get("align") or "").lower()
            self._end_paragraph()
            texts = [self._text, *([self._cell.text] if self._cell is not None and not self._text.words else [])]
            for text in texts:
                text.indent, text.align = min(opened.indent, _DEEPEST), opened.align
            if opened.kind is Kind.ITEM:
                self._text.append("• ")
        if opened.tag is not None:
            self._pending.append(opened.tag)
        if element.text:
            self._add_text(element.text, opened)
        return opened

    def _style(self, element: etree._Element) -> Style:
        declarations = str(element.get("style") or "")
        if self._sheet and (classes := element.get("class")):
            declarations = ";".join([*(self._sheet.get(name, "") for name in str(classes).split()), declarations])
        return style_of(declarations) if declarations else PLAIN

    def _leave(self, closed: _OpenElement) -> None:
        if closed.tag is not None:
            self._end_tag(closed.tag)
        if closed.kind is Kind.TABLE:
            grid, self._text = self._grids.pop()
            self._cell = None
            if any(not cell.text.is_blank or cell.text.marks for row in grid.rows for cell in row):
                self._blocks.append(grid)
        elif closed.kind is Kind.CELL and self._grids:
            self._cell = None
            self._text = self._grids[-1][1]
        elif closed.block and closed.kind is not Kind.ROW:
            self._end_paragraph()
        if closed.style.break_after and not self._grids:
            self._break_page()

    def _add_text(self, text: str, inside: _OpenElement) -> None:
        if self._grids and self._cell is None:
            return  # text between the cells of a table is not printed
        plain = text.strip()
        if inside.raised and len(plain) <= 2 and plain.isalnum() and plain.lower() not in _RAISED_ENDINGS:
            text = f"({plain})"
        begin = self._text.append(text)
        if self._pending and begin < len(self._text.words):
            for tag in self._pending:
                self._begun[tag] = (self._text, begin)
                self._text.marks.append(Mark(tag, begin, begin))
            self._pending.clear()

    def _end_tag(self, tag: int) -> None:
        if tag in self._pending:  # it contains no text: it is placed at the current end of the text
            self._pending.remove(tag)
            last = max(0, len(self._text.words) - 1)
            self._text.marks.append(Mark(tag, last, last))
            return
        text, first = self._begun.pop(tag)
        if text is self._text:
            mark = next(mark for mark in reversed(text.marks) if mark.tag == tag)
            mark.first, mark.last = first, max(first, len(text.words) - 1)

    def _begin_table(self, element: etree._Element) -> Kind:
        if next(element.iterdescendants("{*}table"), None) is not None:
            return Kind.BLOCK  # a table around tables is layout: its content is read in order
        self._end_paragraph()
        self._grids.append((Grid(), self._text))
        self._cell = None
        return Kind.TABLE

    def _begin_cell(self, element: etree._Element, opened: _OpenElement) -> None:
        grid = self._grids[-1][0]
        cell = grid.add(_count(element.get("colspan"), _WIDEST), _count(element.get("rowspan"), _MAX_ROWS_SPANNED))
        opened.indent = opened.style.indent
        opened.align = opened.style.align or str(element.get("align") or "").lower()
        cell.text.indent, cell.text.align = opened.indent, opened.align
        self._cell, self._text = cell, cell.text

    def _end_paragraph(self) -> None:
        if self._cell is not None:
            self._text.end_line()
            return
        if not self._text.is_blank or self._text.marks:
            self._blocks.append(self._text)
        self._text = Text(indent=self._text.indent, align=self._text.align)

    def _break_page(self) -> None:
        self._end_paragraph()
        self._blocks.append(Break())


_DEEPEST = 240.0


_RAISED_ENDINGS = ("st", "nd", "rd", "th", "tm", "sm", "r")
"""Of ordinals and trade marks; other short raised text is a footnote mark."""


def _count(value: str | None, most: int) -> int:
    written = value or "1"
    return max(1, min(int(written), most)) if re.fullmatch(r"\s*\+?\d{1,4000}\s*", written, re.A) else 1
