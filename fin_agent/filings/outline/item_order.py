"""Headings of Items in the order that the form prescribes; those out of it are dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fin_agent.filings.outline.item_lines import ItemLine
from fin_agent.vocabulary.identity import Form


def in_order(lines: Sequence[ItemLine], form: Form) -> list[tuple[str, ItemLine]]:
    """(Item, line) of the sequence of headings that never goes back and has most in its favour.

    A line's title, its part, and that its Item was not announced yet all speak for it; of equal sequences the later
    headings are taken, since lists of Items stand before the Items themselves. A 10-Q numbers both parts from 1: each
    line may be of either, its title and its part's heading decide.
    """
    best: dict[_Rank, _Chain] = {}
    for line in lines:
        options = list(_options(line, form))
        reached = {}
        for rank, item, weight in options:
            chain = max(
                (held for at, held in best.items() if at <= rank), key=lambda held: held.weight, default=_Chain()
            )
            known = chain.rank == rank
            reached[rank] = _Chain(chain.weight + (_REPEATED if known else weight), rank, (item, line), chain)
        for rank, chain in reached.items():
            if rank not in best or chain.weight >= best[rank].weight:
                best[rank] = chain
    if not best:
        return []
    return list(max(best.values(), key=lambda chain: (chain.weight, -chain.rank[0], chain.rank)).links())[::-1]


_Rank = tuple[int, int, str]
"""(part, number, letter)."""
_REPEATED = 0.5
_HEADED = 2.0
_TITLED = 2.0
_WRONG_PART = 1.5
_NUMBER = re.compile(r"(\d+)([A-C]?)$")
_PART_ONE_OF_A_QUARTER = 4
_LAST_ITEM = 16
_SUFFIXED = {"1": "ABC", "4": "A", "7": "A", "9": "ABC"}
"""Items of an annual report with a lettered one after them; 4A is where some tell of their officers."""


class _Chain:
    __slots__ = ("before", "link", "rank", "weight")

    def __init__(
        self,
        weight: float = 0.0,
        rank: _Rank = (0, 0, ""),
        link: tuple[str, ItemLine] | None = None,
        before: _Chain | None = None,
    ) -> None:
        self.weight, self.rank, self.link, self.before = weight, rank, link, before

    def links(self) -> Iterator[tuple[str, ItemLine]]:
        """The headings, last first."""
        chain: _Chain | None = self
        while chain is not None and chain.link is not None:
            yield chain.link
            chain = chain.before


def _options(line: ItemLine, form: Form) -> Iterator[tuple[_Rank, str, float]]:
    """(rank, Item, weight) of each Item that the line may announce."""
    matched = _NUMBER.match(line.number)
    if matched is None:
        return
    number, letter = int(matched.group(1)), matched.group(2)
    if form is not Form.TEN_Q:
        if number <= _LAST_ITEM and (not letter or letter in _SUFFIXED.get(matched.group(1), "")):
            yield (0, number, letter), line.number, _HEADED + _TITLED * bool(line.titles)
        return
    for part, numeral in ((1, "I"), (2, "II")):
        if part == 1 and (number > _PART_ONE_OF_A_QUARTER or letter):
            continue
        weight = _HEADED + _TITLED * (f"10-Q.{numeral}.{line.number}" in line.titles)
        if line.part is not None and line.part != part:
            weight -= _WRONG_PART
        yield (part, number, letter), line.number if part == 1 else f"II-{line.number}", weight
