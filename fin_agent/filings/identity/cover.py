"""Read the cover of a filing: form, registrant, numbers, ticker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import NamedTuple

from fin_agent.vocabulary.dates import PrintedDate, printed_dates
from fin_agent.vocabulary.identity import FieldSource, Form, Origin
from fin_agent.vocabulary.page import PageContent


def reading(
    field: str, value: str | int | date | Form, kind: Kind, printed: str = "", page: int | None = None
) -> FieldSource:
    """Return a reading of `field`; `printed` are the words it was read from, `page` is their page (0-based)."""
    words = " ".join(printed.split())
    text = value.isoformat() if isinstance(value, date) else str(value)
    return FieldSource(field, text, kind.origin, words[:_MAX_LENGTH], kind.confidence, page)


_MAX_LENGTH = 200


class Kind(NamedTuple):
    """A kind of reading: its source, and how much it is trusted.

    Confidences are estimates that weight the votes of readings, not measured error rates. Known weaknesses lower a
    kind: hand-typed foci rank below the calendar's usual name, counted words below sentences.
    """

    origin: Origin
    confidence: float


TAG = Kind(Origin.DEI, 0.99)  # a `dei:` tag that repeats the cover
FOCUS = Kind(Origin.DEI, 0.96)  # typed by hand, and sometimes left over from the previous report
COVER = Kind(Origin.COVER, 0.99)  # text next to its caption on a form cover
COVER_PLACE = Kind(Origin.COVER, 0.96)  # text in its usual position on the cover, without a caption
REPORT_DATE = Kind(Origin.COVER, 0.85)  # `Date of report`, where it differs from the day of the event
TITLE = Kind(Origin.TITLE, 0.98)  # the title of a release: `Harbor Announces Third Quarter Fiscal 2023 Results`
DATELINE = Kind(Origin.TITLE, 0.9)  # the first date of a release that does not end a period
SIGNATURE = Kind(Origin.SIGNATURE, 0.98)  # name and date next to the registrant's signature
SENTENCE = Kind(Origin.TEXT, 0.98)  # `fiscal 2022, which ended January 28, 2023`, `(NYSE: HTW)`
COUNTED = Kind(Origin.TEXT, 0.93)  # the most frequent value in the text
FROM_YEAR_END = Kind(Origin.DERIVED, 0.96)  # computed from the last year end that the text prints
FROM_LENGTH = Kind(Origin.DERIVED, 0.95)  # computed from the longest span reported: `nine months ended`
FROM_FIGURES = Kind(Origin.DERIVED, 0.92)  # the day on which most tagged figures end
FROM_END = Kind(Origin.DERIVED, 0.97)  # conclusions from the period's end, such as the usual name of the year
FROM_CONTENT = Kind(Origin.DERIVED, 0.9)  # the kind of a document without a form cover
ASSUMED = Kind(Origin.DERIVED, 0.7)  # a calendar year, in the absence of other evidence
FROM_WINTER_END = {month: Kind(Origin.DERIVED, trust) for month, trust in ((1, 0.75), (2, 0.6), (3, 0.85))}
"""By month, the usual name of a year that ends in winter, where filers differ."""


class PlainPage(NamedTuple):
    """The normalized text of a page, with its number (0-based)."""

    number: int
    text: str


def plain_pages(pages: Iterable[PageContent]) -> Iterator[PlainPage]:
    """Yield the normalized texts of pages, in order."""
    return (PlainPage(page.number, normalize_print(page.text)) for page in pages)


_CHARACTERS = (
    ("\u00a0", " "), ("\u2007", " "), ("\u2009", " "), ("\u202f", " "), ("\u200b", ""), ("\ufeff", ""), ("\u00ad", ""),
    ("\r", "\n"), ("\u2010", "-"), ("\u2011", "-"), ("\u2012", "-"), ("ﬁ", "fi"), ("ﬂ", "fl"),
)  # fmt: skip


def normalize_print(text: str) -> str:
    """Return text with ordinary spaces and hyphens and without zero-width marks; line breaks are kept."""
    if not text.isascii():
        # A dozen `replace` are ten times faster than one `translate`.
        for printed, plain in _CHARACTERS:
            text = text.replace(printed, plain)
    return text


def numbers_on_cover(text: str, page: int) -> Iterator[FieldSource]:
    """Yield readings of `file_number` and `employer_id`, where printed."""
    captioned = _AFTER_FILE.search(text)
    found = captioned or _ANY_NUMBER.search(text)
    if found is not None:
        kind = COVER if captioned else COVER_PLACE
        yield reading("file_number", _file_number(found), kind, found.group(), page)
    found = _EMPLOYER_ID.search(text)
    if found is not None and found[2].strip("0"):
        yield reading("employer_id", f"{found[1]}-{found[2]}", COVER, found.group(), page)


def plain_file_number(printed: str) -> str | None:
    """Return `1-1183` for `001-01183`; None for text that is not a commission file number."""
    found = re.search(_NUMBER, printed)
    return _file_number(found) if found else None


def plain_employer_id(printed: str) -> str | None:
    """Return `12-3456789` for the number with or without its hyphen; None for other text or all zeros."""
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


def name_on_cover(text: str, page: int) -> FieldSource | None:
    """Return the name above `(Exact name of registrant ...)`, otherwise the one right below the file number.

    Where a cover has several registrants, it is the first.
    """
    caption = _CAPTION.search(text) or _TRANSLATION.search(text)
    if caption is not None:
        above = text[: caption.start()].split("\n")
        name = (_first_of_several(above) if _SEVERAL.search(caption.group()) else None) or _name_in(above)
        if name is not None:
            return reading("company", name, COVER, f"{name} {caption.group()}", page)
        # A cover laid out as a table has its captions in one row and the registrants in the rows below.
        below = text[caption.end() :].split("\n", _CAPTIONS_OF_A_ROW)[:_CAPTIONS_OF_A_ROW]
        name = next((printed_name(line) for line in below if is_full_name(printed_name(line))), None)
        if name is not None:
            return reading("company", name, COVER_PLACE, f"{caption.group()} {name}", page)
    for number in _NUMBER_LINE.finditer(text):
        for line in text[number.end() :].split("\n", 6)[:6]:
            name = printed_name(line)
            if not name:
                continue
            if _LEGAL_ENDING.search(name) and not _NOT_A_NAME.search(line) and not _CAPTION.search(line):
                return reading("company", name, COVER_PLACE, f"{number.group()} {name}", page)
            break
    return None


_CAPTIONS_OF_A_ROW = 24
"""Number of lines that such a row of captions takes."""
_CAPTION = re.compile(
    r"\b(?:exact\s+)?names?\s+of\s+(?:the\s+)?(?:registrants?|issuers?|company)(?:\(s\))?(?:,)?\s+(?:as\s+)?(?:it\s+appears|specified)",
    re.IGNORECASE,
)
_ONLY_CAPTION = re.compile(r"(?:(?:commission|file|numbers?|exact|names?|of|registrants?)\W*)+", re.IGNORECASE)
_TRANSLATION = re.compile(r"\btranslation\s+of\s+(?:the\s+)?registrant[’']?s\s+name", re.IGNORECASE)
"""The only caption on some covers of foreign filers."""
_NOT_A_NAME = re.compile(
    r"commission\s+file|file\s+n(?:umber|o)|^\W*n(?:umber|os?)\b\W*[\dO]{1,3}-\d|transition\s+period|(?:year|period|quarter)\s+ended|date\s+of\s+(?:earliest|report)"
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
    """Return whether a line is a company's name with its legal form."""
    return len(name) <= 90 and _LEGAL_ENDING.search(name) is not None and not _NOT_A_NAME.search(name)


