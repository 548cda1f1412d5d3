"""Answers from the cover page: registered securities, and the address of the principal executive offices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.answer_candidates import AnswerTarget
from fin_agent.analyst.rules.reasoning.question_parts import AnswerType
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.words import finds, word_lists
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Page

_LISTS = "cover_words"
_BLOCK = re.compile(
    r"securities\s+registered\s+pursuant\s+to\s+section\s+12\(b\)([^\n]*)\n(.*?)"
    r"(?:(securities\s+registered\s+pursuant\s+to\s+section\s+12\(g\))|\Z)",
    re.I | re.S,
)
_LONGEST_SYMBOL = 8
_BEFORE_POSTCODE = re.compile(r",\s+(?=(?:[A-Z]{2},? )?\d{5}(?:-\d{4})?$)")
_POSTCODE = re.compile(r"\b\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d{1,2}[A-Z]? ?\d[A-Z]{2}\b|\b[A-Z]\d{1,2} ?[A-Z0-9]{4}\b")
_MOST_LISTED, _MOST_LINES, _LONGEST_ADDRESS, _COVERS = 60, 4, 120, 2


def cover_answer(
    target: AnswerTarget, evidence: Sequence[Evidence], index: FilingIndex, filings: Sequence[str]
) -> Reasoning | None:
    """Return the answer from a cover page, if the question asks for its content; else None."""
    core = target.intent.core
    if target.part.answer_type is AnswerType.EXCHANGE or (
        finds(core, "securities", _LISTS) and finds(core, "exchange asked", _LISTS)
    ):
        return _securities(target.intent, evidence, index, filings)
    asks_where = target.part.answer_type is AnswerType.PLACE and finds(core, "offices", _LISTS)
    office_words = word_lists(_LISTS)["of offices"]
    plain = all(word in office_words for term in target.terms for word in term.words.lower().split())
    return _offices(target.intent, evidence, index, filings) if asks_where and plain else None


def _securities(
    intent: Intent, evidence: Sequence[Evidence], index: FilingIndex, filings: Sequence[str]
) -> Reasoning | None:
    """Return the listed securities; if debt is requested and none is listed, that only the others are."""
    texts = [
        (kept.passage.doc_id, kept.passage.page, kept.passage.text)
        for kept in evidence
        if _is_security_kind(kept, intent)
    ]
    annual = [doc_id for doc_id in filings if index.filing(doc_id).identity.form is Form.TEN_K][:_COVERS]
    pages = index.pages([PageKey(doc_id, number) for doc_id in annual for number in range(_COVERS)])
    texts += [(stored.doc_id, stored.page.number, stored.page.text) for stored in pages]
    for doc_id, page, text in texts:
        block = _BLOCK.search(text)
        if block is None or not block[3] or "continued" in block[1].lower():
            continue
        listed = list(_listed(block[2]))
        debt = [each for each in listed if finds(each, "debt", _LISTS)]
        of_debt = finds(intent.core, "debt asked", _LISTS)
        taken = (debt or listed) if of_debt else listed
        if not taken or len(taken) > _MOST_LISTED:
            continue
        rows = "; ".join(taken)
        told = f"None: the cover page lists only {rows}." if of_debt and not debt else f"{rows}."
        cited = tuple(Citation(doc_id=doc_id, page=page, text=each) for each in taken)
        return Reasoning(text=told, citations=cited, read=(PageKey(doc_id, page),))
    return None


def _is_security_kind(kept: Evidence, intent: Intent) -> bool:
    year = kept.card.identity.fiscal_year if kept.card else None
    return not intent.periods or year is None or year in {period.fiscal_year for period in intent.periods}


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


def _offices(
    intent: Intent, evidence: Sequence[Evidence], index: FilingIndex, filings: Sequence[str]
) -> Reasoning | None:
    """Return the address on the cover of the requested or latest year; None for several filers."""
    years = {period.fiscal_year for period in intent.periods}
    cards = {kept.passage.doc_id: kept.card.identity for kept in evidence if kept.card}
    if len({card.company for card in cards.values()}) != 1:
        return None
    order = sorted(
        cards, key=lambda doc_id: (cards[doc_id].fiscal_year not in years, -(cards[doc_id].fiscal_year or 0), doc_id)
    )
    for doc_id in dict.fromkeys([*order, *filings]):
        for stored in index.pages([PageKey(doc_id, number) for number in range(_COVERS)]):
            address = address_on(stored.page)
            if address:
                cited = Citation(doc_id=doc_id, page=stored.page.number, text=address)
                text = f"Principal executive offices: {address}."
                return Reasoning(text=text, citations=(cited,), read=(stored.key,))
    return None


def address_on(cover: Page) -> str:
    """Return the lines above `(Address of principal executive offices)`; empty if they are no complete address."""
    lines = [" ".join(line.split()) for line in cover.text.split("\n")]
    lines = [line for line in lines if any(map(str.isalnum, line))]
    caption = next((number for number, line in enumerate(lines) if finds(line, "caption", _LISTS)), 0)
    over: list[str] = []
    for line in reversed(lines[max(0, caption - _MOST_LINES) : caption]):
        if _is_over_address(line):
            break
        over.insert(0, line)
    address = ", ".join(line.rstrip(",") for line in over)
    address = _BEFORE_POSTCODE.sub(" ", address)
    whole = _POSTCODE.search(address) and any(map(str.islower, address)) and len(address) <= _LONGEST_ADDRESS
    return address if whole else ""


def _is_over_address(line: str) -> bool:
    """Return whether a line is above the address: a bracket, a rule, the state and number of the registrant."""
    numbered = any(len(word) == _ID_LENGTH and word[2] == "-" for word in line.split())
    return ")" in line or not line.strip("_") or numbered or finds(line, "over an address", _LISTS)


_ID_LENGTH = 10
"""Characters of an employer identification number, `12-3456789`."""


def _is_symbol(line: str) -> bool:
    letters = line.replace(".", "").replace("/", "")
    return (
        len(line) <= _LONGEST_SYMBOL
        and letters.isalnum()
        and line[0].isupper()
        and letters[:-1].upper() == letters[:-1]
    )
