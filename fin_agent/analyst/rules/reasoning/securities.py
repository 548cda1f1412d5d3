"""What a cover page lists as registered: titles, symbols and exchanges of securities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fin_agent.analyst.protocol import Reasoning
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent

_ASKED = re.compile(
    r"\b(?:securit(?:y|ies)|notes|bonds|debentures|(?:classes|class|kinds|types) of (?:stock|shares))\b.*"
    r"\b(?:registered|listed|trade[ds]?|trading)\b|\b(?:registered|listed)\s+(?:debt\s+)?securities\b",
    re.I | re.S,
)
_EXCHANGE_ASKED = re.compile(r"\bexchanges?\b|12\(b\)|\blisted\b", re.I)
_DEBT_ASKED = re.compile(r"\bdebt\b|\bnotes\b|\bbonds\b|\bdebentures\b", re.I)
_DEBT = re.compile(r"\b(?:notes?|bonds?|debentures?|medium[- ]term)\b|%", re.I)
_BLOCK = re.compile(
    r"securities\s+registered\s+pursuant\s+to\s+section\s+12\(b\)([^\n]*)\n(.*?)"
    r"(?:(securities\s+registered\s+pursuant\s+to\s+section\s+12\(g\))|\Z)",
    re.I | re.S,
)
_HEADS = re.compile(
    r"^\W*(?:title\s+of\s+(?:each|all)\s+class\w*|trading\s*symbols?(?:\(s\))?|name\s+of\s+(?:each\s+)?exchange.*|on\s+which\s+registered"
    r"|(?:which\s+)?registered|symbols?(?:\(s\))?|exchange\s+act.*|of\s+the\s+act.*)\W*$",
    re.I,
)
_EXCHANGE = re.compile(r"\b(?:stock exchange|nasdaq|nyse|exchange llc|stock market)\b", re.I)
_SYMBOL = re.compile(r"^[A-Z][A-Z0-9./]{0,6}[a-zA-Z]?$")
_CONTINUED = re.compile(r"continued", re.I)
_MOST = 60


@dataclass(frozen=True, slots=True)
class Listed:
    """A security that a cover lists."""

    title: str
    symbol: str
    exchange: str

    @property
    def text(self) -> str:
        """`Common Stock (GIS), New York Stock Exchange`."""
        return f"{self.title}{f' ({self.symbol})' if self.symbol else ''}, {self.exchange}"


def registered_securities(intent: Intent, evidence: Sequence[Evidence]) -> Reasoning | None:
    """The securities a cover lists; where debt is asked for and none is listed, that only the others are."""
    core = intent.core
    if not (_ASKED.search(core) and _EXCHANGE_ASKED.search(core)):
        return None
    years = {period.fiscal_year for period in intent.periods}
    covers: dict[str, list[tuple[Evidence, re.Match[str]]]] = {}
    for kept in evidence:
        year = kept.card.identity.fiscal_year if kept.card else None
        block = _BLOCK.search(kept.passage.text) if not years or year is None or year in years else None
        if block:
            covers.setdefault(kept.passage.doc_id, []).append((kept, block))
    for blocks in covers.values():
        blocks.sort(key=lambda each: each[0].passage.page)
        if not _CONTINUED.search(blocks[0][1][1]) and blocks[-1][1][3]:
            return _told([(kept, each) for kept, block in blocks for each in _listed(block[2])], core)
    return None


def _told(listed: Sequence[tuple[Evidence, Listed]], core: str) -> Reasoning | None:
    """What is asked for of a list that is whole, from its first line to what is registered otherwise."""
    debt = [pair for pair in listed if _DEBT.search(pair[1].title)]
    of_debt = _DEBT_ASKED.search(core) is not None
    taken = (debt or listed) if of_debt else listed
    if not taken or len(taken) > _MOST:
        return None
    rows = "; ".join(each.text for _, each in taken)
    cited = tuple(
        Citation(doc_id=kept.passage.doc_id, page=kept.passage.page, text=each.text, box=kept.passage.box)
        for kept, each in taken
    )
    none = of_debt and not debt
    return Reasoning(text=f"None: the cover page lists only {rows}." if none else f"{rows}.", citations=cited)


def _listed(block: str) -> Iterator[Listed]:
    """Titles with what follows them up to an exchange."""
    title, symbol = "", ""
    for line in (line.strip() for line in block.split("\n")):
        if not re.search(r"\w", line) or _HEADS.match(line):
            continue
        if _EXCHANGE.search(line):
            if title:
                yield Listed(title, symbol, line.strip(" *"))
            title, symbol = "", ""
        elif title and not symbol and _SYMBOL.match(line):
            symbol = line
        elif not line.startswith("("):
            title = f"{title} {line}".strip()
