"""The numbers of a form cover: commission file number, employer identification number, CIK."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fin_agent.filings.identity.readings import COVER, COVER_PLACE, reading
from fin_agent.vocabulary.identity import FieldSource


def numbers_on_cover(text: str, page: int) -> Iterator[FieldSource]:
    """Readings of `file_number`, `employer_id` and `cik`, each where it is printed."""
    captioned = _AFTER_FILE.search(text)
    found = captioned or _ANY_NUMBER.search(text)
    if found is not None:
        kind = COVER if captioned else COVER_PLACE
        yield reading("file_number", _file_number(found), kind, found.group(), page)
    found = _EMPLOYER_ID.search(text)
    if found is not None and found[2].strip("0"):
        yield reading("employer_id", f"{found[1]}-{found[2]}", COVER, found.group(), page)
    found = _CIK.search(text)
    if found is not None and found[1].strip("0"):
        yield reading("cik", found[1].lstrip("0"), COVER, found.group(), page)


def plain_file_number(printed: str) -> str | None:
    """`1-1183` of `001-01183`; None where it is no commission file number."""
    found = re.search(_NUMBER, printed)
    return _file_number(found) if found else None


def plain_employer_id(printed: str) -> str | None:
    """`12-3456789` of the number with or without its hyphen; None where it is none, or all zeros."""
    digits = re.sub(r"\W", "", printed)
    return f"{digits[:2]}-{digits[2:]}" if re.fullmatch(r"\d{9}", digits) and digits.strip("0") else None


def _file_number(found: re.Match[str]) -> str:
    series = found["series"].replace("O", "0").lstrip("0") or "0"
    return f"{series}-{found['number'].lstrip('0') or '0'}{found['sub'] or ''}"


_NUMBER = r"(?P<series>[0O]{0,2}[0-9]{1,3})\s*[-–‐‑]\s*(?P<number>[0-9]{3,6})(?P<sub>-[0-9]{1,2})?(?![0-9-])"
_AFTER_FILE = re.compile(
    rf"commission\s+file\s+n(?:umber|o|os|umbers)?\W{{0,12}}(?:\s|\W){{0,12}}{_NUMBER}", re.IGNORECASE
)
_ANY_NUMBER = re.compile(rf"(?<![\d-])(?=(?:0{{0,2}}[01]|33|333|811|814)\s*[-–‐‑])(?!\d{{2}}-\d{{7}}){_NUMBER}")
_EMPLOYER_ID = re.compile(r"(?<![\d-])(\d{2})\s?[-–‐‑]\s?(\d{7})(?!\d)")
_CIK = re.compile(r"\b(?:CIK|Central\s+Index\s+Key)\W{0,4}(?:n(?:umber|o)\W{0,4})?(\d{4,10})\b", re.IGNORECASE)
