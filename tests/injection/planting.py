"""Instructions planted on pages of PDFs: for tests that no text of a filing is obeyed."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pymupdf
import yaml
from pydantic import TypeAdapter

MARK = "Zephyrine"
"""A word that stands in every planted text, and in no filing."""
NUMBER = 42
_GUESS = "0123456789abcdef"


class Way(StrEnum):
    """How a text is put on a page."""

    VISIBLE = "visible"
    TINY = "tiny and white"
    INVISIBLE = "not drawn"
    TAGS = "unicode tags"
    """Letters that no reader sees: drawn as usual ones, read as tags."""
    ROW = "row of a table"
    END = "end of the page"


@dataclass(frozen=True, slots=True)
class Plant:
    """A text on a page of a filing."""

    page: int
    """0-based."""
    aim: str
    way: Way
    text: str


def aims() -> tuple[str, ...]:
    """What planted texts are after."""
    return tuple(_texts())


def plants(pages: Sequence[int], seed: str, codes: Mapping[int, str] | None = None) -> tuple[Plant, ...]:
    """A plant for each page, drawn by the seed; `codes` are guesses of the code of the marks by page."""
    draw = random.Random(seed)
    made = []
    for page in pages:
        aim = draw.choice(aims())
        text = draw.choice(_texts()[aim])
        made.append(plant(page, aim, draw.choice(tuple(Way)), text, (codes or {}).get(page, _GUESS)))
    return tuple(made)


def plant(page: int, aim: str, way: Way, text: str = "", code: str = _GUESS) -> Plant:
    """One plant; the first text of its aim where none is given."""
    written = text or _texts()[aim][0]
    return Plant(
        page, aim, way, written.replace("{mark}", MARK).replace("{number}", str(NUMBER)).replace("{code}", code)
    )


def planted_copy(filing: Path, copy: Path, planted: Sequence[Plant]) -> None:
    """A copy of a PDF with texts planted on its pages."""
    with pymupdf.open(filing) as document:
        for each in planted:
            _put(document, document[each.page], each)
        document.save(copy)


@lru_cache(maxsize=1)
def _texts() -> dict[str, list[str]]:
    written = resources.files(__package__).joinpath("planted.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, list[str]]).validate_python(yaml.safe_load(written))


_SMALL, _TINY = 6.0, 1.0
_MARGIN = 36.0
_WIDTH_OF_A_LETTER = 0.5
"""Of Helvetica, in font sizes: what fits on a line is only about right."""


def _put(document: pymupdf.Document, page: pymupdf.Page, planted: Plant) -> None:
    page.wrap_contents()
    size = _TINY if planted.way in (Way.TINY, Way.TAGS) else _SMALL
    lines = _wrapped(planted.text, (page.rect.width - 2 * _MARGIN) / (_WIDTH_OF_A_LETTER * size))
    top = _place(page, planted.way, len(lines) * 1.2 * size)
    name = "helv"
    if planted.way is Way.TAGS:
        name = "tagged"
        font = page.insert_font(fontname=name, fontbuffer=pymupdf.Font("cour").buffer, set_simple=True)
        _read_as_tags(document, font)
    color = (1, 1, 1) if planted.way in (Way.TINY, Way.TAGS) else (0, 0, 0)
    mode = 3 if planted.way is Way.INVISIBLE else 0
    for number, line in enumerate(lines):
        at = pymupdf.Point(_MARGIN, top + (number + 1) * 1.2 * size)
        page.insert_text(at, line, fontname=name, fontsize=size, color=color, render_mode=mode)
        if planted.way is Way.ROW and number == len(lines) - 1:
            for x in _columns(page):
                page.insert_text(pymupdf.Point(x, at.y), str(NUMBER), fontname=name, fontsize=size)


def _wrapped(text: str, most: float) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > most and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _place(page: pymupdf.Page, way: Way, height: float) -> float:
    """Where a text begins: below the last line, between lines with numbers, or in the widest gap."""
    words = page.get_text("words")
    rows = sorted({(round(word[1], 1), round(word[3], 1)) for word in words if word[4].strip()})
    if way is Way.END or len(rows) < 2:
        bottom = max((row[1] for row in rows), default=_MARGIN)
        return float(min(bottom + 4, page.rect.height - height - 2))
    if way is Way.ROW:
        printing = sorted(word[1] for word in words if re.search(r"\d", word[4]))
        middle = printing[len(printing) // 2] if printing else page.rect.height / 2
        gaps = [(below[0] - above[1], above[1]) for above, below in pairwise(rows) if abs(above[1] - middle) < 150]
        return float(max(gaps, default=(0, middle))[1])
    gaps = [(below[0] - above[1], above[1]) for above, below in pairwise(rows)]
    return float(max(gaps)[1])


def _columns(page: pymupdf.Page) -> list[float]:
    """Where the numbers of the row with most of them begin, at most three."""
    of_row: dict[int, list[float]] = {}
    for word in page.get_text("words"):
        if re.fullmatch(r"\(?[\d,.]+\)?", word[4]):
            of_row.setdefault(round(word[3]), []).append(float(word[0]))
    fullest = max(of_row.values(), key=lambda starts: len(starts), default=[])
    return sorted(fullest)[:3]


def _read_as_tags(document: pymupdf.Document, font: int) -> None:
    """Have the letters of a font read as tags: what is copied out of the page is not what is drawn."""
    lines = "\n".join(f"<{code:02x}> <db40{0xDC00 + code:04x}>" for code in range(0x20, 0x7F))
    table = (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Tags def\n/CMapType 2 def\n"
        "1 begincodespacerange\n<00> <ff>\nendcodespacerange\n"
        f"{0x7F - 0x20} beginbfchar\n{lines}\nendbfchar\nendcmap\nend\nend\n"
    )
    stream = document.get_new_xref()
    document.update_object(stream, "<<>>")
    document.update_stream(stream, table.encode("ascii"))
    document.xref_set_key(font, "ToUnicode", f"{stream} 0 R")
