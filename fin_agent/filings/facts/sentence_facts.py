"""Extract amounts from sentences as facts of source `text`: value, unit, scale, clause and period."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import NamedTuple

from fin_agent.filings.facts.units_and_scales import is_in_cents
from fin_agent.filings.tables.cells import scale_of
from fin_agent.filings.tables.column_periods import FiscalCalendar, same_day, time_words
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.dates import MONTH_NAME, month_end, month_number
from fin_agent.vocabulary.fact import UNDATED, Fact, FactPeriod
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.runs import grouped, runs_of
from fin_agent.vocabulary.table import Table

_PATTERNS = patterns("sentence_figure_patterns")


def facts_of_sentences(
    pages: Sequence[PageContent],
    tables: Sequence[Table],
    facts: Sequence[Fact],
    calendar: FiscalCalendar | None,
    notes: Mapping[int, str],
    company: str = "",
) -> list[Fact]:
    """Return a fact for every amount of money, percentage and count in the running text of `pages`.

    The label is the clause. There is no metric, and `tied` is False: only the words say what an amount is. A sentence
    without a time gives UNDATED. The line number is one after all rows of the page. Left out are the rows of `tables`,
    and what tags among `facts` state; `notes` are the titles of notes by page. The name of the `company` itself is that
    of no part, unless a segment is called so.
    """
    rows = grouped((table.page, row.box) for table in tables for row in table.rows)
    said = grouped((fact.page, fact.box) for fact in facts if fact.source == "ixbrl")
    lines = grouped((fact.page, fact.line + 1) for fact in facts)
    parts = _Parts(facts, company)
    usual = _scale_of_notes(pages, tables, notes)
    found: list[Fact] = []
    for page in pages:
        number = page.number
        line = max(lines.get(number, ()), default=0)
        place = _Place(page, line, notes.get(number, ""), rows.get(number, ()), said.get(number, ()))
        scale = usual if number in notes else 1
        for start, sentence in sentences_of(page.text):
            found.extend(_facts_in(sentence, start, place, calendar, parts, scale))
    return found


def sentences_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, sentence) of running text with amounts; lines are joined, each line end becoming one blank."""
    lines = text.split("\n")
    lengths = sorted([len(line) for line in lines if len(line.split()) >= _WORDS_OF_A_LINE])
    full = lengths[len(lengths) * 3 // 4] if lengths else 0
    start = position = 0
    before = ""
    for line in lines:
        begins = line.lstrip()[:1]
        if before and not (begins.islower() or begins in "$(&" or begins.isdigit()):
            # A paragraph ends with its point, a heading with a short line before a capital.
            stripped = before.rstrip()
            if stripped.endswith((".", ":", "?", "!", ".”", '."')) or len(stripped) < _SHORT_LINE * full:
                if _PATTERNS["hint"].search(text, start, position):
                    yield from _split(text, start, position)
                start = position
        position += len(line) + 1
        before = line
    yield from _split(text, start, len(text))


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    stretch = text[start:end].replace("\n", " ").replace("\u00a0", " ")
    begin = 0
    for stop in _PATTERNS["stop"].finditer(stretch):
        if stop["quote"] is None:
            yield start + begin, stretch[begin : stop.start()].rstrip()
            begin = stop.end()
            continue
        first, last = max(begin, stop.start() - _MAX_ABBREVIATION_LENGTH), stop.end("quote")
        if not _PATTERNS["abbreviation"].search(stretch, first, last):
            yield start + begin, stretch[begin:last]
            begin = stop.end()
    yield start + begin, stretch[begin:]


_WORDS_OF_A_LINE = 6
_SHORT_LINE = 0.65
# Punctuation is matched first and its context by look-behind, so that the text is scanned for marks only.
_MAX_ABBREVIATION_LENGTH = 20

_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "mm": 10**6, "bn": 10**9}
_CURRENCIES = {"€": "EUR", "£": "GBP", "¥": "JPY"}
_DOLLARS = {"C": "CAD", "CA": "CAD", "A": "AUD", "AU": "AUD", "NZ": "NZD", "HK": "HKD", "S": "SGD", "R": "BRL"}


@dataclass(slots=True)
class PrintedAmount:
    """An amount as printed in a sentence, from character `start` to `end`."""

    start: int
    end: int
    amount: Decimal
    scale: int
    unit: str
    scaled: bool
    """Whether the scale is printed, or does not apply."""


