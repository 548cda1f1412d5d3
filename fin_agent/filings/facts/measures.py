"""What a printed number counts, and what it is multiplied with: unit and scale of a table's cell."""

from __future__ import annotations

import re

from fin_agent.filings.tables.units import scale_of, share_scale_of, unit_line_in
from fin_agent.vocabulary.table import Cell, Row


def unit_of_cell(cell: Cell, row: Row, part: str, money: bool) -> str:
    """Unit of a cell, by its signs, its column (`part`) and its row; `money`: the table is of money."""
    if cell.percent:
        return "percent"
    if cell.printed.endswith(_TIMES):
        return "ratio"
    if cell.printed.endswith(_POINTS):
        return "count"
    if part and not cell.dollar and _SHARES_COLUMN.search(part) and not _PER_SHARE.search(part):
        return "shares"
    if part and _PRICE_COLUMN.search(part):
        return "USD per share"
    for text in (row.label, *reversed(row.section)):
        if _SHARES.search(text) and not cell.dollar and not _PRICED_SHARES.search(text) and not _leads_per_share(text):
            return "shares"
        if _PER_SHARE.search(text):
            return "USD per share" if not _plain_amount(cell) else "USD"
        if text and not cell.dollar and _PERCENT.search(text):
            return "percent" if abs(cell.amount) < 10_000 else "USD"
    if not cell.dollar and _RATIO.search(row.label):
        return "ratio"
    if not cell.dollar and _COUNT.search(row.label) and not _PRICED_COUNT.search(row.label):
        return "count"
    return "USD" if money else "count"


def _leads_per_share(text: str) -> bool:
    """`Net income per share, diluted (weighted-average shares)` is a per-share figure."""
    per, shares = _PER_SHARE.search(text), re.search(r"\bshares\b", text, re.I)
    counted = re.search("weighted|average|number of", text, re.I)
    return bool(per and shares and per.start() < shares.start() and not counted)


def _plain_amount(cell: Cell) -> bool:
    """`Dividends declared ($0.47 per share)` with (728): an amount of money, not one per share."""
    return "," in cell.printed or ("." not in cell.printed and abs(cell.amount) >= 100)


def scale_of_cell(unit: str, cell: Cell, row: Row, unit_line: str) -> int:
    """What a cell's amount is multiplied with: by its row's own unit line, else by that of its table."""
    if unit in ("percent", "USD per share", "ratio"):
        return 1
    own = next((found for text in (row.label, *reversed(row.section)) if (found := unit_line_in(text))), "")
    if own and scale_of(own):
        return scale_of(own) or 1
    if unit == "count":
        return 1
    if unit == "shares":
        return _share_scale(cell, unit_line)
    return scale_of(unit_line) or 1


def _share_scale(cell: Cell, unit_line: str) -> int:
    """What the unit line says of shares, unless the size of the figure shows that it cannot be meant."""
    said, amounts = share_scale_of(unit_line) or 1, scale_of(unit_line) or 1
    if said == 1 and 0 < abs(cell.amount) < 100_000:
        return amounts
    if abs(cell.amount) * said > 10**12:
        return 1
    return said


_TIMES = ("x", "×")
_POINTS = ("bps", "pts")
_SHARES = re.compile(
    r"\b(?:weighted|average|number of|basic|diluted)\b[^.]*\bshares\b|^shares\b"
    r"|\bshares (?:outstanding|used|repurchased|issued)\b"
    r"|\bshares[^.]*\b(?:outstanding|used in)\b",
    re.I,
)
_PER_SHARE = re.compile(
    r"\bper\s+(?:[\w-]+\s+){0,3}?(?:share|unit|ads)\b|\beps\b|\b(?:earnings|income|loss|dividends?)\b[^,;]*\bper\s+(?:[\w-]+\s+)*share",
    re.I,
)
_PERCENT = re.compile(r"(?<![\d.])%|\bpercent(?:age)?s?\b|\b(?:effective|statutory) (?:income )?tax rate\b", re.I)
_RATIO = re.compile(r"\bratio\b|\bturnover\b", re.I)
_COUNT = re.compile(
    r"^(?:number of|total number of)\b"
    r"|\b(?:employees|headcount|subscribers|memberships|customers|stores|locations|members)\b",
    re.I,
)
_PRICED_SHARES = re.compile(
    r"\b(?:cost|value|repurchased? of|purchases? of|issuance of|capital|stock-based|amount)\b", re.I
)
_PRICED_COUNT = re.compile(
    r"\b(?:cost|expense|paid|benefit|compensation|payable|receivable|payments|fund|deposits|revenue|sales)", re.I
)
_SHARES_COLUMN = re.compile(r"^(?:number of )?(?:\w+ )?(?:shares|units|options|awards|rsus)\b", re.I)
_PRICE_COLUMN = re.compile(r"\bper[\s-]+(?:\w+ )?share\b|\bprice\b|\bgrant[\s-]date fair value\b", re.I)
