"""Read the header lines of a table: the name and the period of each column."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from fin_agent.filings.tables.cells import Column, Line, parse_number, unit_line_in
from fin_agent.filings.tables.column_periods import (
    CALENDAR_YEARS,
    FiscalCalendar,
    TimeWords,
    is_change,
    same_day,
    time_words,
)
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.place import Word

_PATTERNS = patterns("table_patterns")


@dataclass(frozen=True, slots=True)
class Header:
    """Columns of a table as named by their header."""

    columns: tuple[str, ...]
    periods: tuple[FactPeriod | None, ...]
    paths: tuple[tuple[str, ...], ...] = ()
    """The header of each column level by level, outermost first."""


def read_header(
    lines: Sequence[Line], columns: Sequence[Column], context: str, calendar: FiscalCalendar | None, instant: bool
) -> Header:
    """Return names and periods of the columns; None for columns without a period (changes, note numbers).

    `context` is the caption, which may state the length of the periods, or the one period of all columns; `instant`
    says whether the rows are balances.
    """
    columns = _with_empty(columns, lines)
    filled = [index for index, column in enumerate(columns) if column.count]
    parts: list[list[str]] = [[] for _ in columns]
    own: list[list[str]] = [[] for _ in columns]
    known: list[date] = []
    for place, line in enumerate(lines):
        phrases = phrases_of(line)
        known.extend(day for phrase in phrases for day in _several_dates(phrase.text))
        shared, assigned = _assign(phrases, columns, _heads(lines[place + 1 :], columns), in_cells=bool(line.cells))
        for index, texts in enumerate(assigned):
            parts[index] += [*shared, *texts]
            own[index] += texts
    names = tuple(" ".join(_distinct(column)) for column in parts)
    context = _last_sentence(context)
    said = time_words(context)
    if any(named.dates for named in map(time_words, map(" ".join, own))) and not _PATTERNS["ended"].search(context):
        said = replace(said, months=None)  # a date above a column is a date, whatever year the caption names
    fiscal = calendar or CALENDAR_YEARS
    # Days of events, of which a caption may tell as well, are no column's.
    known.extend(day for day in _several_dates(context) if day == fiscal.period_end or fiscal.may_end_year(day))
    dated = [_closest(time_words(" ".join(own[index])), time_words(name), fiscal) for index, name in enumerate(names)]
    dated = _days_by_column_year(dated, [time_words(" ".join(column)) for column in own])
    periods = [
        None if _has_no_period(" ".join(own[index]), name) else _period(dated[index], said, fiscal, instant, known)
        for index, name in enumerate(names)
    ]
    if not instant:
        periods = _as_quarters(dated, periods, fiscal)
    return Header(
        tuple(_PATTERNS["split word"].sub("-", " ".join(_distinct(parts[index]))) for index in filled),
        tuple(periods[index] for index in filled),
        tuple((*_distinct(parts[index]), *_own_unit(index, own)) for index in filled),
    )


def _own_unit(index: int, own: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the unit line above a column, unless all columns have it: `Aggregate intrinsic value (in thousands)`."""
    unit = unit_line_in(" ".join(own[index]))
    return (unit,) if unit and not all(unit in " ".join(texts) for texts in own) else ()


def _last_sentence(caption: str) -> str:
    """Return the last sentence of a caption, with one that leads to it; others are about something else."""
    parts = _PATTERNS["sentence end"].split(caption)
    sentences = [part for part in parts if len(_PATTERNS["letters of a header"].findall(part)) >= _SENTENCE_WORDS]
    if len(sentences) > 1 and sentences[-2].endswith(":") and not time_words(sentences[-1]).names_time:
        return " ".join(sentences[-2:])
    return sentences[-1] if sentences else caption


def _days_by_column_year(dated: Sequence[TimeWords], own: Sequence[TimeWords]) -> list[TimeWords]:
    """Return a date above all columns as that date in each column's own year, if one of these is the date's year."""
    years = [named.years for named in own]
    days = {named.dates[-1] for named in dated if named.dates}
    if len(days) != 1 or any(len(said) != 1 for said in years) or len(set(years)) < len(years):
        return list(dated)
    day = days.pop()
    if (day.year,) not in years or any(named.dates or named.months is not None for named in own):
        return list(dated)
    return [
        replace(named, dates=(), day=(day.month, day.day), years=said) for named, said in zip(dated, years, strict=True)
    ]


def _as_quarters(
    dated: Sequence[TimeWords], periods: Sequence[FactPeriod | None], fiscal: FiscalCalendar
) -> list[FactPeriod | None]:
    """Return columns with three or four dates of one year as its quarters: `2015: Dec. 26, Sep. 26, Jun. 27`."""
    days = [_day(named) if named.months in (None, 12) else None for named in dated]
    of_year = Counter(fiscal.fiscal_year_of(day) for day in set(days) if day is not None)
    return [
        fiscal.duration(day, 3) if day is not None and of_year[fiscal.fiscal_year_of(day)] in (3, 4) else period
        for day, period in zip(days, periods, strict=True)
    ]