def printed_name(line: str) -> str:
    """Return a name without printing artifacts: rules, footnote marks, `Inc .`."""
    name = re.sub(r"\s+", " ", line.strip(" _*†‡•|\t\r\ufeff\u200b()")).strip()
    return re.sub(r" (?=[.,](?:\s|$))", "", name)


_SEVERAL = re.compile(r"\b(?:names|registrants|issuers)\b", re.IGNORECASE)


def _first_of_several(above: Sequence[str]) -> str | None:
    """Return the topmost of the full names right above a caption for several registrants."""
    first = None
    for line in reversed(above[-8:]):
        name = printed_name(line)
        if name and not is_full_name(name):
            break
        first = name or first
    return first


def _name_in(above: list[str]) -> str | None:
    """Join the lines of a name that ends on the last of the lines `above` its caption."""
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
    name = " ".join(lines)
    return None if _ONLY_CAPTION.fullmatch(name) else name or None


def _is_complete_above(upper: str, lower: str) -> bool:
    """Return whether the upper line is a logo or another name rather than the beginning of the lower one."""
    if _LEGAL_ENDING.search(upper) and _LEGAL_ENDING.search(lower) and not upper.endswith((",", "&")):
        return True
    return set(re.findall(r"\w+", upper.lower())) <= set(re.findall(r"\w+", lower.lower()))


LISTED = re.compile(
    r"\(\s*(?:NYSE|NASDAQ|AMEX|TSX|ASX|LSE)[^)]{0,40}[:\s]\s?(?P<ticker>[A-Z]{1,5}(?:\.[A-Z])?)\b[^)]{0,40}\)",
    re.I,
)
"""`(NASDAQ: ULTA)`, as in releases after the company's name."""


