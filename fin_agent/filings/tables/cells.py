"""Numbers of a line and the columns they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fin_agent.filings.tables.lines import Line
from fin_agent.filings.tables.numbers import Number, parse_number
from fin_agent.vocabulary.place import Box, Word
from fin_agent.vocabulary.table import Cell


class Token(NamedTuple):
    """A piece of a line: a word, or all words of one printed number (`$`, `(1,234`, `)`)."""

    text: str
    x0: float
    """Left edge, that of the currency sign where there is one."""
    x1: float
    edge: float
    """Right edge of the last digit: what columns of numbers are aligned by."""
    gap: float
    """White space before it; leader dots and set-apart currency signs count as white."""
    number: Number | None = None
    blank: bool = False
    """`N/A`, `nm`, `*`: takes a cell but prints no number."""
    core: float = 0.0
    """Left edge of the first digit."""
    y0: float = 0.0
    y1: float = 0.0

    @property
    def is_cell(self) -> bool:
        return self.number is not None or self.blank

    def cell(self) -> Cell | None:
        if self.number is None:
            return None
        number = self.number
        return Cell(number.amount, self.text, number.percent, number.dollar, Box(self.x0, self.y0, self.x1, self.y1))


@dataclass(slots=True)
class Column:
    """A column of numbers: where their last digits end, and the room they take."""

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
    """Words of a line as tokens, left to right; the parts of one printed number are joined."""
    tokens: list[Token] = []
    pending: list[Word] = []
    last = line.x0 - 100.0
    spaced = False
    for word in _unglued(line.words):
        text = word.text
        if not pending and text[-1].isalpha() and not (text[0].isdigit() or text in _CLOSERS):
            # Most words: no part of a number, no leader.
            gap = 100.0 if spaced or not tokens else word.x0 - last
            blank = text.lower() in _BLANKS
            tokens.append(Token(text, word.x0, word.x1, word.x1, gap, None, blank, word.x0, word.y0, word.y1))
            spaced, last = False, word.x1
            continue
        if text in _OPENERS and not (text in _SIGNS and not _sign_of_next(word, line)):
            pending.append(word)
            continue
        if _LEADER.match(text):
            # Leader dots belong to no label; what follows them stands in a column.
            spaced = True
            continue
        if tokens and not pending and text in _CLOSERS and _close(tokens, word):
            last = word.x1
            continue
        printed = " ".join([*(part.text for part in pending), text]) if pending else text
        number = parse_number(printed) if _has_digit_or_dash(text) else None
        if number is None and pending:
            for part in pending:
                if part.text not in _CURRENCIES:
                    tokens.append(Token(part.text, part.x0, part.x1, part.x1, part.x0 - last, y0=part.y0, y1=part.y1))
                    last = part.x1
            pending = []
            number = parse_number(text)
        if number is not None and not pending and _is_footnote_mark(tokens, word):
            last = word.x1
            continue
        first = pending[0] if pending else word
        gap = 100.0 if spaced or not tokens else first.x0 - last
        if pending and first.text in _CURRENCIES and number is not None:
            gap = max(gap, first.x0 - last)
        tokens.append(
            Token(
                printed if number is not None else text.rstrip("…") or text,
                first.x0,
                word.x1,
                _digits_edge(word) if number is not None else word.x1,
                gap,
                number,
                number is None and text.lower() in _BLANKS,
                word.x0,
                min(first.y0, word.y0),
                max(first.y1, word.y1),
            )
        )
        pending, spaced, last = [], False, word.x1
    return tokens


def trailing_cells(tokens: Sequence[Token], height: float) -> list[Token]:
    """The numbers a line ends with that stand apart from its words, left to right."""
    run: list[Token] = []
    for token in reversed(tokens):
        if not token.is_cell:
            break
        run.append(token)
    run.reverse()
    room = max(4.0, 0.5 * height)
    while run and run[0].gap < room and len(run) < len(tokens):
        run.pop(0)
    while run and run[0].blank:
        run.pop(0)
    return run


def cells_of_row(tokens: Sequence[Token]) -> list[Token]:
    """The numbers of a real table's row, left to right; its first cell is the label where it holds words."""
    kept = [
        token
        for before, token in zip([None, *tokens], tokens, strict=False)
        if token.is_cell and not (before is not None and not before.is_cell and _is_mark(token))
    ]
    while kept and kept[0].blank:
        kept.pop(0)
    return kept


def _is_mark(token: Token) -> bool:
    """Whether a cell beside words is their footnote mark: in brackets, or a bare number close behind them."""
    return bool(_MARK.match(token.text)) or (
        token.gap < _BARE_MARK_GAP and token.text.isdigit() and len(token.text) <= 2
    )


_BARE_MARK_GAP = 9.0


