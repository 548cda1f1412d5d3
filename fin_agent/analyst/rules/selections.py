"""Questions that choose a company first: `the net income of the company with the highest revenue`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.evidence.intent import Comparison

_HIGHEST = r"highest|largest|biggest|greatest|most|best|maximum|top"
_LOWEST = r"lowest|smallest|least|fewest|worst|minimum"
_EXTREME = rf"(?:(?P<highest>{_HIGHEST})|(?P<lowest>{_LOWEST}))"
_SHOWING = (
    r"(?:had|has|have|reported|reports|posted|recorded|generated|earned|showed|shows|made|spent|paid|saw|carried|held"
    r"|ended\s+with)"
)
_ONE = r"(?:company|one|firm|filer|business|corporation|issuer)"
_END = (
    r"(?=\s*(?:[,;:?)]|\.\s|\.$|$|\b(?:among|out of|of the following|between (?:these|those|them)|have|had|has"
    r"|spend|spent|report|earn|make|pay|generate|post|record|hold|carry)\b))"
)
_CHOOSING = re.compile(
    rf"\b(?:the\s+|whichever\s+|that\s+)?{_ONE}\s+(?:(?:with|having|whose)|(?:that|which|who)\s+{_SHOWING}|{_SHOWING})\s+"
    rf"(?:the\s+)?{_EXTREME}\s+(?:amount of\s+|level of\s+)?(?P<clause>\S.*?){_END}",
    re.I,
)
_WHICH_FIRST = re.compile(
    rf"\b(?:which|what)\b(?P<among>[^?]*?)\b{_SHOWING}\s+(?:the\s+)?{_EXTREME}\s+(?:amount of\s+|level of\s+)?"
    r"(?P<clause>\S.*?)(?:,\s*|\s+|\?\s*)\band\s+(?P<lead>(?:what|how\s+(?:much|many))\b.*?)"
    rf"\b(?:its|their|it|they|that\s+{_ONE}(?:['’]s)?|the\s+{_ONE}(?:['’]s)?)\s+(?P<rest>[^?]+)",
    re.I | re.S,
)


_HIGHER = r"higher|larger|bigger|greater|more|better"
_LOWER = r"lower|smaller|less|fewer|worse"
_WHICHEVER = re.compile(
    rf"\b(?:whichever|the\s+one)\s+(?:{_ONE}\s+)?(?:(?:out\s+)?of|among|between)\s+(?P<among>.*?),?\s+(?:that\s+|which\s+)?{_SHOWING}\s+"
    rf"(?:the\s+)?(?:(?P<highest>{_HIGHEST}|{_HIGHER})|(?P<lowest>{_LOWEST}|{_LOWER}))\s+(?P<clause>\S.*?)"
    r"(?:\s*[,:;]\s*|\s+[-–—]\s+|\.\s+)(?P<rest>(?:and\s+)?(?:what|how|find|report|give|tell|state|compute|calculate)\b.*)",
    re.I | re.S,
)
_THE_ONE_THAT = re.compile(
    rf"^\W*(?:(?:out\s+)?of|among|between)\s+(?P<among>.*?),\s*(?:for\s+|take\s+)?(?:the\s+one|that|whichever)\s+(?:(?:that|which|who)\s+)?"
    rf"{_SHOWING}\s+(?:out\s+)?(?:the\s+)?(?:(?P<highest>{_HIGHEST}|{_HIGHER})|(?P<lowest>{_LOWEST}|{_LOWER}))\s+(?P<clause>\S.*?)"
    r"(?:\s*[,:;]\s*|\s+[-–—]\s+|\.\s+)(?P<rest>(?:and\s+)?(?:what|how|find|report|give|tell|state|compute|calculate)\b.*)",
    re.I | re.S,
)
_PICK = re.compile(
    rf"^\W*(?:please\s+)?(?:pick|choose|find|identify|take|determine|select)\s+(?:out\s+)?(?:the\s+|whichever\s+)?(?:{_ONE}\s+)?"
    rf"(?:(?:with|having|that\s+(?:had|has|reported))\s+)?(?:the\s+)?(?:(?P<highest>{_HIGHEST})|(?P<lowest>{_LOWEST}))\s+(?P<clause>\S.*?)\s+"
    r"(?P<among>(?:out\s+of|among|of|between)\s.*?),?\s+(?:and|then)\s+(?:then\s+)?"
    r"(?P<rest>(?:what|how|find|report|give|tell|state|compute|calculate)\b.*)",
    re.I | re.S,
)


_OF_THESE_PICK = re.compile(
    r"^\W*(?P<among>(?:out\s+of|among|of|between)\s.*?),\s*(?:please\s+)?(?:pick|choose|find|identify|take|determine|select)\s+"
    rf"(?:the\s+)?(?:(?:{_ONE}\s+)?(?:with|having)\s+)?(?:the\s+)?(?:(?P<highest>{_HIGHEST})|(?P<lowest>{_LOWEST}))\s+(?P<clause>\S.*?)"
    rf",?\s+and\s+(?:then\s+)?(?P<rest>(?:what|how|find|report|give|tell|state|compute|calculate)\b.*)",
    re.I | re.S,
)


@dataclass(frozen=True, slots=True)
class Choosing:
    """What a company is chosen by, and what is asked of it."""

    clause: str
    """The words of the measure it is chosen by, with its period where the clause has one."""
    extreme: Comparison
    rest: str
    """The question without the clause, as long as before: what is asked of the company chosen."""


def choosing_in(core: str) -> Choosing | None:
    """How `core` chooses a company before it asks about it; None where it does not.

    >>> choosing_in("What was the net income of the company with the highest revenue, Acme or Bolt?").clause
    'revenue'
    """
    found = _WHICH_FIRST.search(core)
    if found is not None:
        kept = _only(core, found.span("among"), found.span("rest"))
        return Choosing(found.group("clause").strip(), _extreme(found), kept)
    for pattern in (_WHICHEVER, _THE_ONE_THAT, _PICK, _OF_THESE_PICK):
        found = pattern.search(core)
        if found is not None:
            kept = _only(core, found.span("among"), found.span("rest"))
            return Choosing(found.group("clause").strip(), _extreme(found), kept)
    found = _CHOOSING.search(core)
    if found is None or not _asks_before(core, found):
        return None
    rest = core[: found.start()] + " " * (found.end() - found.start()) + core[found.end() :]
    return Choosing(found.group("clause").strip(), _extreme(found), rest)


def _asks_before(core: str, found: re.Match[str]) -> bool:
    """Whether something is asked of the company: `which is the company with the highest revenue?` asks for itself."""
    around = f"{core[: found.start()]} {core[found.end() :]}"
    return _BEFORE_THE_ONE.search(core[: found.start()]) is not None and (
        re.match(r"\W*(?:which|who|name)\b", around, re.I) is None
    )


_BEFORE_THE_ONE = re.compile(
    r"\b(?:of|for|by|at|did|does|was|is|has|had|take|consider|pick|choose|identify|find)\s*$", re.I
)


def _extreme(found: re.Match[str]) -> Comparison:
    return Comparison.HIGHEST if found.group("highest") else Comparison.LOWEST


def _only(text: str, *spans: tuple[int, int]) -> str:
    """The text with all but `spans` blanked, so that places stay what they are."""
    kept = [" "] * len(text)
    for start, end in spans:
        kept[start:end] = text[start:end]
    return "".join(kept)
