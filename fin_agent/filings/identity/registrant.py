"""Who files: the registrant's name where no cover prints it, its other names and its ticker."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile

from fin_agent.filings.identity.cover import printed_name

_LEGAL = (
    r"(?:Inc\.?|INC\.?|Incorporated|INCORPORATED|Corporation|CORPORATION|Corp\.?|CORP\.?|Company|COMPANY|Co\.|plc|PLC|p\.l\.c\."
    r"|Ltd\.?|LTD\.?|Limited|LIMITED|LLC|L\.P\.|N\.V\.|S\.A\.)"
)
_NAME = re.compile(rf"(?<![\w’'.-])((?:(?:[A-Z0-9][\w&.’'-]*|&|of|and),? ){{1,6}}?{_LEGAL})(?![\w’'])")
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
_LISTED = re.compile(
    r"\(\s*(?:NYSE|NASDAQ|AMEX|TSX|ASX|LSE)[^)]{0,40}[:\s]\s?(?P<ticker>[A-Z]{1,5}(?:\.[A-Z])?)\b[^)]{0,40}\)", re.I
)


def registrant_in_text(texts: Sequence[str]) -> str | None:
    """The company that these pages are of, by how often and in which places it is named; None where none is."""
    for text in texts[:3]:
        listed = _LISTED.search(text)
        if listed is not None:
            name = _name_before(text, listed.start())
            if name:
                return name
    weights: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    for text in texts:
        for found in _NAME.finditer(text):
            name = printed_name(_BEFORE_A_NAME.sub("", found[1]))
            if not name or " " not in name or _OTHERS.search(name):
                continue
            key = re.sub(r"[\W_]+", " ", name.lower()).strip()
            weights[key] += 6 if _DEFINES.match(text, found.end()) else 1
            spellings.setdefault(key, Counter())[name] += 1
    if not weights:
        return None
    best = min(weights, key=lambda key: (-weights[key], key))
    if weights[best] < 2 and len(weights) > 1:
        return None
    return min(spellings[best], key=lambda name: (name.isupper(), -spellings[best][name], name))


def other_names(texts: Sequence[str], company: str, short: str | None = None) -> tuple[str, ...]:
    """Former and short names that the pages themselves give: `formerly known as ...`, `(“Square,” the “Company”)`.

    `short` is a name known already, as from a release's title.
    """
    named = _pattern_of(company)
    names = [short] if short else []
    for text in texts:
        for former in _FORMER.finditer(text):
            if former["changed"] or _says_of_itself(text, former, named):
                names.append(former["name"] or former["changed"])
        for terms in _TERMS.finditer(text):
            if _SELF.search(terms.group()):
                names += _QUOTED.findall(terms.group())
        if named is not None:
            for found in named.finditer(text):
                names += _names_in_brackets(text[found.end() : found.end() + 160])
    kept: dict[str, str] = {}
    for name in map(printed_name, names):
        name = name.rstrip(",; ") if _LEGAL_ABBREVIATION.search(name) else name.rstrip(",.; ")
        key = name.casefold()
        if 2 <= len(name) <= 40 and name[0].isupper() and key != company.casefold() and not _GENERIC.search(name):
            kept.setdefault(key, name)
    return tuple(kept.values())


_FORMER = re.compile(
    r"(?:ormerly(?:\s+known\s+as)?|reviously\s+known\s+as|f/k/a|ormer\s+name:?)[,:]?\s+(?:the\s+)?[“\"]?"
    rf"(?P<name>(?:[A-Z][\w&.’'-]*,?\s+){{0,5}}(?:{_LEGAL}|[A-Z][\w&’'-]+))"
    r"|hanged\s+(?:our|its|the\s+Company[’']s)\s+(?:corporate\s+|legal\s+)?name\s+from\s+[“\"]?"
    r"(?P<changed>[A-Z][\w&.,’' -]{2,40}?)[”\"]?\s+to\s"
)
_QUOTED = re.compile(r"[“\"]\s*([^”\"“]{2,40}?)\s*[”\"]")
_TERMS = re.compile(r"[“\"][^”\"“]{2,40}[”\"](?:[\s,]*(?:and/or|and|or)?[\s,]*(?:the\s+)?[“\"][^”\"“]{2,40}[”\"])+")
"""Quoted terms one after another: `“we,” “us,” “our,” “PepsiCo” and the “Company”`."""
_SELF = re.compile(
    r"[“\"]\s*(?:we|us|our|the\s+Company|Company|Registrant|the\s+Registrant)[,.]?\s*[”\"]", re.IGNORECASE
)
_GENERIC = re.compile(
    r"^(?:the\s+)?(?:we|us|our|ours|it|its|company|registrant|corporation|group|parent|issuer|borrower|management"
    r"|guarantors?|commission|sec|exchange act|securities act|common stock|class [ab].*|notes?|board|plan|merger"
    r"|agreement|business|report|act|proxy statement|gaap|fiscal.*|.*quarter|.*year|item.*|part .*|form.*|senior.*"
    r"|trustee|bank|subsidiar(?:y|ies)|(?:ordinary )?shares?|risk factors|n/?a|not applicable|none|former.*|may|should"
    r"|.*\d{4}.*)$",
    re.IGNORECASE,
)
_LEGAL_ABBREVIATION = re.compile(r"\b(?:inc|corp|co|ltd|[A-Z])\.$", re.IGNORECASE)
_BESIDE = re.compile(r"[\s,.]*(?:\([^()]{0,80}\)[\s,]*){0,2}[\s,(]*(?:was\s+)?[FfPp]?")
_BRACKET = re.compile(r"[^“\"(\n]{0,50}?\(([^()]{2,150})\)", re.DOTALL)


def _pattern_of(company: str) -> re.Pattern[str] | None:
    words = re.findall(r"\w+", company)
    return re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE) if words else None


def _says_of_itself(text: str, former: re.Match[str], named: re.Pattern[str] | None) -> bool:
    """Whether a former name is the registrant's and not a subsidiary's."""
    if re.match(r"[\s,]*(?:we|the\s+Company)\b", text[former.end() : former.end() + 20]):
        return True
    if named is None:
        return False
    start = max(0, former.start() - 200)
    return any(
        _BESIDE.fullmatch(text, name.end(), former.start()) for name in named.finditer(text, start, former.start())
    )


def _names_in_brackets(behind: str) -> list[str]:
    """Names in the brackets behind a name: `(“Square,” the “Company”)`, `(Verizon, or the Company)`."""
    opening = _BRACKET.match(behind)
    if opening is None:
        return []
    quoted = _QUOTED.findall(opening[1])
    if quoted or "Company" not in opening[1]:
        return quoted
    return [part for part in re.split(r",\s*|\s+(?:or|and)\s+", opening[1]) if part[:1].isupper()]


def ticker_of(cover_texts: Sequence[str], texts: Sequence[str], further: Iterable[str] = ()) -> str | None:
    """Trading symbol of the common stock, from the cover's table, a release's `(NASDAQ: ULTA)`, or Item 5's words.

    `further` pages are taken only where the first ones name no symbol.
    """
    for text in cover_texts:
        symbol = _symbol_in_table(text)
        if symbol:
            return symbol
    for text in texts[:3]:
        listed = _LISTED.search(text)
        if listed is not None:
            return listed["ticker"].upper()
    for text in (*texts, *further):
        place = text.find("symbol")
        while place >= 0:
            found = _SYMBOL_IN_WORDS.match(text, place)
            if found is not None:
                return found[1]
            place = text.find("symbol", place + 1)
    return None


_SHARES = re.compile(
    r"(?:common\s+(?:stock|shares?|units?)|ordinary\s+shares?|american\s+depositary\s+shares|shares\s+of\s+beneficial\s+interest)",
    re.IGNORECASE,
)
_ROW = re.compile(
    r"(?<![\w$.])(?P<ticker>[A-Z]{1,5}(?:[./][A-Z])?)\s+(?:The\s+)?(?:New\s+York|NYSE|NASDAQ|Nasdaq|Cboe|Chicago|NYSE\s+American|London|Tokyo)"
)
_SYMBOL_WORD = re.compile(r"(?<![\w$.])(?P<ticker>[A-Z]{1,5}(?:[./][A-Z])?)(?![\w.])")
_NOT_TICKERS = frozenset(
    {
        "NYSE",
        "LLC",
        "PAR",
        "THE",
        "NEW",
        "YORK",
        "STOCK",
        "CLASS",
        "USD",
        "NONE",
        "A",
        "B",
        "C",
        "OF",
        "AND",
        "VALUE",
        "INC",
        "N",
        "NA",
        "US",
    }
)
_SYMBOL_IN_WORDS = re.compile(
    r"symbols?(?:\s+for\s+[^“\"]{2,40})?\s*(?:is|of|[:,])?\s*[“\"'‘]?\s*([A-Z]{1,5}(?:\.[A-Z])?)\b[,.]?[”\"'’]?"
)


def _symbol_in_table(text: str) -> str | None:
    heading = re.search(r"(?:trading|ticker)\s+symbol", text, re.IGNORECASE)
    start = heading.end() if heading else 0
    for found in _SHARES.finditer(text):
        window = text[found.end() : found.end() + 220]
        row = _ROW.search(window)
        if row is not None and row["ticker"] not in _NOT_TICKERS:
            return row["ticker"].replace("/", ".")
    if heading is None:
        return None
    for word in _SYMBOL_WORD.finditer(text, start, start + 400):
        if word["ticker"] not in _NOT_TICKERS and len(word["ticker"]) > 1:
            return word["ticker"].replace("/", ".")
    return None


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
