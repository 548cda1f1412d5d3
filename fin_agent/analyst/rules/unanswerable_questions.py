"""Detect what no filing can answer: market prices, amounts in another currency."""

from __future__ import annotations

import re


def market_price_requests(core: str) -> tuple[str, ...]:
    """Return descriptions of measures that need a share price, which filings do not state."""
    found = _MARKET_MEASURE.search(core)
    if found is None or _ASSUMED.search(core):
        return ()
    return (f"{' '.join(found.group().split())}: it needs a market price, which filings do not contain",)


_MARKET_MEASURE = re.compile(
    r"\b(?:(?:fcf|free\s+cash\s*flow|dividend|earnings|shareholder|buyback)[- ]yield"
    r"|enterprise\s+value|ev\s*(?:/|to\s)\s*\w+"
    r"|p\s*/\s*(?:e|b|s|fcf)\b|price[- ](?:to[- ](?:earnings|book|sales|cash)|earnings)\b|peg\s+ratio"
    r"|market\s+cap(?:itali[sz]ation)?)",
    re.I,
)
_ASSUMED = re.compile(
    r"\b(?:expected|assum\w*|options?|black[- ]scholes|fair\s+value|weighted|reporting\s+unit)\b", re.I
)


def foreign_currency_requests(question: str) -> tuple[str, ...]:
    """Return descriptions of amounts requested in a currency that the filings do not use."""
    found = _OTHER_CURRENCY.search(question)
    if found is None:
        return ()
    money = found.group("money") or found.group("sign")
    return (f"amounts in {money!r}: figures are given in the currency of the filings",)


_OTHER_CURRENCY = re.compile(
    r"\b(?:in|to|into|of)\s+(?:(?:units|thousands?|millions?|billions?)\s+(?:of\s+)?)?(?:british\s+|japanese\s+|chinese\s+|mexican\s+)?"
    r"(?P<money>euros?|eur|pounds?|gbp|sterling|yen|jpy|yuan|rmb|renminbi|cny|(?:indian\s+)?rupees?|inr|swiss\s+francs?|chf"
    r"|canadian\s+dollars?|cad|australian\s+dollars?|aud|pesos?|won|kron(?:a|or|er)|bitcoins?)\b|(?P<sign>[€£¥])",
    re.I,
)
SPAN_OF_A_YEAR = re.compile(
    r"\b(?:ytd|year[- ]to[- ]date|so far (?:this|in)|half[- ]years?|semi[- ]?annual(?:ly)?"
    r"|(?:first|second|1st|2nd|last|latter)[ -](?:fiscal[ -])?half"
    r"|(?:(?:first|last|past|final|the)\s+)?(?:one|two|four|five|six|seven|eight|nine|ten|eleven|[124-9]|1[01])"
    r"[- ]months?)\b",
    re.I,
)
"""Spans that are neither a year nor a quarter, with or without a year."""
