"""Lines of a page and their numbers with units, columns of numbers, and rows with labels and headings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import chain, dropwhile, pairwise, takewhile
from operator import attrgetter, itemgetter
from statistics import median, median_high, median_low
from typing import NamedTuple

from fin_agent.lexicon.text_normalization import singular
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.page import PageContent, PrintedLine
from fin_agent.vocabulary.place import Box, Word
from fin_agent.vocabulary.runs import runs_of
from fin_agent.vocabulary.table import Cell

_PATTERNS = patterns("table_patterns")


@dataclass(frozen=True, slots=True)
class Line:
    """Words at one height, sorted by x; positions in points, upright."""

    words: tuple[Word, ...]
    x0: float
    y0: float
    x1: float
    y1: float
    cells: bool = False
    """Whether each word is the whole content of a cell of a real table."""

    @property
    def text(self) -> str:
        """Its words, separated by single blanks."""
        return " ".join([word.text for word in self.words])

    @property
    def box(self) -> Box:
        """The rectangle that it takes."""
        return Box(self.x0, self.y0, self.x1, self.y1)

    @property
    def middle(self) -> float:
        """The y coordinate of its center, in points from the top."""
        return (self.y0 + self.y1) / 2

    @property
    def height(self) -> float:
        """Its height in points."""
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Flow:
    """Lines of a page, with the mapping back to the page as printed."""

    lines: tuple[Line, ...]
    printed: tuple[PrintedLine, ...] = ()
    """The lines from the reader, if it knows cells; `lines` are then evenly spaced, one band apart."""

    def table_of(self, index: int) -> int | None:
        """Return the real table that a line is a row of; None where it is none, or tables are unknown."""
        return self.printed[index].table if self.printed else None

    def box_on_page(self, box: Box) -> Box:
        """Return `box` in its position on the page as printed."""
        if self.printed:
            return Box(box.x0, self._printed_at(box.y0).y0, box.x1, self._printed_at(box.y1 - 1).y1)
        return box

    def _printed_at(self, y: float) -> PrintedLine:
        return self.printed[max(0, bisect_right(self.printed, y // BAND, key=attrgetter("band")) - 1)]


BAND = 12.0
"""Height of a band of evenly spaced lines, in points."""
_BAND_LINE = 10.0


def flow_of(page: PageContent) -> Flow:
    """Return the lines of a page: those of its reader, otherwise its words by height."""
    if not page.lines:
        return Flow(tuple(lines_of([word for word in page.words if word.text.strip()])))
    lines = []
    for printed in page.lines:
        top = printed.band * BAND
        bottom = top + _BAND_LINE
        words = tuple(Word(word.x0, top, word.x1, bottom, word.text) for word in printed.words)
        lines.append(Line(words, words[0].x0, top, words[-1].x1, bottom, printed.table is not None))
    return Flow(tuple(lines), printed=page.lines)


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Group words into lines, top to bottom: a word joins a line if they share two fifths of their height."""
    lines: list[Line] = []
    row: list[Word] = []
    top = bottom = 0.0
    for word in sorted(sorted(words, key=_LEFT), key=lambda word: word[1] + word[3]):
        if row:
            overlap = min(bottom, word.y1) - max(top, word.y0)
            if overlap > 0.4 * min(bottom - top, word.y1 - word.y0):
                row.append(word)
                taller = (word.y1 - word.y0) / (bottom - top)
                if 1.3 < taller < 2.0:
                    # What came first was a superscript; the line is as high as its words.
                    top, bottom = word.y0, word.y1
                elif taller <= 1.3:
                    top, bottom = (top + word.y0) / 2, (bottom + word.y1) / 2
                continue
            lines.append(_line(row))
        row, top, bottom = [word], word.y0, word.y1
    if row:
        lines.append(_line(row))
    return lines


