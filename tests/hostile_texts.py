"""A thousand texts made to cost those dearly that read questions, labels, headings and names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

UNITS = (
    *("*", "* ", "(", ")", "((a))", "[", "a", "A", "Aa ", "aA-", "1", "1,", "1.", "$1 ", "$", "%", "/"),
    *("-", "- ", "—", "–", " ", "\t", "\n", "\n \t", "\xa0", "\u2003", ",", ", ", " ,", ";", ".", ". "),
    *("...", "'", "'s ", "’", '"', "&", " & ", "|", " | ", "_", "and ", ", and ", " and or ", "the "),
    *("of the ", "per ", "as of ", "for the year ended ", "net ", "sales and ", "total ", "in ", "FY2023 "),
    *("2023 ", "2023-", "Q1 ", "fiscal ", "December 31, ", "three months ended ", "from 2020 to ", "Inc. "),
    *("Corp ", "A&B ", "what was ", "how much ", "growth of ", "average ", "ratio of ", "divided by "),
    *("less ", "(a) ", "(1)", "Item 1A. ", "Note 1 - ", "increase (decrease) in ", "(loss) ", "continued "),
    *("( continued ) ", "é", "\ufb01", "İ", "́", "\u200b", "٣", "\u4e2d", "\U0001f600", "\x00", "\ud800"),
)
ENDS = ("", "!", "\x00", " ?", " net income", ")")
LEADS = ("", "What was ", "Net sales ", "* ")
LENGTHS = (26, 400, 3_000, 10_000)


def hostile_texts(most: int = 1_000, longest: int = 10_000) -> Iterator[str]:
    """At most `most` of them, none longer than `longest`, spread over all that there are."""
    every = list(product(LENGTHS, UNITS, LEADS, ENDS))
    step = max(1, len(every) // most)
    for length, unit, lead, end in islice(every[::step], most):
        body = unit * (min(length, longest) // len(unit) + 1)
        yield (lead + body)[: min(length, longest) - len(end)] + end