def columns_of(rows: Sequence[Sequence[Token]]) -> list[Column]:
    """Columns that the cells of `rows` stand in, left to right.

    Cells are clustered by the right edge of their digits; clusters that overlap and never share a row are one column
    (centred numbers, hanging parentheses).
    """
    placed = sorted(
        ((token.edge, index, token) for index, row in enumerate(rows) for token in row), key=lambda item: item[:2]
    )
    clusters: list[list[tuple[int, Token]]] = []
    previous = -1000.0
    for edge, index, token in placed:
        if edge - previous > _EDGE_STEP:
            clusters.append([])
        clusters[-1].append((index, token))
        previous = edge
    merged: list[list[tuple[int, Token]]] = []
    for cluster in clusters:
        if merged and _one_column(merged[-1], cluster):
            merged[-1] = merged[-1] + cluster
        else:
            merged.append(cluster)
    return [_column([token for _, token in cluster]) for cluster in merged]


def place(
    tokens: Sequence[Token], columns: Sequence[Column], height: float, whole_cells: bool = False
) -> dict[int, Token]:
    """Which of a line's tokens is the cell of which column (by index into `columns`).

    Taken from the right end of the line; numbers that belong to the label (`allowances of $132 and $190`) stay there.
    `whole_cells`: each token is a cell of a real table, and words may stand between numbers.
    """
    cells: dict[int, Token] = {}
    bound = len(columns)
    room = max(4.0, 0.5 * height)
    seen = False
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        if not token.is_cell and whole_cells and position:
            continue
        if not token.is_cell:
            break
        index = _nearest(columns, token, bound)
        if index is None:
            if token.gap < room and position:
                break
            continue
        apart = token.gap >= room or position == 0 or tokens[position - 1].is_cell
        if not apart and not (seen and abs(token.edge - columns[index].edge) <= 2.0 and _looks_like_amount(token)):
            break
        cells[index] = token
        bound, seen = index, True
    return cells


def _unglued(words: Sequence[Word]) -> Iterator[Word]:
    """Words, with a currency sign that ran into the cell before it (`4%$`) set apart again."""
    for word in words:
        if word.text[-1:] == "$" and len(word.text) > 1 and parse_number(word.text[:-1]) is not None:
            cut = word.x1 - (word.x1 - word.x0) / len(word.text)
            yield Word(word.x0, word.y0, cut, word.y1, word.text[:-1])
            yield Word(cut, word.y0, word.x1, word.y1, "$")
        else:
            yield word


_EDGE_STEP = 3.0
_CURRENCIES = frozenset({"$", "US$", "€", "£", "¥", "C$", "A$", "CA$"})
_SIGNS = frozenset({"-", "–", "−"})
_OPENERS = _CURRENCIES | _SIGNS | frozenset({"(", "$(", "($", "( $", "$-", "-$"})
_CLOSERS = frozenset({")", "%", ")%", "%)", "¢", "]", "x", "×", "bps", "pts", "ppts"})
_BLANKS = frozenset({"n/a", "na", "nm", "n.m.", "n/m", "n.a.", "nm%", "*", "**", "***", "n.m", "#", "nmf"})
_LEADER = re.compile(r"^[.…·_‥]+$")
_MARK = re.compile(r"^(?:\(\d{1,2}\)|\([a-z]{1,2}\)|\*+|[†‡§])$")
_MARK_GAP = 2.5


def _has_digit_or_dash(text: str) -> bool:
    return text[-1:] in "0123456789)%*]x×" or text in ("—", "–", "-", "−", "--", "$—", "$-", "—%", "-%", "$–")


def _sign_of_next(word: Word, line: Line) -> bool:
    """A dash set apart is a zero; one that touches the digits after it is their sign."""
    return any(0 <= other.x0 - word.x1 < 1.5 and other.text[:1].isdigit() for other in line.words)


def _close(tokens: list[Token], word: Word) -> bool:
    """Join `)` or `%` to the number before it."""
    last = tokens[-1]
    if last.number is None or word.x0 - last.x1 > _CLOSER_REACH:
        return False
    number = parse_number(last.text + word.text) or last.number
    tokens[-1] = Token(
        last.text + (" " if word.x0 - last.x1 > 4 else "") + word.text,
        last.x0, word.x1, last.edge, last.gap, number, False, last.core, last.y0, last.y1,
    )  # fmt: skip
    return True


_CLOSER_REACH = 30.0


def _is_footnote_mark(tokens: Sequence[Token], word: Word) -> bool:
    return bool(
        tokens and tokens[-1].number is not None and word.x0 - tokens[-1].x1 < _MARK_GAP and _MARK.match(word.text)
    )


def _digits_edge(word: Word) -> float:
    text = word.text
    tail = len(text) - len(text.rstrip(")%*†‡§ "))
    if not tail:
        return word.x1
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


def _looks_like_amount(token: Token) -> bool:
    return any(mark in token.text for mark in ",.$(—–%") or token.text == "-"
