"""The SEC form cover: which form it is and what its fields say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from fin_agent.filings.filing import Form
from fin_agent.filings.identity.dates import printed_dates
from fin_agent.filings.identity.print_repair import despaced

COVER_WITHIN = 25
"""A cover is looked for on this many pages: annual reports print letters and pictures before it."""


@dataclass(frozen=True, slots=True)
class Cover:
    """A form cover as found; a field that is not printed there is None."""

    page: int
    """Position among the pages given, not the printed number."""
    form: Form
    heading: str
    """As printed: `FORM 10-K`."""
    amended: bool
    text: str
    """Of the cover page, with letter-spaced lines repaired."""
    company: str | None
    file_number: str | None
    employer_id: str | None
    cik: str | None
    period_end: date | None
    period_words: str = ""
    """What the period end was read from."""


def find_cover(texts: Sequence[str]) -> Cover | None:
    """The first form cover among the first pages, or None. `texts` are repaired pages, in order."""
    for position, text in enumerate(texts[:COVER_WITHIN]):
        if len(text) < _SHORTEST or not _COMMISSION.search(text):
            continue
        text = despaced(text)
        heading = _HEADING.search(text) or (_FORM_ANYWHERE.search(text) if _PURSUANT.search(text) else None)
        if heading is None or not _COVER_WORDS.search(text) or _SCHEDULE.search(text):
            continue
        form = _FORMS.get(re.sub(r"[^0-9A-Z]", "", heading["form"].upper()), Form.OTHER)
        period_end, period_words = _event_date(text) if form is Form.EIGHT_K else _period_end(text)
        return Cover(
            page=position,
            form=form,
            heading=" ".join(heading.group().split()),
            amended=bool(heading["amended"]) or _AMENDMENT.search(text, 0, 3000) is not None,
            text=text,
            company=name_on_cover(text),
            file_number=_file_number(text),
            employer_id=_employer_id(text),
            cik=_cik(text),
            period_end=period_end,
            period_words=period_words,
        )
    return None


_SHORTEST = 200
_COMMISSION = re.compile(
    r"SECURITIES\s+AND\s+EXCHANGE\s+COMMISSION|S\s+E\s+C\s+U\s+R\s+I\s+T\s+I\s+E\s+S", re.IGNORECASE
)
_FORM_NAME = (
    r"form\s*:?\s*(?P<form>10\s?-?\s?K|10\s?-?\s?Q|8\s?-?\s?K|20\s?-?\s?F|6\s?-?\s?K|40\s?-?\s?F|11\s?-?\s?K|S-\d+|F-\d+)"
    r"(?:\s?(?:405|SB|T))?(?P<amended>\s?/\s?A)?(?![\w-])"
)
_HEADING = re.compile(rf"^(?:[^\w\n]|_){{0,80}}{_FORM_NAME}[^\n]{{0,20}}$", re.IGNORECASE | re.MULTILINE)
_FORM_ANYWHERE = re.compile(rf"\b{_FORM_NAME}", re.IGNORECASE)
_FORMS = {"10K": Form.TEN_K, "10Q": Form.TEN_Q, "8K": Form.EIGHT_K, "20F": Form.TWENTY_F}
_COVER_WORDS = re.compile(
    r"exact\s+name\s+of|commission\s+file|(?:annual|quarterly|current|transition)\s+report\s+pursuant", re.IGNORECASE
)
_PURSUANT = re.compile(r"(?:annual|quarterly|current|transition)\s+report\s+pursuant", re.IGNORECASE)
_SCHEDULE = re.compile(r"^[^\w\n]{0,40}schedule\s+(?:14[AC]|TO|13[DG])\b", re.IGNORECASE | re.MULTILINE)
_AMENDMENT = re.compile(r"\bamendment\s+no\.?\s*\d", re.IGNORECASE)

_CAPTION = re.compile(
    r"\(?\s*(?:exact\s+)?names?\s+of\s+(?:the\s+)?(?:registrants?|issuers?|company)(?:\(s\))?(?:,)?\s+(?:as\s+)?(?:it\s+appears|specified)",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
    r"commission\s+file|file\s+n(?:umber|o)|transition\s+period|(?:year|period|quarter)\s+ended|date\s+of\s+(?:earliest|report)"
    r"|securities\s+(?:and|exchange)|exchange\s+act|washington,?\s+d|^\W*form\b|current\s+report|annual\s+report|quarterly\s+report"
    r"|pursuant\s+to|mark\s+one|^of\s+1934|earliest\s+event|amendment\s+no|^\W*(?:or|and|to|from|the)\W*$|^\W*\d[\d\W]*$"
    r"|\.(?:jpe?g|gif|png)\b|^\W*index\W*$|table\s+of\s+contents|i\.?r\.?s\.?\s|^[\dO]{1,3}-\d{3,6}|\blogo\b|\bto\s+\.$"
    r"|\b(?:19|20)\d\d\W*$|reported\)|^\W*(?:graphic|image|picture)\b|(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\s+\d|state\s+or\s+other|(?:of|or)\s+incorporation|incorporation\s+or"
    r"|telephone\s+number|check\s*box|_{3,}",
    re.IGNORECASE,
)
_LEGAL_ENDING = re.compile(
    r"\b(?:inc(?:orporated)?|corp(?:oration)?|co(?:mpany|mpanies)?|plc|p\.l\.c|ltd|limited|llc|l\.?p|n\.?v|s\.?a|se|ag|trust|group"
    r"|holdings?|bancorp(?:oration)?|partners(?:hip)?)\b\.?\W*$",
    re.IGNORECASE,
)


def name_on_cover(text: str) -> str | None:
    """The registrant's name as printed above `(Exact name of registrant ...)`, else right below the file number.

    Of several registrants on one cover it is the first.
    """
    caption = _CAPTION.search(text)
    if caption is not None:
        name = _name_in(text[: caption.start()].split("\n"))
        if name is not None:
            return name
    for number in _NUMBER_LINE.finditer(text):
        for line in text[number.end() :].split("\n", 6)[:6]:
            name = printed_name(line)
            if not name:
                continue
            if _LEGAL_ENDING.search(name) and not _NOT_A_NAME.search(line) and not _CAPTION.search(line):
                return name
            break
    return None


_NUMBER_LINE = re.compile(
    r"commission\s+file\s+n\w*\.?\s*:?\s*\d{1,3}-\d{3,6}|^[^\S\n]{0,20}\d{1,3}-\d{3,6}[^\S\n]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)


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


_NUMBER = r"(?P<series>[0O]{0,2}[0-9]{1,3})\s*[-–‐‑]\s*(?P<number>[0-9]{3,6})(?P<sub>-[0-9]{1,2})?(?![0-9-])"
_AFTER_FILE = re.compile(
    rf"commission\s+file\s+n(?:umber|o|os|umbers)?\W{{0,12}}(?:\s|\W){{0,12}}{_NUMBER}", re.IGNORECASE
)
_ANY_NUMBER = re.compile(rf"(?<![\d-])(?=(?:0{{0,2}}[01]|33|333|811|814)\s*[-–‐‑])(?!\d{{2}}-\d{{7}}){_NUMBER}")


def _file_number(text: str) -> str | None:
    found = _AFTER_FILE.search(text) or _ANY_NUMBER.search(text)
    if found is None:
        return None
    series = found["series"].replace("O", "0").lstrip("0") or "0"
    return f"{series}-{found['number'].lstrip('0') or '0'}{found['sub'] or ''}"


def _employer_id(text: str) -> str | None:
    found = re.search(r"(?<![\d-])(\d{2})\s?[-–‐‑]\s?(\d{7})(?!\d)", text)
    return f"{found[1]}-{found[2]}" if found else None


def _cik(text: str) -> str | None:
    found = re.search(
        r"\b(?:CIK|Central\s+Index\s+Key)\W{0,4}(?:n(?:umber|o)\W{0,4})?(\d{4,10})\b", text, re.IGNORECASE
    )
    return found[1].lstrip("0") if found else None


_ENDED = re.compile(
    r"\b(?:fiscal\s+year|quarterly\s+period|transition\s+period|year|quarter|period|(?:\d\d|weeks))\s+end(?:ed|ing)\s*:?\s*(?:on\s+)?",
    re.IGNORECASE,
)


def _period_end(text: str) -> tuple[date | None, str]:
    for found in _ENDED.finditer(text):
        dates = printed_dates(text, found.end(), min(len(text), found.end() + 60))
        if dates:
            return dates[0].date, " ".join(text[found.start() : dates[0].end].split())
    return None, ""


_EVENT = re.compile(r"date\s+of\s+earliest\s+event\s+reported\W*", re.IGNORECASE)
_REPORT_DATE = re.compile(r"date\s+of\s+report\W*", re.IGNORECASE)


def _event_date(text: str) -> tuple[date | None, str]:
    """The earliest event of an 8-K: `July 1, 2022 (June 30, 2022)` is June 30."""
    found = _EVENT.search(text) or _REPORT_DATE.search(text)
    if found is None:
        return None, ""
    after = printed_dates(text, found.end(), min(len(text), found.end() + 70))
    before = printed_dates(text, max(0, found.start() - 90), found.start())
    near = after or before[-2:]
    if not near:
        return None, ""
    return min(one.date for one in near), " ".join(text[near[0].start : near[-1].end].split())