def heading_of_labels(lines: Sequence[Line], columns: Sequence[Column]) -> str:
    """Return the header text above the labels of a real table, without times and units: `Revenue by country`."""
    rows = [phrases_of(line) for line in lines if line.cells]
    over_labels = (phrase.text for row in rows for phrase in row if phrase not in _over(row, columns))
    undated = (text for text in over_labels if not time_words(text).names_time)
    texts = (text.replace(unit_line_in(text) or "\n", " ").strip() for text in undated)
    return " ".join(text for text in texts if _PATTERNS["letters of a header"].search(text))


def is_header_line(line: Line) -> bool:
    """Return whether a line names periods (`2022 2021`, `December 31,`, `Three Months Ended`) and has no amount."""
    if len(line.words) > 40:
        return False
    text = line.text.lower()
    if not _PATTERNS["time hint"].search(text) or _PATTERNS["leaders"].search(text):
        return False
    phrases = phrases_of(line)
    timely = others = 0
    for position, phrase in enumerate(phrases):
        plain = _PATTERNS["brackets of a header"].sub(" ", phrase.text.lower())
        words = _PATTERNS["letters of a header"].findall(_PATTERNS["time"].sub(" ", plain))
        if parse_number(phrase.text) is not None and not _PATTERNS["year only"].match(phrase.text):
            return False
        if _PATTERNS["amount of a header"].search(plain):
            return False
        if _PATTERNS["time hint"].search(plain) and len(words) <= 1:
            timely += 1
        elif is_change(plain) and len(words) <= 4:
            continue
        elif position or len(phrases) == 1:
            others += len(words)
        elif len(words) > 14:
            return False
    return timely > 0 and (others <= 3 + 2 * timely or (line.cells and timely > 1))


def phrases_of(line: Line) -> Sequence[Word]:
    """Return the words of a line joined to phrases that white space separates; in a real table, one per cell."""
    if line.cells:
        return line.words
    room = max(4.5, 0.5 * line.height)
    words = line.words
    gaps = [second.x0 - first.x1 for first, second in itertools.pairwise(words)]
    narrow = 1.25 * max(0.5, min(gaps, default=0.0))
    groups = [[word] for word in words[:1]]
    for gap, word in zip(gaps, words[1:], strict=True):
        # A new period begins however close the words are: `Fiscal 2022 Fiscal 2021`.
        ends = _PATTERNS["period end"].search(groups[-1][-1].text) and _PATTERNS["period start"].match(word.text)
        if gap > room or (gap > narrow and ends):
            groups.append([])
        groups[-1].append(word)
    return [Word(group[0].x0, line.y0, group[-1].x1, line.y1, " ".join([w.text for w in group])) for group in groups]


# In lower case, each word after its possible first letters: these two are matched with every line near a figure.

_SENTENCE_WORDS = 5


def _with_empty(columns: Sequence[Column], lines: Sequence[Line]) -> Sequence[Column]:
    """Return the columns, adding empty ones (`count` 0) where a header line dates more columns than contain numbers."""
    for line in reversed(lines):
        over = [phrase for phrase in phrases_of(line) if _PATTERNS["any year"].search(phrase.text)]
        if len(over) <= len(columns) or len({len(phrase.text.split()) for phrase in over}) > 1:
            continue
        under = [
            [column for column in columns if phrase.x0 - 6 < column.right and phrase.x1 + 6 > column.left]
            for phrase in over
        ]
        whole = sorted(id(column) for held in under for column in held) == sorted(map(id, columns))
        if not whole or any(len(held) > 1 for held in under):
            return columns
        empty = (Column(phrase.x1, phrase.x0, phrase.x1, phrase.x1, phrase.x1, 0, phrase.x0) for phrase in over)
        return [held[0] if held else blank for held, blank in zip(under, empty, strict=True)]
    return columns


def _heads(lines: Sequence[Line], columns: Sequence[Column]) -> list[str]:
    """Return the phrase above each column in the first of `lines` with a cell for every column, otherwise none."""
    for line in lines:
        phrases = phrases_of(line)
        over = _over(phrases, columns)
        if len(over) == len(columns) or (len(phrases) == len(columns) and _all_alike(phrases)):
            return [phrase.text for phrase in (phrases if len(phrases) == len(columns) else over)]
        above = [[phrase for phrase in over if _overlap(phrase, column) > 0] for column in columns]
        if all(len(only) == 1 for only in above):  # `% Change` over a column of numbers and one of `nm`
            return [only[0].text for only in above]
    return []


