"""The size of a figure that is printed bare: its page says it, as `(in millions)` or by the sign of a row or column."""

from __future__ import annotations

import re
from decimal import Decimal

from fin_agent.analyst.model.sizes import Sized, sizes_in
from fin_agent.index.protocol import PageKey
from fin_agent.workspace import Workspace


class PageSizes:
    """A page, and what its bare numbers are counted in."""

    def __init__(self, workspace: Workspace, key: PageKey) -> None:
        facts = workspace.index.facts({key.doc_id}, pages=[key])
        self._text = "\n".join(stored.passage.text for stored in workspace.index.passages([key]))
        self._of_facts: dict[Decimal, set[str]] = {}
        for sourced in facts:
            fact = sourced.fact
            size = "%" if fact.unit == "percent" else _SCALES.get(fact.scale, "")
            self._of_facts.setdefault(abs(fact.amount), set()).add(size)

    def states(self, bare: Sized, size: str) -> bool:
        """Whether a bare number of a quote from this page is of a size: its fact is, or the page says so in words."""
        if bare.behind and bare.behind not in _BETWEEN:
            return False  # `41 laboratories` are no `41 million`, whatever the table beside them is in
        known = self._of_facts.get(Decimal(bare.number), set())
        if size in known:
            return True
        if size == "%":
            return self._is_percent(bare.number)
        stated = _STATED.get(size)
        return not known and stated is not None and stated.search(self._text) is not None

    def _is_percent(self, number: str) -> bool:
        """Whether a row that prints the number, or a line of headings above it, speaks of percent."""
        headed = False
        for line in self._text.splitlines():
            numbers = list(sizes_in(line))
            if any(each.number == number and not each.size for each in numbers):
                if headed or _OF_PERCENT.search(line):
                    return Decimal(number) <= _HIGHEST
            elif _PERCENT.search(line) and all(_YEAR.fullmatch(each.number) for each in numbers):
                headed = True
        return False


_SCALES = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}
_STATED = {
    "thousand": re.compile(r"\bthousands\b|\b000['’]?s\b|[$(]\s?000\b", re.I),
    "million": re.compile(r"\bmillions\b|[$(]\s?mm?\)|\$\s?mm\b", re.I),
    "billion": re.compile(r"\bbillions\b|\$\s?bn\b", re.I),
}
_BETWEEN = frozenset(
    {"in", "for", "at", "as", "and", "or", "to", "from", "of", "vs", "versus", "compared", "during", "on"}
)
_HIGHEST = 1_000
"""A percentage above it is none that a heading alone can vouch for."""
_PERCENT = re.compile(r"%|\bper\s?cent(?:age)?\b", re.I)
_OF_PERCENT = re.compile(
    r"(?<![\d)\s])\s*%|^\s*%|\|\s*%|\b(?:per\s?cent(?:age)?s?|rates?|margins?|yields?|return on|share of)\b",
    re.I,
)
_YEAR = re.compile(r"(?:19|20)\d\d|[0-3]?\d")