def _line(words: list[Word]) -> Line:
    words.sort(key=_ACROSS)
    heights = [y1 - y0 for _, y0, _, y1, _ in words]
    regular = words
    if min(heights) < _SMALL_PRINT * max(heights):
        least = _SMALL_PRINT * median(heights)
        regular = [word for word, height in zip(words, heights, strict=True) if height >= least]
    return Line(tuple(words), words[0].x0, min(map(_TOP, regular)), max(map(_RIGHT, words)), max(map(_BOTTOM, regular)))


_LEFT, _TOP, _RIGHT, _BOTTOM = map(itemgetter, range(4))
_ACROSS = itemgetter(0, 2, 1)
_SMALL_PRINT = 0.75
"""Share of a line's usual height below which words are footnote marks, which do not determine its position."""


@dataclass(slots=True)
class BodyLine:
    """A line of a table's body: its label words, and its cells by column index (none in a heading)."""

    line: Line
    number: int
    """Position among the page's lines."""
    label: str
    x0: float
    """Left edge of the label."""
    x1: float
    """Right edge of the label."""
    cells: dict[int, Token] = field(default_factory=dict)


@dataclass(slots=True)
class LabelledRow:
    """A row with its whole label and the headings above it, outermost first."""

    label: str
    section: tuple[str, ...]
    body: BodyLine
    lines: list[Line]


@dataclass(slots=True)
class _Heading:
    text: str
    x0: float
    colon: bool
    rows: int = 0
    totals: int = 0
    indented: bool = False


def rows_of(body: Sequence[BodyLine]) -> list[LabelledRow]:
    """Join wrapped labels, and give each row of numbers its section path."""
    steps = [second.line.middle - first.line.middle for first, second in pairwise(body) if second.cells and first.cells]
    pitch = median_low(steps) if steps else 1.2 * median_high(item.line.height for item in body)  # between two rows
    rows: list[LabelledRow] = []
    path: list[_Heading] = []
    previous: float | None = None
    for label, lines, item in _join_wrapped(body, pitch):
        apart = previous is not None and lines[0].middle - previous > 1.6 * pitch
        previous = lines[-1].middle
        if not item.cells:
            _open(path, label, item.x0)
            continue
        total = _PATTERNS["total of a label"].match(label)
        of = label[total.end() :] if total else None
        _close(path, of, item.x0, apart)
        section = tuple(heading.text for heading in path if heading.text)
        for heading in path:
            heading.rows += 1
            heading.totals += of is not None
        if path:
            path[-1].indented |= item.x0 > path[-1].x0 + _INDENT
        rows.append(LabelledRow(label, section, item, lines))
        if of is not None:
            _after_total(path, of, item.x0)
    return rows


_INDENT = 2.0


def clean_label(label: str) -> str:
    """Return a label without footnote marks, leader dots and double spaces."""
    text = " ".join(label.split()).strip(" .…")
    text = _PATTERNS["note mark"].sub("", text)
    return _PATTERNS["marks of a label"].sub("", text).strip()


def _join_wrapped(body: Sequence[BodyLine], pitch: float) -> list[tuple[str, list[Line], BodyLine]]:
    """Return (label, lines, line with the cells or heading) of each row and heading."""
    joined: list[tuple[str, list[Line], BodyLine]] = []
    labels: list[BodyLine] = []
    widest = max((item.x1 for item in body if item.label), default=0.0)
    for position, item in enumerate(body):
        if not item.cells:
            if labels and not _continues(labels[-1], item, pitch, widest):
                _flush(joined, labels)
                labels = []
            if not labels and joined and _ends_label_above(joined[-1][2], item, body, position, pitch):
                label, lines, row = joined[-1]
                joined[-1] = (f"{label} {item.label}", [*lines, item.line], row)
                continue
            labels.append(item)
            continue
        parts = labels if labels and _begin_label(labels[-1], item, pitch, widest) else []
        if not parts:
            _flush(joined, labels)
        text = " ".join([*(part.label for part in parts), item.label]).strip()
        if parts:
            item.x0 = parts[0].x0
        joined.append((text, [*(part.line for part in parts), item.line], item))
        labels = []
    _flush(joined, labels)
    return [(clean_label(label), lines, item) for label, lines, item in joined]