def amounts_of(sentence: str, scale: int = 1) -> list[PrintedAmount]:
    """Return the amounts of a sentence; money without a scale has that of the next one listed, otherwise `scale`."""
    found: list[PrintedAmount] = []
    for match in _PATTERNS["amount"].finditer(sentence):
        split = _PATTERNS["split digits"].search(sentence, max(0, match.start() - 4), match.start("digits"))
        one = None if split else _amount(match)
        if one is None:
            continue
        if one.unit == "USD" and not one.scaled and is_in_cents(one.amount):
            end = found[-1].end if found else 0
            beside = found and found[-1].unit == "USD per share"
            near = beside and _PATTERNS["listed"].fullmatch(sentence, end, one.start)
            if near or _PATTERNS["per share"].search(sentence, end, one.start):
                one.unit, one.scaled = "USD per share", True
        found.append(one)
    found = _with_listed_counts(sentence, found)
    # The parts of a count (`900 people, 600 in Ohio and 300 abroad`) count the same thing, which is not named again.
    found = sorted({one.start: one for one in (*found, *chain(*divided_counts(sentence, found)))}.values(), key=_start)
    for one, after in reversed(list(pairwise(found))):
        joined = one.unit == after.unit and _PATTERNS["listed"].fullmatch(sentence, one.end, after.start)
        if joined and not one.scaled and after.scaled and one.amount < _LEAST_IN_FULL and after.scale > 1:
            one.scale, one.scaled = after.scale, True
    for one in found:
        if not one.scaled and scale > 1 and one.amount < _LARGEST_UNSCALED and not is_in_cents(one.amount):
            one.scale = scale
    return found


def _with_listed_counts(sentence: str, found: Sequence[PrintedAmount]) -> list[PrintedAmount]:
    """Return the amounts with the numbers listed before a count, which count the same: `4 billion and 3 billion cases`.

    Numbers without a scale or a comma do so only where each is of its own year: `12 and 15 stores, respectively`.
    """
    taken = {one.start: one for one in found}
    after: PrintedAmount | None = None
    for match in reversed(list(_PATTERNS["amount"].finditer(sentence))):
        one = taken.get(match.start())
        if one is None and after is not None and after.unit in ("count", "shares") and not match["money"]:
            listed = _PATTERNS["enumerated"].fullmatch(sentence, match.end(), after.start) is not None
            told = match["scale"] or "," in match["digits"] or "respectively" in sentence[after.end :]
            one = replace(_count_of(match), unit=after.unit) if listed and told else None
            if one is not None and _is_year(match, one.amount, one.scale):
                one = None
            elif one is not None and not match["scale"] and one.amount < _LEAST_IN_FULL:
                one.scale = after.scale  # `5 and 6 million shares`
        after = one
        taken |= {} if one is None else {match.start(): one}
    return sorted(taken.values(), key=_start)


def divided_counts(sentence: str, found: Sequence[PrintedAmount]) -> Iterator[list[PrintedAmount]]:
    """Yield each count with the numbers behind it that add up to it."""
    for whole in found:
        if whole.unit != "count" or whole.amount < _LEAST_DIVIDED:
            continue
        taken = {one.start: one for one in found if one.start > whole.start}
        behind = (match for match in _PATTERNS["amount"].finditer(sentence, whole.end) if not match["money"])
        numbers = [taken.get(match.start()) or _count_of(match) for match in behind]
        numbers = [one for one in numbers if one.unit == "count" and not _YEARS[0] <= one.amount <= _YEARS[1]]
        ends = (end for end, sum_ in enumerate(accumulate(one.amount for one in numbers), 1) if sum_ == whole.amount)
        end = next(ends, 0)
        if end > 1:
            yield [whole, *numbers[:end]]


def _named(sentence: str, group: Sequence[PrintedAmount]) -> Iterator[tuple[int, str | None]]:
    """Yield the start of a divided count and of each of its parts, and the words behind it that name the part."""
    yield group[0].start, None
    ends = [*(after.start for after in group[2:]), len(sentence)]
    for one, end in zip(group[1:], ends, strict=True):
        found = _PATTERNS["part of a count"].match(sentence, one.end, end)
        yield one.start, found["part"] if found else None


_start = attrgetter("start")
_LEAST_IN_FULL = 1000
_LEAST_DIVIDED = 100
"""The least count whose parts are found by their sum; smaller ones may add up by chance."""


