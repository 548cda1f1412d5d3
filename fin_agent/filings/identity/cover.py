"""Read the cover of a filing (form, registrant, numbers, ticker), and the company's names in text and signature."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from enum import Enum
from itertools import chain, dropwhile, takewhile
from typing import NamedTuple

from fin_agent.lexicon.text_normalization import MAX_LABEL_LENGTH, collapse_spaces
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.dates import PrintedDate, printed_dates
from fin_agent.vocabulary.identity import FieldSource, Form, Origin
from fin_agent.vocabulary.page import PageContent

_PATTERNS = patterns("identity_patterns")


def reading(
    field: str, value: str | int | date | Form, kind: Kind, printed: str = "", page: int | None = None
) -> FieldSource:
    """Return a reading of `field`; `printed` are the words it was read from, `page` is their page (0-based)."""
    words = " ".join(printed.split())
    text = value.isoformat() if isinstance(value, date) else str(value)
    return FieldSource(field, text, kind.origin, words[:_MAX_LENGTH], kind.confidence, page)


_MAX_LENGTH = 200


class Kind(Enum):
    """A kind of reading: its source, and an estimate of how much it is trusted, which weights its vote."""

    TAG = Origin.DEI, 0.99  # a `dei:` tag that repeats the cover
    FOCUS = Origin.DEI, 0.96  # typed by hand, and sometimes left over from the previous report
    COVER = Origin.COVER, 0.99  # text next to its caption on a form cover
    COVER_PLACE = Origin.COVER, 0.96  # text in its usual position on the cover, without a caption
    REPORT_DATE = Origin.COVER, 0.85  # `Date of report`, where it differs from the day of the event
    TITLE = Origin.TITLE, 0.98  # the title of a release: `Harbor Announces Third Quarter Fiscal 2023 Results`
    DATELINE = Origin.TITLE, 0.9  # the first date of a release that does not end a period
    SIGNATURE = Origin.SIGNATURE, 0.98  # name and date next to the registrant's signature
    SENTENCE = Origin.TEXT, 0.98  # `fiscal 2022, which ended January 28, 2023`, `(NYSE: HTW)`
    COUNTED = Origin.TEXT, 0.93  # the most frequent value in the text
    FROM_YEAR_END = Origin.DERIVED, 0.96  # computed from the last year end that the text prints
    FROM_LENGTH = Origin.DERIVED, 0.95  # computed from the longest span reported: `nine months ended`
    FROM_FIGURES = Origin.DERIVED, 0.92  # the day on which most tagged figures end
    FROM_END = Origin.DERIVED, 0.97  # conclusions from the period's end, such as the usual name of the year
    FROM_CONTENT = Origin.DERIVED, 0.9  # the kind of a document without a form cover
    ASSUMED = Origin.DERIVED, 0.7  # a calendar year, in the absence of other evidence
    FROM_TITLE = Origin.DERIVED, 0.98  # the end of the year, by the quarter in a title
    # The usual name of a year that ends in winter, where filers differ, by month.
    FROM_JANUARY = Origin.DERIVED, 0.75
    FROM_FEBRUARY = Origin.DERIVED, 0.6
    FROM_MARCH = Origin.DERIVED, 0.85

    def __init__(self, origin: Origin, confidence: float) -> None:
        self.origin, self.confidence = origin, confidence


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
    captioned = _PATTERNS["captioned file number"].search(text)
    found = captioned or _PATTERNS["bare file number"].search(text)
    if found is not None:
        kind = Kind.COVER if captioned else Kind.COVER_PLACE
        yield reading("file_number", plain_file_number(found.group()) or "", kind, found.group(), page)
    found = _PATTERNS["employer id"].search(text)
    if found is not None and (number := plain_employer_id(found.group())):
        yield reading("employer_id", number, Kind.COVER, found.group(), page)


def plain_file_number(printed: str) -> str | None:
    """Return `1-1183` for `001-01183`; None for text that is not a commission file number."""
    found = _PATTERNS["file number"].search(printed)
    if found is None:
        return None
    series = found["series"].replace("O", "0").lstrip("0") or "0"
    return f"{series}-{found['number'].lstrip('0') or '0'}{found['sub'] or ''}"


def plain_employer_id(printed: str) -> str | None:
    """Return `12-3456789` for the number with or without its hyphen; None for other text or all zeros."""
    digits = re.sub(r"\W", "", printed)
    return f"{digits[:2]}-{digits[2:]}" if re.fullmatch(r"\d{9}", digits) and digits[2:].strip("0") else None


def name_on_cover(text: str, page: int) -> FieldSource | None:
    """Return the name above `(Exact name of registrant ...)`, the first of several, or that below the file number."""
    caption = _PATTERNS["caption of the name"].search(text) or _PATTERNS["caption of a translation"].search(text)
    if caption is not None:
        above = text[: caption.start()].split("\n")
        names = takewhile(is_full_name, filter(None, map(printed_name, reversed(above[-8:]))))
        several = [*names] if _PATTERNS["several registrants"].search(caption.group()) else []
        name = several[-1] if several else _name_in(above)
        if name is not None:
            return reading("company", name, Kind.COVER, f"{name} {caption.group()}", page)
        # A cover laid out as a table has its captions in one row and the registrants in the rows below.
        below = text[caption.end() :].split("\n", _CAPTIONS_OF_A_ROW)[:_CAPTIONS_OF_A_ROW]
        name = next((printed_name(line) for line in below if is_full_name(printed_name(line))), None)
        if name is not None:
            return reading("company", name, Kind.COVER_PLACE, f"{caption.group()} {name}", page)
    for number in _PATTERNS["line of the file number"].finditer(text):
        line = next(filter(printed_name, text[number.end() :].split("\n", 6)[:6]), "")
        if _has_legal_form(name := printed_name(line)) and not _PATTERNS["caption of the name"].search(line):
            return reading("company", name, Kind.COVER_PLACE, f"{number.group()} {name}", page)
    return None


_CAPTIONS_OF_A_ROW = 24
"""Number of lines that such a row of captions takes."""


def is_full_name(name: str) -> bool:
    """Return whether a line is a company's name with its legal form."""
    return len(name) <= 90 and _has_legal_form(name)