def _flush(joined: list[tuple[str, list[Line], BodyLine]], labels: Sequence[BodyLine]) -> None:
    if labels:
        joined.append((" ".join(part.label for part in labels), [part.line for part in labels], labels[0]))


def _begin_label(last: BodyLine, item: BodyLine, pitch: float, widest: float) -> bool:
    """Return whether the label-only lines that end with `last`, right above a row, begin its label."""
    if item.label:
        return _continues(last, item, pitch, widest)
    step = item.line.middle - last.line.middle
    return step < 0.75 * pitch or (step < 1.3 * pitch and _is_unfinished(last))


def _is_unfinished(line: BodyLine) -> bool:
    return _PATTERNS["unfinished label"].search(line.label) is not None


def _continues(first: BodyLine, second: BodyLine, pitch: float, widest: float) -> bool:
    """Return whether `second` continues the label begun by `first`, which has no cells."""
    step = second.line.middle - first.line.middle
    unfinished = _is_unfinished(first)
    colon = first.label.endswith(":")
    begins = second.label[:1]
    if step > (2.0 if unfinished else 1.5) * pitch or (colon and not begins.islower()) or second.x0 < first.x0 - 6.0:
        return False
    if begins.islower() or (begins.isdigit() and not colon) or unfinished:
        return True
    tight = step < 0.87 * pitch
    long = first.x1 - first.x0 > 0.7 * (widest - first.x0)
    return tight and (long or second.x0 > first.x0 + _INDENT or not second.cells) and not first.label.isupper()


def _ends_label_above(row: BodyLine, item: BodyLine, body: Sequence[BodyLine], position: int, pitch: float) -> bool:
    """Return whether a label-only line ends the label of the row above it."""
    if not row.cells or body[position - 1] is not row:
        return False
    step = item.line.middle - row.line.middle
    if step > 1.3 * pitch or item.label.endswith(":") or item.x0 < row.x0 - _INDENT:
        return False
    following = body[position + 1] if position + 1 < len(body) else None
    if following is not None and following.cells and following.line.middle - item.line.middle < 0.6 * pitch:
        return False
    if not row.label:
        return step < 0.75 * pitch
    tight = step < 1.05 * pitch if item.label[:1].islower() else step < 0.87 * pitch and item.x0 > row.x0 + _INDENT
    return tight or _is_unfinished(row)


def _open(path: list[_Heading], text: str, x0: float) -> None:
    while path and (path[-1].x0 > x0 + _INDENT or (abs(path[-1].x0 - x0) <= _INDENT and (path[-1].rows or not text))):
        path.pop()
    if text and not _PATTERNS["no heading"].match(text):
        path.append(_Heading(text.rstrip(" :"), x0, text.endswith(":")))


def _close(path: list[_Heading], of: str | None, x0: float, apart: bool) -> None:
    if (named := _depth_of(of, path)) is not None:
        del path[named + 1 :]
        return
    while path:
        top = path[-1]
        below = top.rows > top.totals  # totals alone are no rows that a gap would end
        beside = abs(x0 - top.x0) <= _INDENT and below and (top.indented or (apart and top.colon))
        if x0 >= top.x0 - _INDENT and not beside:
            return
        path.pop()


def _after_total(path: list[_Heading], of: str, x0: float) -> None:
    """Close the heading that a total ends; one with nothing but totals below it goes on."""
    if (named := _depth_of(of, path)) is not None:
        del path[named:]
    elif path and path[-1].rows > path[-1].totals and abs(path[-1].x0 - x0) <= _INDENT and not path[-1].indented:
        path.pop()