def _count_of(match: re.Match[str]) -> PrintedAmount:
    """Return a number as a count, whatever it counts."""
    amount = Decimal(match["digits"].replace(",", ""))
    scale = _SCALES.get((match["scale"] or "").lower(), 1)
    end = match.end("scale" if match["scale"] else "digits")
    return PrintedAmount(match.start(), end, amount, scale, "count", True)


_LARGEST_UNSCALED = 1_000_000


def _amount(match: re.Match[str]) -> PrintedAmount | None:
    sentence, (start, end) = match.string, match.span()
    amount = Decimal(match["digits"].replace(",", ""))
    scale = _SCALES.get((match["scale"] or "").lower(), 1)
    if match["open"] and match["close"]:
        amount = -amount
    elif match["close"] and not match["money"]:
        end = match.end("digits")
    if match["money"]:
        letters = _PATTERNS["letters in a sentence"].search(sentence, max(0, start - 3), start)
        currency = _CURRENCIES.get(match["money"]) or _DOLLARS.get(letters.group() if letters else "", "USD")
        if per := _PATTERNS["per unit"].match(sentence, end):
            of = per.group().lower().split()[1:]
            unit = "share" if of[-1] in ("share", "ads") else " ".join(of)
            return PrintedAmount(start, per.end(), amount, scale, f"{currency} per {unit}", True)
        return PrintedAmount(start, end, amount, scale, currency, bool(match["scale"]))
    if found := _PATTERNS["percentage"].match(sentence, end):
        unit = "percentage points" if found["points"] else "basis points" if found["basis"] else "percent"
        return PrintedAmount(start, found.end(), amount, 1, unit, True)
    if found := _PATTERNS["cents"].match(sentence, end):
        return PrintedAmount(start, found.end(), amount / 100, 1, "USD per share" if found["per"] else "USD", True)
    return _counted_thing(match, amount, scale)


def _counted_thing(match: re.Match[str], amount: Decimal, scale: int) -> PrintedAmount | None:
    """Return a count: `1.7 million customers`; None where the words are a name or a year."""
    found = _PATTERNS["count"].match(match.string, match.end())
    if found is None or match["open"] or match["close"] or _is_year(match, amount, scale):
        return None  # `the 2022 stores`
    bare = scale == 1 and "," not in match["digits"]
    named = bare and amount < _NUMBERS_NAMES and _PATTERNS["named in a sentence"].search(match.string, 1, match.start())
    if named or _PATTERNS["no adjective"].search(found["between"]):
        return None
    unit = "shares" if found["noun"].lower() == "shares" else "count"
    return PrintedAmount(match.start(), found.end(), amount, scale, unit, True)


def _is_year(match: re.Match[str], amount: Decimal, scale: int) -> bool:
    bare = scale == 1 and "," not in match["digits"]
    return bare and amount == amount.to_integral() and _YEARS[0] <= amount <= _YEARS[1]


_YEARS = (1900, 2100)
_NUMBERS_NAMES = 1000


class _Time(NamedTuple):
    start: int
    end: int
    periods: tuple[FactPeriod, ...]
    """Several where years are listed."""


def _is_name(match: re.Match[str]) -> bool:
    """Return whether a year is part of a name or an event: `the 2022 Plan`, `our May 2018 authority`."""
    sentence, end = match.string, match.end()
    if _PATTERNS["event"].match(sentence, end):
        return True
    plain = not match["year"].lower().startswith("fiscal") and not _PATTERNS["no name"].match(sentence, end)
    return plain and _PATTERNS["name behind"].match(sentence, end) is not None


