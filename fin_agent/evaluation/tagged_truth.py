"""What an inline XBRL file says, read by XPath and with nothing of the engine, so that one checks the other."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path

from lxml import etree


@dataclass(frozen=True, slots=True)
class TrueTag:
    """A visible `ix:nonFraction`."""

    number: int
    """Position among all numeric tags of the file, hidden ones counted."""
    concept: str
    value: Decimal | None
    """Exact; None where nil."""
    start: date | None
    end: date | None
    members: tuple[tuple[str, str], ...]
    deducted: bool
    """Whether it is printed in parentheses or behind a minus sign."""


def visible_tags(path: Path) -> list[TrueTag]:
    """Every visible `ix:nonFraction` of the well-formed inline XBRL file at `path` (also gzipped), in its order."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    root = etree.fromstring(content, etree.XMLParser(huge_tree=True, resolve_entities=False))
    contexts = {str(element.get("id")): element for element in root.iter(f"{_XBRLI}context")}
    found = root.xpath("//ix:nonFraction | //ix:fraction", namespaces={"ix": _IX})
    return [
        _read(number, element, contexts)
        for number, element in enumerate(found)
        if etree.QName(element).localname == "nonFraction" and not element.xpath(_HIDDEN, namespaces={"ix": _IX})
    ]


_IX = "http://www.xbrl.org/2013/inlineXBRL"
_XBRLI = "{http://www.xbrl.org/2003/instance}"
_XBRLDI = "{http://xbrl.org/2006/xbrldi}"
_HIDDEN = "ancestor::ix:header | ancestor::*[contains(translate(@style, ' ', ''), 'display:none')]"
_ZEROS = ("zero", "dash", "nocontent", "empty")
_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_OPEN = re.compile(r"\(\s*\$?\s*$")
_MINUS = re.compile(r"(?:^|\s)[-−–]\s*\$?\s*$")


def _read(number: int, element: etree._Element, contexts: dict[str, etree._Element]) -> TrueTag:
    context = contexts.get(str(element.get("contextRef")))
    start, end = _period(context)
    return TrueTag(
        number,
        str(element.get("name")),
        _value(element),
        start,
        end,
        tuple(sorted(_members(context))),
        _is_deducted(element),
    )


def _value(element: etree._Element) -> Decimal | None:
    if element.get(_NIL) == "true":
        return None
    shape = str(element.get("format") or "").rpartition(":")[2]
    if any(zero in shape for zero in _ZEROS):
        return Decimal(0)
    text = "".join(element.itertext()).replace("\u00a0", "").replace(",", "").replace(" ", "").strip()
    try:
        value = Decimal(_NUMBER_WORDS.get(text.lower(), text))
    except InvalidOperation:
        return None
    value = value.scaleb(int(element.get("scale") or 0))
    return -value if element.get("sign") == "-" else value


_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
} | {"no": "0", "none": "0"}


def _period(context: etree._Element | None) -> tuple[date | None, date | None]:
    if context is None:
        return None, None
    instant = context.find(f".//{_XBRLI}instant")
    if instant is not None:
        return None, _day(instant)
    return _day(context.find(f".//{_XBRLI}startDate")), _day(context.find(f".//{_XBRLI}endDate"))


def _day(element: etree._Element | None) -> date | None:
    if element is None or not element.text:
        return None
    text = element.text.strip()
    day = date.fromisoformat(text[:10])
    return day - timedelta(days=1) if "T00:00:00" in text else day


def _members(context: etree._Element | None) -> Iterator[tuple[str, str]]:
    if context is not None:
        for member in context.iter(f"{_XBRLDI}explicitMember"):
            yield str(member.get("dimension")), (member.text or "").strip()
        for member in context.iter(f"{_XBRLDI}typedMember"):
            yield str(member.get("dimension")), "".join(member.itertext()).strip()


def _is_deducted(element: etree._Element) -> bool:
    """Whether a minus stands before the number or parentheses around it, in its cell or in the cells beside it."""
    before, after = _text_beside(element, preceding=True), _text_beside(element, preceding=False)
    return bool(_MINUS.search(before) or (_OPEN.search(before) and after.startswith(")")))


def _text_beside(element: etree._Element, *, preceding: bool) -> str:
    """The nearest text before or after an element, within its row or paragraph."""
    current = element
    if not preceding and (text := _bare(element.tail)):
        return text
    while True:
        for sibling in current.itersiblings(preceding=preceding):
            own, tail = _bare("".join(sibling.itertext())), _bare(sibling.tail)
            if text := ((tail or own) if preceding else (own or tail)):
                return text
        parent = current.getparent()
        if parent is None or etree.QName(parent).localname in ("tr", "p"):
            return ""
        if text := _bare(parent.text if preceding else parent.tail):
            return text
        current = parent


def _bare(text: str | None) -> str:
    return (text or "").strip("\u00a0 \n\t")