def _depth_of(what: str | None, path: Sequence[_Heading]) -> int | None:
    """Return the position of the heading that a total is of (`what`)."""
    headings = [heading.text.lower().rstrip("s:") for heading in path]
    plain = what.lower().rstrip("s:") if what else None
    return headings.index(plain) if plain in headings else None


class Number(NamedTuple):
    """A printed number: parentheses and minus signs are part of `amount`; a dash is zero."""

    amount: Decimal
    percent: bool = False
    dollar: bool = False


@lru_cache(maxsize=65_536)
def parse_number(token: str) -> Number | None:
    """Return the number that `token` prints, or None for other text (`N/A`, `*`, `nm`, `31,`). Never raises.

    It may hold the parts of a cell (`$ (1,234 )`), a footnote mark (`1,234(1)`), an unclosed parenthesis, the `x` of
    a ratio. A percentage keeps its printed size: `12.3%` is 12.3 with `percent` set.
    """
    if match := _PATTERNS["number"].match(token):
        opened = bool(match["open"] or match["inner"])
        if ")" in match["tail"] and not opened:
            return None
        amount = Decimal(match["digits"].replace(",", ""))
        if opened or match["sign"] or match["minus"]:
            amount = -amount
        return Number(amount, "%" in match["tail"], bool(match["dollar"]))
    if match := _PATTERNS["dash"].match(token):
        return Number(Decimal(0), bool(match["percent"]), bool(match["dollar"]))
    return None


@lru_cache(maxsize=16_384)
def unit_line_in(text: str) -> str:
    """Return the unit line in `text`, as printed, or an empty string."""
    found = (
        _PATTERNS["scale"].search(text)
        and (_PATTERNS["unit in brackets"].search(text) or _PATTERNS["unit at the beginning"].match(text))
    ) or _MARK_OF_UNIT.search(text)
    return found[0].strip() if found else ""


@lru_cache(maxsize=4_096)
def scale_of(unit_line: str) -> int | None:
    """Return the scale of amounts under `unit_line`, or None where it names none."""
    plain = _PATTERNS["scale of shares"].sub(" ", unit_line)
    match = _PATTERNS["scale"].search(plain) or _PATTERNS["scale"].search(unit_line) or _MARK_OF_UNIT.search(unit_line)
    return _SCALES[match["scale"].lower()[:2]] if match else None


@lru_cache(maxsize=4_096)
def is_of_money(heading: str) -> bool:
    """Return whether a column's heading ends with a currency, even with a scale: `2019 $`, `$'000`, `(S$ million)`."""
    return bool(_CURRENCY_AT_END.search(heading))


@lru_cache(maxsize=4_096)
def share_scale_of(unit_line: str) -> int | None:
    """Return the scale of share counts under `unit_line`: that of amounts, unless shares have their own or none."""
    if match := _PATTERNS["scale of shares"].search(unit_line):
        return _SCALES[match[1].lower()[:2]]
    scale = scale_of(unit_line)
    if scale is not None and _PATTERNS["shares excepted"].search(_PATTERNS["per share"].sub(" ", unit_line)):
        return 1
    return scale


@lru_cache(maxsize=4_096)
def unit_line_exceptions(unit_line: str) -> frozenset[frozenset[str]]:
    """Return what `unit_line` excepts from its scale, each as the words of its rows: `except ARPA and store counts`."""
    excepted = _PATTERNS["excepted"].search(_PATTERNS["per share"].sub(" ", unit_line))
    items = (
        _PATTERNS["between items"].split(_PATTERNS["relative clause"].sub("", excepted[1].lower())) if excepted else ()
    )
    words = (frozenset(map(singular, re.findall(r"[a-z][a-z&-]+", item))) for item in items)
    return frozenset(filter(None, (each - word_lists("fact_words")["of exceptions"] for each in words)))


def is_unit_line_exception(label: str, unit_line: str) -> bool:
    """Return whether a row is excepted from the scale of `unit_line`, by its name up to `, $0.01 par value`."""
    name = set(map(singular, _PATTERNS["after name"].split(label.lower())[0].split()))
    return any(words <= name for words in unit_line_exceptions(unit_line))


