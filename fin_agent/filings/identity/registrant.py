"""Who files: the registrant's name where no cover prints it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from fin_agent.filings.identity.cover_name import printed_name
from fin_agent.filings.identity.print_repair import PlainPage
from fin_agent.filings.identity.readings import COUNTED, SENTENCE, reading
from fin_agent.filings.identity.ticker import LISTED
from fin_agent.vocabulary.identity import FieldSource

LEGAL_FORM = (
    r"(?:Inc\.?|INC\.?|Incorporated|INCORPORATED|Corporation|CORPORATION|Corp\.?|CORP\.?|Company|COMPANY|Co\.|plc|PLC|p\.l\.c\."
    r"|Ltd\.?|LTD\.?|Limited|LIMITED|LLC|L\.P\.|N\.V\.|S\.A\.)"
)
_NAME = re.compile(rf"(?<![\w’'.-])((?:(?:[A-Z0-9][\w&.’'-]*|&|of|and),? ){{1,6}}?{LEGAL_FORM})(?![\w’'])")
_OTHERS = re.compile(
    r"KPMG|Deloitte|Pricewaterhouse|Ernst|Young|Grant Thornton|BDO|Computershare|Equiniti|Broadridge|Trust Company"
    r"|Stock Market|American Stock|Bank\b|Nasdaq|Exchange|Securities|Standard & Poor|Moody|Fitch|Goldman|Morgan Stanley"
    r"|Wells Fargo|BUSINESS WIRE|Business Wire|PRNewswire|^The Company$|^THE COMPANY$|^The Group$|^Our |^This "
)
_BEFORE_A_NAME = re.compile(
    r"^(?:(?:of|and|The|In|Of|For|As|And|By|At|To|From|About|Shareholders|Stockholders|Directors)\s+(?:of\s+)?)+"
)
_DEFINES = re.compile(
    r"^\s*,?\s*(?:and\s+(?:its\s+)?(?:consolidated\s+)?subsidiar|\(\s*(?:the\s+)?[“\"](?:the\s+)?(?:Company|Registrant)"
    r"|\([^)]{0,60}(?:“|\")Company|,?\s*an?\s+[A-Z][a-z]+(?: [A-Z][a-z]+)? corporation)",
    re.IGNORECASE,
)


def registrant_in_text(pages: Sequence[PlainPage]) -> FieldSource | None:
    """The company that these pages are of, by how often and in which places it is named; None where none is."""
    for number, text in pages[:3]:
        listed = LISTED.search(text)
        if listed is not None:
            name = _name_before(text, listed.start())
            if name:
                return reading("company", name, SENTENCE, f"{name} {listed.group()}", number)
    weights: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    places: dict[str, tuple[str, int]] = {}
    for number, text in pages:
        for found in _NAME.finditer(text):
            name = printed_name(_BEFORE_A_NAME.sub("", found[1]))
            if not name or " " not in name or _OTHERS.search(name):
                continue
            key = re.sub(r"[\W_]+", " ", name.lower()).strip()
            weights[key] += 6 if _DEFINES.match(text, found.end()) else 1
            spellings.setdefault(key, Counter())[name] += 1
            places.setdefault(key, (text[found.start() : found.end() + 40], number))
    if not weights:
        return None
    best = min(weights, key=lambda key: (-weights[key], key))
    if weights[best] < 2 and len(weights) > 1:
        return None
    name = min(spellings[best], key=lambda name: (name.isupper(), -spellings[best][name], name))
    return reading("company", name, COUNTED, *places[best])


def _name_before(text: str, place: int) -> str | None:
    """The name that ends right before `(NASDAQ: ...)`."""
    words: list[str] = []
    for line in reversed(text[max(0, place - 120) : place].split("\n")):
        of_line = line.split()
        taken = list(takewhile(_NAME_WORD.fullmatch, reversed(of_line)))
        words = [*reversed(taken), *words]
        # A lone `Inc.` at the beginning of a line belongs to the line above.
        if len(taken) < len(of_line) or len(words) > 1:
            break
    words = words[-7:]
    while words and words[0] in ("&", "of", "and", "the"):
        words.pop(0)
    return printed_name(_BEFORE_A_NAME.sub("", " ".join(words))) or None


_NAME_WORD = re.compile(r"[A-Z0-9][\w&.’'-]*[™®]?,?|&|of|and|the")