def ticker_readings(
    cover: Sequence[PlainPage], pages: Sequence[PlainPage], further: Iterable[PlainPage] = ()
) -> Iterator[FieldSource]:
    """Yield readings of symbols from the cover's table, a release's `(NASDAQ: ULTA)`, or the text of Item 5.

    `further` pages are read only where the first ones have no symbol.
    """
    rows = ((row, page.number) for page in cover if (row := _row_of_table(page.text)))
    listed = ((found, page.number) for page in pages[:3] if (found := LISTED.search(page.text)))
    on_cover, of_release = next(rows, None), next(listed, None)
    if on_cover:
        yield reading("ticker", on_cover[0]["ticker"].replace("/", "."), COVER, on_cover[0].group(), on_cover[1])
    if of_release:
        yield reading("ticker", of_release[0]["ticker"].upper(), SENTENCE, of_release[0].group(), of_release[1])
    for number, text in chain(pages, () if on_cover or of_release else further):
        if found := _SYMBOL_IN_WORDS.search(text):
            yield reading("ticker", found[1], SENTENCE, found.group(), number)
            return


_SHARES = re.compile(
    r"(?:common\s+(?:stock|shares?|units?)|ordinary\s+shares?|american\s+depositary\s+shares|shares\s+of\s+beneficial\s+interest)",
    re.IGNORECASE,
)
_ROW = re.compile(
    r"(?<![\w$.])(?P<ticker>[A-Z]{1,5}(?:[./][A-Z])?)\s+(?:The\s+)?(?:New\s+York|NYSE|NASDAQ|Nasdaq|Cboe|Chicago|NYSE\s+American|London|Tokyo)"
)
_SYMBOL_WORD = re.compile(r"(?<![\w$.])(?P<ticker>[A-Z]{1,5}(?:[./][A-Z])?)(?![\w.])")
_NOT_TICKERS = frozenset(
    ("NYSE", "LLC", "PAR", "THE", "NEW", "YORK", "STOCK", "CLASS", "USD", "NONE", "A", "B", "C", "OF", "AND", "VALUE",
     "INC", "N", "NA", "US")
)  # fmt: skip
_SYMBOL_IN_WORDS = re.compile(
    r"symbols?(?:\s+for\s+[^“\"]{2,40})?\s*(?:is|of|[:,])?\s*[“\"'‘]?\s*([A-Z]{1,5}(?:\.[A-Z])?)\b[,.]?[”\"'’]?"
)


def _row_of_table(text: str) -> re.Match[str] | None:
    heading = re.search(r"(?:trading|ticker)\s+symbol", text, re.IGNORECASE)
    for shares in _SHARES.finditer(text):
        row = _ROW.search(text, shares.end(), shares.end() + 220)
        if row is not None and row["ticker"] not in _NOT_TICKERS:
            return row
    if heading is None:
        return None
    for word in _SYMBOL_WORD.finditer(text, heading.end(), heading.end() + 400):
        if word["ticker"] not in _NOT_TICKERS and len(word["ticker"]) > 1:
            return word
    return None


COVER_WITHIN = 25
"""Number of first pages searched for a cover: annual reports may begin with letters and pictures."""


@dataclass(frozen=True, slots=True)
class Cover:
    """A form cover that was found."""

    position: int
    """Position among the pages given."""
    readings: tuple[FieldSource, ...]
    """Readings of the fields printed there."""


def find_cover(pages: Sequence[PlainPage]) -> Cover | None:
    """Return the first form cover among the first pages, or None."""
    for position, (number, text) in enumerate(pages[:COVER_WITHIN]):
        if len(text) < _MIN_LENGTH or not _COMMISSION.search(text):
            continue
        heading = _HEADING.search(text) or (_FORM_ANYWHERE.search(text) if _PURSUANT.search(text) else None)
        if heading is None or not _COVER_WORDS.search(text) or _SCHEDULE.search(text):
            continue
        form = normalize_form(heading["form"])
        return Cover(position, tuple(_readings(text, number, form, heading)))
    return None


def normalize_form(printed: str) -> Form:
    """Return the form: `10-K405`, `10-KT` and `10-K/A` are Form 10-K; unsupported forms are Form.OTHER."""
    letters = re.sub(r"[^0-9A-Z]", "", printed.upper())
    return next((form for stem, form in _FORMS.items() if letters.startswith(stem)), Form.OTHER)


def _readings(text: str, page: int, form: Form, heading: re.Match[str]) -> Iterator[FieldSource]:
    yield reading("form", form, COVER, heading.group(), page)
    name = name_on_cover(text, page)
    if name is not None:
        yield name
    yield from numbers_on_cover(text, page)
    yield from _event_dates(text, page) if form is Form.EIGHT_K else _period_end(text, page, heading.group())
    amendment = _AMENDMENT.search(text, 0, 3000)
    if heading["amended"] or amendment is not None:
        printed = heading.group() if heading["amended"] or amendment is None else amendment.group()
        yield reading("amended", "true", COVER, printed, page)


