"""Years, quarters and dates in a question's words, each with its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Literal, NamedTuple

from fin_agent.vocabulary.dates import MONTH_NAME, MONTHS, PrintedDate, month_number, printed_dates

DateRole = Literal["ended", "as of", "filed", "on"]

_SAME_LENGTH = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "`": "'", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-",
     "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\t": " ", "\n": " ", "\r": " "}
)  # fmt: skip


class PeriodAtom(NamedTuple):
    """A year, or a part of a year joined to its year; `year` is None where the words give none."""

    start: int
    end: int
    year: int | None
    quarter: int | None = None
    half: int | None = None
    months: int = 12
    fiscal: bool = False


class SpokenDate(NamedTuple):
    """An exact date, what it is said to be, and the length of the period that it ends (0: none)."""

    start: int
    end: int
    date: date
    role: DateRole
    months: int
    fiscal: bool


def uniform(question: str) -> str:
    """Plain quotes, hyphens and spaces; every character keeps its place."""
    return question.translate(_SAME_LENGTH)


def period_atoms(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    """Years and parts of years in `text` (as `uniform` gives it) outside the spans `taken`, in order of place."""
    years = _years(text, taken)
    atoms: list[PeriodAtom] = []
    used: set[int] = set()
    loose: list[PeriodAtom] = []
    for part in _parts(text, taken):
        before = _year_before(text, years, part)
        if part.year is None and before is not None:
            used.add(before)
            atoms.append(_joined(part, years[before], years[before].start, part.end))
        else:
            loose.append(part)
    for run in _runs(loose, text):
        last = run[-1]
        following = next((index for index, year in enumerate(years) if year.start >= last.end), None)
        if last.year is not None or following is None or not _OF_YEAR.fullmatch(text, last.end, years[following].start):
            atoms += run
            continue
        for index in _year_list(text, years, [*atoms, *loose], following):
            year = years[index]
            used.add(index)
            if index > following:
                atoms += [_joined(part, year, year.start, year.end) for part in run]
            else:
                atoms += [_joined(part, year, part.start, year.end if part is last else part.end) for part in run]
    atoms += [year for index, year in enumerate(years) if index not in used]
    return sorted(atoms, key=lambda atom: (atom.start, atom.end, atom.year or 0, atom.quarter or 0))


def spoken_dates(text: str) -> list[SpokenDate]:
    """Exact dates in `text`, in order. `years ended June 30, 2020 and 2019` gives both years' ends."""
    found: list[SpokenDate] = []
    for printed in _with_short_dates(text, printed_dates(text)):
        before = stands_before(_LENGTH, text, printed.start)
        if before is not None:
            months = next(_MONTHS[name] for name, value in before.groupdict().items() if value)
            fiscal = "fiscal" in text[max(0, before.start() - 7) : printed.start].lower()
            found.append(SpokenDate(*printed, "ended", months, fiscal))
        elif found and found[-1].role == "ended" and JOINING.fullmatch(text, found[-1].end, printed.start):
            found.append(SpokenDate(*printed, "ended", found[-1].months, found[-1].fiscal))
        elif stands_before(AS_OF, text, printed.start):
            found.append(SpokenDate(*printed, "as of", 0, False))
        elif stands_before(_FILED, text, printed.start):
            found.append(SpokenDate(*printed, "filed", 0, False))
        else:
            found.append(SpokenDate(*printed, "on", 0, False))
    return found


def stands_before(pattern: re.Pattern[str], text: str, place: int) -> re.Match[str] | None:
    """The match of a pattern that ends in `$` right before `place`."""
    return pattern.search(text, max(0, place - 60), place)


def number_of(words: str) -> int:
    """`3`, `three` or `third` as a number; 0 for anything else."""
    return int(words) if words.isdecimal() else _NUMBERS.get(words.lower(), 0)


