"""Where a company has its headquarters: the address of its principal executive offices, on the cover of its filings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.scoring import Sought
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.terms import stems_of
from fin_agent.vocabulary.page import Page

_ASKED = re.compile(
    r"\bhead-?quarter\w*|\bhead office\b|\bprincipal (?:executive )?offices?\b|\bexecutive offices\b"
    r"|^\W*where\s+(?:is|was)\b.{0,60}\bbased\W*$",
    re.I,
)
_WHERE = re.compile(
    r"\bwhere\b|\baddress\b|\blocat\w+|\bheadquarters\W*$|\b(?:which|what)\s+(?:city|state|country)\b", re.I
)
_SAYS_NO_MORE = frozenset(
    stems_of(
        "headquartered headquarters headquarter head office offices principal executive address located location based"
        " base city state country corporate company global world worldwide main currently"
    )
)
_CAPTION = re.compile(r"\(?\s*address\b.{0,12}\bprincipal\s+executive\s+offices?\b", re.I)
_OVER_IT = re.compile(r"\)|\bidentification\b|\bincorporation\b|\bcharter\b|\d\d-\d{7}|\bfile n|^_+$", re.I)
"""What stands over the address."""
_MOST_LINES = 4
_POSTCODE = re.compile(r"\b\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d{1,2}[A-Z]? ?\d[A-Z]{2}\b|\b[A-Z]\d{1,2} ?[A-Z0-9]{4}\b")
_COVERS = 2
_LONGEST = 120


def principal_offices(sought: Sought, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning | None:
    """The address as the cover prints it, of the year asked about or the latest; None where more is asked.

    None too where several companies' filings are found and none is asked for by name.
    """
    core = sought.intent.core
    if not (_ASKED.search(core) and _WHERE.search(core)) or not set(sought.telling.own) <= _SAYS_NO_MORE:
        return None
    years = {period.fiscal_year for period in sought.intent.periods}
    cards = [kept.card.identity for kept in evidence if kept.card]
    if len({card.company for card in cards}) != 1:
        return None
    dated = {kept.passage.doc_id: kept.card.identity.fiscal_year or 0 for kept in evidence if kept.card}
    for doc_id in sorted(dated, key=lambda doc_id: (dated[doc_id] not in years, -dated[doc_id], doc_id)):
        for stored in index.pages([PageKey(doc_id, number) for number in range(_COVERS)]):
            address = address_on(stored.page)
            if address:
                text = f"Principal executive offices: {address}."
                cited = Citation(doc_id=doc_id, page=stored.page.number, text=address)
                return Reasoning(text=text, citations=(cited,), read=(stored.key,))
    return None


def address_on(cover: Page) -> str:
    """The lines over `(Address of principal executive offices)`; empty where they are no whole address."""
    lines = [" ".join(line.split()) for line in cover.text.split("\n")]
    lines = [line for line in lines if re.search(r"\w", line)]
    caption = next((number for number, line in enumerate(lines) if _CAPTION.search(line)), 0)
    over: list[str] = []
    for line in reversed(lines[max(0, caption - _MOST_LINES) : caption]):
        if _OVER_IT.search(line):
            break
        over.insert(0, line)
    address = " ".join(
        line if line.endswith(",") or place == len(over) - 1 else f"{line}," for place, line in enumerate(over)
    )
    address = re.sub(r",\s+(?=(?:[A-Z]{2},? )?\d{5}(?:-\d{4})?$)", " ", address)
    whole = _POSTCODE.search(address) and re.search(r"[a-z]{3}", address) and len(address) <= _LONGEST
    return address if whole else ""
