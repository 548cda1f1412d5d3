"""How wide words are when set in Helvetica, the face that most filings name."""

from __future__ import annotations

SIZE = 9.0
"""Points; tables and text alike."""

_THOUSANDTHS = {
    **dict.fromkeys("0123456789$#?_abdeghnopqu–¢£€¥", 556), **dict.fromkeys(" !,./:;[]\\It", 278),
    **dict.fromkeys("ckvxyszJ", 500), **dict.fromkeys("ABEKPSVXY&", 667), **dict.fromkeys("CDHNRUw", 722),
    **dict.fromkeys("FTZ", 611),
    **dict.fromkeys("GOQ", 778), **dict.fromkeys("()-`r“”‑", 333),
    **dict.fromkeys("ijl‘’", 222), **dict.fromkeys("+<=>~", 584), **dict.fromkeys("Mm", 833),
    **dict.fromkeys("®©", 737),
    **dict.fromkeys("—™", 1000), **dict.fromkeys("{}", 334), "f": 278, "L": 556, "W": 944, "@": 1015, "%": 889,
    "'": 191, '"': 355, "*": 389, "^": 469, "|": 260, "•": 350,
}  # fmt: skip
"""Advance widths of the standard font, in thousandths of its size (Adobe Font Metrics)."""
_OTHER = 556


class _Widths(dict[str, float]):
    """Width of each word set so far; filings say the same few thousand words again and again."""

    def __missing__(self, word: str) -> float:
        width = sum(_THOUSANDTHS.get(mark, _OTHER) for mark in word) * SIZE / 1000
        if len(self) < _MOST_KEPT:
            self[word] = width
        return width


_MOST_KEPT = 100_000
WIDTHS = _Widths()
"""Word -> its width in points."""
SPACE = 0.278 * SIZE