_NUMBERS = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "final": 4},
}
AS_OF = re.compile(
    r"\b(?:as (?:of|at|on)|at|at (?:the )?end of)\s+(?:the\s+)?(?:close of\s+|end of\s+)?"
    r"(?:(?:fiscal\s+)?year[ -]?end(?:ed)?\s+(?:of\s+)?)?$",
    re.IGNORECASE,
)
"""Pattern of `as of`, `at`, `as of the end of` right before a period."""
JOINING = re.compile(
    r"\s*(?:,\s*and|,|;|&|/|\+|and|or|vs\.?|versus|compared (?:to|with)|against|over|than)\s+(?:in\s+|of\s+|the\s+)*"
    r"|\s*[,&/]\s*",
    re.IGNORECASE,
)
"""Pattern of the words between periods that are named side by side."""
_FILED = re.compile(
    r"\b(?:filed|dated|filing date|released|published|issued)\s+(?:on\s+|of\s+|as of\s+)?(?:the\s+)?$", re.IGNORECASE
)
_LENGTH = re.compile(
    r"\b(?:(?P<year>years?|twelve months|12 months|5[23][ -]weeks?|fiscal)"
    r"|(?P<quarter>quarters?|three months|3 months|1[34][ -]weeks?|thirteen weeks)"
    r"|(?P<half>six months|6 months|half(?:[ -]years?)?|2[67][ -]weeks?|twenty-six weeks)"
    r"|(?P<three_quarters>nine months|9 months|(?:39|40)[ -]weeks?|thirty-nine weeks)|(?P<some>periods?))"
    r"\s+(?:that\s+)?(?:end(?:ed|ing|s)?|to|through)\s+(?:on\s+)?(?:the\s+)?$",
    re.IGNORECASE,
)
_MONTHS = {"year": 12, "quarter": 3, "half": 6, "three_quarters": 9, "some": 12}

_QUARTER_WORD = r"(?:first|second|third|fourth|final|1st|2nd|3rd|4th)"
_PART = re.compile(
    rf"(?:(?<![a-z0-9$.])|(?<=[0-9]{{4}})|(?<=fy[0-9]{{2}})|(?<=fy'[0-9]{{2}}))(?:"
    rf"q[ -]?(?P<q1>[1-4])(?![0-9])"
    rf"|(?P<q2>[1-4])q(?!(?!fy)[a-z])"
    rf"|(?P<q3>{_QUARTER_WORD})[ -](?:fiscal[ -])?(?:quarters?|qtr\.?)(?:'s)?(?![a-z])"
    rf"|(?P<q4>{_QUARTER_WORD})(?=(?:\s*,\s*|\s+(?:and|or|to|through|versus|vs\.?)\s+|\s*,\s*and\s+)(?:the\s+)?"
    rf"{_QUARTER_WORD}\b[^.?!]{{0,30}}\bquarters?\b)"
    r"|quarter\s+(?P<q5>[1-4]|one|two|three|four)(?![0-9a-z])"
    r"|h(?P<h1>[12])(?![0-9])|(?P<h2>[12])h(?![a-z])"
    r"|(?P<h3>first|second|1st|2nd)[ -](?:fiscal[ -])?half(?:[ -]year)?(?![a-z])"
    r"|first\s+(?P<m>nine|six|three|9|6|3)\s+months)",
    re.IGNORECASE,
)
_AFTER_PART = re.compile(r"\s*'?\s*(?P<yy>[0-9]{2})(?![0-9%.,]|\s*(?:%|percent|million|billion|weeks|days|months))")
_OF_YEAR = re.compile(
    r"[ ,-]*(?:\(?\s*(?:ended|ending)\s+)?(?:(?:results|earnings|close|end)\s+)?"
    r"(?:(?:of|in|for|during|from|within|to)\s+)?(?:the\s+)?(?:(?:company|firm)'s\s+)?(?:year\s+)?",
    re.IGNORECASE,
)
_YEAR_THEN_PART = re.compile(r"(?:'s)?[ -]?")
_THROUGH = re.compile(r"\s*(?:-|through|thru)\s*(?:the\s+)?", re.IGNORECASE)

