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


_COMPARING = re.compile(r"\b(?:more|less|higher|lower|larger|greater)\b", re.I)
_SET_ABOVE = re.compile(
    r"\s*(?:(?:higher|lower|larger|smaller|greater|bigger|more|less)\s+)?(?:than|exceed(?:s|ed)?|above|below|surpass(?:es|ed)?)"
    r"\s+(?:its\s+|the\s+|their\s+)?",
    re.I,
)
