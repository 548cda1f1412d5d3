"""Lines of a page that may be headings of notes to the financial statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum


class Numbering(Enum):
    """How a filer numbers its notes; one filing keeps to one way."""

    WORD = "Note 5"
    WORD_LETTER = "Note E"
    POINT = "5."
    BRACKETS = "(5)"
    LETTER = "E."
    BARE = "5"


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line that reads like the heading of a note."""

    numbering: Numbering
    number: int
    """Letters are counted: A is 1."""
    printed: str
    title: str
    """Without "(continued)"; empty where no title follows."""
    page: int
    """Position among the pages given, from 0."""
    offset: int
    weight: float
    """How much it looks like a heading."""


def note_lines_on(text: str, page: int) -> list[NoteLine]:
    """Candidates for headings on a page's text; none on a page that lists the notes with their pages."""
    found = [line for match in _HEADING.finditer(text) if (line := _line(match, page)) is not None]
    kept = [line for lines in _by_numbering(found) if not _is_list(text, lines) for line in lines]
    return [_weighed(line, kept, len(text)) for line in sorted(kept, key=lambda line: line.offset)]


_HEADING = re.compile(
    r"^[ \t\u00a0]*(?:"
    r"notes?[ \t\u00a0]*(?:no\.?[ \t\u00a0]*)?(?:(?P<word>\d{1,2})(?![\d%]|\.\d)|(?P<wordletter>[A-Z])\b(?!['’]))"
    r"|\((?P<brackets>\d{1,2})\)"
    r"|(?P<point>\d{1,2})[ \u00a0]?[.)](?!\d)"
    r"|(?P<letter>[A-Z])\."
    r"|(?P<bare>\d{1,2})(?=[ \t\u00a0]{1,6}[A-Z])"
    r")(?P<rest>[^\n]*)$",
    re.I | re.M,
)
_NUMBERINGS = {
    "word": Numbering.WORD,
    "wordletter": Numbering.WORD_LETTER,
    "brackets": Numbering.BRACKETS,
    "point": Numbering.POINT,
    "letter": Numbering.LETTER,
    "bare": Numbering.BARE,
}
_WORDS = (Numbering.WORD, Numbering.WORD_LETTER)
_AFTER_A_CITATION = tuple(",(%/$’'&")
_SEPARATORS = " \t\u00a0.:;|–—-−‑)"
_LONGEST_TITLE = 140
_SHORTEST_TITLE = 3
_CONTINUED = re.compile(r"[\s,–—-]*\(?\b(?:continued|cont[’'.]?d|cont\.|unaudited|concluded)\b\.?\)?", re.I)
_CITES = re.compile(
    r"\b(?:see|in|under|with|of|to|and|or|by|from|the|our|also|both|per|refer|reference)[\s“\"'(]*$|[,(–]\s*$", re.I
)
_PROSE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|shall|may|our|we|that|which|its|their|include[sd]?|this|these)\b"
)
_NO_TITLE = re.compile(
    r"^(?:to|on|of|the|and|in|for|or|years?|months|days|weeks|million|billion|percent)\b|^[^A-Za-z“\"(]|^(?i:continued)\b"
)
_OPEN_END = re.compile(r"(?:\b(?:and|of|the|for|in|on|with|to)|[,&–—-])$", re.I)
_LISTED = re.compile(r"[\s.\u00a0]+(?:F-|[A-Z]-)?\d{1,3}$")
_ROOM = 350
_CLOSE = 160
_FEWEST_LISTED = 4
_SHORTEST_ENTRY = 12
_TITLE_CASE = 0.6


