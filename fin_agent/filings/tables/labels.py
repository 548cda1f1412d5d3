"""Row labels: lines that belong together, and the path of headings above each row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fin_agent.filings.tables.cells import Token
from fin_agent.filings.tables.lines import Line


@dataclass(slots=True)
class BodyLine:
    """A line of a table's body: its label words, and its cells by column index (none in a heading)."""

    line: Line
    number: int
    """Position among the page's lines."""
    label: str
    x0: float
    """Where the label begins."""
    x1: float
    """Where the label ends."""
    cells: dict[int, Token] = field(default_factory=dict)


@dataclass(slots=True)
class LabelledRow:
    """A row with its whole label and the headings it stands under, outermost first."""

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
    indented: bool = False


def rows_of(body: Sequence[BodyLine]) -> list[LabelledRow]:
    """Join wrapped labels and give each row of numbers its section path."""
    pitch = _pitch(body)
    joined = _join_wrapped(body, pitch)
    rows: list[LabelledRow] = []
    path: list[_Heading] = []
    previous: float | None = None
    for label, lines, item in joined:
        middle = lines[0].middle
        apart = previous is not None and middle - previous > 1.6 * pitch
        previous = lines[-1].middle
        if not item.cells:
            _open(path, label, item.x0)
            continue
        _close(path, label, item.x0, apart)
        section = tuple(heading.text for heading in path if heading.text)
        for heading in path:
            heading.rows += 1
        if path:
            path[-1].indented |= item.x0 > path[-1].x0 + _INDENT
        rows.append(LabelledRow(label, section, item, lines))
        if (total := _TOTAL.match(label)) is not None:
            _after_total(path, label[total.end() :], item.x0)
    return rows


_INDENT = 2.0
_TOTAL = re.compile(r"^(?:total|net cash)\b\s*", re.I)
_DANGLING = re.compile(
    r"(?:,|;|[-–—/&]|\b(?:and|or|of|to|for|in|on|from|by|with|the|a|an|at|as|net|per|than|its|including|excluding|"
    r"assuming|before|after|attributable|that|which|between|under|\$)|[a-z]\s*\([^)]*)$",
    re.I,
)
_NO_HEADING = re.compile(r"^commitments\b", re.I)
_MARKS = re.compile(r"(?:\s*(?:\((?:\d{1,2}|[a-z]{1,2})\)|\*+|[†‡§]|(?<=[a-z])\d(?=$)))+$")
_NOTE_MARK = re.compile(r"(?<=[a-z])\(\d{1,2}\)")


def clean_label(label: str) -> str:
    """A label without footnote marks, leader dots and doubled spaces."""
    text = " ".join(label.split()).strip(" .…")
    text = _NOTE_MARK.sub("", text)
    return _MARKS.sub("", text).strip()


def _pitch(body: Sequence[BodyLine]) -> float:
    """Usual distance between two rows of numbers."""
    steps = sorted(
        second.line.middle - first.line.middle for first, second in pairwise(body) if second.cells and first.cells
    )
    if steps:
        return steps[(len(steps) - 1) // 2]
    heights = sorted(item.line.height for item in body)
    return 1.2 * heights[len(heights) // 2] if heights else 12.0


def _join_wrapped(body: Sequence[BodyLine], pitch: float) -> list[tuple[str, list[Line], BodyLine]]:
    """(label, lines, line with the cells or heading) of each row and heading."""
    joined: list[tuple[str, list[Line], BodyLine]] = []
    labels: list[BodyLine] = []
    widest = max((item.x1 for item in body if item.label), default=0.0)
    for position, item in enumerate(body):
        if not item.cells:
            if labels and not _continues(labels[-1], item, pitch, widest):
                _flush(joined, labels)
                labels = []
            if not labels and joined and _trails(joined[-1][2], item, body, position, pitch):
                label, lines, row = joined[-1]
                joined[-1] = (f"{label} {item.label}", [*lines, item.line], row)
                continue
            labels.append(item)
            continue
        parts = _own_labels(labels, item, pitch, widest)
        if len(parts) < len(labels):
            _flush(joined, labels[: len(labels) - len(parts)])
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


def _own_labels(labels: Sequence[BodyLine], item: BodyLine, pitch: float, widest: float) -> list[BodyLine]:
    """Label-only lines right above that are the beginning of this row's label: all of them or none."""
    if not labels:
        return []
    last = labels[-1]
    step = item.line.middle - last.line.middle
    if not item.label:
        return list(labels) if step < 0.75 * pitch or (step < 1.3 * pitch and _DANGLING.search(last.label)) else []
    return list(labels) if _continues(last, item, pitch, widest) else []


def _continues(first: BodyLine, second: BodyLine, pitch: float, widest: float) -> bool:
    """Whether `second` goes on with the label begun by `first`, which has no cells."""
    step = second.line.middle - first.line.middle
    reach = 2.0 if _DANGLING.search(first.label) else 1.5  # unfinished words reach further than finished ones
    if step > reach * pitch or (first.label.endswith(":") and not second.label[:1].islower()):
        return False
    if second.x0 < first.x0 - 6.0:
        return False
    begins = second.label[:1]
    if begins.islower() or (begins.isdigit() and not first.label.endswith(":")):
        return True
    if _DANGLING.search(first.label):
        return True
    tight = step < 0.87 * pitch
    long = first.x1 - first.x0 > 0.7 * (widest - first.x0)
    return tight and (long or second.x0 > first.x0 + _INDENT or not second.cells) and not first.label.isupper()


def _trails(row: BodyLine, item: BodyLine, body: Sequence[BodyLine], position: int, pitch: float) -> bool:
    """Whether a label-only line ends the label of the row above it."""
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
    dangling = bool(_DANGLING.search(row.label))
    if item.label[:1].islower():
        return dangling or step < 1.05 * pitch
    return dangling or (step < 0.87 * pitch and item.x0 > row.x0 + _INDENT)


def _open(path: list[_Heading], text: str, x0: float) -> None:
    while path and (path[-1].x0 > x0 + _INDENT or (abs(path[-1].x0 - x0) <= _INDENT and (path[-1].rows or not text))):
        path.pop()
    if text and not _NO_HEADING.match(text):
        path.append(_Heading(text.rstrip(" :"), x0, text.endswith(":")))


def _close(path: list[_Heading], label: str, x0: float, apart: bool) -> None:
    if (total := _TOTAL.match(label)) is not None:
        named = next((depth for depth, head in enumerate(path, 1) if _same(head.text, label[total.end() :])), None)
        if named is not None:
            del path[named:]
            return
    while path:
        top = path[-1]
        outdented = x0 < top.x0 - _INDENT
        beside = abs(x0 - top.x0) <= _INDENT
        if outdented or (beside and top.rows and (top.indented or (apart and top.colon))):
            path.pop()
        else:
            return


def _after_total(path: list[_Heading], what: str, x0: float) -> None:
    for index, heading in enumerate(path):
        if _same(heading.text, what):
            del path[index:]
            return
    if path and path[-1].rows and abs(path[-1].x0 - x0) <= _INDENT and not path[-1].indented:
        path.pop()


def _same(heading: str, what: str) -> bool:
    return bool(what) and heading.lower().rstrip("s:") == what.lower().rstrip("s:")