_SCALES = {
    **dict.fromkeys(("mi", "m", "mn", "mm"), 1_000_000),
    **dict.fromkeys(("th", "k", "00", "$0", "'0", "’0"), 1_000),
    **dict.fromkeys(("bi", "bn"), 1_000_000_000),
}
_CURRENCY = "|".join(map(re.escape, sorted(word_lists("currencies")["in headings"], key=len, reverse=True)))
_SCALE_OF_MONEY = f"000(?:'?s|’s)?|mn?|mm|k|bn|mil|{_PATTERNS['scale words'].pattern}"
_MARK_OF_UNIT = re.compile(rf"(?<![^\s(])\(?(?:{_CURRENCY})\s?['‘’]?(?P<scale>{_SCALE_OF_MONEY})(?!\w)\)?", re.I)
_CURRENCY_AT_END = re.compile(rf"(?:^|[\s(])(?:{_CURRENCY})\)?$|{_MARK_OF_UNIT.pattern}$", re.I)


class Token(NamedTuple):
    """A piece of a line: a word, or all words of one printed number (`$`, `(1,234`, `)`)."""

    text: str
    x0: float
    """Left edge, including a currency sign."""
    x1: float
    edge: float
    """Right edge of the last digit, by which columns of numbers are aligned."""
    gap: float
    """White space before it; leader dots and separate currency signs count as white space."""
    number: Number | None = None
    blank: bool = False
    """For `N/A`, `nm`, `*`: occupies a cell without a number."""
    core: float = 0.0
    """Left edge of the first digit."""
    y0: float = 0.0
    y1: float = 0.0

    @property
    def is_cell(self) -> bool:
        """Whether it is a number, or a dash in place of one."""
        return self.number is not None or self.blank

    def cell(self, box_on_page: Callable[[Box], Box], percent: bool) -> Cell | None:
        """Return the cell with its amount; None where there is no number. `percent` applies to its whole column."""
        if self.number is None:
            return None
        amount, of_hundred, dollar = self.number
        box = box_on_page(Box(self.x0, self.y0, self.x1, self.y1))
        return Cell(amount, self.text, of_hundred or percent, dollar, box)


@dataclass(slots=True)
class Column:
    """A column of numbers: the edges of their last digits, and the space they take."""

    edge: float
    left: float
    right: float
    low: float
    high: float
    """Smallest and largest `edge` seen."""
    count: int
    core: float
    """Leftmost first digit: `left` without currency signs."""


def tokens_of(line: Line) -> list[Token]:
    """Return the words of a line as tokens, left to right, with the parts of a printed number joined."""
    tokens: list[Token] = []
    pending: list[Word] = []
    last = line.x0 - 100.0
    spaced = False
    for word in _split_joined_words(line.words):
        x0, y0, x1, y1, text = word
        if text in _OPENERS:
            # A dash is the sign of the digits that it touches; a separate dash is a zero.
            touched = (other.text[:1].isdigit() for other in line.words if 0 <= other.x0 - x1 < 1.5)
            if text not in _SIGNS | _DASHES_OF_MONEY or any(touched):
                pending.append(word)
                continue
        if _PATTERNS["leader"].match(text):
            # Leader dots are not part of a label; the text after them is in a column.
            spaced = True
            continue
        if tokens and not pending and text in _CLOSERS and _join_closing_marks(tokens, word):
            last = word.x1
            continue
        printed = " ".join([*(part.text for part in pending), text]) if pending else text
        number = parse_number(printed) if text[-1] in "0123456789)%*]x×" or text in _DASHES else None
        if number is None and pending:
            for part in pending:
                if part.text not in _CURRENCIES:
                    tokens.append(Token(part.text, part.x0, part.x1, part.x1, part.x0 - last, y0=part.y0, y1=part.y1))
                    last = part.x1
            pending = []
            number = parse_number(text)
        beside = not pending and tokens and tokens[-1].number is not None and x0 - tokens[-1].x1 < _MARK_GAP
        if number is not None and beside and _PATTERNS["mark of a cell"].match(text):
            last = x1
            continue
        first = pending[0] if pending else word
        gap = 100.0 if spaced or not tokens else first.x0 - last
        edge, blank = _digits_edge(word), False
        if number is None:
            printed, edge, blank = text.rstrip("…") or text, x1, text.lower() in _BLANKS
        top, bottom = min(first.y0, y0), max(first.y1, y1)
        tokens.append(Token(printed, first.x0, x1, edge, gap, number, blank, x0, top, bottom))
        pending, spaced, last = [], False, x1
    return tokens


