"""The registrant's name, and its former one, as a form cover prints them."""

from __future__ import annotations

import re

from fin_agent.filings.identity.readings import COVER, COVER_PLACE, reading
from fin_agent.vocabulary.identity import FieldSource


def name_on_cover(text: str, page: int) -> FieldSource | None:
    """The name printed above `(Exact name of registrant ...)`, else the one right below the file number.

    Of several registrants on one cover it is the first.
    """
    caption = _CAPTION.search(text) or _TRANSLATION.search(text)
    if caption is not None:
        name = _name_in(text[: caption.start()].split("\n"))
        if name is not None:
            return reading("company", name, COVER, f"{name} {caption.group()}", page)
    for number in _NUMBER_LINE.finditer(text):
        for line in text[number.end() :].split("\n", 6)[:6]:
            name = printed_name(line)
            if not name:
                continue
            if _LEGAL_ENDING.search(name) and not _NOT_A_NAME.search(line) and not _CAPTION.search(line):
                return reading("company", name, COVER_PLACE, f"{number.group()} {name}", page)
            break
    return None


def former_name_on_cover(text: str) -> str | None:
    """The name printed above `(Former name or former address, if changed since last report)`."""
    caption = _FORMER_CAPTION.search(text)
    if caption is None:
        return None
    above = [line for line in text[: caption.start()].split("\n")[-8:] if line.strip(" _*\t()")]
    for line in reversed(above[-4:]):
        name = printed_name(line)
        if _LEGAL_ENDING.search(name) and not _NOT_A_NAME.search(line) and not re.match(r"\d", name):
            # `Quay Tools, Inc., 1 Pier Road, Salem` is a name and an address.
            return name
        if re.search(r"\(|telephone|area\s+code|n/a|not\s+applicable", line, re.IGNORECASE):
            break
    return None


_FORMER_CAPTION = re.compile(r"\bformer\s+name,?\s+(?:or\s+)?(?:former\s+)?(?:address|if)", re.IGNORECASE)
_CAPTION = re.compile(
    r"\b(?:exact\s+)?names?\s+of\s+(?:the\s+)?(?:registrants?|issuers?|company)(?:\(s\))?(?:,)?\s+(?:as\s+)?(?:it\s+appears|specified)",
    re.IGNORECASE,
)
_TRANSLATION = re.compile(r"\btranslation\s+of\s+(?:the\s+)?registrant[’']?s\s+name", re.IGNORECASE)
"""Some covers of foreign filers carry this caption alone."""
_NOT_A_NAME = re.compile(
    r"commission\s+file|file\s+n(?:umber|o)|transition\s+period|(?:year|period|quarter)\s+ended|date\s+of\s+(?:earliest|report)"
    r"|securities\s+(?:and|exchange)|exchange\s+act|washington,?\s+d|^\W*form\b|current\s+report|annual\s+report|quarterly\s+report"
    r"|pursuant\s+to|mark\s+one|^of\s+1934|earliest\s+event|amendment\s+no|^\W*(?:or|and|to|from|the)\W*$|^\W*\d[\d\W]*$"
    r"|\.(?:jpe?g|gif|png)\b|^\W*index\W*$|table\s+of\s+contents|i\.?r\.?s\.?\s|^[\dO]{1,3}-\d{3,6}|\blogo\b|\bto\s+\.$"
    r"|\b(?:19|20)\d\d\W*$|reported\)|^\W*(?:graphic|image|picture)\b|(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\s+\d|state\s+or\s+other|(?:of|or)\s+incorporation|incorporation\s+or"
    r"|telephone\s+number|check\s*box|_{3,}|^\W*(?:n/a|not\s+applicable|none)\W*$",
    re.IGNORECASE,
)
_LEGAL_ENDING = re.compile(
    r"\b(?:inc(?:orporated)?|corp(?:oration)?|co(?:mpany|mpanies)?|plc|p\.l\.c|ltd|limited|llc|l\.?p|n\.?v|s\.?a|s\.?p\.?a|se|ag|a/s|asa|ab|oyj|b\.?v|gmbh|trust|group"
    r"|holdings?|bancorp(?:oration)?|partners(?:hip)?)\b\.?\W*$",
    re.IGNORECASE,
)


_NUMBER_LINE = re.compile(
    r"commission\s+file\s+n\w*\.?\s*:?\s*\d{1,3}-\d{3,6}|^[^\S\n]{0,20}\d{1,3}-\d{3,6}[^\S\n]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)


def is_full_name(name: str) -> bool:
    """Whether a line is a company's name with its legal form."""
    return len(name) <= 90 and _LEGAL_ENDING.search(name) is not None and not _NOT_A_NAME.search(name)


def printed_name(line: str) -> str:
    """A name as printed, without the print's accidents: rules, footnote stars, `Inc .`."""
    name = re.sub(r"\s+", " ", line.strip(" _*†‡•|\t\r\ufeff\u200b()")).strip()
    return re.sub(r" (?=[.,](?:\s|$))", "", name)


def _name_in(above: list[str]) -> str | None:
    """Joins the lines of a name that ends at the last of the lines `above` its caption."""
    lines: list[str] = []
    for line in reversed(above[-12:]):
        name = printed_name(line)
        if not re.search(r"[A-Za-z]", name):
            if lines and not name and line.strip():
                break
            continue
        if _NOT_A_NAME.search(line) or len(name) > 90:
            break
        if lines and _is_complete_above(name, lines[0]):
            break
        lines.insert(0, name)
        if len(lines) == 3:
            break
    return " ".join(lines) or None


def _is_complete_above(upper: str, lower: str) -> bool:
    """Whether the upper line is a logo or another name and not the beginning of the lower one."""
    if _LEGAL_ENDING.search(upper) and _LEGAL_ENDING.search(lower) and not upper.endswith((",", "&")):
        return True
    return set(re.findall(r"\w+", upper.lower())) <= set(re.findall(r"\w+", lower.lower()))
