"""Words around a metric's name that make it something else: a part of the company, or a longer name's end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention
from fin_agent.lexicon.words import word_lists
from fin_agent.vocabulary.page import Statement

_PLACE = re.compile(
    r"\s+(?:(?:that (?:was|were) |that )?(?:generated|earned|made|derived|recorded|recognized|came|comes?)\s+)?"
    r"(?:from|in|of|within|by|outside)\s+(?:the\s+|its\s+)?([A-Z][\w.-]*|segment|region|geograph\w+|product)"
)
_NO_PLACE = re.compile(
    r"(?:FY|Q[1-4]|USD|US\$|Form|Item|Note|Part|GAAP|IFRS|Millions?|Thousands?|Billions?|Total|Fiscal|Year|The)\b|(?:FY|US\$)"
)
_EXCLUDING = re.compile(
    r"\b(?:exclud(?:e|es|ed|ing)|except for|adjust(?:ed|ing) for|organic(?:ally)?|constant[- ]currency|pro forma"
    r"|like[- ]for[- ]like)\b",
    re.I,
)
_SHARE_OF_IT = re.compile(
    r"\b(?:as an? (?:%|percent\w*|share|proportion)|divided by|relative to) (?:of )?(?:its |the |total )?$"
)
_EFFECT_ON = re.compile(
    r"(?:\b(?:impacts?|effects?|influence|headwinds?|tailwinds?|bearing)\b[^,;:?()]*\b(?:on|to)"
    r"|\bhow\b[^,;:?()]*\b(?:affect|impact|influence|hurt)(?:ed|s)?)\s+(?:(?:its|the|total|net|reported|consolidated)\s+)*$",
)
"""`the exchange rate impact on revenue`, `how did exchange rates affect revenue`."""
_MATURING = re.compile(r"maturit(?:y|ies)\b", re.I)
_REPAID = re.compile(r"\b(?:repa\w+|paid|payments?|cash\s+flows?|financing|redeem\w*|retire\w*)\b", re.I)
_CAUSING = re.compile(r"dr(?:iv|ov)\w+|caus\w+|explain\w*|affect\w*|influenc\w+|impact\w*|contribut\w+|behind")
"""`what drove revenue` asks about all of revenue."""
_CLAUSE_END = re.compile(
    r",(?!\s*(?:(?:broken|split|listed)\s+(?:down\s+|out\s+)?)?(?:by|per|across|for\s+each)\b)|[;:?!()]|\.\s|\.$|\s[-–—]\s|\b(?:and|but)\s+(?=(?:what|how|which|who|why|did|was|were|is|are)\b)",
    re.I,
)
_OPENING = re.compile(r"^\s*(?:for|in|by|across|within|among|at|per|of)\b[^,?]*,", re.I)
_FOLLOWING = re.compile(r"\s*,?\s*([A-Za-z][A-Za-z-]*)")
_GOES_ON = re.compile(
    r"(?:[—–]\s*(?!(?:basic|diluted|net|end|beginning|at)\b)[a-z]"
    r"|,?\s*(?:and|&)\s+(?:other|related|similar|certain|obligations|incentives)\b)",
    re.I,
)
"""`Cost of sales—online`, `Accounts payable and other liabilities`."""
_WITHIN = re.compile(
    r"\b(?:included|includes|reclassified|recognized|recognised|charged|credited|deducted|offset)\s+(?:in|to|into|from|against|within)\s+"
    r"(?:its\s+|the\s+|total\s+|net\s+)*$",
    re.I,
)
"""`the gains included in net income`."""
_VERBS = frozenset(("gain", "gains", "loss"))
"""`how much did its margin gain`: no gain or loss is part of a ratio's name."""
_CASH_BALANCE = "cash_and_cash_equivalents"
_CASH_THAT_MOVED = re.compile(
    r"\s+(?:from\b(?=\s+(?!to\b|through\b|until\b)[a-z])|(?:used|spent|paid|raised|received|returned|collected|burned|outlays?|inflows?)\b)",
    re.I,
)
"""`cash from selling bonds` is no balance; cash from one year to another, which is blanked here, is."""
_WORD = re.compile(r"[A-Za-z][A-Za-z&-]*")
_YEARS = re.compile(
    r"(?:fy)?\d{2,4}|fy\d*q?\d*|(?:\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)-?(?:years?|yrs?)"
)


def is_narrowed(text: str, mention: Mention, lexicon: Lexicon) -> bool:
    """Whether other words make the metric that of a part: `iPhone revenue`, `core EPS`, `net sales in North America`.

    Also where only what a share is taken of is known (`wages expense as a percent of net sales`), and where the
    metric's name is the end or the beginning of a longer one (`proceeds from debt`, `income taxes payable`).
    """
    if _EXCLUDING.search(text[: mention.start] + " " + text[mention.end :]):
        return True
    before = text[: mention.start].lower()
    if _EFFECT_ON.search(before):
        return True
    if _SHARE_OF_IT.search(before) or _is_qualified(before) or _is_of_longer_name(text, mention, lexicon):
        return True
    place = _PLACE.match(text[mention.end :])
    if place is None or _NO_PLACE.match(place.group(1)):
        return False
    following = _FOLLOWING.match(text[mention.end + place.end() :])
    return following is None or following.group(1).lower() not in word_lists("narrowing_words")["sources"]


