"""Set words on a page as a filing prints them, so that tests need no file."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Word

SIZE = 10.0
_DIGIT = 5.0
_NARROW = 2.5


def width(text: str) -> float:
    return sum(_NARROW if mark in " .,()$%'—" else _DIGIT for mark in text)


class Page:
    """A page under construction: each call sets one line of words."""

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.y = 40.0
        self.words: list[Word] = []
        self.lines: list[str] = []

    def skip(self, points: float) -> Page:
        self.y += points
        return self

    def text(self, text: str, x: float = 40.0, step: float = 12.0) -> Page:
        self._set(text, x)
        return self._next(text, step)

    def header(self, phrases: Sequence[tuple[str, float]], step: float = 12.0, stub: str = "") -> Page:
        """Phrases centred on their x."""
        if stub:
            self._set(stub, 40.0)
        for text, middle in phrases:
            self._set(text, middle - width(text) / 2)
        return self._next(" ".join([stub, *(text for text, _ in phrases)]).strip(), step)

    def row(
        self,
        label: str,
        cells: Sequence[str],
        edges: Sequence[float],
        x: float = 40.0,
        step: float = 12.0,
        hanging: bool = True,
    ) -> Page:
        """A label and cells right-aligned by their last digit (`hanging`) or by their last mark.

        A cell's parts set apart by spaces become words: `$ 1,234` has its sign at the left of the column.
        """
        self._set(label, x)
        for cell, edge in zip(cells, edges, strict=True):
            if not cell:
                continue
            parts = cell.split(" ")
            if parts[0] == "$" and len(parts) > 1:
                self._word("$", edge - 48.0)
                parts = parts[1:]
            body = parts[0]
            tail = len(body) - len(body.rstrip(")%$")) if hanging else 0
            x0 = edge - width(body[: len(body) - tail])
            self._word(body, x0)
            end = x0 + width(body)
            for part in parts[1:]:
                self._word(part, end + 1.5)
                end += 1.5 + width(part)
        return self._next(f"{label} {' '.join(cells)}", step)

    def done(self) -> PageContent:
        return PageContent(self.number, 612.0, 792.0, "\n".join(self.lines), tuple(self.words))

    def _set(self, text: str, x: float) -> None:
        for part in text.split():
            self._word(part, x)
            x += width(part) + _NARROW

    def _word(self, text: str, x: float) -> None:
        self.words.append(Word(x, self.y, x + width(text), self.y + SIZE, text))

    def _next(self, text: str, step: float) -> Page:
        self.lines.append(text)
        self.y += step
        return self
