"""Unit lines: `(in millions, except per share amounts)` and what they say about scale."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=16_384)
def unit_line_in(text: str) -> str:
    """The unit line that `text` holds, as printed, or an empty string."""
    if not _SCALE.search(text):
        return ""
    if match := _BRACKETED.search(text):
        return match[0].strip()
    if match := _OPENING.match(text):
        return match[0].strip()
    return ""


@lru_cache(maxsize=4_096)
def scale_of(unit_line: str) -> int | None:
    """What amounts under `unit_line` are multiplied with, or None where it names no scale."""
    match = _SCALE.search(_SHARES_IN.sub(" ", unit_line)) or _SCALE.search(unit_line)
    return _SCALES[match[1].lower()[:2]] if match else None


@lru_cache(maxsize=4_096)
def share_scale_of(unit_line: str) -> int | None:
    """Scale of share counts under `unit_line`: that of the amounts, unless shares are excepted or have their own."""
    if match := _SHARES_IN.search(unit_line):
        return _SCALES[match[1].lower()[:2]]
    scale = scale_of(unit_line)
    if scale is not None and _SHARES_EXCEPTED.search(_PER_SHARE.sub(" ", unit_line)):
        return 1
    return scale


_SCALES = {"mi": 1_000_000, "th": 1_000, "bi": 1_000_000_000, "00": 1_000, "$0": 1_000, "'0": 1_000}
_WORDS = r"(?:millions?|thousands?|billions?|\$?000(?:'?s|’s)?)"
_SCALE = re.compile(r"(?<![\d,.])(millions|thousands|billions|million|thousand|billion|\$?000(?:'?s|’s)?)\b", re.I)
_BRACKETED = re.compile(
    r"\((?=[^()]{0,60}(?:\bin\b|\$|\bmillions\b|\bthousands\b|\bbillions\b|000))"
    rf"(?![^()]*\d\s+(?:million|billion|thousand))[^()]{{0,60}}(?<![\d,.]){_WORDS}\b[^()]{{0,140}}(?:\)|$)",
    re.I,
)
_OPENING = re.compile(
    r"^\W*(?:(?:all |tabular )?(?:u\.?s\.? )?(?:dollars?|amounts?|figures|\$)(?: and \w+)?(?: are)?"
    rf"(?: stated| expressed)?|expressed|shares|usd)?\s*in (?:u\.?s\.? dollars? )?{_WORDS}\b.{{0,100}}$"
    r"|^\W*(?:millions|thousands)\b(?: of (?:u\.?s\.? )?dollars)?(?:\W*$|\s*,.{0,100}$)",
    re.I,
)
_SHARES_IN = re.compile(
    r"\bshares?\b(?:(?! (?:data|amounts?))| (?:data|amounts?)(?=,? which ))"
    r"(?:,? which are)?[^,;]{0,25}\bin (millions|thousands|billions)",
    re.I,
)
_SHARES_EXCEPTED = re.compile(r"\b(?:except|excluding|other than)\b.*\bshares?\b", re.I)
_PER_SHARE = re.compile(r"\bper[\s-]+(?:\w+[\s-]+)?shares?\b(?: data| amounts?| information)?", re.I)