def _has_legal_form(line: str) -> bool:
    return _PATTERNS["legal ending"].search(line) is not None and not _PATTERNS["not a name"].search(line)


def printed_name(line: str) -> str:
    """Return a name without printing artifacts: rules, footnote marks, `Inc .`."""
    name = re.sub(r"\s+", " ", line.strip(" _*†‡•|\t\r\ufeff\u200b()")).strip()
    return re.sub(r" (?=[.,](?:\s|$))", "", name)


def _name_in(above: list[str]) -> str | None:
    """Join the lines of a name that ends on the last of the lines `above` its caption."""
    lines: list[str] = []
    for line in reversed(above[-12:]):
        name = printed_name(line)
        if not re.search(r"[A-Za-z]", name):
            if lines and not name and line.strip():
                break
            continue
        if len(lines) == 3 or len(name) > 90 or _PATTERNS["not a name"].search(line):
            break
        if lines and _is_complete_above(name, lines[0]):
            break
        lines.insert(0, name)
    name = " ".join(lines)
    return None if _PATTERNS["only captions"].fullmatch(name) else name or None


def _is_complete_above(upper: str, lower: str) -> bool:
    """Return whether the upper line is a logo or another name rather than the beginning of the lower one."""
    both = all(_PATTERNS["legal ending"].search(line) for line in (upper, lower))
    repeated = set(re.findall(r"\w+", upper.lower())) <= set(re.findall(r"\w+", lower.lower()))
    return repeated or (both and not upper.endswith((",", "&")))


def ticker_readings(
    cover: Sequence[PlainPage], pages: Sequence[PlainPage], further: Iterable[PlainPage] = ()
) -> Iterator[FieldSource]:
    """Yield readings of symbols from the cover's table, `(NASDAQ: ULTA)` or Item 5, which may be on `further` pages."""
    rows = ((row, page.number) for page in cover if (row := _row_of_table(page.text)))
    listed = ((found, page.number) for page in pages[:3] if (found := _PATTERNS["listed"].search(page.text)))
    on_cover, of_release = next(rows, None), next(listed, None)
    if on_cover:
        yield reading("ticker", on_cover[0]["ticker"].replace("/", "."), Kind.COVER, on_cover[0].group(), on_cover[1])
    if of_release:
        yield reading("ticker", of_release[0]["ticker"].upper(), Kind.SENTENCE, of_release[0].group(), of_release[1])
    for number, text in chain(pages, () if on_cover or of_release else further):
        if found := _PATTERNS["symbol in words"].search(text):
            yield reading("ticker", found[1], Kind.SENTENCE, found.group(), number)
            return


