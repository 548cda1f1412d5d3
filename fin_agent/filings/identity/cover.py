"""The SEC form cover: which form it is and what its fields say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fin_agent.filings.identity.cover_name import name_on_cover
from fin_agent.filings.identity.cover_numbers import numbers_on_cover
from fin_agent.filings.identity.print_repair import PlainPage, despaced
from fin_agent.filings.identity.readings import COVER, REPORT_DATE, reading
from fin_agent.vocabulary.dates import PrintedDate, printed_dates
from fin_agent.vocabulary.identity import FieldSource, Form

COVER_WITHIN = 25
"""A cover is looked for on this many pages: annual reports print letters and pictures before it."""


@dataclass(frozen=True, slots=True)
class Cover:
    """A form cover as found."""

    position: int
    """Among the pages given."""
    form: Form
    text: str
    """Of the cover page, with letter-spaced lines repaired."""
    readings: tuple[FieldSource, ...]
    """What is printed there; a field that is not printed has none."""


def find_cover(pages: Sequence[PlainPage]) -> Cover | None:
    """The first form cover among the first pages, or None."""
    for position, (number, text) in enumerate(pages[:COVER_WITHIN]):
        if len(text) < _SHORTEST or not _COMMISSION.search(text):
            continue
        text = despaced(text)
        heading = _HEADING.search(text) or (_FORM_ANYWHERE.search(text) if _PURSUANT.search(text) else None)
        if heading is None or not _COVER_WORDS.search(text) or _SCHEDULE.search(text):
            continue
        form = form_named(heading["form"])
        return Cover(position, form, text, tuple(_readings(text, number, form, heading)))
    return None


def form_named(printed: str) -> Form:
    """`10-K405`, `10-KT` and `10-K/A` are Form 10-K; a form that is not told apart is Form.OTHER."""
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
_COVER_WORDS = re.compile(
    r"exact\s+name\s+of|commission\s+file|(?:annual|quarterly|current|transition)\s+report\s+pursuant", re.IGNORECASE
)
_PURSUANT = re.compile(r"(?:annual|quarterly|current|transition)\s+report\s+pursuant", re.IGNORECASE)
_SCHEDULE = re.compile(r"^[^\w\n]{0,40}schedule\s+(?:14[AC]|TO|13[DG])\b", re.IGNORECASE | re.MULTILINE)
_AMENDMENT = re.compile(r"^[^\w\n]{0,20}amendment\s+no\.?\s*\d+\W{0,5}$", re.IGNORECASE | re.MULTILINE)
"""On a line of its own: an 8-K tells of amendments to other papers."""

_ENDED = re.compile(
    r"\b(?:fiscal\s+year|quarterly\s+period|transition\s+period|year|quarter|period|(?:\d\d|weeks))\s+end(?:ed|ing)\s*:?\s*(?:on\s+)?",
    re.IGNORECASE,
)
_TRANSITION = re.compile(r"\btransition\s+period\s+(?:from|beginning)\b", re.IGNORECASE)
_TRANSITION_CHECKED = re.compile(r"[☒☑⌧✓✔þýX]\W{0,6}transition\s+report", re.IGNORECASE)


def _period_end(text: str, page: int, heading: str) -> Iterator[FieldSource]:
    """The last day of the year or quarter; of the transition period where the cover is that of a transition report."""
    end = _first_end(text)
    transition = _transition(text)
    if transition is not None and (
        end is None or _TRANSITION_CHECKED.search(text) or re.search(r"[KQ]T\b", heading, re.IGNORECASE)
    ):
        end = transition
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
    """`transition period from July 1, 2022 to December 31, 2022`: its last day; None where the line is blank."""
    for found in _TRANSITION.finditer(text):
        dates = printed_dates(text, found.end(), min(len(text), found.end() + 90))
        if len(dates) >= 2 and dates[0].date < dates[1].date:
            return found.start(), dates[1]
    return None


_EVENT = re.compile(r"date\s+of\s+earliest\s+event\s+reported\W*", re.IGNORECASE)
_REPORT_DATE = re.compile(r"date\s+of\s+report\W*", re.IGNORECASE)


def _event_dates(text: str, page: int) -> Iterator[FieldSource]:
    """The earliest event of an 8-K, and the report's date where it is another: `July 1, 2022 (June 30, 2022)`."""
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
