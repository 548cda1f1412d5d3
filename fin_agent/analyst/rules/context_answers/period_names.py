"""Years and months as table headers and questions name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class PeriodName:
    """`2019`, `2018/2019`, or a month of a year (`2019`, `06`)."""

    year: str
    month: str = ""

    def fits(self, asked: PeriodName) -> bool:
        """Whether this is the period asked for; a month counts where both name one."""
        same = self.year == asked.year or self.year.endswith(f"/{asked.year}")
        return same and (not asked.month or not self.month or self.month == asked.month)


def periods_in(text: str) -> tuple[PeriodName, ...]:
    """The periods that `text` names, each once, in its order.

    >>> [period.year for period in periods_in("in FY19 from 2018")]
    ['2019', '2018']
    """
    found: list[PeriodName] = []
    waiting: list[str] = []
    for match in _PERIOD.finditer(text):
        month = _MONTHS.get((match["month"] or match["alone"] or "")[:3].lower(), "")
        year = match["year"] or match["short"]
        if year is None:
            waiting.append(month)
            continue
        name = _full(year)
        found.extend(PeriodName(name, earlier) for earlier in waiting if month)
        waiting = []
        found.append(PeriodName(name, month))
    return tuple(dict.fromkeys(found))


def without_periods(text: str) -> str:
    """`text` less what `periods_in` reads."""
    return _PERIOD.sub(" ", text)


def is_range(text: str) -> bool:
    """Whether `text` means all years between two: `from 2017 to 2019`, `2017-2019`."""
    return _RANGE.search(text) is not None


def spanned(asked: Sequence[PeriodName], known: Sequence[PeriodName]) -> tuple[PeriodName, ...]:
    """All known periods from the first to the last of two asked for, in the direction asked."""
    low, high = min(asked).year, max(asked).year
    within = sorted(period for period in known if low <= period.year <= high)
    return tuple(within if asked[0].year <= asked[-1].year else reversed(within)) or tuple(asked)


def _full(year: str) -> str:
    parts = re.split(r"\s?[/]\s?", year)
    if len(parts) == 2:
        return "/".join(_century(part, parts[0]) for part in parts)
    return _century(parts[0], "2000")


def _century(year: str, like: str) -> str:
    return year if len(year) == 4 else like[:2] + year


_MONTHS = {
    name: f"{number:02}"
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_YEAR = r"(?P<year>(?:19|20)\d\d(?:\s?/\s?(?:19|20)?\d\d(?![\d/]))?)(?![\d,.]\d)(?!\d)"
_PERIOD = re.compile(
    rf"(?:\b(?:\d{{1,2}}\s+)?{_MONTH}(?:\s+\d{{1,2}}\b(?!,?\d))?,?\s*)?(?<![\d.,$€£]){_YEAR}"
    rf"|\bFY\s?[’']?(?P<short>\d\d)\b|\b{_MONTH.replace('?P<month>', '?P<alone>')}\s+\d{{1,2}}\b(?!,\s*\d{{4}})",
    re.I,
)
_RANGE = re.compile(
    r"(?:from|between|of)\s+(?:the\s+)?(?:fiscal\s+|financial\s+)?(?:years?\s+)?(?:FY\s?)?\d{2,4}\s+to\s+|\d{4}\s?[-–—]\s?\d{4}"
    r"|\b(?:from|between)\s+(?:\w+\s+)?(?:\w+\s+)?\d{4}\s+(?:to|through|until)\s+"
    r"|years?\s+\d{4}\s+to\s+\d{4}|\d{4}\s+(?:to|through)\s+(?:\w+\s+)?\d{4}",
    re.I,
)