def _is_qualified(before: str) -> bool:
    """Whether a word of the same noun phrase before the name is none that leaves it the whole company's."""
    words = word_lists("question_words")
    for word in reversed(re.findall(r"[\w%$&.-]+", re.split(r"[,;:(?]", before)[-1])):
        word = word.strip(".")
        if word in words["boundary"] or _CAUSING.fullmatch(word):
            return False
        if word and word not in words["neutral"] and not _YEARS.fullmatch(word):
            return True
    return False


def _is_of_longer_name(text: str, mention: Mention, lexicon: Lexicon) -> bool:
    """Whether what is named is what was done to the metric, or something that only begins with its name."""
    words = word_lists("narrowing_words")
    after, before = text[mention.end :], text[: mention.start]
    following = _FOLLOWING.match(after)
    follower = following.group(1).lower() if following else ""
    own = follower in mention.id.split("_") or (mention.kind == "formula" and follower in _VERBS)
    if (follower in words["followers"] and not own) or _GOES_ON.match(after):
        return True
    if _WITHIN.search(before):
        return True
    metric = lexicon.metrics.get(mention.id)
    if metric is not None and metric.statement is Statement.CASH_FLOW:
        return False  # `payments of dividends` are the dividends paid
    if mention.kind == "metric" and metric is not None and metric.period == "instant":
        outside = {word.lower() for part in _clause(text, mention) for word in _WORD.findall(part)}
        if outside & words["done"]:
            return True
    left = [word.lower() for word in reversed(_WORD.findall(_clause(text, mention)[0]))]
    unsaid = word_lists("question_words")["neutral"] | {"the", "its", "their", "our", "a", "an"}
    place = next((place for place, word in enumerate(left) if word not in unsaid), len(left))
    return place + 1 < len(left) and left[place] in words["ties"] and left[place + 1] in words["doings"]


def falls_due(text: str, phrase: str) -> bool:
    """Whether `phrase` asks about debt by when it falls due (`maturities of long-term debt`), not what was paid."""
    return _MATURING.match(phrase) is not None and _REPAID.search(text) is None


def is_by_part(text: str, mention: Mention, mentions: Sequence[Mention]) -> bool:
    """Whether the metric is asked of parts of the company: `by region`, `of its segments`, `which division's`.

    A part's word inside the name of a metric is none: `cost of products sold`.
    """
    left, right = _clause(text, mention)
    start = mention.start - len(left)
    spans = [(start, mention.end + len(right))]
    opening = _OPENING.match(text)
    if opening is not None and opening.end() <= start:
        spans.append(opening.span())
    named = [(one.start, one.end) for one in mentions]
    return any(
        _names_part(text, place, found)
        for begin, end in spans
        for found in [list(_WORD.finditer(text, begin, end))]
        for place, word in enumerate(found)
        if not any(first <= word.start() < last for first, last in named)
    )


def _names_part(text: str, place: int, found: Sequence[re.Match[str]]) -> bool:
    """Whether the word at `place` of `found` names parts of a company as the head of its noun phrase."""
    words = word_lists("narrowing_words")
    word = found[place].group().lower()
    if word not in words["parts"] and word not in words["part"]:
        return False
    before = [one.group().lower() for one in found[max(0, place - 3) : place]]
    if word in ("unit", "units") and not (before and before[-1] in words["kinds of unit"]):
        return False  # `in units of USD`
    end = found[place].end()
    following = found[place + 1].group().lower() if place + 1 < len(found) else ""
    if following in words["sources"] or (following in words["parts"] and text[end : end + 1] == " "):
        return False
    if word in words["parts"] or text[end : end + 1] in ("'", "’"):
        return True
    return bool(before) and (before[-1] in words["asking"] or bool(words["singling"].intersection(before)))


def moves_cash(text: str, mention: Mention) -> bool:
    """Whether cash is said to move: `how much cash did it generate` asks for no balance."""
    if mention.id != _CASH_BALANCE:
        return False
    if _CASH_THAT_MOVED.match(text[mention.end :]):
        return True
    left, right = _clause(text, mention)
    words = {word.lower() for word in _WORD.findall(f"{left} {right}")}
    return bool(words & word_lists("narrowing_words")["cash_moves"])


def _clause(text: str, mention: Mention) -> tuple[str, str]:
    """The words of the mention's clause before and after it."""
    start = max((found.end() for found in _CLAUSE_END.finditer(text, 0, mention.start)), default=0)
    after = _CLAUSE_END.search(text, mention.end)
    return text[start : mention.start], text[mention.end : after.start() if after else len(text)]