_NOT_TICKERS = word_lists("identity_words")["no tickers"]


def _row_of_table(text: str) -> re.Match[str] | None:
    for shares in _PATTERNS["registered shares"].finditer(text):
        row = _PATTERNS["row of symbols"].search(text, shares.end(), shares.end() + 220)
        if row is not None and row["ticker"] not in _NOT_TICKERS:
            return row
    heading = re.search(r"(?:trading|ticker)\s+symbol", text, re.IGNORECASE)
    end = heading.end() if heading else len(text)
    words = _PATTERNS["symbol word"].finditer(text, end, end + 400)
    return next((word for word in words if word["ticker"] not in _NOT_TICKERS and len(word["ticker"]) > 1), None)


COVER_WITHIN = 25
"""Number of first pages searched for a cover: annual reports may begin with letters and pictures."""


def find_cover(pages: Sequence[PlainPage]) -> tuple[int, list[FieldSource]] | None:
    """Return (position, readings) of the first form cover among the first pages, or None."""
    for position, (number, text) in enumerate(pages[:COVER_WITHIN]):
        if len(text) < _MIN_LENGTH or not _PATTERNS["commission"].search(text):
            continue
        heading = _PATTERNS["form alone"].search(text)
        if heading is None and _PATTERNS["report pursuant"].search(text):
            heading = _PATTERNS["form anywhere"].search(text)
        if heading and _PATTERNS["words of a cover"].search(text) and not _PATTERNS["schedule"].search(text):
            return position, list(_readings(text, number, heading))
    return None


def normalize_form(printed: str) -> Form:
    """Return the form: `10-K405`, `10-KT` and `10-K/A` are Form 10-K; unsupported forms are Form.OTHER."""
    letters = re.sub(r"[^0-9A-Z]", "", printed.upper())
    return next((form for stem, form in _FORMS.items() if letters.startswith(stem)), Form.OTHER)


def _readings(text: str, page: int, heading: re.Match[str]) -> Iterator[FieldSource]:
    form = normalize_form(heading["form"])
    yield reading("form", form, Kind.COVER, heading.group(), page)
    name = name_on_cover(text, page)
    if name is not None:
        yield name
    yield from numbers_on_cover(text, page)
    yield from _event_dates(text, page) if form is Form.EIGHT_K else _period_end(text, page, heading.group())
    amendment = heading if heading["amended"] else _PATTERNS["amendment"].search(text, 0, 3000)
    if amendment is not None:
        yield reading("amended", "true", Kind.COVER, amendment.group(), page)


_FORMS = {"10K": Form.TEN_K, "10Q": Form.TEN_Q, "8K": Form.EIGHT_K, "20F": Form.TWENTY_F, "ARS": Form.ANNUAL_REPORT}
_MIN_LENGTH = 200


def _period_end(text: str, page: int, heading: str) -> Iterator[FieldSource]:
    """Yield the last day of the year or quarter, or of the transition period on the cover of a transition report."""
    end = _end_behind(text, "period ended", 60, 0)
    if end is None or _PATTERNS["transition checked"].search(text) or re.search(r"[KQ]T\b", heading, re.IGNORECASE):
        end = _end_behind(text, "transition period", 90, 1) or end
    if end is not None:
        start, last = end
        yield reading("period_end", last.date, Kind.COVER, text[start : last.end], page)


def _end_behind(text: str, kind: str, reach: int, place: int) -> tuple[int, PrintedDate] | None:
    """Return where a phrase begins, and the date behind it, or the second of two (`from July 1 to December 31, 2022`).

    None where there is no date, as in a blank that is not filled in.
    """
    for found in _PATTERNS[kind].finditer(text):
        dates = printed_dates(text, found.end(), found.end() + reach)
        if len(dates) > place and (not place or dates[0].date < dates[place].date):
            return found.start(), dates[place]
    return None