def _times(sentence: str, calendar: FiscalCalendar) -> list[_Time]:
    found: list[_Time] = []
    for match in _PATTERNS["time"].finditer(sentence):
        start, end = match.span()
        if match["before"]:
            own = None if calendar.quarter else FactPeriod(calendar.year, None, 12, calendar.period_end)
            if (last := _last(found) or own) is not None:
                found.append(_Time(start, end, (_shift_to_year(last, last.fiscal_year - 1),)))
            continue
        before = sentence[max(0, start - _REACH_BACK) : start]
        of_amount = re.search(r"[$€£,.-]$|\$ $", before)
        if of_amount or _PATTERNS["no period"].search(sentence, max(0, start - _REACH_BACK), start):
            continue  # `due 2027`
        if match["year"] and (_PATTERNS["changed from"].search(before) or _is_name(match)):
            continue
        more = match["dmore"] or match["qmore"] or match["more"] or ""
        years = [int(year) for year in _PATTERNS["year"].findall(more)]
        same = _last(found) if _PATTERNS["same period"].search(before) else None
        periods = [_shift_to_year(same, int(match["year"][-4:]))] if same else _periods(match, years, before, calendar)
        listed = found and _PATTERNS["enumerated"].fullmatch(sentence, found[-1].end, start)
        if match["date"] and not match["span"] and listed:
            months = found[-1].periods[-1].months  # `the years ended December 31, 2022 and December 31, 2021`
            periods = [calendar.duration(each.end, months) for each in periods if months and each.end] or periods
        if periods:
            found.append(_Time(start, end, tuple(periods)))
    return found


_REACH_BACK = 40


