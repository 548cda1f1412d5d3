"""The securities that a cover page registers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.words import finds
from fin_agent.vocabulary.identity import Form

_LISTS = "cover_words"
_BLOCK = re.compile(
    r"securities\s+registered\s+pursuant\s+to\s+section\s+12\(b\)([^\n]*)\n(.*?)"
    r"securities\s+registered\s+pursuant\s+to\s+section\s+12\(g\)",
    re.I | re.S,
)
_LONGEST_SYMBOL = 8
_MOST_LISTED, _COVERS = 60, 2


def registered_securities(
    intent: Intent, evidence: Sequence[Evidence], index: FilingIndex, filings: Sequence[str]
) -> Reasoning | None:
    """Return the listed securities, if the question asks for them; if it asks for debt, that of them or that none is.

    A list that continues elsewhere is not used.
    """
    if not (finds(intent.core, "securities", _LISTS) and finds(intent.core, "exchange asked", _LISTS)):
        return None
    of_debt = finds(intent.core, "debt asked", _LISTS)
    for doc_id, page, text in _texts(intent, evidence, index, filings):
        block = _BLOCK.search(text)
        listed = list(_listed(block[2])) if block and "continued" not in block[1].lower() else []
        debt = [each for each in listed if finds(each, "debt", _LISTS)] if of_debt else []
        taken = debt or listed
        if taken and len(taken) <= _MOST_LISTED:
            rows = "; ".join(taken)
            told = f"None: the cover page lists only {rows}." if of_debt and not debt else f"{rows}."
            cited = tuple(Citation(doc_id=doc_id, page=page, text=each) for each in taken)
            return Reasoning(text=told, citations=cited, read=(PageKey(doc_id, page),))
    return None


def _texts(
    intent: Intent, evidence: Sequence[Evidence], index: FilingIndex, filings: Sequence[str]
) -> Iterator[tuple[str, int, str]]:
    """Yield (filing, page, text) of the evidence of the years asked about, and of the first pages of annual reports."""
    years = {period.fiscal_year for period in intent.periods}
    for kept in evidence:
        if not years or kept.card is None or kept.card.identity.fiscal_year in {None, *years}:
            yield kept.passage.doc_id, kept.passage.page, kept.passage.text
    annual = [doc_id for doc_id in filings if index.filing(doc_id).identity.form is Form.TEN_K][:_COVERS]
    for stored in index.pages([PageKey(doc_id, number) for doc_id in annual for number in range(_COVERS)]):
        yield stored.doc_id, stored.page.number, stored.page.text


def _listed(block: str) -> Iterator[str]:
    """Yield titles with symbol and exchange: `Common Stock (GIS), New York Stock Exchange`."""
    title, symbol = "", ""
    for line in (line.strip() for line in block.split("\n")):
        if not any(map(str.isalnum, line)) or finds(line, "heads", _LISTS):
            continue
        if finds(line, "exchanges", _LISTS):
            if title:
                yield f"{title}{f' ({symbol})' if symbol else ''}, {line.strip(' *')}"
            title, symbol = "", ""
        elif title and not symbol and _is_symbol(line):
            symbol = line
        elif not line.startswith("("):
            title = f"{title} {line}".strip()


def _is_symbol(line: str) -> bool:
    letters = line.replace(".", "").replace("/", "")
    upper = letters[:-1].upper() == letters[:-1]
    return len(line) <= _LONGEST_SYMBOL and letters.isalnum() and line[0].isupper() and upper