def _event_dates(text: str, page: int) -> Iterator[FieldSource]:
    """Yield the earliest event of an 8-K, and the report's date if it differs: `July 1, 2022 (June 30, 2022)`."""
    found = _PATTERNS["earliest event"].search(text) or _PATTERNS["date of report"].search(text)
    if found is None:
        return
    after = printed_dates(text, found.end(), found.end() + 70)
    before = printed_dates(text, max(0, found.start() - 90), found.start())
    if near := after or before[-2:]:
        printed = text[min(near[0].start, found.start()) : max(near[-1].end, found.end())]
        event = min(one.date for one in near)
        yield reading("period_end", event, Kind.COVER, printed, page)
        if near[0].date != event:
            yield reading("filed", near[0].date, Kind.REPORT_DATE, printed, page)


NAMES_SEPARATOR = "; "
"""Separates the names in the value of `other_names`."""


def same_company(one: str, other: str) -> bool:
    """Return whether two names differ only in case, punctuation, `The` and the spelling of their legal form.

    >>> same_company("COCA COLA CO", "The Coca-Cola Company")
    True
    >>> same_company("Lark Power Company", "Lark Gas Company")
    False
    """
    return one == other or distinctive_words(one) == distinctive_words(other)


def distinctive_words(name: str) -> str:
    """Return the distinctive words of a name in lower case, joined."""
    name = collapse_spaces(name, MAX_LABEL_LENGTH)
    name = re.sub(r"\s*[/\\][A-Za-z ]{2,8}[/\\]?\s*$", "", name)
    name = re.sub(r"[.'’®™/]", "", name.casefold()).replace("&", " and ")
    words = re.findall(r"\w+", name)
    if words[:1] == ["the"]:
        words = words[1:]
    while len(words) > 1 and words[-1] in _ENDINGS:
        words.pop()
    # `AMAZON COM INC` in a register is `Amazon.com, Inc.` on the cover; `COCA COLA` is `Coca-Cola`.
    return "".join(words)


_ENDINGS = word_lists("identity_words")["ends of names"]


def registrant_in_text(pages: Sequence[PlainPage]) -> list[FieldSource]:
    """Return the company of these pages, by the frequency and positions of names; nothing where there is none."""
    for number, text in pages[:3]:
        if (listed := _PATTERNS["listed"].search(text)) and (name := _name_before(text, listed.start())):
            return [reading("company", name, Kind.SENTENCE, f"{name} {listed.group()}", number)]
    weights: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    places: dict[str, tuple[str, int]] = {}
    for number, text in pages:
        for found in _PATTERNS["name"].finditer(text):
            name = printed_name(_PATTERNS["before a name"].sub("", found[1]))
            if not name or " " not in name or _PATTERNS["other companies"].search(name):
                continue
            key = re.sub(r"[\W_]+", " ", name.lower()).strip()
            weights[key] += 6 if _PATTERNS["defines the company"].match(text, found.end()) else 1
            spellings.setdefault(key, Counter())[name] += 1
            places.setdefault(key, (text[found.start() : found.end() + 40], number))
    best = min(weights, key=lambda key: (-weights[key], key), default="")
    if not weights or (weights[best] < 2 and len(weights) > 1):
        return []
    name = min(spellings[best], key=lambda name: (name.isupper(), -spellings[best][name], name))
    return [reading("company", name, Kind.COUNTED, *places[best])]


def _name_before(text: str, place: int) -> str | None:
    """Return the name that ends right before `(NASDAQ: ...)`."""
    words: list[str] = []
    for line in reversed(text[max(0, place - 120) : place].split("\n")):
        of_line = line.split()
        taken = list(takewhile(_PATTERNS["name word"].fullmatch, reversed(of_line)))
        words = [*reversed(taken), *words]
        # A lone `Inc.` at the beginning of a line belongs to the line above.
        if len(taken) < len(of_line) or len(words) > 1:
            break
    words = list(dropwhile(("&", "of", "and", "the").__contains__, words[-7:]))
    return printed_name(_PATTERNS["before a name"].sub("", " ".join(words))) or None


SIGNED_WITHIN = 400
LAST_PAGES = 40


