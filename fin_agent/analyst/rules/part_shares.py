"""Shares: what a part of a company makes up of the whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.analyst.rules.part_names import NamedPart
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention


@dataclass(frozen=True, slots=True)
class AskedShare:
    """A share of the whole company's figure."""

    question: str
    """The same question, asked of the part's figure and not of its share."""
    of_whole: Mention | None
    """What it is a share of, where that is another measure than the part's; None where it is the same."""


class UnclearShareError(ValueError):
    """A share is asked for, and not said of what whole: of the part itself, or of nothing that is known."""


def share_asked(text: str, part: NamedPart, lexicon: Lexicon) -> AskedShare | None:
    """The share of `part` that `text` asks for; None where it asks for none. Raises UnclearShareError.

    `What percentage of revenue came from Marine`, `Marine's share of total revenues`, `Marine revenue as a percentage
    of revenue`, `how much of its revenue did Marine account for`. Another measure of the part over the whole's
    (`Marine operating income as a percentage of total revenue`) is taken only where the whole is called so.
    """
    bare = text[: part.start] + " " * (part.end - part.start) + text[part.end :]
    cue = next((found for pattern in _CUES for found in [pattern.search(bare)] if found), None)
    mentions = lexicon.mentions(bare)
    if cue is None or not mentions:
        return None
    kept = cue.groupdict().get("kept") or ""
    if _OF_THE_TOTAL.match(bare[cue.end() :]) and len({one.id for one in mentions}) == 1:
        return AskedShare(_TOTAL.sub(" ", _asked_plainly(text, cue, kept)), None)
    after = [one for one in mentions if one.start >= cue.end()]
    if not kept and not after:
        return None
    metrics = {one.id for one in mentions}
    if after and cue.end() <= part.start < after[0].start and len(metrics) == 1:
        raise UnclearShareError(text)  # `what share of Marine revenue came from sails`
    if len(metrics) == 1:
        return AskedShare(_asked_plainly(text, cue, kept), None)
    whole = after[0] if after else None
    called = whole is not None and _THE_WHOLE.search(f"{bare[cue.end() : whole.start]}{whole.phrase}")
    if whole is None or not called or len(metrics) > _TWO:
        return None
    held = text[: whole.start] + " " * (whole.end - whole.start) + text[whole.end :]
    return AskedShare(_TOTAL.sub(" ", _asked_plainly(held, cue, "")), whole)


def speaks_of_shares(text: str) -> bool:
    """Whether `text` speaks of a share of something, whatever of."""
    return any(pattern.search(text) for pattern in _CUES)


_TWO = 2
_SHARE = r"(?:%|percent(?:age)?|pct|share|proportion|fraction|portion)"
_CUES = (
    re.compile(rf"\b(?:(?:expressed|measured)\s+)?as\s+(?:an?\s+)?{_SHARE}\s+of\b", re.I),
    re.compile(rf"\b(?P<asks>what|which|how\s+(?:large|big|great|high|much)\s+(?:of\s+)?an?)\s+{_SHARE}\s+of\b", re.I),
    re.compile(
        r"\b(?P<asks>how\s+much)\s+of\b"
        r"(?=.*\b(?:(?:make|made|makes|making)\s+up|account\w*\s+for|represent\w*|constitut\w+)\b)",
        re.I | re.S,
    ),
    re.compile(
        r"(?:\b(?:percentage|percent|relative)\s+|%\s*)?\b(?:shares?|proportion|percentage|contributions?)\s+(?:of|to|in)\b",
        re.I,
    ),
    re.compile(r"\b(?P<kept>revenues?|sales)\s+(?:mix|share)\b", re.I),
)
_MADE_UP = re.compile(
    r"\b(?:(?:make|made|makes|making)\s+up|account(?:s|ed)?\s+for|represent(?:s|ed)?|constitute[sd]?|comprise[sd]?"
    r"|contribute[sd]?|(?:came|comes?|coming|derived|generated|earned|attributable|attributed)(?=\s+(?:from|to|by|in)\b)"
    r"|brought\s+in)",
    re.I,
)
_AUXILIARY = re.compile(r"\b(?:did|does)\b", re.I)
_IN_PERCENT = re.compile(r",?\s*\b(?:in|as\s+an?)\s+(?:percent(?:age)?(?:\s+terms)?|%)(?!\s*points?)(?!\w)", re.I)
_TOTAL = re.compile(r"\b(?:total|consolidated|overall|companywide|company-wide)\b", re.I)
_OF_THE_TOTAL = re.compile(
    r"\s*(?:the\s+|its\s+)?(?:[A-Z][\w.&-]*(?:['’]s?)?\s+){0,4}(?:the\s+)?(?:company(?:['’]s)?\s+)?total"
    r"(?=\s*(?:[?.,]|$|\b(?:in|for|during)\b|(?:FY|fiscal)?\s*\d))"
)
"""`AWS operating income as a percentage of Amazon's total`: of the same figure of the whole company."""
_THE_WHOLE = re.compile(rf"{_TOTAL.pattern}|\b(?:the company|the whole)\b", re.I)


_CONTRIBUTED = re.compile(
    r"\b(how\s+much)\s+(?:did|does)(.*?)\b(?:contribute|add|bring\s+in)\s+(?:to|in)\b", re.I | re.S
)


def contribution_as_amount(text: str) -> str:
    """`How much did Marine contribute to X's revenue` as `How much was Marine X's revenue`."""
    return _CONTRIBUTED.sub(r"\1 was\2", text)


def _asked_plainly(text: str, cue: re.Match[str], kept: str) -> str:
    """`What percentage of X's revenue came from Marine` as `What was X's revenue from Marine`."""
    asks = cue.groupdict().get("asks")
    plain = text[: cue.start()] + (" what was " if asks else f" {kept} ") + text[cue.end() :]
    plain = _IN_PERCENT.sub(" ", _MADE_UP.sub(" ", plain))
    return _AUXILIARY.sub(" ", plain) if asks else plain