_FORMS = {"10K": Form.TEN_K, "10Q": Form.TEN_Q, "8K": Form.EIGHT_K, "20F": Form.TWENTY_F, "ARS": Form.ANNUAL_REPORT}
_MIN_LENGTH = 200
_COMMISSION = re.compile(r"SECURITIES\s+AND\s+EXCHANGE\s+COMMISSION", re.IGNORECASE)
_FORM_NAME = (
    r"form\s*:?\s*(?P<form>10\s?-?\s?K|10\s?-?\s?Q|8\s?-?\s?K|20\s?-?\s?F|6\s?-?\s?K|40\s?-?\s?F|11\s?-?\s?K|S-\d+|F-\d+)"
    r"(?:\s?(?:405|SB|T))?(?P<amended>\s?/\s?A)?(?![\w-])"
)
_HEADING = re.compile(rf"^(?:[^\w\n]|_){{0,80}}{_FORM_NAME}[^\n]{{0,20}}$", re.IGNORECASE | re.MULTILINE)
_FORM_ANYWHERE = re.compile(rf"\b{_FORM_NAME}", re.IGNORECASE)
_COVER_WORDS = re.compile(
    r"exact\s+name\s+of|commission\s+file|(?:annual|quarterly|current|transition)\s+report\s+pursuant", re.IGNORECASE
)
_PURSUANT = re.compile(r"(?:annual|quarterly|current|transition)\s+report\s+pursuant", re.IGNORECASE)
_SCHEDULE = re.compile(r"^[^\w\n]{0,40}schedule\s+(?:14[AC]|TO|13[DG])\b", re.IGNORECASE | re.MULTILINE)
_AMENDMENT = re.compile(r"^[^\w\n]{0,20}amendment\s+no\.?\s*\d+\W{0,5}$", re.IGNORECASE | re.MULTILINE)
"""On its own line, because an 8-K mentions amendments to other documents."""

_ENDED = re.compile(
    r"\b(?:fiscal\s+year|quarterly\s+period|transition\s+period|year|quarter|period|(?:\d\d|weeks))\s+end(?:ed|ing)\s*:?\s*(?:on\s+)?",
    re.IGNORECASE,
)
_TRANSITION = re.compile(r"\btransition\s+period\s+(?:from|beginning)\b", re.IGNORECASE)
_TRANSITION_CHECKED = re.compile(r"[☒☑⌧✓✔þýX]\W{0,6}transition\s+report", re.IGNORECASE)


def _period_end(text: str, page: int, heading: str) -> Iterator[FieldSource]:
    """Yield the last day of the year or quarter, or of the transition period on the cover of a transition report."""
    end = _first_end(text)
    if end is None or _TRANSITION_CHECKED.search(text) or re.search(r"[KQ]T\b", heading, re.IGNORECASE):
        end = _transition(text) or end
    if end is not None:
        start, last = end
        yield reading("period_end", last.date, COVER, text[start : last.end], page)


def _first_end(text: str) -> tuple[int, PrintedDate] | None:
    for found in _ENDED.finditer(text):
        dates = printed_dates(text, found.end(), min(len(text), found.end() + 60))
        if dates:
            return found.start(), dates[0]
    return None


def _transition(text: str) -> tuple[int, PrintedDate] | None:
    """Return the last day of `transition period from July 1, 2022 to December 31, 2022`; None where it is blank."""
    for found in _TRANSITION.finditer(text):
        dates = printed_dates(text, found.end(), min(len(text), found.end() + 90))
        if len(dates) >= 2 and dates[0].date < dates[1].date:
            return found.start(), dates[1]
    return None


_EVENT = re.compile(r"date\s+of\s+earliest\s+event\s+reported\W*", re.IGNORECASE)
_REPORT_DATE = re.compile(r"date\s+of\s+report\W*", re.IGNORECASE)


def _event_dates(text: str, page: int) -> Iterator[FieldSource]:
    """Yield the earliest event of an 8-K, and the report's date if it differs: `July 1, 2022 (June 30, 2022)`."""
    found = _EVENT.search(text) or _REPORT_DATE.search(text)
    if found is None:
        return
    after = printed_dates(text, found.end(), min(len(text), found.end() + 70))
    before = printed_dates(text, max(0, found.start() - 90), found.start())
    near = after or before[-2:]
    if not near:
        return
    printed = text[min(near[0].start, found.start()) : max(near[-1].end, found.end())]
    yield reading("period_end", min(one.date for one in near), COVER, printed, page)
    if near[0].date != min(one.date for one in near):
        yield reading("filed", near[0].date, REPORT_DATE, printed, page)
