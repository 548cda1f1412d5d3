"""Metrics that a question names beside each other: `capex to cash flow ratio`, `more cash than net income`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention


def of_a_ratio(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """`capex to operating cash flow ratio`: what stands after `to` is the cash flow, not the ratio of that name."""
    read = list(mentions)
    for place in range(1, len(read)):
        one, name = read[place], re.sub(r"\s+ratio$", "", read[place].phrase, flags=re.I)
        if name == one.phrase or not re.fullmatch(r"\s*(?:to|over|/)\s*", text[read[place - 1].end : one.start]):
            continue
        inner = [each for each in lexicon.mentions(name) if each.kind == "metric" and each.phrase == name]
        if inner:
            read[place] = Mention("metric", inner[0].id, one.start, one.end, one.phrase)
    return read


def in_asides(core: str, lexicon: Lexicon) -> list[Mention]:
    """`what was owed to suppliers (accounts payable)`: the one measure that only the parentheses name."""
    found = lexicon.mentions(core)
    if len(found) != 1 or not re.search(rf"\(\s*{re.escape(found[0].phrase)}\s*\)", core):
        return []
    return [Mention(found[0].kind, found[0].id, 0, 0, found[0].phrase)]


def set_above(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> bool:
    """Whether the one of two measures is set above or below the other: `more operating cash flow than net income`."""
    if len(mentions) != 2:
        return False
    first, second = mentions
    units = {lexicon.definition(one.id).unit for one in mentions}
    between = text[first.end : second.start]
    if first.id == second.id or len(units) > 1 or not _SET_ABOVE.fullmatch(between):
        return False
    return not re.match(r"\s*than", between, re.I) or _COMPARING.search(text[: first.start]) is not None


def subtracted(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> tuple[Mention, Mention] | None:
    """`subtract capex from operating cash flow`: (what it is taken from, what is taken); else None."""
    if len(mentions) != 2:
        return None
    taken, whole = mentions
    said = _SUBTRACT.search(text[: taken.start]) and _FROM.fullmatch(text[taken.end : whole.start])
    units = {lexicon.definition(one.id).unit for one in mentions}
    return (whole, taken) if said and taken.id != whole.id and len(units) == 1 else None


def part_of_whole(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> tuple[Mention, Mention] | None:
    """`more than 10% of revenue on R&D`, `did R&D exceed 10% of revenue`: (the part, the whole); else None."""
    if len(mentions) != 2 or {lexicon.definition(one.id).unit for one in mentions} != {"USD"}:
        return None
    for whole, part in (mentions, reversed(mentions)):
        if _PERCENT_OF.search(text[: whole.start]) is None or part.id == whole.id:
            continue
        between = text[whole.end : part.start] if whole.end <= part.start else ""
        if _SPENT_ON.fullmatch(between) or (
            part.end <= whole.start and _BOUNDED.fullmatch(text[part.end : whole.start])
        ):
            return part, whole
    return None


_SUBTRACT = re.compile(r"\b(?:subtract|deduct)\b[^,;?.]*$", re.I)
_FROM = re.compile(r"\s*from\s+(?:its\s+|the\s+|their\s+)?", re.I)
_BOUND = (
    r"(?:more|less|greater|higher|lower|fewer)\s+than|at\s+least|over|above|below|under|exceed(?:s|ed)?|top(?:s|ped)?"
)
_PERCENT = r"\d+(?:\.\d+)?\s*(?:%|percent)\s+of\s+(?:(?:its|the|their|total|net)\s+)*"
_PERCENT_OF = re.compile(rf"(?:{_BOUND})\s+{_PERCENT}$", re.I)
_SPENT_ON = re.compile(r"\s+(?:on|in|into|for|to)\s+(?:its\s+|the\s+)?", re.I)
_BOUNDED = re.compile(
    rf"\s+(?:(?:make|made|come|came|amount|amounted|be|was)\s+(?:up\s+|to\s+)?)?(?:{_BOUND})\s+{_PERCENT}", re.I
)
_COMPARING = re.compile(r"\b(?:more|less|higher|lower|larger|greater)\b", re.I)
_SET_ABOVE = re.compile(
    r"\s*(?:(?:higher|lower|larger|smaller|greater|bigger|more|less)\s+)?(?:than|exceed(?:s|ed)?|above|below|surpass(?:es|ed)?)"
    r"\s+(?:its\s+|the\s+|their\s+)?",
    re.I,
)