def _line(match: re.Match[str], page: int) -> NoteLine | None:
    kind = match.lastgroup if match.lastgroup != "rest" else None
    kind = kind or next(name for name in _NUMBERINGS if match.group(name) is not None)
    numbering, printed = _NUMBERINGS[kind], match.group(kind)
    if numbering in (Numbering.LETTER, Numbering.WORD_LETTER) and not printed.isupper():
        return None
    number = int(printed) if printed.isdigit() else ord(printed) - ord("A") + 1
    rest = match.group("rest")
    cited = rest[:1] in _AFTER_A_CITATION if rest else False
    if number == 0 or ((cited or (rest[:2] == " (" and numbering in _WORDS)) and not _CONTINUED.match(rest)):
        return None
    before = match.string[max(0, match.start() - 200) : match.start()].rstrip(" \t\u00a0")
    above = before.rstrip("\n").rpartition("\n")[2]
    if before.endswith("\n") and above.strip() and _CITES.search(above):
        return None
    title, weight = _title(rest, match, numbering)
    if title is None:
        return None
    return NoteLine(numbering, number, printed, title, page, match.start(), weight)


def _title(rest: str, match: re.Match[str], numbering: Numbering) -> tuple[str | None, float]:
    """The title that follows the number and how much it looks like one; None where the line is no heading."""
    text = _cleaned(rest)
    after = [line.strip() for line in match.string[match.end() + 1 : match.end() + 400].split("\n")]
    below = [line for line in after if line.strip(_SEPARATORS)]
    weight = 1.0
    if not text:
        if numbering in (Numbering.BARE, Numbering.LETTER) or not below:
            return None, 0.0
        text, below = _cleaned(below[0]), below[1:]
        weight = 0.3 if numbering is Numbering.BRACKETS else 0.8
    if len(text) < _SHORTEST_TITLE or len(text) > _LONGEST_TITLE or _NO_TITLE.match(text):
        return None, 0.0
    if _OPEN_END.search(text) and below and len(text) + len(below[0]) < _LONGEST_TITLE and below[0][0].isupper():
        text = f"{text} {below[0]}"
    if text[-1] in ";:,":
        weight *= 0.3
    words = [word for word in text.replace("-", " ").split() if word[0].isalpha() and len(word) > 3]
    capitals = sum(word[0].isupper() for word in words)
    if text.isupper() or (words and capitals >= _TITLE_CASE * len(words)):
        weight += 1.0
    elif _PROSE.search(text):
        weight *= 0.1
    if _PROSE.search(text) and len(text) > _LONGEST_TITLE / 2:
        weight *= 0.2
    if numbering is Numbering.BARE:
        weight *= 0.4
    return " ".join(text.split()), weight


def _cleaned(text: str) -> str:
    text = _CONTINUED.sub("", text.lstrip(_SEPARATORS)).rstrip(_SEPARATORS[:-1])
    return text[:-1].rstrip() if text.endswith(")") and "(" not in text else text


def _is_list(text: str, lines: Sequence[NoteLine]) -> bool:
    """Whether notes are listed with their pages."""
    if len({line.number for line in lines}) < _FEWEST_LISTED or _spacing(lines) > _CLOSE:
        return False
    listed = sum(_LISTED.search(_entry(text, line)) is not None for line in lines)
    return listed * 3 >= len(lines) * 2


def _by_numbering(found: Sequence[NoteLine]) -> Iterator[list[NoteLine]]:
    for numbering in Numbering:
        lines = [line for line in found if line.numbering is numbering]
        if lines:
            yield lines


def _entry(text: str, line: NoteLine) -> str:
    """A heading's first line, or its lines up to the first that ends in a number."""
    taken = ""
    for part in text[line.offset : line.offset + 220].split("\n")[:5]:
        taken += " " + part.strip()
        if len(taken) > _SHORTEST_ENTRY and _LISTED.search(taken):
            break
    return taken


def _spacing(lines: Sequence[NoteLine]) -> float:
    return (lines[-1].offset - lines[0].offset) / (len(lines) - 1)


def _weighed(line: NoteLine, found: Sequence[NoteLine], length: int) -> NoteLine:
    """More weight where text follows before the next of another number."""
    after = [other.offset for other in found if other.offset > line.offset and other.number != line.number]
    room = min(after, default=length + _ROOM) - line.offset
    return replace(line, weight=line.weight + 1.0) if room >= _ROOM else line
