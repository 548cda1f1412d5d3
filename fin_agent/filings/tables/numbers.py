"""Read one printed number: `(1,234)`, `$ 5.51`, `(4.8%)`, `—`."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple


class Number(NamedTuple):
    """A printed number: parentheses and minus signs are in `amount`, a dash is zero."""

    amount: Decimal
    percent: bool = False
    dollar: bool = False


@lru_cache(maxsize=65_536)
def parse_number(token: str) -> Number | None:
    """The number `token` prints, or None where it prints none (`N/A`, `*`, `nm`, `31,`).

    `token` may hold the parts of one cell (`$ (1,234 )`), a footnote mark after the digits (`1,234(1)`), a parenthesis
    left open because its end was set apart (`(1,234`), and the `x` of a ratio (`2.5x`). A percentage keeps its printed
    size: `12.3%` is 12.3 with `percent` set. Never raises.
    """
    if match := _NUMBER.match(token):
        opened = bool(match["open"] or match["inner"])
        if ")" in match["tail"] and not opened:
            return None
        amount = Decimal(match["digits"].replace(",", ""))
        if opened or match["sign"] or match["minus"]:
            amount = -amount
        return Number(amount, "%" in match["tail"], bool(match["dollar"]))
    if match := _DASH.match(token):
        return Number(Decimal(0), bool(match["percent"]), bool(match["dollar"]))
    return None


_FOOTNOTE_MARKS = r"(?:\s*(?:\(\d{1,2}\)|\([a-zA-Z]\)|\[\d{1,2}\]|[¹²³⁴⁵⁶⁷⁸⁹]|\*{1,3}|[†‡§]))*"
_NUMBER = re.compile(
    r"""^\s*
    (?P<open>\()?\s*(?:\+|(?P<sign>[-−–‑]))?\s*
    (?P<dollar>(?:US|C|A|CA|AU)?\$|€|£|¥)?\s*
    (?P<inner>\()?\s*(?P<minus>[-−–‑])?\s*
    (?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*
    (?P<tail>%?\s*\)?\s*%?|[x×](?=$))
    """
    + _FOOTNOTE_MARKS
    + r"\s*$",
    re.X,
)
_DASH = re.compile(
    r"^\s*(?P<dollar>(?:US)?\$)?\s*(?:\(\s*[-−–—‑]{1,3}\s*\)|[-−–—‑]{1,3})\s*(?P<percent>%)?"
    + _FOOTNOTE_MARKS
    + r"\s*$"
)