_YEAR = r"(?:199[0-9]|20[0-4][0-9]|2050)"
_FISCAL = r"(?:fiscal|financial)(?:[ -]+(?:years?|periods?|yr))?(?:[ -]*end(?:ed|ing)?)?(?:\s+(?:of|in|for))?"
_AFTER_MONTH = "|".join(rf"(?<=\b{month[:3]}-)" for month in MONTHS)
_YEAR_ATOM = re.compile(
    rf"(?:(?<![a-z0-9])|(?<=q[1-4])|(?<=[1-4]q))(?:f\.?y\.?e?(?:[ -]+end(?:ed|ing)?)?|{_FISCAL})"
    rf"[ -]{{0,2}}'?\s?(?P<fy>{_YEAR}|[0-9]{{2}}(?!\s*(?:weeks?|months?|days?|percent)\b))(?![0-9%]|[.,][0-9])"
    rf"|(?<![a-z0-9])(?:cy|calendar(?:\s+years?)?)[ -]?'?\s?(?P<cy>{_YEAR}|[0-9]{{2}})(?![0-9%]|[.,][0-9])"
    rf"|(?:(?<![a-z0-9_$€£¥#])|(?<=[1-4]q)|(?<=[12]h))(?:(?<![0-9][.,/-])|(?<=(?:19|20)[0-9]{{2}}[-/,])|(?<=q[1-4]-))"
    rf"(?:(?<![a-z][-_])|{_AFTER_MONTH})(?P<bare>{_YEAR})"
    r"(?=[aef]?(?![a-z0-9_%])|q[1-4]|[1-4]q|h[12])(?!\.[0-9])(?!,[0-9]{3}(?![0-9]))(?!/[0-9]{1,2}/)"
    r"|(?<![a-z0-9])'(?P<short>[0-4][0-9])(?![a-z0-9'%])",
    re.IGNORECASE,
)
_FISCAL_AFTER = re.compile(r"[ -](?:fiscal|financial)\b", re.IGNORECASE)
_SHORT_END = re.compile(r"\s?[-/]\s?'?(?P<yy>[0-9]{2})(?![0-9%-]|[.,][0-9])")
_NEVER_BEFORE = re.compile(
    r"(?:[$€£¥#]\s?|\b(?:usd|eur|gbp|no\.?|number|section|rule|asu|asc|topic|article|model|windows|office|server|version"
    r"|route|flight|room|suite|regulation|ifrs)(?:\s+no\.?)?[ -])$",
    re.IGNORECASE,
)
_DUE_BEFORE = re.compile(
    r"\b(?:due|(?:notes|bonds|debentures|securities|loans?)\s+maturing(?:\s+in)?)\s+"
    rf"(?:(?:on\s+)?{MONTH_NAME}\s*)?$",
    re.IGNORECASE,
)
_NEVER_AFTER = re.compile(
    r"[ -]?(?:million|billion|thousand|mn|bn|percent|basis points?|bps|dollars|usd)\b|[ -]?%", re.IGNORECASE
)
_COUNTED = re.compile(
    r" (?:shares|employees|stores|restaurants|units|aircraft|people|customers|members|hours|megawatts|mwh?"
    r"|vehicles|square|tonnes|tons|barrels|locations|patents|suppliers)\b",
    re.IGNORECASE,
)
_IN_BEFORE = re.compile(r"\b(?:in|for|during|since|through)\s+$", re.IGNORECASE)
_NAMED_AFTER = re.compile(r" (?:[A-Z][\w&-]* ){0,4}(?:Notes|Plan|Agreement|Facility|Term Loan|Act|Indenture)\b")
"""A year that is part of a name: `2022 Equity Incentive Plan`, `2030 Senior Notes`."""