def may_be_cell(word: Word) -> bool:
    """Return whether a line that ends with `word` may end with a number: digits, signs and marks."""
    return bool(_PATTERNS["end of cell"].search(word.text)) or word.text in _OPENERS


def trailing_cells(tokens: Sequence[Token], height: float) -> list[Token]:
    """Return the numbers at the end of a line that are separate from its words, left to right."""
    run = list(takewhile(lambda token: token.is_cell, reversed(tokens)))[::-1]
    room = max(4.0, 0.5 * height)
    while run and run[0].gap < room and len(run) < len(tokens):
        run.pop(0)
    return list(dropwhile(lambda token: token.blank, run))


def cells_of_row(tokens: Sequence[Token]) -> list[Token]:
    """Return the numbers of a real table's row, left to right; its first cell is the label if it contains words."""
    marks = {id(after) for before, after in pairwise(tokens) if not before.is_cell and _is_mark(after)}
    kept = (token for token in tokens if token.is_cell and id(token) not in marks)
    return list(dropwhile(lambda token: token.blank, kept))


def _is_mark(token: Token) -> bool:
    """Return whether a cell right after words is their footnote mark: in brackets, or a bare number."""
    if token.text.isdigit() and len(token.text) <= 2 and token.gap < _BARE_MARK_GAP:
        return True
    return token.gap < _BRACKETED_MARK_GAP and bool(_PATTERNS["mark of a cell"].match(token.text))


_BRACKETED_MARK_GAP = 20.0
_BARE_MARK_GAP = 9.0


def columns_of(rows: Sequence[Sequence[Token]]) -> list[Column]:
    """Return the columns that the cells of `rows` form, left to right, by the right edges of their digits.

    Clusters of cells that overlap and never share a row are one column: centered numbers, hanging parentheses.
    """
    placed = sorted(
        ((row, token) for row, tokens in enumerate(rows) for token in tokens),
        key=lambda placed: (placed[1].edge, placed[0]),
    )
    clusters = runs_of(placed, lambda cluster, item: item[1].edge - cluster[-1][1].edge > _EDGE_STEP)
    merged = runs_of(clusters, lambda run, cluster: not _one_column(list(chain(*run)), cluster))
    return [_column([token for _, token in chain(*run)]) for run in merged]


def assign_to_columns(
    tokens: Sequence[Token], columns: Sequence[Column], height: float, whole_cells: bool = False
) -> dict[int, Token]:
    """Return which of a line's tokens is the cell of which column (by index into `columns`).

    Tokens are assigned from the right end of the line; numbers within the label (`allowances of $132 and $190`) stay
    there. With `whole_cells`, each token is a cell of a real table, and words may occur between numbers.
    """
    cells: dict[int, Token] = {}
    bound = len(columns)
    room = max(4.0, 0.5 * height)
    seen = False
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        if not token.is_cell:
            if whole_cells and position:
                continue
            break
        index = _nearest(columns, token, bound)
        alone = position == 0
        if index is None:
            if token.gap < room and not alone:
                break
            continue
        apart = token.gap >= room or alone or tokens[position - 1].is_cell
        if not apart and not (
            seen and abs(token.edge - columns[index].edge) <= 2.0 and _PATTERNS["amount of a cell"].search(token.text)
        ):
            break
        cells[index] = token
        bound, seen = index, True
    return cells