def _assign(
    phrases: Sequence[Word], columns: Sequence[Column], below: Sequence[str], *, in_cells: bool
) -> tuple[list[str], list[list[str]]]:
    """Return (text shared by all columns, text of each column) of a header line; `below` are the names under it."""
    none: list[list[str]] = [[] for _ in columns]
    if len(phrases) == len(columns) > 1 and _all_alike(phrases):
        return [], [[phrase.text] for phrase in phrases]
    over = _over(phrases, columns)
    beside = (phrase.text for phrase in phrases if phrase not in over)
    shared = [part for text in beside if (part := _time_part(text))]
    if not over:
        return shared, none
    timely = any(time_words(phrase.text).names_time for phrase in over)
    if len(over) == 1 < len(columns) and timely and not is_change(over[0].text):
        return [*shared, *filter(None, [_time_part(over[0].text)])], none
    heads = list(over) if len(over) == len(columns) else _phrase_of_each(over, columns, below, in_cells=in_cells)
    if any(heads):
        return shared, [[head.text] if head else [] for head in heads]
    for column, texts in zip(columns, none, strict=True):
        best = max(
            over, key=lambda phrase: (_overlap(phrase, column), -abs(phrase.across - (column.core + column.right) / 2))
        )
        if _overlap(best, column) > 0.3 * min(best.x1 - best.x0, column.right - column.left) or timely:
            texts.append(best.text)
    return shared, none


def _over(phrases: Sequence[Word], columns: Sequence[Column]) -> list[Word]:
    """Return the phrases of a line above the columns rather than above the labels."""
    first = columns[0]
    left = min(first.left, first.core - 12)
    return [phrase for phrase in phrases if phrase.x1 >= left or phrase.across >= first.core]


def _all_alike(phrases: Sequence[Word]) -> bool:
    """Return whether each phrase is a year or date that heads a column, none being a label next to them."""
    words = {len(phrase.text.split()) for phrase in phrases}
    return len(words) == 1 and all(time_words(phrase.text).years or time_words(phrase.text).dates for phrase in phrases)


