"""Text blocks that run over paragraphs and pages."""

from __future__ import annotations

from dataclasses import dataclass

from html_tagging import Tagger


@dataclass
class Blocks:
    """Opens and closes the text block around a note in a body that is being written; without a tagger, nothing."""

    body: list[str]
    tagger: Tagger | None
    _name: str = ""
    _opening: str = ""
    _at: int = 0
    _element: str = "nonNumeric"
    _parts: int = 0

    def open(self, concept: str) -> None:
        """Begin a block here."""
        if self.tagger:
            self._name, self._opening = self.tagger.block(concept)
            self._element, self._parts, self._at = "nonNumeric", 0, len(self.body)
            self.body.append(f"{self._opening}>")

    def across(self, markup: str, excluded: bool) -> None:
        """Set what is no part of the block in its midst: excluded, or between the block and its continuation."""
        if not self._name:
            self.body.append(markup)
        elif excluded:
            self.body.append(f"<ix:exclude>{markup}</ix:exclude>")
        else:
            self._parts += 1
            name = f"{self._name}-{self._parts}"
            self.body[self._at] = f'{self._opening} continuedAt="{name}">'
            self.body.append(f"</ix:{self._element}>{markup}")
            self._element, self._opening, self._at = "continuation", f'<ix:continuation id="{name}"', len(self.body)
            self.body.append(f"{self._opening}>")

    def close(self) -> None:
        """End the block that is open, if any."""
        if self._name:
            self.body.append(f"</ix:{self._element}>")
        self._name = ""