def _split_joined_words(words: Sequence[Word]) -> Iterator[Word]:
    """Yield words, separating a currency sign that was joined to the cell before it (`4%$`)."""
    for word in words:
        if word[4][-1] == "$" and len(word.text) > 1 and parse_number(word.text[:-1]) is not None:
            cut = word.x1 - (word.x1 - word.x0) / len(word.text)
            yield Word(word.x0, word.y0, cut, word.y1, word.text[:-1])
            yield Word(cut, word.y0, word.x1, word.y1, "$")
        else:
            yield word


_EDGE_STEP = 3.0
_CURRENCIES = frozenset({"$", "US$", "€", "£", "¥", "C$", "A$", "CA$"})
_SIGNS = frozenset({"-", "–", "−"})
_DASHES_OF_MONEY = frozenset({"$-", "-$"})
_OPENERS = _CURRENCIES | _SIGNS | _DASHES_OF_MONEY | frozenset({"(", "$(", "($", "( $"})
_CLOSERS = frozenset({")", "%", ")%", "%)", "¢", "]", "x", "×", "bps", "pts", "ppts"})
_DASHES = frozenset({"—", "–", "-", "−", "--", "$—", "$-", "—%", "-%", "$–"})
_BLANKS = frozenset({"n/a", "na", "nm", "n.m.", "n/m", "n.a.", "nm%", "*", "**", "***", "n.m", "#", "nmf"})
_MARK_GAP = 2.5


def _join_closing_marks(tokens: list[Token], word: Word) -> bool:
    """Join `)` or `%` to the number before it."""
    last = tokens[-1]
    if last.number is None or word.x0 - last.x1 > _CLOSER_REACH:
        return False
    number = parse_number(last.text + word.text) or last.number
    printed = last.text + (" " if word.x0 - last.x1 > 4 else "") + word.text
    tokens[-1] = last._replace(text=printed, x1=word.x1, number=number)
    return True


_CLOSER_REACH = 30.0


def _digits_edge(word: Word) -> float:
    text = word.text
    tail = len(text) - len(text.rstrip(")%*†‡§ "))
    # A bracket is about three fifths as wide as a digit, a percent sign half as wide again.
    units = sum(1.5 if mark == "%" else 0.6 for mark in text[len(text) - tail :])
    lead = sum(0.6 if mark in "(,." else 1.0 for mark in text[: len(text) - tail])
    return word.x1 - (word.x1 - word.x0) * units / (units + lead)


def _one_column(first: list[tuple[int, Token]], second: list[tuple[int, Token]]) -> bool:
    if {index for index, _ in first} & {index for index, _ in second}:
        return False
    a, b = _column([token for _, token in first]), _column([token for _, token in second])
    narrow = min(a.high - a.core, b.high - b.core) or 1.0
    return min(a.high, b.high) - max(a.core, b.core) > 0.22 * narrow or b.low - a.high < 5.0


def _column(tokens: Sequence[Token]) -> Column:
    edges = sorted(token.edge for token in tokens)
    left, right = min(token.x0 for token in tokens), max(token.x1 for token in tokens)
    core = min(token.core for token in tokens)
    return Column(edges[len(edges) // 2], left, right, edges[0], edges[-1], len(tokens), core)


def _nearest(columns: Sequence[Column], token: Token, bound: int) -> int | None:
    best: tuple[float, int] | None = None
    for index in range(bound - 1, -1, -1):
        column = columns[index]
        if column.high + 4.0 < token.edge and column.right < token.x0:
            break  # those further left end further left still
        distance = max(column.low - token.edge, token.edge - column.high, 0.0)
        if distance <= 4.0 or (token.blank and token.x1 > column.core and token.x0 < column.right):
            best = min(best or (1e9, 0), (distance, index))
    return best[1] if best else None
