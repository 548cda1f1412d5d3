"""The trading symbol of the common stock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fin_agent.filings.identity.print_repair import PlainPage
from fin_agent.filings.identity.readings import COVER, SENTENCE, reading
from fin_agent.vocabulary.identity import FieldSource

LISTED = re.compile(
    r"\(\s*(?:NYSE|NASDAQ|AMEX|TSX|ASX|LSE)[^)]{0,40}[:\s]\s?(?P<ticker>[A-Z]{1,5}(?:\.[A-Z])?)\b(?P<of_call>)[^)]{0,40}\)",
    re.I,
)
"""`(NASDAQ: ULTA)`, as releases print it behind the company's name."""
_CALLED = re.compile(
    r"\((?P<ticker>[A-Z]{1,5}(?:\.[A-Z])?)\)\s+Q[1-4]\s|^(?P<of_call>[A-Z]{1,5})\.(?:N|OQ?)\s+-\s+Q[1-4]\s",
    re.MULTILINE,
)
"""`Harbor Tool Works (HTW) Q3 2023 Earnings Call`, `HTW.N - Q3 2023 ...`, as calls are headed."""


def ticker_readings(
    cover: Sequence[PlainPage], pages: Sequence[PlainPage], further: Iterable[PlainPage] = ()
) -> Iterator[FieldSource]:
    """Symbols in the cover's table, in a release's `(NASDAQ: ULTA)`, or in Item 5's words.

    `further` pages are read only where the first ones name no symbol.
    """
    named = False
    for page in cover:
        row = _row_of_table(page.text)
        if row is not None:
            named = True
            yield reading("ticker", row["ticker"].replace("/", "."), COVER, row.group(), page.number)
            break
    for page in pages[:3]:
        listed = LISTED.search(page.text) or _CALLED.search(page.text, 0, 1000)
        if listed is not None:
            named = True
            symbol = listed["ticker"] or listed["of_call"]
            yield reading("ticker", symbol.upper(), SENTENCE, listed.group(), page.number)
            break
    words = _in_words(pages) or (None if named else _in_words(further))
    if words is not None:
        yield words


def _in_words(pages: Iterable[PlainPage]) -> FieldSource | None:
    for number, text in pages:
        place = text.find("symbol")
        while place >= 0:
            found = _SYMBOL_IN_WORDS.match(text, place)
            if found is not None:
                return reading("ticker", found[1], SENTENCE, found.group(), number)
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
    ("NYSE", "LLC", "PAR", "THE", "NEW", "YORK", "STOCK", "CLASS", "USD", "NONE", "A", "B", "C", "OF", "AND", "VALUE",
     "INC", "N", "NA", "US")
)  # fmt: skip
_SYMBOL_IN_WORDS = re.compile(
    r"symbols?(?:\s+for\s+[^“\"]{2,40})?\s*(?:is|of|[:,])?\s*[“\"'‘]?\s*([A-Z]{1,5}(?:\.[A-Z])?)\b[,.]?[”\"'’]?"
)


def _row_of_table(text: str) -> re.Match[str] | None:
    heading = re.search(r"(?:trading|ticker)\s+symbol", text, re.IGNORECASE)
    for shares in _SHARES.finditer(text):
        row = _ROW.search(text, shares.end(), shares.end() + 220)
        if row is not None and row["ticker"] not in _NOT_TICKERS:
            return row
    if heading is None:
        return None
    for word in _SYMBOL_WORD.finditer(text, heading.end(), heading.end() + 400):
        if word["ticker"] not in _NOT_TICKERS and len(word["ticker"]) > 1:
            return word
    return None
