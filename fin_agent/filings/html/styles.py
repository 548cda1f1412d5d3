"""The part of CSS that says what is seen, where pages end, and how far text is set in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple


class Style(NamedTuple):
    """What one element's declarations say; lengths in points."""

    hidden: bool = False
    break_before: bool = False
    break_after: bool = False
    block: bool | None = None
    """True or False where `display` makes it a block or part of a line against its element's habit."""
    indent: float = 0.0
    align: str = ""
    raised: bool = False
    """Superscript."""
    white: bool = False
    """Text in white."""
    ground: str = ""
    """WHITE, COLOURED, or nothing where no background is said."""


PLAIN = Style()
WHITE, COLOURED = "white", "coloured"


@lru_cache(maxsize=16_384)
def style_of(declarations: str) -> Style:
    """Read the value of a `style` attribute. Unknown and broken declarations are passed over; never raises."""
    found = dict(_declarations(declarations))
    if not found:
        return PLAIN
    display = found.get("display", "")
    padding, margin = found.get("padding", ""), found.get("margin", "")
    indent = (
        _length(found.get("padding-left") or _left_of(padding))
        + _length(found.get("margin-left") or _left_of(margin))
        + _length(found.get("text-indent", ""))
    )
    return Style(
        hidden=display == "none" or found.get("visibility") in ("hidden", "collapse") or _is_invisible(found),
        break_before=bool(_BREAK.match(found.get("page-break-before") or found.get("break-before", ""))),
        break_after=bool(_BREAK.match(found.get("page-break-after") or found.get("break-after", ""))),
        block=True if display in ("block", "list-item", "flex", "grid") else False if display == "inline" else None,
        indent=max(0.0, min(indent, _DEEPEST)),
        align=found.get("text-align", ""),
        white=ground_of(found.get("color")) == WHITE,
        ground=ground_of(found.get("background-color") or found.get("background")),
        raised=found.get("vertical-align") in ("super", "text-top") and "inline" not in display,
    )


def ground_of(colour: str | None) -> str:
    """WHITE or COLOURED; empty for no colour or one that lets through what is behind it."""
    plain = "".join((colour or "").lower().split())
    if not plain or plain in ("transparent", "inherit", "none", "initial", "unset"):
        return ""
    return WHITE if _WHITE.match(plain) else COLOURED


def sheet_of(text: str) -> dict[str, str]:
    """Class name -> declarations of a style sheet's plain class rules (`.hide { display: none }`)."""
    return dict(_RULE.findall(text[:_LONGEST_SHEET]))


def with_classes(declarations: str, classes: str, sheet: Mapping[str, str]) -> str:
    """An element's own declarations after those of its classes."""
    return ";".join([*(sheet[name] for name in classes.split() if name in sheet), declarations])


_DEEPEST = 180.0
_LONGEST_SHEET = 200_000
_RULE = re.compile(r"\.([\w-]+)\s*\{([^{}]*)\}")
_BREAK = re.compile(r"always|page|left|right|recto|verso")
_UNITS = {
    "pt": 1.0,
    "px": 0.75,
    "em": 10.0,
    "rem": 10.0,
    "ex": 5.0,
    "in": 72.0,
    "cm": 28.35,
    "mm": 2.835,
    "pc": 12.0,
    "%": 5.0,
}
_LENGTH = re.compile(r"(-?\d*\.?\d+)\s*(pt|px|em|rem|ex|in|cm|mm|pc|%)?")
_WHITE = re.compile(
    r"white$|snow$|#?(?:f[4-9a-f]){3}(?:ff)?$|#?fff$|rgba?\((?:(?:24[4-9]|25[0-5]|9[6-9]%|100%),?){3}(?:,?1(?:\.0)?)?\)$"
)
"""White, and what cannot be told from it."""
_NOTHING = re.compile(r"0*\.?0*\s*(?:pt|px|em|rem|%)?")
_LEFT = {1: 0, 2: 1, 3: 1, 4: 3}
"""Which of the lengths is the left side, by how many are given."""


def _declarations(text: str) -> Iterator[tuple[str, str]]:
    for part in text.lower().split(";"):
        name, colon, value = part.partition(":")
        if colon:
            yield name.strip(), value.replace("!important", "").strip()


def _length(text: str) -> float:
    found = _LENGTH.match(text)
    return float(found[1]) * _UNITS.get(found[2] or "px", 0.75) if found else 0.0


def _left_of(shorthand: str) -> str:
    """The left side of `padding` or `margin` with one to four lengths."""
    sides = shorthand.split()
    return sides[_LEFT[len(sides)]] if len(sides) in _LEFT else ""


def _is_invisible(found: Mapping[str, str]) -> bool:
    """Whether nobody can see the text: set in no size, or fully transparent."""
    size, opacity = found.get("font-size", ""), found.get("opacity", "")
    return bool((size and _NOTHING.fullmatch(size)) or (opacity and _NOTHING.fullmatch(opacity)))