def _years(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    years: list[PeriodAtom] = []
    due_until = -1
    for found in _YEAR_ATOM.finditer(text):
        start, end = found.span()
        if _touches(start, end, taken):
            continue
        digits = next(found[name] for name in ("fy", "cy", "bare", "short") if found[name])
        fiscal = found["fy"] is not None
        if found["bare"]:
            also_due = due_until >= 0 and JOINING.fullmatch(text, due_until, start)
            if also_due or stands_before(_DUE_BEFORE, text, start):
                due_until = end
                continue
            if stands_before(_NEVER_BEFORE, text, start) or _NEVER_AFTER.match(text, end):
                continue
            if _COUNTED.match(text, end) and not stands_before(_IN_BEFORE, text, start):
                continue
            if _NAMED_AFTER.match(text, end):
                continue
        if not fiscal and not found["cy"]:
            last = years[-1] if years else None
            linked = last is not None and last.fiscal and _LIST_OR_RANGE.fullmatch(text, last.end, start) is not None
            fiscal = linked or _FISCAL_AFTER.match(text, end) is not None
        year = full_year(digits)
        years.append(PeriodAtom(start, end, year, fiscal=fiscal))
        short = _SHORT_END.match(text, end)
        if short is not None and not _touches(short.start("yy"), short.end(), taken):
            last_year = year - year % 100 + int(short["yy"])
            if year < last_year <= year + 15:
                years.append(PeriodAtom(short.start("yy"), short.end(), last_year, fiscal=fiscal))
    return years


def full_year(digits: str) -> int:
    """`19` as 2019, `97` as 1997, four digits as they are."""
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (2000 if year <= 50 else 1900)


_LIST_OR_RANGE = re.compile(rf"(?:{JOINING.pattern})|\s*(?:-|to|through|thru)\s*(?:the\s+)?", re.IGNORECASE)


def _parts(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    parts: list[PeriodAtom] = []
    for found in _PART.finditer(text):
        start, end = found.span()
        if _touches(start, end, taken):
            continue
        quarter = next((number_of(found[name]) for name in ("q1", "q2", "q3", "q4", "q5") if found[name]), None)
        half = next((number_of(found[name]) for name in ("h1", "h2", "h3") if found[name]), None)
        months = number_of(found["m"]) if found["m"] else 3 if quarter else 6
        if months == 3 and not quarter:
            quarter = 1
        year = None
        short = _AFTER_PART.match(text, end) if found["q1"] or found["q2"] or found["h1"] or found["h2"] else None
        if short is not None:
            year, end = full_year(short["yy"]), short.end()
        parts.append(PeriodAtom(start, end, year, quarter, half, months))
    return parts


def _runs(parts: list[PeriodAtom], text: str) -> list[list[PeriodAtom]]:
    """Yearless parts that share the year after the last: `Q1, Q2 and Q3 2022`; `Q1-Q3` is filled up."""
    runs: list[list[PeriodAtom]] = []
    for part in parts:
        last = runs[-1][-1] if runs else None
        if last is None or last.year is not None:
            runs.append([part])
        elif last.quarter and part.quarter and _THROUGH.fullmatch(text, last.end, part.start):
            runs[-1] += [last._replace(quarter=quarter) for quarter in range(last.quarter + 1, part.quarter)]
            runs[-1].append(part)
        elif JOINING.fullmatch(text, last.end, part.start):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [[part._replace(year=run[-1].year) for part in run] for run in runs]


def _year_list(text: str, years: list[PeriodAtom], parts: list[PeriodAtom], first: int) -> list[int]:
    """Positions of the years that a part is said of: both of `Q2 of 2022 and 2023`."""
    taken = [first]
    for index in range(first + 1, len(years)):
        here, there = years[index - 1], years[index]
        between = any(here.end <= part.start < there.start for part in parts)
        ahead = any(part.start <= there.start < part.end for part in parts)
        if between or ahead or not JOINING.fullmatch(text, here.end, there.start):
            break
        taken.append(index)
    return taken


def _year_before(text: str, years: Sequence[PeriodAtom], part: PeriodAtom) -> int | None:
    """Position of the year right before a part: `2023 Q2`, `2023's second quarter`."""
    for index, year in enumerate(years):
        if year.end <= part.start and _YEAR_THEN_PART.fullmatch(text, year.end, part.start):
            return index
    return None


def _joined(part: PeriodAtom, year: PeriodAtom, start: int, end: int) -> PeriodAtom:
    return part._replace(start=start, end=end, year=year.year, fiscal=year.fiscal)


_SHORT_DATE = re.compile(rf"(?<![a-z])(?P<month>{MONTH_NAME})\s*(?P<day>[0-3]?[0-9])(?![0-9])", re.IGNORECASE)
_YEAR_LATER = re.compile(
    rf"(?:\s*(?:,\s*and|,|and|to|through|-|or)\s*(?:the\s+)?{MONTH_NAME}\s*[0-3]?[0-9])*"
    rf"\s*,?\s*(?:in|of)?\s*(?P<year>{_YEAR})",
    re.IGNORECASE,
)


def _with_short_dates(text: str, dates: list[PrintedDate]) -> list[PrintedDate]:
    """Adds days whose year is printed with a later one: `July 27 and April 27 in 2019`."""
    found = list(dates)
    for short in _SHORT_DATE.finditer(text):
        if _touches(short.start(), short.end(), [(one.start, one.end) for one in dates]):
            continue
        later = _YEAR_LATER.match(text, short.end())
        if later is not None:
            try:
                day = date(int(later["year"]), month_number(short["month"]), int(short["day"]))
            except ValueError:
                continue
            found.append(PrintedDate(short.start(), short.end(), day))
    return sorted(found)


def _touches(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < stop and begin < end for begin, stop in spans)
