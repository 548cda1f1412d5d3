"""How a question made from tags is put: names of years and parts in the wordings of wordings.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from random import Random

from fin_agent.evaluation.generated.wording import Wording, filled
from fin_agent.evaluation.tagged_questions.words import tagged_wordings
from fin_agent.lexicon.fiscal import FiscalYears


class TaggedWording(Wording):
    """Draws wordings: beside those of generated questions, years named by two digits or by their last day."""

    def __init__(self, draw: Random, last_days: Mapping[FiscalYears, Mapping[int, date]]) -> None:
        super().__init__(draw)
        self._own_draw = draw
        self._last_days = last_days
        self._own = tagged_wordings()

    def year(self, year: int, *filed: FiscalYears) -> str:
        """`FY24`, `fiscal 2024`; of one filer also `the year ended September 28, 2024`."""
        day = self.last_day(year, filed[0]) if len(filed) == 1 else None
        if day is not None and self._own_draw.random() < _DATED:
            return self._own_draw.choice(self._own.dated_years).format(day=day)
        return self.ends(year, year, *filed)[0]

    def ends(self, first: int, last: int, *filed: FiscalYears) -> tuple[str, str]:
        """The first and the last year, in one style."""
        if filed and self._own_draw.random() < _CALENDAR:
            return super().ends(first, last, *filed)
        style = self._own_draw.choice(self._own.years)
        one, other = (style.format(year=year, short=f"{year % 100:02}") for year in (first, last))
        return one, other

    def last_day(self, year: int, filed: FiscalYears) -> str | None:
        """`September 28, 2024`; None where no tag is of that year."""
        day = self._last_days.get(filed, {}).get(year)
        return f"{day:%B} {day.day}, {day.year}" if day else None

    def own_text(self, kind: str, turn: int, **fields: str) -> str:
        """The question in a wording of this package: wordings of a kind take turns, so that all occur."""
        wordings: tuple[str, ...] = getattr(self._own, kind)
        part = fields.get("part", "")
        article = "the " if part.casefold().startswith(self._own.with_the) else ""
        return filled(wordings[turn % len(wordings)], **fields, the_part=f"{article}{part}")


def reads_well(text: str, year: str) -> bool:
    """Whether a year named by its last day stands where a sentence can have it: after `in`, `for`, a comma."""
    begins = year.split(" ", 1)[0]
    return begins != "the" or re.search(rf"(?:\b(?:in|for|of|In|For)|[,:]) {re.escape(year)}", text) is not None


_DATED, _CALENDAR = 0.2, 0.4