def _periods(match: re.Match[str], years: Sequence[int], before: str, calendar: FiscalCalendar) -> list[FactPeriod]:
    if match["date"]:
        said = time_words(match["date"])
        days = [day for first in said.dates[:1] for day in (first, *(same_day(first, year) for year in years))]
        if not match["span"]:
            return [calendar.instant(day) for day in days]
        span = " ".join(match["span"].lower().split())
        unit = "weeks" if "week" in span else "months" if "month" in span else ""
        counts = _PATTERNS["span"].findall(span) if unit else ["quarter" if "quarter" in span else span]
        lengths = [time_words(f"{count} {unit} ended {match['date']}").months for count in counts]
        return [calendar.duration(day, months) for day in days for months in lengths if months]
    if match["quarter"]:
        low = match["quarter"].lower()
        of_years = [int(match["qyear"]), *years]
        if "months" in low or "half" in low:
            months = 9 if "nine" in low else 6
            of_years = of_years if low.startswith("first") else []
            return [FactPeriod(year, None, months, calendar.end_of_quarter(year, months // 3)) for year in of_years]
        quarter = time_words(low).quarter
        ends = {year: calendar.end_of_quarter(year, quarter) for year in of_years if quarter}
        if quarter == calendar.quarter and calendar.year in ends:
            ends[calendar.year] = calendar.period_end
        return [FactPeriod(year, quarter, 3, ends[year]) for year in of_years if quarter]
    first = int(re.findall(r"\d{4}", match["year"])[0])
    if month := re.search(rf"({MONTH_NAME})\s+(?:of\s+)?$", before, re.I):
        # `in March 2022`: a month, which is not the period of a reported figure
        end = month_end(first, month_number(month[1]))
        return [FactPeriod(calendar.fiscal_year_of(end), calendar.quarter_of(end), 1, end)] if not years else []
    instant = _PATTERNS["at year end"].search(before) and not re.search(r"\bfor\b[^,]*$", before)
    return [FactPeriod(year, None, 0 if instant else 12, calendar.end_of(year)) for year in (first, *years)]


def _last(times: Sequence[_Time]) -> FactPeriod | None:
    """Return the last period named."""
    return times[-1].periods[0] if times else None


def _shift_to_year(period: FactPeriod, year: int) -> FactPeriod:
    """Return the same period of another year."""
    end = same_day(period.end, period.end.year + year - period.fiscal_year) if period.end else None
    return FactPeriod(year, period.quarter, period.months, end)


def _assign_periods(sentence: str, amounts: Sequence[PrintedAmount], times: Sequence[_Time]) -> list[FactPeriod]:
    """Return the period of each amount: from its position in a list, the time after it, or the one before it."""
    dated: dict[int, FactPeriod] = {}
    for group in _lists(sentence, amounts):
        dated.update(zip(group, _times_of_a_list(sentence, amounts, group, times), strict=False))
    earlier = [
        _PATTERNS["earlier"].search(sentence, max(0, one.start - _REACH_BACK), one.start) is not None for one in amounts
    ]
    taken: set[int] = set()
    for index, one in enumerate(amounts):
        limit = next((other.start for other in amounts[index + 1 :] if other.start >= one.end), len(sentence))
        behind = next((time for time in times if one.end <= time.start < limit), None)
        if index in dated or behind is None or sentence[behind.end :][:1] == ":":
            continue
        if not _PATTERNS["break"].search(sentence, one.end, behind.start):
            dated[index] = behind.periods[0]
            taken |= {behind.start} if earlier[index] else set()
    for index, one in enumerate(amounts):
        before = [
            time
            for time in times
            if time.end <= one.start
            and time.start not in taken
            and not _PATTERNS["compared"].search(sentence, max(0, time.start - _REACH_BACK), time.start)
            and sentence.count(")", time.end, one.start) <= sentence.count("(", time.end, one.start)
        ]
        if before and not earlier[index]:
            dated.setdefault(index, before[-1].periods[0])
    for index, (one, after) in reversed(list(enumerate(pairwise(amounts)))):
        if index + 1 in dated and _PATTERNS["chained"].fullmatch(sentence, one.end, after.start):
            dated.setdefault(index, dated[index + 1])
    return [dated.get(index, UNDATED) for index in range(len(amounts))]


def _lists(sentence: str, amounts: Sequence[PrintedAmount]) -> list[list[int]]:
    """Return positions of amounts of one unit separated only by commas and `and`."""

    def apart(group: Sequence[int], index: int) -> bool:
        last, one = amounts[group[-1]], amounts[index]
        listed = last.unit == one.unit and amounts_listed(sentence, last, one)
        return not listed or _PATTERNS["range"].search(sentence, 0, last.start) is not None

    return [group for group in runs_of(range(len(amounts)), apart) if len(group) > 1]


def amounts_listed(sentence: str, one: PrintedAmount, after: PrintedAmount) -> bool:
    """Return whether two amounts are separated only by commas and `and`."""
    return _PATTERNS["enumerated"].fullmatch(sentence, one.end, after.start) is not None


def _times_of_a_list(
    sentence: str, amounts: Sequence[PrintedAmount], group: Sequence[int], times: Sequence[_Time]
) -> Sequence[FactPeriod]:
    """Return one period per amount of a list from the times after or before it; empty where they do not pair up."""
    end = amounts[group[-1]].end
    behind = [time for time in times if time.start >= end]
    before = [time for time in times if time.end <= amounts[group[0]].start]
    for some, nearest in ((behind, behind[:1]), (before, before[-1:])):
        flat = [period for time in some for period in time.periods]
        if len(flat) == len(group):
            return flat
        if nearest and len(nearest[0].periods) == len(group):
            return nearest[0].periods
        if some is behind and len(flat) > len(group) and "respectively" in sentence[end:]:
            return flat[: len(group)]
    return ()


@dataclass(slots=True)
class _Place:
    """The words of a page and their positions."""

    page: PageContent
    line: int
    """One after those of the page's tables."""
    note: str
    rows: Sequence[Box]
    tagged: Sequence[Box]
    starts: list[int] = field(default_factory=list)

    def box(self, start: int, end: int) -> Box | None:
        """Return the box of the characters `start` to `end` of the page's text; None inside a table or a tag."""
        words = self.page.words
        if not words:
            return Box(0, 0, 0, 0)
        self.starts = self.starts or [match.start() for match in _PATTERNS["word"].finditer(self.page.text)]
        first = bisect_right(self.starts, start) - 1
        last = max(first, bisect_left(self.starts, end) - 1)
        if last >= len(words):
            return None
        line = [word for word in words[first : last + 1] if abs(word.y0 - words[first].y0) < word.y1 - word.y0]
        box = Box.around(line)
        x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        inside = any(row.x0 - 1 <= x <= row.x1 + 1 and row.y0 <= y <= row.y1 for row in self.rows)
        tagged = any(tag.x0 - 1 <= box.x1 and box.x0 <= tag.x1 + 1 and tag.y0 <= y <= tag.y1 for tag in self.tagged)
        return None if inside or tagged else box


def _facts_in(
    sentence: str, offset: int, place: _Place, calendar: FiscalCalendar | None, parts: _Parts, scale: int
) -> Iterator[Fact]:
    if not _PATTERNS["hint"].search(sentence) or not _is_prose(sentence):
        return
    amounts = amounts_of(sentence, scale)
    if not amounts or _WORDS_TO_AN_AMOUNT * len(amounts) > len(sentence.split()):
        return
    times = _times(sentence, calendar) if calendar is not None and _PATTERNS["any time"].search(sentence) else []
    periods = _assign_periods(sentence, amounts, times)
    divided = {start: part for group in divided_counts(sentence, amounts) for start, part in _named(sentence, group)}
    for one, period in zip(amounts, periods, strict=True):
        box = place.box(offset + one.start, offset + one.end)
        if box is None:
            continue
        part = divided[one.start] if one.start in divided else parts.of(sentence, one)
        yield Fact(
            label=_clause(sentence, one),
            amount=one.amount,
            scale=one.scale,
            unit=one.unit,
            period=period,
            page=place.page.number,
            box=box,
            scope=part,
            part_kind=parts.kinds.get(part) if part else None,
            note=place.note,
            line=place.line,
            source="text",
            tied=False,
        )


def _is_prose(sentence: str) -> bool:
    """Return whether a text is a sentence rather than a row of figures or a heading."""
    words = sentence.split()
    small = sum(word[0].islower() for word in words)
    return len(words) >= _FEWEST_WORDS and small >= _FEWEST_SMALL and 3 * small >= len(words)


_FEWEST_WORDS, _FEWEST_SMALL, _WORDS_TO_AN_AMOUNT = 6, 3, 3


def _clause(sentence: str, one: PrintedAmount) -> str:
    """Return the sentence, or for a long one the clauses next to the amount."""
    words = " ".join(sentence.split())
    if len(words) <= _LONGEST_CLAUSE:
        return words
    cuts = _PATTERNS["cut"].finditer(sentence, 0, max(0, one.start - _ROOM_BEFORE))
    begin = max((match.end() for match in cuts), default=0)
    if one.start - begin > _LONGEST_CLAUSE - _ROOM_BEHIND:
        begin = sentence.rfind(" ", 0, one.start - _ROOM_BEFORE) + 1
    last = min(len(sentence), begin + _LONGEST_CLAUSE)
    ends = [match.start() for match in _PATTERNS["cut"].finditer(sentence, one.end, last)]
    end = last
    if last < len(sentence):
        end = ends[-1] if ends else sentence.rfind(" ", one.end, last)
    return " ".join(sentence[begin : max(end, one.end)].split())


_LONGEST_CLAUSE, _ROOM_BEFORE, _ROOM_BEHIND = 240, 90, 60


class _Parts:
    """Segments, regions and products by which the tables divide figures."""

    def __init__(self, facts: Sequence[Fact], company: str) -> None:
        filer = company.casefold().removeprefix("the ")
        segments = {fact.scope for fact in facts if fact.part_kind == "segment"}
        counted = Counter(
            (fact.scope, fact.part_kind)
            for fact in facts
            if fact.scope and fact.part_kind in _KINDS and 3 <= len(fact.scope) <= 50 and fact.scope[0].isupper()
        )
        self.kinds: dict[str, str | None] = {}
        for (name, kind), _ in counted.most_common():
            own = filer.startswith(name.casefold()) and name not in segments
            if not own and not _PATTERNS["no part"].search(name):
                self.kinds.setdefault(name, kind)
        names = sorted(self.kinds, key=lambda name: (-len(name), name))[:_MAX_PARTS]
        self._names = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b") if names else None

    def of(self, sentence: str, one: PrintedAmount) -> str | None:
        """Return the last part named before the amount, otherwise the only one named after it."""
        named = [(match.start(), match.group()) for match in self._names.finditer(sentence)] if self._names else []
        before = [name for start, name in named if start < one.start]
        if before:
            return before[-1]
        behind = {name for _, name in named}
        if not behind or _PATTERNS["a part of it"].search(sentence, one.end, named[0][0]):
            return None  # `264,000 people, including 113,000 people within the United States`
        return behind.pop() if len(behind) == 1 else None


_KINDS = ("segment", "region", "product", "customer", "debt instrument")
_MAX_PARTS = 200


def _scale_of_notes(pages: Sequence[PageContent], tables: Sequence[Table], notes: Collection[int]) -> int:
    """Return the most common scale of unit lines, where notes print most amounts without one; otherwise 1."""
    said: Counter[bool] = Counter()
    for page in pages:
        if page.number in notes:
            said.update(bool(match["scale"]) for match in _PATTERNS["bare amount"].finditer(page.text))
    if said[False] < _MIN_BARE or said[False] < 2 * said[True]:
        return 1
    lines = Counter(scale for table in tables if table.page in notes and (scale := scale_of(table.unit_line)))
    return max(lines, key=lines.__getitem__, default=1)


_MIN_BARE = 20
