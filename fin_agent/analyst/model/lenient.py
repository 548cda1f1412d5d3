"""How replies are read: one name for a list of one, `[3]` and `passage 3` for 3, `Sets Policy` for `sets-policy`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

_NUMBER = re.compile(r"\D*(\d{1,6})\D*")


def listed(written: object) -> object:
    """One alone is a list of one; null is an empty list."""
    if written is None:
        return ()
    return [written] if isinstance(written, str | int | dict) else written


def plain(written: object) -> object:
    """`Sets Policy`, `sets_policy` for `sets-policy`."""
    if not isinstance(written, str):
        return written
    return "-".join(written.lower().replace("_", " ").replace("-", " ").split())


def number(written: object) -> object:
    """3 for `3`, `"3"`, `"passage 3"`, `"[3]"`; anything else as it is."""
    found = _NUMBER.fullmatch(written) if isinstance(written, str) else None
    return written if found is None else int(found[1])


def nothing_if_blank(written: object) -> object:
    """None for what models write in place of null."""
    if isinstance(written, str) and written.strip().lower() in ("", "null", "none", "n/a", "unknown", "not stated"):
        return None
    return written


def text_of(written: object) -> object:
    """An empty text for null; lines joined where a list of them is given."""
    if written is None:
        return ""
    if isinstance(written, list) and all(isinstance(line, str) for line in written):
        return "\n".join(written)
    return written


Text = Annotated[str, BeforeValidator(text_of)]
Words = Annotated[tuple[str, ...], BeforeValidator(listed)]
Number = Annotated[int, Field(strict=True), BeforeValidator(number)]
Numbers = Annotated[tuple[Number, ...], BeforeValidator(listed)]
PerhapsText = Annotated[str | None, BeforeValidator(nothing_if_blank)]
PerhapsNumber = Annotated[Number | None, BeforeValidator(nothing_if_blank)]
