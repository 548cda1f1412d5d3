"""Parse the numbers of a line and their units, and assign them to columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import NamedTuple

from fin_agent.filings.tables.lines import Line
from fin_agent.lexicon.text_normalization import singular
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.place import Box, Word
from fin_agent.vocabulary.runs import runs_of
from fin_agent.vocabulary.table import Cell

_PATTERNS = patterns("table_patterns")


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
        tokens.append(
            Token(
                printed if number is not None else text.rstrip("…") or text,
                first.x0,
                x1,
                _digits_edge(word) if number is not None else x1,
                gap,
                number,
                number is None and text.lower() in _BLANKS,
                x0,
                min(first.y0, y0),
                max(first.y1, y1),
            )
        )
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
    befores = (None, *tokens)
    kept = [
        token
        for before, token in zip(befores, tokens, strict=False)
        if token.is_cell and (before is None or before.is_cell or not _is_mark(token))
    ]
    return list(dropwhile(lambda token: token.blank, kept))


def _is_mark(token: Token) -> bool:
    """Return whether a cell right after words is their footnote mark: in brackets, or a bare number."""
    bare = token.text.isdigit() and len(token.text) <= 2
    return (token.gap < _BRACKETED_MARK_GAP and bool(_PATTERNS["mark of a cell"].match(token.text))) or (
        token.gap < _BARE_MARK_GAP and bare
    )


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
    merged = clusters[:1]
    for cluster in clusters[1:]:
        if _one_column(merged[-1], cluster):
            merged[-1] = merged[-1] + cluster
        else:
            merged.append(cluster)
    return [_column([token for _, token in cluster]) for cluster in merged]


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
    return Column(
        edges[len(edges) // 2],
        min(token.x0 for token in tokens),
        max(token.x1 for token in tokens),
        edges[0],
        edges[-1],
        len(tokens),
        min(token.core for token in tokens),
    )


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
