"""Detect what no filing can answer: market prices, amounts in another currency."""

from __future__ import annotations

from fin_agent.lexicon.words import finds, listed


def market_price_requests(core: str) -> tuple[str, ...]:
    """Return descriptions of measures that need a share price, which filings do not state."""
    found = listed("asked_words", "market measure").search(core)
    if found is None or finds(core, "assumed"):
        return ()
    return (f"{' '.join(found.group().split())}: it needs a market price, which filings do not contain",)


def foreign_currency_requests(question: str) -> tuple[str, ...]:
    """Return descriptions of amounts requested in a currency that the filings do not use."""
    for found in listed("currencies", "others").finditer(question):
        if finds(question[: found.start()], "before a currency", "currencies") or found[0] in "€£¥":
            return (f"amounts in {found[0]!r}: figures are given in the currency of the filings",)
    return ()