def _phrase_of_each(
    over: Sequence[Word], columns: Sequence[Column], below: Sequence[str], *, in_cells: bool
) -> list[Word | None]:
    """Return the phrase above each column, where columns form groups of equal size, or those of the names `below`."""
    restarted = _restarts(below)
    if len(restarted) == len(over) > 1 and all(time_words(name).names_time for name in below):
        sides = [(columns[run[0]].left, columns[run[-1]].right) for run in restarted]
        if all(left <= phrase.across <= right for phrase, (left, right) in zip(over, sides, strict=True)):
            return [phrase for phrase, run in zip(over, restarted, strict=True) for _ in run]
    below = below if in_cells else ()
    for first in (0, 1):
        if size := _group_size(over, columns[first:], below[first:]):
            return [None] * first + [over[index // size] for index in range(len(columns) - first)]
    dated = [bool(time_words(name).names_time) and not is_change(name) for name in below]
    runs = [list(run) for _, run in itertools.groupby(range(len(below)), key=dated.__getitem__)]
    if len(runs) != len(over) or len(over) < 2:
        return []
    pairs = list(zip(over, runs, strict=True))
    under = all(any(_overlap(phrase, columns[index]) > 0 for index in run) for phrase, run in pairs)
    return [phrase for phrase, run in pairs for _ in run] if under else []


def _restarts(names: Sequence[str]) -> list[list[int]]:
    """Return the positions of names in groups, each of which begins anew: `2022 2021 2020 2022 2021` are two."""
    plain = [_PATTERNS["marks of a header"].sub("", name).strip() for name in names]
    groups: list[list[int]] = []
    for index, name in enumerate(plain):
        if not groups or name in {plain[other] for other in groups[-1]}:
            groups.append([])
        groups[-1].append(index)
    return groups


def _group_size(over: Sequence[Word], columns: Sequence[Column], below: Sequence[str]) -> int:
    """Return the number of columns per phrase, if all stand over equally many or those `below` repeat; otherwise 0."""
    size, rest = divmod(len(columns), len(over))
    if rest or size < 2 or len(over) < 2:
        return 0
    if len(below) == len(columns) and _repeat_in_groups(below, size):
        under = [[index for index, column in enumerate(columns) if _stands_over(phrase, column)] for phrase in over]
        if any(under == [[place + index * size] for index in range(len(over))] for place in range(size)):
            return size
    for index, phrase in enumerate(over):
        left, right = columns[index * size].left, columns[(index + 1) * size - 1].right
        if abs(phrase.across - (left + right) / 2) > 0.2 * (right - left):
            return 0
    return size


def _repeat_in_groups(names: Sequence[str], size: int) -> bool:
    """Return whether groups of `size` repeat (`$ % $ %`), or groups of years are next to others (`2019 2018 $ %`)."""
    names = [_PATTERNS["marks of a header"].sub("", name).strip() for name in names]
    groups = [tuple(names[first : first + size]) for first in range(0, len(names), size)]
    dated = [{bool(time_words(name).years) and not is_change(name) for name in group} for group in groups]
    return len(set(groups)) == 1 or (all(len(kinds) == 1 for kinds in dated) and dated[0] != dated[-1])


def _time_part(text: str) -> str:
    """Return the time in a heading above all columns; several years do not name a single period."""
    if unit := unit_line_in(text):
        text = text.replace(unit, " ")
    said = time_words(text)
    if not said.names_time:
        return ""
    if len(said.dates) > 1:
        text = _PATTERNS["any date"].sub(" ", text)
    elif len(said.dates) + len(said.years) > 1:
        text = _PATTERNS["any year"].sub(" ", text)
    return " ".join(text.split())


def _several_dates(text: str) -> tuple[date, ...]:
    """Return the dates of `December 26, 2020 and December 28, 2019`, for example, which columns name by year."""
    dates = time_words(text).dates
    return dates if len({day.year for day in dates}) > 1 else ()


def _overlap(phrase: Word, column: Column) -> float:
    return min(phrase.x1, column.right) - max(phrase.x0, column.left)


def _stands_over(phrase: Word, column: Column) -> bool:
    return _overlap(phrase, column) > 0.2 * min(phrase.x1 - phrase.x0, column.right - column.left)


def _distinct(parts: Sequence[str]) -> list[str]:
    plain = [_PATTERNS["marks of a header"].sub("", part) for part in parts]
    without = [text.replace(unit, " ").strip() if (unit := unit_line_in(text)) else text for text in plain]
    return list(dict.fromkeys(filter(None, without)))


def _has_no_period(own: str, name: str) -> bool:
    if not is_change(own):
        return not own and is_change(name)
    # `Increase/(Decrease)` above a dated column describes the signs of its rows, not a difference.
    return bool(_PATTERNS["difference"].search(own)) or len(time_words(own).dates) != 1


def _closest(own: TimeWords, whole: TimeWords, fiscal: FiscalCalendar) -> TimeWords:
    """Return quarter and length from a column's own words, which override those of a heading above several columns."""
    if own.quarter and not own.dates:
        # `First Quarter` under `Year Ended December 31, 2017` is a quarter of that year, not the year.
        day = _day(whole)
        years = (fiscal.fiscal_year_of(day),) if day else whole.years
        return replace(whole, months=3, quarter=own.quarter, dates=(), day=None, years=years)
    if own.months is None and own.quarter is None:
        return whole
    return replace(whole, months=own.months if own.months is not None else whole.months, quarter=own.quarter)


def _period(
    named: TimeWords, context: TimeWords, fiscal: FiscalCalendar, instant: bool, known: Sequence[date]
) -> FactPeriod | None:
    months = 0 if instant else named.months if named.months is not None else context.months
    if named.quarter and not named.dates:
        year = named.years[-1] if named.years else fiscal.year
        same = (year, named.quarter) == (fiscal.year, fiscal.quarter)
        return FactPeriod(year, named.quarter, 3, fiscal.period_end if same else None)
    day = _day(named) or _known_day(named, fiscal, known)
    if day is None and not named.years:
        if len(context.dates) == 1 and not context.years:
            day = context.dates[0]
        elif len(context.years) == 1 and not context.dates and months in (None, 12):
            return FactPeriod(context.years[0], None, 12, fiscal.end_of(context.years[0]))
        else:
            return None
    if day is not None:
        if months == 12 and not fiscal.may_end_year(day):
            return None  # a heading about years is above columns of another length
        return fiscal.duration(day, months) if months else fiscal.instant(day)
    year = named.years[-1]
    if months is None:
        months = 3 if fiscal.quarter else 12
    if fiscal.quarter and months in (0, 3, 6, 9) and fiscal.period_end is not None:
        # A quarterly report's bare year means its own quarter, in that year.
        day = same_day(fiscal.period_end, fiscal.period_end.year + year - fiscal.year)
        return fiscal.duration(day, months) if months else fiscal.instant(day)
    return FactPeriod(year, None, months, fiscal.end_of(year) if months in (0, 12) else None)


def _day(named: TimeWords) -> date | None:
    if named.dates:
        return named.dates[-1]
    if named.day and named.years:
        try:
            return date(named.years[-1], *named.day)
        except ValueError:
            return None
    return None


def _known_day(named: TimeWords, fiscal: FiscalCalendar, known: Sequence[date]) -> date | None:
    ends = [day for day in known for year in named.years[-1:] if fiscal.fiscal_year_of(day) == year]
    days = [day for day in known for year in named.years[-1:] if day.year == year and not named.fiscal]
    return next(iter([*ends, *days]), None)