def signature_readings(pages: Sequence[PageContent], first: int, not_before: date | None) -> Iterator[FieldSource]:
    """Yield the name and date (`filed`, after the period's end) of the first signature from position `first` on."""
    for page in (*pages[first:SIGNED_WITHIN], *pages[max(SIGNED_WITHIN, first, len(pages) - LAST_PAGES) :]):
        if "SIGNATURE" not in page.text and "ignature" not in page.text:
            continue
        text = _PATTERNS["day apart"].sub(r"\1\2", normalize_print(page.text))
        heading = _PATTERNS["signatures"].search(text)
        if heading and (name := _signer(text, heading.end())):
            yield reading("company", name, Kind.SIGNATURE, name, page.number)
        for one in printed_dates(text, heading.start()) if heading else ():
            if not_before is None or one.date >= not_before:
                begin, end = text.rfind("\n", 0, one.start) + 1, f"{text}\n".find("\n", one.end)
                yield reading("filed", one.date, Kind.SIGNATURE, text[begin:end], page.number)
                return


def _signer(text: str, place: int) -> str | None:
    """Return the full name between `thereunto duly authorized` and the signature."""
    authorized = _PATTERNS["authorized"].search(text, place, place + 900)
    if authorized is None:
        return None
    for line in text[authorized.end() : authorized.end() + 300].split("\n"):
        if re.match(r"\W*(?:by|/s/)\b", line, re.IGNORECASE) or "/s/" in line:
            return None
        name = re.sub(r"^\W*(?:registrant|company)\W+", "", printed_name(line), flags=re.IGNORECASE)
        if is_full_name(name):
            return name
    return None


def other_names(pages: Sequence[PlainPage], company: str, known: Iterable[FieldSource] = ()) -> list[FieldSource]:
    """Return a reading of all names, `known` or in the text: `formerly known as ...`, `(“Square,” the “Company”)`."""
    kept: dict[str, FieldSource] = {}
    for found in (*known, *_names_in(pages, company)):
        name = printed_name(found.value)
        name = name.rstrip(",; ") if _PATTERNS["legal abbreviation"].search(name) else name.rstrip(",.; ")
        key = name.casefold()
        named = 2 <= len(name) <= 40 and name[0].isupper() and key != company.casefold()
        if named and not _PATTERNS["generic term"].search(name):
            kept.setdefault(key, replace(found, value=name))
    if not kept:
        return []
    names = [one.value.replace(NAMES_SEPARATOR, " ") for one in kept.values()]
    printed = " | ".join(dict.fromkeys(one.printed for one in kept.values()))
    page = next((one.page for one in kept.values() if one.page is not None), None)
    return [reading("other_names", NAMES_SEPARATOR.join(names), Kind.SENTENCE, printed, page)]


def _names_in(pages: Sequence[PlainPage], company: str) -> Iterator[FieldSource]:
    words = re.findall(r"\w+", company)
    named = re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE) if words else None
    for number, text in pages:
        for former in _PATTERNS["former name"].finditer(text):
            if former["changed"] or _is_own_former_name(text, former, named):
                printed = text[max(0, former.start() - 1) : former.end()]
                yield reading("other_names", former["name"] or former["changed"], Kind.SENTENCE, printed, number)
        for terms in map(re.Match.group, _PATTERNS["quoted terms"].finditer(text)):
            for name in _PATTERNS["quoted"].findall(terms) if _PATTERNS["the filer itself"].search(terms) else ():
                yield reading("other_names", name, Kind.SENTENCE, terms, number)
        for found in named.finditer(text) if named else ():
            for name in _names_in_brackets(text[found.end() : found.end() + 160]):
                printed = text[found.start() : found.end() + 60]
                yield reading("other_names", name, Kind.SENTENCE, printed, number)


def _is_own_former_name(text: str, former: re.Match[str], named: re.Pattern[str] | None) -> bool:
    """Return whether a former name is the registrant's rather than a subsidiary's."""
    if re.match(r"[\s,]*(?:we|the\s+Company)\b", text[former.end() : former.end() + 20]):
        return True
    names = named.finditer(text, max(0, former.start() - 200), former.start()) if named else ()
    return any(_PATTERNS["beside"].fullmatch(text, name.end(), former.start()) for name in names)


def _names_in_brackets(behind: str) -> list[str]:
    """Return names in the brackets after a name: `(“Square,” the “Company”)`, `(Verizon, or the Company)`."""
    opening = _PATTERNS["bracket"].match(behind)
    if opening is None:
        return []
    quoted = _PATTERNS["quoted"].findall(opening[1])
    if quoted or "Company" not in opening[1]:
        return quoted
    return [part for part in re.split(r",\s*|\s+(?:or|and)\s+", opening[1]) if part[:1].isupper()]
